//! Task actors send beats to their worker: a lease is renewed for as long as they do, and a while longer.

use domain::task::role::Role;
use tokio::process::Command;

use testkit::{Child, Farm, LONG_LEASE, PATIENCE};

/// One store whose first fetch hangs.
async fn farm() -> Farm {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang).times(1));
    farm.enqueue(Role::PayloadFetch).await;
    farm
}

fn worker(farm: &Farm, id: &str, hung_after: &str) -> Command {
    let mut command = farm.drover(&["worker", "--workers", "1"]);
    command.env("WORKER_ID", id).env("DROVER__QUEUE__HEARTBEAT", "200ms").env("DROVER__SUPERVISION__PING", "100ms");
    command.env("DROVER__SUPERVISION__HUNG_AFTER", hung_after);
    command
}

#[tokio::test]
async fn a_thread_of_actors_that_blocks_for_longer_than_a_lease_but_not_for_the_grace_costs_no_lease() {
    let farm = farm().await;
    farm.leaves_open_tasks("its only task hangs");
    let mut command = worker(&farm, "blocked", "20s");
    // the times between them are long enough for a busy machine
    command.env("DROVER__QUEUE__LEASE", "3s").env("FAILPOINTS", "actor.task.beat=1*sleep(7000)");
    let _worker = Child::spawn(&mut command);
    let held = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND fence = 1 AND lease_expires_at > clock_timestamp()";
    let no_beat = format!("{held} AND last_heartbeat_at < now() - interval '3500 ms'");
    farm.until_counted("it is renewed without a beat, and its last beat is told", &no_beat, 1).await;
    let beats_again = format!(
        "{held} AND last_heartbeat_at > started_at + interval '7 s' AND now() - last_heartbeat_at < interval '1 s'"
    );
    farm.until_counted("its beats come again", &beats_again, 1).await;
}

#[tokio::test]
async fn a_task_actor_that_beats_no_more_loses_its_lease_and_its_task_runs_again() {
    let farm = farm().await;
    let mut command = worker(&farm, "stuck", "3s");
    // no run of it sends a beat: it must have no second one
    command.args(["--slots", "1"]).env("DROVER__WORKER__RECYCLE_AFTER", "1");
    command.env("DROVER__QUEUE__LEASE", "4s").env("FAILPOINTS", "actor.task.beat=return");
    let mut stuck = Child::spawn(&mut command);
    farm.sim.until(PATIENCE, |counts| counts.faults == 1).await.unwrap();
    let _next = Child::spawn(farm.drover(&["worker"]).env("DROVER__QUEUE__LEASE", LONG_LEASE));
    farm.until_crawled().await;

    assert_eq!(stuck.ended(PATIENCE).await.code(), Some(0));
    let lost = "SELECT count(*) FROM task_attempts WHERE worker_id LIKE 'stuck%' AND outcome = 'lost'";
    assert_eq!(farm.count(lost).await, 1);
    let completed = "SELECT count(*) FROM task_attempts a JOIN worker_tasks t ON t.id = a.task_id
          WHERE t.role = 'payload_fetch' AND a.outcome = 'completed' AND a.fence = 1";
    assert_eq!(farm.count(completed).await, 0);
    farm.assert_nothing_twice().await;
    let log = stuck.stderr();
    for line in ["has sent no beat", "lost its lease"] {
        assert!(log.iter().any(|logged| logged.contains(line)), "no line says {line:?}: {log:?}");
    }
}
