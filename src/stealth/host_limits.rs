//! The load of this process on each host: requests a second, requests at once, and the waits that hosts ask for.
//!
//! One [`HostRateLimits`] is shared by all sessions of the process. It must not know proxies or identities: a host goes in, a
//! [`RequestPermit`] comes out.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::FetchError;
use crate::clock::Clock;
use crate::config;
use crate::domain::retry;

/// Hosts that are remembered; beyond it those not in use are forgotten.
const MAX_HOSTS: usize = 1024;
/// A hold that ends within this is waited for here; for a longer one the task is snoozed.
const SHORT_HOLD: Duration = Duration::from_secs(5);
/// The least wait: a host that says "0 s" or names a time in the past would be asked without end.
const MIN_HOLD: Duration = Duration::from_secs(1);
/// Between two requests to a host, however low its rate: the limiter counts in 64 bits of nanoseconds.
const MAX_PERIOD: Duration = Duration::from_secs(24 * 3600);
/// The first hold after a 429 that names no time.
const DEFAULT_HOLD: Duration = Duration::from_secs(30);

pub(super) struct HostRateLimits {
    config: config::Politeness,
    longest_wait: Duration,
    clock: Clock,
    hosts: Mutex<HashMap<String, Arc<HostLimiter>>>,
}

/// The right to send one request to a host, until it is dropped. The host's limiter is not forgotten meanwhile.
pub(super) struct RequestPermit {
    _limiter: Arc<HostLimiter>,
    _permit: Option<OwnedSemaphorePermit>,
}

struct HostLimiter {
    rate: Option<DefaultDirectRateLimiter>,
    permits: Option<Arc<Semaphore>>,
    hold: Mutex<Hold>,
}

/// Until when a host is not asked, because it answered 429, or 503 with Retry-After.
#[derive(Default)]
struct Hold {
    until: Option<Instant>,
    /// Of the answer that led to it.
    status: u16,
    /// Holds of the default length since the host last accepted a request.
    in_a_row: u32,
}

impl HostRateLimits {
    pub fn new(config: config::Politeness, longest_wait: Duration, clock: Clock) -> Self {
        HostRateLimits { config, longest_wait, clock, hosts: Mutex::default() }
    }

    /// Waits until `host` may be asked. [`FetchError::Throttled`] when it has asked for a long wait.
    pub async fn permit(&self, host: &str) -> Result<RequestPermit, FetchError> {
        let limiter = self.limiter(host);
        let permit = async {
            self.wait_out_hold(host, &limiter).await?;
            let permit = limiter.wait_for_permit().await;
            // the host may have asked another session to wait meanwhile
            self.wait_out_hold(host, &limiter).await?;
            Ok(RequestPermit { _permit: permit, _limiter: Arc::clone(&limiter) })
        };
        let waited = self.longest_wait;
        let timed_out = |_| Err(FetchError::RateLimitTimeout { host: host.to_owned(), waited });
        tokio::time::timeout(waited, permit).await.unwrap_or_else(timed_out)
    }

    /// The host throttles us by an answer of this `status`: no session of this process asks it again before `retry_after`. Without
    /// one the hold is 30 s and doubles each time, until the host [accepts](Self::note_accepted) a request. Gives the wait, which is
    /// capped.
    pub fn hold_off(&self, host: &str, status: u16, retry_after: Option<Duration>) -> Duration {
        let now = self.clock.instant();
        let limiter = self.limiter(host);
        let mut hold = lock(&limiter.hold);
        let cap = self.config.retry_after_cap;
        let wait = match retry_after {
            Some(wait) => wait.min(cap),
            None => hold.next_default(cap, now),
        };
        let capped = wait.max(MIN_HOLD);
        if hold.until < Some(now + capped) {
            (hold.until, hold.status) = (Some(now + capped), status);
        }
        capped
    }

    /// Notes that the host has answered a request without throttling it.
    pub fn note_accepted(&self, host: &str) {
        lock(&self.limiter(host).hold).in_a_row = 0;
    }

    /// The pause before the next page; `share` is a random number in 0…1.
    pub fn page_pause(&self, share: f64) -> Duration {
        let range = self.config.page_pause_max.saturating_sub(self.config.page_pause_min);
        self.config.page_pause_min + range.mul_f64(share.clamp(0.0, 1.0))
    }

    async fn wait_out_hold(&self, host: &str, limiter: &HostLimiter) -> Result<(), FetchError> {
        while let Some(left) = limiter.held_for(self.clock.instant()) {
            if left > SHORT_HOLD {
                let status = lock(&limiter.hold).status;
                return Err(FetchError::Throttled { host: host.to_owned(), status, retry_after: Some(left) });
            }
            tokio::time::sleep(left).await;
        }
        Ok(())
    }

    fn limiter(&self, host: &str) -> Arc<HostLimiter> {
        let now = self.clock.instant();
        let mut hosts = lock(&self.hosts);
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(host) {
            hosts.retain(|_, limiter| Arc::strong_count(limiter) > 1 || limiter.held_for(now).is_some());
        }
        Arc::clone(hosts.entry(host.to_owned()).or_insert_with(|| Arc::new(HostLimiter::new(&self.config))))
    }
}

impl HostLimiter {
    fn new(config: &config::Politeness) -> Self {
        HostLimiter {
            rate: quota(config.requests_per_second).map(RateLimiter::direct),
            permits: (config.concurrency > 0).then(|| Arc::new(Semaphore::new(config.concurrency))),
            hold: Mutex::default(),
        }
    }

    async fn wait_for_permit(&self) -> Option<OwnedSemaphorePermit> {
        let permit = match &self.permits {
            // the semaphore is never closed
            Some(permits) => Arc::clone(permits).acquire_owned().await.ok(),
            None => None,
        };
        if let Some(rate) = &self.rate {
            rate.until_ready().await;
        }
        permit
    }

    fn held_for(&self, now: Instant) -> Option<Duration> {
        let until = lock(&self.hold).until;
        until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
    }
}

/// Evenly spaced, without a burst. None = no limit.
fn quota(per_second: f64) -> Option<Quota> {
    let period = (per_second > 0.0).then(|| Duration::try_from_secs_f64(1.0 / per_second))?;
    Quota::with_period(period.unwrap_or(MAX_PERIOD).min(MAX_PERIOD)).map(|quota| quota.allow_burst(NonZeroU32::MIN))
}

impl Hold {
    /// Answers of 429 that arrive during a hold are to requests sent before it: they do not double it.
    fn next_default(&mut self, cap: Duration, now: Instant) -> Duration {
        if self.until.is_none_or(|until| until <= now) {
            self.in_a_row = self.in_a_row.saturating_add(1);
        }
        retry::doubling(DEFAULT_HOLD, cap, self.in_a_row.saturating_sub(1))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const HOST: &str = "menu.test";
    const SECOND: Duration = Duration::from_secs(1);

    fn limits(clock: &Clock) -> HostRateLimits {
        let politeness = config::Politeness {
            requests_per_second: 0.0,
            concurrency: 0,
            page_pause_min: Duration::ZERO,
            page_pause_max: Duration::ZERO,
            retry_after_cap: 900 * SECOND,
        };
        HostRateLimits::new(politeness, SECOND, clock.clone())
    }

    #[test]
    fn a_hold_without_a_time_doubles_up_to_the_cap_and_begins_again_after_an_answer() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = limits(&clock);
        let mut holds = Vec::new();
        for _ in 0..7 {
            let hold = limits.hold_off(HOST, 429, None);
            assert_eq!(limits.hold_off(HOST, 429, None), hold, "the other request under way gets the same hold");
            clock.advance(hold);
            holds.push(hold.as_secs());
        }
        assert_eq!(holds, [30, 60, 120, 240, 480, 900, 900]);
        limits.note_accepted(HOST);
        assert_eq!(limits.hold_off(HOST, 429, None), 30 * SECOND);
    }

    #[rstest]
    #[case::at_once(Some(Duration::ZERO))]
    #[case::later(Some(30 * SECOND))]
    #[case::without_a_time(None)]
    fn no_cap_takes_away_the_least_wait(#[case] retry_after: Option<Duration>) {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let politeness = config::Politeness { retry_after_cap: Duration::ZERO, ..limits(&clock).config };
        let limits = HostRateLimits::new(politeness, SECOND, clock);
        assert_eq!(limits.hold_off(HOST, 429, retry_after), MIN_HOLD);
    }

    #[tokio::test]
    async fn a_host_with_a_request_under_way_is_not_forgotten_however_many_there_are() {
        let politeness = config::Politeness { concurrency: 1, ..limits(&Clock::system()).config };
        let limits = HostRateLimits::new(politeness, Duration::ZERO, Clock::system());
        let _under_way = limits.permit(HOST).await;
        for nth in 0..=MAX_HOSTS {
            assert!(limits.permit(&format!("{nth}.test")).await.is_ok());
        }
        assert!(limits.permit(HOST).await.is_err());
    }

    #[rstest]
    #[case::none(0.0, false)]
    #[case::ordinary(5.0, true)]
    #[case::one_in_centuries(1e-12, true)]
    #[case::one_in_an_eternity(1e-300, true)]
    fn every_rate_above_zero_is_a_limit(#[case] per_second: f64, #[case] is_limited: bool) {
        let limiter = quota(per_second).map(RateLimiter::direct);
        assert_eq!(limiter.is_some_and(|limiter| limiter.check().is_ok()), is_limited);
    }

    #[tokio::test]
    async fn a_held_host_is_not_asked() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = limits(&clock);
        limits.hold_off(HOST, 503, None);
        assert!(matches!(limits.permit(HOST).await, Err(FetchError::Throttled { status: 503, .. })));
        assert!(limits.permit("other.test").await.is_ok());
        clock.advance(30 * SECOND);
        assert!(limits.permit(HOST).await.is_ok());
    }
}
