//! `Departures`: which workers of this process have left for good, so that a process that only runs workers ends with the last.
//!
//! In: decommissioned workers that are done with what they had. Out: a drain of the process, without a cause: it exits 0.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::lifecycle::{Lifecycle, Phase};
use super::plan::Plan;

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Departures {
    left: Arc<Mutex<HashSet<String>>>,
    workers: usize,
    /// None in a process that has other duties.
    lifecycle: Option<Lifecycle>,
}

impl Departures {
    pub fn new(plan: &Plan, lifecycle: Lifecycle) -> Self {
        let workers = plan.pods.iter().map(|pod| pod.workers.len()).sum();
        Departures { left: Arc::default(), workers, lifecycle: (!plan.schedules).then_some(lifecycle) }
    }

    /// May be called again for the same worker.
    pub fn record(&self, worker_id: &str) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.insert(worker_id.to_owned());
        if let Some(lifecycle) = self.lifecycle.as_ref().filter(|_| left.len() == self.workers) {
            lifecycle.advance(Phase::Draining);
        }
    }
}
