//! A running task is cancelled under a worker process: its body stops, its store waits for that, and no crash
//! keeps the store reserved forever.

use std::collections::HashSet;

use db::tasks;
use domain::task::role::Role;
use nix::sys::signal::Signal;
use rstest::rstest;
use sim::{Fault, FaultKind};
use testkit::{Child, Farm, PATIENCE, until};

const RUNNING: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'running'";
const STOPPING: &str = "SELECT count(*) FROM stopping_runs";

/// The one fetch of the farm's store, which hangs in a worker.
async fn hanging_fetch(farm: &Farm) -> i64 {
    farm.sim.add_fault(Fault::new(FaultKind::Hang).times(1));
    let id = farm.enqueue(Role::PayloadFetch).await[0];
    farm.until_counted("it runs", RUNNING, 1).await;
    id
}

async fn cancel(farm: &Farm, id: i64) {
    tasks::cancel(&farm.db.client().await.unwrap(), id).await.unwrap();
}

#[tokio::test]
async fn the_body_of_a_cancelled_task_stops_and_then_the_next_of_its_store_runs() {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker"]);
    // no lease runs out here, and no renewal is due: only the notification of the cancel can stop the body
    command.env("DROVER__QUEUE__LEASE", "10m").env("DROVER__QUEUE__HEARTBEAT", "100s");
    let worker = Child::spawn(&mut command);
    let id = hanging_fetch(&farm).await;
    cancel(&farm, id).await;
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    assert_eq!(farm.count(STOPPING).await, 0);
    assert_eq!(
        farm.count(&format!("SELECT count(*) FROM worker_tasks WHERE id = {id} AND status = 'cancelled'")).await,
        1
    );
    drop(worker);
}

#[tokio::test]
async fn the_store_of_a_cancelled_run_is_let_go_once_the_database_answers_again() {
    const TRIES: usize = 8;
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__QUEUE__LEASE", "10m").env("DROVER__DATABASE__STATEMENT_TIMEOUT", "500ms");
    // time for the lock below
    command.env("FAILPOINTS", "execute.before_stop_is_noted=sleep(1000)");
    let _worker = Child::spawn(&mut command).allow_errors(&["lock"]);
    let id = hanging_fetch(&farm).await;
    let (person, watcher) = (testkit::connect(farm.url()).await, testkit::connect(farm.url()).await);
    cancel(&farm, id).await;
    person.batch_execute("BEGIN; LOCK TABLE stopping_runs").await.unwrap();

    let tries = "SELECT query_start::text FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%run_stopped%'";
    let mut seen = HashSet::new();
    until("it has tried for more than five seconds", PATIENCE, async || {
        seen.extend(watcher.query(tries, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)));
        seen.len() >= TRIES
    })
    .await;
    person.batch_execute("ROLLBACK").await.unwrap();
    farm.until_counted("its store is let go", STOPPING, 0).await;
}

#[rstest]
#[case::while_the_body_runs(false)]
#[case::before_the_stop_is_noted(true)]
#[tokio::test]
async fn a_worker_that_dies_frees_the_store_when_its_lease_would_have_run_out(#[case] stops_first: bool) {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__QUEUE__LEASE", "6s").env("DROVER__QUEUE__HEARTBEAT", "200ms");
    command.env("FAILPOINTS", "execute.before_stop_is_noted=panic(planted)");
    let mut worker = Child::spawn(&mut command).allow_errors(&["planted"]);
    let id = hanging_fetch(&farm).await;
    cancel(&farm, id).await;
    if stops_first {
        worker.until_metric("drover_panics_total", 1.0).await;
    }
    worker.signal(Signal::SIGKILL);
    worker.ended(PATIENCE).await;
    assert_eq!(farm.count(STOPPING).await, 1);
    farm.enqueue(Role::PayloadFetch).await;

    let overlaps = "SELECT count(*) FROM worker_tasks t JOIN stopping_runs s USING (dispensary_id)
                     WHERE t.status IN ('claimed', 'running') AND t.claimed_at < s.lease_expires_at";
    let _heir = Child::spawn(&mut farm.drover(&["worker"]));
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'completed'";
    until("the store's next task is done", PATIENCE, async || {
        assert_eq!(farm.count(overlaps).await, 0, "it began before the lease had run out");
        farm.count(refreshed).await == 1
    })
    .await;
    let early = format!(
        "SELECT count(*) FROM worker_tasks c JOIN worker_tasks n ON n.id > c.id
          WHERE c.id = {id} AND n.claimed_at < c.lease_expires_at"
    );
    assert_eq!(farm.count(&early).await, 0);
}

#[tokio::test]
async fn a_run_that_ends_by_itself_after_the_cancel_frees_the_store_and_writes_nothing() {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__QUEUE__LEASE", "10m").env("DROVER__QUEUE__HEARTBEAT", "2m");
    // the body ends long before the next renewal
    command.env("FAILPOINTS", "handler.payload_fetch=1*sleep(3000)");
    let worker = Child::spawn(&mut command);
    let id = farm.enqueue(Role::PayloadFetch).await[0];
    farm.until_counted("it runs", RUNNING, 1).await;
    cancel(&farm, id).await;
    farm.until_counted("its end was refused", STOPPING, 0).await;
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 0);
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    drop(worker);
}
