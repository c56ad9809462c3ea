//! The header fields of one request, in the order, spelling and values of its fingerprint.
//!
//! Pure: (identity, protocol, request, cookies) in, an ordered list out. It must not know connections or proxies.

use url::{Position, Url};

use super::fingerprint::{Engine, Protocol};
use super::identity::Identity;
use super::request::Request;

/// An ordered list of (name as spelled, value).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    pub fields: Vec<(String, String)>,
    /// Script headers that no recording has seen in this kind of request: their place is a guess.
    pub unrecorded: usize,
}

/// What goes on the wire for `request`; `cookies` are the pairs `name=value` that the jar has for it.
pub fn ordered(identity: &Identity, protocol: Protocol, request: &Request, cookies: &[String]) -> Fields {
    let places = Places::of(identity, protocol, request);
    let mut fields = Vec::with_capacity(places.names.len() + cookies.len());
    for name in places.names {
        let lower = name.to_ascii_lowercase();
        let values = match lower.as_str() {
            "cookie" => cookie_fields(identity, protocol, cookies),
            other => value(identity, protocol, request, other).into_iter().collect(),
        };
        fields.extend(values.into_iter().map(|value| (name.clone(), value)));
    }
    Fields { fields, unrecorded: places.unrecorded }
}

/// Host, and port where it is not the scheme's own.
pub fn authority(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

struct Places {
    names: Vec<String>,
    unrecorded: usize,
}

impl Places {
    fn of(identity: &Identity, protocol: Protocol, request: &Request) -> Places {
        let engine = identity.fingerprint.engine;
        let mut names = identity.fingerprint.names(request.kind, protocol).to_vec();
        if engine == Engine::Blink && request.script_header("accept").is_none() {
            move_accept_to_the_tail(&mut names);
        }
        let unrecorded: Vec<_> =
            request.script_headers.iter().filter(|(name, _)| position(&names, name).is_none()).collect();
        let place = place_of_unrecorded(engine, &names);
        let spelled = unrecorded.iter().map(|(name, _)| name.to_ascii_lowercase()).collect::<Vec<_>>();
        let unrecorded = spelled.len();
        names.splice(place..place, spelled);
        Places { names, unrecorded }
    }
}

/// The browser's own `accept` stands directly before the tail; only a script's stands where the list has it.
fn move_accept_to_the_tail(names: &mut Vec<String>) {
    let Some(listed) = position(names, "accept") else { return };
    let name = names.remove(listed);
    let own = if names.iter().any(|name| name == "Host") { "Accept".to_owned() } else { name };
    names.insert(tail(names), own);
}

/// Where the tail of Chromium's lists begins.
fn tail(names: &[String]) -> usize {
    position(names, "origin").or_else(|| position(names, "sec-fetch-site")).unwrap_or(names.len())
}

fn place_of_unrecorded(engine: Engine, names: &[String]) -> usize {
    match engine {
        Engine::Blink => {
            let tail = tail(names);
            let accept_before = tail.checked_sub(1).filter(|before| names[*before].eq_ignore_ascii_case("accept"));
            accept_before.unwrap_or(tail)
        }
        Engine::Gecko => after_script_headers(names, "referer"),
        Engine::Webkit => after_script_headers(names, "sec-fetch-mode"),
    }
}

fn after_script_headers(names: &[String], otherwise: &str) -> usize {
    let script = |name: &String| name.to_ascii_lowercase().starts_with("apollo") || name.starts_with("x-");
    let last = names.iter().rposition(script).or_else(|| position(names, otherwise));
    last.map_or(names.len(), |last| last + 1)
}

fn position(names: &[String], wanted: &str) -> Option<usize> {
    names.iter().position(|name| name.eq_ignore_ascii_case(wanted))
}

/// HTTP/1.1 knows one `Cookie`; on HTTP/2 some browsers send one field per pair.
fn cookie_fields(identity: &Identity, protocol: Protocol, cookies: &[String]) -> Vec<String> {
    if cookies.is_empty() || (protocol == Protocol::Http2 && identity.fingerprint.cookie_crumbs) {
        return cookies.to_vec();
    }
    vec![cookies.join("; ")]
}

/// None = absent from this request.
fn value(identity: &Identity, protocol: Protocol, request: &Request, name: &str) -> Option<String> {
    let fingerprint = &identity.fingerprint;
    let hints = fingerprint.client_hints.as_ref();
    match name {
        "host" => Some(authority(&request.url).to_owned()),
        "connection" => Some("keep-alive".to_owned()),
        "content-length" => request.body.as_ref().map(|body| body.len().to_string()),
        "user-agent" => Some(fingerprint.user_agent.clone()),
        "accept" => Some(request.script_header(name).unwrap_or(&fingerprint.accept.fetch).to_owned()),
        "accept-encoding" => Some(fingerprint.accept_encoding.join(", ")),
        "accept-language" => Some(identity.accept_language.clone()),
        "sec-ch-ua" => hints.map(|hints| hints.ua.clone()),
        "sec-ch-ua-mobile" => hints.map(|hints| hints.mobile.clone()),
        "sec-ch-ua-platform" => hints.map(|hints| hints.platform.clone()),
        "sec-fetch-site" => Some("same-origin".to_owned()),
        "sec-fetch-mode" => Some("cors".to_owned()),
        "sec-fetch-dest" => Some("empty".to_owned()),
        "origin" => request.body.as_ref().map(|_| request.referer.origin().ascii_serialization()),
        "referer" => Some(referer(&request.referer)),
        "priority" => fingerprint.priority_on(protocol).map(str::to_owned),
        "te" => fingerprint.te_on(protocol).map(str::to_owned),
        of_the_script => request.script_header(of_the_script).map(str::to_owned),
    }
}

/// The full address of the page, less fragment and credentials, which browsers never tell.
fn referer(page: &Url) -> String {
    let scheme = &page[..Position::AfterScheme];
    let rest = &page[Position::BeforeHost..Position::AfterQuery];
    format!("{scheme}://{rest}")
}
