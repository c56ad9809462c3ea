//! `DecommissionedWorkers`: which workers of this process were decommissioned and have finished their tasks.
//!
//! In: the ids of such workers. Out: once all workers of a process without schedules are among them, it
//! drains, without a cause: it exits 0.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::actors::plan::Plan;
use supervision::lifecycle::{Lifecycle, Phase};

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct DecommissionedWorkers {
    ids: Arc<Mutex<HashSet<String>>>,
    workers: usize,
    /// None where schedules run too: such a process goes on without workers.
    lifecycle: Option<Lifecycle>,
}

impl DecommissionedWorkers {
    pub fn new(plan: &Plan, lifecycle: Lifecycle) -> Self {
        let workers = plan.pods.iter().map(|pod| pod.workers.len()).sum();
        DecommissionedWorkers { ids: Arc::default(), workers, lifecycle: (!plan.schedules).then_some(lifecycle) }
    }

    /// May be called again for the same worker.
    pub fn add(&self, worker_id: &str) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.insert(worker_id.to_owned());
        if let Some(lifecycle) = self.lifecycle.as_ref().filter(|_| ids.len() == self.workers) {
            lifecycle.advance(Phase::Draining);
        }
    }
}
