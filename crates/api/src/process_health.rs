//! `Health`: the state of the rest of the process, as far as probes report it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::watch;

use domain::proxy::PoolState;

/// The state of the rest of the process, as far as probes report it; filled by the caller of the API.
#[derive(Clone)]
pub struct Health {
    /// None in a process whose work needs no proxies.
    pub proxies: Option<watch::Receiver<PoolState>>,
    pub actors: Arc<dyn Fn() -> Actors + Send + Sync>,
    /// A schema that was current once stays so while this program runs.
    pub(super) migrated: Arc<AtomicBool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actors {
    Running,
    /// The process is about to end; it claims nothing.
    Draining,
    Failed {
        cause: String,
    },
}

impl Health {
    pub fn new(
        proxies: Option<watch::Receiver<PoolState>>,
        actors: impl Fn() -> Actors + Send + Sync + 'static,
    ) -> Self {
        Health { proxies, actors: Arc::new(actors), migrated: Arc::default() }
    }
}
