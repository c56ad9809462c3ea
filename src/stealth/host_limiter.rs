//! `HostLimiter`: one host as this process sees it: the shared state as last read, observations to add to it,
//! and this process's share of the rate.
//!
//! Without a [`HostTable`], and while it fails, the rules are applied here alone. It must not know proxies or
//! requests.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::host_table::{ExchangeResult, HostTable};
use domain::host::{BreakerState, HostRefusal, HostReport, HostState, Permission, Rate, ReportResult, Trouble};
use foundation::clock::Clock;
use settings::Live;
use telemetry::events;

/// How old the view may become while the host is asked.
const MAX_AGE: Duration = Duration::from_secs(10);
/// The same while it refuses: tasks are woken when its breaker closes, and must not find it open here.
const MAX_AGE_REFUSED: Duration = Duration::from_secs(1);
/// Maximum time between two requests to a host, however low its rate: the limiter counts in 64 bits of nanoseconds.
const MAX_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// Parts that all limiters of a process share.
pub(super) struct LimiterDeps {
    pub table: Option<Arc<dyn HostTable>>,
    pub politeness: Live<settings::Politeness>,
    /// How long a probe may take.
    pub probe_time: Duration,
    pub clock: Clock,
}

pub(super) struct HostLimiter {
    pub host: String,
    deps: Arc<LimiterDeps>,
    view: Mutex<View>,
    pace: Mutex<Pace>,
    /// One exchange at a time, so that no view is replaced by an older one.
    turn: tokio::sync::Mutex<()>,
}

struct View {
    state: HostState,
    /// Time when the state was read, by both clocks.
    read: (DateTime<Utc>, Instant),
    exchanged: Option<Instant>,
    table_fails: bool,
    unsaved: HostReport,
}

/// This process's share of the rate and of the requests at once, as last made.
#[derive(Default)]
struct Pace {
    per_second: f64,
    /// Minimum time between two requests of all processes, whatever the rate.
    min_interval: Duration,
    rate: Option<Arc<DefaultDirectRateLimiter>>,
    concurrency: usize,
    permits: Option<Arc<Semaphore>>,
}

impl HostLimiter {
    pub fn new(host: &str, deps: Arc<LimiterDeps>) -> Self {
        let read = (deps.clock.utc(), deps.clock.instant());
        let view = View {
            state: HostState::new(read.0),
            read,
            exchanged: None,
            table_fails: false,
            unsaved: HostReport::default(),
        };
        HostLimiter {
            host: host.to_owned(),
            deps,
            view: Mutex::new(view),
            pace: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub fn permission(&self) -> Permission {
        let now = self.deps.clock.instant();
        let view = lock(&self.view);
        view.state.permission(view.now(now))
    }

    /// The refusal to report where nothing may be sent for `left`.
    pub fn refusing(&self, left: Duration) -> HostRefusal {
        lock(&self.view).state.refusing(left)
    }

    pub fn trouble(&self) -> Option<Trouble> {
        lock(&self.view).state.trouble()
    }

    /// Notes the outcome, for the next exchange.
    pub fn note(&self, report: HostReport) {
        lock(&self.view).unsaved.absorb(report);
    }

    pub fn has_unsaved(&self) -> bool {
        !lock(&self.view).unsaved.is_empty()
    }

    pub fn is_refused(&self) -> bool {
        matches!(self.permission(), Permission::Refusing(_) | Permission::ProbeDue)
    }

    /// Reads the shared state, unless that was done lately.
    pub async fn refresh(self: &Arc<Self>) {
        let now = self.deps.clock.instant();
        if lock(&self.view).is_old(now) {
            self.exchange(HostReport::default()).await;
        }
    }

    /// Adds `report`, and all that was noted before, to the shared state.
    pub async fn exchange(self: &Arc<Self>, mut report: HostReport) -> ReportResult {
        let begun = self.deps.clock.instant();
        // not noted: an exchange that took it along would be given the probe
        let asks_probe = std::mem::take(&mut report.asks_probe);
        self.note(report);
        let limiter = Arc::clone(self);
        // it continues when the session that asked for it is dropped: the report is out of `unsaved` meanwhile
        tokio::spawn(async move { limiter.exchange_in_turn(begun, asks_probe).await }).await.unwrap_or_default()
    }

    async fn exchange_in_turn(&self, begun: Instant, asks_probe: bool) -> ReportResult {
        let _turn = self.turn.lock().await;
        let report = {
            let mut view = lock(&self.view);
            if !asks_probe && view.unsaved.is_empty() && view.exchanged >= Some(begun) {
                // the one before took the report along
                return ReportResult { hold: view.held(self.deps.clock.instant()), ..ReportResult::default() };
            }
            HostReport { asks_probe, ..std::mem::take(&mut view.unsaved) }
        };
        let applied = match &self.deps.table {
            None => self.apply_here(&report),
            Some(table) => match table.exchange(&self.host, report.clone()).await {
                Ok(exchanged) => self.adopt(exchanged),
                Err(error) => self.keep(report, &error),
            },
        };
        lock(&self.view).exchanged = Some(self.deps.clock.instant());
        if let Some(notice) = &applied.notice {
            events::host_notice(&self.host, notice);
        }
        applied
    }

    fn adopt(&self, exchanged: ExchangeResult) -> ReportResult {
        let ExchangeResult { state, now, applied } = exchanged;
        let mut view = lock(&self.view);
        (view.state, view.read, view.table_fails) = (state, (now, self.deps.clock.instant()), false);
        applied
    }

    /// The table fails: the report is judged here, and added to the table later. Only the table gives out
    /// probes.
    fn keep(&self, mut report: HostReport, error: &str) -> ReportResult {
        report.asks_probe = false;
        let applied = self.apply_here(&report);
        let mut view = lock(&self.view);
        report.absorb(std::mem::take(&mut view.unsaved));
        view.unsaved = report;
        let failed_before = std::mem::replace(&mut view.table_fails, true);
        events::host_table_failed(&self.host, error, failed_before);
        applied
    }

    fn apply_here(&self, report: &HostReport) -> ReportResult {
        let limits = self.deps.politeness.current().host_limits(self.deps.probe_time);
        let mut view = lock(&self.view);
        let now = view.now(self.deps.clock.instant());
        view.state.apply("", report, &limits, now)
    }

    /// The host is asked at most once in `interval` from now on; the longest interval counts.
    pub fn space_out(&self, interval: Duration) {
        let mut pace = lock(&self.pace);
        pace.min_interval = pace.min_interval.max(interval);
    }

    /// Waits for this process's next turn at the host.
    pub async fn wait_for_turn(&self) -> Option<OwnedSemaphorePermit> {
        let (rate, permits) = self.share();
        let permit = match permits {
            // the semaphore is never closed
            Some(permits) => permits.acquire_owned().await.ok(),
            None => None,
        };
        if let Some(rate) = rate {
            rate.until_ready().await;
        }
        permit
    }

    /// The limits of this process. A changed one starts again: for a moment more may be under way.
    fn share(&self) -> (Option<Arc<DefaultDirectRateLimiter>>, Option<Arc<Semaphore>>) {
        let (rate, processes) = {
            let view = lock(&self.view);
            (view.state.rate.clone(), view.state.process_count())
        };
        let mut pace = lock(&self.pace);
        let per_second = pace.spaced(&rate);
        pace.set_rate(per_second / processes as f64);
        pace.set_concurrency(match self.deps.politeness.current().concurrency {
            0 => 0,
            all => (all / processes).max(1),
        });
        (pace.rate.clone(), pace.permits.clone())
    }
}

impl View {
    /// The shared clock's time; it does not jump with the system's clock.
    fn now(&self, now: Instant) -> DateTime<Utc> {
        let (utc, instant) = self.read;
        let passed = TimeDelta::from_std(now.saturating_duration_since(instant)).unwrap_or_default();
        utc.checked_add_signed(passed).unwrap_or(utc)
    }

    /// Whether the state must be read again. After a hold it is old at once: another process may have met the next one, and
    /// two that take turns so would never be held both.
    fn is_old(&self, now: Instant) -> bool {
        let Some(exchanged) = self.exchanged else { return true };
        let has_outlived_hold = self.held(exchanged).is_some() && self.held(now).is_none();
        let max_age = if self.state.breaker.state == BreakerState::Closed { MAX_AGE } else { MAX_AGE_REFUSED };
        has_outlived_hold || now.saturating_duration_since(exchanged) >= max_age
    }

    fn held(&self, now: Instant) -> Option<Duration> {
        self.state.hold.left(self.now(now))
    }
}

impl Pace {
    /// The rate of all processes. One that trouble has lowered lowers that of the interval by the same share.
    fn spaced(&self, rate: &Rate) -> f64 {
        if self.min_interval.is_zero() {
            return rate.rate;
        }
        let most = 1.0 / self.min_interval.as_secs_f64();
        match rate.configured_rate > 0.0 {
            true => rate.rate * (most / rate.configured_rate).min(1.0),
            false => most,
        }
    }

    fn set_rate(&mut self, per_second: f64) {
        if self.per_second != per_second {
            self.per_second = per_second;
            self.rate = quota(per_second).map(|quota| Arc::new(RateLimiter::direct(quota)));
        }
    }

    fn set_concurrency(&mut self, concurrency: usize) {
        if self.concurrency != concurrency {
            self.concurrency = concurrency;
            self.permits = (concurrency > 0).then(|| Arc::new(Semaphore::new(concurrency)));
        }
    }
}

/// Evenly spaced, without a burst. None = no limit.
fn quota(per_second: f64) -> Option<Quota> {
    let period = (per_second > 0.0).then(|| Duration::try_from_secs_f64(1.0 / per_second))?;
    Quota::with_period(period.unwrap_or(MAX_PERIOD).min(MAX_PERIOD)).map(|quota| quota.allow_burst(NonZeroU32::MIN))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use futures_util::future::BoxFuture;
    use rstest::rstest;

    use super::*;
    use domain::host::HostLimits;
    use settings::Config;

    /// A table that answers once it is let.
    struct SlowTable {
        state: Arc<Mutex<HostState>>,
        limits: HostLimits,
        answers: Arc<Semaphore>,
    }

    impl HostTable for SlowTable {
        fn exchange(&self, _: &str, report: HostReport) -> BoxFuture<'static, Result<ExchangeResult, String>> {
            let (state, limits, answers) = (self.state.clone(), self.limits.clone(), self.answers.clone());
            Box::pin(async move {
                answers.acquire().await.map_err(|closed| closed.to_string())?.forget();
                let mut state = lock(&state);
                let now = DateTime::UNIX_EPOCH;
                let applied = state.apply("a", &report, &limits, now);
                Ok(ExchangeResult { state: state.clone(), now, applied })
            })
        }
    }

    fn refused() -> HostReport {
        HostReport { answers: 1, refusals: 1, ..HostReport::default() }
    }

    #[tokio::test]
    async fn a_probe_is_given_to_the_exchange_that_asks_for_it() {
        let politeness = Config::with(&[]).unwrap().politeness;
        let limits = HostLimits { min_requests: 1.0, open_base: Duration::ZERO, ..politeness.host_limits(MAX_AGE) };
        let answers = Arc::new(Semaphore::new(0));
        let state = Arc::new(Mutex::new(HostState::new(DateTime::UNIX_EPOCH)));
        let table = SlowTable { state, limits: limits.clone(), answers: answers.clone() };
        let politeness = settings::Politeness { concurrency: 0, ..politeness }.into();
        let deps =
            LimiterDeps { table: Some(Arc::new(table)), politeness, probe_time: MAX_AGE, clock: Clock::system() };
        let limiter = Arc::new(HostLimiter::new("menu.test", Arc::new(deps)));

        let asks_probe = || HostReport { asks_probe: true, ..HostReport::default() };
        // the first has its turn, and the others wait for theirs
        let reports = [refused(), refused(), asks_probe()].map(|report| limiter.exchange(report));
        let let_all = async {
            tokio::task::yield_now().await;
            answers.add_permits(3);
        };
        let (applied, ()) = tokio::join!(futures_util::future::join_all(reports), let_all);
        let probes: Vec<_> = applied.into_iter().map(|applied| applied.probe.is_some()).collect();
        assert_eq!(probes, [false, false, true]);
    }

    #[rstest]
    #[case::no_limit(0.0, 0.0, 0.5)]
    #[case::above_it(5.0, 5.0, 0.5)]
    #[case::above_it_in_trouble(2.5, 5.0, 0.25)]
    #[case::below_it(0.1, 0.1, 0.1)]
    fn an_interval_lowers_a_rate_and_trouble_lowers_it_further(
        #[case] rate: f64,
        #[case] configured_rate: f64,
        #[case] expected: f64,
    ) {
        let pace = Pace { min_interval: Duration::from_secs(2), ..Pace::default() };
        assert_eq!(pace.spaced(&Rate { rate, configured_rate, ..Rate::default() }), expected);
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
}
