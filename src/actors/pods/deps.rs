//! `ActorDeps`: dependencies of pods and workers. `TaskParts`: what the tree takes of the handlers.
//!
//! In: the parts that run tasks, already started. Out: clones of them. It decides nothing.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::runtime::Runtime;
use tokio::sync::{RwLock, watch};

use super::own_workers::OwnWorkers;
use crate::actors::load::Load;
use crate::actors::plan::Follows;
use crate::handlers::{ChangePublisher, TaskServices};
use crate::stealth::Sessions;
use db::Db;
use domain::task::LeaseTimes;
use domain::task::pause::Pauses;
use queue::Work;
use queue::claimer::Claimer;
use queue::execute::Executor;
use queue::held_tasks::HeldTasks;
use settings::{Config, LiveConfig};
use supervision::background::Background;
use supervision::lifecycle::Lifecycle;
use supervision::watchdog::Watchdog;

/// The work of the tasks, and what the tree runs beside it.
pub struct TaskParts {
    pub work: Arc<dyn Work>,
    pub sessions: Sessions,
    pub change_publisher: ChangePublisher,
    pub can_write_payloads: watch::Receiver<bool>,
}

impl From<TaskServices> for TaskParts {
    fn from(services: TaskServices) -> Self {
        TaskParts {
            sessions: services.sessions.clone(),
            change_publisher: services.change_publisher.clone(),
            can_write_payloads: services.payloads.can_write(),
            work: Arc::new(services),
        }
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct ActorDeps {
    /// Configuration as it was when the process started.
    pub config: Arc<Config>,
    pub live: LiveConfig,
    pub db: Db,
    pub times: LeaseTimes,
    pub lifecycle: Lifecycle,
    pub background: Background,
    pub held_tasks: HeldTasks,
    pub claimer: Claimer,
    pub executor: Executor,
    pub watchdog: Watchdog,
    /// Load of this process; decides when its workers back off.
    pub load: watch::Receiver<Load>,
    /// Changes when there may be new work.
    pub wake_ups: watch::Receiver<u64>,
    /// The pauses in force.
    pub pauses: watch::Receiver<Pauses>,
    /// The database's time when the process started.
    pub started_at: DateTime<Utc>,
    pub own_workers: OwnWorkers,
    pub follows: Follows,
    /// Lock that is held to read by every write of the registry, and to write by the last removal.
    pub registry: Arc<RwLock<()>>,
    pub runtime: tokio::runtime::Handle,
    /// The same runtime, owned: a thread of actors is started on an `Arc<Runtime>`, not on a handle.
    pub owned_runtime: Arc<Runtime>,
}
