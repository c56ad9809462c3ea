//! `ExhaustedHashAlarm`: the alarm that an operation has no working hash left, once for all stores and not once for each.
//!
//! In: a platform's operation, where it was refused, and the time. Out: at most one ERROR an hour and operation. It must not know
//! tasks or SQL.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::store::Platform;
use crate::events;

/// One alarm an operation in this time.
const ALARM_INTERVAL: Duration = Duration::from_secs(3600);

/// One a process. An adapter has a handful of operations, so it stays small.
#[derive(Debug, Default)]
pub struct ExhaustedHashAlarm(Mutex<HashMap<(Platform, &'static str), Instant>>);

impl ExhaustedHashAlarm {
    /// Raises the alarm, unless there was one within [`ALARM_INTERVAL`]; returns whether it did. `endpoint` is the one that refused
    /// every hash; another endpoint of the platform may still accept one.
    pub fn raise(&self, platform: Platform, operation: &'static str, endpoint: &str, now: Instant) -> bool {
        let mut raised = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = raised.get(&(platform, operation));
        if last.is_some_and(|last| now.saturating_duration_since(*last) < ALARM_INTERVAL) {
            return false;
        }
        raised.insert((platform, operation), now);
        events::hashes_exhausted(platform, operation, endpoint);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_one_alarm_an_interval() {
        let (alarm, now) = (ExhaustedHashAlarm::default(), Instant::now());
        let raise = |operation, after| alarm.raise(Platform::Dutchie, operation, "dutchie.com/graphql", now + after);
        assert!(raise("A", Duration::ZERO));
        assert!(raise("B", Duration::ZERO), "another operation has its own");
        assert!(!raise("A", ALARM_INTERVAL - Duration::from_secs(1)));
        assert!(raise("A", ALARM_INTERVAL));
        assert!(!raise("A", ALARM_INTERVAL + Duration::from_secs(1)));
    }
}
