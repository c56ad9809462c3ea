//! Every call comes back in time, and a connection that did not answer is never used again.

use std::time::Duration;

use drover::db::{Db, PoolSizes};

use crate::support;

const SOON: Duration = Duration::from_secs(10);

/// One connection, so that the next borrower would meet what the last one left behind.
fn impatient(url: &str) -> Db {
    let settings =
        drover::config::Database { statement_timeout: Duration::from_millis(300), ..support::database_settings() };
    Db::new(url, &settings, PoolSizes { work: 1, api: 1 }).unwrap()
}

async fn sleepers(database: &support::TestDatabase) -> i64 {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'";
    database.raw.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_call_that_meets_its_deadline_is_cancelled_on_the_server() {
    let database = support::database().await;
    let db = impatient(&database.url);
    let client = db.client().await.unwrap();
    // the server's own time-out must not be what ends it
    client.batch("SET statement_timeout = 0").await.unwrap();

    let error = client.query("SELECT pg_sleep(60)", &[]).await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert_eq!(sleepers(&database).await, 1);
    drop(client);

    support::until("the statement has ended on the server", SOON, async || sleepers(&database).await == 0).await;
    assert_eq!(db.client().await.unwrap().query_one("SELECT 1", &[]).await.unwrap().get::<_, i32>(0), 1);
}

#[tokio::test]
async fn a_dropped_future_is_cancelled_and_does_not_poison_the_pool() {
    let database = support::database().await;
    let db = impatient(&database.url);
    {
        let client = db.client().await.unwrap();
        client.batch("SET statement_timeout = 0").await.unwrap();
        let sleeping = client.query("SELECT pg_sleep(60)", &[]);
        let watching = support::until("the statement runs", SOON, async || sleepers(&database).await == 1);
        tokio::select! {
            biased;
            () = watching => {}
            answer = sleeping => panic!("it should have slept on: {answer:?}"),
        }
    }
    support::until("the statement has ended on the server", SOON, async || sleepers(&database).await == 0).await;
    assert_eq!(db.client().await.unwrap().query_one("SELECT 2", &[]).await.unwrap().get::<_, i32>(0), 2);
}
