//! Settlements whose COMMIT takes place while its answer is lost with the connection, and one whose lease has ended.

use std::net::SocketAddr;

use domain::task::role::Role;
use http_body_util::Full;

use crate::api::server::send;
use testkit::{Child, Farm, FaultProxy, PATIENCE, until};

const STORES: usize = 6;
/// Answers lost, of twice as many settlements with effects as there are stores.
const LOST_ANSWERS: usize = 5;

#[tokio::test]
async fn a_settlement_whose_commit_is_not_answered_is_written_once_and_its_run_counts_as_completed() {
    let farm = Farm::with_stores(STORES).await;
    let network = FaultProxy::start(farm.url()).await;
    let mut command = farm.drover(&["worker"]);
    command.env("DATABASE_URL", network.url()).env("DROVER__PROBES__LISTEN", "127.0.0.1:0");
    let worker = Child::spawn(command.env("DROVER__QUEUE__LEASE", "60s"));
    let probes = worker.probes().await;
    network.lose_answers_with("COMMIT\0", LOST_ANSWERS);
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    assert_eq!(network.lost_answers(), LOST_ANSWERS);
    let menus = farm.sim.counts().menus;
    assert!(menus.values().all(|requests| *requests == 1), "stores were fetched again: {menus:?}");
    assert_eq!(farm.count("SELECT count(*) FROM past_attempts").await, 0, "a run was thrown away");
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, STORES as i64);
    let runs = 2 * STORES;
    until("every run is counted as completed", PATIENCE, async || finished(probes, "completed").await == runs).await;
    for ending in ["failed", "lost", "released", "snoozed"] {
        assert_eq!(finished(probes, ending).await, 0, "{ending}");
    }
    assert_eq!(counted(probes, "drover_tasks_fenced_total", "").await, 0);
}

#[tokio::test]
async fn a_run_whose_completion_in_a_batch_is_not_answered_counts_as_completed_and_not_as_fenced() {
    let farm = Farm::with_stores(1).await;
    let network = FaultProxy::start(farm.url()).await;
    let worker = Child::spawn(farm.drover(&["worker"]).env("DATABASE_URL", network.url()));
    let probes = worker.probes().await;
    network.lose_answer_to("\"views\":"); // the run's result
    farm.enqueue(Role::AnalyticsRefresh).await;
    let ended = async || finished(probes, "").await;
    until("the run has ended", PATIENCE, async || ended().await == 1).await;
    assert_eq!(network.lost_answers(), 1);
    assert_eq!(finished(probes, "completed").await, 1);
    assert_eq!(counted(probes, "drover_tasks_fenced_total", "").await, 0);
}

#[tokio::test]
async fn a_run_whose_lease_ends_before_its_commit_is_fenced_and_runs_again() {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker"]);
    // no renewal sees that the lease has ended
    command.env("DROVER__QUEUE__LEASE", "10m").env("DROVER__QUEUE__HEARTBEAT", "2m");
    let worker = Child::spawn(command.env("DROVER__PROBES__LISTEN", "127.0.0.1:0"));
    let (probes, person) = (worker.probes().await, testkit::connect(farm.url()).await);
    person.batch_execute("BEGIN; SELECT FROM dispensaries FOR NO KEY UPDATE").await.unwrap();
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_counted("the run's writes wait", testkit::WAITING_FOR_LOCKS, 1).await;
    let expire = "UPDATE worker_tasks SET lease_expires_at = clock_timestamp() WHERE status = 'running'";
    testkit::connect(farm.url()).await.execute(expire, &[]).await.unwrap();
    person.batch_execute("ROLLBACK").await.unwrap();
    until("the run is fenced", PATIENCE, async || counted(probes, "drover_tasks_fenced_total", "").await == 1).await;
    assert_eq!(finished(probes, "lost").await, 1);
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 1);
}

/// Runs that ended so, as the worker counts them; all of them for an empty `outcome`.
async fn finished(probes: SocketAddr, outcome: &str) -> usize {
    let label = format!("outcome=\"{outcome}\"");
    counted(probes, "drover_tasks_finished_total", if outcome.is_empty() { "" } else { &label }).await
}

/// The sum of a metric's samples with that label.
async fn counted(probes: SocketAddr, metric: &str, label: &str) -> usize {
    let request = http::Request::get("/metrics").header("host", "pod").body(Full::default()).unwrap();
    let text = send(probes, request).await.text();
    let samples = text.lines().filter(|line| line.starts_with(metric) && line.contains(label));
    samples.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum()
}
