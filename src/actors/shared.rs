//! `Shared`: what every actor of the process is given.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::claimer::Claimer;
use super::execute::Executor;
use super::heartbeat::Heartbeat;
use super::ledger::Ledger;
use super::lifecycle::Lifecycle;
use super::resources::Load;
use super::watchdog::Watchdog;
use crate::config::Config;
use crate::db::{Db, tasks};
use crate::domain::task::{Held, LeaseTimes};
use crate::events;

/// Cheap to clone.
#[derive(Clone)]
pub struct Shared {
    pub config: Arc<Config>,
    pub db: Db,
    pub times: LeaseTimes,
    pub lifecycle: Lifecycle,
    pub ledger: Ledger,
    pub claimer: Claimer,
    pub executor: Executor,
    pub heartbeat: Heartbeat,
    pub watchdog: Watchdog,
    pub resources: watch::Receiver<Load>,
    /// Changes when there may be new work.
    pub notices: watch::Receiver<u64>,
    pub runtime: tokio::runtime::Handle,
    /// The same, as actors' threads want it.
    pub parent_runtime: Arc<Runtime>,
}

impl Shared {
    /// Puts tasks back whose actor died. Where the database is away, their leases run out instead.
    pub fn recover(&self, held: Vec<Held>) {
        if held.is_empty() {
            return;
        }
        let db = self.db.clone();
        self.runtime.spawn(async move {
            let recovered = async { tasks::recover_held(&db.client().await?, &held, true).await };
            match recovered.await {
                Ok(done) => events::tasks_recovered(done.requeued as u64, done.failed as u64),
                Err(error) => events::chore_failed("recovery of a dead actor's tasks", &error),
            }
        });
    }
}
