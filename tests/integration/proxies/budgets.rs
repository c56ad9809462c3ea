//! Budgets of bytes a day: two processes with one database, each with its own pool, as two farms of workers
//! have.

use std::time::Duration;

use chrono::DateTime;
use domain::counts::fetches::FetchTotal;
use domain::proxy::Budgets;
use drover::actors::proxy_pool::ProxyPoolDeps;
use drover::stealth::{FetchError, ProxyId, ProxyLease, ProxySource};
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;

use super::import;
use super::pool::{HOST, Process, SOON};
use testkit::{TestDatabase, database, until};

const BUDGET: i64 = 10 << 20;
const ONE_PERCENT: i64 = BUDGET / 100;

/// A time by the clock of processes, far enough ahead that their requests count as today's however long a
/// test takes.
const AHEAD: i64 = 4_000_000_000;

fn of_each() -> settings::Proxies {
    settings("proxies.budget_bytes_per_day")
}

fn settings(budget: &'static str) -> settings::Proxies {
    let wait = Duration::from_millis(200);
    settings::Proxies { wait, ..testkit::config(&[(budget, "10MiB")]).proxies }
}

async fn start(database: &TestDatabase, settings: settings::Proxies) -> Process {
    let clock = Clock::manual(DateTime::from_timestamp(AHEAD, 0).unwrap());
    let process = Process::of(ProxyPoolDeps::new(database.db.clone(), settings, SecretKeys::default(), clock));
    assert!(process.pool.flush(SOON).await);
    process
}

/// Counts bytes as a session does at the end of a request.
fn carries(process: &Process, proxy: ProxyId, bytes: i64) {
    let request = FetchTotal { requests: 1, bytes_sent: bytes / 8, bytes_received: bytes - bytes / 8, seconds: 0.1 };
    process.deps.fetch_counts.meter().count(HOST, proxy, "ok", request);
    process.pool.count_bytes(proxy, bytes);
}

async fn written(database: &TestDatabase) -> i64 {
    let sql = "SELECT coalesce(sum(bytes_sent + bytes_received), 0)::bigint FROM fetch_minute";
    database.raw.query_one(sql, &[]).await.unwrap().get(0)
}

/// Another process's writes about a proxy today; an hour ahead, so that no midnight comes between.
async fn write_today(database: &TestDatabase, proxy: ProxyId, bytes: i64) {
    let sql = "INSERT INTO fetch_minute VALUES (date_trunc('minute', now()) + interval '1 hour', 77, 'menu.test', $1, 'ok', 1, 0, $2, 1)";
    database.raw.execute(sql, &[&proxy, &bytes]).await.unwrap();
}

async fn is_refused(process: &Process) -> bool {
    matches!(process.lease().await, Err(FetchError::NoProxy { .. }))
}

#[actix::test]
async fn two_processes_share_a_budget_and_spend_no_more_than_it_by_a_hundredth() {
    let database = database().await;
    import(&database, "a:1").await;
    write_today(&database, 1, 90 * ONE_PERCENT).await;
    let processes = [start(&database, of_each()).await, start(&database, of_each()).await];
    let mut spent = 90 * ONE_PERCENT;
    for process in processes.iter().cycle().take(200) {
        let Ok(lease) = process.lease().await else { break };
        carries(process, lease.proxy.id, ONE_PERCENT / 4);
        spent += ONE_PERCENT / 4;
        // no flush is asked for: a process shares its usage, because it is enough
        until("it is shared", SOON, async || written(&database).await == spent).await;
    }
    assert!((BUDGET..=BUDGET + ONE_PERCENT).contains(&spent), "{spent} of {BUDGET} bytes");
    for process in &processes {
        assert!(process.pool.flush(SOON).await);
        assert!(is_refused(process).await);
    }
}

#[actix::test]
async fn a_proxy_whose_budget_is_spent_rests_with_its_leases_and_the_others_serve() {
    let database = database().await;
    import(&database, "a:1\nb:1").await;
    let process = start(&database, of_each()).await;
    let leases = [process.lease().await.unwrap(), process.lease().await.unwrap()];
    let [spent, other] = [leases[0].proxy.id, leases[1].proxy.id];
    assert_ne!(spent, other);
    carries(&process, spent, BUDGET);
    let seen = process.seen().await;
    let resting: Vec<ProxyId> =
        seen.proxies.iter().filter(|proxy| proxy.rest_left_ms.is_some()).map(|proxy| proxy.id).collect();
    assert_eq!(resting, [spent]);
    assert_eq!(process.state().usable, 1);
    assert_eq!(leases.iter().map(ProxyLease::is_revoked).collect::<Vec<_>>(), [true, false]);
    assert_eq!(process.lease().await.unwrap().proxy.id, other);
    assert!(seen.proxies.iter().all(|proxy| proxy.condition == "active"), "a rest is no bench");
}

#[actix::test]
async fn a_rest_ends_when_what_was_carried_is_of_yesterday() {
    let database = database().await;
    import(&database, "a:1").await;
    write_today(&database, 1, BUDGET).await;
    let process = start(&database, of_each()).await;
    assert!(is_refused(&process).await);
    let budgets = Budgets { each: Some(BUDGET), in_all: None };
    let row = &super::listed_by(&database.db, budgets).await[0];
    let midnight = database.raw.query_one("SELECT ends FROM day_in('UTC')", &[]).await.unwrap().get(0);
    assert_eq!((row.bytes_today, row.budget_left, row.rests_until), (BUDGET, Some(0), Some(midnight)));

    database.raw.execute("UPDATE fetch_minute SET minute = minute - interval '2 days'", &[]).await.unwrap();
    assert!(process.pool.flush(SOON).await);
    assert!(process.lease().await.is_ok());
    let row = &super::listed_by(&database.db, budgets).await[0];
    assert_eq!((row.bytes_today, row.budget_left, row.rests_until), (0, Some(BUDGET), None));
}

#[actix::test]
async fn what_all_have_spent_together_rests_all_of_them() {
    let database = database().await;
    import(&database, "a:1\nb:1\nc:1").await;
    write_today(&database, 1, BUDGET / 2).await;
    let process = start(&database, settings("proxies.budget_bytes_per_day_in_all")).await;
    let held = process.lease().await.unwrap();
    write_today(&database, 2, BUDGET / 2).await;
    assert!(process.pool.flush(SOON).await);
    assert!(held.is_revoked());
    assert!(is_refused(&process).await);
    assert_eq!(process.state().usable, 0);
    let rests = super::listed_by(&database.db, Budgets { each: None, in_all: Some(BUDGET) }).await;
    assert!(rests.iter().all(|row| row.rests_until.is_some() && row.budget_left == Some(0)));
}

#[actix::test]
async fn a_restarted_pool_knows_what_was_spent() {
    let database = database().await;
    import(&database, "a:1").await;
    let before = start(&database, of_each()).await;
    carries(&before, 1, BUDGET);
    until("it is written", SOON, async || written(&database).await == BUDGET).await;
    let after = start(&database, of_each()).await;
    assert!(is_refused(&after).await);
}
