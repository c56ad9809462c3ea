//! `database.pooler`: nothing stays on a connection, and nothing is expected of the one before.

use std::time::Duration;

use db::connection::listen::Listener;
use db::{Db, PoolSizes, schema};
use tokio::time::{Instant, timeout};

const SOON: Duration = Duration::from_secs(60);

/// One connection, without a pooler before the server: it shows what would stay on it.
fn pooled(url: &str) -> Db {
    let settings = settings::Database { pooler: true, ..testkit::database_settings() };
    Db::new(url, &settings, PoolSizes { work: 1, api: 1 }).unwrap()
}

/// Prepared statements, advisory locks and changed settings of the connection. A pooler keeps the settings left out here
/// for each client; the isolation is that of this query's own transaction.
const LEFT: &str = "SELECT 'statement ' || statement FROM pg_prepared_statements UNION ALL
    SELECT name || ' ' || setting FROM pg_settings
     WHERE source = 'session' AND name NOT IN ('application_name', 'TimeZone', 'transaction_isolation') UNION ALL
    SELECT 'lock ' || objid FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'";

#[tokio::test]
async fn nothing_stays_on_a_connection_behind_a_pooler() {
    let database = testkit::database().await;
    let db = pooled(&database.url);
    let pid =
        async || -> i32 { db.client().await.unwrap().query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0) };
    let before = pid().await;
    let client = db.client().await.unwrap();
    let sum: i32 = client.query_one("SELECT $1::int + $2::int -- a sum", &[&1, &2]).await.unwrap().get(0);
    assert_eq!(sum, 3);
    assert!(client.query_opt("SELECT 1 WHERE $1::text = 'y';", &[&"x"]).await.unwrap().is_none());
    drop(client);
    let tx = db.begin().await.unwrap();
    let jit: String = tx.query_one("SHOW jit", &[]).await.unwrap().get(0);
    assert_eq!(jit, "off", "its settings hold within the transaction");
    let counted = tx.execute("CREATE TEMP TABLE t ON COMMIT DROP AS SELECT 1", &[]).await.unwrap();
    assert_eq!(counted, 1);
    tx.commit().await.unwrap();
    db.maintenance_client().await.unwrap().batch("SELECT 1").await.unwrap();
    assert_eq!(schema::indexes::ensure(&db).await.unwrap().map(|made| made > 0), Some(true));

    let left: Vec<String> =
        db.client().await.unwrap().query(LEFT, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(pid().await, before, "another connection would show nothing");
}

#[tokio::test]
async fn a_wrong_number_of_parameters_is_an_error_of_the_statement() {
    let database = testkit::database().await;
    let client = pooled(&database.url).client().await.unwrap();
    let error = client.query("SELECT $1::int", &[&1, &2]).await.unwrap_err();
    assert!(error.to_string().contains("2 parameters for a statement with 1"), "{error}");
}

#[tokio::test]
async fn behind_a_pooler_receivers_are_woken_without_a_notification() {
    let database = testkit::database().await;
    let mut wakes = {
        let (listener, wakes) = Listener::new(pooled(&database.url).server(), "test_channel");
        tokio::spawn(listener.run());
        wakes
    };
    let begun = Instant::now();
    for _ in 0..3 {
        timeout(SOON, wakes.changed()).await.expect("a wake-up").unwrap();
    }
    // two seconds, and some for a machine that is busy
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn settings_that_the_account_lacks_behind_a_pooler_are_named() {
    let database = testkit::database().await;
    let config = settings::Database { pooler: true, ..testkit::database_settings() };
    let db = pooled(&database.url);
    assert_eq!(schema::server_info::necessary_settings(&db, &config).await.unwrap(), None);
    let limit = format!(
        "ALTER DATABASE {0} SET statement_timeout = '5s';
         ALTER DATABASE {0} SET default_transaction_isolation = 'serializable'",
        database.name
    );
    database.raw.batch_execute(&limit).await.unwrap();
    let wanted = schema::server_info::necessary_settings(&pooled(&database.url), &config).await.unwrap().unwrap();
    assert_eq!(
        wanted,
        "ALTER ROLE CURRENT_USER SET default_transaction_isolation = 'read committed'; \
         ALTER ROLE CURRENT_USER SET statement_timeout = '600000ms'"
    );
}

#[tokio::test]
async fn a_prepared_statement_that_vanished_names_the_setting() {
    let database = testkit::database().await;
    let client = database.db.client().await.unwrap();
    client.query("SELECT 1", &[]).await.unwrap();
    client.batch("DEALLOCATE ALL").await.unwrap();
    let error = client.query("SELECT 1", &[]).await.unwrap_err();
    assert!(error.to_string().contains("database.pooler = true"), "{error}");
}
