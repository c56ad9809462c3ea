//! `drover proxies check`: sends one request to the platform through each proxy, by the same way that tasks take.
//!
//! Nothing leaves except through the proxy that is being checked. The table is only read: health is the pools' business.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{BoxFuture, ready};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use url::Url;

use super::{address, state_name};
use crate::app::data::DataFiles;
use crate::cli::{Env, ExitCode, Refusal};
use crate::clock::Clock;
use crate::config::{self, Config};
use crate::db;
use crate::domain::proxy::{Standing, Stored};
use crate::stealth::session::Parts;
use crate::stealth::{
    AllowList, FetchError, Kind, Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxySource, Request, Response,
    SessionAsk, Sessions,
};

/// Proxies tried at the same time.
const AT_ONCE: usize = 8;

/// A proxy that needs longer than this is of no use.
const LONGEST: Duration = Duration::from_secs(20);

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
    let tried: Vec<Standing> = rows.into_iter().filter(|row| row.stored != Stored::Off).collect();
    if tried.is_empty() {
        return Err(Refusal::not_found("no proxy to check: add some with `drover proxies import FILE`").into());
    }
    let probe = probe(&env.config)?;
    let checks = stream::iter(&tried).map(|row| check(row, &probe, &env.config)).buffered(AT_ONCE);
    let checks: Vec<Check> = checks.try_collect().await?;
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
        _ => ExitCode::Partly,
    }
}

async fn check(row: &Standing, probe: &Request, config: &Config) -> anyhow::Result<Check> {
    let only = Arc::new(Only { proxy: Arc::new(row.proxy.clone()), outcome: Mutex::default() });
    let sent = sessions(only.clone(), probe, config)?.open(session_ask(row)).send(probe, &arrived).await;
    let (latency, reason) = match (only.outcome(), sent) {
        (Some(ProxyOutcome::Success { took, .. }), _) => (Some(took), None),
        (_, Err(error)) => (None, Some(error.to_string())),
        (_, Ok(_)) => (None, Some("nothing was sent".to_owned())),
    };
    Ok(Check {
        id: row.proxy.id,
        proxy: address(row.proxy.protocol.name(), &row.proxy.host, row.proxy.port),
        state: state_name(row.stored),
        ok: reason.is_none(),
        latency_ms: latency.map(|took| took.as_millis() as u64),
        reason,
    })
}

/// The platform's API without a question: any answer of the platform's own will do.
fn probe(config: &Config) -> anyhow::Result<Request> {
    let dutchie = &config.platform.dutchie;
    let page: Url = dutchie.base_url.parse().context("platform.dutchie.base_url")?;
    let url = page.join(&dutchie.api_path).context("platform.dutchie.api_path")?;
    let script_headers = vec![("content-type", "application/json".to_owned())];
    Ok(Request { kind: Kind::GraphqlGet, url, referer: page, script_headers, body: None })
}

/// An answer that says no to the empty question came from the platform all the same.
fn arrived(response: &Response) -> Result<(), FetchError> {
    match response.status.is_success() {
        true => Ok(()),
        false => Err(FetchError::NotFound { what: "an answer to no question".to_owned() }),
    }
}

/// One try, no patience.
fn sessions(only: Arc<Only>, probe: &Request, config: &Config) -> anyhow::Result<Sessions> {
    let http = config::Http { whole_timeout: config.http.whole_timeout.min(LONGEST), ..config.http.clone() };
    let rotations = config::Proxies { rotations_per_request: 0, ..config.proxies.clone() };
    let DataFiles { identities, states, .. } = DataFiles::load(config)?;
    Ok(Sessions::new(Parts {
        proxies: only,
        identities,
        states,
        allowed_hosts: AllowList::new([probe.host().to_owned()]),
        http,
        rotations,
        politeness: config.politeness.clone(),
        clock: Clock::system(),
    })?)
}

fn session_ask(row: &Standing) -> SessionAsk {
    SessionAsk { state: row.state_code.clone(), timezone: row.timezone.clone(), hosts: Vec::new() }
}

/// A source of one proxy that remembers how it went.
struct Only {
    proxy: Arc<Proxy>,
    outcome: Mutex<Option<ProxyOutcome>>,
}

impl Only {
    fn outcome(&self) -> Option<ProxyOutcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ProxySource for Only {
    fn lease(&self, _: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        Box::pin(ready(Ok(ProxyLease::new(self.proxy.clone(), || {}))))
    }

    fn report(&self, _: ProxyId, outcome: ProxyOutcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
}
