//! `Window`: the recent answers of a host, and how many of them were refusals or failures of its own. Pure.
//!
//! Each weighs less as it grows older.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::HostReport;

/// Refusals and failures that weigh less together are over.
const MIN_TROUBLE: f64 = 0.5;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Window {
    pub window_at: Option<DateTime<Utc>>,
    pub window_answers: f64,
    /// Blocks and challenges.
    pub window_refusals: f64,
    /// Answers with 5xx, and requests without an answer where no proxy is between.
    pub window_failures: f64,
    /// The first of the refusals and failures that still count.
    pub window_refused_since: Option<DateTime<Utc>>,
}

/// A host's recent treatment of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// Text for people: `refuses 90 % of requests`.
    pub what: String,
    pub since: DateTime<Utc>,
}

impl Window {
    pub fn add(&mut self, report: &HostReport, window: Duration, now: DateTime<Utc>) {
        let age = self.window_at.map_or(0.0, |at| now.signed_duration_since(at).as_seconds_f64().max(0.0));
        let weight = (-age / window.as_secs_f64().max(1e-3)).exp();
        self.window_at = Some(now);
        self.window_answers = self.window_answers * weight + report.answers as f64;
        self.window_refusals *= weight;
        self.window_failures *= weight;
        if self.window_refusals + self.window_failures < MIN_TROUBLE {
            self.window_refused_since = None;
        }
        if report.has_trouble() {
            self.window_refusals += report.refusals as f64;
            self.window_failures += report.failures as f64;
            self.window_refused_since.get_or_insert(now);
        }
    }

    /// The share of answers that were refusals or failures.
    pub fn share_of_trouble(&self) -> f64 {
        self.share(self.window_refusals + self.window_failures)
    }

    pub fn trouble(&self) -> Option<Trouble> {
        Some(Trouble { what: self.description(), since: self.window_refused_since? })
    }

    pub fn description(&self) -> String {
        let [refused, failed] = [self.window_refusals, self.window_failures].map(|part| self.share(part) * 100.0);
        match (refused >= 0.5, failed >= 0.5) {
            (false, false) => "refuses less than 1 % of requests".to_owned(),
            (true, false) => format!("refuses {refused:.0} % of requests"),
            (false, true) => format!("fails {failed:.0} % of requests"),
            (true, true) => format!("refuses {refused:.0} % of requests and fails {failed:.0} %"),
        }
    }

    fn share(&self, part: f64) -> f64 {
        if self.window_answers > 0.0 { part / self.window_answers } else { 0.0 }
    }
}
