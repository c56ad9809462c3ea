//! Writes of one payload: products, options, snapshots, misses, and nothing unchanged.

use std::time::Duration;

use db::stores;
use domain::menu::product::{StockStatus, UpstreamStatus};
use domain::menu::stock::{PayloadOrder, Stock};
use domain::store::Platform;
use drover::handlers::product_refresh::write::Counts;

use super::test_store::{TestStore, at, menu_write, product, variant};

fn in_stock(misses: i16) -> Stock {
    Stock { is_in_stock: true, status: StockStatus::InStock, misses }
}

const EMPTY: Stock = Stock { is_in_stock: false, status: StockStatus::Oos, misses: 3 };

#[tokio::test]
async fn a_first_crawl_writes_products_options_and_snapshots() {
    let store = TestStore::new().await;
    let payload = store.payload(0, 2, 1.0).await;
    let counts = store.refresh(&payload, vec![product("a"), product("b")]).await;

    let order = Some(PayloadOrder::Newest);
    assert_eq!(counts, Counts { order, products: 2, new: 2, snapshots: 2, ..Counts::default() });
    assert_eq!(store.snapshots(&payload).await, 2);
    assert_eq!(store.count("SELECT count(*) FROM store_product_variants").await, 4);
    assert_eq!(store.row("a").await.unwrap().first_seen_at, at(0));
    let noted = store.count("SELECT count(*) FROM dispensaries WHERE last_crawl_at IS NOT NULL").await;
    assert_eq!(noted, 1);
}

#[tokio::test]
async fn an_unchanged_product_is_neither_written_nor_locked() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let products = store.marks("store_products").await;
    let variants = store.marks("store_product_variants").await;

    let counts = store.crawl(1, vec![product("b"), product("a")]).await;

    let order = Some(PayloadOrder::Newest);
    assert_eq!(counts, Counts { order, products: 2, unchanged: 2, snapshots: 2, ..Counts::default() });
    assert_eq!(store.marks("store_products").await, products);
    assert_eq!(store.marks("store_product_variants").await, variants);
    assert_eq!(store.row("a").await.unwrap().last_seen_at, at(1));
}

#[tokio::test]
async fn a_changed_product_alone_is_written() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let before = store.marks("store_products").await;

    let mut dearer = product("b");
    dearer.price_rec = Some(1200);
    let counts = store.crawl(1, vec![product("a"), dearer]).await;

    assert_eq!((counts.changed, counts.unchanged), (1, 1));
    assert_eq!(store.row("b").await.unwrap().price_rec, Some(1200));
    let after = store.marks("store_products").await;
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
}

#[tokio::test]
async fn a_product_whose_options_alone_change_is_a_changed_one() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;

    let mut regrouped = product("a");
    regrouped.variants = vec![variant("1g", 0, 1000), variant("3.5g", 0, 3000)];
    let counts = store.crawl(1, vec![regrouped, product("b")]).await;

    assert_eq!((counts.changed, counts.unchanged), (1, 1));
    let sql = "SELECT string_agg(format('%s/%s=%s', option_label, nth, v.price_rec), ' ' ORDER BY option_label, nth)
                 FROM store_product_variants v JOIN store_products p ON p.id = store_product_id WHERE provider_product_id = $1";
    let labels = async |id: &str| store.database.raw.query_one(sql, &[&id]).await.unwrap().get::<_, String>(0);
    assert_eq!(labels("a").await, "1g/0=1000 3.5g/0=3000");
    assert_eq!(labels("b").await, "1g/0=1000 1g/1=1500");
}

#[tokio::test]
async fn three_misses_put_a_product_out_of_stock_and_the_fourth_writes_nothing() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    for misses in 1..=2 {
        let counts = store.crawl(misses, vec![product("b")]).await;
        assert_eq!((counts.missed, counts.out_of_stock), (1, 0));
        let row = store.row("a").await.unwrap();
        assert_eq!((row.stock, row.last_seen_at), (in_stock(misses as i16), at(0)));
    }
    let counts = store.crawl(3, vec![product("b")]).await;
    assert_eq!((counts.missed, counts.out_of_stock), (1, 1));
    assert_eq!(store.row("a").await.unwrap().stock, EMPTY);
    assert_eq!((store.options_in_stock("a").await, store.options_in_stock("b").await), (0, 2));

    let before = store.marks("store_products").await;
    assert_eq!(store.crawl(4, vec![product("b")]).await.missed, 0);
    assert_eq!(store.marks("store_products").await, before);
}

#[tokio::test]
async fn unknown_stock_goes_out_too() {
    let store = TestStore::new().await;
    let mut silent = product("a");
    (silent.quantity, silent.stock_status) = (None, StockStatus::Unknown);
    store.crawl(0, vec![silent, product("b")]).await;
    for second in 1..=3 {
        store.crawl(second, vec![product("b")]).await;
    }
    assert_eq!(store.row("a").await.unwrap().stock, EMPTY);
}

#[tokio::test]
async fn a_product_is_back_in_stock_at_once() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    for second in 1..=3 {
        store.crawl(second, vec![product("b")]).await;
    }
    let counts = store.crawl(4, vec![product("a"), product("b")]).await;

    assert_eq!((counts.back_in_stock, counts.changed), (1, 1));
    let row = store.row("a").await.unwrap();
    assert_eq!((row.stock, row.first_seen_at, row.last_seen_at), (in_stock(0), at(0), at(4)));
    assert_eq!(store.options_in_stock("a").await, 2);
}

#[tokio::test]
async fn a_partial_crawl_counts_no_miss() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let partial = store.payload(1, 1, 0.5).await;
    assert_eq!(store.refresh(&partial, vec![product("b")]).await.missed, 0);
    let row = store.row("a").await.unwrap();
    assert_eq!((row.stock, row.last_seen_at), (in_stock(0), at(0)));
}

#[tokio::test]
async fn an_empty_menu_that_was_believed_counts_misses() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    for second in 1..=3 {
        assert_eq!(store.crawl(second, vec![]).await.missed, 1);
    }
    assert_eq!(store.row("a").await.unwrap().stock, EMPTY);
}

#[tokio::test]
async fn the_same_payload_again_mends_products_and_counts_no_second_miss() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let payload = store.payload(1, 1, 1.0).await;
    store.refresh(&payload, vec![product("b")]).await;
    store.database.raw.batch_execute("UPDATE store_products SET price_rec = 1").await.unwrap();

    let counts = store.refresh(&payload, vec![product("b")]).await;

    assert_eq!((counts.changed, counts.missed, counts.snapshots), (1, 0, 0));
    assert_eq!(store.row("b").await.unwrap().price_rec, Some(1000));
    assert_eq!(store.row("a").await.unwrap().stock, in_stock(1));
    assert_eq!(store.snapshots(&payload).await, 1);
}

#[tokio::test]
async fn an_older_payload_writes_its_missing_snapshots_only() {
    let store = TestStore::new().await;
    let older = store.payload(0, 2, 1.0).await;
    let mut dearer = product("a");
    dearer.price_rec = Some(1200);
    store.crawl(1, vec![dearer, product("b")]).await;
    let store_row = store.marks("dispensaries").await;

    let counts = store.refresh(&older, vec![product("a"), product("b")]).await;

    let order = Some(PayloadOrder::Older);
    assert_eq!(counts, Counts { order, products: 2, snapshots: 2, ..Counts::default() });
    let row = store.row("a").await.unwrap();
    assert_eq!((row.price_rec, row.first_seen_at, row.last_seen_at), (Some(1200), at(0), at(1)));
    let old_price = format!("SELECT min(price_rec)::bigint FROM store_product_snapshots WHERE crawl_id = {}", older.id);
    assert_eq!(store.count(&old_price).await, 1000);
    // locked, so its xmax moves; written it would have another ctid
    assert_eq!(place(&store.marks("dispensaries").await), place(&store_row));
    let before = store.marks("store_products").await;
    assert_eq!(store.refresh(&older, vec![product("a"), product("b")]).await.snapshots, 0);
    assert_eq!(store.marks("store_products").await, before);
}

#[tokio::test]
async fn an_older_payload_says_when_a_missing_product_was_last_seen() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let between = store.payload(1, 2, 1.0).await;
    store.crawl(2, vec![product("b")]).await;
    assert_eq!(store.row("a").await.unwrap().last_seen_at, at(0));
    store.refresh(&between, vec![product("a"), product("b")]).await;
    let row = store.row("a").await.unwrap();
    assert_eq!((row.stock, row.last_seen_at), (in_stock(1), at(1)));
}

#[tokio::test]
async fn a_time_of_upstream_alone_rewrites_nothing() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    let before = store.marks("store_products").await;
    let mut touched = product("a");
    touched.upstream_updated_at = Some(at(1));
    assert_eq!(store.crawl(1, vec![touched]).await.unchanged, 1);
    assert_eq!(store.marks("store_products").await, before);
}

#[tokio::test]
async fn what_only_an_older_payload_knows_comes_in_with_its_misses_counted() {
    let store = TestStore::new().await;
    let older = store.payload(0, 2, 1.0).await;
    store.crawl(1, vec![product("b")]).await;
    store.crawl(2, vec![product("b")]).await;

    let counts = store.refresh(&older, vec![product("a"), product("b")]).await;

    assert_eq!((counts.new, counts.snapshots), (1, 2));
    let row = store.row("a").await.unwrap();
    assert_eq!((row.stock, row.first_seen_at, row.last_seen_at), (in_stock(2), at(0), at(0)));
}

#[tokio::test]
async fn what_only_an_older_payload_knows_may_be_gone_already() {
    let store = TestStore::new().await;
    let older = store.payload(0, 2, 1.0).await;
    for second in 1..=3 {
        store.crawl(second, vec![product("b")]).await;
    }
    store.refresh(&older, vec![product("a"), product("b")]).await;
    assert_eq!(store.row("a").await.unwrap().stock, EMPTY);
    assert_eq!((store.options_in_stock("a").await, store.options_in_stock("b").await), (0, 2));
}

#[tokio::test]
async fn stores_do_not_share_products() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let other = store.beside("Another Store").await;
    other.crawl(1, vec![product("a")]).await;
    assert_eq!(store.row("b").await.unwrap().stock, in_stock(0));
    assert_ne!(store.row("a").await.unwrap().id, other.row("a").await.unwrap().id);
}

#[tokio::test]
async fn a_time_ahead_of_the_database_holds_no_later_payload_off() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    let ahead = "UPDATE dispensaries SET last_payload_at = now() + interval '1 year'";
    store.database.raw.batch_execute(ahead).await.unwrap();
    let mut dearer = product("a");
    dearer.price_rec = Some(1200);
    assert_eq!(store.crawl(1, vec![dearer]).await.changed, 1);
    assert_eq!(store.row("a").await.unwrap().price_rec, Some(1200));
}

/// The history of a product's options: label, price, stock, gone; oldest first.
async fn history(store: &TestStore, id: &str) -> Vec<String> {
    let sql = "SELECT format('%s/%s %s %s%s', h.option_label, h.nth, h.price_rec, h.is_in_stock, CASE WHEN h.gone THEN ' gone' ELSE '' END)
                 FROM store_product_variant_history h JOIN store_products p ON p.id = h.store_product_id
                WHERE p.dispensary_id = $1 AND p.provider_product_id = $2
                ORDER BY h.crawled_at, h.option_label, h.nth";
    store.database.raw.query(sql, &[&store.id, &id]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn every_change_of_an_option_is_kept_and_nothing_else() {
    let store = TestStore::new().await;
    let with = |variants: Vec<_>| {
        let mut product = product("a");
        product.variants = variants;
        vec![product]
    };
    store.crawl(0, with(vec![variant("1g", 0, 1000), variant("2g", 0, 1500)])).await;
    let before = store.marks("store_product_variant_history").await;
    store.crawl(1, with(vec![variant("1g", 0, 1000), variant("2g", 0, 1500)])).await;
    assert_eq!(store.marks("store_product_variant_history").await, before, "an unchanged crawl costs nothing");

    store.crawl(2, with(vec![variant("1g", 0, 900), variant("2g", 0, 1500)])).await;
    store.crawl(3, with(vec![variant("1g", 0, 900)])).await;
    let last = store.payload(4, 1, 1.0).await;
    store.refresh(&last, with(vec![variant("1g", 0, 900), variant("2g", 0, 1500)])).await;
    store.refresh(&last, with(vec![variant("1g", 0, 900), variant("2g", 0, 1600)])).await;

    let kept = ["1g/0 1000 t", "2g/0 1500 t", "1g/0 900 t", "2g/0 1500 f gone", "2g/0 1600 t"];
    assert_eq!(history(&store, "a").await, kept, "the same payload again corrects its own row");
}

#[tokio::test]
async fn an_option_that_goes_out_of_stock_by_misses_says_so_in_its_history() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    for second in 1..=4 {
        store.crawl(second, vec![product("b")]).await;
    }
    assert_eq!(history(&store, "a").await, ["1g/0 1000 t", "1g/1 1500 t", "1g/0 1000 f", "1g/1 1500 f"]);
}

#[tokio::test]
async fn an_option_that_goes_out_of_stock_as_its_store_closes_says_so_in_its_history() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    store.seen_closed().await;
    assert_eq!(store.close().await, 1);
    assert_eq!(history(&store, "a").await, ["1g/0 1000 t", "1g/1 1500 t", "1g/0 1000 f", "1g/1 1500 f"]);
}

#[tokio::test]
async fn months_of_history_have_partitions() {
    let store = TestStore::new().await;
    let sql = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'store_product_variant_history'::regclass";
    assert_eq!(store.count(sql).await, 3, "this month, the next, and the default");
}

fn place(marks: &[String]) -> Vec<&str> {
    marks.iter().filter_map(|mark| mark.rsplit_once(' ')).map(|(place, _)| place).collect()
}

impl TestStore {
    /// Discovery saw that the store is closed; it is not disabled yet.
    pub async fn seen_closed(&self) {
        let sql = "INSERT INTO found_stores (platform_dispensary_id, name, found_in, reason)
                   SELECT platform_dispensary_id, name, 'AZ', 'not_open' FROM dispensaries WHERE id = $1";
        self.database.raw.execute(sql, &[&self.id]).await.unwrap();
    }

    pub async fn close(&self) -> usize {
        let tx = self.database.db.begin().await.unwrap();
        let closed = stores::discovery::close(&tx, Platform::Dutchie, &[self.id]).await.unwrap();
        tx.commit().await.unwrap();
        closed
    }
}

#[tokio::test]
async fn what_a_refresh_commits_while_its_store_closes_is_out_of_stock_too() {
    let store = TestStore::new().await;
    store.seen_closed().await;
    let (payload, products) = (store.payload(0, 1, 1.0).await, vec![product("a")]);
    let refreshing = store.database.db.begin().await.unwrap();
    menu_write(payload, products).write(&refreshing).await.unwrap();

    let closing = store.close();
    let committing = async {
        testkit::until("the closing waits", Duration::from_secs(60), async || {
            store.count(testkit::WAITING_FOR_LOCKS).await == 1
        })
        .await;
        refreshing.commit().await.unwrap();
    };
    let (closed, ()) = tokio::join!(closing, committing);

    assert_eq!(closed, 1);
    assert_eq!((store.row("a").await.unwrap().stock, store.options_in_stock("a").await), (EMPTY, 0));
}

#[tokio::test]
async fn a_refresh_that_began_before_its_store_closed_writes_nothing() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    store.seen_closed().await;
    let payload = store.payload(1, 2, 1.0).await;
    assert_eq!(store.close().await, 1);
    let counts = store.refresh(&payload, vec![product("a"), product("b")]).await;
    assert_eq!((counts.products, counts.snapshots), (0, 0));
    assert_eq!(store.row("a").await.unwrap().stock, EMPTY);
    assert_eq!(store.row("b").await, None);
    let result = serde_json::Map::from(counts);
    assert_eq!(result["store_is_disabled"], true);
    assert_eq!(result.get("order"), None, "it was written in no order");
}

#[tokio::test]
async fn a_crawl_time_ahead_of_the_clock_moves_no_sighting_into_the_future() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a"), product("b")]).await;
    let ahead = "UPDATE dispensaries SET last_payload_at = now() + interval '1 day', last_complete_at = now() + interval '1 day'";
    store.database.raw.batch_execute(ahead).await.unwrap();
    store.crawl(1, vec![product("b")]).await;
    assert_eq!(store.row("a").await.unwrap().stock, in_stock(1));
    assert_eq!(store.count("SELECT count(*) FROM store_products WHERE last_seen_at > now()").await, 0);
}

#[tokio::test]
async fn what_a_process_that_keeps_no_hashes_has_written_is_written_again() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    let other_process = "UPDATE store_products SET price_rec = 1; UPDATE store_product_variants SET price_rec = 1;
                         UPDATE dispensaries SET hashed_payload_id = NULL";
    store.database.raw.batch_execute(other_process).await.unwrap();
    let counts = store.crawl(1, vec![product("a")]).await;
    assert_eq!((counts.changed, counts.snapshots), (1, 1));
    assert_eq!(store.row("a").await.unwrap().price_rec, Some(1000));
    assert_eq!(store.count("SELECT min(price_rec)::bigint FROM store_product_variants").await, 1000);
    assert_eq!(store.crawl(2, vec![product("a")]).await.unchanged, 1);
}

#[tokio::test]
async fn a_store_that_is_deleted_takes_its_products_and_their_options_along() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    store.beside("Another Store").await.crawl(1, vec![product("b")]).await;
    store.database.raw.execute("DELETE FROM dispensaries WHERE id = $1", &[&store.id]).await.unwrap();
    assert_eq!(store.count("SELECT count(*) FROM store_products").await, 1);
    assert_eq!(store.count("SELECT count(*) FROM store_product_variants").await, 2);
}

#[tokio::test]
async fn options_keep_their_places_on_the_menu_and_products_what_the_platform_says_of_them() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    let mut moved = product("a");
    moved.upstream_status = Some(UpstreamStatus::Inactive);
    moved.variants = vec![variant("2g", 0, 2000), variant("1g", 1, 1500), variant("1g", 0, 1000)];
    store.crawl(1, vec![moved]).await;
    let sql =
        "SELECT p.upstream_status || ': ' || string_agg(format('%s/%s', option_label, nth), ' ' ORDER BY v.position)
                 FROM store_products p JOIN store_product_variants v ON v.store_product_id = p.id GROUP BY p.id";
    let kept: String = store.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(kept, "inactive: 2g/0 1g/1 1g/0");
}
