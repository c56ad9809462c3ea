//! `Checker`: sends one real request to the platform through each proxy, as tasks do.
//!
//! Every request goes through the checked proxy, and the platform's rate limit applies to all checks of a
//! checker together. Each check asks for the stores around the next point, so that concurrent checks send
//! different requests. The table of proxies is only read: the pools of running workers judge health. No
//! robots.txt is requested: a check is one request by hand, and shows whether a proxy works, not which paths
//! may be crawled.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{BoxFuture, ready};

use crate::app::data::DataFiles;
use crate::platforms::{DiscoveryPoint, PlatformRegistry};
use crate::stealth::{
    AllowList, FetchError, Identities, Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxyReport, ProxySource,
    SessionAsk, SessionConfig, Sessions, States,
};
use api::ProxyTester;
use contract::proxies::ProxyTest;
use domain::proxy::ProxyRow;
use domain::store::Platform;
use foundation::clock::Clock;
use settings::Config;

/// Maximum time of a check; a slower proxy fails it.
const MAX_CHECK_TIME: Duration = Duration::from_secs(20);

/// Platform that is asked where none is named.
pub const DEFAULT_PLATFORM: Platform = Platform::DEFAULT;

/// Tests proxies for the API, each with a checker of its own.
pub fn tester(config: Arc<Config>) -> Arc<ProxyTester> {
    Arc::new(move |row| Box::pin(test(config.clone(), row)))
}

async fn test(config: Arc<Config>, row: ProxyRow) -> Result<ProxyTest, String> {
    let checker = || Checker::new(&config, std::slice::from_ref(&row), DEFAULT_PLATFORM);
    let checked = async { checker()?.check_next(0).await };
    let (id, result) = checked.await.map_err(|error: anyhow::Error| format!("{error:#}"))?;
    Ok(test_of(id, result))
}

/// `result`: duration of the answer, or the error.
pub fn test_of(id: ProxyId, result: Result<Duration, String>) -> ProxyTest {
    let (latency, reason) = match result {
        Ok(took) => (Some(took), None),
        Err(reason) => (None, Some(reason)),
    };
    ProxyTest { id, ok: reason.is_none(), latency_ms: latency.map(|took| took.as_millis() as u64), reason }
}

/// Sends one request through each proxy.
pub struct Checker {
    sessions: Sessions,
    proxies: Arc<SingleUseProxies>,
    registry: PlatformRegistry,
    platform: Platform,
    points: Vec<DiscoveryPoint>,
}

impl Checker {
    /// `platform`: the one that the checks ask.
    pub fn new(config: &Config, rows: &[ProxyRow], platform: Platform) -> anyhow::Result<Checker> {
        let DataFiles { identities, states, platforms: registry, .. } = DataFiles::load(config)?;
        let entry = registry.get(platform);
        let points = entry.discovery_points.values().flatten().cloned().collect();
        let proxies = Arc::new(SingleUseProxies::new(rows));
        let hosts = AllowList::new(entry.adapter.api_hosts());
        let sessions = single_tries(config, (identities, states), hosts, proxies.clone())?;
        Ok(Checker { sessions, proxies, registry, platform, points })
    }

    /// Checks the next unchecked proxy. Returns its id, and the duration of its answer or the error.
    pub async fn check_next(&self, nth: usize) -> anyhow::Result<(ProxyId, Result<Duration, String>)> {
        let point = self.points.get(nth % self.points.len().max(1)).context("states.toml holds no point")?;
        let platform = self.registry.get(self.platform);
        let (query, request) = platform.probe(point)?.context("the platform has no query to check proxies with")?;
        let mut session = self.sessions.open(SessionAsk { identity: platform.identity()?, ..SessionAsk::default() });
        let adapter = platform.adapter.clone();
        let sent = session.send(&request, move |response| adapter.read_stores(&query, response)).await;
        let used = session.trace().read().proxy_ids.first().copied();
        let id = used.context("every proxy has been checked")?;
        let result = match (self.proxies.outcome(id), sent) {
            // the platform answered, even if only that it does not know the query
            (Some(ProxyOutcome::Success { took, .. }), _) => Ok(took),
            // with a single proxy an outage is this proxy's failure
            (_, Err(FetchError::ProxyOutage { reason, .. })) => Err(reason),
            // a host's refusal of all proxies is not about this one
            (_, Err(FetchError::HostTrouble { error, .. })) => Err(error.to_string()),
            (_, Err(error)) => Err(error.to_string()),
            (_, Ok(_)) => Err("nothing was sent".to_owned()),
        };
        Ok((id, result))
    }
}

/// Sessions for requests by hand: each makes one try.
pub fn single_tries(
    config: &Config,
    (identities, states): (Identities, States),
    allowed_hosts: AllowList,
    proxies: Arc<SingleUseProxies>,
) -> anyhow::Result<Sessions> {
    let sessions = Sessions::new(SessionConfig {
        proxies,
        identities,
        states,
        allowed_hosts,
        http: settings::Http { whole_timeout: config.http.whole_timeout.min(MAX_CHECK_TIME), ..config.http.clone() },
        proxy_config: settings::Proxies { rotations_per_request: 0, ..config.proxies.clone() }.into(),
        politeness: config.politeness.clone().into(),
        host_table: None,
        robots_table: None,
        clock: Clock::system(),
    })?;
    Ok(sessions)
}

/// Leases each proxy once, and keeps its outcome.
pub struct SingleUseProxies {
    left: Mutex<VecDeque<Arc<Proxy>>>,
    outcomes: Mutex<HashMap<ProxyId, ProxyOutcome>>,
}

impl SingleUseProxies {
    pub fn new(rows: &[ProxyRow]) -> Self {
        let all = rows.iter().map(|row| Arc::new(row.proxy.clone())).collect();
        SingleUseProxies { left: Mutex::new(all), outcomes: Mutex::default() }
    }

    fn outcome(&self, id: ProxyId) -> Option<ProxyOutcome> {
        lock(&self.outcomes).get(&id).cloned()
    }
}

impl ProxySource for SingleUseProxies {
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        let next = lock(&self.left).pop_front().map(|proxy| ProxyLease::new(proxy, || {}));
        Box::pin(ready(next.ok_or(FetchError::NoProxy { host: ask.host })))
    }

    fn report(&self, proxy: ProxyId, report: ProxyReport) {
        lock(&self.outcomes).insert(proxy, report.outcome);
    }

    fn is_relied_on(&self) -> bool {
        false
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
