//! `ExhaustedHashAlarm`: the alarm that an operation has no working hash left, once for all stores and not once for each.
//!
//! In: platform, operation, time. Out: whether the alarm was raised. It must not know tasks.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::store::Platform;
use crate::events;

/// The same alarm is raised once in this time.
const WINDOW: Duration = Duration::from_secs(3600);

/// One a process. An adapter has a handful of operations, so it stays small.
#[derive(Debug, Default)]
pub struct ExhaustedHashAlarm(Mutex<HashMap<(Platform, &'static str), Instant>>);

impl ExhaustedHashAlarm {
    /// Raises the alarm unless the last one is less than an hour old; says whether it did.
    pub fn raise(&self, platform: Platform, operation: &'static str, now: Instant) -> bool {
        let mut raised = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = raised.get(&(platform, operation));
        if last.is_some_and(|last| now.saturating_duration_since(*last) < WINDOW) {
            return false;
        }
        raised.insert((platform, operation), now);
        events::hashes_exhausted(platform, operation);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_one_alarm_in_a_window() {
        let (alarm, now) = (ExhaustedHashAlarm::default(), Instant::now());
        let raise = |operation, after| alarm.raise(Platform::Dutchie, operation, now + after);
        assert!(raise("A", Duration::ZERO));
        assert!(raise("B", Duration::ZERO), "another operation has an alarm of its own");
        assert!(!raise("A", WINDOW - Duration::from_secs(1)));
        assert!(raise("A", WINDOW));
        assert!(!raise("A", WINDOW + Duration::from_secs(1)));
    }
}
