//! `FetchMeter`: what the sessions of a process send to hosts, counted by minute for who keeps it.
//!
//! In: requests that ended. Out: the totals. To count is to add a few numbers: it never waits for who reads them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Clock;
use crate::domain::fetch_counts::{FetchCounts, FetchKey, FetchTotal};
use crate::domain::proxy::ProxyId;
use crate::events;

/// Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct FetchMeter {
    clock: Clock,
    counts: Arc<Mutex<FetchCounts>>,
}

impl FetchMeter {
    pub(super) fn new(clock: Clock) -> FetchMeter {
        FetchMeter { clock, counts: Arc::default() }
    }

    pub(super) fn count(&self, host: &str, proxy: ProxyId, outcome: &'static str, request: FetchTotal) {
        let key = FetchKey::new(self.clock.utc(), host, proxy, outcome);
        if !self.counts().add(key, request) {
            events::fetch_not_counted();
        }
    }

    /// All totals that were not [written](FetchMeter::written) for good.
    pub fn totals(&self) -> Vec<(FetchKey, FetchTotal)> {
        self.counts().totals()
    }

    /// These are kept elsewhere now.
    pub fn written(&self, totals: &[(FetchKey, FetchTotal)]) {
        self.counts().forget(totals, self.clock.utc());
    }

    fn counts(&self) -> MutexGuard<'_, FetchCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
