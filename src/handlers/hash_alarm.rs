//! `ExhaustedHashAlarm`: the alarm that an operation has no working hash left at an endpoint, once for all
//! stores and not once for each.
//!
//! In: a platform's operation, the endpoint that refused it, and the time. Out: at most one ERROR an hour for
//! each of them. It must not know tasks or SQL.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use domain::store::Platform;
use telemetry::events;

/// Minimum time between two alarms of one operation and endpoint.
const ALARM_INTERVAL: Duration = Duration::from_secs(3600);
/// Maximum number in one interval: stores may have endpoints of their own, and by then an operator knows.
const MAX_ALARMS: usize = 32;

/// One a process.
#[derive(Debug, Default)]
pub struct ExhaustedHashAlarm(Mutex<HashMap<RefusedHash, Instant>>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct RefusedHash {
    platform: Platform,
    operation: &'static str,
    endpoint: String,
}

impl ExhaustedHashAlarm {
    /// Raises the alarm, unless there was one within [`ALARM_INTERVAL`]; returns whether it did. `endpoint`
    /// is the one that refused every hash; another endpoint of the platform may still accept one, and has an
    /// alarm of its own.
    pub fn raise(&self, platform: Platform, operation: &'static str, endpoint: &str, now: Instant) -> bool {
        let mut raised = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        raised.retain(|_, last| now.saturating_duration_since(*last) < ALARM_INTERVAL);
        let refused = RefusedHash { platform, operation, endpoint: endpoint.to_owned() };
        if raised.len() >= MAX_ALARMS || raised.contains_key(&refused) {
            return false;
        }
        raised.insert(refused, now);
        events::hashes_exhausted(platform, operation, endpoint);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "dutchie.com/graphql";

    #[test]
    fn an_operation_has_one_alarm_an_interval() {
        let (alarm, now) = (ExhaustedHashAlarm::default(), Instant::now());
        let raise = |operation, after| alarm.raise(Platform::Dutchie, operation, MAIN, now + after);
        assert!(raise("A", Duration::ZERO));
        assert!(raise("B", Duration::ZERO), "another operation has its own");
        assert!(!raise("A", ALARM_INTERVAL - Duration::from_secs(1)));
        assert!(raise("A", ALARM_INTERVAL));
        assert!(!raise("A", ALARM_INTERVAL + Duration::from_secs(1)));
    }

    #[test]
    fn a_shard_that_is_behind_does_not_mute_the_alarm_of_another_endpoint() {
        let (alarm, now) = (ExhaustedHashAlarm::default(), Instant::now());
        assert!(alarm.raise(Platform::Dutchie, "A", "dutchie.com/api-2/graphql", now));
        assert!(alarm.raise(Platform::Dutchie, "A", MAIN, now));
    }

    #[test]
    fn an_interval_has_a_bounded_number_of_alarms() {
        let (alarm, now) = (ExhaustedHashAlarm::default(), Instant::now());
        let raised = (0..100).filter(|nth| alarm.raise(Platform::Dutchie, "A", &format!("{nth}.test/graphql"), now));
        assert_eq!(raised.count(), MAX_ALARMS);
    }
}
