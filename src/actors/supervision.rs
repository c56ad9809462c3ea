//! `Children`: what a supervising actor keeps of its children, and what it decides when one exits.
//!
//! Every child is permanent and restarts alone (one for one): addresses survive a restart, so nothing depends on a sibling's.
//! The first failure restarts at once, the next ones after a growing pause; too many within the window fail the supervisor.
//! TaskActors are not kept here: they are temporary, the queue is their supervisor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use serde::Serialize;

use super::messages::Ping;
use super::restart_limit::RestartLimit;
use super::runner::{self, ChildExited, Exit, RunnerHandle};
use super::watchdog::Watchdog;
use crate::config;
use crate::domain::retry;

/// What an actor must offer to be supervised; `supervised!` does the rest.
pub trait Rebuild {
    /// Its state as people may see it: no secrets.
    type Observed: Serialize + Send + 'static;

    /// The actor as it starts again in the same place: what its crash may have spoilt is made again, what must outlive a crash
    /// (orders of people, children) is taken over.
    fn rebuilt(&mut self) -> Self;

    fn observed(&self) -> Self::Observed;
}

/// Makes an actor restartable in place, and lets it answer [`Ping`] and [`Observe`](super::messages::Observe).
#[macro_export]
macro_rules! supervised {
    ($actor:ty) => {
        impl actix::Supervised for $actor {
            fn restarting(&mut self, _: &mut actix::Context<Self>) {
                *self = $crate::actors::supervision::Rebuild::rebuilt(self);
            }
        }

        impl actix::Handler<$crate::actors::messages::Ping> for $actor {
            type Result = ();

            fn handle(&mut self, _: $crate::actors::messages::Ping, _: &mut actix::Context<Self>) {}
        }

        impl
            actix::Handler<
                $crate::actors::messages::Observe<<$actor as $crate::actors::supervision::Rebuild>::Observed>,
            > for $actor
        {
            type Result = actix::MessageResult<
                $crate::actors::messages::Observe<<$actor as $crate::actors::supervision::Rebuild>::Observed>,
            >;

            fn handle(
                &mut self,
                _: $crate::actors::messages::Observe<<$actor as $crate::actors::supervision::Rebuild>::Observed>,
                _: &mut actix::Context<Self>,
            ) -> Self::Result {
                actix::MessageResult($crate::actors::supervision::Rebuild::observed(self))
            }
        }
    };
}

/// What the supervisor does about an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartDecision {
    RestartAfter(Duration),
    /// Too many restarts, or nothing to restart: the supervisor itself has failed.
    Escalate,
}

/// When a child restarts and when its supervisor gives up.
#[derive(Clone, Debug)]
pub struct RestartLimits {
    restart_limit: RestartLimit,
    /// A child that has been healthy for so long has no failures any more.
    window: Duration,
    backoff: Duration,
    backoff_max: Duration,
    tick: Duration,
}

impl From<&config::Supervision> for RestartLimits {
    fn from(config: &config::Supervision) -> Self {
        RestartLimits {
            restart_limit: config.into(),
            window: config.window,
            backoff: config.backoff,
            backoff_max: config.backoff_max,
            tick: config.ping,
        }
    }
}

pub struct Children {
    limits: RestartLimits,
    watchdog: Watchdog,
    children: Vec<Child>,
    restarts: RestartLimit,
}

struct Child {
    name: String,
    runner: RunnerHandle,
    failures: u32,
    since: Instant,
    parked: bool,
}

impl Children {
    pub fn new(limits: RestartLimits, watchdog: Watchdog) -> Self {
        let restarts = limits.restart_limit.clone();
        Children { limits, watchdog, children: Vec::new(), restarts }
    }

    /// Starts a child on `arbiter`; its exits come to `parent` with its index, in the order of the starts.
    pub fn start<A>(
        &mut self,
        name: &str,
        arbiter: &ArbiterHandle,
        parent: Recipient<ChildExited>,
        make: impl FnOnce() -> A + Send + 'static,
    ) -> Addr<A>
    where
        A: Actor<Context = Context<A>> + Supervised + Handler<Ping>,
    {
        let (address, runner) = runner::start(arbiter, self.children.len(), parent, Arc::default(), make);
        self.watchdog.watch(name, runner.poll_times.clone(), address.clone().recipient());
        self.children.push(Child { name: name.to_owned(), runner, failures: 0, since: Instant::now(), parked: false });
        address
    }

    pub fn name(&self, child_index: usize) -> &str {
        self.children.get(child_index).map_or("?", |child| &child.name)
    }

    /// Decides about a child that exited; [`Children::resume`] carries a restart out.
    pub fn exited(&mut self, child_index: usize, exit: &Exit, now: Instant) -> RestartDecision {
        if exit.is_final() || self.restarts.record_failure(now) {
            return RestartDecision::Escalate;
        }
        let Some(child) = self.children.get_mut(child_index) else { return RestartDecision::Escalate };
        child.parked = true;
        let healthy_since = now.saturating_duration_since(child.since);
        child.failures = if healthy_since > self.limits.window { 1 } else { child.failures + 1 };
        RestartDecision::RestartAfter(pause(&self.limits, child.failures))
    }

    pub fn resume(&mut self, child_index: usize, now: Instant) {
        if let Some(child) = self.children.get_mut(child_index) {
            child.since = now;
            child.parked = false;
            child.runner.resume();
        }
    }

    /// For a supervisor that crashed between an exit and its restart.
    pub fn resume_parked(&mut self, now: Instant) {
        for child_index in 0..self.children.len() {
            if self.children[child_index].parked {
                self.resume(child_index, now);
            }
        }
    }

    /// Hands the children over to the supervisor's next life: they go on meanwhile.
    pub fn take(&mut self) -> Children {
        let empty = Children::new(self.limits.clone(), self.watchdog.clone());
        std::mem::replace(self, empty)
    }

    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    pub fn names(&self) -> Vec<&str> {
        self.children.iter().map(|child| child.name.as_str()).collect()
    }

    /// How often a supervisor looks around.
    pub fn tick(&self) -> Duration {
        self.limits.tick
    }
}

/// None after the first failure, then doubling from the base up to the maximum.
fn pause(limits: &RestartLimits, failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        n => retry::doubling(limits.backoff, limits.backoff_max, n - 2),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn limits() -> RestartLimits {
        RestartLimits {
            restart_limit: RestartLimit::new(5, Duration::from_secs(60)),
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
