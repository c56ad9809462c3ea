//! `drover proxies check`: sends one real request to the platform through each proxy, as tasks do.
//!
//! Nothing leaves except through the proxy that is being checked, and the rate limit of the platform holds for all checks
//! together. Each asks for the stores around another place, so that no two checks send the same request. The table is only
//! read: the pools of running workers judge health.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{BoxFuture, ready};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use super::{address, state_name};
use crate::app::data::DataFiles;
use crate::cli::{CliError, Env, ExitCode};
use crate::clock::Clock;
use crate::config::{self, Config};
use crate::db;
use crate::domain::proxy::{ProxyRow, StoredState};
use crate::platforms::{Adapter, DiscoveryPoint, Dutchie, KnownHash, Query, QueryForm};
use crate::stealth::session::SessionConfig;
use crate::stealth::{
    AllowList, FetchError, Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxySource, Request, SessionAsk,
    Sessions, States,
};

/// Proxies checked at the same time.
const CONCURRENCY: usize = 8;

/// A proxy that needs longer than this is of no use.
const MAX_CHECK_TIME: Duration = Duration::from_secs(20);

#[derive(Serialize)]
struct Check {
    id: ProxyId,
    proxy: String,
    state: &'static str,
    ok: bool,
    latency_ms: Option<u64>,
    /// Why it failed.
    reason: Option<String>,
}

pub async fn run(env: &Env) -> anyhow::Result<ExitCode> {
    let rows = db::proxies::load(&env.db().await?.client().await?).await?;
    // off = never tried
    let tried: Vec<ProxyRow> = rows.into_iter().filter(|row| row.stored != StoredState::Off).collect();
    if tried.is_empty() {
        return Err(CliError::not_found("no proxy to check: add some with `drover proxies import FILE`").into());
    }
    let checker = Checker::new(&env.config, &tried)?;
    let checked = stream::iter(0..tried.len()).map(|nth| checker.check_next(nth)).buffer_unordered(CONCURRENCY);
    let mut results: HashMap<_, _> = checked.try_collect().await?;
    let checks: Vec<Check> = tried.iter().map(|row| Check::of(row, results.remove(&row.proxy.id))).collect();
    env.out.rows(&checks, &["id", "proxy", "state", "check", "ms", "reason"], |check| {
        vec![
            check.id.to_string(),
            check.proxy.clone(),
            check.state.to_owned(),
            if check.ok { "ok" } else { "FAILED" }.to_owned(),
            check.latency_ms.map(|ms| ms.to_string()).unwrap_or_default(),
            check.reason.clone().unwrap_or_default(),
        ]
    })?;
    Ok(exit_code(&checks))
}

fn exit_code(checks: &[Check]) -> ExitCode {
    match checks.iter().filter(|check| !check.ok).count() {
        0 => ExitCode::Ok,
        failed if failed == checks.len() => ExitCode::Failure,
        _ => ExitCode::PartialFailure,
    }
}

impl Check {
    /// `result`: the time of the answer, or what went wrong.
    fn of(row: &ProxyRow, result: Option<Result<Duration, String>>) -> Check {
        let (latency, reason) = match result {
            Some(Ok(took)) => (Some(took), None),
            Some(Err(reason)) => (None, Some(reason)),
            None => (None, Some("nothing was sent".to_owned())),
        };
        Check {
            id: row.proxy.id,
            proxy: address(row.proxy.protocol.name(), &row.proxy.host, row.proxy.port),
            state: state_name(row.stored),
            ok: reason.is_none(),
            latency_ms: latency.map(|took| took.as_millis() as u64),
            reason,
        }
    }
}

/// Sends one request through each proxy.
struct Checker {
    sessions: Sessions,
    proxies: Arc<OnceEach>,
    adapter: Dutchie,
    hashes: Vec<KnownHash>,
    points: Vec<DiscoveryPoint>,
}

impl Checker {
    fn new(config: &Config, rows: &[ProxyRow]) -> anyhow::Result<Checker> {
        let DataFiles { identities, states, dutchie: data } = DataFiles::load(config)?;
        let points = points(&states);
        let hashes = data.hashes().to_vec();
        let adapter = Dutchie::new(&config.platform.dutchie, data).context("platform.dutchie.base_url")?;
        let host = adapter.endpoint(None)?.host_str().unwrap_or_default().to_owned();
        let proxies = Arc::new(OnceEach::new(rows));
        let sessions = Sessions::new(SessionConfig {
            proxies: proxies.clone(),
            identities,
            states,
            allowed_hosts: AllowList::new([host]),
            http: config::Http { whole_timeout: config.http.whole_timeout.min(MAX_CHECK_TIME), ..config.http.clone() },
            rotations: config::Proxies { rotations_per_request: 0, ..config.proxies.clone() },
            politeness: config.politeness.clone(),
            clock: Clock::system(),
        })?;
        Ok(Checker { sessions, proxies, adapter, hashes, points })
    }

    /// Checks a proxy that has not been checked yet. Gives which one, and the time of the answer or what went wrong.
    async fn check_next(&self, nth: usize) -> anyhow::Result<(ProxyId, Result<Duration, String>)> {
        let (query, request) = self.request(nth)?;
        let mut session = self.sessions.open(SessionAsk::default());
        let adapter = self.adapter.clone();
        let sent = session.send(&request, move |response| adapter.read_stores(&query, response)).await;
        let used = session.trace().read().proxy_ids.first().copied();
        let id = used.context("every proxy has been checked")?;
        let result = match (self.proxies.outcome(id), sent) {
            // an answer of the platform's own, if only that it does not know the query
            (Some(ProxyOutcome::Success { took, .. }), _) => Ok(took),
            // of a single proxy nothing more is known than what its own try met
            (_, Err(FetchError::ProxyOutage { reason, .. })) => Err(reason),
            (_, Err(error)) => Err(error.to_string()),
            (_, Ok(_)) => Err("nothing was sent".to_owned()),
        };
        Ok((id, result))
    }

    fn request(&self, nth: usize) -> anyhow::Result<(Query, Request)> {
        let point = self.points.get(nth % self.points.len().max(1)).context("states.toml holds no point")?;
        let query = self.adapter.discovery_query(point)?;
        let hash = self.hashes.iter().find(|hash| hash.operation == query.operation);
        let form = hash.map_or(QueryForm::FullText, |hash| QueryForm::Persisted(&hash.hash));
        let request = self.adapter.request(&query, form).context("the platform has no query to check proxies with")?;
        Ok((query, request))
    }
}

fn points(states: &States) -> Vec<DiscoveryPoint> {
    let all = states.iter().flat_map(|(code, state)| state.points.iter().map(move |point| (code, point)));
    let point = |(code, &[latitude, longitude, miles]): (&str, &[f64; 3])| DiscoveryPoint {
        state: code.to_owned(),
        latitude,
        longitude,
        miles,
    };
    all.map(point).collect()
}

/// A source that gives out each proxy once and remembers how it went.
struct OnceEach {
    left: Mutex<VecDeque<Arc<Proxy>>>,
    outcomes: Mutex<HashMap<ProxyId, ProxyOutcome>>,
}

impl OnceEach {
    fn new(rows: &[ProxyRow]) -> Self {
        let all = rows.iter().map(|row| Arc::new(row.proxy.clone())).collect();
        OnceEach { left: Mutex::new(all), outcomes: Mutex::default() }
    }

    fn outcome(&self, id: ProxyId) -> Option<ProxyOutcome> {
        lock(&self.outcomes).get(&id).cloned()
    }
}

impl ProxySource for OnceEach {
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        let next = lock(&self.left).pop_front().map(|proxy| ProxyLease::new(proxy, || {}));
        Box::pin(ready(next.ok_or(FetchError::NoProxy { host: ask.host })))
    }

    fn report(&self, proxy: ProxyId, outcome: ProxyOutcome) {
        lock(&self.outcomes).insert(proxy, outcome);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
