//! `Notice`: a message to the operator about a proxy. `AlarmLimit`: how often an alarm may repeat.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Proxy;

/// The same alarm is given once in this time.
const ALARM_EVERY: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    Benched {
        proxy: Arc<Proxy>,
        cooldown: Duration,
        reason: String,
    },
    /// An early trial failed: the proxy stays on the bench.
    StillFails {
        proxy: Arc<Proxy>,
        left: Duration,
        reason: String,
    },
    BenchedAtHost {
        proxy: Arc<Proxy>,
        host: String,
        cooldown: Duration,
        reason: String,
    },
    /// An alarm: it should be benched, but it is the only active one, so it is used seldom.
    LastActiveFailing {
        proxy: Arc<Proxy>,
        reason: String,
    },
    /// An alarm: `host` has blocked every proxy, so nothing is sent to it until a bench there ends.
    HostRefusesAll {
        host: String,
    },
    /// A warning: little is left of the proxy's budget today; without a proxy, all of them together.
    BudgetNearlySpent {
        proxy: Option<Arc<Proxy>>,
        bytes: i64,
        budget: i64,
    },
    /// The proxy rests until its day ends; without a proxy, all of them rest.
    BudgetSpent {
        proxy: Option<Arc<Proxy>>,
        budget: i64,
        left: Duration,
    },
    OnTrial {
        proxy: Arc<Proxy>,
    },
    Revived {
        proxy: Arc<Proxy>,
    },
}

/// Remembers which alarms were given lately.
#[derive(Debug, Default)]
pub(super) struct AlarmLimit(BTreeMap<String, Instant>);

impl AlarmLimit {
    /// Whether the alarm about `subject` may be given now.
    pub fn allows(&mut self, subject: &str, now: Instant) -> bool {
        self.0.retain(|_, given| now.saturating_duration_since(*given) < ALARM_EVERY);
        let is_due = !self.0.contains_key(subject);
        if is_due {
            self.0.insert(subject.to_owned(), now);
        }
        is_due
    }
}
