//! What stealth asks of whoever owns the proxies: a lease for one session, and ears for how each request went.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::error::FetchError;

pub type ProxyId = i64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProxyProtocol {
    Http,
    Socks5,
}

/// An outbound hop. Its `Debug` and `Display` never show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub id: ProxyId,
    pub protocol: ProxyProtocol,
    pub host: String,
    pub port: u16,
    pub username: Option<String>,
    pub password: Option<String>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{}", self.id, self.host, self.port)
    }
}

/// What a session wants of its proxy.
#[derive(Clone, Debug, Default)]
pub struct ProxyAsk {
    /// The host to be contacted: a proxy that has not failed there is preferred.
    pub host: String,
    /// The store's state and timezone: a proxy in the same one is preferred.
    pub state: Option<String>,
    pub timezone: Option<String>,
    /// Proxies this request has tried already.
    pub avoid: Vec<ProxyId>,
}

/// How one request through a proxy went, as far as the proxy is concerned.
#[derive(Clone, Debug, PartialEq)]
pub enum ProxyOutcome {
    Success {
        took: Duration,
    },
    /// 403 or a challenge from `host`.
    Blocked {
        host: String,
    },
    /// The hop is broken or refuses us (407, refused connect): `at_once` benches without counting.
    Failed {
        why: String,
        at_once: bool,
    },
    /// The origin's own trouble; says nothing about the proxy.
    Neutral,
}

/// The right to use one of a proxy's sessions until it is dropped.
pub struct ProxyLease {
    pub proxy: Arc<Proxy>,
    give_back: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl ProxyLease {
    pub fn new(proxy: Arc<Proxy>, give_back: impl FnOnce() + Send + Sync + 'static) -> Self {
        ProxyLease { proxy, give_back: Some(Box::new(give_back)) }
    }
}

impl Drop for ProxyLease {
    fn drop(&mut self) {
        if let Some(give_back) = self.give_back.take() {
            give_back();
        }
    }
}

/// Whoever owns the proxies of this process.
pub trait ProxySource: Send + Sync {
    /// Waits (bounded by the source) for a free session; [`FetchError::NoProxy`] when none came.
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>>;

    /// Takes note of one request's end; never blocks.
    fn report(&self, proxy: ProxyId, outcome: ProxyOutcome);
}
