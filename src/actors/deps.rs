//! `ActorDeps`: what pods and workers are given.
//!
//! In: the parts that run tasks, already started. It decides nothing, but it can put back what a dead actor held.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::claimer::Claimer;
use super::departures::Departures;
use super::execute::Executor;
use super::held_tasks::HeldTasks;
use super::lifecycle::Lifecycle;
use super::resources::Load;
use super::watchdog::Watchdog;
use crate::config::Config;
use crate::db::{Db, tasks};
use crate::domain::task::{LeaseTimes, TaskLease};
use crate::events;

/// Cheap to clone.
#[derive(Clone)]
pub struct ActorDeps {
    pub config: Arc<Config>,
    pub db: Db,
    pub times: LeaseTimes,
    pub lifecycle: Lifecycle,
    pub held_tasks: HeldTasks,
    pub claimer: Claimer,
    pub executor: Executor,
    pub watchdog: Watchdog,
    pub resources: watch::Receiver<Load>,
    /// Changes when there may be new work.
    pub notices: watch::Receiver<u64>,
    /// The database's time when the process started.
    pub started_at: DateTime<Utc>,
    pub departures: Departures,
    pub runtime: tokio::runtime::Handle,
    /// The same: an actor's thread is started on an `Arc` of it.
    pub parent_runtime: Arc<Runtime>,
}

/// Whether a task may be what killed its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    Task,
    None,
}

impl ActorDeps {
    /// Puts tasks back whose actor died. Where the database is away, their leases run out instead.
    pub fn recover(&self, leases: Vec<TaskLease>, blame: Blame) {
        if leases.is_empty() {
            return;
        }
        let db = self.db.clone();
        self.runtime.spawn(async move {
            let recovered = async { tasks::recover_held(&db.client().await?, &leases, blame == Blame::Task).await };
            match recovered.await {
                Ok(done) => events::tasks_recovered(done.requeued as u64, done.failed as u64),
                Err(error) => events::tasks_not_recovered(leases.len(), &error),
            }
        });
    }
}
