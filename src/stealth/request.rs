//! `Request` and `Response`: what a platform wants sent, and what came back, body as received.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

/// Which of a fingerprint's header lists a request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    GraphqlGet,
    GraphqlPost,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::GraphqlGet, Kind::GraphqlPost];

    /// The word in `identities.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::GraphqlGet => "graphql_get",
            Kind::GraphqlPost => "graphql_post",
        }
    }

    pub fn method(self) -> Method {
        match self {
            Kind::GraphqlGet => Method::GET,
            Kind::GraphqlPost => Method::POST,
        }
    }
}

/// A request as the platform means it; the identity adds the browser's own headers and the order of all.
#[derive(Clone, Debug)]
pub struct Request {
    pub kind: Kind,
    pub url: Url,
    /// The menu page that a browser would send this from; same origin as `url`.
    pub referer: Url,
    /// Headers that the page's script sets, in the adapter's order, `accept` and `content-type` among them.
    pub script_headers: Vec<(&'static str, String)>,
    /// Present for POST.
    pub body: Option<Bytes>,
}

impl Request {
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// What the page's script sets for `name` (lower case).
    pub fn script_header(&self, name: &str) -> Option<&str> {
        self.script_headers.iter().find(|(set, _)| set.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// An answer whose whole body has been received (bounded), still in its content coding.
#[derive(Clone, Debug)]
pub struct Response {
    pub host: String,
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body as received.
    pub raw: Bytes,
    /// The body without its content coding; the same bytes as `raw` when there is none.
    pub body: Bytes,
}

impl Response {
    /// Whether `raw` is one or more gzip members as the origin sent them.
    pub fn is_gzip(&self) -> bool {
        self.headers.get(http::header::CONTENT_ENCODING).is_some_and(|coding| coding.as_bytes() == b"gzip")
    }
}
