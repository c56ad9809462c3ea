//! The usual questions find their rows by keys, in tables that were never analysed and in analysed ones.

use super::{reader_of, texts};
use testkit::TestDatabase;

/// 100 stores with 20,000 products, each with attributes, 40,000 options, 120,000 rows of their history, and 60,000 changes of 3,000 crawls.
const FILL: [&str; 6] = [
    "SET xmlbinary = hex",
    "INSERT INTO dispensaries (id, name, platform, state) SELECT n, 'Store ' || n, 'dutchie', 'AZ' FROM generate_series(1, 100) n",
    "INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock,
                                 stock_status, first_seen_at, last_seen_at, attributes_hash)
     SELECT n, 1 + n % 100, 'dutchie', n, 'Product ' || n, false, false, true, 'in_stock', now(), now(), n FROM generate_series(1, 20000) n;
     INSERT INTO store_attributes (dispensary_id, hash, attributes) SELECT dispensary_id, attributes_hash, '{}' FROM store_products;
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
                       AND relname ~ '^(dispensaries|store_product.*|store_attributes|change_batches|product_changes.*)$'";

const QUESTIONS: [&str; 10] = [
    // products of a store, and one product
    "products WHERE store_id = 7",
    "products WHERE product_id = 77",
    // options of a store, and of a product
    "options WHERE store_id = 7 AND is_in_stock",
    "options WHERE product_id = 77",
    // history of a product, and of an option
    "option_prices WHERE product_id = 77 ORDER BY crawled_at",
    "option_prices WHERE product_id = 77 AND option_label = '1g' AND crawled_at > now() - interval '7 days'",
    // changes since a time, between times, behind a place, and of a store
    "changes WHERE crawled_at > now() - interval '6 hours'",
    "changes WHERE crawled_at BETWEEN now() - interval '2 days' AND now() - interval '1 day'",
    "changes WHERE seq >= 2990 AND (seq, n) > (2990, 3) ORDER BY seq, n LIMIT 100",
    "changes WHERE store_id = 7 AND crawled_at > now() - interval '7 days'",
];
const CRAWLS: &str = "
    INSERT INTO whole_crawls (dispensary_id, crawled_at, crawl_id)
    SELECT d.id, now() - n * interval '20 days', 100 * (4 - n) + d.id FROM dispensaries d, generate_series(1, 3) n;
    INSERT INTO store_product_snapshots (store_product_id, crawl_id, crawled_at, is_on_special, quantity_censored, is_in_stock, stock_status)
    SELECT p.id, w.crawl_id, w.crawled_at, false, false, true, 'in_stock'
      FROM whole_crawls w JOIN store_products p USING (dispensary_id)
     ORDER BY w.crawl_id, p.id;";
/// The tables of [`CRAWLS`] as they were before, without statistics.
const NO_CRAWLS: &str = "TRUNCATE whole_crawls, store_product_snapshots";

/// A database that was never analysed.
async fn filled() -> TestDatabase {
    let database = testkit::database().await;
    for leaf in texts(&database.raw, LEAVES).await {
        database.raw.batch_execute(&format!("ALTER TABLE {leaf} SET (autovacuum_enabled = off)")).await.unwrap();
    }
    for statements in FILL {
        database.raw.batch_execute(statements).await.unwrap();
    }
    database
}

#[tokio::test]
async fn a_usual_question_reads_no_table_as_a_whole() {
    let database = filled().await;
    let reader = reader_of(&database).await;
    let month = &texts(&reader, "SELECT to_char(now() AT TIME ZONE 'UTC', '_YYYY_MM')").await[0];
    for statistics in ["", "ANALYZE"] {
        database.raw.batch_execute(statistics).await.unwrap();
        for question in QUESTIONS {
            let plan = texts(&reader, &format!("EXPLAIN SELECT * FROM drover_v1.{question}")).await;
            // a hundred stores are two pages
            let whole = |line: &&String| {
                line.contains("Seq Scan")
                    && !line.contains(" on dispensaries ")
                    && !is_empty(line)
                    && !is_short_month(line, month)
            };
            let scans: Vec<&String> = plan.iter().filter(whole).collect();
            assert!(scans.is_empty(), "{question} after {statistics:?}: {}", plan.join("\n"));
        }
    }
}

#[tokio::test]
async fn a_menu_at_a_time_reads_no_other_store() {
    let database = filled().await;
    let reader = reader_of(&database).await;
    for statistics in ["", "ANALYZE"] {
        for statements in [NO_CRAWLS, statistics, CRAWLS] {
            database.raw.batch_execute(statements).await.unwrap();
        }
        // no plan of the last round is kept
        reader.batch_execute("DISCARD PLANS; BEGIN").await.unwrap();
        let options = "SELECT count(*)::text FROM drover_v1.menu_as_of(7, now() - interval '25 days')";
        assert_eq!(texts(&reader, options).await, ["400"]);
        let read = "SELECT format('%s: %s rows', relname, seq_tup_read) FROM pg_stat_xact_all_tables
                     WHERE seq_tup_read > 0 AND schemaname = 'public' AND relname <> 'dispensaries'
                     UNION ALL
                    SELECT format('%s: %s rows by index', relname, idx_tup_fetch) FROM pg_stat_xact_all_tables
                     WHERE schemaname = 'public' AND relname LIKE 'store_product%' AND relname NOT LIKE '%snapshots%' AND idx_tup_fetch > 3000";
        assert_eq!(texts(&reader, read).await, Vec::<String>::new(), "after {statistics:?}");
        reader.batch_execute("COMMIT").await.unwrap();
    }
}

/// Whether the planner counts no row in the table that the line reads: the partition of next month.
fn is_empty(line: &str) -> bool {
    line.contains("cost=0.00..0.00 ")
}

/// Whether the line reads a partition that costs no more than a search of its index: that of this month, in its first
/// days.
fn is_short_month(line: &str, month: &str) -> bool {
    let (table, costs) = line.split_once("  (cost=0.00..").unwrap();
    let cost: f64 = costs.split(' ').next().unwrap().parse().unwrap();
    table.contains(month) && cost < 10.0
}
