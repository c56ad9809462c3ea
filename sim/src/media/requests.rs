//! The requests that the site saw: by which method and path, with which secrets, and whether a text was
//! anywhere in them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};
use url::form_urlencoded;

use super::answer::{Request, basic};

/// Maximum number of requests that are kept, and of bytes of their bodies; the oldest go first.
const MAX_REQUESTS: usize = 4_000;
const MAX_BYTES: usize = 32 << 20;
/// Headers that carry secrets.
const SECRET_HEADERS: [&str; 5] = ["authorization", "cookie", "api-key", "user-api-key", "proxy-authorization"];
/// Parameters that carry secrets.
const SECRET_PARAMETERS: [&str; 1] = ["api_key"];

/// The listener that a request came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The services.
    Site,
    /// Files at another address, to which redirects lead.
    Elsewhere,
}

/// A request without the values of its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    pub origin: Origin,
    pub method: Method,
    /// Path with its query; secrets in it are shown as `…`.
    pub path: String,
    pub host: String,
    /// Presence by the name of a header that may carry a secret, in lower case: whether it was there.
    pub secrets: BTreeMap<&'static str, bool>,
    pub range: Option<String>,
    pub if_range: Option<String>,
    pub user_agent: Option<String>,
}

/// A place where a text was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub origin: Origin,
    /// The value of the header Host.
    pub host: String,
    pub method: Method,
    /// Path without its query.
    pub path: String,
    /// `path`, `body`, or the name of a header in lower case.
    pub part: String,
}

struct Entry {
    origin: Origin,
    request: Request,
}

#[derive(Default)]
pub(super) struct Requests(Mutex<State>);

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    bytes: usize,
    dropped: u64,
}

impl Requests {
    pub(super) fn note(&self, origin: Origin, request: &Request) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.bytes += size(request);
        state.entries.push_back(Entry { origin, request: request.clone() });
        while state.entries.len() > MAX_REQUESTS || state.bytes > MAX_BYTES {
            let Some(oldest) = state.entries.pop_front() else { return };
            state.bytes -= size(&oldest.request);
            state.dropped += 1;
        }
    }

    pub(super) fn all(&self) -> Vec<SeenRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.iter().map(Entry::seen).collect()
    }

    /// Number of requests that are kept no more.
    pub(super) fn dropped(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).dropped
    }

    pub(super) fn occurrences(&self, text: &str) -> Vec<Occurrence> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.entries.iter().flat_map(|entry| entry.occurrences(text)).collect()
    }
}

impl Entry {
    fn seen(&self) -> SeenRequest {
        let headers = self.request.headers();
        let text = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        SeenRequest {
            origin: self.origin,
            method: self.request.method().clone(),
            path: self.shown_path(),
            host: self.host(),
            secrets: SECRET_HEADERS.into_iter().map(|name| (name, headers.contains_key(name))).collect(),
            range: text("range"),
            if_range: text("if-range"),
            user_agent: text("user-agent"),
        }
    }

    fn shown_path(&self) -> String {
        let uri = self.request.uri();
        let Some(query) = uri.query() else { return uri.path().to_owned() };
        let shown = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if SECRET_PARAMETERS.contains(&name) => format!("{name}=…"),
            _ => pair.to_owned(),
        });
        format!("{}?{}", uri.path(), shown.collect::<Vec<_>>().join("&"))
    }

    fn host(&self) -> String {
        let host = self.request.headers().get("host").map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
        host.or_else(|| self.request.uri().authority().map(ToString::to_string)).unwrap_or_default()
    }

    fn occurrences(&self, text: &str) -> Vec<Occurrence> {
        let parts = self.parts().into_iter().filter(|(_, value)| value.contains(text));
        let mut names: Vec<String> = parts.map(|(name, _)| name).collect();
        names.dedup();
        let occurrence = |part| Occurrence {
            origin: self.origin,
            host: self.host(),
            method: self.request.method().clone(),
            path: self.request.uri().path().to_owned(),
            part,
        };
        names.into_iter().map(occurrence).collect()
    }

    /// All texts of the request, as they are and decoded.
    fn parts(&self) -> Vec<(String, String)> {
        let path = self.request.uri().to_string();
        let mut parts = vec![("path".to_owned(), decoded(path.as_bytes())), ("path".to_owned(), path)];
        parts.extend(header_parts(self.request.headers()));
        let body = self.request.body();
        parts.push(("body".to_owned(), String::from_utf8_lossy(body).into_owned()));
        parts.push(("body".to_owned(), decoded(body)));
        parts
    }
}

fn header_parts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut parts: Vec<_> = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    parts.extend(basic(headers).map(|pair| ("authorization".to_owned(), pair)));
    parts
}

/// Removes percent-encoding; without it, letters and digits stay as they are.
fn decoded(bytes: &[u8]) -> String {
    form_urlencoded::parse(bytes).map(|(name, value)| format!("{name}={value}&")).collect()
}

fn size(request: &Request) -> usize {
    let headers: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let body: &Bytes = request.body();
    body.len() + headers + request.uri().path().len() + request.uri().query().unwrap_or_default().len()
}
