//! `Rate`: the requests a second that all processes together may send to a host: halved by trouble, slowly
//! back to the configured one. Pure.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Time between two changes: a change shows its effect only after some requests.
const STEP: TimeDelta = TimeDelta::seconds(10);
/// The share of the configured rate that comes back with each step.
const RECOVERY: f64 = 0.05;
/// The least share of the configured rate.
const FLOOR: f64 = 1.0 / 32.0;
/// Answers below which their time says nothing.
const MIN_ANSWERS: u32 = 5;
/// Answers this many times slower than usual are trouble, where they are also slower than [`MIN_SLOW_MS`].
const SLOWER: f64 = 2.0;
const MIN_SLOW_MS: f64 = 1000.0;
/// Weight of one answer in the usual time.
const NEWEST: f64 = 0.01;

/// How long accepted requests took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    pub answers: u32,
    pub total_ms: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rate {
    /// Requests a second now; 0 = no limit.
    pub rate: f64,
    pub configured_rate: f64,
    pub rate_changed_at: Option<DateTime<Utc>>,
    /// How long an answer usually takes (moving average).
    pub latency_ms: Option<f64>,
}

impl Rate {
    /// Takes in the trouble and the response times of one report. `configured`: 0 = no limit.
    pub fn adapt(&mut self, configured: f64, is_trouble: bool, latency: Latency, now: DateTime<Utc>) {
        let is_slow = self.is_slow(latency);
        self.learn(latency);
        if self.configured_rate != configured {
            (self.rate, self.configured_rate) = (configured, configured);
            self.rate_changed_at = None;
        }
        let steps =
            self.rate_changed_at.map_or(1, |at| now.signed_duration_since(at).num_seconds() / STEP.num_seconds());
        if steps < 1 || configured <= 0.0 {
            return;
        }
        let rate = match is_trouble || is_slow {
            true => (self.rate / 2.0).max(configured * FLOOR),
            false => (self.rate + configured * RECOVERY * steps as f64).min(configured),
        };
        if rate != self.rate {
            (self.rate, self.rate_changed_at) = (rate, Some(now));
        }
    }

    fn is_slow(&self, latency: Latency) -> bool {
        let usual = self.latency_ms.unwrap_or(f64::INFINITY);
        latency.answers >= MIN_ANSWERS && latency.mean_ms() > (usual * SLOWER).max(MIN_SLOW_MS)
    }

    fn learn(&mut self, latency: Latency) {
        if latency.answers == 0 {
            return;
        }
        let weight = 1.0 - (1.0 - NEWEST).powi(latency.answers.min(1000) as i32);
        let usual = self.latency_ms.unwrap_or_else(|| latency.mean_ms());
        self.latency_ms = Some(usual + (latency.mean_ms() - usual) * weight);
    }
}

impl Latency {
    pub fn observe(&mut self, took: Duration) {
        self.answers = self.answers.saturating_add(1);
        self.total_ms += took.as_secs_f64() * 1000.0;
    }

    pub fn absorb(&mut self, later: Latency) {
        self.answers = self.answers.saturating_add(later.answers);
        self.total_ms += later.total_ms;
    }

    fn mean_ms(self) -> f64 {
        self.total_ms / f64::from(self.answers.max(1))
    }
}
