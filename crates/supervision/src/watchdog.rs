//! `Watchdog`: a thread of its own that notices an actor which hangs, and ends a process that cannot end
//! itself.
//!
//! A hung actor cannot be mended in place: the process drains and exits non-zero, and the next level
//! (systemd, Kubernetes) starts it again. Where the drain hangs too, this thread exits the process. It knows
//! actors by name only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use actix::Recipient;
use tokio::runtime::Handle;

use super::lifecycle::{DrainLimits, Lifecycle, Phase};
use super::messages::Ping;
use super::runner::PollTimes;
use settings::Config;
use telemetry::events;
use telemetry::log;

#[derive(Clone)]
pub struct Watchdog {
    watched: Arc<Mutex<Vec<WatchedActor>>>,
}

struct WatchedActor {
    name: String,
    /// Weak: it cannot be upgraded once the actor's runner has ended.
    poll_times: Weak<PollTimes>,
    /// None: it is not pinged; only its poll times are checked.
    ping: Option<Recipient<Ping>>,
    /// Time when the ping under way was sent; none = the last one was answered.
    pinged_at: Option<Instant>,
    answered: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
struct HangLimits {
    /// Time between two looks.
    interval: Duration,
    hung_after: Duration,
    max_restart_pause: Duration,
    drain: DrainLimits,
}

impl From<&Config> for HangLimits {
    fn from(config: &Config) -> Self {
        let supervision = &config.supervision;
        HangLimits {
            interval: supervision.ping,
            hung_after: supervision.hung_after,
            max_restart_pause: supervision.backoff_max,
            drain: config.into(),
        }
    }
}

impl HangLimits {
    /// Whether the process is later with its end than a drain that works can be.
    fn is_end_overdue(&self, lifecycle: &Lifecycle) -> bool {
        let age = lifecycle.phase_age();
        match lifecycle.phase() {
            Phase::Running | Phase::Over => false,
            Phase::Draining => age > self.max_drain(),
            Phase::Releasing => age > self.drain.after_grace() + EXIT_MARGIN,
        }
    }

    fn max_drain(&self) -> Duration {
        self.drain.grace + self.drain.after_grace() + EXIT_MARGIN
    }
}

/// Time that a busy machine may add to a drain.
const EXIT_MARGIN: Duration = Duration::from_secs(5);

impl Watchdog {
    /// Starts the thread; it ends when the process is over.
    pub fn start(config: &Config, lifecycle: Lifecycle, runtime: Handle) -> std::io::Result<Watchdog> {
        let watchdog = Watchdog { watched: Arc::default() };
        let (clone, limits) = (watchdog.clone(), HangLimits::from(config));
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || clone.run(limits, &lifecycle, &runtime))?;
        Ok(watchdog)
    }

    fn run(&self, limits: HangLimits, lifecycle: &Lifecycle, runtime: &Handle) {
        let _in_runtime = runtime.enter();
        while !lifecycle.is_over() {
            let slept = sleep(limits.interval);
            if limits.is_end_overdue(lifecycle) {
                exit(lifecycle);
            }
            if slept > limits.interval + limits.hung_after / 2 {
                // the whole process was not running: stopped by a signal, or starved
                self.forget_pings();
                continue;
            }
            if lifecycle.cause().is_none()
                && let Some(culprit) = self.find_hung(limits, runtime)
            {
                lifecycle.fail(culprit);
            }
        }
    }

    pub fn watch(&self, name: &str, poll_times: &Arc<PollTimes>, ping: Recipient<Ping>) {
        self.add(name, poll_times, Some(ping));
    }

    /// Actors that come and go under one name, and share their poll times.
    pub fn watch_temporary(&self, name: &str, poll_times: &Arc<PollTimes>) {
        self.add(name, poll_times, None);
    }

    fn add(&self, name: &str, poll_times: &Arc<PollTimes>, ping: Option<Recipient<Ping>>) {
        let mut all = self.lock();
        all.retain(|other| other.poll_times.strong_count() > 0);
        let (name, poll_times) = (name.to_owned(), Arc::downgrade(poll_times));
        all.push(WatchedActor { name, poll_times, ping, pinged_at: None, answered: Arc::default() });
    }

    fn forget_pings(&self) {
        self.lock().iter_mut().for_each(|actor| actor.pinged_at = None);
    }

    /// The culprit's name and how long it has hung. An actor that blocks its thread comes before the actors
    /// that wait behind it.
    fn find_hung(&self, limits: HangLimits, runtime: &Handle) -> Option<String> {
        let limit = limits.hung_after;
        let mut all = self.lock();
        if let Some(blocker) = all.iter().find(|actor| actor.busy_for() > limit) {
            let busy = blocker.busy_for();
            return Some(format!("{} has blocked its thread for {busy:?}", blocker.name));
        }
        let is_one_busy = all.iter().any(|actor| actor.busy_for() > limit / 4);
        for actor in all.iter_mut() {
            let silent = actor.silence(limits.max_restart_pause, runtime);
            if !is_one_busy && silent > limit {
                return Some(format!("{} has not answered for {silent:?}", actor.name));
            }
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WatchedActor>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the process from outside of its runtime. Its tasks are recovered when the leases run out.
#[expect(clippy::disallowed_methods, reason = "a runtime that hangs ends in no other way")]
fn exit(lifecycle: &Lifecycle) -> ! {
    events::exit_forced(lifecycle.cause().as_deref().unwrap_or("it was asked to end"));
    log::flush();
    std::process::exit(1)
}

/// Sleeps and returns the time that really passed.
fn sleep(duration: Duration) -> Duration {
    let begun = Instant::now();
    thread::park_timeout(duration);
    begun.elapsed()
}

impl WatchedActor {
    fn busy_for(&self) -> Duration {
        self.poll_times.upgrade().map_or(Duration::ZERO, |times| times.busy_for())
    }

    /// Sends the next ping when the last one was answered; returns how long the one under way has waited. A
    /// parked actor need not answer while the pause before its restart can last.
    fn silence(&mut self, max_restart_pause: Duration, runtime: &Handle) -> Duration {
        let (Some(ping), Some(times)) = (&self.ping, self.poll_times.upgrade()) else { return Duration::ZERO };
        let parked = times.parked_for();
        if !parked.is_zero() {
            self.pinged_at = None;
            return parked.saturating_sub(max_restart_pause);
        }
        if self.answered.swap(false, Ordering::Relaxed) {
            self.pinged_at = None;
        }
        if let Some(pinged_at) = self.pinged_at {
            return pinged_at.elapsed();
        }
        self.pinged_at = Some(Instant::now());
        let (answer, answered) = (ping.send(Ping), self.answered.clone());
        runtime.spawn(async move {
            if answer.await.is_ok() {
                answered.store(true, Ordering::Relaxed);
            }
        });
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_hangs_is_gone_within_two_minutes_by_default() {
        let limits = HangLimits::from(&Config::with(&[]).unwrap());
        // a hang and a late end are each noticed at the look that follows, and a ping is sent at a look
        let noticed = limits.hung_after + 2 * limits.interval;
        let gone = noticed + limits.max_drain() + limits.interval;
        assert!(gone <= Duration::from_secs(120), "it takes {gone:?}");
    }
}
