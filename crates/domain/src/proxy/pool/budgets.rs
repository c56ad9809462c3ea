//! The pool and the budgets of its proxies: counts, resting proxies, and notices for the operator.
//!
//! In: bytes that were sent and received, and today's usage in the table. Out: [`Notice`]s, each once a day.
//! The rules are [`budget`](crate::proxy::budget).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::proxy::budget::{Budget, Budgets, Level, ReachedBudget, UsageToday};
use crate::proxy::{BenchLimits, Notice, Pool, Proxy, ProxyId};

impl Pool {
    pub fn with_budgets(mut self, budgets: Budgets) -> Pool {
        self.budget = Budget::new(budgets);
        self
    }

    /// Takes over other limits and budgets; what was observed and counted stays.
    pub fn follow(&mut self, limits: BenchLimits, budgets: Budgets) {
        self.limits = limits;
        self.budget.follow(budgets);
    }

    /// How long a proxy without budget still rests; None if it has some left.
    pub fn rest_left(&self, id: ProxyId, now: Instant) -> Option<Duration> {
        self.budget.rest_left(id, now)
    }

    pub fn has_budgets(&self) -> bool {
        self.budget.is_set()
    }

    /// Whether the usage of all processes today should be read.
    pub fn is_usage_due(&self, now: Instant) -> bool {
        self.budget.is_reading_due(now)
    }

    /// Counts up to now are written before the usage is read.
    pub fn begin_reading_usage(&mut self, now: Instant) {
        self.budget.begin_reading(now);
    }

    pub fn load_usage(&mut self, usage: &UsageToday, now: Instant) -> Vec<Notice> {
        self.budget.load(usage, now);
        let ids: Vec<ProxyId> = self.members.keys().copied().collect();
        self.budget_notices(&ids, now)
    }

    /// Counts the bytes of a request through a proxy.
    pub fn count_bytes(&mut self, id: ProxyId, bytes: i64, now: Instant) -> Vec<Notice> {
        if !self.members.contains_key(&id) {
            return Vec::new();
        }
        self.budget.count(id, bytes);
        self.budget_notices(&[id], now)
    }

    /// Notices about these proxies, and about all together.
    fn budget_notices(&mut self, ids: &[ProxyId], now: Instant) -> Vec<Notice> {
        let mut notices = Vec::new();
        for id in ids {
            let (member, reached) = (self.members.get(id), self.budget.reached(*id, now));
            if let (Some(member), Some(reached)) = (member, reached) {
                notices.push(notice(Some(Arc::clone(&member.proxy)), reached));
            }
        }
        notices.extend(self.budget.reached_in_all(now).map(|reached| notice(None, reached)));
        notices
    }
}

/// Makes the notice of a proxy's budget, or without a proxy that of all together.
fn notice(proxy: Option<Arc<Proxy>>, reached: ReachedBudget) -> Notice {
    let ReachedBudget { level, bytes, budget, left } = reached;
    match level {
        Level::Spent => Notice::BudgetSpent { proxy, budget, left },
        Level::NearlySpent | Level::Enough => Notice::BudgetNearlySpent { proxy, bytes, budget },
    }
}
