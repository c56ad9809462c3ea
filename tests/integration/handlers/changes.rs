//! Changes that crawls bring: which crawls make them, and which they are.

use db::changes::publisher;
use domain::menu::product::{Product, UpstreamStatus, Variant};
use rstest::rstest;

use super::test_store::{TestStore, product, variant};

const NOTHING: [&str; 0] = [];

/// The changes of all crawls, such as `a 1g: price_drop`, in the order in which they were published.
async fn changes(store: &TestStore) -> Vec<String> {
    publisher::publish(&store.database.db).await.unwrap();
    let sql = "SELECT concat_ws(' ', p.provider_product_id, c.option_label) || ': ' || c.kind::text
                 FROM change_batches b
                 JOIN product_changes c USING (crawl_id)
                 JOIN store_products p ON p.id = c.store_product_id
                ORDER BY b.seq, c.n";
    store.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn baselines(store: &TestStore) -> i64 {
    store.count("SELECT count(*) FROM change_batches WHERE baseline").await
}

/// A product with one option.
fn at_price(id: &str, price: i32) -> Product {
    Product { variants: vec![variant("1g", 0, price)], ..product(id) }
}

fn with_options(id: &str, variants: Vec<Variant>) -> Product {
    Product { variants, ..product(id) }
}

/// Products that keep a menu from being suspicious.
fn others() -> Vec<Product> {
    (0..20).map(|nth| at_price(&format!("other {nth}"), 500)).collect()
}

fn menu(products: impl IntoIterator<Item = Product>) -> Vec<Product> {
    others().into_iter().chain(products).collect()
}

/// A store with a baseline of this product beside others.
async fn crawled(product: Product) -> TestStore {
    let store = TestStore::new().await;
    store.crawl(0, menu([product])).await;
    store
}

#[tokio::test]
async fn the_first_whole_crawl_is_a_baseline_and_later_ones_bring_changes() {
    let store = crawled(at_price("a", 1000)).await;
    assert_eq!((changes(&store).await, baselines(&store).await), (Vec::new(), 1));

    store.crawl(1, menu([at_price("a", 900), at_price("b", 700)])).await;
    assert_eq!(changes(&store).await, ["a 1g: price_drop", "b: new"]);
    store.crawl(2, menu([at_price("a", 900), at_price("b", 700)])).await;
    assert_eq!(store.count("SELECT count(*) FROM change_batches").await, 2, "a crawl without changes has no batch");

    let sql = "SELECT concat_ws(' ', old_rec, new_rec, cents, percent) FROM product_changes WHERE kind = 'price_drop'";
    let drop: String = store.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(drop, "1000 900 -100 -10");
}

#[tokio::test]
async fn a_store_without_a_whole_crawl_has_no_changes_and_one_with_has_those_of_partial_crawls_too() {
    let store = TestStore::new().await;
    for (second, coverage, price) in [(0, 0.5, 1000), (1, 0.5, 900), (2, 1.0, 800), (3, 0.5, 700)] {
        let products = menu([at_price("a", price)]);
        let payload = store.payload(second, products.len(), coverage).await;
        store.refresh(&payload, products).await;
        assert_eq!(baselines(&store).await, i64::from(second >= 2));
    }
    assert_eq!(changes(&store).await, ["a 1g: price_drop"], "the last one alone has a baseline to differ from");
}

#[tokio::test]
async fn a_replay_and_an_older_payload_make_no_changes() {
    let store = crawled(at_price("a", 1000)).await;
    let older = store.payload(1, 22, 1.0).await;
    let newest = store.payload(2, 21, 1.0).await;
    store.refresh(&newest, menu([at_price("a", 900)])).await;

    store.refresh(&newest, menu([at_price("a", 800)])).await;
    store.refresh(&older, menu([at_price("a", 700), at_price("b", 100)])).await;

    assert_eq!(changes(&store).await, ["a 1g: price_drop"]);
}

#[tokio::test]
async fn a_suspicious_menu_makes_no_changes() {
    let store = crawled(at_price("a", 1000)).await;
    let sold_out = menu([at_price("a", 900)]).into_iter().map(|mut product| {
        product.is_in_stock = false;
        product.variants[0].is_in_stock = false;
        product
    });
    let counts = store.crawl(1, sold_out.collect()).await;
    assert!(counts.suspicious);
    assert_eq!(changes(&store).await, NOTHING);
}

#[tokio::test]
async fn the_products_of_an_accepted_empty_menu_are_gone_after_three_misses_and_not_before() {
    let store = TestStore::new().await;
    store.crawl(0, vec![at_price("a", 1000)]).await;
    for second in 1..3 {
        store.crawl(second, Vec::new()).await;
        assert_eq!(changes(&store).await, NOTHING);
    }
    store.crawl(3, Vec::new()).await;
    assert_eq!(changes(&store).await, ["a: gone", "a 1g: sold_out"]);
    store.crawl(4, Vec::new()).await;
    assert_eq!(changes(&store).await.len(), 2);
}

#[tokio::test]
async fn a_store_that_was_closed_and_opened_again_has_another_baseline() {
    let store = crawled(at_price("a", 1000)).await;
    store.seen_closed().await;
    assert_eq!(store.close().await, 1);
    let open = "UPDATE dispensaries SET crawl_enabled = true";
    store.database.raw.batch_execute(open).await.unwrap();

    store.crawl(1, menu([at_price("a", 500)])).await;
    assert_eq!((changes(&store).await, baselines(&store).await), (Vec::new(), 2));
    store.crawl(2, menu([at_price("a", 400)])).await;
    assert_eq!(changes(&store).await, ["a 1g: price_drop"]);
}

#[tokio::test]
async fn a_store_with_another_menu_has_another_baseline() {
    let store = crawled(at_price("a", 1000)).await;
    let tx = store.database.db.begin().await.unwrap();
    let mut moved = db::stores::get_locked(&tx, store.id).await.unwrap();
    moved.platform_dispensary_id = Some("another id".to_owned());
    db::stores::change(&tx, &moved, None, &drover::platforms::menu_key).await.unwrap();
    tx.commit().await.unwrap();
    store.crawl(1, menu([at_price("a", 500)])).await;
    assert_eq!((changes(&store).await, baselines(&store).await), (Vec::new(), 2));
}

#[tokio::test]
async fn a_missed_product_is_gone_with_its_options_and_returns_with_them() {
    let store = crawled(with_options("a", vec![variant("1g", 0, 1000), variant("2g", 0, 1800)])).await;
    for second in 1..=4 {
        store.crawl(second, others()).await;
    }
    let gone = ["a: gone", "a 1g: sold_out", "a 2g: sold_out"];
    assert_eq!(changes(&store).await, gone);

    store.crawl(5, menu([with_options("a", vec![variant("1g", 0, 1000), variant("2g", 0, 1700)])])).await;
    let returned = ["a: returned", "a 1g: restocked", "a 2g: price_drop", "a 2g: restocked"];
    assert_eq!(changes(&store).await[gone.len()..], returned);
}

#[tokio::test]
async fn a_product_that_was_missed_twice_was_never_gone() {
    let store = crawled(at_price("a", 1000)).await;
    store.crawl(1, others()).await;
    store.crawl(2, others()).await;
    store.crawl(3, menu([at_price("a", 1000)])).await;
    assert_eq!(changes(&store).await, NOTHING);
}

#[rstest]
#[case::at_the_old_price(1800, &["a 2g: restocked"])]
#[case::cheaper(1700, &["a 2g: price_drop", "a 2g: restocked"])]
#[tokio::test]
async fn an_option_that_is_on_the_menu_again_differs_from_its_last_state(
    #[case] price: i32,
    #[case] expected: &[&str],
) {
    let store = crawled(with_options("a", vec![variant("1g", 0, 1000), variant("2g", 0, 1800)])).await;
    store.crawl(1, menu([at_price("a", 1000)])).await;
    assert_eq!(changes(&store).await, ["a 2g: sold_out"]);
    store.crawl(2, menu([with_options("a", vec![variant("1g", 0, 1000), variant("2g", 0, price)])])).await;
    assert_eq!(changes(&store).await[1..], *expected);
    store.crawl(3, menu([with_options("a", vec![variant("1g", 0, 1000), variant("3g", 0, 2500)])])).await;
    assert_eq!(changes(&store).await[1 + expected.len()..], ["a 2g: sold_out"], "an option of a new size is none");
}

#[tokio::test]
async fn a_delisted_product_is_gone_once_and_returns_once() {
    let store = crawled(at_price("a", 1000)).await;
    let delisted = Product {
        upstream_status: Some(UpstreamStatus::Inactive),
        is_in_stock: false,
        variants: vec![Variant { is_in_stock: false, ..variant("1g", 0, 1000) }],
        ..product("a")
    };
    store.crawl(1, menu([delisted.clone()])).await;
    let gone = ["a: gone", "a 1g: sold_out"];
    assert_eq!(changes(&store).await, gone);
    store.crawl(2, menu([delisted.clone()])).await;
    store.crawl(3, menu([Product { name_raw: "Another name".to_owned(), ..delisted }])).await;
    assert_eq!(changes(&store).await, gone, "it is gone already");
    store.crawl(4, menu([at_price("a", 1000)])).await;
    assert_eq!(changes(&store).await[gone.len()..], ["a: returned", "a 1g: restocked"]);
}

#[tokio::test]
async fn a_crawl_that_is_rolled_back_leaves_no_changes_and_its_second_run_brings_them() {
    let store = crawled(at_price("a", 1000)).await;
    let products = menu([at_price("a", 900)]);
    let payload = store.payload(1, products.len(), 1.0).await;
    let tx = store.database.db.begin().await.unwrap();
    super::test_store::menu_write(payload.clone(), products.clone()).write(&tx).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(changes(&store).await, NOTHING);
    store.refresh(&payload, products).await;
    assert_eq!(changes(&store).await, ["a 1g: price_drop"]);
}
