//! `SessionDeps`: the parts that all sessions of a process share. `Exchange`: one request of one session, as
//! a route sends it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::{FetchError, silent_hosts};
use super::host_robots::HostRobots;
use super::transport::Transport;
use super::{AllowList, FetchMeter, HostRateLimits, Identities, ProxySource, Request, States, TraceHandle};
use domain::store::StoreId;
use foundation::clock::Clock;
use foundation::memory::MemoryPermit;
use settings::Live;
use telemetry::events;

/// Answers to any request within this time count, however quickly the tries of this one broke.
const MIN_LOOK_BACK: Duration = Duration::from_secs(1);

/// Maximum silent hosts that are distinguished.
const MAX_SILENT_HOSTS: usize = 16;

/// The alarm about an outage of all proxies is given once in this time.
const ALARM_EVERY: Duration = Duration::from_secs(60);

pub(super) struct SessionDeps {
    pub proxies: Arc<dyn ProxySource>,
    pub identities: Identities,
    /// Value of `User-Agent` under drover's own name.
    pub own_user_agent: String,
    pub states: States,
    pub allowed: AllowList,
    pub transport: Transport,
    pub host_limits: Arc<HostRateLimits>,
    pub robots: HostRobots,
    pub proxy_config: Live<settings::Proxies>,
    pub clock: Clock,
    pub answers: Answers,
    pub meter: FetchMeter,
}

/// Parts that a route needs for one try.
pub(super) struct Exchange<'a> {
    pub deps: &'a SessionDeps,
    pub trace: &'a TraceHandle,
    pub request: &'a Request,
    pub memory: &'a MemoryPermit,
    /// Store that the try is counted for.
    pub store: Option<StoreId>,
    /// Whether it is for something that a crawl does without.
    pub is_best_effort: bool,
}

/// Time when any host last answered through any proxy: distinguishes one failing host from an outage of all
/// proxies.
#[derive(Default)]
pub(super) struct Answers {
    last: Mutex<Option<Instant>>,
    /// Hosts whose tries broke since.
    silent_hosts: Mutex<BTreeSet<String>>,
    alarmed: Mutex<Option<Instant>>,
}

/// Tries of one request that broke in transit.
pub(super) struct Suspicion {
    /// Time when the first of them broke.
    pub first: Instant,
    /// An alarm is for the crawl alone.
    pub is_best_effort: bool,
}

impl SessionDeps {
    /// Notes that some host answered, whatever it said.
    pub fn answered(&self) {
        *lock(&self.answers.last) = Some(self.clock.instant());
        lock(&self.answers.silent_hosts).clear();
    }

    /// The error for a request that broke in transit and was never answered. When no host has answered since through any proxy,
    /// it is the proxies that fail, and the task must not pay for it.
    pub fn judge_suspicion(&self, host: &str, suspicion: &Suspicion, error: FetchError) -> FetchError {
        let Suspicion { first: first_suspicion, is_best_effort } = *suspicion;
        // at least a second, so that answers just before quick failures count
        let look_back = self.clock.instant().checked_sub(MIN_LOOK_BACK);
        let since = look_back.map_or(first_suspicion, |look_back| look_back.min(first_suspicion));
        if lock(&self.answers.last).is_some_and(|last| last > since) {
            return error;
        }
        let only_host = self.is_only_silent_host(host).then(|| host.to_owned());
        if !is_best_effort && self.proxies.is_relied_on() && self.alarm_is_due() {
            events::no_proxy_brings_answers(&silent_hosts(only_host.as_deref()), &error);
        }
        FetchError::ProxyOutage { only_host, reason: error.to_string() }
    }

    /// Whether the tries of no other host broke since the last answer.
    fn is_only_silent_host(&self, host: &str) -> bool {
        let mut silent_hosts = lock(&self.answers.silent_hosts);
        if silent_hosts.len() < MAX_SILENT_HOSTS {
            silent_hosts.insert(host.to_owned());
        }
        silent_hosts.len() == 1
    }

    fn alarm_is_due(&self) -> bool {
        let now = self.clock.instant();
        let mut alarmed = lock(&self.answers.alarmed);
        let is_due = alarmed.is_none_or(|last| now.saturating_duration_since(last) >= ALARM_EVERY);
        if is_due {
            *alarmed = Some(now);
        }
        is_due
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
