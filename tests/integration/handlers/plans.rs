//! A refresh reads the rows of its own store by their keys, whatever the planner knows of the tables, and
//! however large these are.

use db::{Db, PoolSizes, Tx};
use domain::menu::product::Product;
use domain::payload::Payload;
use rstest::rstest;

use super::test_store::{TestStore, menu_write, product, variant};
use testkit::database_settings;

const SIZE: i64 = 100;

/// Rows of 200 other stores: 20,000 products, 40,000 variants, and a snapshot of each product.
const FILL: &str = "
    INSERT INTO dispensaries (id, name, platform) SELECT 1000 + n, 'Store ' || n, 'dutchie' FROM generate_series(1, 200) n;
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored,
                                is_in_stock, stock_status, first_seen_at, last_seen_at)
      SELECT 1000000 + n, 1001 + n % 200, 'dutchie', 'p' || n, 'Product', false, false, true, 'in_stock', now(), now()
        FROM generate_series(1, 20000) n;
    INSERT INTO store_product_variants (store_product_id, option_label, nth, quantity_censored, is_in_stock)
      SELECT id, '1g', nth, false, true FROM store_products, generate_series(0, 1) nth WHERE id > 1000000;";

#[derive(Clone, Copy, Debug)]
enum Statistics {
    Never,
    OfEmptyTables,
    Fresh,
}

#[derive(Clone, Copy, Debug)]
enum Crawl {
    Unchanged,
    /// Every tenth product is dearer, and has lost an option.
    Changed,
    /// Every tenth product is missing, for the third time.
    Missing,
    Replayed,
    Older,
}

fn menu() -> Vec<Product> {
    (0..SIZE).map(|n| product(&format!("p{n}"))).collect()
}

fn menu_of(crawl: Crawl) -> Vec<Product> {
    let mut menu = menu();
    match crawl {
        Crawl::Missing => menu.retain(|product| !product.provider_product_id.ends_with('0')),
        Crawl::Changed => menu.iter_mut().step_by(10).for_each(|product| {
            product.price_rec = Some(1);
            product.variants = vec![variant("1g", 0, 1), variant("2g", 0, 2)];
        }),
        Crawl::Unchanged | Crawl::Replayed | Crawl::Older => {}
    }
    menu
}

async fn write(tx: &Tx, payload: &Payload, products: Vec<Product>) {
    menu_write(payload.clone(), products).write(tx).await.unwrap();
}

/// Rows of products and variants that a session has read of late: by looking through tables, and by index.
async fn rows_read(tx: &Tx) -> (i64, i64) {
    let sql = "SELECT sum(seq_tup_read)::bigint, sum(coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables
                WHERE relname IN ('store_products', 'store_product_variants')";
    let row = tx.query_one(sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

/// Writes these crawls of a store by `db`; returns their payloads, and one before them that is not written.
async fn crawled(store: &TestStore, db: &Db, crawls: &[Crawl]) -> Vec<Payload> {
    let mut payloads = vec![store.payload(0, SIZE as usize, 1.0).await];
    for (crawl, second) in crawls.iter().zip(1..) {
        let products = menu_of(*crawl);
        let payload = store.payload(second, products.len(), 1.0).await;
        let tx = db.begin().await.unwrap();
        write(&tx, &payload, products).await;
        tx.commit().await.unwrap();
        payloads.push(payload);
    }
    payloads
}

#[rstest]
#[case::never(Statistics::Never)]
#[case::of_empty_tables(Statistics::OfEmptyTables)]
#[case::fresh(Statistics::Fresh)]
#[tokio::test]
async fn a_refresh_reads_the_rows_of_its_store_by_index(#[case] statistics: Statistics) {
    let store = TestStore::new().await;
    let raw = &store.database.raw;
    for table in ["store_products", "store_product_variants"] {
        raw.batch_execute(&format!("ALTER TABLE {table} SET (autovacuum_enabled = off)")).await.unwrap();
        if let Statistics::OfEmptyTables = statistics {
            raw.batch_execute(&format!("ANALYZE {table}")).await.unwrap();
        }
    }
    // one session, whose plans are made while the tables are all but empty
    let db = Db::new(&store.database.url, &database_settings(), PoolSizes { work: 1, api: 1 }).unwrap();
    let lacking = store.beside("Lacking").await;
    let usual = [Crawl::Unchanged, Crawl::Changed, Crawl::Unchanged];
    let payloads = crawled(&store, &db, &usual).await;
    crawled(&lacking, &db, &[&usual[..], &[Crawl::Missing; 2]].concat()).await;
    raw.batch_execute(FILL).await.unwrap();
    if let Statistics::Fresh = statistics {
        raw.batch_execute("ANALYZE store_products, store_product_variants").await.unwrap();
    }

    for (crawl, second) in
        [Crawl::Unchanged, Crawl::Changed, Crawl::Missing, Crawl::Replayed, Crawl::Older].into_iter().zip(6..)
    {
        let products = menu_of(crawl);
        let payload = match crawl {
            Crawl::Older => payloads[0].clone(),
            Crawl::Replayed => payloads[3].clone(),
            Crawl::Missing => lacking.payload(second, products.len(), 1.0).await,
            Crawl::Unchanged | Crawl::Changed => store.payload(second, products.len(), 1.0).await,
        };
        let tx = db.begin().await.unwrap();
        let before = rows_read(&tx).await;
        write(&tx, &payload, products).await;
        let after = rows_read(&tx).await;
        tx.rollback().await.unwrap();
        assert_eq!(after.0 - before.0, 0, "{crawl:?}: rows read by looking through tables");
        // each product once to compare and once to be written, and its two variants as often
        let by_index = after.1 - before.1;
        assert!((1..=8 * SIZE).contains(&by_index), "{crawl:?}: {by_index} rows read by index");
    }
}
