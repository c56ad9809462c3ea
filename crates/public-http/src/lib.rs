//! `Http`: requests of the downloader and the clients to hosts that strangers name in links.
//!
//! In: an address; headers, of which some are secrets of one origin. Out: the answer after at most five
//! redirects. An address on a private network is refused, also behind a name or a redirect: the check
//! sees the address that is connected to. A GET first passes the [`HostGate`] of its host, where there is one; a redirect
//! to another host does not. It must not know what is asked.

mod body;
pub mod host_gate;
mod post;
pub mod retry_after;

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioTimer;
use thiserror::Error;
use tokio::time::timeout;
use tower::Service;
use url::{Host, Origin, Url};

pub use self::body::codings_of;
pub use self::post::PostAnswer;
use crate::host_gate::{HeldHost, HostGate, outcome};
use domain::http::location::redirected;
use domain::http::public_host::is_public_address;
use domain::task::disposition::{Disposition, HasDisposition};
use foundation::authorities;
use http_client::{Lenient, lenient};

const MAX_REDIRECTS: usize = 5;
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Maximum time from the request to the head of its answer.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(30);
/// Maximum time without a byte of a body.
pub const MAX_STALL: Duration = Duration::from_secs(60);
/// Maximum time of a body that is read whole; a download has no such limit.
const MAX_BODY_TIME: Duration = Duration::from_secs(60);
/// Maximum bytes of an address in an error.
const MAX_SHOWN: usize = 200;
const MAX_IDLE_TIME: Duration = Duration::from_secs(60);
const MAX_IDLE_CONNECTIONS: usize = 4;

type Connector = HttpsConnector<HttpConnector<PublicNames>>;
type Stream = <Connector as Service<Uri>>::Response;

/// Cheap to clone; all clones share their connections.
#[derive(Clone)]
pub struct Http {
    client: Client<Lenient<Connector, Stream>, Empty<Bytes>>,
    connector: Connector,
    allow_private: bool,
    /// None: requests wait for nothing.
    gate: Option<Arc<dyn HostGate>>,
}

/// One GET. Its secrets go to their origin only. It has no `Debug`: the query may hold a key.
#[derive(Clone)]
pub struct Get {
    pub url: Url,
    pub headers: HeaderMap,
    pub secrets: Option<Secrets>,
    /// A redirect to another origin is not followed, since it may repeat a secret of the query.
    pub has_secret_query: bool,
    /// Minimum time between two requests to its host.
    pub min_interval: Duration,
}

/// Headers for one origin, such as `Authorization`.
#[derive(Clone)]
pub struct Secrets {
    pub origin: Origin,
    pub headers: HeaderMap,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Address after redirects.
    pub url: Url,
    pub body: Incoming,
}

/// A request without a whole answer. Addresses are shown without their log-in and query, which may be secret.
#[derive(Debug, Error)]
pub enum HttpError {
    #[error("{0} is not a web address")]
    NotWeb(String),
    #[error("{0} has a user name or a password in it: keep them as a credential")]
    LogIn(String),
    #[error("{host} is on a private network; media.allow_private permits it")]
    Private { host: String },
    /// Nothing was sent.
    #[error(transparent)]
    Held(#[from] HeldHost),
    #[error("{0} leads to more than {MAX_REDIRECTS} redirects")]
    Redirects(String),
    #[error("{0} redirects to an invalid address")]
    Location(String),
    #[error("{0} redirects to another host, which may not see the key")]
    Elsewhere(String),
    #[error("{host} did not answer: {fault}")]
    Unreachable { host: String, fault: String },
    #[error("{host} did not answer within {} s", MAX_ANSWER_TIME.as_secs())]
    Late { host: String },
    #[error("the answer was cut off: {0}")]
    Cut(String),
    #[error("no byte of the answer came for {} s", MAX_STALL.as_secs())]
    Stalled,
    #[error("the answer took longer than {} s", MAX_BODY_TIME.as_secs())]
    Slow,
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the answer is compressed as {0}, and it cannot be decompressed: {1}")]
    Coded(String, String),
    #[error("the certificate authorities cannot be used: {0}")]
    Tls(String),
}

impl HasDisposition for HttpError {
    fn disposition(&self) -> Disposition {
        use HttpError::*;
        match self {
            NotWeb(_) | LogIn(_) | Private { .. } | Redirects(_) | Location(_) | Elsewhere(_) | TooLarge(_) => {
                Disposition::Permanent
            }
            Held(held) => Disposition::Snooze { after: held.after, host: held.until_closed.clone() },
            Unreachable { .. } | Late { .. } | Cut(_) | Stalled | Slow | Coded(..) | Tls(_) => Disposition::Retry,
        }
    }
}

impl Http {
    pub fn new(allow_private: bool) -> Result<Self, HttpError> {
        let tls = authorities::client(None).map_err(HttpError::Tls)?;
        let mut tcp = HttpConnector::new_with_resolver(PublicNames { allow_private });
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(MAX_CONNECT_TIME));
        tcp.set_nodelay(true);
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
        let client = http_client::client()
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(MAX_IDLE_TIME)
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .build(lenient(connector.clone()));
        Ok(Http { client, connector, allow_private, gate: None })
    }

    /// Adds limits for each host.
    pub fn through(self, gate: Arc<dyn HostGate>) -> Self {
        Http { gate: Some(gate), ..self }
    }

    /// Follows redirects; each address is checked, and secrets stay with their origin.
    pub async fn get(&self, get: &Get) -> Result<Answer, HttpError> {
        let mut url = get.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.once(get, &url).await?;
            match next_address(&url, &answer)? {
                Some(next) if get.has_secret_query && !is_trusted(&get.url.origin(), &next) => {
                    return Err(HttpError::Elsewhere(shown(&get.url)));
                }
                Some(next) => url = next,
                // it asks for the secret that is another's
                None if answer.status() == StatusCode::UNAUTHORIZED && get.withholds_secrets(&url) => {
                    return Err(HttpError::Elsewhere(shown(&get.url)));
                }
                None => {
                    let (head, body) = answer.into_parts();
                    return Ok(Answer { status: head.status, headers: head.headers, url, body });
                }
            }
        }
        Err(HttpError::Redirects(shown(&get.url)))
    }

    /// Whether an address may be asked, by its host alone: for tools that make their own requests. Each of the
    /// host's addresses must be public, since it is unknown which one the tool takes. Its redirects are not
    /// checked.
    pub async fn check(&self, url: &Url) -> Result<(), HttpError> {
        let host = self.checked_host(url)?;
        let unreachable = |fault: String| HttpError::Unreachable { host: host.clone(), fault };
        let Some(Host::Domain(domain)) = url.host() else { return Ok(()) };
        let addresses = timeout(MAX_CONNECT_TIME, tokio::net::lookup_host((domain, 0))).await;
        let addresses = addresses.map_err(|_| HttpError::Late { host: host.clone() })?;
        let mut addresses = addresses.map_err(|error| unreachable(error.to_string()))?;
        match self.allow_private || addresses.all(|address| is_public_address(address.ip())) {
            true => Ok(()),
            false => Err(HttpError::Private { host }),
        }
    }

    /// The addresses of a host, of which those on a private network are left out unless they are permitted.
    pub async fn addresses(&self, host: &Host, port: u16) -> Result<Vec<SocketAddr>, HttpError> {
        let shown = host.to_string();
        let all = match host {
            Host::Ipv4(address) => vec![SocketAddr::new(IpAddr::V4(*address), port)],
            Host::Ipv6(address) => vec![SocketAddr::new(IpAddr::V6(*address), port)],
            Host::Domain(name) => {
                let found = timeout(MAX_CONNECT_TIME, tokio::net::lookup_host((name.as_str(), port))).await;
                let found = found.map_err(|_| HttpError::Late { host: shown.clone() })?;
                let found =
                    found.map_err(|error| HttpError::Unreachable { host: shown.clone(), fault: error.to_string() });
                found?.collect()
            }
        };
        let permitted = all.into_iter().filter(|address| self.allow_private || is_public_address(address.ip()));
        match permitted.collect::<Vec<_>>() {
            none if none.is_empty() => Err(HttpError::Private { host: shown }),
            some => Ok(some),
        }
    }

    async fn once(&self, get: &Get, url: &Url) -> Result<Response<Incoming>, HttpError> {
        let send = || self.send(url, headers(get, url));
        let is_asked_host = get.url.host_str() == url.host_str();
        let Some(gate) = self.gate.as_ref().filter(|_| is_asked_host) else { return send().await };
        // an address that is refused anyway waits for nothing
        self.checked_host(url)?;
        let turn = gate.turn(url.host_str().unwrap_or_default(), get.min_interval).await?;
        let sent_at = Instant::now();
        let answer = send().await;
        turn(outcome(&answer, sent_at.elapsed())).await;
        answer
    }

    async fn send(&self, url: &Url, headers: HeaderMap) -> Result<Response<Incoming>, HttpError> {
        let host = self.checked_host(url)?;
        let request = Request::builder().uri(url.as_str()).body(Empty::new());
        let mut request = request.map_err(|_| HttpError::NotWeb(shown(url)))?;
        *request.headers_mut() = headers;
        let answer = timeout(MAX_ANSWER_TIME, self.client.request(request)).await;
        let answer = answer.map_err(|_| HttpError::Late { host: host.clone() })?;
        answer.map_err(|error| match private_name(&error) {
            true => HttpError::Private { host },
            false => HttpError::Unreachable { host, fault: causes(&error) },
        })
    }

    /// The resolver sees names only, so an address in a URL is checked here.
    fn checked_host(&self, url: &Url) -> Result<String, HttpError> {
        let host = url.host().filter(|_| matches!(url.scheme(), "http" | "https"));
        let host = host.ok_or_else(|| HttpError::NotWeb(shown(url)))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpError::LogIn(shown(url)));
        }
        let is_public = match host {
            Host::Domain(_) => true,
            Host::Ipv4(address) => is_public_address(IpAddr::V4(address)),
            Host::Ipv6(address) => is_public_address(IpAddr::V6(address)),
        };
        match is_public || self.allow_private {
            true => Ok(host.to_string()),
            false => Err(HttpError::Private { host: host.to_string() }),
        }
    }
}

impl Get {
    pub fn of(url: Url) -> Self {
        Get { url, headers: HeaderMap::new(), secrets: None, has_secret_query: false, min_interval: Duration::ZERO }
    }

    /// Whether `url`, to which it was redirected, may not see its secrets.
    fn withholds_secrets(&self, url: &Url) -> bool {
        let secrets = self.secrets.as_ref().filter(|secrets| is_trusted(&secrets.origin, &self.url));
        secrets.is_some_and(|secrets| !is_trusted(&secrets.origin, url))
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}

/// Shows the address without a log-in and the query, which may be secrets.
pub fn shown(url: &Url) -> String {
    let text = match url.origin() {
        Origin::Tuple(..) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
        Origin::Opaque(_) => format!("{}:…", url.scheme()),
    };
    text[..text.floor_char_boundary(MAX_SHOWN)].to_owned()
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets of {}", self.origin.ascii_serialization())
    }
}

/// Headers of the request, with the secrets of this origin.
fn headers(get: &Get, url: &Url) -> HeaderMap {
    let mut headers = get.headers.clone();
    if let Some(secrets) = get.secrets.as_ref().filter(|secrets| is_trusted(&secrets.origin, url)) {
        headers.extend(secrets.headers.clone());
    }
    headers
}

/// Whether the secrets of `origin` may go to `url`: they are one, or `url` is the same host by TLS, to which many hosts redirect.
fn is_trusted(origin: &Origin, url: &Url) -> bool {
    match (origin, url.origin()) {
        (Origin::Tuple(plain, host, 80), Origin::Tuple(by_tls, same, 443)) => {
            plain == "http" && by_tls == "https" && *host == same
        }
        (origin, other) => *origin == other,
    }
}

fn next_address(url: &Url, answer: &Response<Incoming>) -> Result<Option<Url>, HttpError> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.headers().get(LOCATION) else { return Ok(None) };
    let next = redirected(url, location.as_bytes()).map_err(|_| HttpError::Location(shown(url)))?;
    Ok(Some(next))
}

/// Resolves names; a name on a private network is refused.
#[derive(Clone, Debug)]
struct PublicNames {
    allow_private: bool,
}

/// The refusal, inside of the error of a connection.
#[derive(Debug, Error)]
#[error("the name is on a private network")]
struct PrivateName;

impl Service<Name> for PublicNames {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let allow_private = self.allow_private;
        Box::pin(async move {
            // the port is the connector's
            let all: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let permitted: Vec<SocketAddr> =
                all.into_iter().filter(|address| allow_private || is_public_address(address.ip())).collect();
            match permitted.is_empty() {
                true => Err(io::Error::other(PrivateName)),
                false => Ok(permitted.into_iter()),
            }
        })
    }
}

fn private_name(error: &(dyn std::error::Error + 'static)) -> bool {
    sources(error).any(|source| {
        let inner = source.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        source.is::<PrivateName>() || inner.is_some_and(|inner| inner.is::<PrivateName>())
    })
}

fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    sources(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn sources<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::itself("https://api.example/a", "https://api.example/b", true)]
    #[case::by_tls("http://api.example/a", "https://api.example/a", true)]
    #[case::without_tls("https://api.example/a", "http://api.example/a", false)]
    #[case::a_port_by_tls("http://api.example:8080/", "https://api.example/", false)]
    #[case::another_port("http://api.example/", "https://api.example:8443/", false)]
    #[case::another_host("http://api.example/", "https://www.api.example/", false)]
    fn a_secret_goes_to_its_origin_and_to_the_same_host_by_tls(
        #[case] origin: Url,
        #[case] url: Url,
        #[case] expected: bool,
    ) {
        assert_eq!(is_trusted(&origin.origin(), &url), expected);
    }
}
