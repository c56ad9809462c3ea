//! The way to an origin through a proxy, up to the point where TLS or HTTP begins.
//!
//! Own CONNECT reader, because the status matters: 407 is our password, 403 and 502 are the proxy's trouble. Names are
//! resolved by the proxy, also by SOCKS5. Nothing of a fingerprint is sent here. In: proxy and target. Out: a stream.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_socks::tcp::Socks5Stream;
use url::{Host, Url};

use super::proxy::{Proxy, ProxyProtocol};

pub(super) const BAD_CREDENTIALS: &str = "it does not accept our credentials";

const LONGEST_CONNECT_ANSWER: usize = 16 * 1024;

/// Why there is no stream; the blame is the proxy's. Says nothing secret.
#[derive(Debug, Error)]
#[error("{why}")]
pub(super) struct HopFault {
    pub why: String,
    /// Another try cannot go better: bench it now.
    pub at_once: bool,
}

/// A stream on which the origin of `url` is spoken to: for plain http through an HTTP proxy that is the proxy itself.
pub(super) async fn open(proxy: &Proxy, url: &Url) -> Result<TcpStream, HopFault> {
    let stream = dial(proxy).await?;
    match (proxy.protocol, url.scheme()) {
        (ProxyProtocol::Socks5, _) => socks5(stream, proxy, url).await,
        (ProxyProtocol::Http, "https") => tunnel(stream, proxy, url).await,
        (ProxyProtocol::Http, _) => Ok(stream),
    }
}

/// The value of Proxy-Authorization, for a proxy that has a user.
pub(super) fn authorization(proxy: &Proxy) -> Option<String> {
    let user = proxy.username.as_deref()?;
    let password = proxy.password.as_deref().unwrap_or_default();
    Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
}

async fn dial(proxy: &Proxy) -> Result<TcpStream, HopFault> {
    let host = proxy.host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, proxy.port)).await.map_err(|error| HopFault {
        why: format!("cannot be reached: {error}"),
        at_once: error.kind() == std::io::ErrorKind::ConnectionRefused,
    })?;
    stream.set_nodelay(true).map_err(broken)?;
    Ok(stream)
}

async fn tunnel(mut stream: TcpStream, proxy: &Proxy, url: &Url) -> Result<TcpStream, HopFault> {
    let target = format!("{}:{}", url.host_str().unwrap_or_default(), port(url));
    let authorization =
        authorization(proxy).map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default();
    let ask = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
    stream.write_all(ask.as_bytes()).await.map_err(broken)?;
    match connect_status(&mut stream).await? {
        200..=299 => Ok(stream),
        407 => Err(HopFault { why: BAD_CREDENTIALS.to_owned(), at_once: true }),
        status => Err(HopFault { why: format!("it refuses the tunnel ({status})"), at_once: false }),
    }
}

/// Reads the answer to CONNECT up to its empty line and gives its status.
async fn connect_status(stream: &mut TcpStream) -> Result<u16, HopFault> {
    let mut answer = Vec::with_capacity(512);
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= LONGEST_CONNECT_ANSWER {
            return Err(nonsense("an endless answer to CONNECT"));
        }
        // byte by byte: what follows the empty line belongs to TLS
        answer.push(stream.read_u8().await.map_err(broken)?);
    }
    status_of(&answer).ok_or_else(|| nonsense("its answer to CONNECT is no HTTP"))
}

/// `HTTP/1.x <status> …`
fn status_of(answer: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(answer.split(|byte| *byte == b'\r').next()?).ok()?;
    let status = line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?;
    status.parse().ok().filter(|status| (100..600).contains(status))
}

async fn socks5(stream: TcpStream, proxy: &Proxy, url: &Url) -> Result<TcpStream, HopFault> {
    let target = (target_name(url), port(url));
    let connected = match proxy.username.as_deref() {
        None => Socks5Stream::connect_with_socket(stream, target).await,
        Some(user) => {
            let password = proxy.password.as_deref().unwrap_or_default();
            Socks5Stream::connect_with_password_and_socket(stream, target, user, password).await
        }
    };
    connected.map(Socks5Stream::into_inner).map_err(socks_fault)
}

fn socks_fault(error: tokio_socks::Error) -> HopFault {
    use tokio_socks::Error::{AuthorizationRequired, InvalidAuthValues, NoAcceptableAuthMethods, PasswordAuthFailure};
    match error {
        PasswordAuthFailure(_) | NoAcceptableAuthMethods | AuthorizationRequired | InvalidAuthValues(_) => {
            HopFault { why: BAD_CREDENTIALS.to_owned(), at_once: true }
        }
        other => HopFault { why: format!("it refuses the connection: {other}"), at_once: false },
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

fn broken(error: std::io::Error) -> HopFault {
    HopFault { why: format!("the connection broke: {error}"), at_once: false }
}

fn nonsense(why: &str) -> HopFault {
    HopFault { why: why.to_owned(), at_once: false }
}
