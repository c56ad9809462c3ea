//! `PooledProxy`: one proxy in the pool: its row, its health, its open leases, and how good a choice it is.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::health::{BenchLimits, Condition, Health};
use super::{
    ConditionChange, CounterDelta, Counters, HealthFacts, HostBench, Notice, Proxy, ProxyAsk, ProxyId, ProxyRow,
    ShownHealth, StoredState,
};

/// How long a proxy that was never used counts as unused.
const MAX_IDLE_TIME: Duration = Duration::from_secs(24 * 3600);

/// A proxy in the store's state, and one in its timezone, is chosen this many times as often: each counts
/// once.
const NEARNESS_FACTOR: f64 = 2.0;

pub struct PooledProxy {
    pub proxy: Arc<Proxy>,
    pub state_code: Option<String>,
    pub timezone: Option<String>,
    pub health: Health,
    pub open_leases: usize,
    /// The row, and this process's additions to it.
    pub counters: Counters,
    pub(super) last_used: Option<Instant>,
    pub(super) unsaved: CounterDelta,
}

impl PooledProxy {
    pub(super) fn new(row: ProxyRow, limits: &BenchLimits, now: Instant) -> Self {
        PooledProxy {
            health: Health::of(row.stored, &row.host_benches, limits, now),
            open_leases: 0,
            counters: row.counters,
            last_used: row.idle.and_then(|idle| now.checked_sub(idle)),
            unsaved: CounterDelta::of(row.proxy.id),
            proxy: Arc::new(row.proxy),
            state_code: row.state_code,
            timezone: row.timezone,
        }
    }

    pub(super) fn id(&self) -> ProxyId {
        self.proxy.id
    }

    /// The same proxy after its row has been read again.
    pub(super) fn refreshed(mut self, row: ProxyRow, limits: &BenchLimits, now: Instant) -> Self {
        if row.stored == StoredState::Off {
            self.unsaved.change = None;
            self.unsaved.host_benches.clear();
        }
        if self.unsaved.change.is_none() {
            self.health.adopt(row.stored, limits, now);
        }
        let fresh = PooledProxy::new(row, limits, now);
        PooledProxy {
            proxy: if *self.proxy == *fresh.proxy { self.proxy } else { fresh.proxy },
            counters: self.unsaved.on_top_of(&fresh.counters),
            last_used: self.last_used.max(fresh.last_used),
            health: self.health,
            open_leases: self.open_leases,
            unsaved: self.unsaved,
            state_code: fresh.state_code,
            timezone: fresh.timezone,
        }
    }

    /// Counts an event, both for the table and on top of the row read last.
    pub(super) fn count(&mut self, event: impl Fn(&mut CounterDelta)) {
        event(&mut self.unsaved);
        let mut alone = CounterDelta::of(self.id());
        event(&mut alone);
        self.counters = alone.on_top_of(&self.counters);
    }

    /// Health as shown to users, by the knowledge of this process.
    pub fn shown_health(&self, now: Instant) -> ShownHealth {
        ShownHealth::of(&HealthFacts {
            is_off: self.health.condition() == Condition::Off,
            is_benched: self.health.is_benched(now),
            is_on_trial: self.health.is_unproven(),
            ..HealthFacts::from(&self.counters)
        })
    }

    pub(super) fn bench_at(&mut self, host: &str, until: Instant, reason: String, now: Instant) -> Notice {
        let is_best_effort = self.health.hosts().is_best_effort_at(host);
        let bench = HostBench::Until { until, reason: reason.clone(), is_best_effort };
        self.unsaved.host_benches.insert(host.to_owned(), bench);
        Notice::BenchedAtHost { proxy: Arc::clone(&self.proxy), host: host.to_owned(), cooldown: until - now, reason }
    }

    /// A success at `host`, `sent` then. Whether it ended a trial.
    pub(super) fn succeeded(&mut self, host: &str, sent: Instant, now: Instant) -> bool {
        let was_benched = self.health.hosts().is_benched_at(host, now);
        let revived = self.health.succeeded(host, sent);
        if was_benched && !self.health.hosts().is_benched_at(host, now) {
            self.unsaved.host_benches.insert(host.to_owned(), HostBench::Ended);
        }
        revived
    }

    pub(super) fn bench(&mut self, reason: &str, limits: &BenchLimits, now: Instant) -> Notice {
        let until = self.health.bench(limits, now);
        self.unsaved.change = Some(ConditionChange::Benched { until });
        Notice::Benched { proxy: Arc::clone(&self.proxy), cooldown: until - now, reason: reason.to_owned() }
    }

    /// Its trial has failed. The table learns of a new bench only: where the old one continues, it knows its
    /// end.
    pub(super) fn bench_again(&mut self, reason: &str, limits: &BenchLimits, now: Instant) -> Notice {
        match self.health.resume_bench(now) {
            Some(until) => {
                Notice::StillFails { proxy: Arc::clone(&self.proxy), left: until - now, reason: reason.to_owned() }
            }
            None => self.bench(reason, limits, now),
        }
    }

    /// Its trial has ended well, which the table must learn.
    pub(super) fn revived(&mut self) -> Notice {
        self.unsaved.change = Some(ConditionChange::Revived);
        Notice::Revived { proxy: Arc::clone(&self.proxy) }
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

    pub(super) fn is_on_trial(&self) -> bool {
        self.health.condition() == Condition::OnTrial
    }

    /// A request decides its trial now, or had less time than `within` to come.
    pub(super) fn is_being_tried(&self, within: Duration, now: Instant) -> bool {
        let earliest = now.checked_sub(within).unwrap_or(now);
        self.is_on_trial() && (self.open_leases > 0 || self.health.began_trial_since(earliest))
    }

    /// Greater = better: for a first try one on trial, so that it is soon decided, and for further tries the
    /// others, so that a request meets one trial at most; then the higher score, then the fewer open leases.
    pub(super) fn compare(&self, other: &PooledProxy, ask: &ProxyAsk, now: Instant) -> Ordering {
        let is_first_try = ask.avoid.is_empty();
        let suits = |member: &PooledProxy| member.is_on_trial() == is_first_try;
        let by_trial = suits(self).cmp(&suits(other));
        let by_score = by_trial.then_with(|| self.score(ask, now).total_cmp(&other.score(ask, now)));
        by_score.then_with(|| other.open_leases.cmp(&self.open_leases)).then_with(|| other.id().cmp(&self.id()))
    }

    /// Seconds since its last use, times weights: among equals the least recently used is chosen, and a proxy
    /// with half the weight is chosen half as often. No weight is a rank, so that the load never runs
    /// together on a few proxies.
    fn score(&self, ask: &ProxyAsk, now: Instant) -> f64 {
        let rest = self.last_used.map_or(MAX_IDLE_TIME, |at| now.saturating_duration_since(at).min(MAX_IDLE_TIME));
        let nearness = NEARNESS_FACTOR.powi(i32::from(self.nearness(ask)));
        (1.0 + rest.as_secs_f64()) * self.weight() * self.health.hosts().weight_at(&ask.host, now) * nearness
    }

    fn nearness(&self, ask: &ProxyAsk) -> u8 {
        let same = |mine: &Option<String>, wanted: &Option<String>| u8::from(mine.is_some() && mine == wanted);
        same(&self.state_code, &ask.state) + same(&self.timezone, &ask.timezone)
    }

    /// Weight in (0, 1]: the share of successes (two imagined ones soften a short record) · how fast · how many
    /// failures in a row.
    fn weight(&self) -> f64 {
        let successes = self.counters.success_count as f64 + 2.0;
        let tried = successes + self.counters.failure_count as f64;
        let seconds = self.counters.avg_response_time_ms.unwrap_or(0.0).max(0.0) / 1000.0;
        let streak = f64::from(self.health.failures_in_a_row());
        successes / tried / (1.0 + seconds) / (1.0 + streak)
    }
}
