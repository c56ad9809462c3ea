//! A reader cannot slow the queue: its statements end, it locks nothing that the queue needs, and a migration outlasts it.

use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;

use super::{login_of, reader_of, refused, texts, url_of};
use db::schema;
use testkit::{PATIENCE, TestDatabase, until};

/// Reads each view, and keeps the transaction open.
const READ_ALL: &str = "BEGIN; SELECT * FROM stores; SELECT * FROM products; SELECT * FROM options; SELECT * FROM option_prices; \
                        SELECT * FROM changes";
/// Longest time in which a claim is still quick on a busy machine; a migration lets one wait for a second.
const QUICK: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_login_begins_with_its_limits() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let set = "SELECT name || ' ' || setting FROM pg_settings WHERE source = 'user' ORDER BY name";
    let newer = texts(&reader, "SELECT name FROM pg_settings WHERE name = 'transaction_timeout'").await;
    let mut expected = vec![
        "default_transaction_read_only on",
        "idle_in_transaction_session_timeout 10000",
        "jit off",
        "lock_timeout 2000",
        "max_parallel_workers_per_gather 0",
        "search_path drover_v1",
        "statement_timeout 20000",
        "temp_file_limit 1048576",
        "TimeZone UTC",
        "work_mem 16384",
    ];
    if !newer.is_empty() {
        expected.push("transaction_timeout 25000");
    }
    let mut found = texts(&reader, set).await;
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_statement_ends_at_its_limit() {
    let database = testkit::database().await;
    reader_of(&database).await;
    let login = login_of(&database);
    let shorter = format!("ALTER ROLE {} SET statement_timeout = '200ms'", login.as_str());
    database.raw.batch_execute(&shorter).await.unwrap();
    let reader = testkit::connect(&url_of(&database.url, &login)).await;
    assert_eq!(refused(&reader, "SELECT pg_sleep(600)").await, Some(SqlState::QUERY_CANCELED));
}

#[tokio::test]
async fn a_fourth_connection_of_a_login_is_refused() {
    let database = testkit::database().await;
    let _first = reader_of(&database).await;
    let url = url_of(&database.url, &login_of(&database));
    let _others = [testkit::connect(&url).await, testkit::connect(&url).await];
    let fourth = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
    assert_eq!(fourth.err().unwrap().code(), Some(&SqlState::TOO_MANY_CONNECTIONS));
}

#[tokio::test]
async fn a_reader_locks_no_table_of_the_queue_and_the_others_against_changes_of_the_schema_alone() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    reader.batch_execute(READ_ALL).await.unwrap();
    let locks = "SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'";
    assert_eq!(texts(&reader, locks).await, ["AccessShareLock"]);
    let tables = "SELECT DISTINCT c.relname::text FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                   WHERE l.pid = pg_backend_pid() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                     AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE relname = 'worker_tasks') ORDER BY 1";
    let read = [
        "change_batches",
        "dispensaries",
        "product_changes",
        "raw_crawl_payloads",
        "store_attributes",
        "store_product_variant_history",
        "store_product_variants",
        "store_products",
    ];
    assert_eq!(texts(&reader, tables).await, read);
}

#[tokio::test]
async fn a_migration_outlasts_a_forgotten_transaction_of_a_reader_and_claims_go_on() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    reader.batch_execute(READ_ALL).await.unwrap();
    let older = "UPDATE schema_objects SET checksum = 'older' WHERE name = '06_drover_v1'";
    database.raw.batch_execute(older).await.unwrap();
    let db = database.db.clone();
    let migrating = tokio::spawn(async move { schema::migrate::up(&db).await });
    until("a view waits for its reader", PATIENCE, async || {
        let waits = "SELECT count(*)::text FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        texts(&database.raw, waits).await != ["0"]
    })
    .await;
    until_migrated(&database, &migrating).await;
    assert!(!migrating.await.unwrap().unwrap().objects.is_empty());
    assert_eq!(reader.batch_execute("SELECT 1").await.err().map(|_| ()), Some(()), "its session was ended");
}

/// Claims while the migration waits.
async fn until_migrated<T>(database: &TestDatabase, migrating: &tokio::task::JoinHandle<T>) {
    let client = testkit::connect(&database.url).await;
    let begun = Instant::now();
    while !migrating.is_finished() {
        let asked = Instant::now();
        client.batch_execute(r#"SELECT enqueue_tasks('[{"role": "analytics_refresh"}]')"#).await.unwrap();
        let claimed = client.query("SELECT FROM claim_task('analytics_refresh', 'me')", &[]).await.unwrap();
        assert_eq!(claimed.len(), 1);
        assert!(asked.elapsed() < QUICK, "a claim took {:?}", asked.elapsed());
        assert!(begun.elapsed() < PATIENCE, "the migration hangs");
    }
}
