//! The usual questions find their rows by keys, in tables that were never analysed and in analysed ones.

use rstest::rstest;
use tokio_postgres::Client;

use super::{reader_of, texts};
use testkit::TestDatabase;

/// 100 stores with 20,000 products, 40,000 options, 120,000 rows of their history, and 60,000 changes of 3,000 crawls.
const FILL: [&str; 6] = [
    "SET xmlbinary = hex",
    "INSERT INTO dispensaries (id, name, platform, state) SELECT n, 'Store ' || n, 'dutchie', 'AZ' FROM generate_series(1, 100) n",
    "INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock,
                                 stock_status, first_seen_at, last_seen_at)
     SELECT n, 1 + n % 100, 'dutchie', n, 'Product ' || n, false, false, true, 'in_stock', now(), now() FROM generate_series(1, 20000) n;
     INSERT INTO store_product_variants (store_product_id, option_label, nth, quantity_censored, is_in_stock)
     SELECT id, label, 0, false, true FROM store_products, unnest('{1g,3.5g}'::text[]) label",
    "INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, quantity_censored, is_in_stock, gone)
     SELECT v.store_product_id, v.option_label, 0, n, now() - n * interval '20 days', false, true, false
       FROM store_product_variants v, generate_series(1, 3) n",
    "INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline, seq)
     SELECT n, 1 + n % 100, now() - (3000 - n) * interval '20 minutes', 20, false, n FROM generate_series(1, 3000) n",
    "INSERT INTO product_changes (crawl_id, store_product_id, crawled_at, n, kind, option_label, nth)
     SELECT b.crawl_id, b.dispensary_id, b.crawled_at, n, 'restocked', '1g', 0 FROM change_batches b, generate_series(0, 19) n",
];
/// Each table that holds rows.
const LEAVES: &str = "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                       AND relname ~ '^(dispensaries|store_product.*|change_batches|product_changes.*)$'";

async fn filled(is_analysed: bool) -> (TestDatabase, Client) {
    let database = testkit::database().await;
    for leaf in texts(&database.raw, LEAVES).await {
        database.raw.batch_execute(&format!("ALTER TABLE {leaf} SET (autovacuum_enabled = off)")).await.unwrap();
    }
    for statements in FILL {
        database.raw.batch_execute(statements).await.unwrap();
    }
    if is_analysed {
        database.raw.batch_execute("ANALYZE").await.unwrap();
    }
    let reader = reader_of(&database).await;
    (database, reader)
}

#[rstest]
#[case::products_of_a_store("products WHERE store_id = 7")]
#[case::a_product("products WHERE product_id = 77")]
#[case::options_of_a_store("options WHERE store_id = 7 AND is_in_stock")]
#[case::options_of_a_product("options WHERE product_id = 77")]
#[case::history_of_a_product("option_prices WHERE product_id = 77 ORDER BY crawled_at")]
#[case::history_of_an_option(
    "option_prices WHERE product_id = 77 AND option_label = '1g' AND crawled_at > now() - interval '7 days'"
)]
#[case::changes_since_a_time("changes WHERE crawled_at > now() - interval '6 hours'")]
#[case::changes_between_times(
    "changes WHERE crawled_at BETWEEN now() - interval '2 days' AND now() - interval '1 day'"
)]
#[case::changes_behind_a_place("changes WHERE seq >= 2990 AND (seq, n) > (2990, 3) ORDER BY seq, n LIMIT 100")]
#[case::changes_of_a_store("changes WHERE store_id = 7 AND crawled_at > now() - interval '7 days'")]
#[tokio::test]
async fn a_usual_question_reads_no_table_as_a_whole(#[case] question: &str, #[values(false, true)] is_analysed: bool) {
    let (_database, reader) = filled(is_analysed).await;
    let plan = texts(&reader, &format!("EXPLAIN SELECT * FROM drover_v1.{question}")).await;
    // a hundred stores are two pages
    let whole =
        |line: &&String| line.contains("Seq Scan") && !line.contains(" on dispensaries ") && !is_empty_month(line);
    let scans: Vec<&String> = plan.iter().filter(whole).collect();
    assert!(scans.is_empty(), "{}", plan.join("\n"));
}

#[rstest]
#[tokio::test]
async fn a_menu_at_a_time_reads_no_other_store(#[values(false, true)] is_analysed: bool) {
    let (database, reader) = filled(is_analysed).await;
    let crawls = "
        INSERT INTO whole_crawls (dispensary_id, crawled_at, crawl_id)
        SELECT d.id, now() - n * interval '20 days', 100 * (4 - n) + d.id FROM dispensaries d, generate_series(1, 3) n;
        INSERT INTO store_product_snapshots (store_product_id, crawl_id, crawled_at, is_on_special, quantity_censored, is_in_stock, stock_status)
        SELECT p.id, w.crawl_id, w.crawled_at, false, false, true, 'in_stock'
          FROM whole_crawls w JOIN store_products p USING (dispensary_id)
         ORDER BY w.crawl_id, p.id;";
    database.raw.batch_execute(crawls).await.unwrap();
    reader.batch_execute("BEGIN").await.unwrap();
    let options = "SELECT count(*)::text FROM drover_v1.menu_as_of(7, now() - interval '25 days')";
    assert_eq!(texts(&reader, options).await, ["400"]);
    let read = "SELECT format('%s: %s rows', relname, seq_tup_read) FROM pg_stat_xact_all_tables
                 WHERE seq_tup_read > 0 AND schemaname = 'public' AND relname <> 'dispensaries'
                 UNION ALL
                SELECT format('%s: %s rows by index', relname, idx_tup_fetch) FROM pg_stat_xact_all_tables
                 WHERE schemaname = 'public' AND relname LIKE 'store_product%' AND relname NOT LIKE '%snapshots%' AND idx_tup_fetch > 3000";
    assert_eq!(texts(&reader, read).await, Vec::<String>::new());
}

/// Whether the line is of a partition for which the planner counts no row: that of next month.
fn is_empty_month(line: &str) -> bool {
    line.contains("cost=0.00..0.00 ")
}
