//! `Health`: whether one proxy may be used now, and at which host. Pure.
//!
//! Active → (failures in a row, or one that needs no counting) → benched for base · 2^n → on trial: of the
//! requests sent from then on, the first answer makes it active, and the first failure benches it for longer,
//! or for the rest of the bench where the trial came early. A block is the host's decision and not the
//! proxy's fault: it benches the proxy at that host only, and so do failures at a host while another host
//! answers through it, or of requests that a crawl does without. In: outcomes, the row, the time. Out: a
//! condition, a decision to bench. It must not know other proxies.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::host_health::HostHealth;
use super::{HostCooldown, StoredState};
use crate::retry;

/// The numbers of `[proxies]` that the rules need.
#[derive(Clone, Debug)]
pub struct BenchLimits {
    /// Maximum leases of one proxy at a time, in this process: `proxies.sessions`.
    pub max_leases: usize,
    pub bench_base: Duration,
    pub bench_cap: Duration,
    pub failures_to_bench: u32,
    pub blocks_to_bench: u32,
    /// Time between early trials while no proxy is active, and between sessions of the last active one while it fails.
    pub revive_every: Duration,
}

impl BenchLimits {
    /// The n-th bench in a row (from 0).
    pub fn cooldown(&self, benches: u32) -> Duration {
        retry::doubling(self.bench_base, self.bench_cap, benches)
    }

    /// The number of benches in a row that would give a cooldown of at least `left`: an estimate of another
    /// process's count.
    pub(super) fn benches_for(&self, left: Duration) -> u32 {
        (0..31).find(|n| self.cooldown(*n) >= left.min(self.bench_cap)).unwrap_or(31) + 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Active,
    /// Its bench is over: one lease at a time, and one failure benches it again.
    OnTrial,
    Benched {
        since: Instant,
        until: Instant,
    },
    Off,
}

/// A failure that is certainly the proxy's own.
#[derive(Clone, Copy)]
pub struct ProxyFailure<'a> {
    pub host: &'a str,
    pub reason: &'a str,
    pub at_once: bool,
    /// Time when its request was sent.
    pub sent: Instant,
    /// Whether the failure says nothing of the proxy at other hosts, unless it is one `at_once`.
    pub is_best_effort: bool,
}

/// The consequence of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchDecision {
    None,
    Bench,
    /// Bench it, or [`Health::pause`] it when no other proxy is active.
    BenchUnlessLast,
    /// Benched at the host until then.
    BenchedAtHost(Instant),
}

#[derive(Clone, Debug)]
pub struct Health {
    condition: Condition,
    failures_in_a_row: u32,
    /// Number of benches since the last success.
    benches: u32,
    /// Begin of the trial: only requests sent since then decide it.
    trial_since: Option<Instant>,
    /// The end of the cooldown that the trial interrupts. A failure puts it back on the bench until then.
    interrupted: Option<Instant>,
    /// The only active proxy has failed too often: no new lease before this.
    paused_until: Option<Instant>,
    hosts: HostHealth,
    /// The end of the cooldown that the table showed last.
    seen_cooldown: Option<DateTime<Utc>>,
}

impl Health {
    /// The health of a proxy that this process sees for the first time. Benches at hosts hold across a restart.
    pub fn of(stored: StoredState, host_benches: &[HostCooldown], limits: &BenchLimits, now: Instant) -> Self {
        let mut health = Health::new(Condition::Active);
        health.adopt(stored, limits, now);
        health.hosts = HostHealth::of(host_benches, limits, now);
        health
    }

    fn new(condition: Condition) -> Self {
        Health {
            condition,
            failures_in_a_row: 0,
            benches: 0,
            trial_since: None,
            interrupted: None,
            paused_until: None,
            hosts: HostHealth::default(),
            seen_cooldown: None,
        }
    }

    pub fn condition(&self) -> Condition {
        self.condition
    }

    pub fn failures_in_a_row(&self) -> u32 {
        self.failures_in_a_row
    }

    pub fn is_usable(&self) -> bool {
        matches!(self.condition, Condition::Active | Condition::OnTrial)
    }

    /// Usable, not benched at `host`, and not paused.
    pub fn serves(&self, host: &str, now: Instant) -> bool {
        self.is_usable() && !self.hosts.is_benched_at(host, now) && self.paused_until.is_none_or(|until| until <= now)
    }

    pub fn hosts(&self) -> &HostHealth {
        &self.hosts
    }

    /// Out of use with time left, everywhere or at some host of the crawl; an early trial leaves the bench as it
    /// is.
    pub fn is_benched(&self, now: Instant) -> bool {
        let everywhere = match self.condition {
            Condition::Benched { until, .. } => Some(until),
            Condition::OnTrial => self.interrupted,
            Condition::Active | Condition::Off => None,
        };
        everywhere.is_some_and(|until| now < until) || self.hosts.is_benched(now)
    }

    /// Benched everywhere, and no request has succeeded since.
    pub fn is_unproven(&self) -> bool {
        matches!(self.condition, Condition::OnTrial | Condition::Benched { .. })
    }

    /// How many leases may be open at once.
    pub fn max_leases(&self, limits: &BenchLimits) -> usize {
        match self.condition {
            Condition::Active if self.paused_until.is_none() => limits.max_leases,
            Condition::Active | Condition::OnTrial => limits.max_leases.min(1),
            Condition::Benched { .. } | Condition::Off => 0,
        }
    }

    /// Whether this success ended a trial. One that was sent before the proxy was benched does not end the
    /// bench, neither everywhere nor at `host`.
    pub fn succeeded(&mut self, host: &str, sent: Instant) -> bool {
        self.hosts.succeeded(host, sent);
        self.failures_in_a_row = 0;
        self.paused_until = None;
        let revived = self.answered(host, sent);
        if self.condition == Condition::Active {
            self.benches = 0;
        }
        revived
    }

    /// Whether this answer of `host`, whatever it says, ended a trial: the proxy brings answers.
    pub fn answered(&mut self, host: &str, sent: Instant) -> bool {
        self.hosts.answered(host, sent);
        let revived = self.condition == Condition::OnTrial && self.is_of_the_trial(sent);
        if revived {
            self.condition = Condition::Active;
        }
        revived
    }

    /// A failure of the proxy itself in a request `sent` then; `at_once`: one is enough to bench it.
    pub fn failed(&mut self, failure: ProxyFailure<'_>, limits: &BenchLimits, now: Instant) -> BenchDecision {
        let ProxyFailure { host, at_once, sent, is_best_effort, .. } = failure;
        self.hosts.silent(host, is_best_effort, now);
        let is_of_the_host = self.condition == Condition::Active && (is_best_effort || self.hosts.has_answers());
        if is_of_the_host && !at_once {
            let benched = self.hosts.failed(host, is_best_effort, limits, now);
            return benched.map_or(BenchDecision::None, BenchDecision::BenchedAtHost);
        }
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        match self.condition {
            Condition::Benched { .. } | Condition::Off => BenchDecision::None,
            Condition::OnTrial if !self.is_of_the_trial(sent) => BenchDecision::None,
            Condition::OnTrial => BenchDecision::Bench,
            Condition::Active if at_once => BenchDecision::Bench,
            Condition::Active if self.failures_in_a_row < limits.failures_to_bench => BenchDecision::None,
            Condition::Active => BenchDecision::BenchUnlessLast,
        }
    }

    /// Notes that either the proxy or `host` failed. Gives the time of the previous such failure at `host` since the last
    /// success there.
    pub fn suspected(&mut self, host: &str, is_best_effort: bool, now: Instant) -> Option<Instant> {
        self.hosts.suspected(host, is_best_effort, now)
    }

    /// A block by `host`. Gives the end of the bench at that host when this block led to one.
    pub fn blocked(&mut self, host: &str, is_best_effort: bool, limits: &BenchLimits, now: Instant) -> Option<Instant> {
        self.hosts.blocked(host, is_best_effort, limits, now)
    }

    /// Gives the end of the bench.
    pub fn bench(&mut self, limits: &BenchLimits, now: Instant) -> Instant {
        let until = now + limits.cooldown(self.benches);
        self.benches = self.benches.saturating_add(1);
        self.condition = Condition::Benched { since: now, until };
        self.hosts.forget_answers();
        self.paused_until = None;
        self.seen_cooldown = None;
        until
    }

    /// The only active proxy fails: until it succeeds it has one lease at a time, with a pause between them.
    pub fn pause(&mut self, limits: &BenchLimits, now: Instant) {
        self.paused_until = Some(now + limits.revive_every);
    }

    /// The next request decides, also where the cooldown is not over yet.
    pub fn start_trial(&mut self, now: Instant) {
        if let Condition::Benched { until, .. } = self.condition {
            self.condition = Condition::OnTrial;
            self.trial_since = Some(now);
            self.interrupted = Some(until);
        }
    }

    /// Puts it back on the bench that its trial interrupted, and gives its end; none if that is over by
    /// now. An early trial that fails has cost one request, and says no more than was known.
    pub fn resume_bench(&mut self, now: Instant) -> Option<Instant> {
        let until = self.interrupted.take().filter(|until| *until > now)?;
        self.condition = Condition::Benched { since: now, until };
        Some(until)
    }

    /// Whether it is on trial since `earliest` or later.
    pub fn began_trial_since(&self, earliest: Instant) -> bool {
        self.condition == Condition::OnTrial && self.trial_since.is_some_and(|since| since >= earliest)
    }

    fn is_of_the_trial(&self, sent: Instant) -> bool {
        self.trial_since.is_none_or(|since| since <= sent)
    }

    /// Follows the table, which holds the decisions of the operator and of the other processes.
    pub fn adopt(&mut self, stored: StoredState, limits: &BenchLimits, now: Instant) {
        match (stored, self.condition) {
            (StoredState::Off, _) => self.reset_to(Condition::Off),
            (StoredState::Active, Condition::Active) => {}
            (StoredState::Active, Condition::Off) => self.reset_to(Condition::Active),
            // hosts that block it do so whatever another process has found out
            (StoredState::Active, _) => {
                let hosts = std::mem::take(&mut self.hosts);
                self.reset_to(Condition::Active);
                self.hosts = hosts;
            }
            (StoredState::Benched { cooldown_until, .. }, Condition::OnTrial)
                if self.seen_cooldown.is_none_or(|seen| seen == cooldown_until) =>
            {
                self.seen_cooldown = Some(cooldown_until);
            }
            (StoredState::Benched { left, cooldown_until }, before) => {
                let since = match before {
                    Condition::Benched { since, .. } => since,
                    _ => now,
                };
                self.condition = Condition::Benched { since, until: now + left };
                self.benches = self.benches.max(limits.benches_for(left));
                self.seen_cooldown = Some(cooldown_until);
            }
        }
    }

    fn reset_to(&mut self, condition: Condition) {
        *self = Health::new(condition);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const HOST: &str = "menu.test";
    const SECOND: Duration = Duration::from_secs(1);

    /// Limits that the tests of the pool use.
    pub fn limits() -> BenchLimits {
        BenchLimits {
            max_leases: 4,
            bench_base: 30 * SECOND,
            bench_cap: 1800 * SECOND,
            failures_to_bench: 5,
            blocks_to_bench: 3,
            revive_every: 10 * SECOND,
        }
    }

    fn failure(sent: Instant) -> ProxyFailure<'static> {
        ProxyFailure { host: HOST, reason: "reset", at_once: false, sent, is_best_effort: false }
    }

    /// Benched at `start` + 1 s, on trial since `start` + 31 s.
    fn on_trial(start: Instant) -> Health {
        let mut health = Health::of(StoredState::Active, &[], &limits(), start);
        health.bench(&limits(), start + SECOND);
        health.start_trial(start + 31 * SECOND);
        health
    }

    #[test]
    fn what_was_sent_before_the_bench_decides_no_trial() {
        let start = Instant::now();
        let mut health = on_trial(start);
        let later = start + 60 * SECOND;
        assert!(!health.succeeded(HOST, start) && !health.answered(HOST, start));
        assert_eq!(health.failed(failure(start), &limits(), later), BenchDecision::None);
        assert_eq!(health.condition(), Condition::OnTrial);
        assert_eq!(health.failed(failure(start + 31 * SECOND), &limits(), later), BenchDecision::Bench);
    }

    #[test]
    fn any_answer_to_a_request_of_the_trial_ends_it() {
        let start = Instant::now();
        let mut health = on_trial(start);
        assert!(health.answered(HOST, start + 32 * SECOND));
        assert_eq!(health.condition(), Condition::Active);
        assert!(!health.answered(HOST, start + 33 * SECOND), "once");
    }

    #[test]
    fn a_bench_at_a_host_outlives_a_bench_everywhere_but_not_the_operators_hand() {
        let start = Instant::now();
        let mut health = Health::of(StoredState::Active, &[], &limits(), start);
        for _ in 0..3 {
            health.blocked(HOST, false, &limits(), start);
        }
        health.bench(&limits(), start);
        health.adopt(StoredState::Active, &limits(), start + SECOND);
        assert!(health.is_usable() && health.hosts().is_benched_at(HOST, start + SECOND));
        health.adopt(StoredState::Off, &limits(), start + SECOND);
        health.adopt(StoredState::Active, &limits(), start + SECOND);
        assert!(!health.hosts().is_benched_at(HOST, start + SECOND));
    }

    #[test]
    fn failures_in_a_row_are_counted_until_a_success() {
        let start = Instant::now();
        let mut health = Health::of(StoredState::Active, &[], &limits(), start);
        for _ in 0..2 {
            health.failed(failure(start), &limits(), start);
        }
        assert_eq!(health.failures_in_a_row(), 2);
        health.succeeded(HOST, start);
        assert_eq!(health.failures_in_a_row(), 0);
    }

    #[test]
    fn a_proxy_has_one_lease_while_it_must_prove_itself_and_none_out_of_use() {
        let start = Instant::now();
        let active = Health::of(StoredState::Active, &[], &limits(), start);
        let mut paused = active.clone();
        paused.pause(&limits(), start);
        let mut benched = active.clone();
        benched.bench(&limits(), start);
        let off = Health::of(StoredState::Off, &[], &limits(), start);
        let leases = [active, paused, on_trial(start), benched, off].map(|health| health.max_leases(&limits()));
        assert_eq!(leases, [4, 1, 1, 0, 0]);
    }

    #[test]
    fn the_beginning_of_a_trial_is_known_while_it_lasts() {
        let start = Instant::now();
        let mut health = on_trial(start);
        let since = |health: &Health| [30, 31, 32].map(|second| health.began_trial_since(start + second * SECOND));
        assert_eq!(since(&health), [true, true, false]);
        health.answered(HOST, start + 31 * SECOND);
        assert_eq!(since(&health), [false; 3]);
    }

    #[test]
    fn a_bench_that_is_read_again_goes_on_since_its_beginning() {
        let start = Instant::now();
        let stored = |left| StoredState::Benched { left: left * SECOND, cooldown_until: DateTime::UNIX_EPOCH };
        let mut health = Health::of(stored(30), &[], &limits(), start);
        health.adopt(stored(25), &limits(), start + 5 * SECOND);
        assert_eq!(health.condition(), Condition::Benched { since: start, until: start + 30 * SECOND });
        assert_eq!([29, 30].map(|second| health.is_benched(start + second * SECOND)), [true, false]);
    }
}
