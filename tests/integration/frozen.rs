//! A worker process that is stopped for longer than its lease, and then continues as if nothing had happened.

use domain::task::role::Role;
use nix::sys::signal::Signal;

use testkit::{Child, Farm, PATIENCE};

#[tokio::test]
async fn a_frozen_worker_writes_nothing_after_its_lease() {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang).times(1));
    farm.enqueue(Role::PayloadFetch).await;
    let mut frozen = Child::spawn(farm.drover(&["worker"]).env("WORKER_ID", "frozen"));
    let running = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND worker_id LIKE 'frozen%'";
    farm.until_counted("the first worker runs the task", running, 1).await;

    // frozen any earlier, its successor would be the one that meets the fault
    farm.sim.until(PATIENCE, |counts| counts.faults == 1).await.unwrap();

    frozen.signal(Signal::SIGSTOP);
    let _other = Child::spawn(farm.drover(&["worker"]).env("WORKER_ID", "other"));
    farm.until_crawled().await;
    let overdue = "SELECT count(*) FROM task_attempts WHERE worker_id LIKE 'frozen%' AND outcome = 'lost' AND now() > claimed_at + interval '5 s'";
    farm.until_counted("twice the lease has passed", overdue, 1).await;
    frozen.signal(Signal::SIGCONT);

    frozen.until_metric("drover_tasks_finished_total{outcome=\"lost\"", 1.0).await;
    assert_eq!(
        farm.count("SELECT count(*) FROM task_attempts WHERE worker_id LIKE 'frozen%' AND outcome = 'completed'").await,
        0
    );
    farm.assert_nothing_twice().await;
    // it is as good as new: it was neither hung nor does it leave by itself
    frozen.signal(Signal::SIGTERM);
    assert_eq!(frozen.ended(PATIENCE).await.code(), Some(0));
}
