//! This process's limits for each host now: its share of the rate and of the concurrent requests, the waits
//! that hosts ask for, and their breakers.
//!
//! One [`HostRateLimits`] is shared by all sessions of the process. It must not know proxies or identities: a
//! host goes in, a [`RequestPermit`] comes out, and a [`HostOutcome`] goes back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;

use super::host_limiter::{HostLimiter, LimiterDeps};
use super::{FetchError, HostTable};
use domain::host::{HostOutcome, HostRefusal, HostReport, Permission, ProbeNumber};
use foundation::clock::Clock;
use settings::Live;
use telemetry::metrics;

/// Hosts that are remembered; beyond it those not in use are forgotten.
const MAX_HOSTS: usize = 1024;
/// A hold that ends within this is waited for here; for a longer one the task is snoozed.
const MAX_INLINE_WAIT: Duration = Duration::from_secs(5);
/// How long a task waits when it is not known whether it may send the probe.
const UNKNOWN_WAIT: Duration = Duration::from_secs(5);
/// Requests to a host with a minimum interval that may have their turns before one that waits.
const MAX_AHEAD: u32 = 32;

pub struct HostRateLimits {
    longest_wait: Duration,
    deps: Arc<LimiterDeps>,
    hosts: Mutex<HashMap<String, Arc<HostLimiter>>>,
}

/// The right to send one request to a host, until the outcome is [noted](HostRateLimits::note) or it is
/// dropped. Until then the host's limiter is kept.
pub struct RequestPermit {
    limiter: Arc<HostLimiter>,
    probe: Option<ProbeNumber>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl RequestPermit {
    /// Whether it is the one request by which an open breaker tries its host.
    pub fn is_probe(&self) -> bool {
        self.probe.is_some()
    }
}

impl HostRateLimits {
    /// Makes the limits. Without a `table`, this process has the hosts for itself. `longest_wait` also bounds a request.
    pub fn new(
        politeness: impl Into<Live<settings::Politeness>>,
        longest_wait: Duration,
        clock: Clock,
        table: Option<Arc<dyn HostTable>>,
    ) -> Self {
        let deps = Arc::new(LimiterDeps { table, politeness: politeness.into(), probe_time: longest_wait, clock });
        HostRateLimits { longest_wait, deps, hosts: Mutex::default() }
    }

    /// The reason why `host` may not be asked now, where there is one that lasts.
    pub async fn check(&self, host: &str) -> Result<(), FetchError> {
        let limiter = self.limiter(host);
        limiter.refresh().await;
        match limiter.permission() {
            Permission::Held { left, status } if left > MAX_INLINE_WAIT => Err(throttled(host, status, left)),
            Permission::Refusing(refusing) => Err(refused(host, refusing)),
            _ => Ok(()),
        }
    }

    /// A refusal or failure with what `host` does to all requests, and since when.
    pub fn since_when(&self, host: &str, error: FetchError) -> FetchError {
        match self.limiter(host).trouble() {
            Some(trouble) => FetchError::HostTrouble { error: Box::new(error), trouble: Box::new(trouble) },
            None => error,
        }
    }

    /// Waits until `host` may be asked. [`FetchError::Throttled`] when it has asked for a long wait,
    /// [`FetchError::HostRefuses`] while its breaker is open.
    pub async fn permit(&self, host: &str) -> Result<RequestPermit, FetchError> {
        self.permit_spaced(host, Duration::ZERO).await
    }

    /// The same, for a host that is asked at most once in `min_interval`, by all processes together and whatever
    /// `[politeness]` permits. It stays so for the host's later requests; the longest interval counts.
    pub async fn permit_spaced(&self, host: &str, min_interval: Duration) -> Result<RequestPermit, FetchError> {
        let limiter = self.limiter(host);
        limiter.space_out(min_interval);
        let permit = async {
            limiter.refresh().await;
            wait_out_hold(&limiter).await?;
            let permit = limiter.wait_for_turn().await;
            // the host may have asked another session to wait meanwhile
            let probe = until_free(&limiter).await?;
            Ok(RequestPermit { limiter: Arc::clone(&limiter), probe, _permit: permit })
        };
        let waited = self.longest_wait.saturating_add(min_interval.saturating_mul(MAX_AHEAD));
        let timed_out = |_| Err(FetchError::RateLimitTimeout { host: host.to_owned(), waited });
        tokio::time::timeout(waited, permit).await.unwrap_or_else(timed_out)
    }

    /// Ends the permit. A change of the host's limits is shared at once, everything else with the next
    /// exchange. Returns how long a throttle holds the host, which is capped.
    pub async fn note(&self, mut permit: RequestPermit, outcome: HostOutcome) -> Option<Duration> {
        let probe = permit.probe.take();
        let report = outcome.report(probe);
        let limiter = Arc::clone(&permit.limiter);
        drop(permit);
        if probe.is_none() && matches!(outcome, HostOutcome::Accepted(_) | HostOutcome::Nothing) {
            limiter.note(report);
            return None;
        }
        limiter.exchange(report).await.hold
    }

    /// Exchanges the observations that were not exchanged at once.
    pub async fn exchange_all(&self) {
        let limiters: Vec<_> = lock(&self.hosts).values().cloned().collect();
        for limiter in limiters.iter().filter(|limiter| limiter.has_unsaved()) {
            limiter.exchange(HostReport::default()).await;
        }
        metrics::HOSTS_REFUSING.set(limiters.iter().filter(|limiter| limiter.is_refused()).count() as i64);
    }

    /// Reads the shared state of a host again, if it was asked before.
    pub async fn reread(&self, host: &str) {
        let known = lock(&self.hosts).get(host).cloned();
        if let Some(limiter) = known {
            limiter.exchange(HostReport::default()).await;
        }
    }

    /// The pause before the next page; `share` is a random number in 0…1.
    pub fn page_pause(&self, share: f64) -> Duration {
        let settings::Politeness { page_pause_min, page_pause_max, .. } = self.deps.politeness.current();
        page_pause_min + page_pause_max.saturating_sub(page_pause_min).mul_f64(share.clamp(0.0, 1.0))
    }

    fn limiter(&self, host: &str) -> Arc<HostLimiter> {
        let mut hosts = lock(&self.hosts);
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(host) {
            hosts.retain(|_, limiter| {
                Arc::strong_count(limiter) > 1 || limiter.has_unsaved() || limiter.permission() != Permission::Free
            });
        }
        let make = || Arc::new(HostLimiter::new(host, Arc::clone(&self.deps)));
        Arc::clone(hosts.entry(host.to_owned()).or_insert_with(make))
    }
}

async fn wait_out_hold(limiter: &Arc<HostLimiter>) -> Result<(), FetchError> {
    while let Permission::Held { left, status } = limiter.permission() {
        if left > MAX_INLINE_WAIT {
            return Err(throttled(&limiter.host, status, left));
        }
        tokio::time::sleep(left).await;
        limiter.refresh().await;
    }
    Ok(())
}

/// Waits out a hold, and asks for the probe where one is due.
async fn until_free(limiter: &Arc<HostLimiter>) -> Result<Option<ProbeNumber>, FetchError> {
    wait_out_hold(limiter).await?;
    match limiter.permission() {
        Permission::Refusing(refusing) => return Err(refused(&limiter.host, refusing)),
        Permission::Free | Permission::Held { .. } => return Ok(None),
        Permission::ProbeDue => {}
    }
    let asked = limiter.exchange(HostReport { asks_probe: true, ..HostReport::default() }).await;
    match (asked.probe, limiter.permission()) {
        (Some(probe), _) => Ok(Some(probe)),
        (None, Permission::Free) => Ok(None),
        (None, Permission::Held { left, status }) => Err(throttled(&limiter.host, status, left)),
        (None, Permission::Refusing(refusing)) => Err(refused(&limiter.host, refusing)),
        // the table does not answer
        (None, Permission::ProbeDue) => Err(refused(&limiter.host, limiter.refusing(UNKNOWN_WAIT))),
    }
}

fn throttled(host: &str, status: u16, left: Duration) -> FetchError {
    FetchError::Throttled { host: host.to_owned(), status, retry_after: Some(left) }
}

fn refused(host: &str, refusing: HostRefusal) -> FetchError {
    FetchError::HostRefuses { host: host.to_owned(), refusing: Box::new(refusing) }
}

/// A probe whose task was stopped has no verdict.
impl Drop for RequestPermit {
    fn drop(&mut self) {
        if self.probe.is_some() {
            self.limiter.note(HostOutcome::Nothing.report(self.probe));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::future::{BoxFuture, ready};

    use super::*;
    use crate::stealth::host_table::ExchangeResult;
    use domain::host::{HostLimits, HostState, Throttle};

    const HOST: &str = "menu.test";
    const SECOND: Duration = Duration::from_secs(1);

    fn politeness() -> settings::Politeness {
        let quiet = [("politeness.requests_per_second", "0"), ("politeness.concurrency", "0")];
        settings::Config::with(&quiet).unwrap().politeness
    }

    fn limits(politeness: settings::Politeness, clock: &Clock) -> HostRateLimits {
        HostRateLimits::new(politeness, SECOND, clock.clone(), None)
    }

    async fn see(limits: &HostRateLimits, outcome: HostOutcome) -> Option<Duration> {
        let permit = limits.permit(HOST).await.unwrap();
        limits.note(permit, outcome).await
    }

    #[tokio::test]
    async fn a_host_with_a_request_under_way_is_not_forgotten_however_many_there_are() {
        let politeness = settings::Politeness { concurrency: 1, ..politeness() };
        let limits = HostRateLimits::new(politeness, Duration::from_millis(100), Clock::system(), None);
        let _under_way = limits.permit(HOST).await;
        for nth in 0..=MAX_HOSTS {
            assert!(limits.permit(&format!("{nth}.test")).await.is_ok());
        }
        assert!(limits.permit(HOST).await.is_err());
    }

    #[tokio::test]
    async fn a_held_host_is_not_asked() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = limits(politeness(), &clock);
        let throttle = Throttle { status: 503, retry_after: None };
        assert_eq!(see(&limits, HostOutcome::Throttled(throttle)).await, Some(30 * SECOND));
        assert!(matches!(limits.permit(HOST).await, Err(FetchError::Throttled { status: 503, .. })));
        assert!(limits.permit("other.test").await.is_ok());
        clock.advance(30 * SECOND);
        assert!(limits.permit(HOST).await.is_ok());
    }

    #[tokio::test]
    async fn a_host_that_refuses_gets_one_probe_after_a_pause_and_is_free_when_it_accepts_it() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = limits(settings::Politeness { breaker_requests: 3, ..politeness() }, &clock);
        for _ in 0..3 {
            see(&limits, HostOutcome::Refused).await;
        }
        let error = limits.permit(HOST).await.err().unwrap();
        let told = "menu.test refuses 100 % of requests since 00:00 UTC; next probe in 30 s";
        assert_eq!(error.to_string(), told);
        assert!(limits.check(HOST).await.is_err());

        clock.advance(30 * SECOND);
        let probe = limits.permit(HOST).await.unwrap();
        assert!(limits.permit(HOST).await.is_err(), "one at a time");
        limits.note(probe, HostOutcome::Accepted(None)).await;
        assert!(limits.permit(HOST).await.is_ok());
    }

    /// The table that several processes share, without a database.
    struct SharedTable {
        state: Mutex<HostState>,
        limits: HostLimits,
        clock: Clock,
    }

    impl SharedTable {
        fn apply(&self, report: &HostReport) -> ExchangeResult {
            let (mut state, now) = (lock(&self.state), self.clock.utc());
            let applied = state.apply("a", report, &self.limits, now);
            ExchangeResult { state: state.clone(), now, applied }
        }
    }

    impl HostTable for SharedTable {
        fn exchange(&self, _: &str, report: HostReport) -> BoxFuture<'static, Result<ExchangeResult, String>> {
            Box::pin(ready(Ok(self.apply(&report))))
        }
    }

    #[tokio::test]
    async fn after_a_hold_a_process_looks_whether_another_has_met_the_next_one() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = politeness().host_limits(SECOND);
        let state = Mutex::new(HostState::new(clock.utc()));
        let table = Arc::new(SharedTable { state, limits, clock: clock.clone() });
        let process = HostRateLimits::new(politeness(), SECOND, clock.clone(), Some(table.clone()));
        let throttled = |seconds: u32| Throttle { status: 429, retry_after: Some(seconds * SECOND) };
        see(&process, HostOutcome::Throttled(throttled(6))).await;
        clock.advance(5 * SECOND);
        table.apply(&HostOutcome::Throttled(throttled(60)).report(None));
        clock.advance(2 * SECOND);
        assert!(matches!(process.permit(HOST).await, Err(FetchError::Throttled { .. })));
    }

    #[tokio::test]
    async fn a_breaker_that_is_closed_elsewhere_is_closed_here_a_second_later() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = politeness().host_limits(SECOND);
        let state = Mutex::new(HostState::new(clock.utc()));
        let table = Arc::new(SharedTable { state, limits, clock: clock.clone() });
        let process = HostRateLimits::new(politeness(), SECOND, clock.clone(), Some(table.clone()));
        lock(&table.state).open_by_hand(None, None, clock.utc());
        assert!(matches!(process.permit(HOST).await, Err(FetchError::HostRefuses { .. })));
        lock(&table.state).close_by_hand(clock.utc());
        clock.advance(SECOND);
        assert!(process.permit(HOST).await.is_ok());
    }

    #[tokio::test]
    async fn a_probe_whose_task_is_stopped_is_sent_again_later() {
        let clock = Clock::manual(chrono::DateTime::UNIX_EPOCH);
        let limits = limits(settings::Politeness { breaker_requests: 1, ..politeness() }, &clock);
        see(&limits, HostOutcome::Refused).await;
        clock.advance(30 * SECOND);
        drop(limits.permit(HOST).await.unwrap());
        limits.exchange_all().await;
        clock.advance(30 * SECOND);
        assert!(limits.permit(HOST).await.is_ok());
    }
}
