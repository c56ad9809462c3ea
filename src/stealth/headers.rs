//! The header fields of one request, in the order and with the values of its identity; here those of a browser, by
//! its fingerprint. HTTP/1.1 spells every name in title case, whatever the list says.
//!
//! Pure: (identity, protocol, request, cookies) in, an ordered list out. It must not know connections or
//! proxies.

mod own;

use url::{Host, Position, Url};

use super::fingerprint::{Engine, Protocol};
use super::identity::Browser;
use super::{Identity, Request, RequestKind};

/// An ordered list of (name as spelled, value).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    pub fields: Vec<(String, String)>,
    /// Script headers that no recording has seen in this kind of request: their place is a guess.
    pub unrecorded: usize,
}

/// The headers on the wire for `request`; `cookies` are the pairs `name=value` that the jar has for it.
pub fn ordered(identity: &Identity, protocol: Protocol, request: &Request, cookies: &[String]) -> Fields {
    match identity {
        Identity::Browser(browser) => of_browser(browser, protocol, request, cookies),
        Identity::Own(own) => own::ordered(own, protocol, request, cookies),
    }
}

fn of_browser(browser: &Browser, protocol: Protocol, request: &Request, cookies: &[String]) -> Fields {
    let places = Places::of(browser, protocol, request);
    let mut fields = Vec::with_capacity(places.names.len() + cookies.len());
    for name in places.names {
        let lower = name.to_ascii_lowercase();
        let values = match lower.as_str() {
            "cookie" => cookie_fields(browser, protocol, cookies),
            other => value(browser, protocol, request, other).into_iter().collect(),
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
    fn of(browser: &Browser, protocol: Protocol, request: &Request) -> Places {
        let engine = browser.fingerprint.engine;
        let set: Vec<_> = request.script_headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let (names, listed_script_headers) = browser.fingerprint.names(request.kind, &set, protocol);
        let mut names = names.to_vec();
        if engine == Engine::Blink && request.script_header("accept").is_none() {
            move_accept_to_the_tail(&mut names);
        }
        let unlisted: Vec<_> = set.into_iter().filter(|name| position(&names, name).is_none()).collect();
        let mut unrecorded = unlisted.len();
        let place = place_of_unrecorded(engine, &names, listed_script_headers);
        names.splice(place..place, unlisted);
        if has_origin(request) && position(&names, "origin").is_none() {
            names.insert(place_of_origin(engine, &names), "origin".to_owned());
            unrecorded += 1;
        }
        Places { names, unrecorded }
    }
}

/// The browser's own `accept` comes directly before the tail; only a script's has the place in the list.
fn move_accept_to_the_tail(names: &mut Vec<String>) {
    let Some(listed) = position(names, "accept") else { return };
    let name = names.remove(listed);
    // a list of HTTP/1.1, which spells the browser's own names with capitals
    let own = if names.iter().any(|name| name == "Host") { "Accept".to_owned() } else { name };
    names.insert(tail(names), own);
}

/// Begin of the headers that Chromium itself puts last: at `origin`, or at `sec-fetch-site` where there is none.
fn tail(names: &[String]) -> usize {
    position(names, "origin").or_else(|| position(names, "sec-fetch-site")).unwrap_or(names.len())
}

fn place_of_unrecorded(engine: Engine, names: &[String], script_headers: &[String]) -> usize {
    match engine {
        Engine::Blink => {
            let tail = tail(names);
            let accept_before = tail.checked_sub(1).filter(|before| names[*before].eq_ignore_ascii_case("accept"));
            accept_before.unwrap_or(tail)
        }
        Engine::Gecko => after_script_headers(names, script_headers, "referer"),
        Engine::Webkit => after_script_headers(names, script_headers, "sec-fetch-mode"),
    }
}

/// `accept` and `content-type` have places of their own.
fn after_script_headers(names: &[String], script_headers: &[String], otherwise: &str) -> usize {
    let is_script = |name: &String| {
        let name = name.to_ascii_lowercase();
        script_headers.contains(&name) && !["accept", "content-type"].contains(&name.as_str())
    };
    let last = names.iter().rposition(is_script).or_else(|| position(names, otherwise));
    last.map_or(names.len(), |last| last + 1)
}

/// Place of `origin` in a list without it, as in the lists of requests with a body.
fn place_of_origin(engine: Engine, names: &[String]) -> usize {
    let before: &[&str] = match engine {
        Engine::Blink => &["sec-fetch-site"],
        Engine::Gecko => &["connection", "cookie", "sec-fetch-dest"],
        Engine::Webkit => &["referer"],
    };
    before.iter().find_map(|name| position(names, name)).unwrap_or(names.len())
}

/// Browsers name the origin of the page to other origins, and with every body; never with an image.
fn has_origin(request: &Request) -> bool {
    if request.kind == RequestKind::Image {
        return false;
    }
    request.body.is_some() || !request.is_same_origin()
}

fn position(names: &[String], wanted: &str) -> Option<usize> {
    names.iter().position(|name| name.eq_ignore_ascii_case(wanted))
}

/// HTTP/1.1 knows one `Cookie`; on HTTP/2 some browsers send one field per pair.
fn cookie_fields(browser: &Browser, protocol: Protocol, cookies: &[String]) -> Vec<String> {
    if cookies.is_empty() || (protocol == Protocol::Http2 && browser.fingerprint.cookie_crumbs) {
        return cookies.to_vec();
    }
    vec![cookies.join("; ")]
}

/// None = absent from this request.
fn value(browser: &Browser, protocol: Protocol, request: &Request, name: &str) -> Option<String> {
    let fingerprint = &browser.fingerprint;
    let hints = fingerprint.client_hints.as_ref();
    match name {
        "connection" => Some("keep-alive".to_owned()),
        "user-agent" => Some(fingerprint.user_agent.clone()),
        "accept" => {
            let accept = request.script_header(name).unwrap_or(fingerprint.accept(request.kind));
            Some(without_formats(accept, request.unwanted_formats))
        }
        "accept-encoding" => Some(fingerprint.accept_encoding.join(", ")),
        "accept-language" => Some(browser.accept_language.clone()),
        "sec-ch-ua" => hints.map(|hints| hints.ua.clone()),
        "sec-ch-ua-mobile" => hints.map(|hints| hints.mobile.clone()),
        "sec-ch-ua-platform" => hints.map(|hints| hints.platform.clone()),
        "sec-fetch-site" => Some(fetch_site(request).name().to_owned()),
        "sec-fetch-mode" => Some(if request.kind == RequestKind::Image { "no-cors" } else { "cors" }.to_owned()),
        "sec-fetch-dest" => Some(if request.kind == RequestKind::Image { "image" } else { "empty" }.to_owned()),
        "priority" => fingerprint.priority_on(request.kind, protocol).map(str::to_owned),
        "te" => fingerprint.te_on(protocol).map(str::to_owned),
        of_the_request => request_value(request, of_the_request),
    }
}

/// The same of a header whose value no identity changes.
fn request_value(request: &Request, name: &str) -> Option<String> {
    match name {
        "host" => Some(authority(&request.url).to_owned()),
        "content-length" => request.body.as_ref().map(|body| body.len().to_string()),
        "origin" => has_origin(request).then(|| request.referer.origin().ascii_serialization()),
        "referer" => Some(referer(request)),
        of_the_script => request.script_header(of_the_script).map(str::to_owned),
    }
}

fn without_formats(accept: &str, unwanted: &[&str]) -> String {
    let is_wanted = |range: &&str| {
        let format = range.split(';').next().unwrap_or_default().trim();
        !unwanted.iter().any(|unwanted| unwanted.eq_ignore_ascii_case(format))
    };
    accept.split(',').filter(is_wanted).collect::<Vec<_>>().join(",")
}

/// How far an address is from the page, from near to far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FetchSite {
    SameOrigin,
    SameSite,
    CrossSite,
}

impl FetchSite {
    fn between(url: &Url, page: &Url) -> FetchSite {
        if url.origin() == page.origin() {
            return FetchSite::SameOrigin;
        }
        let is_same_site = url.scheme() == page.scheme() && site(url).is_some() && site(url) == site(page);
        if is_same_site { FetchSite::SameSite } else { FetchSite::CrossSite }
    }

    fn name(self) -> &'static str {
        match self {
            FetchSite::SameOrigin => "same-origin",
            FetchSite::SameSite => "same-site",
            FetchSite::CrossSite => "cross-site",
        }
    }
}

/// The widest of all addresses that the request has had.
fn fetch_site(request: &Request) -> FetchSite {
    let earlier = request.redirected_from.iter().map(|url| FetchSite::between(url, &request.referer));
    earlier.fold(FetchSite::between(&request.url, &request.referer), FetchSite::max)
}

/// The registrable domain, taken as the last two labels: the platforms' domains have no public suffix of two
/// labels.
fn site(url: &Url) -> Option<String> {
    let Some(Host::Domain(domain)) = url.host() else { return None };
    let mut labels = domain.rsplit('.');
    let (top, name) = (labels.next()?, labels.next()?);
    Some(format!("{name}.{top}"))
}

/// The full address of the page, without fragment, credentials and secrets; to another origin only the page's
/// origin.
fn referer(request: &Request) -> String {
    let page = request.page();
    if !request.is_same_origin() {
        return format!("{}/", page.origin().ascii_serialization());
    }
    let scheme = &page[..Position::AfterScheme];
    let rest = &page[Position::BeforeHost..Position::AfterQuery];
    format!("{scheme}://{rest}")
}
