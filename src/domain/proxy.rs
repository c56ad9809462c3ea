//! The words of the proxy pool: a proxy, what is asked of it, how a request through it went, and what the table knows of it.
//!
//! The rules are below: [`health`] (one proxy), [`pool`] (all of this process), [`list`] (the file that is imported).
//! Pure: time comes in as an argument, and nothing here knows sockets, actors or the table.

mod answered;
pub mod counters;
mod entry;
pub mod health;
pub mod list;
pub mod member;
pub mod pool;

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;

pub use counters::{Change, Counters, Increment};
pub use health::{Condition, Limits};
pub use member::Member;
pub use pool::{Notice, Pool, PoolState};

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
    /// Silence or a broken connection: nobody can tell the hop from `host`. See [`pool::Pool::report`].
    Suspect {
        host: String,
        why: String,
    },
    /// The origin's own trouble; says nothing about the proxy.
    Neutral,
}

/// One row of the table: a proxy with all that every process together has learnt of it.
#[derive(Clone, Debug)]
pub struct Standing {
    pub proxy: Proxy,
    /// Where the proxy comes out: a US state (`AZ`) and an IANA timezone.
    pub state_code: Option<String>,
    pub timezone: Option<String>,
    pub stored: Stored,
    pub counters: Counters,
    /// How long ago any process used it.
    pub idle: Option<Duration>,
}

/// What `is_active` and `cooldown_until` say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    Active,
    /// Not active, with a cooldown. It stays benched past its cooldown until a request through it has succeeded.
    Benched {
        /// What is left of the cooldown by the database's clock; zero once it is over.
        left: Duration,
        /// The end as stored. Only ever compared with itself, to see whether somebody benched the proxy anew.
        mark: DateTime<Utc>,
    },
    /// Switched off by hand: not active, no cooldown, never tried.
    Off,
}
