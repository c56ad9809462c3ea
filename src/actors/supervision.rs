//! `Children`: what a supervising actor keeps of its children, and what it decides when one exits.
//!
//! Every child is permanent and restarts alone (one for one): addresses survive a restart, so nothing depends on a sibling's.
//! The first failure restarts at once, the next ones after a growing pause; too many within the window fail the supervisor.
//! TaskActors are not kept here: they are temporary, the queue is their supervisor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;

use super::cell::{self, CellHandle, ChildExited, Exit};
use super::intensity::Intensity;
use super::watchdog::Watchdog;
use crate::config;

/// Asks an actor for its state, as JSON; whoever does not answer in time is hung.
#[derive(Message)]
#[rtype(result = "serde_json::Value")]
pub struct Observe;

/// Periodic work is a message; an interval only sends it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Tick;

/// What an actor must offer to be supervised; `supervised!` does the rest.
pub trait Rebuild {
    /// The same actor as its factory made it, with none of its state.
    fn rebuilt(&mut self) -> Self;

    /// Its state as people may see it: no secrets.
    fn observed(&self) -> serde_json::Value;
}

/// Makes an actor restartable in place and observable.
#[macro_export]
macro_rules! supervised {
    ($actor:ty) => {
        impl actix::Supervised for $actor {
            fn restarting(&mut self, _: &mut actix::Context<Self>) {
                *self = $crate::actors::supervision::Rebuild::rebuilt(self);
            }
        }

        impl actix::Handler<$crate::actors::supervision::Observe> for $actor {
            type Result = actix::MessageResult<$crate::actors::supervision::Observe>;

            fn handle(
                &mut self,
                _: $crate::actors::supervision::Observe,
                _: &mut actix::Context<Self>,
            ) -> Self::Result {
                actix::MessageResult($crate::actors::supervision::Rebuild::observed(self))
            }
        }
    };
}

/// What the supervisor does about an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    RestartAfter(Duration),
    /// Too many restarts, or nothing to restart: the supervisor itself has failed.
    Escalate,
}

/// When a child restarts and when its supervisor gives up.
#[derive(Clone, Debug)]
pub struct Limits {
    intensity: Intensity,
    /// Who has been healthy for so long begins anew.
    window: Duration,
    backoff: Duration,
    backoff_max: Duration,
    tick: Duration,
}

impl From<&config::Supervision> for Limits {
    fn from(config: &config::Supervision) -> Self {
        Limits {
            intensity: config.into(),
            window: config.window,
            backoff: config.backoff,
            backoff_max: config.backoff_max,
            tick: config.ping,
        }
    }
}

pub struct Children {
    limits: Limits,
    watchdog: Watchdog,
    slots: Vec<Child>,
    restarts: Intensity,
}

struct Child {
    name: String,
    cell: CellHandle,
    failures: u32,
    since: Instant,
    parked: bool,
}

impl Children {
    pub fn new(limits: Limits, watchdog: Watchdog) -> Self {
        let restarts = limits.intensity.clone();
        Children { limits, watchdog, slots: Vec::new(), restarts }
    }

    /// Starts a child on `arbiter`; its exits come to `parent` with the slot that is returned beside its address.
    pub fn start<A>(
        &mut self,
        name: &str,
        arbiter: &ArbiterHandle,
        parent: Recipient<ChildExited>,
        make: impl FnOnce() -> A + Send + 'static,
    ) -> Addr<A>
    where
        A: Actor<Context = Context<A>> + Supervised + Handler<Observe>,
    {
        let (address, cell) = cell::start(arbiter, self.slots.len(), parent, Arc::default(), make);
        self.watchdog.watch(name, cell.vitals.clone(), address.clone().recipient());
        self.slots.push(Child { name: name.to_owned(), cell, failures: 0, since: Instant::now(), parked: false });
        address
    }

    pub fn name(&self, slot: usize) -> &str {
        self.slots.get(slot).map_or("?", |child| &child.name)
    }

    /// Decides about a child that exited; [`Children::resume`] carries a restart out.
    pub fn exited(&mut self, slot: usize, exit: &Exit, now: Instant) -> Verdict {
        if exit.is_final() || self.restarts.is_exceeded_by_failure_at(now) {
            return Verdict::Escalate;
        }
        let Some(child) = self.slots.get_mut(slot) else { return Verdict::Escalate };
        child.parked = true;
        let healthy_since = now.saturating_duration_since(child.since);
        child.failures = if healthy_since > self.limits.window { 1 } else { child.failures + 1 };
        Verdict::RestartAfter(pause(&self.limits, child.failures))
    }

    pub fn resume(&mut self, slot: usize, now: Instant) {
        if let Some(child) = self.slots.get_mut(slot) {
            child.since = now;
            child.parked = false;
            child.cell.resume();
        }
    }

    /// For a supervisor that crashed between an exit and its restart.
    pub fn resume_parked(&mut self, now: Instant) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].parked {
                self.resume(slot, now);
            }
        }
    }

    /// Hands the children over to the supervisor's next life: they go on meanwhile.
    pub fn take(&mut self) -> Children {
        let empty = Children::new(self.limits.clone(), self.watchdog.clone());
        std::mem::replace(self, empty)
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn names(&self) -> Vec<&str> {
        self.slots.iter().map(|child| child.name.as_str()).collect()
    }

    /// How often a supervisor looks around.
    pub fn tick(&self) -> Duration {
        self.limits.tick
    }
}

/// None after the first failure, then doubling from the base up to the maximum.
fn pause(limits: &Limits, failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        n => limits.backoff.saturating_mul(2u32.pow((n - 2).min(16))).min(limits.backoff_max),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn limits() -> Limits {
        Limits {
            intensity: Intensity::new(5, Duration::from_secs(60)),
            window: Duration::from_secs(60),
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_secs(30),
            tick: Duration::from_secs(1),
        }
    }

    #[rstest]
    #[case::at_once(1, 0)]
    #[case::then_the_base(2, 100)]
    #[case::doubled(4, 400)]
    #[case::capped(30, 30_000)]
    fn the_pause_grows(#[case] failures: u32, #[case] millis: u64) {
        assert_eq!(pause(&limits(), failures), Duration::from_millis(millis));
    }
}
