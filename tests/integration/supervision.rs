//! Panics and stalls planted in every handler and every actor of a running worker: what each may cost, and what it must
//! not.
//!
//! Failpoints are process-wide, so each test runs the real program as a child.

use std::io::{PipeReader, PipeWriter, Write};

use domain::task::role::Role;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rstest::rstest;

use testkit::{Child, Farm, PATIENCE, connect};

#[tokio::test]
async fn a_panic_in_a_handler_is_a_failed_attempt_with_its_text() {
    let farm = Farm::with_stores(1).await;
    let roles = Role::CRAWL;
    let plan: Vec<String> = roles.iter().map(|role| format!("handler.{role}=1*panic(planted)")).collect();
    for role in roles {
        farm.enqueue(role).await;
    }
    farm.leaves_open_tasks("it ends with the first attempts");
    let mut worker = farm.drover(&["worker"]);
    let _worker = Child::spawn(worker.env("FAILPOINTS", plan.join(";"))).allow_errors(&["planted"]);
    let failed = "SELECT count(DISTINCT t.role) FROM task_attempts a JOIN worker_tasks t ON t.id = a.task_id
                   WHERE a.outcome = 'failed' AND a.error LIKE 'panic: planted%'";
    farm.until_counted("an attempt of each role failed with the panic's text", failed, roles.len() as i64).await;
}

#[rstest]
#[case::before_its_body("execute.start")]
#[case::before_the_commit("execute.before_commit")]
#[tokio::test]
async fn a_panic_around_a_body_is_a_failed_attempt_that_wrote_nothing(#[case] place: &str) {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(farm.drover(&["worker"]).env("FAILPOINTS", format!("{place}=1*panic(planted)")))
        .allow_errors(&["planted"]);
    farm.until_crawled().await;
    let failed = "SELECT count(*) FROM task_attempts WHERE outcome = 'failed' AND error LIKE 'panic: planted%'";
    assert_eq!(farm.count(failed).await, 1);
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 1);
}

#[rstest]
#[case::worker("actor.worker=2*panic(planted)", 2.0)]
#[case::pod("actor.pod=2*panic(planted)", 2.0)]
#[case::scheduler("actor.scheduler=2*panic(planted)", 2.0)]
#[case::supervisor("actor.supervisor=2*panic(planted)", 2.0)]
#[case::proxy_pool("actor.proxy_pool=2*panic(planted)", 2.0)]
#[case::loops(
    "claimer=2*panic(planted);chore=2*panic(planted);pauses.read=1*off->2*panic(planted);listen=2*panic(planted);\
     resources=2*panic(planted);registration=2*panic(planted)",
    12.0
)]
#[tokio::test]
async fn an_actor_or_loop_that_panics_is_healthy_again_and_the_crawl_goes_on(#[case] plan: &str, #[case] panics: f64) {
    let farm = Farm::with_stores(3).await;
    let mut worker = Child::spawn(farm.drover(&["worker"]).env("FAILPOINTS", plan)).allow_errors(&["planted"]);
    worker.until_metric("drover_panics_total", panics).await;
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    farm.until_counted("its workers are registered", "SELECT least(count(*), 1) FROM worker_registry", 1).await;
    worker.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
}

#[tokio::test]
async fn a_pause_is_obeyed_after_its_reader_panicked() {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let mut command = farm.drover(&["worker"]);
    let worker =
        Child::spawn(command.env("FAILPOINTS", "pauses.read=1*off->1*panic(planted)")).allow_errors(&["planted"]);
    worker.until_metric("drover_panics_total", 1.0).await;
    assert!(farm.drover(&["pause", "all", "--reason", "planted"]).output().await.unwrap().status.success());
    let paused = "SELECT least(count(*), 1) FROM worker_registry WHERE status = 'paused'";
    farm.until_counted("its workers are paused", paused, 1).await;
}

#[rstest]
#[case::scheduler("scheduler")]
#[case::proxy_pool("proxy_pool")]
#[case::pod("pod")]
#[case::worker("worker")]
#[tokio::test]
async fn crashes_are_counted_by_the_type_of_the_actor(#[case] kind: &str) {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker"]);
    let worker =
        Child::spawn(command.env("FAILPOINTS", format!("actor.{kind}=1*panic(planted)"))).allow_errors(&["planted"]);
    worker.until_metric(&format!("drover_actor_restarts_total{{actor=\"{kind}\"}}"), 1.0).await;
}

#[tokio::test]
async fn the_heartbeat_survives_its_panics_and_no_lease_is_lost() {
    let farm = Farm::with_stores(1).await;
    let hang = farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang).times(1));
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    // many heartbeats in a lease: a busy machine that holds the worker up costs it none
    command.env("DROVER__QUEUE__LEASE", "4s").env("DROVER__QUEUE__HEARTBEAT", "200ms");
    let worker = Child::spawn(command.env("FAILPOINTS", "heartbeat=1*panic(planted)")).allow_errors(&["planted"]);
    farm.leaves_open_tasks("its only task hangs");
    worker.until_metric("drover_panics_total", 1.0).await;
    let outlived = "SELECT count(*) FROM worker_tasks
                     WHERE status = 'running' AND fence = 1 AND now() > started_at + interval '4 s' AND lease_expires_at > now()";
    farm.until_counted("the run outlived its first lease", outlived, 1).await;
    farm.sim.remove_fault(hang);
}

#[tokio::test]
async fn a_process_whose_heartbeat_fails_for_good_gives_its_tasks_back_at_once() {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang));
    farm.leaves_open_tasks("its only task hangs");
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command.env("FAILPOINTS", "heartbeat=panic(planted)").env("DROVER__SUPERVISION__RESTARTS", "2");
    command.env("DROVER__QUEUE__LEASE", "10m").env("DROVER__QUEUE__HEARTBEAT", "200ms");
    let mut worker = Child::spawn(command.env("DROVER__WORKER__GRACE", "10m")).allow_errors(&["planted"]);
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(1), "without renewals no task may run on");
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE status = 'pending'").await, 1);
}

/// Putting a task back waits for an advisory lock.
const GOES_BACK_UNDER_A_LOCK: &str = "
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      $f$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $f$;
    CREATE TRIGGER wait BEFORE UPDATE ON worker_tasks
      FOR EACH ROW WHEN (OLD.status IN ('claimed', 'running') AND NEW.status = 'pending') EXECUTE FUNCTION wait()";

#[tokio::test]
async fn putting_a_dead_actors_tasks_back_is_tried_again_after_a_lock() {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang));
    farm.leaves_open_tasks("its only task hangs");
    farm.enqueue(Role::PayloadFetch).await;
    let person = connect(farm.url()).await;
    person.batch_execute(GOES_BACK_UNDER_A_LOCK).await.unwrap();
    // before the worker starts, so that it cannot crash earlier
    person.batch_execute("SELECT pg_advisory_lock(1)").await.unwrap();
    let mut command = farm.drover(&["worker", "--workers", "1"]);
    // ticks come every half second: the worker crashes when it has its task
    command.env("FAILPOINTS", "actor.worker=8*off->1*panic(planted)").env("DROVER__QUEUE__LEASE", "10m");
    let _worker = Child::spawn(&mut command).allow_errors(&["planted"]);
    let waiting = "SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE '%recover_held%' AND wait_event_type = 'Lock'";
    farm.until_counted("its task is to be put back", waiting, 1).await;
    farm.until_counted("the first try has failed", waiting, 0).await;
    person.batch_execute("SELECT pg_advisory_unlock(1)").await.unwrap();
    let again = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND fence = 2";
    farm.until_counted("the task runs again", again, 1).await;
}

#[rstest]
#[case::scheduler("actor.scheduler=panic(planted)", "scheduler")]
#[case::proxy_pool("actor.proxy_pool=panic(planted)", "proxy pool")]
#[case::supervisor("actor.supervisor=panic(planted)", "supervisor")]
#[case::pod("actor.pod=panic(planted)", "pod Aethelgard")]
#[case::worker("actor.worker=panic(planted)", "Aethelgard: Aethelgard-")]
#[case::heartbeat("heartbeat=panic(planted)", "heartbeat")]
#[case::claimer("claimer=panic(planted)", "claimer")]
#[case::pauses("pauses.read=1*off->panic(planted)", "pauses")]
#[case::listener("listen=panic(planted)", "listener for tasks")]
#[case::resources("resources=panic(planted)", "sampler of resources")]
#[case::registration("registration=panic(planted)", "writer of a worker's row")]
#[tokio::test]
async fn an_actor_or_loop_that_always_panics_ends_the_process_by_name(#[case] plan: &str, #[case] name: &str) {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang));
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command.env("FAILPOINTS", plan).env("DROVER__WORKER__GRACE", "1s");
    let mut worker = Child::spawn(
        command
            .env("DROVER__SUPERVISION__RESTARTS", "2")
            .env("DROVER__SUPERVISION__PING", "100ms")
            .env("DROVER__SUPERVISION__HUNG_AFTER", "30s"),
    )
    .allow_errors(&["planted"]);
    farm.leaves_open_tasks("its only task hangs");
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(1));
    let last = worker.stderr().pop().unwrap_or_default();
    assert!(last.contains(name) && last.contains("failed too often") && last.contains("planted"), "{last}");
}

/// Time longer than a busy machine holds up a thread that is well, which would be named instead.
const HUNG_AFTER: &str = "3s";

#[rstest]
#[case::scheduler("actor.scheduler", "scheduler")]
#[case::pod("actor.pod", "pod Aethelgard")]
#[case::worker("actor.worker", "Aethelgard-")]
#[case::task("actor.task", "a task of Aethelgard-")]
#[tokio::test]
async fn a_hung_actor_ends_the_process_by_name(#[case] actor: &str, #[case] name: &str) {
    let farm = Farm::with_stores(2).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang)); // so that a task lives until its first heartbeat
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command
        .env("FAILPOINTS", format!("{actor}=1*sleep(600000)"))
        .env("DROVER__QUEUE__HEARTBEAT", "500ms")
        .env("DROVER__QUEUE__LEASE", "20s") // a hung thread renews none
        .env("DROVER__WORKER__GRACE", "1s")
        .env("DROVER__SUPERVISION__STOP_GRACE", "3s")
        .env("DROVER__SUPERVISION__PING", "100ms")
        .env("DROVER__SUPERVISION__HUNG_AFTER", HUNG_AFTER);
    let mut worker = Child::spawn(&mut command).allow_errors(&["has blocked its thread"]);
    farm.leaves_open_tasks("its tasks hang");
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(1));
    let last = worker.stderr().pop().unwrap_or_default();
    assert!(last.contains(name) && last.contains("has blocked its thread"), "{last}");
    let held = "SELECT count(*) FROM worker_tasks WHERE status IN ('claimed', 'running')";
    assert_eq!(farm.count(held).await, 0, "it drained before it ended");
}

#[rstest]
#[case::by_its_watchdog("1s", None)]
#[case::by_a_signal("10m", Some(Signal::SIGTERM))]
#[tokio::test]
async fn a_process_whose_runtime_hangs_ends_all_the_same(#[case] hung_after: &str, #[case] signal: Option<Signal>) {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::AnalyticsRefresh).await;
    let mut command = farm.drover(&["worker"]);
    command
        .env("TOKIO_WORKER_THREADS", "1")
        .env("FAILPOINTS", "handler.analytics_refresh=sleep(600000)")
        .env("DROVER__WORKER__GRACE", "1s")
        .env("DROVER__SUPERVISION__STOP_GRACE", "1s")
        .env("DROVER__SUPERVISION__PING", "100ms")
        .env("DROVER__SUPERVISION__HUNG_AFTER", hung_after);
    let mut worker = Child::spawn(&mut command).allow_errors(&["Exiting without a drain", "has not answered"]);
    let running = "SELECT count(*) FROM worker_tasks WHERE status = 'running'";
    farm.until_counted("the body blocks the runtime", running, 1).await;
    if let Some(signal) = signal {
        worker.signal(signal);
    }
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(1));

    let _other = Child::spawn(&mut farm.drover(&["worker"]));
    let completed = "SELECT count(*) FROM worker_tasks WHERE status = 'completed'";
    farm.until_counted("another process completes the task", completed, 1).await;
}

#[tokio::test]
async fn a_reader_of_the_log_that_stops_does_not_stop_the_process() {
    let farm = Farm::with_stores(2).await;
    farm.enqueue(Role::PayloadFetch).await;
    let (_reader, full) = full_pipe();
    let mut worker = farm.drover(&["worker"]).stderr(full).spawn().unwrap();
    farm.until_crawled().await;

    kill(Pid::from_raw(worker.id().unwrap() as i32), Signal::SIGTERM).unwrap();
    let status = tokio::time::timeout(PATIENCE, worker.wait()).await.expect("the process ends").unwrap();
    assert_eq!(status.code(), Some(0));
}

/// A pipe that takes no byte more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    while writer.write(&[b'x'; 1024]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    (reader, writer)
}

#[tokio::test]
async fn a_process_ends_with_its_last_decommissioned_worker_and_takes_no_command_of_a_predecessor() {
    let farm = Farm::with_stores(1).await;
    let command = "INSERT INTO worker_commands (worker_id, command) VALUES ('reused', 'decommission')";
    farm.db.client().await.unwrap().batch(command).await.unwrap();
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(farm.drover(&["worker", "--workers", "1"]).env("WORKER_ID", "reused"));
    farm.until_crawled().await;

    farm.db.client().await.unwrap().batch(command).await.unwrap();
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
}

const DECOMMISSION: &str = "INSERT INTO worker_commands (worker_id, command) VALUES ('w', 'decommission')";
const ONE_WORKER: &str = "SELECT count(*) FROM worker_registry";

#[tokio::test]
async fn a_pod_that_cannot_read_its_commands_says_so_and_obeys_once_it_can() {
    let farm = Farm::with_stores(1).await;
    let execute = async |sql: &str| farm.db.client().await.unwrap().batch(sql).await.unwrap();
    let mut worker = Child::spawn(farm.drover(&["worker", "--workers", "1"]).env("WORKER_ID", "w"));
    farm.until_counted("it is registered", ONE_WORKER, 1).await;
    execute("ALTER TABLE worker_commands RENAME TO elsewhere").await;
    worker.logged("could not be read", PATIENCE).await;
    execute("ALTER TABLE elsewhere RENAME TO worker_commands").await;
    execute(DECOMMISSION).await;
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
}

#[tokio::test]
async fn a_panic_while_commands_are_read_costs_one_reading() {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["worker", "--workers", "1"]);
    command.env("WORKER_ID", "w").env("FAILPOINTS", "pod.commands=1*panic(planted)");
    let mut worker = Child::spawn(&mut command).allow_errors(&["planted"]);
    worker.until_metric("drover_panics_total", 1.0).await;
    farm.db.client().await.unwrap().batch(DECOMMISSION).await.unwrap();
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
}

const SLOW_WHILE_DRAINING: &str = "
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $f$;
    CREATE TRIGGER slow BEFORE INSERT ON worker_registry
      FOR EACH ROW WHEN (NEW.status = 'draining') EXECUTE FUNCTION slow()";

#[tokio::test]
async fn the_last_worker_of_a_process_is_not_registered_by_an_earlier_write() {
    let farm = Farm::with_stores(1).await;
    farm.db.client().await.unwrap().batch(SLOW_WHILE_DRAINING).await.unwrap();
    let mut worker = Child::spawn(farm.drover(&["worker", "--workers", "1"]).env("WORKER_ID", "w"));
    farm.until_counted("it is registered", ONE_WORKER, 1).await;
    farm.db.client().await.unwrap().batch(DECOMMISSION).await.unwrap();
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
    let writes = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND state = 'active' AND query LIKE '%INTO worker_registry%'
                     AND pid <> pg_backend_pid()";
    farm.until_counted("every write has ended", writes, 0).await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_registry").await, 0);
}

#[tokio::test]
async fn a_worker_that_has_left_is_not_registered_by_an_earlier_write() {
    let farm = Farm::with_stores(1).await;
    farm.db.client().await.unwrap().batch(SLOW_WHILE_DRAINING).await.unwrap();
    let mut command = farm.drover(&["worker", "--workers", "2"]);
    let _worker = Child::spawn(command.env("WORKER_ID", "w").env("DROVER__QUEUE__HEARTBEAT", "500ms"));
    farm.until_counted("both are registered", "SELECT count(*) FROM worker_registry", 2).await;
    farm.db.client().await.unwrap().batch(DECOMMISSION).await.unwrap();
    // a late write after the row is gone would bring it back
    let left = "SELECT (SELECT count(*) FROM worker_registry WHERE worker_id = 'w')
                     + (SELECT count(*) FROM pg_stat_activity
                         WHERE datname = current_database() AND state = 'active' AND query LIKE '%INTO worker_registry%'
                           AND pid <> pg_backend_pid())";
    farm.until_counted("the other is registered alone", left, 0).await;
}

#[tokio::test]
async fn a_pod_that_hangs_is_found_although_another_one_has_its_name() {
    let farm = Farm::with_stores(1).await;
    let mut command = farm.drover(&["up"]);
    command
        .env("FAILPOINTS", "actor.pod=1*sleep(600000)")
        .env("DROVER__TOPOLOGY__PODS", "2")
        .env("DROVER__TOPOLOGY__POD_NAMES", "Nova,Nova")
        .env("DROVER__WORKER__GRACE", "1s")
        .env("DROVER__SUPERVISION__PING", "100ms")
        .env("DROVER__SUPERVISION__HUNG_AFTER", HUNG_AFTER);
    let mut process = Child::spawn(&mut command).allow_errors(&["Nova has blocked its thread"]);
    farm.leaves_open_tasks("its schedules make tasks");
    assert_eq!(process.ended(PATIENCE).await.code(), Some(1));
    let last = process.stderr().pop().unwrap_or_default();
    assert!(last.contains("pod Nova has blocked its thread"), "{last}");
}

#[tokio::test]
async fn the_leases_of_a_process_are_short_as_soon_as_it_drains() {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang));
    farm.leaves_open_tasks("it is dropped in its drain");
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__QUEUE__LEASE", "10m").env("DROVER__WORKER__GRACE", "10m");
    // the next regular renewal would come too late
    let worker = Child::spawn(command.env("DROVER__QUEUE__HEARTBEAT", "5m"));
    farm.until_counted("it runs", "SELECT count(*) FROM worker_tasks WHERE status = 'running'", 1).await;

    worker.signal(Signal::SIGTERM);
    let short = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND lease_expires_at < now() + interval '31 seconds'";
    farm.until_counted("its lease ends soon", short, 1).await;
}
