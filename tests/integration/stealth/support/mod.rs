//! Small real servers on loopback: an origin that records its requests, forward proxies, and an owner of
//! proxies that records the reported outcomes.

mod ca;
mod origin;
mod pool;
mod proxy;
mod tls_front;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use drover::stealth::{
    AllowList, FetchError, HostTable, Identities, Proxy, ProxySource, Request, RequestKind, Response, RobotsTable,
    SessionConfig, Sessions, States,
};
use foundation::clock::Clock;

pub use ca::{Ca, Certificate};
pub use origin::{Origin, ReceivedRequest, Reply, read_head};
pub use pool::{OneSession, Pool};
pub use proxy::{ForwardProxy, Manner};
pub use tls_front::TlsFront;

/// Resolvable only by the tests' proxies: a lookup by the machine's own resolver fails.
pub const HOST: &str = "menu.test";

pub struct Setup {
    pub hosts: Vec<String>,
    pub http: settings::Http,
    pub politeness: settings::Politeness,
    pub identities: Option<String>,
    /// Roots of https proxies.
    pub proxy_ca: Option<PathBuf>,
    pub host_table: Option<Arc<dyn HostTable>>,
    pub robots_table: Option<Arc<dyn RobotsTable>>,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            hosts: vec![HOST.to_owned()],
            http: http(),
            politeness: no_politeness(),
            identities: None,
            proxy_ca: None,
            host_table: None,
            robots_table: None,
        }
    }
}

impl Setup {
    pub fn sessions(self, pool: &Arc<impl ProxySource + 'static>) -> Sessions {
        Sessions::new(SessionConfig {
            proxies: Arc::clone(pool) as _,
            identities: Identities::load(self.identities.as_deref()).unwrap(),
            states: States::load(None).unwrap(),
            allowed_hosts: AllowList::new(self.hosts),
            http: self.http,
            proxy_config: settings::Proxies { extra_ca_file: self.proxy_ca, ..rotations() }.into(),
            politeness: self.politeness.into(),
            host_table: self.host_table,
            robots_table: self.robots_table,
            clock: Clock::system(),
        })
        .unwrap()
    }

    pub fn trusting(mut self, ca: &Ca) -> Self {
        self.http.extra_ca_file = Some(ca.file());
        self
    }

    pub fn trusting_proxies_of(mut self, ca: &Ca) -> Self {
        self.proxy_ca = Some(ca.file());
        self
    }

    /// Only the fingerprint `id` can be drawn.
    pub fn only(mut self, id: &str) -> Self {
        let weight = |entry: &str| format!("[[fingerprint]]\nid = \"{entry}\"\nweight = {}\n", u8::from(entry == id));
        let shipped = Identities::load(None).unwrap();
        self.identities = Some(shipped.all().iter().map(|entry| weight(&entry.id)).collect());
        self
    }
}

pub fn http() -> settings::Http {
    settings::Http {
        connect_timeout: Duration::from_secs(5),
        first_byte_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(5),
        whole_timeout: Duration::from_secs(20),
        max_body_bytes: 1 << 20,
        ..testkit::config(&[]).http
    }
}

pub fn no_politeness() -> settings::Politeness {
    settings::Politeness {
        requests_per_second: 0.0,
        concurrency: 0,
        page_pause_min: Duration::ZERO,
        page_pause_max: Duration::ZERO,
        breaker_share: 0.0,
        ..testkit::config(&[]).politeness
    }
}

fn rotations() -> settings::Proxies {
    settings::Proxies { wait: Duration::from_secs(1), ..testkit::config(&[]).proxies }
}

/// Request of the Dutchie adapter.
pub fn request(kind: RequestKind, scheme: &str) -> Request {
    let url = format!("{scheme}://{HOST}/api-3/graphql?operationName=FilteredProducts");
    let referer = format!("{scheme}://{HOST}/dispensary/green-door?x=1#top");
    Request {
        script_headers: vec![
            ("accept", "*/*".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("apollographql-client-name", "Marketplace (production)".to_owned()),
            ("apollo-require-preflight", "true".to_owned()),
            ("x-apollo-operation-name", "FilteredProducts".to_owned()),
        ],
        body: (kind == RequestKind::FetchWithBody).then(|| Bytes::from_static(b"{\"query\":\"{a}\"}")),
        ..Request::new(kind, url.parse().unwrap(), referer.parse().unwrap())
    }
}

/// Request that no script makes.
pub fn document(kind: RequestKind, scheme: &str) -> Request {
    Request { script_headers: Vec::new(), ..request(kind, scheme) }
}

/// A platform that accepts every answer.
pub fn content(_: &Response) -> Result<(), FetchError> {
    Ok(())
}

/// Makes as many willing proxies to `origin`, numbered from 1.
pub async fn willing(origin: &Origin, count: usize) -> Arc<Pool> {
    let mut proxies = Vec::new();
    for _ in 0..count {
        proxies.push(ForwardProxy::http(origin.address, Manner::Willing).await);
    }
    pool_of(&proxies.iter().collect::<Vec<_>>())
}

pub fn pool_of(proxies: &[&ForwardProxy]) -> Arc<Pool> {
    Pool::new(proxies.iter().enumerate().map(|(nth, proxy)| proxy.as_row(nth as i64 + 1)).collect::<Vec<Proxy>>())
}
