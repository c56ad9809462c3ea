//! `HostState`: the shared state of one host, and its current limits.
//!
//! In: a process's observations since its last exchange ([`HostReport`]), the database's time. Out: the next
//! state, notices, a [`Permission`]. Its parts: [`breaker`], [`hold`], [`rate`], [`window`];
//! [`outcome`] makes a report of one request. Pure: the row of
//! the table `hosts` is locked and stored by its caller, so that each report is applied once, after those
//! before it.

pub mod breaker;
pub mod hold;
pub mod outcome;
pub mod rate;
mod summary;
mod window;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::amounts::counted;

pub use breaker::{Breaker, BreakerState, Opening, ProbeNumber, Verdict};
pub use hold::{Hold, Throttle};
pub use outcome::HostOutcome;
pub use rate::{Latency, Rate};
pub use window::{Trouble, Window};

/// Processes silent longer than this get no share of the rate.
const PROCESS_AGE: TimeDelta = TimeDelta::seconds(30);

/// Maximum time by which anything is put off: the table refuses times that Rust cannot read.
pub const MAX_LATER: TimeDelta = TimeDelta::days(365);

/// How long a task waits while the probe of another one is under way.
const PROBE_WAIT: Duration = Duration::from_secs(5);

/// The numbers of `[politeness]` that the rules need.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLimits {
    /// Rate of all processes together, a second; 0 = no limit.
    pub rate: f64,
    /// Share of refused and failed requests that opens the breaker; 0 = it never opens.
    pub share_to_open: f64,
    /// Requests of the window below which no share is taken.
    pub min_requests: f64,
    /// Time after which a request has about a third of its weight.
    pub window: Duration,
    /// Holds in a row that open the breaker; 0 = none does.
    pub holds_to_open: u32,
    pub open_base: Duration,
    pub open_cap: Duration,
    /// A probe that has not ended by then is lost.
    pub probe_time: Duration,
    pub hold_cap: Duration,
}

/// Observations of a host by one process, since its last exchange.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostReport {
    /// Number of answers, including those counted in the next three.
    pub answers: i64,
    /// Blocks and challenges.
    pub refusals: i64,
    /// 5xx, or no answer where no proxy is between: the host's own trouble.
    pub failures: i64,
    /// 429, or 503 with Retry-After.
    pub throttles: i64,
    /// The latest throttle.
    pub throttle: Option<Throttle>,
    pub latency: Latency,
    pub probe: Option<(ProbeNumber, Verdict)>,
    pub asks_probe: bool,
}

/// Result of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportResult {
    pub notice: Option<HostNotice>,
    /// The probe that was asked for.
    pub probe: Option<ProbeNumber>,
    /// How long the throttle of the report holds the host.
    pub hold: Option<Duration>,
}

/// Notice to an operator about a host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostNotice {
    /// An alarm: nothing is sent to it until `probe_in` is over.
    Opened {
        why: String,
        probe_in: Duration,
    },
    ProbeFailed {
        why: String,
        probe_in: Duration,
    },
    Closed,
}

/// Decision whether a request may be sent now.
#[derive(Clone, Debug, PartialEq)]
pub enum Permission {
    Free,
    Held {
        left: Duration,
        status: u16,
    },
    Refusing(HostRefusal),
    /// A single request, by the one process that gets it.
    ProbeDue,
}

/// Why nothing is sent, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRefusal {
    pub why: String,
    pub since: DateTime<Utc>,
    pub left: Duration,
    pub is_probed: bool,
}

/// One row of the table `hosts`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostState {
    #[serde(flatten)]
    pub breaker: Breaker,
    #[serde(flatten)]
    pub hold: Hold,
    #[serde(flatten)]
    pub rate: Rate,
    #[serde(flatten)]
    pub window: Window,
    pub answers: i64,
    pub refusals: i64,
    pub failures: i64,
    pub throttles: i64,
    /// Processes that ask the host, with the time each was last heard of.
    pub processes: BTreeMap<String, DateTime<Utc>>,
}

impl HostState {
    pub fn new(now: DateTime<Utc>) -> Self {
        HostState {
            breaker: Breaker::new(now),
            hold: Hold::default(),
            rate: Rate::default(),
            window: Window::default(),
            answers: 0,
            refusals: 0,
            failures: 0,
            throttles: 0,
            processes: BTreeMap::new(),
        }
    }

    /// The state after the report of `process`.
    pub fn apply(
        &mut self,
        process: &str,
        report: &HostReport,
        limits: &HostLimits,
        now: DateTime<Utc>,
    ) -> ReportResult {
        self.count(report, limits, now);
        self.note_process(process, now);
        let hold = self.hold(report, limits, now);
        let notice = self.judge_probe(report, limits, now).or_else(|| self.judge_window(report, limits, now));
        let is_trouble = hold.is_some() || matches!(notice, Some(HostNotice::Opened { .. }));
        self.rate.adapt(limits.rate, is_trouble, report.latency, now);
        let probe = if report.asks_probe { self.take_probe(limits, now) } else { None };
        ReportResult { notice, probe, hold }
    }

    pub fn permission(&self, now: DateTime<Utc>) -> Permission {
        let held = self.hold.left(now);
        match (self.breaker.state, self.breaker.probe_in(now)) {
            (BreakerState::Closed, _) => match held {
                Some(left) => Permission::Held { left, status: self.hold.status() },
                None => Permission::Free,
            },
            (BreakerState::Open, left) if held.is_some() || !left.is_zero() => {
                Permission::Refusing(self.refusing(left.max(held.unwrap_or_default())))
            }
            (BreakerState::HalfOpen, left) if !left.is_zero() => {
                Permission::Refusing(self.refusing(left.min(PROBE_WAIT)))
            }
            (BreakerState::Open | BreakerState::HalfOpen, _) => Permission::ProbeDue,
        }
    }

    /// How the host refuses, where nothing may be sent to it for `left`.
    pub fn refusing(&self, left: Duration) -> HostRefusal {
        HostRefusal {
            why: self.breaker.why.clone().unwrap_or_default(),
            since: self.breaker.refuses_since.unwrap_or(self.breaker.breaker_since),
            left,
            is_probed: self.breaker.state == BreakerState::HalfOpen,
        }
    }

    /// How the host fails recent requests; none if it answers them all.
    pub fn trouble(&self) -> Option<Trouble> {
        self.window.trouble()
    }

    /// Sends it nothing until a probe at `until`, whatever it does.
    pub fn open_by_hand(&mut self, why: Option<&str>, until: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        let reason = why.map(|why| format!(" ({why})")).unwrap_or_default();
        self.breaker.open_by_hand(format!("is switched off by an operator{reason}"), until, now);
    }

    /// Goes on as if the host had never refused or failed. A hold stays: the host asked for it.
    pub fn close_by_hand(&mut self, now: DateTime<Utc>) {
        self.breaker.close_by_hand(now);
        self.window = Window::default();
        self.hold.holds_in_a_row = 0;
    }

    /// Processes that share the host; at least one.
    pub fn process_count(&self) -> usize {
        self.processes.len().max(1)
    }

    fn count(&mut self, report: &HostReport, limits: &HostLimits, now: DateTime<Utc>) {
        self.answers += report.answers;
        self.refusals += report.refusals;
        self.failures += report.failures;
        self.throttles += report.throttles;
        self.window.add(report, limits.window, now);
    }

    fn note_process(&mut self, process: &str, now: DateTime<Utc>) {
        self.processes.retain(|_, heard| now.signed_duration_since(*heard) < PROCESS_AGE);
        self.processes.insert(process.to_owned(), now);
    }

    /// How long the report's throttle holds the host. Answers during a hold are to requests sent before it,
    /// and end no streak.
    fn hold(&mut self, report: &HostReport, limits: &HostLimits, now: DateTime<Utc>) -> Option<Duration> {
        let is_accepted = report.answers > report.refusals + report.failures + report.throttles;
        if is_accepted && self.hold.left(now).is_none() {
            self.hold.holds_in_a_row = 0;
        }
        report.throttle.map(|throttle| self.hold.extend(throttle, limits.hold_cap, now))
    }

    fn judge_probe(&mut self, report: &HostReport, limits: &HostLimits, now: DateTime<Utc>) -> Option<HostNotice> {
        let (number, verdict) = report.probe?;
        match self.breaker.end_probe(number, verdict, limits, now)? {
            BreakerState::Closed => {
                self.window = Window::default();
                self.hold.holds_in_a_row = 0;
                Some(HostNotice::Closed)
            }
            _ => Some(HostNotice::ProbeFailed { why: self.breaker.why.clone()?, probe_in: self.breaker.probe_in(now) }),
        }
    }

    fn judge_window(&mut self, report: &HostReport, limits: &HostLimits, now: DateTime<Utc>) -> Option<HostNotice> {
        if self.breaker.state != BreakerState::Closed || limits.share_to_open <= 0.0 {
            return None;
        }
        let why = self.why_to_open(report, limits)?;
        self.breaker.open(Opening { why: why.clone(), is_first: true }, limits, now);
        Some(HostNotice::Opened { why, probe_in: self.breaker.probe_in(now) })
    }

    /// The reason to open the breaker, where the host's behaviour is one.
    fn why_to_open(&self, report: &HostReport, limits: &HostLimits) -> Option<String> {
        let holds = self.hold.holds_in_a_row;
        if report.throttle.is_some() && limits.holds_to_open > 0 && holds >= limits.holds_to_open {
            return Some(format!("throttles us (status {}, {} in a row)", self.hold.status(), counted(holds, "time")));
        }
        let is_trouble = report.has_trouble() && self.window.share_of_trouble() >= limits.share_to_open;
        let is_enough = self.window.window_answers.round() >= limits.min_requests;
        (is_trouble && is_enough).then(|| self.window.description())
    }

    fn take_probe(&mut self, limits: &HostLimits, now: DateTime<Utc>) -> Option<ProbeNumber> {
        if self.permission(now) != Permission::ProbeDue {
            return None;
        }
        self.breaker.begin_probe(limits, now)
    }
}

impl HostReport {
    pub fn is_empty(&self) -> bool {
        *self == HostReport::default()
    }

    fn has_trouble(&self) -> bool {
        self.refusals + self.failures > 0
    }

    /// Adds a later report to `self`.
    pub fn absorb(&mut self, later: HostReport) {
        self.answers += later.answers;
        self.refusals += later.refusals;
        self.failures += later.failures;
        self.throttles += later.throttles;
        self.throttle = later.throttle.or(self.throttle);
        self.latency.absorb(later.latency);
        self.probe = later.probe.or(self.probe);
        self.asks_probe |= later.asks_probe;
    }
}

/// `now` + `by`, at most [`MAX_LATER`].
fn later(now: DateTime<Utc>, by: Duration) -> DateTime<Utc> {
    let by = TimeDelta::from_std(by).unwrap_or(MAX_LATER).min(MAX_LATER);
    now.checked_add_signed(by).unwrap_or(now)
}

/// Time left until `at`; zero once it has passed.
fn left(at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Duration {
    at.and_then(|at| at.signed_duration_since(now).to_std().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
