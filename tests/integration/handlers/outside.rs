//! The way out of a handler under test: a list of proxies without health, handed out in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use drover::cli::demo::simulated;
use drover::clock::Clock;
use drover::config;
use drover::domain::proxy::list::ProxyEntry;
use drover::stealth::session::Parts;
use drover::stealth::{
    AllowList, FetchError, Identities, Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxySource, Sessions,
    States,
};
use futures_util::future::BoxFuture;
use sim::Simulator;

/// Hands its proxies out in turn, those to be avoided left out.
#[derive(Default)]
pub struct InTurn {
    proxies: Vec<Arc<Proxy>>,
    next: AtomicUsize,
}

impl InTurn {
    pub fn new(proxies: Vec<Proxy>) -> Self {
        InTurn { proxies: proxies.into_iter().map(Arc::new).collect(), next: AtomicUsize::new(0) }
    }
}

impl ProxySource for InTurn {
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        Box::pin(async move {
            let turn = self.next.fetch_add(1, Ordering::Relaxed);
            let usable: Vec<_> = self.proxies.iter().filter(|proxy| !ask.avoid.contains(&proxy.id)).collect();
            let proxy = usable.get(turn % usable.len().max(1)).ok_or(FetchError::NoProxy { host: ask.host })?;
            Ok(ProxyLease::new(Arc::clone(proxy), || {}))
        })
    }

    fn report(&self, _: i64, _: ProxyOutcome) {}
}

/// The simulator's proxies, numbered from 1.
pub fn proxies(sim: &Simulator) -> Vec<Proxy> {
    let numbered = (1..).zip(sim.proxies().into_iter().map(simulated::proxy));
    numbered.map(|(id, entry)| proxy(id, entry)).collect()
}

fn proxy(id: ProxyId, entry: ProxyEntry) -> Proxy {
    let ProxyEntry { protocol, host, port, username, password, .. } = entry;
    Proxy { id, protocol, host, port, username, password }
}

/// Sessions that may reach `host` through these proxies, without pauses.
pub fn sessions(proxies: Vec<Proxy>, host: &str) -> Sessions {
    Sessions::new(Parts {
        proxies: Arc::new(InTurn::new(proxies)),
        identities: Identities::load(None).unwrap(),
        states: States::load(None).unwrap(),
        allowed_hosts: AllowList::new([host.to_owned()]),
        http: http(),
        rotations: rotations(),
        politeness: politeness(),
        clock: Clock::system(),
    })
    .unwrap()
}

fn http() -> config::Http {
    config::Http {
        connect_timeout: Duration::from_secs(5),
        first_byte_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(5),
        whole_timeout: Duration::from_secs(30),
        max_body_bytes: 32 << 20,
        max_pages: 40,
        extra_ca_file: None,
        host_allowlist: Vec::new(),
    }
}

fn rotations() -> config::Proxies {
    config::Proxies {
        sessions: 8,
        wait: Duration::from_secs(1),
        snooze: Duration::from_secs(1),
        rotations_per_request: 3,
        rotations_per_task: 8,
        bench_base: Duration::from_secs(1),
        bench_cap: Duration::from_secs(1),
        failures_to_bench: 3,
        blocks_to_bench: 3,
        revive_every: Duration::from_secs(60),
        flush_every: Duration::from_secs(1),
    }
}

fn politeness() -> config::Politeness {
    config::Politeness {
        requests_per_second: 0.0,
        concurrency: 0,
        page_pause_min: Duration::ZERO,
        page_pause_max: Duration::ZERO,
        retry_after_cap: Duration::from_secs(1),
    }
}
