//! `KnownHashes`: the query hashes of each endpoint as the table had them a moment ago, so that not every
//! fetch asks for them and notes that one worked.
//!
//! In: hashes read, and observations. Out: hashes while they are fresh, and those observations that are worth
//! a write. One of a process. It must not know the database.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::platforms::HashObservation;
use domain::query_hash::QueryHash;
use domain::store::Platform;

/// An operator's new hash helps after this time at the latest.
const MAX_AGE: Duration = Duration::from_secs(5);
/// The table has the time of the last success to the minute.
const RECORD_EVERY: Duration = Duration::from_secs(60);
/// Stores may have endpoints of their own.
const MAX_ENDPOINTS: usize = 1000;

#[derive(Default)]
pub struct KnownHashes {
    endpoints: Mutex<HashMap<(Platform, String), Endpoint>>,
}

struct Endpoint {
    hashes: Vec<QueryHash>,
    read_at: Instant,
    recorded: HashMap<QueryHash, Instant>,
}

impl KnownHashes {
    /// The hashes of an endpoint, the most likely to work first; none when they were not read lately.
    pub fn fresh(&self, platform: Platform, endpoint: &str, now: Instant) -> Option<Vec<QueryHash>> {
        let endpoints = self.lock();
        let known = endpoints.get(&(platform, endpoint.to_owned()))?;
        let is_fresh = now.saturating_duration_since(known.read_at) < MAX_AGE;
        is_fresh.then(|| known.hashes.clone())
    }

    /// `hashes` were read just now.
    pub fn keep(&self, platform: Platform, endpoint: &str, hashes: &[QueryHash], now: Instant) {
        let mut endpoints = self.lock();
        if endpoints.len() >= MAX_ENDPOINTS {
            endpoints.clear();
        }
        let known = endpoints.entry((platform, endpoint.to_owned()));
        let known = known.or_insert_with(|| Endpoint { hashes: Vec::new(), read_at: now, recorded: HashMap::new() });
        known.hashes = hashes.to_vec();
        known.read_at = now;
    }

    /// The `observations` that the table must have: refusals, after which everything is read again, and
    /// successes that it does not have of this minute. They count as recorded.
    pub fn to_record(
        &self,
        platform: Platform,
        endpoint: &str,
        mut observations: Vec<HashObservation>,
        now: Instant,
    ) -> Vec<HashObservation> {
        let mut endpoints = self.lock();
        let key = (platform, endpoint.to_owned());
        if observations.iter().any(|observation| matches!(observation, HashObservation::NotFound(_))) {
            endpoints.remove(&key);
            return observations;
        }
        let Some(known) = endpoints.get_mut(&key) else { return observations };
        known.recorded.retain(|_, at| now.saturating_duration_since(*at) < RECORD_EVERY);
        observations.retain(|observation| match observation {
            HashObservation::Worked(hash) if known.recorded.contains_key(hash) => false,
            HashObservation::Worked(hash) => known.recorded.insert(hash.clone(), now).is_none(),
            HashObservation::NotFound(_) => true,
        });
        observations
    }

    /// Undoes a recording that failed: the next success is to be recorded again.
    pub fn forget(&self, platform: Platform, endpoint: &str) {
        self.lock().remove(&(platform, endpoint.to_owned()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Platform, String), Endpoint>> {
        self.endpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "dutchie.com/graphql";
    const PLATFORM: Platform = Platform::Dutchie;

    fn hash(name: &str) -> QueryHash {
        QueryHash { operation: "Menu".to_owned(), hash: name.to_owned() }
    }

    fn worked(name: &str) -> HashObservation {
        HashObservation::Worked(hash(name))
    }

    #[test]
    fn hashes_are_known_for_some_seconds_and_at_their_endpoint() {
        let (known, now) = (KnownHashes::default(), Instant::now());
        known.keep(PLATFORM, HERE, &[hash("a")], now);
        assert_eq!(known.fresh(PLATFORM, HERE, now + MAX_AGE / 2), Some(vec![hash("a")]));
        assert_eq!(known.fresh(PLATFORM, HERE, now + MAX_AGE), None);
        assert_eq!(known.fresh(PLATFORM, "elsewhere.example/graphql", now), None);
    }

    #[test]
    fn a_success_is_recorded_once_a_minute() {
        let (known, now) = (KnownHashes::default(), Instant::now());
        known.keep(PLATFORM, HERE, &[hash("a"), hash("b")], now);
        let record =
            |names: &[&str], at| known.to_record(PLATFORM, HERE, names.iter().copied().map(worked).collect(), at);
        assert_eq!(record(&["a"], now), [worked("a")]);
        assert_eq!(record(&["a", "b"], now + RECORD_EVERY / 2), [worked("b")]);
        assert_eq!(record(&["a"], now + RECORD_EVERY), [worked("a")]);
    }

    #[test]
    fn after_a_refusal_the_table_is_asked_and_the_next_success_recorded() {
        let (known, now) = (KnownHashes::default(), Instant::now());
        known.keep(PLATFORM, HERE, &[hash("a"), hash("b")], now);
        known.to_record(PLATFORM, HERE, vec![worked("b")], now);
        let refused = vec![HashObservation::NotFound(hash("a")), worked("b")];
        assert_eq!(known.to_record(PLATFORM, HERE, refused.clone(), now), refused);
        assert_eq!(known.fresh(PLATFORM, HERE, now), None);
        known.keep(PLATFORM, HERE, &[hash("b"), hash("a")], now);
        assert_eq!(known.to_record(PLATFORM, HERE, vec![worked("b")], now), [worked("b")]);
    }

    #[test]
    fn no_more_endpoints_are_kept_than_the_bound() {
        let (known, now) = (KnownHashes::default(), Instant::now());
        (0..=MAX_ENDPOINTS).for_each(|n| known.keep(PLATFORM, &format!("{n}.example/graphql"), &[hash("a")], now));
        assert!(known.lock().len() <= MAX_ENDPOINTS);
    }
}
