//! `Children`: a supervising actor's record of its children, and its decision when one exits.
//!
//! Every child is permanent and restarts alone (one for one): its address stays valid, so no sibling has to
//! restart with it. The first failure restarts at once, the next ones after a growing pause; too many within
//! the window fail the supervisor. In: exits. Out: restarts, or the decision to give up. It must not know what
//! a child does.

pub mod background;
pub mod lifecycle;
pub mod messages;
pub mod panics;
pub mod restart_limit;
pub mod runner;
pub mod service_manager;
pub mod watchdog;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use domain::retry;
use messages::Ping;
use restart_limit::RestartLimit;
use runner::{ChildExited, Exit, RunnerHandle};
use telemetry::events;
use watchdog::Watchdog;

/// The interface of a supervised actor; `supervised!` does the rest.
pub trait Rebuild {
    /// The actor as it starts again in the same place: state that its crash may have spoilt is made again,
    /// state that must outlive a crash (commands of people, such as pause and decommission, and children) is
    /// taken over.
    fn rebuilt(&mut self) -> Self;
}

/// Makes an actor restartable in place, and lets it answer [`Ping`].
#[macro_export]
macro_rules! supervised {
    ($actor:ty) => {
        impl actix::Supervised for $actor {
            fn restarting(&mut self, _: &mut actix::Context<Self>) {
                *self = $crate::Rebuild::rebuilt(self);
            }
        }

        impl actix::Handler<$crate::messages::Ping> for $actor {
            type Result = ();

            fn handle(&mut self, _: $crate::messages::Ping, _: &mut actix::Context<Self>) {}
        }
    };
}

/// The supervisor's reaction to an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartDecision {
    RestartAfter(Duration),
    /// The child had been removed: its end was wanted.
    Nothing,
    /// Too many restarts, or nothing to restart: the supervisor itself has failed.
    Escalate,
}

/// Rule by which a child restarts and its supervisor gives up.
#[derive(Clone, Debug)]
pub struct RestartPolicy {
    restart_limit: RestartLimit,
    /// A child that has been healthy for this time has no failures any more.
    window: Duration,
    backoff: Duration,
    backoff_max: Duration,
    /// Interval of the supervisor's `Tick`, which only tests need.
    tick_interval: Duration,
}

impl From<&settings::Supervision> for RestartPolicy {
    fn from(config: &settings::Supervision) -> Self {
        RestartPolicy {
            restart_limit: config.into(),
            window: config.window,
            backoff: config.backoff,
            backoff_max: config.backoff_max,
            tick_interval: config.ping,
        }
    }
}

pub struct Children {
    policy: RestartPolicy,
    watchdog: Watchdog,
    by_index: BTreeMap<usize, Child>,
    /// Index of the next child; none is used twice.
    next_index: usize,
    failures: RestartLimit,
}

struct Child {
    /// The actor's type, as metrics have it.
    kind: &'static str,
    /// Its own among the children.
    name: String,
    runner: RunnerHandle,
    /// Number of failures in a row.
    failures: u32,
    /// Its start or latest restart.
    since: Instant,
    parked: bool,
}

impl Children {
    pub fn new(policy: RestartPolicy, watchdog: Watchdog) -> Self {
        let failures = policy.restart_limit.clone();
        Children { policy, watchdog, by_index: BTreeMap::new(), next_index: 0, failures }
    }

    /// Starts a child on `arbiter`; its exits are sent to `parent` with its index, which is returned.
    pub fn start<A>(
        &mut self,
        kind: &'static str,
        name: &str,
        arbiter: &ArbiterHandle,
        parent: Recipient<ChildExited>,
        make: impl FnOnce() -> A + Send + 'static,
    ) -> (Addr<A>, usize)
    where
        A: Actor<Context = Context<A>> + Supervised + Handler<Ping>,
    {
        let index = self.next_index;
        self.next_index += 1;
        let (address, runner) = runner::start(arbiter, index, parent, Arc::default(), make);
        self.watchdog.watch(name, &runner.poll_times, address.clone().recipient());
        events::actor_started(kind);
        let name = name.to_owned();
        let child = Child { kind, name, runner, failures: 0, since: Instant::now(), parked: false };
        self.by_index.insert(index, child);
        (address, index)
    }

    /// Discards a child that has nothing left to do; its exit is not reported.
    pub fn remove(&mut self, child_index: usize) {
        self.by_index.remove(&child_index);
    }

    pub fn kind_and_name(&self, child_index: usize) -> (&'static str, String) {
        self.by_index.get(&child_index).map_or(("?", "?".to_owned()), |child| (child.kind, child.name.clone()))
    }

    /// Decides about a child that exited; [`Children::resume`] carries a restart out.
    pub fn exited(&mut self, child_index: usize, exit: &Exit, now: Instant) -> RestartDecision {
        let Some(child) = self.by_index.get_mut(&child_index) else { return RestartDecision::Nothing };
        if exit.is_final() || self.failures.record_failure(now) {
            return RestartDecision::Escalate;
        }
        child.parked = true;
        let healthy_for = now.saturating_duration_since(child.since);
        child.failures = if healthy_for > self.policy.window { 1 } else { child.failures + 1 };
        RestartDecision::RestartAfter(pause(&self.policy, child.failures))
    }

    pub fn resume(&mut self, child_index: usize, now: Instant) {
        if let Some(child) = self.by_index.get_mut(&child_index) {
            child.since = now;
            child.parked = false;
            child.runner.resume();
        }
    }

    /// Restarts children that are parked, for a supervisor that crashed between a child's exit and its restart.
    pub fn resume_parked(&mut self, now: Instant) {
        let parked = self.by_index.iter().filter(|(_, child)| child.parked).map(|(index, _)| *index);
        for child_index in parked.collect::<Vec<usize>>() {
            self.resume(child_index, now);
        }
    }

    /// Hands the children, which keep running, over to the rebuilt supervisor.
    pub fn take(&mut self) -> Children {
        let empty = Children::new(self.policy.clone(), self.watchdog.clone());
        std::mem::replace(self, empty)
    }

    pub fn tick_interval(&self) -> Duration {
        self.policy.tick_interval
    }
}

/// None after the first failure, then doubling from the base up to the maximum.
fn pause(policy: &RestartPolicy, failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        n => retry::doubling(policy.backoff, policy.backoff_max, n - 2),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn policy() -> RestartPolicy {
        RestartPolicy {
            restart_limit: RestartLimit::new(5, Duration::from_secs(60)),
            window: Duration::from_secs(60),
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_secs(30),
            tick_interval: Duration::from_secs(1),
        }
    }

    #[rstest]
    #[case::at_once(1, 0)]
    #[case::then_the_base(2, 100)]
    #[case::doubled(4, 400)]
    #[case::capped(30, 30_000)]
    fn the_pause_grows(#[case] failures: u32, #[case] millis: u64) {
        assert_eq!(pause(&policy(), failures), Duration::from_millis(millis));
    }
}
