//! `Watchdog`: a thread of its own that notices an actor which blocks its thread or no longer answers.
//!
//! A hung actor cannot be mended in place: the process drains and exits with the culprit's name, and the next level (systemd,
//! Kubernetes) starts it anew. It knows actors by name and vitals only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use actix::Recipient;
use tokio::runtime::Handle;

use super::cell::Vitals;
use super::lifecycle::Lifecycle;
use super::supervision::Observe;
use crate::config;

#[derive(Clone)]
pub struct Watchdog {
    watched: Arc<Mutex<Vec<Watched>>>,
}

struct Watched {
    name: String,
    vitals: Arc<Vitals>,
    /// None = it is not asked, only looked at.
    ping: Option<Recipient<Observe>>,
    /// When the ping under way was sent; none = the last one was answered.
    asked: Option<Instant>,
    answered: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
struct Limits {
    hung_after: Duration,
    /// The longest pause before a restart.
    parked: Duration,
}

impl Watchdog {
    /// Starts the thread; it ends with the process.
    pub fn start(config: &config::Supervision, lifecycle: Lifecycle, runtime: Handle) -> std::io::Result<Watchdog> {
        let watchdog = Watchdog { watched: Arc::default() };
        let looking = watchdog.clone();
        let (every, limits) = (config.ping, Limits { hung_after: config.hung_after, parked: config.backoff_max });
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            let _in_runtime = runtime.enter();
            while !lifecycle.is_over() {
                let slept = sleep(every);
                if slept > every + limits.hung_after / 2 {
                    // it was the whole process that stood still: stopped by a signal, or starved
                    looking.forgive();
                    continue;
                }
                if let Some(culprit) = looking.look(limits, &runtime) {
                    lifecycle.fail(culprit);
                    return;
                }
            }
        })?;
        Ok(watchdog)
    }

    pub fn watch(&self, name: &str, vitals: Arc<Vitals>, ping: Recipient<Observe>) {
        self.add(name, vitals, Some(ping));
    }

    /// Actors that come and go under one name, and share their vitals.
    pub fn watch_temporary(&self, name: &str, vitals: Arc<Vitals>) {
        self.add(name, vitals, None);
    }

    fn add(&self, name: &str, vitals: Arc<Vitals>, ping: Option<Recipient<Observe>>) {
        let mut all = self.lock();
        all.retain(|other| other.ping.as_ref().is_none_or(Recipient::connected) && other.name != name);
        all.push(Watched { name: name.to_owned(), vitals, ping, asked: None, answered: Arc::default() });
    }

    fn forgive(&self) {
        self.lock().iter_mut().for_each(|one| one.asked = None);
    }

    /// The culprit's name and how long it has hung. Who blocks a thread comes before those who wait behind it.
    fn look(&self, limits: Limits, runtime: &Handle) -> Option<String> {
        let limit = limits.hung_after;
        let mut all = self.lock();
        if let Some(blocker) = all.iter().find(|one| one.vitals.busy_for() > limit) {
            return Some(format!("{} has blocked its thread for {:?}", blocker.name, blocker.vitals.busy_for()));
        }
        let somebody_busy = all.iter().any(|one| one.vitals.busy_for() > limit / 4);
        for one in all.iter_mut() {
            let silent = one.silence(limits.parked, runtime);
            if !somebody_busy && silent > limit {
                return Some(format!("{} has not answered for {silent:?}", one.name));
            }
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long it really took.
fn sleep(duration: Duration) -> Duration {
    let begun = Instant::now();
    thread::park_timeout(duration);
    begun.elapsed()
}

impl Watched {
    /// Sends the next ping when the last one was answered; returns how long the one under way has waited. Who is parked need
    /// not answer while the pause before a restart can last.
    fn silence(&mut self, longest_pause: Duration, runtime: &Handle) -> Duration {
        let Some(ping) = &self.ping else { return Duration::ZERO };
        let parked = self.vitals.parked_for();
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
        let (answer, answered) = (ping.send(Observe), self.answered.clone());
        runtime.spawn(async move {
            if answer.await.is_ok() {
                answered.store(true, Ordering::Relaxed);
            }
        });
        Duration::ZERO
    }
}
