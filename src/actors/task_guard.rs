//! `TaskGuard`: the right and the duty to run one claimed task. Its entry among the held tasks lives as long.
//!
//! Dropped before the run has begun, it gives the task back, so that nobody it passes through need care. Once the run has begun,
//! the drop only says that the run is over.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::held_tasks::{HeldTasks, NewEntry, Stop};
use crate::db::Db;
use crate::db::tasks::{self, Settlement};
use crate::domain::task::TaskLease;
use crate::events;

pub struct TaskGuard {
    lease: TaskLease,
    /// Tells the body to stop.
    pub stop: oneshot::Receiver<Stop>,
    held_tasks: HeldTasks,
    /// Where the task goes back to while its run has not begun.
    unbegun: Option<Db>,
}

impl TaskGuard {
    /// Enters a claimed task into the held tasks.
    pub fn enter(task: NewEntry, held_tasks: &HeldTasks, db: &Db) -> TaskGuard {
        let lease = task.lease.clone();
        let stop = held_tasks.enter(task);
        TaskGuard { lease, stop, held_tasks: held_tasks.clone(), unbegun: Some(db.clone()) }
    }

    /// From now on the run itself writes how it ended.
    pub fn begin(&mut self) {
        self.unbegun = None;
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let (lease, held_tasks) = (self.lease.clone(), self.held_tasks.clone());
        match (self.unbegun.take(), Handle::try_current()) {
            (Some(db), Ok(runtime)) => drop(runtime.spawn(give_back(db, held_tasks, lease))),
            // without a runtime the process is at its end, and the lease decides
            _ => held_tasks.leave(&lease),
        }
    }
}

async fn give_back(db: Db, held_tasks: HeldTasks, lease: TaskLease) {
    let settlement = Settlement::released("its worker was gone");
    let released = async { tasks::settle(&db.client().await?, &lease, &settlement).await };
    if let Err(error) = released.await {
        events::settle_failed(lease.id, &error);
    }
    held_tasks.leave(&lease);
}
