//! `Health`: whether one proxy may be used now, and at which host. Pure; every number is configuration.
//!
//! Active → (failures in a row, or one that needs no counting) → benched for base · 2^n → on trial: the next real request is
//! the probe → active, or benched for longer. A block is the host's word, not the hop's: it benches the proxy at that host only.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::Stored;

/// Hosts in whose bad books one proxy can be; past it the longest undisturbed is forgotten.
const MAX_HOSTS: usize = 256;

/// The numbers of `[proxies]` that the rules need.
#[derive(Clone, Debug)]
pub struct Limits {
    pub sessions: usize,
    pub bench_base: Duration,
    pub bench_cap: Duration,
    pub failures_to_bench: u32,
    pub blocks_to_bench: u32,
    pub revive_every: Duration,
}

impl Limits {
    /// The n-th bench in a row (from 0).
    pub fn cooldown(&self, benches: u32) -> Duration {
        self.bench_base.saturating_mul(2u32.saturating_pow(benches)).min(self.bench_cap)
    }

    /// How many benches a cooldown of which `left` is left speaks of, for a process that did not see them.
    fn benches_behind(&self, left: Duration) -> u32 {
        (0..31).find(|n| self.cooldown(*n) >= left.min(self.bench_cap)).unwrap_or(31) + 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Active,
    /// Benched until lately: one session at a time, and one failure benches it again.
    OnTrial,
    Benched {
        since: Instant,
        until: Instant,
    },
    Off,
}

/// What a failure or block led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Noted,
    Benched {
        until: Instant,
    },
    BenchedAtHost {
        until: Instant,
    },
    /// It would be benched, were there another one: somebody must be told.
    Spared,
}

#[derive(Clone, Debug)]
pub struct Health {
    condition: Condition,
    failures_in_a_row: u32,
    /// Since the last success.
    benches: u32,
    /// Hosts where it failed or was blocked and has not succeeded since.
    hosts: BTreeMap<String, Trouble>,
    /// The cooldown that the table showed last.
    mark: Option<DateTime<Utc>>,
}

#[derive(Clone, Copy, Debug)]
struct Trouble {
    blocks_in_a_row: u32,
    benches: u32,
    benched_until: Option<Instant>,
    last: Instant,
}

impl Health {
    /// The health of a proxy that this process sees for the first time.
    pub fn of(stored: Stored, limits: &Limits, now: Instant) -> Self {
        let mut health = Health {
            condition: Condition::Active,
            failures_in_a_row: 0,
            benches: 0,
            hosts: BTreeMap::new(),
            mark: None,
        };
        health.adopt(stored, limits, now);
        health
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

    /// Usable, and not benched at `host`.
    pub fn serves(&self, host: &str, now: Instant) -> bool {
        let benched_there =
            self.hosts.get(host).and_then(|trouble| trouble.benched_until).is_some_and(|until| now < until);
        self.is_usable() && !benched_there
    }

    pub fn is_troubled_at(&self, host: &str) -> bool {
        self.hosts.contains_key(host)
    }

    /// How many sessions may be open at once.
    pub fn sessions(&self, limits: &Limits) -> usize {
        match self.condition {
            Condition::Active => limits.sessions,
            Condition::OnTrial => limits.sessions.min(1),
            Condition::Benched { .. } | Condition::Off => 0,
        }
    }

    /// Whether a success that was sent at `sent` says something newer about `host` than the last trouble there.
    pub fn is_news(&self, host: &str, sent: Instant) -> bool {
        self.hosts.get(host).is_none_or(|trouble| trouble.last <= sent)
    }

    /// Whether this success ended a trial. One that was under way when the proxy was benched does not bring it back, neither
    /// everywhere nor at `host`.
    pub fn succeeded(&mut self, host: &str, sent: Instant) -> bool {
        if self.is_news(host, sent) {
            self.hosts.remove(host);
        }
        self.failures_in_a_row = 0;
        let revived = self.condition == Condition::OnTrial;
        if revived {
            self.condition = Condition::Active;
        }
        if self.condition == Condition::Active {
            self.benches = 0;
        }
        revived
    }

    /// A failure of the hop. `alone`: no other proxy is active.
    pub fn failed(&mut self, host: &str, at_once: bool, alone: bool, limits: &Limits, now: Instant) -> Verdict {
        self.trouble_at(host, now);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        let streak_is_over = self.failures_in_a_row >= limits.failures_to_bench;
        match self.condition {
            Condition::Benched { .. } | Condition::Off => Verdict::Noted,
            Condition::OnTrial => self.bench(limits, now),
            Condition::Active if at_once => self.bench(limits, now),
            Condition::Active if !streak_is_over => Verdict::Noted,
            Condition::Active if alone => self.spare(self.failures_in_a_row, limits.failures_to_bench),
            Condition::Active => self.bench(limits, now),
        }
    }

    /// A block by `host`. `alone`: no other proxy serves that host.
    pub fn blocked(&mut self, host: &str, alone: bool, limits: &Limits, now: Instant) -> Verdict {
        let trouble = self.trouble_at(host, now);
        trouble.blocks_in_a_row = trouble.blocks_in_a_row.saturating_add(1);
        let blocks = trouble.blocks_in_a_row;
        // after a bench one more block is enough: what was benched for three is not owed three again
        if blocks < limits.blocks_to_bench || trouble.benched_until.is_some_and(|until| now < until) {
            return Verdict::Noted;
        }
        if alone {
            return self.spare(blocks, limits.blocks_to_bench);
        }
        let until = now + limits.cooldown(trouble.benches);
        trouble.benches = trouble.benches.saturating_add(1);
        trouble.benched_until = Some(until);
        Verdict::BenchedAtHost { until }
    }

    /// The cooldown is over, or nothing better is left: the next request decides.
    pub fn try_again(&mut self) {
        if matches!(self.condition, Condition::Benched { .. }) {
            self.condition = Condition::OnTrial;
        }
    }

    /// Follows the table, which speaks for the operator and for the other processes.
    pub fn adopt(&mut self, stored: Stored, limits: &Limits, now: Instant) {
        match (stored, self.condition) {
            (Stored::Off, _) => self.reset_to(Condition::Off),
            (Stored::Active, Condition::Active) => {}
            (Stored::Active, _) => self.reset_to(Condition::Active),
            (Stored::Benched { mark, .. }, Condition::OnTrial) if self.mark.is_none_or(|known| known == mark) => {
                self.mark = Some(mark);
            }
            (Stored::Benched { left, mark }, before) => {
                let since = match before {
                    Condition::Benched { since, .. } => since,
                    _ => now,
                };
                self.condition = Condition::Benched { since, until: now + left };
                self.benches = self.benches.max(limits.benches_behind(left));
                self.mark = Some(mark);
            }
        }
    }

    fn bench(&mut self, limits: &Limits, now: Instant) -> Verdict {
        let until = now + limits.cooldown(self.benches);
        self.benches = self.benches.saturating_add(1);
        self.condition = Condition::Benched { since: now, until };
        self.mark = None;
        Verdict::Benched { until }
    }

    /// Tells once for each full streak, not for every failure after it.
    fn spare(&self, in_a_row: u32, threshold: u32) -> Verdict {
        if in_a_row.is_multiple_of(threshold.max(1)) { Verdict::Spared } else { Verdict::Noted }
    }

    fn reset_to(&mut self, condition: Condition) {
        *self = Health { condition, failures_in_a_row: 0, benches: 0, hosts: BTreeMap::new(), mark: None };
    }

    fn trouble_at(&mut self, host: &str, now: Instant) -> &mut Trouble {
        if self.hosts.len() >= MAX_HOSTS && !self.hosts.contains_key(host) {
            self.forget_the_oldest_trouble();
        }
        let trouble = self.hosts.entry(host.to_owned()).or_insert(Trouble {
            blocks_in_a_row: 0,
            benches: 0,
            benched_until: None,
            last: now,
        });
        trouble.last = now;
        trouble
    }

    fn forget_the_oldest_trouble(&mut self) {
        let oldest = self.hosts.iter().min_by_key(|(_, trouble)| trouble.last).map(|(host, _)| host.clone());
        if let Some(host) = oldest {
            self.hosts.remove(&host);
        }
    }
}
