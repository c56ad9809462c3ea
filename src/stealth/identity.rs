//! `Identity`: the client that a route says it is: a browser, or drover under its own name. `Identities`: the
//! fingerprints of browsers to draw from, read from `identities.toml`.
//!
//! The shipped file is part of the program; an operator's text is merged into it. It must not know proxies or
//! sockets.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::Rng;
use serde::Deserialize;
use toml::{Table, Value};

use super::data_file::{DataFileError, parse};
use super::fingerprint::{Engine, Fingerprint, HeaderLists, ListKind, Lists, Orders};
use super::{StateLocale, consistency, decode};

pub const EMBEDDED: &str = include_str!("../../config/identities.toml");

/// Kind of identity that a session has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentityKind {
    /// A browser of [`Identities`], another one after a block.
    #[default]
    Browser,
    /// drover itself, by the name of `[http] own_name`: for hosts that want to know who asks.
    Own,
}

impl IdentityKind {
    /// The word of the settings.
    pub fn name(self) -> &'static str {
        match self {
            IdentityKind::Browser => "browser",
            IdentityKind::Own => "own",
        }
    }
}

/// Name of the own identity among those of fingerprints.
const OWN_ID: &str = "own";

/// The client that a route says it is. It never changes within a route.
#[derive(Clone, Debug)]
pub enum Identity {
    Browser(Browser),
    Own(OwnClient),
}

/// A fingerprint with the languages of a locale.
#[derive(Clone, Debug)]
pub struct Browser {
    pub fingerprint: Arc<Fingerprint>,
    pub accept_language: String,
}

/// drover under its own name, with the languages of a locale.
#[derive(Clone, Debug)]
pub struct OwnClient {
    pub user_agent: String,
    pub accept_language: String,
}

impl Identity {
    pub fn browser(fingerprint: Arc<Fingerprint>, locale: &StateLocale) -> Self {
        let accept_language = fingerprint.accept_language(&locale.languages);
        Identity::Browser(Browser { fingerprint, accept_language })
    }

    pub fn own(user_agent: &str, locale: &StateLocale) -> Self {
        // the style that most clients have
        let accept_language = Engine::Blink.accept_language(&locale.languages);
        Identity::Own(OwnClient { user_agent: user_agent.to_owned(), accept_language })
    }

    pub fn id(&self) -> &str {
        match self {
            Identity::Browser(browser) => &browser.fingerprint.id,
            Identity::Own(_) => OWN_ID,
        }
    }

    /// Whether it has said that it can read this content coding.
    pub fn offers(&self, coding: &str) -> bool {
        match self {
            Identity::Browser(browser) => browser.fingerprint.offers(coding),
            Identity::Own(_) => decode::CODINGS.contains(&coding),
        }
    }
}

/// The fingerprints in use, at least one of them with a weight.
#[derive(Clone, Debug)]
pub struct Identities(Vec<Arc<Fingerprint>>);

impl Identities {
    /// The shipped fingerprints with `overlay` merged into them: a `[[fingerprint]]` changes the one of its
    /// id key by key, or adds one.
    pub fn load(overlay: Option<&str>) -> Result<Identities, DataFileError> {
        read(overlay).map_err(|errors| DataFileError { file: "identities.toml", errors })
    }

    pub fn all(&self) -> &[Arc<Fingerprint>] {
        &self.0
    }

    /// Draws by weight. `used` are the ids that this session has drawn, the latest last: while one is left,
    /// the draw is an unused one, of another family than the current one if it can be.
    pub fn draw(&self, rng: &mut impl Rng, used: &[String]) -> Arc<Fingerprint> {
        let current = used.last().and_then(|id| self.0.iter().find(|fingerprint| &fingerprint.id == id));
        let unused = |fingerprint: &Fingerprint| !used.contains(&fingerprint.id);
        let other = |fingerprint: &Fingerprint| current.is_none_or(|current| current.family != fingerprint.family);
        self.weighted(rng, |fingerprint| unused(fingerprint) && other(fingerprint))
            .or_else(|| self.weighted(rng, unused))
            .or_else(|| self.weighted(rng, |_| true))
            .unwrap_or_else(|| Arc::clone(&self.0[0]))
    }

    fn weighted(&self, rng: &mut impl Rng, may: impl Fn(&Fingerprint) -> bool) -> Option<Arc<Fingerprint>> {
        let candidates = || self.0.iter().filter(|fingerprint| fingerprint.weight > 0 && may(fingerprint));
        let total: u64 = candidates().map(|fingerprint| u64::from(fingerprint.weight)).sum();
        let mut point = (total > 0).then(|| rng.random_range(0..total))?;
        let mut drawn = candidates().skip_while(|fingerprint| {
            let weight = u64::from(fingerprint.weight);
            let passed = point >= weight;
            point = point.saturating_sub(weight);
            passed
        });
        drawn.next().map(Arc::clone)
    }
}

fn read(overlay: Option<&str>) -> Result<Identities, Vec<String>> {
    let mut file = parse(EMBEDDED)?;
    if let Some(overlay) = overlay {
        merge(&mut file, parse(overlay)?);
    }
    let mut errors = unknown_sections(&file);
    let lists = HeaderLists { kinds: Arc::new(kinds(&file, &mut errors)), orders: orders(&file, &mut errors) };
    let fingerprints = fingerprints(&file, &lists, &mut errors);
    errors.extend(consistency::errors(&lists, &fingerprints));
    match errors.is_empty() {
        true => Ok(Identities(fingerprints.into_iter().map(Arc::new).collect())),
        false => Err(errors),
    }
}

/// Tables merge, arrays of tables with ids merge by id, everything else is replaced, also by an empty list.
fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => merge(base, over),
            (Some(Value::Array(base)), Value::Array(over)) if has_ids(&over) => {
                over.into_iter().for_each(|entry| merge_entry(base, entry));
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn has_ids(entries: &[Value]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| id(entry).is_some())
}

fn merge_entry(base: &mut Vec<Value>, entry: Value) {
    match (base.iter_mut().find(|known| id(known) == id(&entry)), entry) {
        (Some(Value::Table(known)), Value::Table(over)) => merge(known, over),
        (_, entry) => base.push(entry),
    }
}

fn id(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str)
}

fn unknown_sections(file: &Table) -> Vec<String> {
    let known = ["schema", "kind", "order", "fingerprint"];
    let mut errors: Vec<_> =
        file.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("unknown key '{key}'")).collect();
    if file.get("schema").and_then(Value::as_integer) != Some(1) {
        errors.push("schema must be 1".to_owned());
    }
    errors
}

fn kinds(file: &Table, errors: &mut Vec<String>) -> BTreeMap<String, ListKind> {
    let empty = Table::new();
    let tables = file.get("kind").and_then(Value::as_table).unwrap_or(&empty);
    let read = tables.iter().filter_map(|(name, kind)| {
        let kind = ListKind::deserialize(kind.clone());
        let kind = kind.map_err(|error| errors.push(format!("kind.{name}: {}", error.message())));
        kind.ok().map(|kind| (name.clone(), kind))
    });
    read.collect()
}

fn orders(file: &Table, errors: &mut Vec<String>) -> Orders {
    let empty = Table::new();
    let tables = file.get("order").and_then(Value::as_table).unwrap_or(&empty);
    tables.iter().map(|(order, kinds)| (order.clone(), Arc::new(kinds_of(order, kinds, errors)))).collect()
}

fn kinds_of(order: &str, kinds: &Value, errors: &mut Vec<String>) -> BTreeMap<String, Lists> {
    let empty = Table::new();
    let kinds = kinds.as_table().unwrap_or(&empty);
    let read = kinds.iter().filter_map(|(kind, lists)| {
        let lists = Lists::deserialize(lists.clone()).map_err(|error| errors.push(list_error(order, kind, error)));
        lists.ok().map(|lists| (kind.clone(), lists))
    });
    read.collect()
}

fn list_error(order: &str, kind: &str, error: toml::de::Error) -> String {
    format!("order.{order}.{kind}: {}", error.message())
}

fn fingerprints(file: &Table, lists: &HeaderLists, errors: &mut Vec<String>) -> Vec<Fingerprint> {
    let entries = file.get("fingerprint").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = entries.iter().enumerate().filter_map(|(nth, entry)| {
        let name = id(entry).map_or_else(|| format!("fingerprint {}", nth + 1), str::to_owned);
        let fingerprint = Fingerprint::deserialize(entry.clone());
        fingerprint.map_err(|error| errors.push(format!("{name}: {}", error.message()))).ok()
    });
    let with_lists = |mut fingerprint: Fingerprint| {
        fingerprint.lists = lists.orders.get(&fingerprint.order).cloned().unwrap_or_default();
        fingerprint.kinds = Arc::clone(&lists.kinds);
        fingerprint
    };
    read.map(with_lists).collect()
}
