//! HTTP over a connection made through a proxy: one connection, kept by its route; all waits are bounded.
//!
//! Nothing connects without a proxy. It adds no header and judges no answer: ordered fields go in, an answer
//! as received comes out.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::client::conn::http2;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use url::{Origin, Position, Url};

use super::failure::Failure;
use super::headers::{Fields, authority};
use super::proxy_connect::{self, ConnectError, ConnectErrorKind, ProxyStream};
use super::tls::{self, TlsSetupError};
use super::traffic::Traffic;
use super::{FetchError, Protocol, Proxy, ProxyProtocol, Request, header_text};
use foundation::memory::{self, MemoryPermit};
use http_client::{checked, http1};

const MAX_HTTP2_HEADER_BYTES: u32 = 64 * 1024;
/// The body of an answer that was rejected by its head: beyond this, a new connection is cheaper.
const MAX_SKIPPED_BYTES: usize = 256 << 10;
const MAX_EXPLANATION_BYTES: usize = 64 << 10;
const MAX_SKIP: Duration = Duration::from_secs(1);

/// Parts that all connections of the process share.
pub(super) struct Transport {
    tls: ClientConfig,
    /// Configuration for https proxies.
    proxy_tls: Arc<ClientConfig>,
    http: settings::Http,
}

/// A connection to one origin through one proxy. Dropping it closes it.
pub(super) struct Connection {
    origin: Origin,
    sender: Sender,
    driver: JoinHandle<()>,
    /// The proxy that reads and forwards the requests: they name the whole address and carry its credentials.
    forwarded_by: Option<ForwardingProxy>,
}

struct ForwardingProxy {
    authorization: Option<HeaderValue>,
}

enum Sender {
    Http1(SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// The part that was read of a useless body.
pub(super) struct SkippedBody {
    pub beginning: Bytes,
    /// Whether its connection can carry the next request.
    pub is_whole: bool,
}

/// An answer with its whole body, still in its content coding.
pub(super) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub raw: Bytes,
}

impl Transport {
    pub fn new(http: settings::Http, proxies: &settings::Proxies) -> Result<Self, TlsSetupError> {
        let proxy_tls = tls::proxy_config(proxies.extra_ca_file.as_deref())?;
        Ok(Transport { tls: tls::config(http.extra_ca_file.as_deref())?, proxy_tls, http })
    }

    pub fn max_body_bytes(&self) -> usize {
        self.http.max_body_bytes
    }

    pub fn whole_timeout(&self) -> Duration {
        self.http.whole_timeout
    }

    /// The TLS client of one route, which remembers that route's sessions alone.
    pub fn tls_of_a_route(&self) -> Arc<ClientConfig> {
        tls::with_own_tickets(&self.tls)
    }

    /// Connects to the origin of `url` through `proxy`, with TLS as `tls` where the scheme asks for it.
    pub async fn connect(
        &self,
        proxy: &Proxy,
        tls: Arc<ClientConfig>,
        url: &Url,
        traffic: &Traffic,
    ) -> Result<Connection, Failure> {
        let limit = self.http.connect_timeout;
        let stream = proxy_connect::open(proxy, url, &self.proxy_tls, limit, traffic).await;
        let stream = stream.map_err(|error| connect_failure(proxy, url, error))?;
        let stream = self.within("tls", limit, url, tls_handshake(stream, tls, proxy, url)).await?;
        let mut connection = self.within("http", limit, url, http_handshake(stream, url)).await?;
        let is_forwarded = proxy.protocol != ProxyProtocol::Socks5 && url.scheme() == "http";
        connection.forwarded_by =
            is_forwarded.then(|| ForwardingProxy { authorization: proxy_connect::authorization(proxy) });
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

    /// Collects the body of an answer, still in its content coding. A body above [`memory::SMALL_BODY`] needs
    /// the task's memory permit.
    pub async fn collect(
        &self,
        request: &Request,
        head: Parts,
        (beginning, mut body): (Bytes, Incoming),
        memory: &MemoryPermit,
    ) -> Result<Answer, Failure> {
        let limit = self.http.max_body_bytes;
        let announced = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default();
        let mut raw = BytesMut::with_capacity(announced.saturating_add(beginning.len()).min(memory::SMALL_BODY));
        raw.extend_from_slice(&beginning);
        while let Some(chunk) = self.next_chunk(&request.url, &mut body).await? {
            if raw.len() + chunk.len() > limit {
                return Err(Failure::local(FetchError::TooLarge { host: host(&request.url), limit }));
            }
            if raw.len() + chunk.len() > memory::SMALL_BODY {
                hold_large(memory, &host(&request.url)).map_err(Failure::local)?;
                // at once: a buffer that is moved as it grows is held twice meanwhile
                raw.reserve(limit - raw.len());
            }
            raw.extend_from_slice(&chunk);
        }
        Ok(Answer { status: head.status, headers: head.headers, raw: raw.freeze() })
    }

    /// The first bytes of a body; empty where none come soon.
    pub async fn beginning(&self, body: &mut Incoming) -> Bytes {
        let first = async {
            loop {
                let data = body.frame().await?.ok()?.into_data().unwrap_or_default();
                if !data.is_empty() {
                    return Some(data);
                }
            }
        };
        timeout(MAX_SKIP, first).await.ok().flatten().unwrap_or_default()
    }

    /// The first `limit` bytes of a body, or a little more, and whether that is all of it. A body above
    /// [`memory::SMALL_BODY`] needs the task's memory permit.
    pub async fn collect_beginning(
        &self,
        url: &Url,
        mut body: Incoming,
        limit: usize,
        memory: &MemoryPermit,
    ) -> Result<(Bytes, bool), Failure> {
        let mut raw = BytesMut::new();
        while raw.len() <= limit {
            let Some(chunk) = self.next_chunk(url, &mut body).await? else { return Ok((raw.freeze(), true)) };
            if raw.len() + chunk.len() > memory::SMALL_BODY {
                hold_large(memory, &host(url)).map_err(Failure::local)?;
            }
            raw.extend_from_slice(&chunk);
        }
        Ok((raw.freeze(), false))
    }

    /// Reads past a useless body, so that its connection can carry the next request, where that is worth it.
    pub async fn skip(&self, mut body: Incoming) -> SkippedBody {
        let mut beginning = Bytes::new();
        let skipped = async {
            let mut bytes = 0;
            while let Some(frame) = body.frame().await {
                let data = frame.ok()?.into_data().unwrap_or_default();
                bytes += data.len();
                if beginning.is_empty() {
                    beginning = data;
                }
                if bytes > MAX_SKIPPED_BYTES {
                    return None;
                }
            }
            Some(())
        };
        let is_whole = timeout(MAX_SKIP, skipped).await.ok().flatten().is_some();
        SkippedBody { beginning, is_whole }
    }

    /// The body of an answer that failed, in which a platform may say why; none where it is long, late or cut off.
    pub async fn explanation(&self, mut body: Incoming) -> Option<Bytes> {
        let mut raw = BytesMut::new();
        let read = async {
            while let Some(frame) = body.frame().await {
                raw.extend_from_slice(&frame.ok()?.into_data().unwrap_or_default());
                if raw.len() > MAX_EXPLANATION_BYTES {
                    return None;
                }
            }
            Some(())
        };
        timeout(MAX_SKIP, read).await.ok().flatten().map(|()| raw.freeze())
    }

    async fn next_chunk(&self, url: &Url, body: &mut Incoming) -> Result<Option<Bytes>, Failure> {
        let frame = async { body.frame().await.transpose().map_err(|error| broken(url, &error)) };
        let frame = self.within("body", self.http.idle_timeout, url, frame).await?;
        // trailers are ignored
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

/// A length beside chunks: others on the way may see another end of the answer, and misread the next one.
pub(super) fn is_framed_twice(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING) && headers.contains_key(header::CONTENT_LENGTH)
}

/// Takes the task's memory permit, for a body of `host` above [`memory::SMALL_BODY`].
pub(super) fn hold_large(memory: &MemoryPermit, host: &str) -> Result<(), FetchError> {
    match memory.try_acquire() {
        true => Ok(()),
        false => Err(FetchError::NoMemory { host: host.to_owned(), wait: memory::wait(rand::random()) }),
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

    /// Whether the proxy reads the requests, and may answer them itself.
    pub fn is_forwarded(&self) -> bool {
        self.forwarded_by.is_some()
    }

    pub fn protocol(&self) -> Protocol {
        match &self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2(_) => Protocol::Http2,
        }
    }

    fn over(url: &Url, sender: Sender, driver: JoinHandle<()>) -> Self {
        Connection { origin: url.origin(), sender, driver, forwarded_by: None }
    }

    async fn send(&mut self, message: http::Request<Full<Bytes>>) -> hyper::Result<http::Response<Incoming>> {
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(message).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(message).await
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A stream to an origin, with TLS where its scheme asks for it.
type Stream = MaybeHttpsStream<ProxyStream>;

/// TLS where the scheme asks for it. Before its handshake, nothing shows that the stream leads to the origin.
async fn tls_handshake(
    stream: ProxyStream,
    tls: Arc<ClientConfig>,
    proxy: &Proxy,
    url: &Url,
) -> Result<Stream, Failure> {
    if url.scheme() != "https" {
        return Ok(MaybeHttpsStream::Http(stream));
    }
    let stream = tls::over(stream, url.host_str().unwrap_or_default(), tls).await;
    stream.map_err(|error| unreachable(proxy, url, &format!("TLS: {}", causes(&error))))
}

/// The protocol that was agreed on.
async fn http_handshake(stream: Stream, url: &Url) -> Result<Connection, Failure> {
    let is_http2 = match &stream {
        MaybeHttpsStream::Http(_) => false,
        MaybeHttpsStream::Https(tls) => tls.inner().get_ref().1.alpn_protocol() == Some(b"h2"),
    };
    match is_http2 {
        true => http2_over(stream, url).await,
        false => http1_over(stream, url).await,
    }
}

async fn http1_over(stream: Stream, url: &Url) -> Result<Connection, Failure> {
    let handshake = http1().title_case_headers(true).handshake(checked(stream)).await;
    let (sender, connection) = handshake.map_err(|error| broken(url, &error))?;
    // its errors reach the request that it carries
    let driver = tokio::spawn(async move { drop(connection.await) });
    Ok(Connection::over(url, Sender::Http1(sender), driver))
}

async fn http2_over(stream: Stream, url: &Url) -> Result<Connection, Failure> {
    let handshake = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HTTP2_HEADER_BYTES)
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
    // for the proxy, which removes it before the request goes on to the origin
    if let Some(authorization) = connection.forwarded_by.as_ref().and_then(|proxy| proxy.authorization.clone()) {
        message.headers_mut().append(header::PROXY_AUTHORIZATION, authorization);
    }
    Ok(message)
}

fn append(headers: &mut HeaderMap, name: &str, value: &str, url: &Url) -> Result<(), Failure> {
    let unfit = || not_allowed(url, format!("{name} has a value that a header cannot carry"));
    let name = HeaderName::try_from(name).map_err(|_| unfit())?;
    headers.append(name, header_text::value(value).ok_or_else(unfit)?);
    Ok(())
}

/// The whole address for HTTP/2 and for a proxy that passes it on, otherwise path and query.
fn target(connection: &Connection, url: &Url) -> Result<Uri, Failure> {
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let whole = connection.forwarded_by.is_some() || connection.protocol() == Protocol::Http2;
    let text = match whole {
        true => format!("{}://{}{path}", url.scheme(), authority(url)),
        false => path.to_owned(),
    };
    text.parse().map_err(|_| not_allowed(url, "not an address that HTTP allows".to_owned()))
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn not_allowed(url: &Url, reason: String) -> Failure {
    Failure::local(FetchError::NotAllowed { what: host(url), reason })
}

pub(super) fn out_of_time(host: &str, phase: &'static str, after: Duration) -> Failure {
    Failure::in_transit(FetchError::Timeout { host: host.to_owned(), phase, after }, host)
}

/// Reset, truncated, not HTTP.
fn broken(url: &Url, error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::in_transit(FetchError::Http { host: host(url), reason: causes(error) }, &host(url))
}

fn connect_failure(proxy: &Proxy, url: &Url, error: ConnectError) -> Failure {
    match error.kind {
        ConnectErrorKind::Proxy => Failure::proxy(proxy.id, &host(url), error.reason, false),
        ConnectErrorKind::ProxyAtOnce => Failure::proxy(proxy.id, &host(url), error.reason, true),
        ConnectErrorKind::ProxyOrOrigin => unreachable(proxy, url, &error.reason),
        ConnectErrorKind::Own => Failure::local(FetchError::ProcessLimit { reason: error.reason }),
    }
}

fn unreachable(proxy: &Proxy, url: &Url, reason: &str) -> Failure {
    let reason = format!("proxy {}: {reason}", proxy.id);
    Failure::in_transit(FetchError::Unreachable { host: host(url), reason }, &host(url))
}

/// The whole chain of causes, because the first one says little; without the address of its manual that
/// rustls adds.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts = causes.map(|cause| {
        let text = cause.to_string();
        text.split(": https://docs.rs").next().unwrap_or_default().to_owned()
    });
    texts.collect::<Vec<_>>().join(": ")
}
