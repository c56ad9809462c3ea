//! `HostHealth`: how one proxy does at each host: its failures and blocks there, its benches there, and the hosts
//! that answer through it.
//!
//! Pure. In: outcomes by host, the time. Out: whether it is benched at a host, and how good a choice it is there.
//! It must not know whether the proxy is benched as a whole.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{BenchLimits, HostCooldown};

/// Maximum number of hosts that one proxy remembers; past it the one whose last event is the oldest is forgotten.
const MAX_HOSTS: usize = 256;

/// How long a failure at a host makes a proxy a worse choice for that host.
const FAILURE_FADE_TIME: Duration = Duration::from_secs(120);

/// How good a choice a proxy is right after a failure at the host, where 1 is good.
const WEIGHT_AFTER_FAILURE: f64 = 0.1;

#[derive(Clone, Debug, Default)]
pub struct HostHealth {
    /// Hosts where it failed or was blocked and has not succeeded since.
    failures: BTreeMap<String, HostFailures>,
    /// Hosts whose latest request through it was answered, and when that was sent.
    answering: BTreeMap<String, Instant>,
}

#[derive(Clone, Copy, Debug)]
struct HostFailures {
    blocks_in_a_row: u32,
    failures_in_a_row: u32,
    benches: u32,
    benched_until: Option<Instant>,
    /// Only requests that a crawl does without met them.
    is_best_effort: bool,
    /// Latest suspicion since the last success.
    last_suspicion: Option<Instant>,
    last: Instant,
}

impl HostHealth {
    /// Benches that the table has. One more block or failure after each is enough for the next.
    pub fn of(benches: &[HostCooldown], limits: &BenchLimits, now: Instant) -> HostHealth {
        let mut health = HostHealth::default();
        for HostCooldown { host, left, is_best_effort } in benches.iter().take(MAX_HOSTS) {
            let failures = health.failures_at(host, *is_best_effort, now);
            failures.blocks_in_a_row = limits.blocks_to_bench;
            failures.failures_in_a_row = limits.failures_to_bench;
            failures.benches = limits.benches_for(*left);
            failures.benched_until = Some(now + *left);
        }
        health
    }

    pub fn is_benched_at(&self, host: &str, now: Instant) -> bool {
        self.failures.get(host).and_then(|failures| failures.benched_until).is_some_and(|until| now < until)
    }

    /// Whether it is benched at some host of the crawl, with time left.
    pub fn is_benched(&self, now: Instant) -> bool {
        let of_the_crawl = self.failures.values().filter(|failures| !failures.is_best_effort);
        of_the_crawl.filter_map(|failures| failures.benched_until).any(|until| now < until)
    }

    /// Whether the failures at `host` concern only requests that a crawl does without.
    pub fn is_best_effort_at(&self, host: &str) -> bool {
        self.failures.get(host).is_some_and(|failures| failures.is_best_effort)
    }

    /// Whether the latest request to some host was answered.
    pub fn has_answers(&self) -> bool {
        !self.answering.is_empty()
    }

    /// Returns how good a choice it is for `host`, in (0, 1]: a failure counts for less and less as it fades.
    pub fn weight_at(&self, host: &str, now: Instant) -> f64 {
        let Some(failures) = self.failures.get(host) else { return 1.0 };
        let faded = now.saturating_duration_since(failures.last).as_secs_f64() / FAILURE_FADE_TIME.as_secs_f64();
        (WEIGHT_AFTER_FAILURE + (1.0 - WEIGHT_AFTER_FAILURE) * faded).min(1.0)
    }

    /// Whether an answer that was sent at `sent` is newer than the last failure at `host`.
    pub fn is_newer_than_failures(&self, host: &str, sent: Instant) -> bool {
        self.failures.get(host).is_none_or(|failures| failures.last <= sent)
    }

    /// One that was sent before the last failure does not end the bench at `host`.
    pub fn succeeded(&mut self, host: &str, sent: Instant) {
        if self.is_newer_than_failures(host, sent) {
            self.failures.remove(host);
        }
    }

    /// An answer, whatever it says.
    pub fn answered(&mut self, host: &str, sent: Instant) {
        if !self.is_newer_than_failures(host, sent) {
            return;
        }
        if self.answering.len() >= MAX_HOSTS && !self.answering.contains_key(host) {
            let oldest = self.answering.iter().min_by_key(|(_, at)| **at).map(|(host, _)| host.clone());
            oldest.and_then(|host| self.answering.remove(&host));
        }
        self.answering.insert(host.to_owned(), sent);
    }

    /// Notes that no answer came from `host`.
    pub fn silent(&mut self, host: &str, is_best_effort: bool, now: Instant) {
        self.answering.remove(host);
        self.failures_at(host, is_best_effort, now);
    }

    /// The proxy is out of use as a whole: no answer counts any more.
    pub fn forget_answers(&mut self) {
        self.answering.clear();
    }

    /// Notes that either the proxy or `host` failed. Gives the time of the previous such failure at `host` since the last
    /// success there.
    pub fn suspected(&mut self, host: &str, is_best_effort: bool, now: Instant) -> Option<Instant> {
        self.answering.remove(host);
        self.failures_at(host, is_best_effort, now).last_suspicion.replace(now)
    }

    /// A failure that says nothing of other hosts. Gives the end of the bench at `host` when it led to one.
    pub fn failed(&mut self, host: &str, is_best_effort: bool, limits: &BenchLimits, now: Instant) -> Option<Instant> {
        let failures = self.failures_at(host, is_best_effort, now);
        failures.failures_in_a_row = failures.failures_in_a_row.saturating_add(1);
        let is_enough = failures.failures_in_a_row >= limits.failures_to_bench;
        is_enough.then(|| failures.bench(limits, now)).flatten()
    }

    /// A block by `host`. Gives the end of the bench there when it led to one.
    pub fn blocked(&mut self, host: &str, is_best_effort: bool, limits: &BenchLimits, now: Instant) -> Option<Instant> {
        let failures = self.failures_at(host, is_best_effort, now);
        failures.blocks_in_a_row = failures.blocks_in_a_row.saturating_add(1);
        let is_enough = failures.blocks_in_a_row >= limits.blocks_to_bench;
        is_enough.then(|| failures.bench(limits, now)).flatten()
    }

    fn failures_at(&mut self, host: &str, is_best_effort: bool, now: Instant) -> &mut HostFailures {
        if self.failures.len() >= MAX_HOSTS && !self.failures.contains_key(host) {
            self.forget_the_oldest_failure();
        }
        let failures = self.failures.entry(host.to_owned()).or_insert(HostFailures {
            blocks_in_a_row: 0,
            failures_in_a_row: 0,
            benches: 0,
            benched_until: None,
            is_best_effort,
            last_suspicion: None,
            last: now,
        });
        failures.is_best_effort &= is_best_effort;
        failures.last = now;
        failures
    }

    fn forget_the_oldest_failure(&mut self) {
        let oldest = self.failures.iter().min_by_key(|(_, failures)| failures.last).map(|(host, _)| host.clone());
        if let Some(host) = oldest {
            self.failures.remove(&host);
        }
    }
}

impl HostFailures {
    /// Gives the end of a new bench. The streak continues after a bench, so one more failure is enough for the next.
    fn bench(&mut self, limits: &BenchLimits, now: Instant) -> Option<Instant> {
        if self.benched_until.is_some_and(|until| now < until) {
            return None;
        }
        self.benched_until = Some(now + limits.cooldown(self.benches));
        self.benches = self.benches.saturating_add(1);
        self.benched_until
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::proxy::health::tests::limits;

    const HOST: &str = "menu.test";
    const SECOND: Duration = Duration::from_secs(1);

    #[rstest]
    #[case::at_once(0, 0.1)]
    #[case::half_faded(60, 0.55)]
    #[case::faded(120, 1.0)]
    #[case::long_ago(600, 1.0)]
    fn a_failure_at_a_host_counts_for_less_and_less_there(#[case] seconds: u32, #[case] weight: f64) {
        let (start, mut health) = (Instant::now(), HostHealth::default());
        health.suspected(HOST, false, start);
        let later = start + seconds * SECOND;
        assert!((health.weight_at(HOST, later) - weight).abs() < 1e-9, "{}", health.weight_at(HOST, later));
        assert_eq!(health.weight_at("other.test", later), 1.0);
    }

    #[test]
    fn the_oldest_failure_is_forgotten_when_there_are_too_many() {
        let (start, mut health) = (Instant::now(), HostHealth::default());
        let host = |n: usize| format!("h{n}.test");
        for n in 0..MAX_HOSTS {
            health.suspected(&host(n), false, start + n as u32 * SECOND / 1000);
        }
        let now = start + SECOND;
        let remembers = |health: &HostHealth, n| health.weight_at(&host(n), now) < 1.0;
        health.suspected(&host(1), false, now);
        assert!((0..MAX_HOSTS).all(|n| remembers(&health, n)), "there is room for these");
        health.suspected(&host(MAX_HOSTS), false, now);
        assert!(!remembers(&health, 0) && remembers(&health, 1) && remembers(&health, MAX_HOSTS));
    }

    #[test]
    fn the_oldest_answer_is_forgotten_when_there_are_too_many() {
        let (start, mut health) = (Instant::now(), HostHealth::default());
        (0..2 * MAX_HOSTS).for_each(|n| health.answered(&format!("h{n}.test"), start + n as u32 * SECOND));
        assert_eq!(health.answering.len(), MAX_HOSTS);
        assert!(!health.answering.contains_key("h0.test"));
    }

    #[test]
    fn a_failure_ends_what_an_answer_said_of_its_host_alone() {
        let (start, mut health) = (Instant::now(), HostHealth::default());
        health.answered(HOST, start);
        health.silent("other.test", false, start + SECOND);
        assert!(health.has_answers());
        health.silent(HOST, false, start + SECOND);
        health.answered(HOST, start);
        assert!(!health.has_answers(), "that answer was sent before the failure");
        health.answered("other.test", start + 2 * SECOND);
        health.forget_answers();
        assert!(!health.has_answers());
    }

    #[test]
    fn one_failure_of_the_crawl_makes_a_bench_one_of_the_crawl() {
        let (now, mut health) = (Instant::now(), HostHealth::default());
        for _ in 0..5 {
            health.failed(HOST, true, &limits(), now);
        }
        assert_eq!((health.is_benched_at(HOST, now), health.is_benched(now)), (true, false));
        health.silent(HOST, false, now);
        assert!(health.is_benched(now) && !health.is_best_effort_at(HOST));
    }
}
