//! Sessions for handlers under test: a list of proxies without health, handed out in turn, and a
//! configuration without pauses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::proxy::ProxyEntry;
use drover::simulated;
use drover::stealth::session::SessionConfig;
use drover::stealth::{
    AllowList, FetchError, Identities, Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyReport, ProxySource, Sessions, States,
};
use foundation::clock::Clock;
use futures_util::future::BoxFuture;
use settings::Config;
use sim::Simulator;

/// Hands its proxies out in turn, avoided ones only where there is no other, as the pool does.
#[derive(Default)]
pub struct RoundRobinProxies {
    proxies: Vec<Arc<Proxy>>,
    next: AtomicUsize,
}

impl RoundRobinProxies {
    pub fn new(proxies: Vec<Proxy>) -> Self {
        RoundRobinProxies { proxies: proxies.into_iter().map(Arc::new).collect(), next: AtomicUsize::new(0) }
    }
}

impl ProxySource for RoundRobinProxies {
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        Box::pin(async move {
            let turn = self.next.fetch_add(1, Ordering::Relaxed);
            let mut usable: Vec<_> = self.proxies.iter().filter(|proxy| !ask.avoid.contains(&proxy.id)).collect();
            if usable.is_empty() {
                usable = self.proxies.iter().collect();
            }
            let proxy = usable.get(turn % usable.len().max(1)).ok_or(FetchError::NoProxy { host: ask.host })?;
            Ok(ProxyLease::new(Arc::clone(proxy), || {}))
        })
    }

    fn report(&self, _: i64, _: ProxyReport) {}
}

/// The simulator's proxies, numbered from 1.
pub fn proxies(sim: &Simulator) -> Vec<Proxy> {
    let numbered = (1..).zip(sim.proxies().into_iter().map(simulated::proxy));
    numbered.map(|(id, entry)| proxy(id, entry)).collect()
}

/// Proxies for which `is_wanted` holds, with the numbers that they have among all.
#[allow(dead_code, reason = "the benchmark includes this file")]
pub fn proxies_of(sim: &Simulator, is_wanted: impl Fn(&sim::ProxyAddress) -> bool) -> Vec<Proxy> {
    let all = proxies(sim).into_iter().zip(sim.proxies());
    all.filter(|(_, address)| is_wanted(address)).map(|(proxy, _)| proxy).collect()
}

fn proxy(id: ProxyId, entry: ProxyEntry) -> Proxy {
    let ProxyEntry { protocol, host, port, username, password, .. } = entry;
    Proxy { id, protocol, host, port, username, password }
}

/// Sessions that may reach `host` through these proxies, without pauses.
#[allow(dead_code, reason = "the benchmark includes this file and makes its sessions with its services")]
pub fn sessions(proxies: Vec<Proxy>, host: &str) -> Sessions {
    let config = test_config("https://dutchie.com");
    Sessions::new(SessionConfig {
        proxies: Arc::new(RoundRobinProxies::new(proxies)),
        identities: Identities::load(None).unwrap(),
        states: States::load(None).unwrap(),
        allowed_hosts: AllowList::new([host.to_owned()]),
        http: config.http,
        proxy_config: config.proxies.into(),
        politeness: config.politeness.into(),
        host_table: None,
        robots_table: None,
        clock: Clock::system(),
    })
    .unwrap()
}

/// The shipped configuration with the platform at `base_url`, in a hurry.
pub fn test_config(base_url: &str) -> Config {
    Config::with(&[
        ("platform.dutchie.base_url", base_url),
        ("http.whole_timeout", "30s"),
        ("http.first_byte_timeout", "10s"),
        ("proxies.wait", "1s"),
        ("proxies.snooze", "1s"),
        ("proxies.rotations_per_task", "8"),
        ("politeness.requests_per_second", "0"),
        ("politeness.concurrency", "0"),
        ("politeness.page_pause_min", "0s"),
        ("politeness.page_pause_max", "0s"),
        ("politeness.breaker_share", "0"),
        ("politeness.retry_after_cap", "1s"),
        ("politeness.robots", "ignore"),
    ])
    .unwrap()
}
