//! `Budget`: the bytes that proxies may carry in a day, each of them and all together, and their usage. Pure.
//!
//! In: today's usage in the table, this process's bytes since it was read, the time. Out: whether a proxy
//! rests, and which budgets have come to an end or near it. A proxy's day is that of its timezone; that of
//! all together is the day of UTC. It must not know requests, nor how midnight is found.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::ProxyId;

/// Share of a budget at which people are warned.
const WARNING_PERCENT: i64 = 80;
/// A process that has sent such a part of a budget shares it, and reads what others have sent: ten that send
/// at once exceed it by 1 %.
const UNSHARED_PART: i64 = 1_000;
/// How old a reading may be where little is sent.
const READ_EVERY: Duration = Duration::from_secs(60);

/// Bytes a day, sent and received; None = as many as there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Budget of each proxy.
    pub each: Option<i64>,
    pub in_all: Option<i64>,
}

/// Bytes of today that are written, of one proxy or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayUsage {
    pub bytes: i64,
    /// Time until the day ends, by the database's clock.
    pub left: Duration,
    /// The end itself. Compared only with that of an earlier reading, to see whether it is the same day.
    pub ends: DateTime<Utc>,
}

/// Bytes of today that all processes together have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageToday {
    pub by_proxy: BTreeMap<ProxyId, DayUsage>,
    pub in_all: DayUsage,
}

#[derive(Debug, Default)]
pub struct Budget {
    budgets: Budgets,
    by_proxy: BTreeMap<ProxyId, Spending>,
    in_all: Spending,
    last_reading: Option<Instant>,
    /// This process has sent enough since the last reading that the next one is due.
    has_unshared: bool,
}

/// Usage of one budget today.
#[derive(Debug, Default)]
struct Spending {
    /// Bytes of all processes, as last read.
    read: i64,
    /// Bytes of this process since then, before the reading that is under way or has failed.
    before_reading: i64,
    /// Bytes of this process since that reading began.
    since: i64,
    ends: Option<DateTime<Utc>>,
    ends_at: Option<Instant>,
    /// Level last reported today.
    told: Level,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    #[default]
    Enough,
    NearlySpent,
    Spent,
}

/// A budget that has come near its end, or to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedBudget {
    pub level: Level,
    pub bytes: i64,
    pub budget: i64,
    /// Time until the day ends.
    pub left: Duration,
}

impl Budgets {
    pub fn is_set(self) -> bool {
        self.each.is_some() || self.in_all.is_some()
    }

    /// The bytes that a proxy may still carry today; None without a budget.
    pub fn left(self, own: &DayUsage, in_all: &DayUsage) -> Option<i64> {
        let of_each = self.each.map(|budget| budget.saturating_sub(own.bytes));
        let of_all = self.in_all.map(|budget| budget.saturating_sub(in_all.bytes));
        of_each.into_iter().chain(of_all).min().map(|left| left.max(0))
    }

    /// Time when a proxy that rests may be used again.
    pub fn rests_until(self, own: &DayUsage, in_all: &DayUsage) -> Option<DateTime<Utc>> {
        let ends = |budget, usage: &DayUsage| is_spent(budget, usage.bytes).then_some(usage.ends);
        ends(self.each, own).max(ends(self.in_all, in_all))
    }
}

impl Budget {
    pub fn new(budgets: Budgets) -> Budget {
        Budget { budgets, ..Budget::default() }
    }

    pub fn is_set(&self) -> bool {
        self.budgets.is_set()
    }

    /// Takes over other budgets. The levels of a changed one are reported again.
    pub fn follow(&mut self, budgets: Budgets) {
        if budgets == self.budgets {
            return;
        }
        self.budgets = budgets;
        self.by_proxy.values_mut().chain([&mut self.in_all]).for_each(|spending| spending.told = Level::Enough);
    }

    /// Whether the table should be read now. Where it cannot be, it is tried again no sooner than for another
    /// reason.
    pub fn is_reading_due(&self, now: Instant) -> bool {
        let is_old = self.last_reading.is_none_or(|last| now.saturating_duration_since(last) >= READ_EVERY);
        self.budgets.is_set() && (is_old || self.has_unshared)
    }

    /// Counts up to now will be in the table when it is read.
    pub fn begin_reading(&mut self, now: Instant) {
        self.last_reading = Some(now);
        self.has_unshared = false;
        self.by_proxy.values_mut().chain([&mut self.in_all]).for_each(Spending::begin_reading);
    }

    /// Follows the table.
    pub fn load(&mut self, usage: &UsageToday, now: Instant) {
        self.by_proxy.retain(|id, _| usage.by_proxy.contains_key(id));
        for (id, day) in &usage.by_proxy {
            self.by_proxy.entry(*id).or_default().adopt(day, now);
        }
        self.in_all.adopt(&usage.in_all, now);
    }

    /// Counts this process's bytes through a proxy of the table.
    pub fn count(&mut self, id: ProxyId, bytes: i64) {
        if !self.budgets.is_set() {
            return;
        }
        let of_each = self.by_proxy.entry(id).or_default().count(bytes, self.budgets.each);
        let of_all = self.in_all.count(bytes, self.budgets.in_all);
        self.has_unshared |= of_each || of_all;
    }

    /// Begins a new day where the old one has ended.
    pub fn tick(&mut self, now: Instant) {
        self.by_proxy.values_mut().chain([&mut self.in_all]).for_each(|spending| spending.tick(now));
    }

    pub fn rests(&self, id: ProxyId) -> bool {
        let is_own_spent = self.by_proxy.get(&id).is_some_and(|own| is_spent(self.budgets.each, own.bytes()));
        is_own_spent || is_spent(self.budgets.in_all, self.in_all.bytes())
    }

    /// How long a proxy that rests does so.
    pub fn rest_left(&self, id: ProxyId, now: Instant) -> Option<Duration> {
        let left = |budget, spending: &Spending| is_spent(budget, spending.bytes()).then(|| spending.left(now));
        let own = self.by_proxy.get(&id).and_then(|own| left(self.budgets.each, own));
        own.max(left(self.budgets.in_all, &self.in_all))
    }

    /// The level that a proxy's usage has reached; each level is returned once a day.
    pub fn reached(&mut self, id: ProxyId, now: Instant) -> Option<ReachedBudget> {
        let budget = self.budgets.each?;
        self.by_proxy.get_mut(&id)?.reached(budget, now)
    }

    /// The same of all proxies together.
    pub fn reached_in_all(&mut self, now: Instant) -> Option<ReachedBudget> {
        self.in_all.reached(self.budgets.in_all?, now)
    }
}

impl Spending {
    fn bytes(&self) -> i64 {
        self.read.saturating_add(self.before_reading).saturating_add(self.since)
    }

    /// Whether enough is unshared that it must be shared.
    fn count(&mut self, bytes: i64, budget: Option<i64>) -> bool {
        self.since = self.since.saturating_add(bytes.max(0));
        budget.is_some_and(|budget| self.since >= (budget / UNSHARED_PART).max(1))
    }

    fn begin_reading(&mut self) {
        self.before_reading = self.before_reading.saturating_add(self.since);
        self.since = 0;
    }

    fn adopt(&mut self, day: &DayUsage, now: Instant) {
        if self.ends.replace(day.ends) != Some(day.ends) {
            self.told = Level::Enough;
        }
        self.ends_at = Some(now + day.left);
        (self.read, self.before_reading) = (day.bytes, 0);
    }

    fn tick(&mut self, now: Instant) {
        if self.ends_at.is_some_and(|ends| ends <= now) {
            *self = Spending::default();
        }
    }

    fn left(&self, now: Instant) -> Duration {
        self.ends_at.map_or(Duration::ZERO, |ends| ends.saturating_duration_since(now))
    }

    fn reached(&mut self, budget: i64, now: Instant) -> Option<ReachedBudget> {
        let (level, bytes) = (level(budget, self.bytes()), self.bytes());
        if level <= self.told {
            return None;
        }
        self.told = level;
        Some(ReachedBudget { level, bytes, budget, left: self.left(now) })
    }
}

fn is_spent(budget: Option<i64>, bytes: i64) -> bool {
    budget.is_some_and(|budget| level(budget, bytes) == Level::Spent)
}

fn level(budget: i64, bytes: i64) -> Level {
    if bytes >= budget {
        return Level::Spent;
    }
    // divided first: a product could be too large
    match bytes >= budget / 100 * WARNING_PERCENT {
        true => Level::NearlySpent,
        false => Level::Enough,
    }
}
