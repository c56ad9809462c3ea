//! How hard this process leans on each host: requests a second, requests at once, and obedience to `Retry-After`.
//!
//! One [`Politeness`] is shared by all sessions of the process. It must not know proxies or identities: a host goes in, a
//! [`Turn`] comes out.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::FetchError;
use crate::clock::Clock;
use crate::config;

/// Hosts that are remembered; beyond it those that nobody uses are forgotten.
const MOST_HOSTS: usize = 1024;
/// A hold-off that ends within this is waited for here; a longer one is the task's to wait for.
const SHORT_HOLD: Duration = Duration::from_secs(5);

pub(super) struct Politeness {
    config: config::Politeness,
    longest_wait: Duration,
    clock: Clock,
    hosts: Mutex<HashMap<String, Arc<Gate>>>,
}

/// The right to send one request to a host, until it is dropped.
pub(super) struct Turn(#[allow(dead_code, reason = "held, never read")] Option<OwnedSemaphorePermit>);

struct Gate {
    rate: Option<DefaultDirectRateLimiter>,
    places: Option<Arc<Semaphore>>,
    hold_until: Mutex<Option<Instant>>,
}

impl Politeness {
    pub fn new(config: config::Politeness, longest_wait: Duration, clock: Clock) -> Self {
        Politeness { config, longest_wait, clock, hosts: Mutex::default() }
    }

    /// Waits until `host` may be asked. [`FetchError::Throttled`] when it has asked for a longer patience.
    pub async fn turn(&self, host: &str) -> Result<Turn, FetchError> {
        let gate = self.gate(host);
        let turn = async {
            self.hold(host, &gate).await?;
            let turn = gate.turn().await;
            // it may have asked for patience while we stood in line
            self.hold(host, &gate).await?;
            Ok(turn)
        };
        let waited = self.longest_wait;
        let no_turn = |_| Err(FetchError::NoTurn { host: host.to_owned(), waited });
        tokio::time::timeout(waited, turn).await.unwrap_or_else(no_turn)
    }

    /// The host asked for patience: no session of this process asks it again before then. Gives the capped wait.
    pub fn hold_off(&self, host: &str, retry_after: Duration) -> Duration {
        let capped = retry_after.min(self.config.retry_after_cap);
        let gate = self.gate(host);
        let until = self.clock.instant() + capped;
        let mut hold = lock(&gate.hold_until);
        *hold = Some(hold.map_or(until, |known| known.max(until)));
        capped
    }

    /// The pause before the next page; `share` is a random number in 0…1.
    pub fn page_pause(&self, share: f64) -> Duration {
        let range = self.config.page_pause_max.saturating_sub(self.config.page_pause_min);
        self.config.page_pause_min + range.mul_f64(share.clamp(0.0, 1.0))
    }

    async fn hold(&self, host: &str, gate: &Gate) -> Result<(), FetchError> {
        while let Some(left) = gate.held_for(self.clock.instant()) {
            if left > SHORT_HOLD {
                return Err(FetchError::Throttled { host: host.to_owned(), status: 429, retry_after: Some(left) });
            }
            tokio::time::sleep(left).await;
        }
        Ok(())
    }

    fn gate(&self, host: &str) -> Arc<Gate> {
        let now = self.clock.instant();
        let mut hosts = lock(&self.hosts);
        if hosts.len() >= MOST_HOSTS && !hosts.contains_key(host) {
            hosts.retain(|_, gate| Arc::strong_count(gate) > 1 || gate.held_for(now).is_some());
        }
        Arc::clone(hosts.entry(host.to_owned()).or_insert_with(|| Arc::new(Gate::new(&self.config))))
    }
}

impl Gate {
    fn new(config: &config::Politeness) -> Self {
        Gate {
            rate: quota(config.requests_per_second).map(RateLimiter::direct),
            places: (config.concurrency > 0).then(|| Arc::new(Semaphore::new(config.concurrency))),
            hold_until: Mutex::default(),
        }
    }

    async fn turn(&self) -> Turn {
        let place = match &self.places {
            // the semaphore is never closed
            Some(places) => Arc::clone(places).acquire_owned().await.ok(),
            None => None,
        };
        if let Some(rate) = &self.rate {
            rate.until_ready().await;
        }
        Turn(place)
    }

    fn held_for(&self, now: Instant) -> Option<Duration> {
        let until = *lock(&self.hold_until);
        until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
    }
}

/// Evenly spaced, without a burst: that is what a host feels. None = no limit.
fn quota(per_second: f64) -> Option<Quota> {
    let period = (per_second > 0.0).then(|| Duration::try_from_secs_f64(1.0 / per_second).ok())??;
    Quota::with_period(period).map(|quota| quota.allow_burst(NonZeroU32::MIN))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
