//! `ShownHealth`: a proxy's health in one word, the same in the API, on the command line, in the dashboard, in
//! the log and in metrics. `HealthCounts`: proxies by that word.
//!
//! Pure. In: the row, or what a process knows of the proxy. Out: the word. It must not know the time.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::VariantArray;
use utoipa::ToSchema;

use super::{Counters, RecentRequests, RequestEnd};
use crate::vocabulary::vocabulary;

/// This many bad ends one after another are trouble, however good it was before.
const STREAK: i64 = 3;

vocabulary! {
    /// A proxy's health as shown to users.
    pub enum ShownHealth {
        /// No request went through it yet.
        Untested,
        Healthy,
        /// Gets answers, but hosts refuse too many of its requests.
        Refused,
        /// Too many requests get no answer, whoever is to blame.
        Failing,
        /// Out of use, everywhere or at some hosts, until a time.
        Benched,
        /// Switched off by hand.
        Off,
    }
}

/// Facts that a proxy's health follows from.
#[derive(Clone, Copy, Debug, Default)]
pub struct HealthFacts {
    pub is_off: bool,
    /// Everywhere or at some host, with time left.
    pub is_benched: bool,
    /// Its bench everywhere is over, and no request has succeeded since.
    pub is_on_trial: bool,
    pub consecutive_403_count: i64,
    pub consecutive_failure_count: i64,
    pub recent: RecentRequests,
}

impl From<&Counters> for HealthFacts {
    fn from(counters: &Counters) -> Self {
        HealthFacts {
            consecutive_403_count: counters.consecutive_403_count,
            consecutive_failure_count: counters.consecutive_failure_count,
            recent: counters.recent,
            ..HealthFacts::default()
        }
    }
}

impl ShownHealth {
    pub fn of(facts: &HealthFacts) -> ShownHealth {
        match facts {
            HealthFacts { is_off: true, .. } => ShownHealth::Off,
            HealthFacts { is_benched: true, .. } => ShownHealth::Benched,
            HealthFacts { is_on_trial: true, .. } => ShownHealth::Failing,
            facts => ShownHealth::by_record(facts),
        }
    }

    fn by_record(facts: &HealthFacts) -> ShownHealth {
        if facts.consecutive_failure_count >= STREAK {
            return ShownHealth::Failing;
        }
        match facts.recent.trouble() {
            Some(RequestEnd::Failed) => ShownHealth::Failing,
            Some(_) => ShownHealth::Refused,
            None if facts.consecutive_403_count >= STREAK => ShownHealth::Refused,
            None if facts.recent.requests > 0.0 => ShownHealth::Healthy,
            None => ShownHealth::Untested,
        }
    }
}

/// Number of proxies by their health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthCounts {
    pub untested: usize,
    pub healthy: usize,
    pub refused: usize,
    pub failing: usize,
    pub benched: usize,
    pub off: usize,
}

impl HealthCounts {
    fn of(&self, health: ShownHealth) -> usize {
        match health {
            ShownHealth::Untested => self.untested,
            ShownHealth::Healthy => self.healthy,
            ShownHealth::Refused => self.refused,
            ShownHealth::Failing => self.failing,
            ShownHealth::Benched => self.benched,
            ShownHealth::Off => self.off,
        }
    }

    /// Every word with its number, also where that is zero.
    pub fn each(&self) -> impl Iterator<Item = (ShownHealth, usize)> {
        ShownHealth::VARIANTS.iter().map(|health| (*health, self.of(*health)))
    }

    pub fn total(&self) -> usize {
        self.each().map(|(_, count)| count).sum()
    }

    pub fn switched_on(&self) -> usize {
        self.total() - self.off
    }

    fn add(&mut self, health: ShownHealth) {
        let count = match health {
            ShownHealth::Untested => &mut self.untested,
            ShownHealth::Healthy => &mut self.healthy,
            ShownHealth::Refused => &mut self.refused,
            ShownHealth::Failing => &mut self.failing,
            ShownHealth::Benched => &mut self.benched,
            ShownHealth::Off => &mut self.off,
        };
        *count += 1;
    }
}

impl FromIterator<ShownHealth> for HealthCounts {
    fn from_iter<I: IntoIterator<Item = ShownHealth>>(all: I) -> Self {
        let mut counts = HealthCounts::default();
        all.into_iter().for_each(|health| counts.add(health));
        counts
    }
}

/// `3 healthy, 1 benched`: without the words that no proxy has.
impl fmt::Display for HealthCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let occurring = self.each().filter(|(_, count)| *count > 0);
        let parts: Vec<String> = occurring.map(|(health, count)| format!("{count} {health}")).collect();
        if parts.is_empty() { f.write_str("none") } else { f.write_str(&parts.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn recent(requests: f64, refused: f64, failed: f64) -> HealthFacts {
        HealthFacts { recent: RecentRequests { requests, refused, failed }, ..HealthFacts::default() }
    }

    #[rstest]
    #[case::never_asked(recent(0.0, 0.0, 0.0), ShownHealth::Untested)]
    #[case::answered(recent(1.0, 0.0, 0.0), ShownHealth::Healthy)]
    #[case::seven_of_eight_refused(recent(8.0, 7.0, 0.0), ShownHealth::Refused)]
    #[case::a_dead_one_after_its_first_request(recent(1.0, 0.0, 1.0), ShownHealth::Failing)]
    #[case::it_died_after_many_answers(HealthFacts { consecutive_failure_count: 3, ..recent(100.0, 0.0, 3.0) }, ShownHealth::Failing)]
    #[case::one_broken_connection(HealthFacts { consecutive_failure_count: 1, ..recent(100.0, 0.0, 1.0) }, ShownHealth::Healthy)]
    #[case::refused_of_late(HealthFacts { consecutive_403_count: 3, ..recent(100.0, 3.0, 0.0) }, ShownHealth::Refused)]
    fn a_proxy_in_use_is_judged_by_its_record(#[case] facts: HealthFacts, #[case] expected: ShownHealth) {
        assert_eq!(ShownHealth::of(&facts), expected);
    }

    #[rstest]
    #[case::off_is_stronger_than_a_bench(true, true, false, ShownHealth::Off)]
    #[case::a_bench_is_stronger_than_a_good_record(false, true, false, ShownHealth::Benched)]
    #[case::after_its_bench_it_has_proved_nothing(false, false, true, ShownHealth::Failing)]
    fn a_proxy_out_of_use_is_judged_by_the_reason(
        #[case] is_off: bool,
        #[case] is_benched: bool,
        #[case] is_on_trial: bool,
        #[case] expected: ShownHealth,
    ) {
        let facts = HealthFacts { is_off, is_benched, is_on_trial, ..recent(100.0, 0.0, 0.0) };
        assert_eq!(ShownHealth::of(&facts), expected);
    }

    #[test]
    fn counts_name_only_the_words_that_occur() {
        let counts = HealthCounts::from_iter([ShownHealth::Benched, ShownHealth::Healthy, ShownHealth::Healthy]);
        assert_eq!(counts.to_string(), "2 healthy, 1 benched");
        assert_eq!((counts.total(), HealthCounts::default().to_string()), (3, "none".to_owned()));
    }

    #[test]
    fn all_but_those_that_are_off_are_switched_on() {
        let counts = HealthCounts::from_iter([ShownHealth::Benched, ShownHealth::Off, ShownHealth::Healthy]);
        assert_eq!(counts.switched_on(), 2);
    }
}
