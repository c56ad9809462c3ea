//! The types of the proxy pool: a proxy, a session's requirements, the outcome of a request, and the proxy's
//! row.
//!
//! The rules are below: [`health`] (one proxy), [`budget`] (bytes a day), [`pool`] (all proxies of this
//! process). Pure: time comes in as an argument, and nothing here knows sockets, actors or the table.

pub mod budget;
pub mod counters;
mod early_trials;
pub mod health;
pub mod host_health;
pub mod host_record;
mod last_successes;
mod notice;
mod outage;
pub mod pool;
pub mod pooled_proxy;
pub mod recent_requests;
mod resting;
pub mod shown_health;

use std::fmt;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

pub use budget::{Budgets, DayUsage, UsageToday};
pub use counters::{ConditionChange, CounterDelta, Counters, HostBench};
pub use health::{BenchLimits, Condition};
pub use host_record::HostRecord;
pub use notice::Notice;
pub use pool::{Pool, PoolState};
pub use pooled_proxy::PooledProxy;
pub use recent_requests::{RecentRequests, RequestEnd};
pub use resting::RestingProxies;
pub use shown_health::{HealthCounts, HealthFacts, ShownHealth};

use super::vocabulary::vocabulary;

pub type ProxyId = i64;

vocabulary! {
    /// Protocol to a proxy; `https` is HTTP inside TLS.
    pub enum ProxyProtocol {
        Http,
        Https,
        Socks5,
    }
}

/// A forward proxy. Its `Debug` and `Display` never show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub id: ProxyId,
    pub protocol: ProxyProtocol,
    pub host: String,
    pub port: u16,
    pub username: Option<String>,
    pub password: Option<String>,
}

impl Proxy {
    /// Returns the URL at which it listens.
    pub fn address(&self) -> String {
        address(self.protocol, &self.host, self.port)
    }
}

/// Writes a URL, IPv6 in brackets.
pub fn address(protocol: impl fmt::Display, host: &str, port: impl fmt::Display) -> String {
    if host.contains(':') { format!("{protocol}://[{host}]:{port}") } else { format!("{protocol}://{host}:{port}") }
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

/// A proxy as it is imported, checked. Its `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyEntry {
    pub protocol: ProxyProtocol,
    /// Host in lower case; IPv6 without brackets.
    pub host: String,
    pub port: u16,
    pub username: Option<String>,
    pub password: Option<String>,
    /// A US state, such as `AZ`.
    pub state_code: Option<String>,
    /// An IANA timezone, such as `America/Phoenix`.
    pub timezone: Option<String>,
}

impl fmt::Debug for ProxyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyEntry({}://{}:{})", self.protocol.name(), self.host, self.port)
    }
}

/// Requirements of a session for its proxy.
#[derive(Clone, Debug, Default)]
pub struct ProxyAsk {
    /// The host to be contacted: a proxy that has not failed there lately is preferred.
    pub host: String,
    /// The store's state and timezone: a proxy in the same one is preferred.
    pub state: Option<String>,
    pub timezone: Option<String>,
    /// Proxies that are chosen only where no other serves.
    pub avoid: Vec<ProxyId>,
    /// Whether the lease gives way to all others, and gets no proxy on trial.
    pub is_best_effort: bool,
}

/// How one request through a proxy went, as far as the proxy is concerned.
#[derive(Clone, Debug, PartialEq)]
pub enum ProxyOutcome {
    Success {
        host: String,
        /// Time until the last byte.
        took: Duration,
    },
    /// The host answered, and has trouble of its own or throttles us: the proxy works.
    Answered { host: String },
    /// A refusal or a challenge by `host`: the proxy works, and is not welcome there.
    Blocked { host: String },
    /// The proxy is broken or refuses us (407, refused connect): `at_once` benches without counting.
    /// `reason` is shown and stored: it must not hold credentials.
    Failed { host: String, reason: String, at_once: bool },
    /// Silence or a broken connection: the fault of either the proxy or `host`. See [`pool::Pool::report`].
    Suspicion { host: String, reason: String },
    /// A limit or rule of ours; says nothing about the proxy.
    Neutral,
}

impl ProxyOutcome {
    /// How the request ended; None if that says nothing about the proxy.
    pub fn end(&self) -> Option<RequestEnd> {
        match self {
            ProxyOutcome::Success { .. } | ProxyOutcome::Answered { .. } => Some(RequestEnd::Answered),
            ProxyOutcome::Blocked { .. } => Some(RequestEnd::Refused),
            ProxyOutcome::Failed { .. } | ProxyOutcome::Suspicion { .. } => Some(RequestEnd::Failed),
            ProxyOutcome::Neutral => None,
        }
    }

    /// The host that was asked; None if that says nothing about the proxy.
    pub fn host(&self) -> Option<&str> {
        match self {
            ProxyOutcome::Success { host, .. }
            | ProxyOutcome::Answered { host }
            | ProxyOutcome::Blocked { host }
            | ProxyOutcome::Failed { host, .. }
            | ProxyOutcome::Suspicion { host, .. } => Some(host),
            ProxyOutcome::Neutral => None,
        }
    }
}

/// The end of one request through a proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyReport {
    pub outcome: ProxyOutcome,
    /// Time when its request was sent.
    pub sent: Instant,
    /// The request was for something that a crawl does without, such as an image. Its failures bench the proxy
    /// at that host only, and count in no record but the host's.
    pub is_best_effort: bool,
}

/// One row of the table: a proxy with the shared knowledge of all processes about it.
#[derive(Clone, Debug)]
pub struct ProxyRow {
    pub proxy: Proxy,
    /// Place of the proxy's exit: a US state (`AZ`) and an IANA timezone.
    pub state_code: Option<String>,
    pub timezone: Option<String>,
    pub stored: StoredState,
    pub host_benches: Vec<HostCooldown>,
    pub counters: Counters,
    /// How long ago any process used it.
    pub idle: Option<Duration>,
}

impl ProxyRow {
    pub fn shown_health(&self) -> ShownHealth {
        let cooldown = match self.stored {
            StoredState::Benched { left, .. } => Some(left),
            StoredState::Active | StoredState::Off => None,
        };
        ShownHealth::of(&HealthFacts {
            is_off: self.stored == StoredState::Off,
            is_benched: self.host_benches.iter().any(|bench| !bench.is_best_effort)
                || cooldown.is_some_and(|left| !left.is_zero()),
            is_on_trial: cooldown.is_some(),
            ..HealthFacts::from(&self.counters)
        })
    }
}

/// A bench at one host, as the table has it: some process decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCooldown {
    pub host: String,
    /// Time left, by the database's clock.
    pub left: Duration,
    /// Only requests that a crawl does without led to it.
    pub is_best_effort: bool,
}

/// State by `is_active` and `cooldown_until` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredState {
    Active,
    /// Out of use for a cooldown. It stays benched past its cooldown until a request through it has
    /// succeeded.
    Benched {
        /// Time left of the cooldown by the database's clock; zero once it is over.
        left: Duration,
        /// The end as stored. Compared only with an earlier reading, to see whether another process benched
        /// it again.
        cooldown_until: DateTime<Utc>,
    },
    /// Switched off by hand: not active, no cooldown, never tried.
    Off,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn proxy(host: &str) -> Proxy {
        Proxy {
            id: 7,
            protocol: ProxyProtocol::Socks5,
            host: host.to_owned(),
            port: 1080,
            username: Some("user".to_owned()),
            password: Some("secret".to_owned()),
        }
    }

    fn row(stored: StoredState, benched_at_hosts: usize) -> ProxyRow {
        let bench = HostCooldown { host: "menu.test".to_owned(), left: Duration::from_secs(9), is_best_effort: false };
        ProxyRow {
            proxy: proxy("p7"),
            state_code: None,
            timezone: None,
            stored,
            host_benches: vec![bench; benched_at_hosts],
            counters: Counters::default(),
            idle: None,
        }
    }

    #[rstest]
    #[case::a_name("p7.test", "socks5://p7.test:1080")]
    #[case::of_ipv6("2001:db8::7", "socks5://[2001:db8::7]:1080")]
    fn an_address_is_a_url(#[case] host: &str, #[case] url: &str) {
        assert_eq!(proxy(host).address(), url);
    }

    #[test]
    fn a_proxy_is_shown_without_its_password() {
        let Proxy { protocol, host, port, username, password, .. } = proxy("p7.test");
        let entry = ProxyEntry { protocol, host, port, username, password, state_code: None, timezone: None };
        assert_eq!(format!("{0} {0:?}", proxy("p7.test")), "7 p7.test:1080 Proxy(7 p7.test:1080)");
        assert_eq!(format!("{entry:?}"), "ProxyEntry(socks5://p7.test:1080)");
    }

    #[rstest]
    #[case::active(row(StoredState::Active, 0), ShownHealth::Untested)]
    #[case::off(row(StoredState::Off, 0), ShownHealth::Off)]
    #[case::benched_at_a_host(row(StoredState::Active, 1), ShownHealth::Benched)]
    #[case::benched_at_a_host_of_images(of_images(row(StoredState::Active, 1)), ShownHealth::Untested)]
    #[case::benched(row(benched(9), 0), ShownHealth::Benched)]
    #[case::benched_everywhere_and_at_a_host(row(benched(9), 1), ShownHealth::Benched)]
    #[case::after_its_bench(row(benched(0), 0), ShownHealth::Failing)]
    fn the_health_of_a_row_follows_from_its_state(#[case] row: ProxyRow, #[case] health: ShownHealth) {
        assert_eq!(row.shown_health(), health);
    }

    /// Only requests that a crawl does without led to its benches at hosts.
    fn of_images(mut row: ProxyRow) -> ProxyRow {
        row.host_benches.iter_mut().for_each(|bench| bench.is_best_effort = true);
        row
    }

    fn benched(left: u64) -> StoredState {
        StoredState::Benched { left: Duration::from_secs(left), cooldown_until: DateTime::UNIX_EPOCH }
    }
}
