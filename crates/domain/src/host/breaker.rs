//! `Breaker`: closed, or open with a back-off, or half-open with one probe under way. Pure.
//!
//! Closed → open for base · 2^n → half-open: one probe, whose verdict closes it or opens it again for longer.
//! A probe has a number, so that an answer that comes late decides nothing.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{HostLimits, later, left};
use crate::retry;
use crate::vocabulary::vocabulary;

pub type ProbeNumber = i64;

vocabulary! {
    pub enum BreakerState {
        Closed,
        Open,
        HalfOpen,
    }
}

/// Result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    Refused,
    /// The request ended without an answer: its proxy failed, or its task was stopped.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    pub why: String,
    /// Whether it opens from closed, not after a probe.
    pub is_first: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Breaker {
    #[serde(rename = "breaker")]
    pub state: BreakerState,
    /// Begin of this state.
    pub breaker_since: DateTime<Utc>,
    /// Time when it opened, even if it has been half-open since.
    pub refuses_since: Option<DateTime<Utc>>,
    /// Open: when a probe may be sent. Half-open: when the probe under way counts as lost.
    pub probe_at: Option<DateTime<Utc>>,
    /// The number of the latest probe.
    pub probe: ProbeNumber,
    pub opens_in_a_row: u32,
    /// Answer of the host that opened it.
    pub why: Option<String>,
}

impl Breaker {
    pub fn new(now: DateTime<Utc>) -> Self {
        Breaker {
            state: BreakerState::Closed,
            breaker_since: now,
            refuses_since: None,
            probe_at: None,
            probe: 0,
            opens_in_a_row: 0,
            why: None,
        }
    }

    /// Time left until the next probe.
    pub fn probe_in(&self, now: DateTime<Utc>) -> Duration {
        left(self.probe_at, now)
    }

    /// Opens it. Soon after it closed it continues where it was: a probe that was lucky starts no new back-off.
    pub fn open(&mut self, opening: Opening, limits: &HostLimits, now: DateTime<Utc>) {
        let window = TimeDelta::from_std(limits.window).unwrap_or(TimeDelta::MAX);
        let is_fresh = opening.is_first && now.signed_duration_since(self.breaker_since) >= window;
        if is_fresh || self.refuses_since.is_none() {
            self.opens_in_a_row = 0;
            self.refuses_since = Some(now);
        }
        let pause = retry::doubling(limits.open_base, limits.open_cap, self.opens_in_a_row);
        self.opens_in_a_row = self.opens_in_a_row.saturating_add(1);
        self.why = Some(opening.why);
        self.turn(BreakerState::Open, Some(later(now, pause)), now);
    }

    /// Begins a half-open period; its probe may be sent by the caller alone. None while it is not due.
    pub fn begin_probe(&mut self, limits: &HostLimits, now: DateTime<Utc>) -> Option<ProbeNumber> {
        if self.state == BreakerState::Closed || !self.probe_in(now).is_zero() {
            return None;
        }
        self.probe += 1;
        self.turn(BreakerState::HalfOpen, Some(later(now, limits.probe_time)), now);
        Some(self.probe)
    }

    /// The state that follows, where this is the probe under way.
    pub fn end_probe(
        &mut self,
        number: ProbeNumber,
        verdict: Verdict,
        limits: &HostLimits,
        now: DateTime<Utc>,
    ) -> Option<BreakerState> {
        if self.state != BreakerState::HalfOpen || self.probe != number {
            return None;
        }
        match verdict {
            Verdict::Accepted => {
                self.why = None;
                self.turn(BreakerState::Closed, None, now);
            }
            Verdict::Refused => {
                let why = self.why.take().unwrap_or_default();
                self.open(Opening { why, is_first: false }, limits, now);
            }
            Verdict::Unknown => self.turn(BreakerState::Open, Some(later(now, limits.open_base)), now),
        }
        Some(self.state)
    }

    /// Opens it for an operator, whatever the host does. A probe is due at `until`; without it in a year.
    pub fn open_by_hand(&mut self, why: String, until: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        (self.opens_in_a_row, self.refuses_since, self.why) = (0, Some(now), Some(why));
        let latest = later(now, Duration::MAX);
        self.turn(BreakerState::Open, Some(until.map_or(latest, |until| until.min(latest))), now);
    }

    /// Closes it for an operator. A probe under way decides nothing any more.
    pub fn close_by_hand(&mut self, now: DateTime<Utc>) {
        *self = Breaker { probe: self.probe, ..Breaker::new(now) };
    }

    fn turn(&mut self, state: BreakerState, probe_at: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        (self.state, self.breaker_since, self.probe_at) = (state, now, probe_at);
    }
}
