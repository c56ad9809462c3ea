//! Proxies: the table, imports into it, and tests. Passwords come in and never go out.

use std::ops::AddAssign;

use chrono::{DateTime, Utc};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::cursor::Cursor;
use domain::proxy::{ProxyEntry, ProxyId, ProxyProtocol, RestingProxies, ShownHealth};
use domain::vocabulary::Word;

/// A proxy as shown to users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProxyListing {
    pub id: ProxyId,
    #[schema(value_type = String)]
    pub protocol: Word<ProxyProtocol>,
    pub host: String,
    pub port: i32,
    pub username: Option<String>,
    /// The key that its password is encrypted with; none if it has no password, or one in plain text.
    pub key: Option<String>,
    pub health: ShownHealth,
    /// Share of its latest requests that a host answered and did not refuse; null before the first one.
    pub healthy_share: Option<f64>,
    /// Number of its latest requests that count: all, up to 100, of any age.
    pub recent_requests: i64,
    /// Its current benches, a bench at all hosts first.
    pub benched: Vec<ProxyBench>,
    /// How its latest requests to each host ended, of the 16 hosts asked last: those of the crawl first. Its health
    /// follows from those of the crawl.
    pub hosts: Vec<ProxyHost>,
    /// `refused by images.test, answers menu.test`: first the hosts that it does not reach; empty if it reaches all of
    /// them.
    pub hosts_text: String,
    pub is_active: bool,
    pub state_code: Option<String>,
    pub timezone: Option<String>,
    pub last_used_at: Option<DateTime<Utc>>,
    pub success_count: i64,
    pub failure_count: i64,
    /// Blocks in a row, whatever their status.
    pub consecutive_403_count: i64,
    /// Requests without an answer in a row, whoever is to blame.
    pub consecutive_failure_count: i64,
    pub avg_response_time_ms: Option<f64>,
    pub last_failure_at: Option<DateTime<Utc>>,
    pub last_error: Option<String>,
    pub cooldown_until: Option<DateTime<Utc>>,
    /// Sent and received since midnight in its timezone (UTC where it has none), as far as processes have written it.
    pub bytes_today: i64,
    /// Bytes left today; null without a budget.
    pub budget_left: Option<i64>,
    /// Its budget is spent: it is not used before this time.
    pub rests_until: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// How one host answers the requests of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProxyHost {
    pub host: String,
    /// `healthy`, `refused` or `failing`.
    pub health: ShownHealth,
    /// Only requests that a crawl does not depend on went there, such as those for images.
    pub is_best_effort: bool,
}

impl ProxyListing {
    /// Notes the hosts that were asked through it.
    pub fn with_hosts(self, hosts: Vec<ProxyHost>) -> ProxyListing {
        ProxyListing { hosts_text: ProxyHost::text(&hosts), hosts, ..self }
    }
}

impl ProxyHost {
    fn text(hosts: &[ProxyHost]) -> String {
        let of = |wanted: ShownHealth| hosts.iter().filter(move |host| host.health == wanted);
        let parts = [
            (ShownHealth::Refused, "refused by"),
            (ShownHealth::Failing, "no answer from"),
            (ShownHealth::Healthy, "answers"),
        ];
        let named =
            parts.iter().flat_map(|(health, verb)| of(*health).map(move |host| format!("{verb} {}", host.host)));
        let named: Vec<String> = named.collect();
        let reaches_all = hosts.iter().all(|host| host.health == ShownHealth::Healthy);
        if reaches_all { String::new() } else { named.join(", ") }
    }
}

/// A time in which no request goes through a proxy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProxyBench {
    /// Only to this host; null: to all of them.
    pub host: Option<String>,
    pub until: DateTime<Utc>,
    pub reason: Option<String>,
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportCounts {
    pub created: usize,
    pub updated: usize,
    pub unchanged: usize,
}

/// Filter of proxies; a field that is None does not filter.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProxyFilter {
    /// Just this proxy.
    #[serde(skip)]
    pub id: Option<ProxyId>,
    pub health: Option<ShownHealth>,
    /// Ids above this one.
    #[serde(skip)]
    pub above: Option<ProxyId>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProxyPage {
    pub proxies: Vec<ProxyListing>,
    /// The resting proxies, including those on other pages.
    pub resting: RestingProxies,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProxy {
    /// `http` by default.
    pub protocol: Option<ProxyProtocol>,
    #[schema(min_length = 1, max_length = 253)]
    pub host: String,
    #[schema(minimum = 1, maximum = 65535)]
    pub port: u16,
    #[schema(max_length = 255, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub username: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    #[schema(max_length = 255, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", write_only)]
    pub password: Option<String>,
    /// A US state, such as `AZ`.
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    pub state_code: Option<String>,
    /// An IANA timezone, such as `America/Phoenix`.
    #[schema(max_length = 64, pattern = "^[A-Za-z0-9/_+-]*$")]
    pub timezone: Option<String>,
}

/// Changes; a field that is absent or null keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedProxy {
    /// Switches it on or off; either way its cooldown ends.
    pub is_active: Option<bool>,
    #[serde(default, deserialize_with = "secret")]
    #[schema(max_length = 255, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", write_only)]
    pub password: Option<String>,
    /// Empty removes it.
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    pub state_code: Option<String>,
    /// Empty removes it.
    #[schema(max_length = 64, pattern = "^[A-Za-z0-9/_+-]*$")]
    pub timezone: Option<String>,
}

/// A proxy by its fields, or as a text: `host:port`, `host:port:user:password` or a URL.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ImportedProxy {
    Text(String),
    Fields(NewProxy),
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProxyImport {
    #[schema(min_items = 1, max_items = 1000)]
    pub proxies: Vec<ImportedProxy>,
    /// Only checks the list and imports nothing: its faults are those of the import.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    #[serde(flatten)]
    pub counts: ImportCounts,
    /// Number of proxies without a state that got the state of their address.
    pub located: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProxyTest {
    pub id: ProxyId,
    pub ok: bool,
    pub latency_ms: Option<u64>,
    /// Why it failed.
    pub reason: Option<String>,
}

impl AddAssign for ImportCounts {
    fn add_assign(&mut self, other: ImportCounts) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
    }
}

impl From<ProxyEntry> for NewProxy {
    fn from(entry: ProxyEntry) -> Self {
        let ProxyEntry { protocol, host, port, username, password, state_code, timezone } = entry;
        NewProxy { protocol: Some(protocol), host, port, username, password, state_code, timezone }
    }
}

/// A text that no error repeats.
fn secret<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(input).map_err(|_| D::Error::custom("expected a text"))
}
