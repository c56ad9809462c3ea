//! `TaskGuard`: keeps one claimed task among the held tasks, from the claim's answer to the end of its run.
//!
//! In: a claimed task. Out: its stop signal. Dropped before the run has begun, it gives the task back, so
//! that an actor that dies between claim and run loses none. Once the run has begun, the drop only removes
//! the entry. It must not know what the task does.

use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::held_tasks::{HeldTask, HeldTasks, Stop};
use db::tasks::{self, Settlement};
use db::{Db, DbError};
use domain::task::TaskLease;
use telemetry::events;

pub struct TaskGuard {
    lease: TaskLease,
    /// Signals the body to stop.
    pub stop: oneshot::Receiver<Stop>,
    held_tasks: HeldTasks,
    /// The database to give the task back to; none once its run has begun.
    give_back_to: Option<Db>,
}

impl TaskGuard {
    /// Enters a claimed task into the held tasks.
    pub fn enter(task: HeldTask, held_tasks: &HeldTasks, db: &Db) -> TaskGuard {
        let lease = task.lease.clone();
        let stop = held_tasks.enter(task);
        TaskGuard { lease, stop, held_tasks: held_tasks.clone(), give_back_to: Some(db.clone()) }
    }

    /// The guard of a chained task that this run has started in its slot. When the slot's actor is dead, the
    /// chained task goes back.
    pub fn hand_on(self, lease: TaskLease, stop_at: Instant, db: &Db) -> Option<TaskGuard> {
        let held_tasks = self.held_tasks.clone();
        let drain_hold = held_tasks.hold_drain();
        match held_tasks.replace(&self.lease, lease.clone(), stop_at) {
            Some(stop) => Some(TaskGuard { lease, stop, held_tasks, give_back_to: Some(db.clone()) }),
            None => {
                let db = db.clone();
                tokio::spawn(async move {
                    give_back(db, held_tasks, lease).await;
                    drop(drain_hold);
                });
                None
            }
        }
    }

    /// Hands over to the run, which writes how it ended.
    pub fn begin(&mut self) {
        self.give_back_to = None;
    }

    /// Frees the slot of a run whose body has ended; the task is held until the guard is dropped.
    pub fn leave_slot(&self) {
        self.held_tasks.leave_slot(&self.lease);
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let (lease, held_tasks) = (self.lease.clone(), self.held_tasks.clone());
        match (self.give_back_to.take(), Handle::try_current()) {
            (Some(db), Ok(runtime)) => drop(runtime.spawn(give_back(db, held_tasks, lease))),
            // without a runtime the process is at its end, and the lease decides
            _ => held_tasks.leave(&lease),
        }
    }
}

async fn give_back(db: Db, held_tasks: HeldTasks, lease: TaskLease) {
    let settlement = Settlement::released("given back before it began: the actor that asked for it was gone");
    let released = async {
        let client = db.client().await?;
        match tasks::settle(&client, &lease, &settlement).await {
            // it was cancelled: nothing of it runs
            Err(DbError::Missing(_)) if tasks::run_stopped(&client, &lease).await? => Ok(()),
            settled => settled.map(drop),
        }
    };
    if let Err(error) = released.await {
        events::give_back_failed(lease.id, &error);
    }
    held_tasks.leave(&lease);
}
