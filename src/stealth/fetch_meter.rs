//! `FetchMeter`: counts of the requests that a process's sessions send to hosts, by minute, and by store and
//! day.
//!
//! In: requests that ended. Out: the totals. Counting never blocks on readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::counts::fetches::{FetchCounts, FetchKey, FetchTotal};
use domain::counts::store_fetches::{StoreDay, StoreFetchCounts};
use domain::proxy::ProxyId;
use domain::store::StoreId;
use foundation::clock::Clock;
use telemetry::events;

/// Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct FetchMeter {
    clock: Clock,
    counts: Arc<Mutex<FetchCounts>>,
    stores: Arc<Mutex<StoreFetchCounts>>,
}

impl FetchMeter {
    pub fn new(clock: Clock) -> FetchMeter {
        FetchMeter { clock, counts: Arc::default(), stores: Arc::default() }
    }

    pub fn count(&self, host: &str, proxy: ProxyId, outcome: &'static str, request: FetchTotal) {
        let key = FetchKey::new(self.clock.utc(), host, proxy, outcome);
        if !lock(&self.counts).add(key, request) {
            events::fetch_not_counted();
        }
    }

    /// The same request once more, by the store that it was for.
    pub(super) fn count_for(&self, store: Option<StoreId>, request: FetchTotal) {
        lock(&self.stores).add(StoreDay::new(self.clock.utc(), store), request);
    }

    /// All totals that were not [written](FetchMeter::written) for good.
    pub fn totals(&self) -> Vec<(FetchKey, FetchTotal)> {
        lock(&self.counts).totals()
    }

    /// Forgets totals that are kept elsewhere now.
    pub fn written(&self, totals: &[(FetchKey, FetchTotal)]) {
        lock(&self.counts).forget(totals, self.clock.utc());
    }

    /// The totals of stores that have grown since they were [written](FetchMeter::stores_written).
    pub fn store_totals(&self) -> Vec<(StoreDay, FetchTotal)> {
        lock(&self.stores).unwritten()
    }

    /// Forgets totals that are kept elsewhere now.
    pub fn stores_written(&self, totals: &[(StoreDay, FetchTotal)]) {
        lock(&self.stores).written(totals, self.clock.utc());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
