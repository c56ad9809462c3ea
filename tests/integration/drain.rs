//! A worker that has to end while its tasks run.

use std::time::Duration;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use sim::{Fault, FaultKind};

use testkit::{Child, Farm, LONG_LEASE, PATIENCE};

const RUNNING: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'running'";
const GIVEN_BACK: &str = "SELECT count(*) FROM worker_tasks t JOIN task_attempts a ON a.task_id = t.id
    WHERE t.status = 'pending' AND t.retry_count = 0 AND t.worker_id IS NULL AND a.outcome = 'released'";
/// Maximum time on a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// A worker whose fetch never ends, and how long it would wait for it.
async fn hangs(farm: &Farm, grace: &str) -> Child {
    farm.leaves_open_tasks("its task is for the next worker");
    farm.sim.add_fault(Fault::new(FaultKind::Hang));
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(farm.drover(&["worker"]).env("DROVER__WORKER__GRACE", grace));
    farm.until_counted("its task runs", RUNNING, 1).await;
    worker
}

#[tokio::test]
async fn a_worker_ends_once_its_task_has() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("the refresh is for the next worker");
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command.env("FAILPOINTS", "handler.payload_fetch=sleep(2000)");
    let mut worker = Child::spawn(command.env("DROVER__QUEUE__LEASE", LONG_LEASE));
    farm.until_counted("its task runs", RUNNING, 1).await;
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.ended(SOON).await.code(), Some(0));
    let fetched =
        "SELECT count(*) FROM worker_tasks WHERE role = 'payload_fetch' AND status = 'completed' AND fence = 1";
    assert_eq!(farm.count(fetched).await, 1);
}

#[tokio::test]
async fn a_task_that_outlasts_the_grace_is_given_back_and_costs_no_retry() {
    let farm = Farm::with_stores(1).await;
    let mut worker = hangs(&farm, "1s").await;
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.ended(SOON).await.code(), Some(0));
    assert_eq!(farm.count(GIVEN_BACK).await, 1);
    let log = worker.stderr();
    let last = log.last().map(String::as_str).unwrap_or_default();
    assert!(last.contains("Stopped") && last.contains("put back into the queue: 1"), "{log:?}");
}

#[tokio::test]
async fn a_recycled_worker_ends_by_itself_after_its_runs_and_the_next_one_goes_on() {
    let farm = Farm::with_stores(4).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker", "--workers", "1", "--slots", "1"]);
    command.env("DROVER__WORKER__RECYCLE_AFTER", "2").env("DROVER__QUEUE__LEASE", LONG_LEASE);
    let mut worker = Child::spawn(&mut command);
    // its start and a crawl are part of it
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
    let log = worker.stderr();
    let reasons = log.iter().filter(|line| line.contains("worker.recycle_after")).count();
    assert_eq!(reasons, 1, "{log:?}");
    let settled = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND fence = 1";
    assert_eq!(farm.count(settled).await, 2, "a fetch and its refresh");
    let untouched = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND fence = 0";
    assert_eq!(farm.count(untouched).await, 3, "it claims nothing more");

    let _next = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
}

#[tokio::test]
async fn the_second_signal_gives_tasks_back_at_once() {
    let farm = Farm::with_stores(1).await;
    let mut worker = hangs(&farm, "10m").await;
    worker.signal(Signal::SIGTERM);
    let draining = "SELECT least(count(*), 1) FROM worker_registry WHERE status = 'draining'";
    farm.until_counted("it drains", draining, 1).await;
    assert_eq!(farm.count(RUNNING).await, 1, "it waits for its task");
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.ended(SOON).await.code(), Some(0));
    assert_eq!(farm.count(GIVEN_BACK).await, 1);
}
