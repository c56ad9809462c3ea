//! A crawl through a real PgBouncer in transaction mode, whose few connections go from client to client.

use std::net::SocketAddr;

use domain::task::role::Role;
use http_body_util::{BodyExt, Full};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::monitored_farm::with_ids;
use super::text_of;
use crate::api::server::open;
use testkit::{Child, Farm, PATIENCE, POOLER_CONNECTIONS, Pooler, TestDatabase, connect, drover, until};

const STORES: usize = 12;
const REFRESHED: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
const PENDING: &str =
    "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND role = 'payload_fetch' AND fence = ";

#[tokio::test]
#[ignore = "needs pgbouncer: ./dev ops-test"]
async fn a_crawl_through_pgbouncer_completes_is_paused_and_outlives_its_process() {
    let database = testkit::empty_database().await;
    let pooler = Pooler::before(&database).await;
    let migrated = pooler.through(drover().args(["migrate", "up"])).output().await.unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    let farm = &Farm::on(&database.url, STORES).await;

    let mut up = start(farm, &pooler, "up");
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    read_everything(&up).await;
    a_pause_holds(farm, &pooler).await;
    up.signal(Signal::SIGTERM);
    up.ended(PATIENCE).await;

    crawl_with_a_kill(farm, &pooler).await;
    farm.assert_nothing_twice().await;
    assert_eq!(farm.products().await, farm.expected_products(3));
    nothing_leaked(&database, &pooler).await;
}

fn start(farm: &Farm, pooler: &Pooler, service: &str) -> Child {
    Child::spawn(pooler.through(&mut farm.drover(&[service])))
}

/// Operation that answers 503 without a cluster.
const OF_THE_CLUSTER: &str = "/api/workers/k8s";

/// No resource of the API fails.
async fn read_everything(up: &Child) {
    let line: Value = serde_json::from_str(&up.logged("Listening on http", PATIENCE).await).unwrap();
    let address: SocketAddr = line["address"].as_str().unwrap().parse().unwrap();
    let described: Value = serde_json::from_str(&text_of("docs/openapi.json")).unwrap();
    let paths = described["paths"].as_object().unwrap().iter();
    let readable = paths.filter(|(path, methods)| {
        methods.get("get").is_some() && *path != "/api/events" && !path.starts_with(OF_THE_CLUSTER)
    });
    for (path, _) in readable {
        let path = with_ids(path);
        let request = http::Request::get(&path).header("host", address.to_string()).body(Full::default()).unwrap();
        let answer = open(address, request).await;
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(status.as_u16() < 500, "{path}: {status} {}", String::from_utf8_lossy(&body));
    }
}

/// The second crawl waits until the pause ends.
async fn a_pause_holds(farm: &Farm, pooler: &Pooler) {
    run(farm, pooler, &["pause", "all", "--reason", "the parsers are wrong"]).await;
    let since = "SELECT (extract(epoch FROM clock_timestamp() - max(created_at)) * 1000)::bigint FROM pauses";
    until("every process obeys the pause", PATIENCE, async || farm.count(since).await > 1_000).await;
    farm.sim.set_crawl(2);
    farm.enqueue(Role::PayloadFetch).await;
    let age = "SELECT (extract(epoch FROM clock_timestamp() - max(created_at)) * 1000)::bigint FROM worker_tasks";
    until("the workers have looked for tasks", PATIENCE, async || farm.count(age).await > 3_000).await;
    assert_eq!(farm.count(&format!("{PENDING} 0")).await, STORES as i64, "the pause does not hold");
    run(farm, pooler, &["resume", "all"]).await;
    farm.until_counted("every store was crawled again", REFRESHED, 2 * STORES as i64).await;
}

/// A process is killed in the middle of the third crawl, and the next one completes it.
async fn crawl_with_a_kill(farm: &Farm, pooler: &Pooler) {
    farm.sim.set_crawl(3);
    let mut killed = start(farm, pooler, "worker");
    farm.enqueue(Role::PayloadFetch).await;
    until("the crawl is under way", PATIENCE, async || farm.count(REFRESHED).await >= 2 * STORES as i64 + 2).await;
    killed.signal(Signal::SIGKILL);
    killed.ended(PATIENCE).await;
    let mut next = start(farm, pooler, "worker");
    farm.until_counted("every store was crawled a third time", REFRESHED, 3 * STORES as i64).await;
    next.signal(Signal::SIGTERM);
    next.ended(PATIENCE).await;
}

async fn run(farm: &Farm, pooler: &Pooler, args: &[&str]) {
    let ran = pooler.through(&mut farm.drover(args)).output().await.unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
}

/// Another client that has every connection of the pooler meets the server's own settings on each.
async fn nothing_leaked(database: &TestDatabase, pooler: &Pooler) {
    let limits = "SELECT concat_ws(' ', current_setting('statement_timeout'), current_setting('lock_timeout'))";
    let expected = answers(&connect(&database.url).await, limits).await;
    let mut others = Vec::new();
    for _ in 0..POOLER_CONNECTIONS {
        let other = connect(&pooler.url()).await;
        other.batch_execute("BEGIN").await.unwrap();
        assert_eq!(answers(&other, limits).await, expected);
        let left = answers(&other, LEFT).await;
        assert!(left.is_empty(), "{left:?}");
        others.push(other);
    }
}

/// Settings, statements and locks of a client, beside the settings that the pooler keeps for each, and the isolation of
/// the transaction that asks.
const LEFT: &str = "SELECT name || ' ' || setting FROM pg_settings
     WHERE source = 'session' AND name NOT IN ('application_name', 'TimeZone', 'client_encoding', 'DateStyle',
                                               'standard_conforming_strings', 'transaction_isolation') UNION ALL
    SELECT 'statement ' || statement FROM pg_prepared_statements UNION ALL
    SELECT 'lock ' || objid FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'";

/// The first column, by the protocol that prepares nothing.
async fn answers(client: &tokio_postgres::Client, sql: &str) -> Vec<String> {
    let messages = client.simple_query(sql).await.unwrap();
    let rows = messages.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap().to_owned()),
        _ => None,
    });
    rows.collect()
}
