//! `Member`: one proxy in the pool: its row, its health, its open sessions, and how good a choice it is.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::health::{Condition, Health, Limits, Verdict};
use super::pool::Notice;
use super::{Change, Counters, Increment, Proxy, ProxyAsk, ProxyId, Standing, Stored};

/// What a proxy that nobody has used counts as having rested.
const LONG_RESTED: Duration = Duration::from_secs(24 * 3600);

pub struct Member {
    pub proxy: Arc<Proxy>,
    pub state_code: Option<String>,
    pub timezone: Option<String>,
    pub health: Health,
    pub sessions: usize,
    /// The row, and what this process adds to it.
    pub counters: Counters,
    pub(super) last_used: Option<Instant>,
    /// The first of the silences in a row, by whatever host; ended by a success.
    pub(super) suspect_since: Option<Instant>,
    pub(super) unsaved: Increment,
}

impl Member {
    pub(super) fn new(row: Standing, limits: &Limits, now: Instant) -> Self {
        Member {
            health: Health::of(row.stored, limits, now),
            sessions: 0,
            counters: row.counters,
            last_used: row.idle.and_then(|idle| now.checked_sub(idle)),
            suspect_since: None,
            unsaved: Increment::of(row.proxy.id),
            proxy: Arc::new(row.proxy),
            state_code: row.state_code,
            timezone: row.timezone,
        }
    }

    pub(super) fn id(&self) -> ProxyId {
        self.proxy.id
    }

    /// The same proxy after a look at its row.
    pub(super) fn refreshed(mut self, row: Standing, limits: &Limits, now: Instant) -> Self {
        if row.stored == Stored::Off {
            self.unsaved.change = None;
        }
        if self.unsaved.change.is_none() {
            self.health.adopt(row.stored, limits, now);
        }
        let fresh = Member::new(row, limits, now);
        Member {
            proxy: if *self.proxy == *fresh.proxy { self.proxy } else { fresh.proxy },
            counters: self.unsaved.on_top_of(&fresh.counters),
            last_used: self.last_used.max(fresh.last_used),
            suspect_since: self.suspect_since,
            health: self.health,
            sessions: self.sessions,
            unsaved: self.unsaved,
            state_code: fresh.state_code,
            timezone: fresh.timezone,
        }
    }

    pub(super) fn note(&mut self, event: impl Fn(&mut Increment)) {
        event(&mut self.unsaved);
        let mut alone = Increment::of(self.id());
        event(&mut alone);
        self.counters = alone.on_top_of(&self.counters);
    }

    pub(super) fn told(&mut self, verdict: Verdict, host: &str, why: &str, now: Instant) -> Option<Notice> {
        let proxy = self.proxy.clone();
        match verdict {
            Verdict::Noted => None,
            Verdict::Spared => Some(Notice::LastOne { proxy, why: why.to_owned() }),
            Verdict::BenchedAtHost { until } => {
                Some(Notice::BenchedAtHost { proxy, host: host.to_owned(), cooldown: until - now })
            }
            Verdict::Benched { until } => {
                self.unsaved.change = Some(Change::Benched { until });
                Some(Notice::Benched { proxy, cooldown: until - now, why: why.to_owned() })
            }
        }
    }

    pub(super) fn cooldown_is_over(&self, now: Instant) -> bool {
        matches!(self.health.condition(), Condition::Benched { until, .. } if until <= now)
    }

    pub(super) fn benched_since(&self) -> Option<Instant> {
        match self.health.condition() {
            Condition::Benched { since, .. } => Some(since),
            _ => None,
        }
    }

    /// Greater = better: no trouble at the host, then nearness, then healthy and long rested, then few sessions.
    pub(super) fn compare(&self, other: &Member, ask: &ProxyAsk, now: Instant) -> Ordering {
        let untroubled = |member: &Member| !member.health.is_troubled_at(&ask.host);
        untroubled(self)
            .cmp(&untroubled(other))
            .then_with(|| self.nearness(ask).cmp(&other.nearness(ask)))
            .then_with(|| self.claim_to_be_next(now).total_cmp(&other.claim_to_be_next(now)))
            .then_with(|| other.sessions.cmp(&self.sessions))
            .then_with(|| other.id().cmp(&self.id()))
    }

    fn nearness(&self, ask: &ProxyAsk) -> u8 {
        let same = |mine: &Option<String>, wanted: &Option<String>| u8::from(mine.is_some() && mine == wanted);
        same(&self.state_code, &ask.state) + same(&self.timezone, &ask.timezone)
    }

    /// Seconds rested, weighed by how well it does: among equals that is the least recently used.
    fn claim_to_be_next(&self, now: Instant) -> f64 {
        let rested = self.last_used.map_or(LONG_RESTED, |at| now.saturating_duration_since(at).min(LONG_RESTED));
        rested.as_secs_f64() * self.weight()
    }

    /// In (0, 1]: the share of successes (two imagined ones soften a short record) · how fast · how steady of late.
    fn weight(&self) -> f64 {
        let successes = self.counters.success_count as f64 + 2.0;
        let tried = successes + self.counters.failure_count as f64;
        let seconds = self.counters.avg_response_time_ms.unwrap_or(0.0).max(0.0) / 1000.0;
        let streak = f64::from(self.health.failures_in_a_row());
        successes / tried / (1.0 + seconds) / (1.0 + streak)
    }
}
