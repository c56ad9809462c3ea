//! What one payload writes: products, options, snapshots, misses, and nothing that has not changed.

use drover::domain::product::StockStatus;
use drover::domain::stock::Stock;
use drover::handlers::product_refresh::crawl::Counts;

use super::shelf::{TestShelf, at, product, variant};

fn in_stock(misses: i16) -> Stock {
    Stock { is_in_stock: true, status: StockStatus::InStock, misses }
}

const EMPTY: Stock = Stock { is_in_stock: false, status: StockStatus::Oos, misses: 3 };

#[tokio::test]
async fn a_first_crawl_writes_products_options_and_snapshots() {
    let shelf = TestShelf::new().await;
    let payload = shelf.payload(0, 2, 1.0).await;
    let counts = shelf.refresh(&payload, vec![product("a"), product("b")]).await;

    assert_eq!(counts, Counts { products: 2, new: 2, snapshots: 2, ..Counts::default() });
    assert_eq!(shelf.snapshots(&payload).await, 2);
    assert_eq!(shelf.count("SELECT count(*) FROM store_product_variants").await, 4);
    assert_eq!(shelf.row("a").await.unwrap().first_seen_at, at(0));
    let noted = shelf.count("SELECT count(*) FROM dispensaries WHERE last_crawl_at IS NOT NULL").await;
    assert_eq!(noted, 1);
}

#[tokio::test]
async fn an_unchanged_product_is_neither_written_nor_locked() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    let products = shelf.marks("store_products").await;
    let variants = shelf.marks("store_product_variants").await;

    let counts = shelf.crawl(1, vec![product("b"), product("a")]).await;

    assert_eq!(counts, Counts { products: 2, unchanged: 2, snapshots: 2, ..Counts::default() });
    assert_eq!(shelf.marks("store_products").await, products);
    assert_eq!(shelf.marks("store_product_variants").await, variants);
    assert_eq!(shelf.row("a").await.unwrap().last_seen_at, at(1));
}

#[tokio::test]
async fn a_changed_product_alone_is_written() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    let before = shelf.marks("store_products").await;

    let mut dearer = product("b");
    dearer.price_rec = Some(1200);
    let counts = shelf.crawl(1, vec![product("a"), dearer]).await;

    assert_eq!((counts.changed, counts.unchanged), (1, 1));
    assert_eq!(shelf.row("b").await.unwrap().price_rec, Some(1200));
    let after = shelf.marks("store_products").await;
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
}

#[tokio::test]
async fn options_follow_the_feed_where_the_product_itself_stays_as_it_was() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;

    let mut regrouped = product("a");
    regrouped.variants = vec![variant("1g", 0, 1000), variant("3.5g", 0, 3000)];
    let counts = shelf.crawl(1, vec![regrouped, product("b")]).await;

    assert_eq!(counts.unchanged, 2);
    let sql = "SELECT string_agg(format('%s/%s=%s', option_label, nth, v.price_rec), ' ' ORDER BY option_label, nth)
                 FROM store_product_variants v JOIN store_products p ON p.id = store_product_id WHERE provider_product_id = $1";
    let labels = async |id: &str| shelf.database.raw.query_one(sql, &[&id]).await.unwrap().get::<_, String>(0);
    assert_eq!(labels("a").await, "1g/0=1000 3.5g/0=3000");
    assert_eq!(labels("b").await, "1g/0=1000 1g/1=1500");
}

#[tokio::test]
async fn three_misses_empty_the_shelf_and_the_fourth_writes_nothing() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    for misses in 1..=2 {
        let counts = shelf.crawl(misses, vec![product("b")]).await;
        assert_eq!((counts.missed, counts.out_of_stock), (1, 0));
        let row = shelf.row("a").await.unwrap();
        assert_eq!((row.stock, row.last_seen_at), (in_stock(misses as i16), at(0)));
    }
    let counts = shelf.crawl(3, vec![product("b")]).await;
    assert_eq!((counts.missed, counts.out_of_stock), (1, 1));
    assert_eq!(shelf.row("a").await.unwrap().stock, EMPTY);
    assert_eq!((shelf.options_in_stock("a").await, shelf.options_in_stock("b").await), (0, 2));

    let before = shelf.marks("store_products").await;
    assert_eq!(shelf.crawl(4, vec![product("b")]).await.missed, 0);
    assert_eq!(shelf.marks("store_products").await, before);
}

#[tokio::test]
async fn unknown_stock_goes_out_too() {
    let shelf = TestShelf::new().await;
    let mut silent = product("a");
    (silent.quantity, silent.stock_status) = (None, StockStatus::Unknown);
    shelf.crawl(0, vec![silent, product("b")]).await;
    for second in 1..=3 {
        shelf.crawl(second, vec![product("b")]).await;
    }
    assert_eq!(shelf.row("a").await.unwrap().stock, EMPTY);
}

#[tokio::test]
async fn a_product_is_back_in_stock_at_once() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    for second in 1..=3 {
        shelf.crawl(second, vec![product("b")]).await;
    }
    let counts = shelf.crawl(4, vec![product("a"), product("b")]).await;

    assert_eq!((counts.back_in_stock, counts.changed), (1, 1));
    let row = shelf.row("a").await.unwrap();
    assert_eq!((row.stock, row.first_seen_at, row.last_seen_at), (in_stock(0), at(0), at(4)));
    assert_eq!(shelf.options_in_stock("a").await, 2);
}

#[tokio::test]
async fn a_partial_crawl_counts_no_miss() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    let partial = shelf.payload(1, 1, 0.5).await;
    assert_eq!(shelf.refresh(&partial, vec![product("b")]).await.missed, 0);
    let row = shelf.row("a").await.unwrap();
    assert_eq!((row.stock, row.last_seen_at), (in_stock(0), at(0)));
}

#[tokio::test]
async fn an_empty_menu_counts_no_miss() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a")]).await;
    assert_eq!(shelf.crawl(1, vec![]).await, Counts::default());
    assert_eq!(shelf.row("a").await.unwrap().stock, in_stock(0));
}

#[tokio::test]
async fn the_same_payload_again_mends_products_and_counts_no_second_miss() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    let payload = shelf.payload(1, 1, 1.0).await;
    shelf.refresh(&payload, vec![product("b")]).await;
    shelf.database.raw.batch_execute("UPDATE store_products SET price_rec = 1").await.unwrap();

    let counts = shelf.refresh(&payload, vec![product("b")]).await;

    assert_eq!((counts.changed, counts.missed, counts.snapshots), (1, 0, 0));
    assert_eq!(shelf.row("b").await.unwrap().price_rec, Some(1000));
    assert_eq!(shelf.row("a").await.unwrap().stock, in_stock(1));
    assert_eq!(shelf.snapshots(&payload).await, 1);
}

#[tokio::test]
async fn an_older_payload_writes_its_missing_snapshots_only() {
    let shelf = TestShelf::new().await;
    let older = shelf.payload(0, 2, 1.0).await;
    let mut dearer = product("a");
    dearer.price_rec = Some(1200);
    shelf.crawl(1, vec![dearer, product("b")]).await;
    let before = shelf.marks("store_products").await;
    let store = shelf.marks("dispensaries").await;

    let counts = shelf.refresh(&older, vec![product("a"), product("b")]).await;

    assert_eq!(counts, Counts { products: 2, snapshots: 2, ..Counts::default() });
    assert_eq!(shelf.marks("store_products").await, before);
    assert_eq!(shelf.row("a").await.unwrap().price_rec, Some(1200));
    let old_price = format!("SELECT min(price_rec)::bigint FROM store_product_snapshots WHERE crawl_id = {}", older.id);
    assert_eq!(shelf.count(&old_price).await, 1000);
    // locked, so its xmax moves; written it would lie elsewhere
    assert_eq!(place(&shelf.marks("dispensaries").await), place(&store));
    assert_eq!(shelf.refresh(&older, vec![product("a"), product("b")]).await.snapshots, 0);
}

#[tokio::test]
async fn what_only_an_older_payload_knows_comes_in_with_its_misses_counted() {
    let shelf = TestShelf::new().await;
    let older = shelf.payload(0, 2, 1.0).await;
    shelf.crawl(1, vec![product("b")]).await;
    shelf.crawl(2, vec![product("b")]).await;

    let counts = shelf.refresh(&older, vec![product("a"), product("b")]).await;

    assert_eq!((counts.new, counts.snapshots), (1, 2));
    let row = shelf.row("a").await.unwrap();
    assert_eq!((row.stock, row.first_seen_at, row.last_seen_at), (in_stock(2), at(0), at(0)));
}

#[tokio::test]
async fn what_only_an_older_payload_knows_may_be_gone_already() {
    let shelf = TestShelf::new().await;
    let older = shelf.payload(0, 2, 1.0).await;
    for second in 1..=3 {
        shelf.crawl(second, vec![product("b")]).await;
    }
    shelf.refresh(&older, vec![product("a"), product("b")]).await;
    assert_eq!(shelf.row("a").await.unwrap().stock, EMPTY);
    assert_eq!((shelf.options_in_stock("a").await, shelf.options_in_stock("b").await), (0, 2));
}

#[tokio::test]
async fn stores_do_not_share_products() {
    let shelf = TestShelf::new().await;
    shelf.crawl(0, vec![product("a"), product("b")]).await;
    let other = shelf.beside("Another Store").await;
    other.crawl(1, vec![product("a")]).await;
    assert_eq!(shelf.row("b").await.unwrap().stock, in_stock(0));
    assert_ne!(shelf.row("a").await.unwrap().id, other.row("a").await.unwrap().id);
}

fn place(marks: &[String]) -> Vec<&str> {
    marks.iter().filter_map(|mark| mark.rsplit_once(' ')).map(|(place, _)| place).collect()
}
