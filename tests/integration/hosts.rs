//! Shared knowledge of several processes about a host, and their requests to it.

use std::time::Duration;

use db::hosts;
use domain::host::{BreakerState, HostReport, Permission, Throttle, Verdict};
use domain::task::role::Role;
use drover::app::hosts::SharedHosts;
use drover::stealth::{ExchangeResult, HostTable};
use rstest::rstest;
use serde_json::{Value, json};
use sim::{Counts, Fault, FaultKind, Refusal};
use tokio::process::Command;

use testkit::{Child, Farm, PATIENCE, TestDatabase, config, database, drover, until};

const HOST: &str = "menu.test";
/// Number of slots of `drover worker` in these tests.
const SLOTS: u64 = 4;

fn shared_hosts(database: &TestDatabase, settings: &[(&'static str, &str)]) -> SharedHosts {
    let config = config(settings);
    SharedHosts::new(&database.db, config.politeness, config.http.whole_timeout)
}

fn process(database: &TestDatabase) -> SharedHosts {
    let settings = [("politeness.breaker_requests", "4"), ("politeness.breaker_base", "2s")];
    shared_hosts(database, &settings)
}

async fn report(process: &SharedHosts, report: HostReport) -> ExchangeResult {
    process.exchange(HOST, report).await.unwrap()
}

fn refused(requests: i64) -> HostReport {
    HostReport { answers: requests, refusals: requests, ..HostReport::default() }
}

fn asks_probe() -> HostReport {
    HostReport { asks_probe: true, ..HostReport::default() }
}

#[tokio::test]
async fn processes_add_to_what_the_others_counted() {
    let database = database().await;
    let processes = [process(&database), process(&database)];
    let accepted = || HostReport { answers: 1, ..HostReport::default() };
    let exchanges = (0..40).map(|nth| report(&processes[nth % 2], accepted()));
    futures_util::future::join_all(exchanges).await;
    let after = report(&processes[0], HostReport::default()).await.state;
    assert_eq!((after.answers, after.process_count()), (40, 2));
}

#[tokio::test]
async fn refusals_of_all_processes_open_the_breaker_and_one_of_them_gets_the_probe() {
    let database = database().await;
    let processes = [process(&database), process(&database), process(&database)];
    assert!(report(&processes[0], refused(2)).await.applied.notice.is_none());
    assert!(report(&processes[1], refused(2)).await.applied.notice.is_some());
    let seen = report(&processes[2], asks_probe()).await;
    assert_eq!(seen.applied.probe, None);
    assert!(matches!(seen.state.permission(seen.now), Permission::Refusing(_)));

    until("the probe is due", PATIENCE, async || {
        let seen = report(&processes[2], HostReport::default()).await;
        seen.state.permission(seen.now) == Permission::ProbeDue
    })
    .await;
    let asks = (0..30).map(|nth| report(&processes[nth % 3], asks_probe()));
    let probes: Vec<_> =
        futures_util::future::join_all(asks).await.iter().filter_map(|asked| asked.applied.probe).collect();
    assert_eq!(probes, [1]);

    let accepted = HostReport { probe: Some((1, Verdict::Accepted)), ..HostReport::default() };
    report(&processes[1], accepted).await;
    assert_eq!(report(&processes[0], HostReport::default()).await.state.breaker.state, BreakerState::Closed);
}

#[tokio::test]
async fn a_hold_is_shared_and_the_operator_ends_it() {
    let database = database().await;
    let processes = [process(&database), process(&database)];
    let throttle = Some(Throttle { status: 429, retry_after: Some(Duration::from_secs(600)) });
    report(&processes[0], HostReport { answers: 1, throttles: 1, throttle, ..HostReport::default() }).await;
    let seen = report(&processes[1], HostReport::default()).await;
    assert!(matches!(seen.state.permission(seen.now), Permission::Held { status: 429, .. }), "{:?}", seen.state);
    hosts::reset(&database.db.client().await.unwrap(), HOST).await.unwrap();
    let seen = report(&processes[1], HostReport::default()).await;
    assert_eq!(seen.state.permission(seen.now), Permission::Free);
}

async fn said(database: &TestDatabase, args: &[&str]) -> (i32, String) {
    let output = drover().args(args).env("DATABASE_URL", &database.url).output().await.unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn the_operator_sees_what_a_host_does_and_can_have_it_forgotten() {
    let database = database().await;
    let settings = [("politeness.breaker_requests", "4"), ("politeness.breaker_base", "2m")];
    report(&shared_hosts(&database, &settings), refused(4)).await;

    let (code, list) = said(&database, &["hosts", "--json"]).await;
    let list: Value = serde_json::from_str(&list).unwrap();
    let hosts = list["hosts"].as_array().unwrap();
    assert_eq!((code, hosts.len()), (0, 1));
    assert_eq!(
        (&hosts[0]["host"], &hosts[0]["breaker"], &hosts[0]["refusals"]),
        (&json!(HOST), &json!("open"), &json!(4))
    );
    let does = hosts[0]["does"].as_str().unwrap();
    assert!(does.starts_with("refuses 100 % of requests since ") && does.contains("; next probe in 1"), "{does}");
    let (_, shown) = said(&database, &["hosts", "show", HOST]).await;
    assert!(shown.starts_with("menu.test refuses 100 % of requests since "), "{shown}");
    assert_eq!(said(&database, &["hosts", "show", "https://Menu.test/graphql"]).await.0, 0, "an address there");

    assert_eq!(said(&database, &["hosts", "reset", HOST]).await.0, 0);
    assert_eq!(said(&database, &["hosts", "show", HOST]).await.0, 3, "not found");
}

fn worker(farm: &Farm) -> Command {
    let mut command = farm.drover(&["worker", "--workers", "2", "--slots", "2"]);
    command.envs([
        ("DROVER__POLITENESS__BREAKER_SHARE", "0.5"),
        ("DROVER__POLITENESS__BREAKER_REQUESTS", "12"),
        ("DROVER__POLITENESS__BREAKER_BASE", "1s"),
        ("DROVER__POLITENESS__BREAKER_CAP", "2s"),
        ("DROVER__PROXIES__FLUSH_EVERY", "500ms"),
        ("DROVER__PROXIES__BENCH_BASE", "100ms"),
        ("DROVER__PROXIES__BENCH_CAP", "200ms"),
    ]);
    command
}

#[tokio::test]
async fn two_processes_send_a_blocking_host_together_what_one_may_and_crawl_it_once_it_is_well() {
    let farm = Farm::with_stores(30).await;
    let storm = farm.sim.add_fault(Fault::new(FaultKind::Blocked(Refusal::ChallengeForbidden)));
    farm.enqueue(Role::PayloadFetch).await;
    let refuses = ["refuses"];
    // fewer than the four tries of one run, so that the run that opens the breaker waits, too
    let breaker = ("DROVER__POLITENESS__BREAKER_REQUESTS", "3");
    let _workers = [0, 1].map(|_| Child::spawn(worker(&farm).env(breaker.0, breaker.1)).allow_errors(&refuses));

    let probes = "SELECT coalesce(max(probe), 0)::bigint FROM hosts";
    until("some probes were sent", PATIENCE, async || farm.count(probes).await >= 3).await;
    let sent = farm.sim.counts().requests;
    let probes = farm.count(probes).await as u64;
    // requests that opened the breaker, and those under way then
    let allowed = 3 + 2 * SLOTS;
    assert!(sent <= allowed + probes, "{sent} requests, {probes} of them probes");
    let waiting = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND error_message LIKE '%refuses 100 % of requests since%'";
    farm.until_counted("every task waits and says why", waiting, 30).await;

    farm.sim.remove_fault(storm);
    farm.until_crawled().await;
    let retries = "SELECT coalesce(sum(retry_count), 0)::bigint FROM worker_tasks";
    assert_eq!(farm.count(retries).await, 0, "a task that waits spends no retry");
}

/// Two processes in a storm of these faults, which ends once it is `enough`. Returns the counts up to then.
async fn storm(fault: Fault, enough: impl AsyncFn(&Farm) -> bool) -> (Farm, Counts, u64) {
    let farm = Farm::with_stores(30).await;
    let storm = farm.sim.add_fault(fault);
    farm.enqueue(Role::PayloadFetch).await;
    let workers = [0, 1].map(|_| Child::spawn(&mut worker(&farm)).allow_errors(&["refuses", "throttles", "fails"]));
    until("it is enough", PATIENCE, async || enough(&farm).await).await;
    let counts = farm.sim.counts();
    let probes = farm.count(PROBES).await as u64;
    farm.sim.remove_fault(storm);
    // three minutes, scaled as the back-off of these tests is: half a minute's to one second's
    farm.until_crawled().await;
    drop(workers);
    (farm, counts, probes)
}

const PROBES: &str = "SELECT coalesce(max(probe), 0)::bigint FROM hosts";

async fn assert_no_proxy_is_blamed(farm: &Farm) {
    assert_eq!(farm.count("SELECT coalesce(sum(failure_count), 0)::bigint FROM proxies").await, 0);
    assert_eq!(farm.count("SELECT count(*) FROM proxies WHERE NOT is_active").await, 0);
}

#[tokio::test]
async fn a_storm_of_403s_with_a_lucky_answer_now_and_then_is_met_with_few_requests() {
    let fault = Fault::new(FaultKind::Blocked(Refusal::Forbidden)).sparing_one_of(10);
    let (farm, counts, probes) = storm(fault, async |farm| farm.sim.counts().requests >= 40).await;
    // each lucky probe closes the breaker for as many requests as open it again
    let allowed = (counts.answered + 1) * (12 + 2 * SLOTS) + probes;
    assert!(counts.requests <= allowed, "{} requests, {probes} probes, {} answers", counts.requests, counts.answered);
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 30, "whole menus, one of each store");
}

#[tokio::test]
async fn a_host_that_throttles_holds_both_processes() {
    let fault = Fault::new(FaultKind::Throttled { retry_after: Some(Duration::from_secs(1)) });
    let (farm, counts, probes) = storm(fault, async |farm| farm.count(PROBES).await >= 2).await;
    // three holds open the breaker, and each meets the requests that both have under way
    let allowed = 3 * 2 * SLOTS + probes;
    assert!(counts.requests <= allowed, "{} requests, {probes} of them probes", counts.requests);
    assert_no_proxy_is_blamed(&farm).await;
}

#[rstest]
#[case::broken(500)]
#[case::down(503)]
#[tokio::test]
async fn a_storm_of_5xx_opens_the_breaker_blames_no_proxy_and_stores_nothing(#[case] status: u16) {
    let fault = Fault::new(FaultKind::ServerError(status));
    let (farm, counts, probes) = storm(fault, async |farm| farm.count(PROBES).await >= 3).await;
    // requests that opened the breaker, and those under way then
    let allowed = 12 + 2 * SLOTS + probes;
    assert!(counts.requests <= allowed, "{} requests, {probes} of them probes", counts.requests);
    assert_eq!(counts.answered, 0);
    assert_no_proxy_is_blamed(&farm).await;
    let told = "SELECT count(*) FROM hosts WHERE failures >= 12 AND refusals = 0";
    assert_eq!(farm.count(told).await, 1, "they count as failures of the host");
    assert_eq!(
        farm.count("SELECT count(*) FROM raw_crawl_payloads").await,
        30,
        "one of each store, all after the burst"
    );
}

#[tokio::test]
async fn a_task_that_a_host_refused_says_what_it_does_and_since_when_while_its_breaker_is_closed() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("its host refuses to the end");
    farm.sim.add_fault(Fault::new(FaultKind::Blocked(Refusal::Forbidden)));
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = worker(&farm);
    let _worker = Child::spawn(command.env("DROVER__QUEUE__RETRY_BASE", "1h")).allow_errors(&["refuse"]);
    let told = "SELECT count(*) FROM worker_tasks WHERE error_message ~
                 '^127.0.0.1 refused the request: 403; it refuses 100 % of requests since [0-9]{2}:[0-9]{2} UTC$'";
    farm.until_counted("the task says why", told, 1).await;
    assert_eq!(farm.count("SELECT count(*) FROM hosts WHERE breaker = 'closed'").await, 1);
}
