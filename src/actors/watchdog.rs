//! `Watchdog`: a thread of its own that notices an actor which hangs, and ends a process that cannot end itself.
//!
//! A hung actor cannot be mended in place: the process drains and exits non-zero, and the next level (systemd, Kubernetes) starts
//! it again. Where the drain hangs too, this thread exits the process. It knows actors by name only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use actix::Recipient;
use tokio::runtime::Handle;

use super::lifecycle::{Lifecycle, Phase};
use super::messages::Ping;
use super::runner::PollTimes;
use super::tree;
use crate::config::Config;
use crate::{events, log};

#[derive(Clone)]
pub struct Watchdog {
    watched: Arc<Mutex<Vec<Watched>>>,
}

struct Watched {
    name: String,
    poll_times: Arc<PollTimes>,
    /// None = it is not asked, only looked at.
    ping: Option<Recipient<Ping>>,
    /// When the ping under way was sent; none = the last one was answered.
    asked: Option<Instant>,
    answered: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
struct HangLimits {
    /// Between two looks.
    every: Duration,
    hung_after: Duration,
    /// The longest pause before a restart.
    parked: Duration,
    drain: tree::DrainLimits,
}

impl From<&Config> for HangLimits {
    fn from(config: &Config) -> Self {
        let supervision = &config.supervision;
        HangLimits {
            every: supervision.ping,
            hung_after: supervision.hung_after,
            parked: supervision.backoff_max,
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
            Phase::Draining => age > self.drain.grace + self.drain.after_grace() + EXIT_MARGIN,
            Phase::Releasing => age > self.drain.after_grace() + EXIT_MARGIN,
        }
    }
}

/// What a busy machine may add to a drain.
const EXIT_MARGIN: Duration = Duration::from_secs(5);

impl Watchdog {
    /// Starts the thread; it ends when the process is over.
    pub fn start(config: &Config, lifecycle: Lifecycle, runtime: Handle) -> std::io::Result<Watchdog> {
        let watchdog = Watchdog { watched: Arc::default() };
        let (looking, limits) = (watchdog.clone(), HangLimits::from(config));
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || looking.run(limits, &lifecycle, &runtime))?;
        Ok(watchdog)
    }

    fn run(&self, limits: HangLimits, lifecycle: &Lifecycle, runtime: &Handle) {
        let _in_runtime = runtime.enter();
        while !lifecycle.is_over() {
            if sleep(limits.every) > limits.every + limits.hung_after / 2 {
                // the whole process stood still: stopped by a signal, or starved
                self.forgive();
                continue;
            }
            if limits.is_end_overdue(lifecycle) {
                exit(lifecycle);
            }
            if lifecycle.cause().is_none()
                && let Some(culprit) = self.look(limits, runtime)
            {
                lifecycle.fail(culprit);
            }
        }
    }

    pub fn watch(&self, name: &str, poll_times: Arc<PollTimes>, ping: Recipient<Ping>) {
        self.add(name, poll_times, Some(ping));
    }

    /// Actors that come and go under one name, and share their poll times.
    pub fn watch_temporary(&self, name: &str, poll_times: Arc<PollTimes>) {
        self.add(name, poll_times, None);
    }

    fn add(&self, name: &str, poll_times: Arc<PollTimes>, ping: Option<Recipient<Ping>>) {
        let mut all = self.lock();
        all.retain(|other| other.ping.as_ref().is_none_or(Recipient::connected) && other.name != name);
        all.push(Watched { name: name.to_owned(), poll_times, ping, asked: None, answered: Arc::default() });
    }

    fn forgive(&self) {
        self.lock().iter_mut().for_each(|one| one.asked = None);
    }

    /// The culprit's name and how long it has hung. An actor that blocks its thread comes before those that wait behind it.
    fn look(&self, limits: HangLimits, runtime: &Handle) -> Option<String> {
        let limit = limits.hung_after;
        let mut all = self.lock();
        if let Some(blocker) = all.iter().find(|one| one.poll_times.busy_for() > limit) {
            return Some(format!("{} has blocked its thread for {:?}", blocker.name, blocker.poll_times.busy_for()));
        }
        let is_one_busy = all.iter().any(|one| one.poll_times.busy_for() > limit / 4);
        for one in all.iter_mut() {
            let silent = one.silence(limits.parked, runtime);
            if !is_one_busy && silent > limit {
                return Some(format!("{} has not answered for {silent:?}", one.name));
            }
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the process from outside of its runtime. What it holds is recovered when the leases run out.
#[expect(clippy::disallowed_methods, reason = "a runtime that hangs ends in no other way")]
fn exit(lifecycle: &Lifecycle) -> ! {
    events::exit_forced(lifecycle.cause().as_deref().unwrap_or("it was asked to end"));
    log::flush();
    std::process::exit(1)
}

/// How long it really took.
fn sleep(duration: Duration) -> Duration {
    let begun = Instant::now();
    thread::park_timeout(duration);
    begun.elapsed()
}

impl Watched {
    /// Sends the next ping when the last one was answered; returns how long the one under way has waited. A parked actor need not
    /// answer while the pause before its restart can last.
    fn silence(&mut self, longest_pause: Duration, runtime: &Handle) -> Duration {
        let Some(ping) = &self.ping else { return Duration::ZERO };
        let parked = self.poll_times.parked_for();
        if !parked.is_zero() {
            self.asked = None;
            return parked.saturating_sub(longest_pause);
        }
        if self.answered.swap(false, Ordering::Relaxed) {
            self.asked = None;
        }
        if let Some(asked) = self.asked {
            return asked.elapsed();
        }
        self.asked = Some(Instant::now());
        let (answer, answered) = (ping.send(Ping), self.answered.clone());
        runtime.spawn(async move {
            if answer.await.is_ok() {
                answered.store(true, Ordering::Relaxed);
            }
        });
        Duration::ZERO
    }
}
