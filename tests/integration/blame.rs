//! Which runs count against a task when they are lost, seen on whole processes: only that of a task which ran
//! in a process, or in a task actor, that died alone.

use std::time::Duration;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use rstest::rstest;
use sim::{Fault, FaultKind};

use testkit::{Child, Farm};

/// A process that recovers tasks and runs none of these.
async fn observer(farm: &Farm) -> Child {
    let observer = Child::spawn(&mut farm.drover(&["worker", "--role", "analytics_refresh"]));
    let took_a_turn = "SELECT count(*) FROM queue_chores WHERE name = 'sweep_due'";
    farm.until_counted("it looks after the queue", took_a_turn, 1).await;
    observer
}

/// A worker with two slots whose fetches never end.
async fn farm_with_fetches_that_hang(stores: usize) -> Farm {
    let farm = Farm::with_stores(stores).await;
    farm.sim.add_fault(Fault::new(FaultKind::Hang));
    farm.leaves_open_tasks("its fetches hang");
    farm
}

#[tokio::test]
async fn a_killed_process_counts_against_what_ran_and_not_against_what_had_not_begun() {
    let farm = farm_with_fetches_that_hang(2).await;
    let _observer = observer(&farm).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker", "--workers", "1", "--slots", "2", "--role", "payload_fetch"]);
    // the second run never gets to its start, and blocks a thread of the runtime meanwhile
    command.env("FAILPOINTS", "execute.start=1*off->sleep(600000)").env("TOKIO_WORKER_THREADS", "4");
    let mut worker = Child::spawn(&mut command);
    let both = "SELECT count(DISTINCT status) FROM worker_tasks WHERE status IN ('claimed', 'running')";
    farm.until_counted("one runs, the other one is claimed", both, 2).await;
    let running = farm.count("SELECT id FROM worker_tasks WHERE status = 'running'").await;

    worker.signal(Signal::SIGKILL);
    worker.ended(Duration::from_secs(10)).await;
    farm.until_counted("both are back", "SELECT count(*) FROM worker_tasks WHERE status = 'pending'", 2).await;
    assert_eq!(farm.count("SELECT sum(loss_count) FROM worker_tasks").await, 1);
    assert_eq!(farm.count("SELECT id FROM worker_tasks WHERE loss_count = 1").await, running);
}

#[rstest]
// its actor crashes after the run has begun
#[case::the_tasks_own_actor("actor.task.spawned=1*sleep(1000);actor.task=1*panic(planted)", 1)]
// the first tick of a worker finds nothing yet
#[case::the_actor_of_its_worker("actor.worker=2*off->1*panic(planted)", 0)]
#[tokio::test]
async fn a_dead_actor_counts_against_its_own_task_alone(#[case] plan: &str, #[case] losses: i64) {
    let farm = farm_with_fetches_that_hang(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker", "--workers", "1"]);
    // its tasks come back at once, not when their leases end
    command.env("FAILPOINTS", plan).env("DROVER__QUEUE__LEASE", "10m");
    let _worker = Child::spawn(&mut command).allow_errors(&["planted"]);
    let again = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND fence = 2";
    farm.until_counted("the task runs again", again, 1).await;
    assert_eq!(farm.count("SELECT sum(loss_count) FROM worker_tasks").await, losses);
    assert_eq!(farm.count("SELECT count(*) FROM task_attempts WHERE outcome = 'lost'").await, 1);
}

#[tokio::test]
async fn when_every_process_stood_still_no_task_is_blamed() {
    let farm = farm_with_fetches_that_hang(1).await;
    let observer = observer(&farm).await;
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(&mut farm.drover(&["worker", "--role", "payload_fetch"]));
    farm.until_counted("it runs", "SELECT count(*) FROM worker_tasks WHERE status = 'running'", 1).await;

    [&worker, &observer].iter().for_each(|process| process.signal(Signal::SIGSTOP));
    farm.until_counted("a break has passed", LONG_SILENT, 1).await;
    [&worker, &observer].iter().for_each(|process| process.signal(Signal::SIGCONT));
    farm.until_counted("it was recovered", "SELECT count(*) FROM past_attempts WHERE outcome = 'lost'", 1).await;
    assert_eq!(farm.count("SELECT sum(loss_count) FROM worker_tasks").await, 0);
}

#[tokio::test]
async fn a_start_after_every_process_was_away_blames_no_task() {
    let farm = farm_with_fetches_that_hang(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_counted("it runs", "SELECT count(*) FROM worker_tasks WHERE status = 'running'", 1).await;

    worker.signal(Signal::SIGKILL);
    worker.ended(Duration::from_secs(10)).await;
    farm.until_counted("a break has passed", LONG_SILENT, 1).await;
    let _next = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_counted("it was recovered", "SELECT count(*) FROM past_attempts WHERE outcome = 'lost'", 1).await;
    assert_eq!(farm.count("SELECT sum(loss_count) FROM worker_tasks").await, 0);
}

#[rstest]
#[case::and_stays_away(false)]
#[case::and_is_started_again_under_its_name(true)]
#[tokio::test]
async fn a_process_that_is_killed_while_it_drains_counts_against_no_task(#[case] is_started_again: bool) {
    let farm = farm_with_fetches_that_hang(1).await;
    let _observer = observer(&farm).await;
    farm.enqueue(Role::PayloadFetch).await;
    let spawn = || Child::spawn(farm.drover(&["worker", "--role", "payload_fetch"]).env("WORKER_ID", "fixed"));
    let mut worker = spawn();
    farm.until_counted("it runs", "SELECT count(*) FROM worker_tasks WHERE status = 'running'", 1).await;

    worker.signal(Signal::SIGTERM);
    let draining = "SELECT least(count(*), 1) FROM worker_registry WHERE status = 'draining'";
    farm.until_counted("it drains", draining, 1).await;
    worker.signal(Signal::SIGKILL);
    worker.ended(Duration::from_secs(10)).await;
    let _next = is_started_again.then(spawn);
    farm.until_counted("it was recovered", "SELECT count(*) FROM past_attempts WHERE outcome = 'lost'", 1).await;
    assert_eq!(farm.count("SELECT sum(loss_count) FROM worker_tasks").await, 0);
}

/// Counts workers that were silent for longer than the lease and than a counted break.
const LONG_SILENT: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND clock_timestamp() > last_heartbeat_at + interval '8 seconds'";
