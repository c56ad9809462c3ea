//! `Fingerprint`: one browser's header set (names, spelling, order, values), as `identities.toml` describes
//! it.
//!
//! Data only. `consistency` checks it, `headers` makes requests of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::request::RequestKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Protocol {
    #[serde(rename = "h1")]
    Http1,
    #[serde(rename = "h2")]
    Http2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Chrome,
    Edge,
    Firefox,
    Safari,
}

/// Decides the style of Accept-Language and the place of headers that no recording has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Engine {
    Blink,
    Gecko,
    Webkit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Os {
    Windows,
    Macos,
    Linux,
}

/// The weakest mark of evidence among an entry's lists and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Seen in requests of the running browser to a server of our own.
    Recorded,
    /// Seen in published captures or requests of that browser.
    Captured,
    /// Follows from a rule that agrees with recorded or captured requests.
    Derived,
    /// An informed choice, until there is a recording.
    Unverified,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Fingerprint {
    pub id: String,
    pub family: Family,
    pub engine: Engine,
    pub os: Os,
    pub version: String,
    /// The order of headers it follows, a key of the file's `[order.…]` tables.
    pub order: String,
    /// Share of the sessions that draw it; 0 = retired.
    pub weight: u32,
    pub user_agent: String,
    pub client_hints: Option<ClientHints>,
    pub accept: Accept,
    pub accept_encoding: Vec<String>,
    /// Absent = never sent.
    pub priority: Option<Priority>,
    pub te: TeHeader,
    /// Whether HTTP/2 has one `cookie` field per pair instead of one for all.
    pub cookie_crumbs: bool,
    pub evidence: Evidence,
    /// The lists of `order` by their kind, found at load.
    #[serde(skip)]
    pub(super) lists: Arc<BTreeMap<String, Lists>>,
    #[serde(skip)]
    pub(super) kinds: Arc<BTreeMap<String, ListKind>>,
    #[serde(flatten)]
    pub(super) unknown: BTreeMap<String, toml::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientHints {
    pub ua: String,
    pub mobile: String,
    pub platform: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    pub fetch: String,
    pub image: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    pub fetch: String,
    pub image: String,
    pub on: Vec<Protocol>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeHeader {
    pub value: Option<String>,
    pub on: Vec<Protocol>,
}

/// The lists of header names, by order and kind, and the purpose of each kind.
pub(super) struct HeaderLists {
    pub kinds: Arc<BTreeMap<String, ListKind>>,
    pub orders: Orders,
}

pub(super) type Orders = BTreeMap<String, Arc<BTreeMap<String, Lists>>>;

/// Requests that the lists of one kind (a key `[kind.…]` of the file, such as `graphql_get`) were recorded
/// for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListKind {
    pub request: RequestKind,
    /// The headers that the page's script set, lower case.
    pub script_headers: Vec<String>,
}

/// The complete header names of one order and kind, spelled as on the wire; optional ones are skipped when
/// absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lists {
    pub h1: Vec<String>,
    pub h2: Vec<String>,
}

impl Fingerprint {
    /// The names of a request in order, from the list whose script headers are most like `script_headers`
    /// (lower case); and the script headers of that list. Empty only without a list for `kind`, which loading
    /// refuses.
    pub fn names(&self, kind: RequestKind, script_headers: &[String], protocol: Protocol) -> (&[String], &[String]) {
        let fitting = self.kinds.iter().filter(|(_, list)| list.request == kind);
        let Some((name, list)) = fitting.min_by_key(|(_, list)| list.differences(script_headers)) else {
            return (&[], &[]);
        };
        let names: &[String] = match (self.lists.get(name), protocol) {
            (Some(lists), Protocol::Http1) => &lists.h1,
            (Some(lists), Protocol::Http2) => &lists.h2,
            (None, _) => &[],
        };
        (names, &list.script_headers)
    }

    pub fn offers(&self, coding: &str) -> bool {
        self.accept_encoding.iter().any(|offered| offered == coding)
    }

    pub fn accept(&self, kind: RequestKind) -> &str {
        match kind {
            RequestKind::Fetch | RequestKind::FetchWithBody => &self.accept.fetch,
            RequestKind::Image => &self.accept.image,
        }
    }

    pub fn priority_on(&self, kind: RequestKind, protocol: Protocol) -> Option<&str> {
        let priority = self.priority.as_ref().filter(|priority| priority.on.contains(&protocol))?;
        Some(match kind {
            RequestKind::Fetch | RequestKind::FetchWithBody => &priority.fetch,
            RequestKind::Image => &priority.image,
        })
    }

    pub fn te_on(&self, protocol: Protocol) -> Option<&str> {
        self.te.value.as_deref().filter(|_| self.te.on.contains(&protocol))
    }

    /// Accept-Language in this browser's style.
    pub fn accept_language(&self, languages: &[String]) -> String {
        self.engine.accept_language(languages)
    }
}

impl ListKind {
    /// How many script headers are in one set and not in the other.
    fn differences(&self, script_headers: &[String]) -> usize {
        let absent = self.script_headers.iter().filter(|name| !script_headers.contains(name)).count();
        let unlisted = script_headers.iter().filter(|name| !self.script_headers.contains(name)).count();
        absent + unlisted
    }
}

impl Engine {
    /// Accept-Language in its style: Chromium and Safari step down by 0.1, Firefox by 1/count.
    pub(super) fn accept_language(self, languages: &[String]) -> String {
        let weighted = languages.iter().enumerate().map(|(nth, language)| match nth {
            0 => language.clone(),
            _ => format!("{language};q=0.{}", self.tenths(nth, languages.len())),
        });
        weighted.collect::<Vec<_>>().join(",")
    }

    /// The weight of the nth (from 1) of `count` languages, in tenths.
    fn tenths(self, nth: usize, count: usize) -> usize {
        match self {
            Engine::Blink | Engine::Webkit => 10_usize.saturating_sub(nth).max(1),
            // 1 − nth/count to one decimal, half up
            Engine::Gecko => (20 * (count - nth) + count) / (2 * count),
        }
    }
}

impl Evidence {
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Recorded => "recorded",
            Evidence::Captured => "captured",
            Evidence::Derived => "derived",
            Evidence::Unverified => "unverified",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Http1 => "h1",
            Protocol::Http2 => "h2",
        })
    }
}
