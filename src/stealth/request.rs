//! `Request` and `Response`: a platform's request, and its answer, its body as received (`raw`) and decoded
//! (`body`).

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use url::Url;

use super::error::FetchError;
use super::secrets::{Secrets, masked_text};
use foundation::memory::MemoryPermit;

/// The browser action that sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// `fetch()` by GET.
    Fetch,
    /// `fetch()` by POST with a body.
    FetchWithBody,
    /// An image of the page.
    Image,
}

impl RequestKind {
    pub const ALL: [RequestKind; 3] = [RequestKind::Fetch, RequestKind::FetchWithBody, RequestKind::Image];

    /// Name as spelled in `identities.toml`.
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::Fetch => "fetch",
            RequestKind::FetchWithBody => "fetch_with_body",
            RequestKind::Image => "image",
        }
    }

    pub fn method(self) -> Method {
        match self {
            RequestKind::Fetch | RequestKind::Image => Method::GET,
            RequestKind::FetchWithBody => Method::POST,
        }
    }
}

/// A request as the platform means it; the identity adds the browser's own headers and the order of all.
#[derive(Clone)]
pub struct Request {
    pub kind: RequestKind,
    pub url: Url,
    /// The page whose script sends this. For a `url` of another origin see [`Request::needs_preflight`].
    pub referer: Url,
    /// Headers that the page's script sets, in the adapter's order, `accept` and `content-type` among them.
    pub script_headers: Vec<(&'static str, String)>,
    /// Parts that are for this receiver alone, and are never shown.
    pub secrets: Secrets,
    /// Present for [`RequestKind::FetchWithBody`].
    pub body: Option<Bytes>,
    /// Earlier addresses of the same request, each of which redirected to the next.
    pub redirected_from: Vec<Url>,
    /// Formats that the identity's `accept` names and this request leaves out, such as `image/avif`.
    pub unwanted_formats: &'static [&'static str],
}

impl Request {
    /// Makes a request without headers of a script, and without a body.
    pub fn new(kind: RequestKind, url: Url, referer: Url) -> Request {
        Request {
            kind,
            url,
            referer,
            script_headers: Vec::new(),
            secrets: Secrets::default(),
            body: None,
            redirected_from: Vec::new(),
            unwanted_formats: &[],
        }
    }

    /// The same request at the address that `url` redirected it to. Its secrets stay within their origin.
    pub fn redirected_to(mut self, url: Url) -> Request {
        let url = if url.origin() == self.url.origin() { url } else { self.without_secrets(&url) };
        self.redirected_from.push(std::mem::replace(&mut self.url, url));
        self
    }

    /// Removes the secret headers, and returns the address without secrets.
    fn without_secrets(&mut self, url: &Url) -> Url {
        let url = self.secrets.removed(url, &self.keys());
        let secrets = self.secrets;
        self.script_headers.retain(|(name, _)| !secrets.has_header(name));
        url
    }

    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The value that the page's script sets for `name` (lower case).
    pub fn script_header(&self, name: &str) -> Option<&str> {
        self.script_headers.iter().find(|(set, _)| set.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether it carries a key, which only the one that it was given to takes.
    pub fn has_key(&self) -> bool {
        !self.keys().is_empty()
    }

    /// The page, without the secrets of its address.
    pub(super) fn page(&self) -> Url {
        self.secrets.removed(&self.referer, &self.keys())
    }

    /// The text with a mask for each of its keys.
    pub(super) fn masked(&self, text: &str) -> String {
        masked_text(text, &self.keys())
    }

    /// The values of its secrets; of a header with a scheme (`Bearer KEY`) the last word.
    fn keys(&self) -> Vec<String> {
        let headers = self.script_headers.iter().filter(|(name, _)| self.secrets.has_header(name));
        let of_headers = headers.filter_map(|(_, value)| value.split_ascii_whitespace().next_back());
        of_headers.map(str::to_owned).chain(self.secrets.values(&self.url)).collect()
    }

    pub fn is_same_origin(&self) -> bool {
        self.url.origin() == self.referer.origin()
    }

    /// Whether the request carries the cookies of its host: a script's only within the origin of its page, an
    /// image's always.
    pub fn has_cookies(&self) -> bool {
        self.kind == RequestKind::Image || self.is_same_origin()
    }

    /// Whether a browser would first send an OPTIONS request: to another origin, with a header that is not
    /// safelisted.
    pub fn needs_preflight(&self) -> bool {
        let is_safelisted = |(name, value): &(&str, String)| match name.to_ascii_lowercase().as_str() {
            "accept" | "accept-language" | "content-language" => true,
            "content-type" => is_form_type(value),
            _ => false,
        };
        !self.is_same_origin() && !self.script_headers.iter().all(is_safelisted)
    }
}

/// Shows the request without its secrets, the values of headers and the body: a key may be among them.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.script_headers.iter().map(|(name, _)| name).collect();
        let url = self.secrets.masked(&self.url);
        let url = url.as_str();
        f.debug_struct("Request").field("kind", &self.kind).field("url", &url).field("headers", &headers).finish()
    }
}

/// The content types that an HTML form can send.
fn is_form_type(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(&essence.as_str())
}

/// An answer whose whole body has been received (bounded): as it came, and decoded.
#[derive(Clone, Debug)]
pub struct Response {
    pub host: String,
    pub status: StatusCode,
    /// Headers, with `content-encoding` only where `raw` is gzip and nothing else.
    pub headers: HeaderMap,
    /// The body as received, without the bytes behind the end of its gzip. A text that came with a byte order mark is
    /// kept without it.
    pub raw: Bytes,
    /// The body without its content coding; the same bytes as `raw` when there is none.
    pub body: Bytes,
    /// The task's memory permit, kept for as long as this answer is.
    pub memory: MemoryPermit,
}

impl Response {
    /// Whether `raw` is one or more gzip members as the origin sent them.
    pub fn is_gzip(&self) -> bool {
        self.headers.get(http::header::CONTENT_ENCODING).is_some_and(|coding| coding.as_bytes() == b"gzip")
    }

    /// An error for any status but 200: others are without content (204, 205), a part of it (206), or changed
    /// on the way (203).
    pub fn require_success(&self) -> Result<(), FetchError> {
        match self.status == StatusCode::OK {
            true => Ok(()),
            false => Err(FetchError::bad_status(&self.host, self.status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::same_origin("https://menu.test/api", &[("x-token", "1")], false)]
    #[case::another_port("https://menu.test:8443/api", &[("x-token", "1")], true)]
    #[case::a_simple_request("https://api.other.test/", &[("accept", "*/*")], false)]
    #[case::a_form("https://api.other.test/", &[("content-type", "text/plain; charset=utf-8")], false)]
    #[case::json("https://api.other.test/", &[("content-type", "application/json")], true)]
    fn what_a_browser_sends_a_preflight_for(
        #[case] url: &str,
        #[case] headers: &[(&'static str, &str)],
        #[case] preflight: bool,
    ) {
        let request = Request {
            script_headers: headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            ..Request::new(RequestKind::Fetch, url.parse().unwrap(), "https://menu.test/stores/1".parse().unwrap())
        };
        assert_eq!(request.needs_preflight(), preflight);
    }

    const SECRETS: Secrets = Secrets { headers: &["authorization", "x-token"], query: &["key"], refused_by: &[] };

    fn with_keys() -> Request {
        let url = "https://menu.test/api?a=1&key=canary-1".parse().unwrap();
        let headers = [("accept", "*/*"), ("authorization", "Bearer canary-2"), ("X-Token", "canary-3")];
        Request {
            script_headers: headers.map(|(name, value)| (name, value.to_owned())).to_vec(),
            secrets: SECRETS,
            ..Request::new(RequestKind::Fetch, url, "https://menu.test/".parse().unwrap())
        }
    }

    #[test]
    fn a_request_is_shown_without_its_keys() {
        let shown = format!("{:?}", with_keys());
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("https://menu.test/api?a=1&key=***"), "{shown}");
        assert_eq!(with_keys().masked("canary-1, canary-2 and canary-3"), "***, *** and ***");
    }

    #[rstest]
    #[case::by_a_header(&["x-token"], &[], true)]
    #[case::by_a_parameter(&[], &["key"], true)]
    #[case::by_none_that_it_carries(&["x-other"], &["other"], false)]
    #[case::none_declared(&[], &[], false)]
    fn a_key_is_a_secret_that_the_request_carries(
        #[case] headers: &'static [&'static str],
        #[case] query: &'static [&'static str],
        #[case] expected: bool,
    ) {
        let request = Request { secrets: Secrets { headers, query, refused_by: &[] }, ..with_keys() };
        assert_eq!(request.has_key(), expected);
    }

    #[rstest]
    #[case::another_host("https://other.test/?b=2&key=canary-1", "https://other.test/?b=2")]
    #[case::another_scheme("http://menu.test/api?key=canary-1", "http://menu.test/api")]
    #[case::another_port("https://menu.test:8443/api?key=canary-1", "https://menu.test:8443/api")]
    #[case::a_login_that_returns("https://login.test/?from=%2Fapi%3Fkey%3Dcanary-1", "https://login.test/")]
    fn a_redirect_elsewhere_carries_no_key(#[case] location: &str, #[case] expected: &str) {
        let request = with_keys().redirected_to(location.parse().unwrap());
        assert_eq!(request.url.as_str(), expected);
        assert_eq!(request.script_headers, [("accept", "*/*".to_owned())]);
        assert!(!request.has_key());
        // the way back is one from elsewhere
        let back = request.redirected_to("https://menu.test/api?key=canary-1".parse().unwrap());
        assert_eq!(back.url.as_str(), "https://menu.test/api");
    }

    #[test]
    fn a_redirect_within_the_origin_keeps_the_keys() {
        let request = with_keys().redirected_to("https://menu.test/other?key=canary-1".parse().unwrap());
        assert_eq!((request.url.as_str(), request.keys().len()), ("https://menu.test/other?key=canary-1", 4));
    }
}
