//! The rules that `identities.toml` is checked against at load, all errors at once; no fingerprint may
//! contradict them.
//!
//! Pure: entries in, sentences about their faults out.

use std::collections::{BTreeMap, BTreeSet};

use super::fingerprint::{Engine, Family, Fingerprint, HeaderLists, ListKind, Lists, Os, Protocol};
use super::{RequestKind, decode};

/// Headers for which a fingerprint holds no value: they come from the request, its connection, the jar or the
/// locale.
const REQUEST_HEADERS: [&str; 11] = [
    "host",
    "connection",
    "content-length",
    "content-type",
    "origin",
    "referer",
    "cookie",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-dest",
    "accept-language",
];

/// Headers that no fetch of these browsers carries.
const NEVER_SENT: [&str; 7] =
    ["dnt", "sec-gpc", "pragma", "cache-control", "upgrade-insecure-requests", "sec-fetch-user", "x-requested-with"];

pub(super) fn errors(lists: &HeaderLists, entries: &[Fingerprint]) -> Vec<String> {
    let HeaderLists { kinds, orders } = lists;
    let mut errors = kind_errors(kinds);
    errors.extend(orders.iter().flat_map(|(order, of_order)| order_errors(order, of_order, kinds)));
    errors.extend(entries.iter().flat_map(|entry| entry_errors(entry, orders.contains_key(&entry.order))));
    let mut ids = BTreeSet::new();
    errors.extend(
        entries.iter().filter(|entry| !ids.insert(&entry.id)).map(|entry| format!("{}: id is not unique", entry.id)),
    );
    if entries.iter().all(|entry| entry.weight == 0) {
        errors.push("the total weight is 0: no fingerprint can be drawn".to_owned());
    }
    errors
}

/// The brand list that Chromium of `major` sends: a filler (Chromium's GREASE brand), `Chromium` and the
/// brand, in an order that depends on the version.
pub fn brands(brand: &str, major: u32) -> String {
    const CHARACTERS: [&str; 11] = [" ", "(", ":", "-", ".", "/", ")", ";", "=", "?", "_"];
    const PLACES: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let character = |nth: u32| CHARACTERS[nth as usize % CHARACTERS.len()];
    let filler = format!("Not{}A{}Brand", character(major), character(major.wrapping_add(1)));
    let filler_version = [8, 99, 24][major as usize % 3];
    let listed = [(filler.as_str(), filler_version), ("Chromium", major), (brand, major)];
    let mut placed = [""; 3].map(str::to_owned);
    for ((name, version), place) in listed.into_iter().zip(PLACES[major as usize % 6]) {
        placed[place] = format!("\"{name}\";v=\"{version}\"");
    }
    placed.join(", ")
}

/// Every request needs a list, and script headers are compared in lower case.
fn kind_errors(kinds: &BTreeMap<String, ListKind>) -> Vec<String> {
    let has_list = |request: RequestKind| kinds.values().any(|kind| kind.request == request);
    let without_list = RequestKind::ALL.into_iter().filter(|request| !has_list(*request));
    let mut errors: Vec<_> = without_list.map(|request| format!("no kind is for {}", request.name())).collect();
    for (name, kind) in kinds {
        let upper = kind.script_headers.iter().filter(|header| header.to_ascii_lowercase() != **header);
        errors.extend(upper.map(|header| format!("kind.{name}: {header} must be lower case")));
    }
    errors
}

fn order_errors(order: &str, of_order: &BTreeMap<String, Lists>, kinds: &BTreeMap<String, ListKind>) -> Vec<String> {
    let unknown = of_order.keys().filter(|kind| !kinds.contains_key(*kind));
    let mut errors: Vec<_> = unknown.map(|kind| format!("order.{order}.{kind}: unknown kind")).collect();
    let missing = kinds.keys().filter(|kind| !of_order.contains_key(*kind));
    errors.extend(missing.map(|kind| format!("order.{order}: {kind} is missing")));
    for (kind, lists) in of_order {
        errors.extend(list_errors(&format!("order.{order}.{kind}.h1"), &lists.h1, |_| true));
        let on_h2 = |name: &str| name != "host" && name != "connection";
        errors.extend(list_errors(&format!("order.{order}.{kind}.h2"), &lists.h2, on_h2));
        errors.extend(
            lists
                .h2
                .iter()
                .filter(|name| name.to_ascii_lowercase() != **name)
                .map(|name| format!("order.{order}.{kind}.h2: {name} must be lower case")),
        );
    }
    errors
}

fn list_errors(place: &str, names: &[String], allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut errors = Vec::new();
    for name in names.iter().map(|name| name.to_ascii_lowercase()) {
        if NEVER_SENT.contains(&name.as_str()) || !allowed(&name) {
            errors.push(format!("{place}: {name} must not be sent"));
        }
        if http::HeaderName::try_from(&name).is_err() {
            errors.push(format!("{place}: {name:?} is not a header name"));
        }
        if !seen.insert(name.clone()) {
            errors.push(format!("{place}: {name} occurs twice"));
        }
    }
    errors
}

fn entry_errors(entry: &Fingerprint, order_exists: bool) -> Vec<String> {
    let mut errors: Vec<_> = entry.unknown.keys().map(|key| format!("unknown key '{key}'")).collect();
    if !order_exists {
        errors.push(format!("unknown order '{}'", entry.order));
    }
    errors.extend(value_errors(entry));
    errors.extend(name_errors(entry));
    errors.extend(hint_errors(entry));
    errors.extend(coding_errors(entry));
    errors.extend(position_errors(entry));
    errors.into_iter().map(|error| format!("{}: {error}", entry.id)).collect()
}

/// Values must be what a header can carry on one line.
fn value_errors(entry: &Fingerprint) -> Vec<String> {
    let mut values = vec![&entry.user_agent, &entry.accept.fetch, &entry.accept.image];
    values.extend(entry.client_hints.iter().flat_map(|hints| [&hints.ua, &hints.mobile, &hints.platform]));
    values.extend(entry.priority.iter().flat_map(|priority| [&priority.fetch, &priority.image]));
    values.extend(&entry.te.value);
    values.extend(&entry.accept_encoding);
    let bad = values.into_iter().filter(|value| value.is_empty() || http::HeaderValue::try_from(*value).is_err());
    bad.map(|value| format!("{value:?} is not a header value")).collect()
}

/// Id, family, engine, os, version and User-Agent must agree.
fn name_errors(entry: &Fingerprint) -> Vec<String> {
    let mut errors = Vec::new();
    let expected_id = format!("{}-{}-{}", entry.family.name(), entry.version, entry.os.name());
    if entry.id != expected_id {
        errors.push(format!("family, version and os require the id {expected_id}"));
    }
    if entry.engine != entry.family.engine() {
        errors.push(format!("{} is not built on {}", entry.family.name(), <&str>::from(entry.engine)));
    }
    let tokens = [entry.os.token().to_owned(), entry.family.version_token(&entry.version)];
    for token in tokens.iter().filter(|token| !entry.user_agent.contains(token.as_str())) {
        errors.push(format!("user_agent does not say '{token}'"));
    }
    if entry.user_agent.contains("Mobile") {
        errors.push("user_agent says 'Mobile'".to_owned());
    }
    errors
}

fn hint_errors(entry: &Fingerprint) -> Vec<String> {
    let (brand, hints) = match (entry.family.brand(), &entry.client_hints) {
        (Some(brand), Some(hints)) => (brand, hints),
        (None, None) => return Vec::new(),
        (Some(_), None) => return vec!["client_hints are missing".to_owned()],
        (None, Some(_)) => return vec!["this family sends no client_hints".to_owned()],
    };
    let wanted = [
        ("ua", &hints.ua, entry.version.parse().map(|major| brands(brand, major)).unwrap_or_default()),
        ("mobile", &hints.mobile, "?0".to_owned()),
        ("platform", &hints.platform, format!("\"{}\"", entry.os.platform())),
    ];
    let wrong = wanted.into_iter().filter(|(_, found, expected)| *found != expected);
    wrong.map(|(key, _, expected)| format!("client_hints.{key} must be {expected}")).collect()
}

fn coding_errors(entry: &Fingerprint) -> Vec<String> {
    let unreadable = entry.accept_encoding.iter().filter(|coding| !decode::CODINGS.contains(&coding.as_str()));
    unreadable.map(|coding| format!("accept_encoding: {coding} cannot be decoded")).collect()
}

/// Every name in a list needs a value, and every value a place.
fn position_errors(entry: &Fingerprint) -> Vec<String> {
    let mut errors = Vec::new();
    for (kind, lists) in entry.lists.iter() {
        for (protocol, names) in [(Protocol::Http1, &lists.h1), (Protocol::Http2, &lists.h2)] {
            let named: BTreeSet<_> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
            let valued = values_of(entry, protocol);
            let script_headers = entry.kinds.get(kind).map(|kind| kind.script_headers.as_slice()).unwrap_or_default();
            let is_of_the_request =
                |name: &String| REQUEST_HEADERS.contains(&name.as_str()) || script_headers.contains(name);
            let without_value = named.iter().filter(|name| !valued.contains(name.as_str()) && !is_of_the_request(name));
            errors.extend(without_value.map(|name| format!("{kind}.{protocol}: {name} has no value")));
            let without_place = valued.iter().filter(|name| !named.contains(**name));
            errors.extend(without_place.map(|name| format!("{kind}.{protocol}: {name} has no place")));
        }
    }
    errors
}

/// The headers that this entry itself has a value for.
fn values_of(entry: &Fingerprint, protocol: Protocol) -> BTreeSet<&'static str> {
    let mut valued = BTreeSet::from(["user-agent", "accept", "accept-encoding"]);
    if entry.client_hints.is_some() {
        valued.extend(["sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"]);
    }
    // every kind of request has one where another has
    valued.extend(entry.priority_on(RequestKind::Fetch, protocol).map(|_| "priority"));
    valued.extend(entry.te_on(protocol).map(|_| "te"));
    valued
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Family::Chrome => "chrome",
            Family::Edge => "edge",
            Family::Firefox => "firefox",
            Family::Safari => "safari",
        }
    }

    fn engine(self) -> Engine {
        match self {
            Family::Chrome | Family::Edge => Engine::Blink,
            Family::Firefox => Engine::Gecko,
            Family::Safari => Engine::Webkit,
        }
    }

    fn brand(self) -> Option<&'static str> {
        match self {
            Family::Chrome => Some("Google Chrome"),
            Family::Edge => Some("Microsoft Edge"),
            Family::Firefox | Family::Safari => None,
        }
    }

    fn version_token(self, version: &str) -> String {
        match self {
            Family::Chrome => format!("Chrome/{version}.0.0.0"),
            Family::Edge => format!("Chrome/{version}.0.0.0 Safari/537.36 Edg/{version}.0.0.0"),
            Family::Firefox => format!("rv:{version}.0) Gecko/20100101 Firefox/{version}.0"),
            Family::Safari => format!("Version/{version} "),
        }
    }
}

impl Os {
    fn name(self) -> &'static str {
        match self {
            Os::Windows => "windows",
            Os::Macos => "macos",
            Os::Linux => "linux",
        }
    }

    fn token(self) -> &'static str {
        match self {
            Os::Windows => "(Windows NT 10.0; Win64; x64",
            Os::Macos => "(Macintosh; Intel Mac OS X 10",
            Os::Linux => "(X11; Linux x86_64",
        }
    }

    fn platform(self) -> &'static str {
        match self {
            Os::Windows => "Windows",
            Os::Macos => "macOS",
            Os::Linux => "Linux",
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a("Google Chrome", 131, r#""Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24""#)]
    #[case::b("Google Chrome", 120, r#""Not_A Brand";v="8", "Chromium";v="120", "Google Chrome";v="120""#)]
    #[case::e("Microsoft Edge", 131, r#""Microsoft Edge";v="131", "Chromium";v="131", "Not_A Brand";v="24""#)]
    fn the_brand_rule_gives_what_browsers_send(#[case] brand: &str, #[case] major: u32, #[case] sent: &str) {
        assert_eq!(brands(brand, major), sent);
    }

    #[test]
    fn the_brand_rule_has_no_largest_version() {
        let sent = brands("Google Chrome", u32::MAX);
        assert!(sent.contains(r#""Chromium";v="4294967295""#), "{sent}");
    }
}
