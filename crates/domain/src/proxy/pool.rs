//! `Pool`: the proxies of one process: chooses the next proxy of a session, and judges its outcome.
//!
//! A pure state machine. In: the rows of the table, asks, outcomes, the time. Out: a proxy, notices for the
//! operator ([`Notice`]), and counts to write to the table ([`CounterDelta`]). Open leases are counted here;
//! the sessions that hold them end them.

mod budgets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::budget::Budget;
use super::early_trials::EarlyTrials;
use super::health::{BenchDecision, BenchLimits, Condition, ProxyFailure};
use super::last_successes::LastSuccesses;
use super::notice::{AlarmLimit, Notice};
use super::outage::Outages;
use super::{CounterDelta, HealthCounts, PooledProxy, Proxy, ProxyAsk, ProxyId, ProxyOutcome, ProxyReport, ProxyRow};

/// How many proxies may be used now, and how they all are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PoolState {
    /// Includes proxies on trial and proxies benched at single hosts, but none that rests because its budget is spent.
    pub usable: usize,
    #[serde(flatten)]
    pub health: HealthCounts,
}

pub struct Pool {
    limits: BenchLimits,
    members: BTreeMap<ProxyId, PooledProxy>,
    /// Members of the pool before a restart; they are members again once the table has them.
    remembered: BTreeMap<ProxyId, PooledProxy>,
    last_successes: LastSuccesses,
    alarms: AlarmLimit,
    early_trials: EarlyTrials,
    outages: Outages,
    budget: Budget,
}

impl Pool {
    pub fn new(limits: BenchLimits) -> Self {
        Pool {
            limits,
            members: BTreeMap::new(),
            remembered: BTreeMap::new(),
            last_successes: LastSuccesses::default(),
            alarms: AlarmLimit::default(),
            early_trials: EarlyTrials::default(),
            outages: Outages::default(),
            budget: Budget::default(),
        }
    }

    /// A pool that knows no proxy until it has read the table, and then keeps for each what is not in the
    /// table: its health, and unwritten counts. Its budgets stay as before.
    pub fn restarted(&mut self) -> Pool {
        let mut remembered = std::mem::take(&mut self.remembered);
        remembered.append(&mut self.members);
        Pool {
            remembered,
            last_successes: std::mem::take(&mut self.last_successes),
            outages: std::mem::take(&mut self.outages),
            budget: std::mem::take(&mut self.budget),
            ..Pool::new(self.limits.clone())
        }
    }

    pub fn members(&self) -> impl Iterator<Item = &PooledProxy> {
        self.members.values()
    }

    pub fn state(&self, now: Instant) -> PoolState {
        let health = self.members.values().map(|member| member.shown_health(now)).collect();
        PoolState { usable: self.usable().count(), health }
    }

    /// Whether the alarm about `subject` may be given now; the same one is given once a minute.
    pub fn may_alarm(&mut self, subject: &str, now: Instant) -> bool {
        self.alarms.allows(subject, now)
    }

    /// Whether leases of this proxy may still be used; false for one that is gone, or rests.
    pub fn is_usable(&self, id: ProxyId) -> bool {
        self.members.get(&id).is_some_and(|member| self.may_be_used(member))
    }

    /// Leases the best proxy for `ask`; None when none is free for it now, or in an outage of its host.
    pub fn lease(&mut self, ask: &ProxyAsk, now: Instant) -> Option<Arc<Proxy>> {
        let is_outage = self.outages.is_on(&ask.host, self.usable().map(PooledProxy::id));
        if is_outage && !self.outages.is_due(&ask.host, now) {
            return None;
        }
        let id = self.choose(ask, now)?;
        if is_outage {
            self.outages.leased(&ask.host, &self.limits, now);
        }
        let member = self.members.get_mut(&id)?;
        member.open_leases += 1;
        member.last_used = Some(now);
        member.unsaved.used = true;
        Some(member.proxy.clone())
    }

    /// Corrects the count of open leases; the caller has the true one.
    pub fn set_open_leases(&mut self, id: ProxyId, open_leases: usize) {
        if let Some(member) = self.members.get_mut(&id) {
            member.open_leases = open_leases;
        }
    }

    /// Takes note of the end of a request. Outcomes of proxies that are gone are ignored.
    ///
    /// A suspicion counts as a failure when a request to the host has succeeded through another proxy since
    /// this proxy's previous suspicion: then it is the proxy that fails. Else none is blamed.
    pub fn report(&mut self, id: ProxyId, report: &ProxyReport, now: Instant) -> Option<Notice> {
        let ProxyReport { outcome, sent, is_best_effort } = report;
        let (sent, is_best_effort) = (*sent, *is_best_effort);
        match outcome {
            ProxyOutcome::Suspicion { host, .. } => self.outages.suspected(id, host, now),
            ProxyOutcome::Success { host, .. } | ProxyOutcome::Answered { host } | ProxyOutcome::Blocked { host } => {
                self.outages.answered(host)
            }
            ProxyOutcome::Failed { .. } | ProxyOutcome::Neutral => {}
        }
        self.count(id, outcome, is_best_effort);
        match outcome {
            ProxyOutcome::Success { host, took } => self.succeeded(id, host, *took, sent, now),
            ProxyOutcome::Answered { host } => self.answered(id, host, sent, now),
            ProxyOutcome::Blocked { host } => {
                let revived = self.answered(id, host, sent, now);
                self.blocked(id, host, is_best_effort, now).or(revived)
            }
            ProxyOutcome::Failed { host, reason, at_once } => {
                self.failed(id, ProxyFailure { host, reason, at_once: *at_once, sent, is_best_effort }, now)
            }
            ProxyOutcome::Suspicion { host, reason } => {
                self.suspected(id, ProxyFailure { host, reason, at_once: false, sent, is_best_effort }, now)
            }
            ProxyOutcome::Neutral => None,
        }
    }

    /// Requests that a crawl does without count in the record of their host alone.
    fn count(&mut self, id: ProxyId, outcome: &ProxyOutcome, is_best_effort: bool) {
        let (Some(member), Some(end), Some(host)) = (self.members.get_mut(&id), outcome.end(), outcome.host()) else {
            return;
        };
        member.count(|delta| delta.ended_at(host, end, is_best_effort));
        if !is_best_effort {
            member.count(|delta| delta.ended(end));
        }
    }

    /// Ends cooldowns and rests, and puts one benched proxy on trial early when that is due.
    pub fn tick(&mut self, now: Instant) -> Vec<Notice> {
        self.budget.tick(now);
        let mut on_trial: Vec<ProxyId> =
            self.members.values().filter(|m| m.cooldown_is_over(now)).map(PooledProxy::id).collect();
        if on_trial.is_empty() {
            on_trial.extend(self.due_for_early_trial(now));
        } else {
            self.early_trials.postpone();
        }
        on_trial.into_iter().filter_map(|id| self.start_trial(id, now)).collect()
    }

    /// Follows the table: new rows come in, deleted ones go, decisions of the operator and benches by other
    /// processes hold.
    ///
    /// This process's unwritten changes count for more than the row; only `off` is stronger.
    pub fn load(&mut self, rows: Vec<ProxyRow>, now: Instant) {
        let mut before = std::mem::take(&mut self.remembered);
        before.append(&mut self.members);
        for row in rows {
            let id = row.proxy.id;
            let member = match before.remove(&id) {
                Some(known) => known.refreshed(row, &self.limits, now),
                None => PooledProxy::new(row, &self.limits, now),
            };
            self.members.insert(id, member);
        }
    }

    /// Counts that are not in the table yet, at most one delta a proxy.
    pub fn take_unsaved(&mut self) -> Vec<CounterDelta> {
        let unsaved = self.members.values_mut().filter(|member| !member.unsaved.is_empty());
        unsaved.map(|member| std::mem::replace(&mut member.unsaved, CounterDelta::of(member.proxy.id))).collect()
    }

    /// Takes deltas back that did not reach the table.
    pub fn put_back(&mut self, unsaved: Vec<CounterDelta>) {
        for mut earlier in unsaved {
            if let Some(member) = self.members.get_mut(&earlier.proxy) {
                earlier.absorb(std::mem::take(&mut member.unsaved));
                member.unsaved = earlier;
            }
        }
    }

    fn usable(&self) -> impl Iterator<Item = &PooledProxy> {
        self.members.values().filter(move |member| self.may_be_used(member))
    }

    fn may_be_used(&self, member: &PooledProxy) -> bool {
        member.health.is_usable() && !self.budget.rests(member.id())
    }

    fn choose(&self, ask: &ProxyAsk, now: Instant) -> Option<ProxyId> {
        let serving = || self.usable().filter(|member| member.health.serves(&ask.host, now));
        // with nothing else left, one that was tried already is better than none
        let has_untried = serving().any(|member| !ask.avoid.contains(&member.id()));
        serving()
            .filter(|member| !has_untried || !ask.avoid.contains(&member.id()))
            .filter(|member| !(ask.is_best_effort && member.is_on_trial()))
            .filter(|member| member.open_leases < member.health.max_leases(&self.limits))
            .max_by(|a, b| a.compare(b, ask, now))
            .map(PooledProxy::id)
    }

    fn succeeded(&mut self, id: ProxyId, host: &str, took: Duration, sent: Instant, now: Instant) -> Option<Notice> {
        let member = self.members.get_mut(&id)?;
        self.last_successes.note(host, id, now);
        let ends_streak = member.health.hosts().is_newer_than_failures(host, sent);
        member.count(|delta| delta.succeeded(took, ends_streak));
        let revived = member.succeeded(host, sent, now);
        self.revived_if(revived, id, now)
    }

    fn answered(&mut self, id: ProxyId, host: &str, sent: Instant, now: Instant) -> Option<Notice> {
        let revived = self.members.get_mut(&id)?.health.answered(host, sent);
        self.revived_if(revived, id, now)
    }

    fn revived_if(&mut self, revived: bool, id: ProxyId, now: Instant) -> Option<Notice> {
        let member = self.members.get_mut(&id).filter(|_| revived)?;
        self.early_trials.note_revival(now);
        Some(member.revived())
    }

    fn failed(&mut self, id: ProxyId, failure: ProxyFailure<'_>, now: Instant) -> Option<Notice> {
        let is_last = !self.usable().any(|m| m.id() != id && m.health.condition() == Condition::Active);
        let member = self.members.get_mut(&id)?;
        if !failure.is_best_effort {
            member.count(|delta| delta.failed(failure.reason));
        }
        let is_on_trial = member.is_on_trial();
        match member.health.failed(failure, &self.limits, now) {
            BenchDecision::None => None,
            BenchDecision::BenchedAtHost(until) => {
                let reason = format!("too many failures in a row at {}: {}", failure.host, failure.reason);
                Some(member.bench_at(failure.host, until, reason, now))
            }
            BenchDecision::Bench if is_on_trial => Some(member.bench_again(failure.reason, &self.limits, now)),
            BenchDecision::BenchUnlessLast if is_last => {
                member.health.pause(&self.limits, now);
                let notice =
                    Notice::LastActiveFailing { proxy: Arc::clone(&member.proxy), reason: failure.reason.to_owned() };
                self.alarms.allows("the last active proxy", now).then_some(notice)
            }
            BenchDecision::Bench | BenchDecision::BenchUnlessLast => {
                Some(member.bench(failure.reason, &self.limits, now))
            }
        }
    }

    fn suspected(&mut self, id: ProxyId, failure: ProxyFailure<'_>, now: Instant) -> Option<Notice> {
        let member = self.members.get_mut(&id)?;
        if !failure.is_best_effort {
            member.count(|delta| delta.suspected(failure.reason));
        }
        let since = member.health.suspected(failure.host, failure.is_best_effort, now)?;
        if !self.last_successes.another_succeeded(id, failure.host, since) {
            return None;
        }
        self.failed(id, failure, now)
    }

    /// Benches at the host the last usable proxy too: a host that blocks all of them is sent nothing until
    /// the first of these benches ends.
    fn blocked(&mut self, id: ProxyId, host: &str, is_best_effort: bool, now: Instant) -> Option<Notice> {
        let member = self.members.get_mut(&id)?;
        if !is_best_effort {
            member.count(|delta| delta.blocked(host));
        }
        let until = member.health.blocked(host, is_best_effort, &self.limits, now)?;
        let notice = member.bench_at(host, until, format!("too many blocks in a row by {host}"), now);
        let has_usable = self.usable().next().is_some();
        let all_refused = has_usable && self.usable().all(|member| member.health.hosts().is_benched_at(host, now));
        if all_refused && self.alarms.allows(host, now) {
            return Some(Notice::HostRefusesAll { host: host.to_owned() });
        }
        Some(notice)
    }

    fn start_trial(&mut self, id: ProxyId, now: Instant) -> Option<Notice> {
        let member = self.members.get_mut(&id)?;
        member.health.start_trial(now);
        Some(Notice::OnTrial { proxy: Arc::clone(&member.proxy) })
    }

    fn due_for_early_trial(&mut self, now: Instant) -> Option<ProxyId> {
        if self.members.values().any(|member| member.is_being_tried(self.limits.revive_every, now)) {
            self.early_trials.postpone();
            return None;
        }
        let benched = self.members.values().filter_map(|member| Some((member.benched_since()?, member.id())));
        let Some((since, id)) = benched.min() else {
            self.early_trials.postpone();
            return None;
        };
        let has_usable = self.usable().next().is_some();
        self.early_trials.is_due(since, has_usable, &self.limits, now).then_some(id)
    }
}

#[cfg(test)]
mod tests;
