//! A connection to an origin through a proxy, up to the point where TLS or HTTP begins. The only place that
//! opens sockets.
//!
//! It reads the answer to CONNECT itself, because the status says whose fault a failure is. Names are
//! resolved by the proxy, also by SOCKS5. Nothing of a fingerprint is sent here. In: proxy and target. Out: a
//! stream.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_socks::tcp::Socks5Stream;
use url::{Host, Url};

use super::socks_reply::SocksReply;
use super::traffic::{MeteredStream, Traffic};
use super::{Proxy, ProxyProtocol, tls};
use foundation::process_limits;

pub(super) const BAD_CREDENTIALS: &str = "it requires credentials other than those in its row";

const MAX_CONNECT_ANSWER_BYTES: usize = 16 * 1024;

/// A stream to a proxy, and through it: inside TLS where the proxy is an https one.
pub(super) type ProxyStream = MaybeHttpsStream<TokioIo<MeteredStream<TcpStream>>>;

/// Why there is no stream. Holds no secret.
#[derive(Debug)]
pub struct ConnectError {
    pub reason: String,
    pub kind: ConnectErrorKind,
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectErrorKind {
    /// The proxy failed.
    Proxy,
    /// The proxy failed, and another try will fail too: it is benched at once.
    ProxyAtOnce,
    /// The proxy works, and says that it cannot reach the origin, or says nothing: either may have failed.
    ProxyOrOrigin,
    /// This process has used up its descriptors or ports: nothing was sent.
    Own,
}

/// A stream on which the origin of `url` is spoken to: for plain http through an HTTP proxy that is the proxy
/// itself. `tls` is for the proxy. All that goes over it is counted as `traffic`. `limit` bounds each of the
/// two steps: to reach the proxy, and to be connected by it.
pub(super) async fn open(
    proxy: &Proxy,
    url: &Url,
    tls: &Arc<ClientConfig>,
    limit: Duration,
    traffic: &Traffic,
) -> Result<ProxyStream, ConnectError> {
    let stream = timeout(limit, reach(proxy, tls, traffic)).await;
    let stream =
        stream.map_err(|_| failed(ConnectErrorKind::Proxy, format!("cannot be reached within {limit:?}")))??;
    let connected = timeout(limit, handshake(TokioIo::new(stream), proxy, url)).await;
    let connected =
        connected.map_err(|_| failed(ConnectErrorKind::ProxyOrOrigin, format!("no connection within {limit:?}")))?;
    connected.map(TokioIo::into_inner)
}

/// The value of Proxy-Authorization, for a proxy that has a user; never shown by `Debug`.
pub(super) fn authorization(proxy: &Proxy) -> Option<HeaderValue> {
    let user = proxy.username.as_deref()?;
    let password = proxy.password.as_deref().unwrap_or_default();
    let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    // base64 is always a header value
    let mut value = HeaderValue::try_from(basic).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Connects to the proxy. Nothing is said to an https proxy, no credentials either, before its certificate has proved that it
/// is the proxy.
async fn reach(proxy: &Proxy, tls: &Arc<ClientConfig>, traffic: &Traffic) -> Result<ProxyStream, ConnectError> {
    let stream = TokioIo::new(traffic.meter(dial(proxy).await?));
    if proxy.protocol != ProxyProtocol::Https {
        return Ok(MaybeHttpsStream::Http(stream));
    }
    tls::over(stream, &proxy.host, Arc::clone(tls)).await.map_err(|error| tls_error(&error))
}

/// A certificate that is refused once will be refused again.
fn tls_error(error: &io::Error) -> ConnectError {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let text = error.to_string();
    let text = text.split(": https://docs.rs").next().unwrap_or_default();
    match cause {
        Some(rustls::Error::InvalidCertificate(_)) => {
            failed(ConnectErrorKind::ProxyAtOnce, format!("its certificate is refused: {text}"))
        }
        _ => failed(ConnectErrorKind::Proxy, format!("TLS with it fails: {text}")),
    }
}

async fn dial(proxy: &Proxy) -> Result<TcpStream, ConnectError> {
    let host = proxy.host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, proxy.port)).await.map_err(|error| {
        let kind = match error.kind() {
            _ if process_limits::are_reached(&error) => ConnectErrorKind::Own,
            io::ErrorKind::ConnectionRefused => ConnectErrorKind::ProxyAtOnce,
            _ => ConnectErrorKind::Proxy,
        };
        failed(kind, format!("cannot be reached: {error}"))
    })?;
    stream.set_nodelay(true).map_err(broken)?;
    Ok(stream)
}

/// Sends CONNECT for the origin of `url` through an open connection to the proxy.
pub async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    proxy: &Proxy,
    url: &Url,
) -> Result<S, ConnectError> {
    match (proxy.protocol, url.scheme()) {
        (ProxyProtocol::Socks5, _) => socks5(stream, proxy, url).await,
        (ProxyProtocol::Http | ProxyProtocol::Https, "https") => tunnel(stream, proxy, url).await,
        (ProxyProtocol::Http | ProxyProtocol::Https, _) => Ok(stream),
    }
}

async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, proxy: &Proxy, url: &Url) -> Result<S, ConnectError> {
    let target = format!("{}:{}", url.host_str().unwrap_or_default(), port(url));
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(value) = authorization(proxy) {
        request.extend([b"Proxy-Authorization: ", value.as_bytes(), b"\r\n"].concat());
    }
    request.extend(b"\r\n");
    stream.write_all(&request).await.map_err(broken)?;
    stream.flush().await.map_err(broken)?;
    match connect_status(&mut stream).await? {
        200..=299 => Ok(stream),
        407 => Err(failed(ConnectErrorKind::ProxyAtOnce, BAD_CREDENTIALS.to_owned())),
        status => Err(failed(ConnectErrorKind::ProxyOrOrigin, format!("it refuses the tunnel ({status})"))),
    }
}

/// Reads the answer to CONNECT up to its empty line and gives its status. Interim answers come before it.
async fn connect_status(stream: &mut (impl AsyncRead + Unpin)) -> Result<u16, ConnectError> {
    let mut bytes = 0;
    loop {
        let status_line = read_line(stream, &mut bytes).await?;
        if status_line.is_empty() {
            continue;
        }
        let not_http = || failed(ConnectErrorKind::Proxy, "its answer to CONNECT is not HTTP".to_owned());
        let status = status_of(&status_line).ok_or_else(not_http)?;
        while !read_line(stream, &mut bytes).await?.is_empty() {}
        if status >= 200 {
            return Ok(status);
        }
    }
}

/// A line without its end, CR LF or LF. `bytes`: those of the answer until now.
async fn read_line(stream: &mut (impl AsyncRead + Unpin), bytes: &mut usize) -> Result<Vec<u8>, ConnectError> {
    let mut line = Vec::new();
    loop {
        *bytes += 1;
        if *bytes > MAX_CONNECT_ANSWER_BYTES {
            return Err(failed(ConnectErrorKind::Proxy, "an endless answer to CONNECT".to_owned()));
        }
        // byte by byte: what follows the empty line belongs to TLS
        match stream.read_u8().await.map_err(broken)? {
            b'\n' => break,
            byte => line.push(byte),
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

/// `HTTP/1.x <status> …`; the reason is any bytes, or none.
fn status_of(line: &[u8]) -> Option<u16> {
    let mut words = line.strip_prefix(b"HTTP/1.")?.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let status = std::str::from_utf8(words.nth(1)?).ok()?;
    status.parse().ok().filter(|status| (100..600).contains(status))
}

async fn socks5<S: AsyncRead + AsyncWrite + Unpin>(stream: S, proxy: &Proxy, url: &Url) -> Result<S, ConnectError> {
    let target = (target_name(url), port(url));
    let stream = SocksReply::new(stream);
    let connected = match proxy.username.as_deref() {
        None => Socks5Stream::connect_with_socket(stream, target).await,
        Some(user) => {
            let password = proxy.password.as_deref().unwrap_or_default();
            Socks5Stream::connect_with_password_and_socket(stream, target, user, password).await
        }
    };
    connected.map(|stream| stream.into_inner().into_inner()).map_err(socks_error)
}

fn socks_error(error: tokio_socks::Error) -> ConnectError {
    use tokio_socks::Error as Socks;
    let reason = format!("it refuses the connection: {error}");
    match error {
        Socks::PasswordAuthFailure(_)
        | Socks::NoAcceptableAuthMethods
        | Socks::AuthorizationRequired
        | Socks::InvalidAuthValues(_) => failed(ConnectErrorKind::ProxyAtOnce, BAD_CREDENTIALS.to_owned()),
        // the replies about the target
        Socks::GeneralSocksServerFailure
        | Socks::ConnectionNotAllowedByRuleset
        | Socks::NetworkUnreachable
        | Socks::HostUnreachable
        | Socks::ConnectionRefused
        | Socks::TtlExpired => failed(ConnectErrorKind::ProxyOrOrigin, reason),
        _ => failed(ConnectErrorKind::Proxy, reason),
    }
}

/// SOCKS takes addresses without brackets.
fn target_name(url: &Url) -> String {
    match url.host() {
        Some(Host::Ipv6(address)) => address.to_string(),
        Some(host) => host.to_string(),
        None => String::new(),
    }
}

fn port(url: &Url) -> u16 {
    url.port_or_known_default().unwrap_or(443)
}

fn broken(error: io::Error) -> ConnectError {
    failed(ConnectErrorKind::Proxy, format!("the connection broke: {error}"))
}

fn failed(kind: ConnectErrorKind, reason: String) -> ConnectError {
    ConnectError { reason, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_a_proxy_are_shown_by_no_debug_output() {
        let text = |text: &str| Some(text.to_owned());
        let (username, password) = (text("user"), text("s3cret"));
        let protocol = ProxyProtocol::Http;
        let proxy = Proxy { id: 1, protocol, host: "proxy.test".to_owned(), port: 8080, username, password };
        assert_eq!(format!("{:?}", authorization(&proxy)), "Some(Sensitive)");
    }
}
