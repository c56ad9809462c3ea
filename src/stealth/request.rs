//! `Request` and `Response`: a platform's request, and its answer, its body as received (`raw`) and decoded
//! (`body`).

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use url::Url;

use super::error::FetchError;
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
            body: None,
            redirected_from: Vec::new(),
            unwanted_formats: &[],
        }
    }

    /// The same request at the address that `url` redirected it to.
    pub fn redirected_to(mut self, url: Url) -> Request {
        self.redirected_from.push(std::mem::replace(&mut self.url, url));
        self
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
        self.script_header("authorization").is_some()
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

/// Shows the request without the values of headers and the body: a key may be among them.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.script_headers.iter().map(|(name, _)| name).collect();
        let url = self.url.as_str();
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
}
