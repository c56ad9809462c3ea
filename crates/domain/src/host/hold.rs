//! `Hold`: until when a host is sent nothing, because it answered 429, or 503 with Retry-After. Pure.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{later, left};
use crate::retry;

/// The least wait: a host that says "0 s" or names a time in the past would be asked without end.
pub const MIN_HOLD: Duration = Duration::from_secs(1);
/// The first hold after a 429 that names no time.
const DEFAULT_HOLD: Duration = Duration::from_secs(30);

/// An answer that asks for a wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    pub status: u16,
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Hold {
    pub hold_until: Option<DateTime<Utc>>,
    /// Status of the answer that caused it.
    pub hold_status: Option<u16>,
    /// Number of holds since the host last accepted a request.
    pub holds_in_a_row: u32,
}

impl Hold {
    /// Holds the host for the time that the answer asks for, at most `cap`; without one for 30 s, doubling
    /// each time. Gives the wait. Throttles that arrive during a hold are to requests sent before it: they do
    /// not double it.
    pub fn extend(&mut self, throttle: Throttle, cap: Duration, now: DateTime<Utc>) -> Duration {
        if self.left(now).is_none() {
            self.holds_in_a_row = self.holds_in_a_row.saturating_add(1);
        }
        let doubled = || retry::doubling(DEFAULT_HOLD, cap, self.holds_in_a_row.saturating_sub(1));
        let wait = throttle.retry_after.unwrap_or_else(doubled).min(cap).max(MIN_HOLD);
        let until = later(now, wait);
        if self.hold_until < Some(until) {
            (self.hold_until, self.hold_status) = (Some(until), Some(throttle.status));
        }
        wait
    }

    pub fn left(&self, now: DateTime<Utc>) -> Option<Duration> {
        Some(left(self.hold_until, now)).filter(|left| !left.is_zero())
    }

    pub fn status(&self) -> u16 {
        self.hold_status.unwrap_or(429)
    }
}
