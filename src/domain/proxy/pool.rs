//! `Pool`: the proxies of one process: who gets which one next, and what follows from how it went.
//!
//! A pure state machine. In: the table's rows, asks, outcomes, the time. Out: a proxy, what somebody should be told
//! ([`Notice`]), and what the table should be told ([`Increment`]). Sessions are counted here and ended by their holders.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::answered::Answered;
use super::health::{Condition, Limits};
use super::member::Member;
use super::{Change, Increment, Proxy, ProxyAsk, ProxyId, ProxyOutcome, Standing};

/// How many proxies may be used (`active`: those on trial too), wait out a cooldown, or are switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolState {
    pub active: usize,
    pub benched: usize,
    pub off: usize,
}

/// What somebody should be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    Benched {
        proxy: Arc<Proxy>,
        cooldown: Duration,
        why: String,
    },
    BenchedAtHost {
        proxy: Arc<Proxy>,
        host: String,
        cooldown: Duration,
    },
    /// It should be benched, but no other one is left.
    LastOne {
        proxy: Arc<Proxy>,
        why: String,
    },
    OnTrial {
        proxy: Arc<Proxy>,
    },
    Revived {
        proxy: Arc<Proxy>,
    },
}

pub struct Pool {
    limits: Limits,
    members: BTreeMap<ProxyId, Member>,
    answered: Answered,
    /// When the oldest benched one is tried; set while none is active.
    next_trial: Option<Instant>,
}

impl Pool {
    pub fn new(limits: Limits) -> Self {
        Pool { limits, members: BTreeMap::new(), answered: Answered::default(), next_trial: None }
    }

    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    pub fn state(&self) -> PoolState {
        let mut state = PoolState::default();
        for member in self.members.values() {
            match member.health.condition() {
                Condition::Active | Condition::OnTrial => state.active += 1,
                Condition::Benched { .. } => state.benched += 1,
                Condition::Off => state.off += 1,
            }
        }
        state
    }

    /// Opens a session on the best proxy for `ask` and says which; None when none is free for it now.
    pub fn lease(&mut self, ask: &ProxyAsk, now: Instant) -> Option<Arc<Proxy>> {
        let id = self.choose(ask, now)?;
        let member = self.members.get_mut(&id)?;
        member.sessions += 1;
        member.last_used = Some(now);
        member.unsaved.used = true;
        Some(member.proxy.clone())
    }

    /// Corrects the count of open sessions; their holders know it best.
    pub fn sessions_are(&mut self, id: ProxyId, sessions: usize) {
        if let Some(member) = self.members.get_mut(&id) {
            member.sessions = sessions;
        }
    }

    /// Takes note of one request's end. Outcomes of proxies that are gone are nobody's.
    ///
    /// A suspicion counts as a failure once the host has answered another proxy since the first one in a row: then it is the
    /// hop that is silent. While the host answers nobody, nobody is blamed.
    pub fn report(&mut self, id: ProxyId, outcome: &ProxyOutcome, now: Instant) -> Option<Notice> {
        match outcome {
            ProxyOutcome::Success { host, took } => self.succeeded(id, host, *took, now),
            ProxyOutcome::Blocked { host } => self.blocked(id, host, now),
            ProxyOutcome::Failed { host, why, at_once } => self.failed(id, host, why, *at_once, now),
            ProxyOutcome::Suspect { host, why } => self.suspected(id, host, why, now),
            ProxyOutcome::Neutral => None,
        }
    }

    /// Ends cooldowns; while none is active, puts the oldest benched one on trial now and then.
    pub fn tick(&mut self, now: Instant) -> Vec<Notice> {
        let mut on_trial: Vec<ProxyId> =
            self.members.values().filter(|m| m.cooldown_is_over(now)).map(Member::id).collect();
        if on_trial.is_empty() {
            on_trial.extend(self.due_for_revival(now));
        } else {
            self.next_trial = None;
        }
        on_trial.into_iter().filter_map(|id| self.try_again(id)).collect()
    }

    /// Follows the table: new rows come in, deleted ones go, the operator's word and other processes' benches hold.
    ///
    /// What this process has not yet told the table stands above it; only `off` is stronger.
    pub fn load(&mut self, rows: Vec<Standing>, now: Instant) {
        let mut before = std::mem::take(&mut self.members);
        for row in rows {
            let id = row.proxy.id;
            let member = match before.remove(&id) {
                Some(known) => known.refreshed(row, &self.limits, now),
                None => Member::new(row, &self.limits, now),
            };
            self.members.insert(id, member);
        }
    }

    /// What the table has not been told yet, at most one increment a proxy.
    pub fn take_unsaved(&mut self) -> Vec<Increment> {
        let unsaved = self.members.values_mut().filter(|member| !member.unsaved.is_empty());
        unsaved.map(|member| std::mem::replace(&mut member.unsaved, Increment::of(member.proxy.id))).collect()
    }

    /// Takes increments back that did not reach the table.
    pub fn put_back(&mut self, unsaved: Vec<Increment>) {
        for mut earlier in unsaved {
            if let Some(member) = self.members.get_mut(&earlier.proxy) {
                earlier.absorb(std::mem::take(&mut member.unsaved));
                member.unsaved = earlier;
            }
        }
    }

    fn choose(&self, ask: &ProxyAsk, now: Instant) -> Option<ProxyId> {
        let serving = || self.members.values().filter(|member| member.health.serves(&ask.host, now));
        // with nothing else left, one that was tried already is better than none
        let has_untried = serving().any(|member| !ask.avoid.contains(&member.id()));
        serving()
            .filter(|member| !has_untried || !ask.avoid.contains(&member.id()))
            .filter(|member| member.sessions < member.health.sessions(&self.limits))
            .max_by(|a, b| a.compare(b, ask, now))
            .map(Member::id)
    }

    fn succeeded(&mut self, id: ProxyId, host: &str, took: Duration, now: Instant) -> Option<Notice> {
        let member = self.members.get_mut(&id)?;
        self.answered.note(host, now);
        member.suspect_since = None;
        let sent = now.checked_sub(took).unwrap_or(now);
        let ends_streak = member.health.is_news(host, sent);
        member.note(|increment| increment.succeeded(took, ends_streak));
        let revived = member.health.succeeded(host, sent);
        if !revived {
            return None;
        }
        member.unsaved.change = Some(Change::Revived);
        Some(Notice::Revived { proxy: member.proxy.clone() })
    }

    fn failed(&mut self, id: ProxyId, host: &str, why: &str, at_once: bool, now: Instant) -> Option<Notice> {
        let others = self.members.values().any(|m| m.id() != id && m.health.condition() == Condition::Active);
        let member = self.members.get_mut(&id)?;
        member.note(|increment| increment.failed(why));
        let verdict = member.health.failed(host, at_once, !others, &self.limits, now);
        member.told(verdict, host, why, now)
    }

    fn suspected(&mut self, id: ProxyId, host: &str, why: &str, now: Instant) -> Option<Notice> {
        let since = *self.members.get_mut(&id)?.suspect_since.get_or_insert(now);
        // an answer through this very proxy would have ended the suspicion
        if !self.answered.since(host, since) {
            return None;
        }
        self.failed(id, host, why, false, now)
    }

    fn blocked(&mut self, id: ProxyId, host: &str, now: Instant) -> Option<Notice> {
        let others = self.members.values().any(|m| m.id() != id && m.health.serves(host, now));
        let member = self.members.get_mut(&id)?;
        member.note(|increment| increment.blocked(host));
        let verdict = member.health.blocked(host, !others, &self.limits, now);
        member.told(verdict, host, "blocked", now)
    }

    fn try_again(&mut self, id: ProxyId) -> Option<Notice> {
        let member = self.members.get_mut(&id)?;
        member.health.try_again();
        Some(Notice::OnTrial { proxy: member.proxy.clone() })
    }

    fn due_for_revival(&mut self, now: Instant) -> Option<ProxyId> {
        if self.members.values().any(|member| member.health.is_usable()) {
            self.next_trial = None;
            return None;
        }
        let due = *self.next_trial.get_or_insert(now + self.limits.revive_every);
        if now < due {
            return None;
        }
        self.next_trial = None;
        let benched = self.members.values().filter_map(|member| Some((member.benched_since()?, member.id())));
        benched.min().map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests;
