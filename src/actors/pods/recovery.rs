//! Puts the tasks of a dead actor back at once, instead of when their leases run out.
//!
//! In: leases taken from the held tasks. Out: pending tasks, and log lines. A drain waits for it. It must not
//! know why the actor died.

use std::time::{Duration, Instant};

use super::deps::ActorDeps;
use db::{Db, DbError, tasks};
use domain::retry;
use domain::task::{Blame, TaskLease};
use telemetry::events;

const RETRY_BASE: Duration = Duration::from_millis(100);
const RETRY_CAP: Duration = Duration::from_secs(2);
/// Afterwards the leases run out by themselves; a drain waits no longer than this either.
const MAX_RETRY_TIME: Duration = Duration::from_secs(15);

/// Puts tasks back in the background. Where the database stays away, their leases run out instead.
pub fn recover(deps: &ActorDeps, leases: Vec<TaskLease>, blame: Blame) {
    if leases.is_empty() {
        return;
    }
    let (db, drain_hold) = (deps.db.clone(), deps.held_tasks.hold_drain());
    deps.runtime.spawn(async move {
        match put_back(&db, &leases, blame).await {
            Ok((requeued, failed)) => events::dead_actors_tasks_recovered(requeued, failed),
            Err(error) => events::tasks_not_recovered(leases.len(), &error),
        }
        drop(drain_hold);
    });
}

/// How many are pending again, and how many failed.
async fn put_back(db: &Db, leases: &[TaskLease], blame: Blame) -> Result<(u64, u64), DbError> {
    let begun = Instant::now();
    let mut tries = 0;
    loop {
        let recovered = async { tasks::recover_held(&db.client().await?, leases, blame).await };
        match recovered.await {
            // a try whose answer was lost may have gone through: the fences keep the next one from doing it
            // twice
            Err(error) if error.is_transient() && begun.elapsed() < MAX_RETRY_TIME => {
                tokio::time::sleep(retry::doubling(RETRY_BASE, RETRY_CAP, tries)).await;
                tries += 1;
            }
            answer => return answer.map(|done| (done.requeued as u64, done.failed as u64)),
        }
    }
}
