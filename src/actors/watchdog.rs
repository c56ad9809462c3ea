//! `Watchdog`: a thread of its own that notices an actor which blocks its thread or no longer answers.
//!
//! A hung actor cannot be mended in place: the process drains and exits with the culprit's name, and the next level (systemd,
//! Kubernetes) starts it anew. It knows actors by name and vitals only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
    ping: Recipient<Observe>,
    /// When the ping under way was sent; none = the last one was answered.
    asked: Option<Instant>,
    answered: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts the thread; it ends with the process.
    pub fn start(config: &config::Supervision, lifecycle: Lifecycle, runtime: Handle) -> std::io::Result<Watchdog> {
        let watchdog = Watchdog { watched: Arc::default() };
        let looking = watchdog.clone();
        let (every, limit) = (config.ping, config.hung_after);
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            let _in_runtime = runtime.enter();
            while !lifecycle.is_over() {
                thread::park_timeout(every);
                if let Some(culprit) = looking.look(limit, &runtime) {
                    lifecycle.fail(culprit);
                    return;
                }
            }
        })?;
        Ok(watchdog)
    }

    pub fn watch(&self, name: &str, vitals: Arc<Vitals>, ping: Recipient<Observe>) {
        let watched =
            Watched { name: name.to_owned(), vitals, ping, asked: None, answered: Arc::new(AtomicBool::new(false)) };
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.ping.connected() && other.name != name);
        all.push(watched);
    }

    /// The culprit's name and how long it has hung. Who blocks a thread comes before those who wait behind it.
    fn look(&self, limit: Duration, runtime: &Handle) -> Option<String> {
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blocker) = all.iter().find(|one| one.vitals.busy_for() > limit) {
            return Some(format!("{} has blocked its thread for {:?}", blocker.name, blocker.vitals.busy_for()));
        }
        let somebody_busy = all.iter().any(|one| one.vitals.busy_for() > limit / 4);
        for one in all.iter_mut() {
            let silent = one.silence(runtime);
            if !somebody_busy && silent > limit {
                return Some(format!("{} has not answered for {silent:?}", one.name));
            }
        }
        None
    }
}

impl Watched {
    /// Sends the next ping when the last one was answered; returns how long the one under way has waited.
    fn silence(&mut self, runtime: &Handle) -> Duration {
        if self.answered.swap(false, Ordering::Relaxed) {
            self.asked = None;
        }
        if let Some(asked) = self.asked {
            return asked.elapsed();
        }
        self.asked = Some(Instant::now());
        let (answer, answered) = (self.ping.send(Observe), self.answered.clone());
        runtime.spawn(async move {
            if answer.await.is_ok() {
                answered.store(true, Ordering::Relaxed);
            }
        });
        Duration::ZERO
    }
}
