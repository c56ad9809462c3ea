//! HTTP over a connection made through a proxy: one connection, kept by its session, with a bound on every wait and size.
//!
//! There is no way to connect without a proxy. It adds no header of its own and judges no answer: ordered fields go in, an
//! answer as received comes out.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use url::{Origin, Position, Url};

use super::error::FetchError;
use super::failure::Failure;
use super::fingerprint::Protocol;
use super::headers::{Fields, authority};
use super::proxy::{Proxy, ProxyProtocol};
use super::proxy_connect;
use super::request::Request;
use super::tls::{self, Stream, TlsSetupError};
use crate::config;

const MOST_HEADER_BYTES: u32 = 64 * 1024;

/// What every connection of the process shares.
pub(super) struct Transport {
    tls: Arc<ClientConfig>,
    http: config::Http,
}

/// A connection to one origin through one proxy; dropping it closes it.
pub(super) struct Connection {
    origin: Origin,
    sender: Sender,
    driver: JoinHandle<()>,
    /// Requests are for the proxy to pass on: they name the whole address and carry its credentials.
    forwarded: Option<Forwarded>,
    used: bool,
}

struct Forwarded {
    authorization: Option<String>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// An answer with its whole body, still in its content coding.
pub(super) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub raw: Bytes,
}

impl Transport {
    pub fn new(http: config::Http) -> Result<Self, TlsSetupError> {
        Ok(Transport { tls: Arc::new(tls::config(http.extra_ca_file.as_deref())?), http })
    }

    pub fn max_body_bytes(&self) -> usize {
        self.http.max_body_bytes
    }

    pub fn whole_timeout(&self) -> Duration {
        self.http.whole_timeout
    }

    /// Connects to the origin of `url` through `proxy` and speaks TLS there when the scheme asks for it.
    pub async fn connect(&self, proxy: &Proxy, url: &Url) -> Result<Connection, Failure> {
        let limit = self.http.connect_timeout;
        let stream = timeout(limit, proxy_connect::open(proxy, url))
            .await
            .map_err(|_| Failure::of_the_hop(proxy.id, &host(url), format!("no connection within {limit:?}"), false))?
            .map_err(|fault| Failure::of_the_hop(proxy.id, &host(url), fault.why, fault.at_once))?;
        let mut connection = self.within("tls", limit, url, self.converse(stream, url)).await?;
        let is_forwarded = proxy.protocol == ProxyProtocol::Http && url.scheme() == "http";
        connection.forwarded = is_forwarded.then(|| Forwarded { authorization: proxy_connect::authorization(proxy) });
        Ok(connection)
    }

    /// Sends one request and waits for the head of its answer.
    pub async fn send(
        &self,
        connection: &mut Connection,
        request: &Request,
        fields: Fields,
    ) -> Result<http::Response<Incoming>, Failure> {
        let message = message(connection, request, fields)?;
        let sent = async { connection.send(message).await.map_err(|error| broken(&request.url, &error)) };
        self.within("first byte", self.http.first_byte_timeout, &request.url, sent).await
    }

    /// Collects the body of an answer, in its content coding.
    pub async fn collect(&self, request: &Request, answer: http::Response<Incoming>) -> Result<Answer, Failure> {
        let (head, mut body) = answer.into_parts();
        let limit = self.http.max_body_bytes;
        let mut raw = BytesMut::new();
        while let Some(chunk) = self.next_chunk(&request.url, &mut body).await? {
            if raw.len() + chunk.len() > limit {
                return Err(Failure::of_ours(FetchError::TooLarge { host: host(&request.url), limit }));
            }
            raw.extend_from_slice(&chunk);
        }
        Ok(Answer { status: head.status, headers: head.headers, raw: raw.freeze() })
    }

    /// TLS where the scheme asks for it, then the protocol that was agreed on.
    async fn converse(&self, stream: TcpStream, url: &Url) -> Result<Connection, Failure> {
        let stream = tls::over(stream, origin(url)?, Arc::clone(&self.tls)).await;
        let stream = stream.map_err(|error| broken(url, error.as_ref()))?;
        match stream.connected().is_negotiated_h2() {
            true => http2_over(stream, url).await,
            false => http1_over(stream, url).await,
        }
    }

    async fn next_chunk(&self, url: &Url, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
        let frame = async { body.frame().await.transpose().map_err(|error| broken(url, &error)) };
        let frame = self.within("body", self.http.idle_timeout, url, frame).await?;
        // trailers are of no interest
        Ok(frame.map(|frame| frame.into_data().unwrap_or_default()))
    }

    async fn within<T>(
        &self,
        phase: &'static str,
        limit: Duration,
        url: &Url,
        step: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match timeout(limit, step).await {
            Ok(result) => result,
            Err(_) => Err(out_of_time(&host(url), phase, limit)),
        }
    }
}

impl Connection {
    /// Whether a request to `url` can go out here.
    pub fn serves(&self, url: &Url) -> bool {
        let open = match &self.sender {
            Sender::Http1(sender) => !sender.is_closed(),
            Sender::Http2(sender) => !sender.is_closed(),
        };
        open && self.origin == url.origin()
    }

    /// Whether it has carried a request before: only then may its breaking mean no more than that it was idle too long.
    pub fn is_used(&self) -> bool {
        self.used
    }

    /// Whether the proxy reads the requests, and may answer them itself.
    pub fn is_forwarded(&self) -> bool {
        self.forwarded.is_some()
    }

    pub fn protocol(&self) -> Protocol {
        match &self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2(_) => Protocol::Http2,
        }
    }

    fn over(url: &Url, sender: Sender, driver: JoinHandle<()>) -> Self {
        Connection { origin: url.origin(), sender, driver, forwarded: None, used: false }
    }

    async fn send(&mut self, message: http::Request<Full<Bytes>>) -> hyper::Result<http::Response<Incoming>> {
        let answer = match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(message).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(message).await
            }
        }?;
        self.used = true;
        Ok(answer)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

async fn http1_over(stream: Stream, url: &Url) -> Result<Connection, Failure> {
    let handshake = http1::Builder::new().title_case_headers(true).handshake(stream).await;
    let (sender, connection) = handshake.map_err(|error| broken(url, &error))?;
    // how it ends is seen by the request that it carries
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok(Connection::over(url, Sender::Http1(sender), driver))
}

async fn http2_over(stream: Stream, url: &Url) -> Result<Connection, Failure> {
    let handshake = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_header_list_size(MOST_HEADER_BYTES)
        .handshake(stream)
        .await;
    let (sender, connection) = handshake.map_err(|error| broken(url, &error))?;
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok(Connection::over(url, Sender::Http2(sender), driver))
}

fn message(connection: &Connection, request: &Request, fields: Fields) -> Result<http::Request<Full<Bytes>>, Failure> {
    let mut message = http::Request::new(Full::new(request.body.clone().unwrap_or_default()));
    *message.method_mut() = request.kind.method();
    *message.uri_mut() = target(connection, &request.url)?;
    for (name, value) in fields.fields {
        append(message.headers_mut(), &name, &value, &request.url)?;
    }
    // for the proxy, which takes it off; the origin never sees it
    if let Some(authorization) = connection.forwarded.as_ref().and_then(|proxy| proxy.authorization.as_deref()) {
        append(message.headers_mut(), header::PROXY_AUTHORIZATION.as_str(), authorization, &request.url)?;
    }
    Ok(message)
}

fn append(headers: &mut HeaderMap, name: &str, value: &str, url: &Url) -> Result<(), Failure> {
    let unfit = || refused(url, format!("{name} has a value that no header can carry"));
    let name = HeaderName::try_from(name).map_err(|_| unfit())?;
    headers.append(name, HeaderValue::try_from(value).map_err(|_| unfit())?);
    Ok(())
}

/// The whole address for HTTP/2 and for a proxy that passes it on, else path and query.
fn target(connection: &Connection, url: &Url) -> Result<Uri, Failure> {
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let whole = connection.forwarded.is_some() || connection.protocol() == Protocol::Http2;
    let text = match whole {
        true => format!("{}://{}{path}", url.scheme(), authority(url)),
        false => path.to_owned(),
    };
    text.parse().map_err(|_| refused(url, "no address that HTTP can carry".to_owned()))
}

/// Scheme, host and port.
fn origin(url: &Url) -> Result<Uri, Failure> {
    let text = format!("{}://{}/", url.scheme(), authority(url));
    text.parse().map_err(|_| refused(url, "no address that HTTP can carry".to_owned()))
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn refused(url: &Url, why: String) -> Failure {
    Failure::of_ours(FetchError::Refused { what: host(url), why })
}

pub(super) fn out_of_time(host: &str, phase: &'static str, after: Duration) -> Failure {
    Failure::on_the_way(FetchError::Timeout { host: host.to_owned(), phase, after }, host)
}

/// Reset, truncated, not HTTP: the whole chain of causes, for the first of them says little.
fn broken(url: &Url, error: &(dyn std::error::Error + 'static)) -> Failure {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let why = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    Failure::on_the_way(FetchError::Http { host: host(url), why }, &host(url))
}
