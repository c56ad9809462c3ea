//! The words of the proxy pool: a proxy, what is asked of it, how a request through it went, and what is known of it.
//!
//! Pure: time comes in as an argument, and nothing here knows sockets, actors or the table.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

pub type ProxyId = i64;

/// What the program can speak to a proxy. The table also allows `https`, which nothing here can use yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyProtocol {
    Http,
    Socks5,
}

impl ProxyProtocol {
    pub const ALL: [ProxyProtocol; 2] = [ProxyProtocol::Http, ProxyProtocol::Socks5];

    pub fn name(self) -> &'static str {
        match self {
            ProxyProtocol::Http => "http",
            ProxyProtocol::Socks5 => "socks5",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }
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
        host: String,
        took: Duration,
    },
    /// 403 or a challenge from `host`.
    Blocked {
        host: String,
    },
    /// The hop is broken or refuses us (407, refused connect): `at_once` benches without counting.
    /// `why` is shown and stored: it must not hold credentials.
    Failed {
        host: String,
        why: String,
        at_once: bool,
    },
    /// The origin's own trouble; says nothing about the proxy.
    Neutral,
}
