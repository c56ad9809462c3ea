//! HTTP/1.1 forward proxy: absolute-form requests over a kept connection, and CONNECT tunnels, with Basic
//! credentials.

use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;

use super::state::Page;
use super::{ProxyFault, ProxyState, connect, relay};
use crate::world::World;

type Body = BoxBody<Bytes, hyper::Error>;

/// The way to the last target of this client, kept while it asks for the same.
type Upstream = Arc<Mutex<Option<KeptConnection>>>;
type KeptConnection = (Authority, SendRequest<Incoming>);

pub(super) async fn converse(
    world: Arc<World>,
    proxy: usize,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let upstream = Upstream::default();
    let client_timeout = world.client_timeout;
    let service = service_fn(move |request| {
        let (world, upstream) = (world.clone(), upstream.clone());
        async move { respond(world, proxy, request, upstream).await }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.preserve_header_case(true).timer(TokioTimer::new()).header_read_timeout(client_timeout);
    server.serve_connection(TokioIo::new(stream), service).with_upgrades().await.map_err(io::Error::other)
}

async fn respond(
    world: Arc<World>,
    proxy: usize,
    request: Request<Incoming>,
    upstream: Upstream,
) -> io::Result<Response<Body>> {
    let state = &world.proxies[proxy];
    note_astray(&world, state, request.headers());
    let fault = state.unhung_fault().await;
    let refusal = match fault {
        ProxyFault::AuthRequired => Some(StatusCode::PROXY_AUTHENTICATION_REQUIRED),
        ProxyFault::BadGateway => Some(StatusCode::BAD_GATEWAY),
        _ if is_authorised(&world, proxy, request.headers()) => None,
        _ => Some(StatusCode::PROXY_AUTHENTICATION_REQUIRED),
    };
    if let Some(status) = refusal {
        world.counters.note_proxy(proxy, |counts| counts.refused += 1);
        return Ok(status_only(status));
    }
    if let Some(page) = fault.page() {
        world.counters.note_proxy(proxy, |counts| counts.refused += 1);
        // to a client that wants a tunnel this is not TLS, as a portal's page is not
        return Ok(whole(page));
    }
    let Some(target) = request.uri().authority().cloned() else {
        return Ok(status_only(StatusCode::BAD_REQUEST));
    };
    if request.method() == Method::CONNECT {
        return Ok(tunnel(world, proxy, request, target, fault).await);
    }
    if fault == ProxyFault::Reset {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    let response = forward(&world, proxy, request, target, upstream).await;
    if let ProxyFault::Late(by) = fault {
        tokio::time::sleep(by).await;
    }
    response
}

fn is_authorised(world: &World, proxy: usize, headers: &HeaderMap) -> bool {
    let state = &world.proxies[proxy];
    !state.wants_credentials() || has_credentials(state, headers)
}

fn has_credentials(state: &ProxyState, headers: &HeaderMap) -> bool {
    let credentials = || {
        let basic = headers.get(PROXY_AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
        let text = String::from_utf8(BASE64_STANDARD.decode(basic).ok()?).ok()?;
        let (username, password) = text.split_once(':')?;
        Some(state.accepts(username, password))
    };
    credentials() == Some(true)
}

fn note_astray(world: &World, state: &ProxyState, headers: &HeaderMap) {
    if headers.contains_key(PROXY_AUTHORIZATION) && !has_credentials(state, headers) {
        world.counters.note(|counts| counts.credentials_astray += 1);
    }
}

async fn tunnel(
    world: Arc<World>,
    proxy: usize,
    request: Request<Incoming>,
    target: Authority,
    fault: ProxyFault,
) -> Response<Body> {
    let Some(port) = target.port_u16() else { return status_only(StatusCode::BAD_REQUEST) };
    let Ok(mut there) = connect(&world, proxy, target.host(), port).await else {
        return status_only(StatusCode::BAD_GATEWAY);
    };
    tokio::spawn(async move {
        let Ok(here) = hyper::upgrade::on(request).await else { return };
        let mut here = TokioIo::new(here);
        let state = &world.proxies[proxy];
        tokio::select! {
            _ = relay(fault, &mut here, &mut there) => {}
            () = state.until_refusing(true) => {}
        }
    });
    status_only(StatusCode::OK)
}

/// Sends the request on in origin form, its headers in their order.
async fn forward(
    world: &World,
    proxy: usize,
    request: Request<Incoming>,
    target: Authority,
    upstream: Upstream,
) -> io::Result<Response<Body>> {
    let mut upstream = upstream.lock().await;
    let mut sender = match reusable(upstream.take(), &target).await {
        Some(sender) => sender,
        None => match open(world, proxy, &target).await {
            Ok(sender) => sender,
            Err(_) => return Ok(status_only(StatusCode::BAD_GATEWAY)),
        },
    };
    // an upstream that breaks off breaks the client's connection too, as with a real proxy
    let response = sender.send_request(origin_form(request)?).await.map_err(io::Error::other)?;
    *upstream = Some((target, sender));
    Ok(response.map(BodyExt::boxed))
}

async fn reusable(kept: Option<KeptConnection>, target: &Authority) -> Option<SendRequest<Incoming>> {
    let (_, mut sender) = kept.filter(|(host, _)| host == target)?;
    sender.ready().await.is_ok().then_some(sender)
}

async fn open(world: &World, proxy: usize, target: &Authority) -> io::Result<SendRequest<Incoming>> {
    let stream = connect(world, proxy, target.host(), target.port_u16().unwrap_or(80)).await?;
    let mut client = hyper::client::conn::http1::Builder::new();
    // nothing is sent or awaited yet, so that it needs no deadline
    let opened = client.preserve_header_case(true).handshake(TokioIo::new(stream)).await;
    let (sender, connection) = opened.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

fn origin_form(request: Request<Incoming>) -> io::Result<Request<Incoming>> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let host = parts.uri.authority().map(|authority| authority.as_str().to_owned()).unwrap_or_default();
    let uri: Uri = path.parse().map_err(io::Error::other)?;
    parts.uri = uri;
    parts.headers = without_proxy_headers(&parts.headers);
    if !parts.headers.contains_key(HOST) {
        parts.headers.insert(HOST, HeaderValue::from_str(&host).map_err(io::Error::other)?);
    }
    Ok(Request::from_parts(parts, body))
}

/// Copied rather than removed in place, which would disturb the order.
fn without_proxy_headers(headers: &HeaderMap) -> HeaderMap {
    let is_for_proxy = |name: &HeaderName| name.as_str().starts_with("proxy-");
    headers.iter().filter(|(name, _)| !is_for_proxy(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn whole((media_type, text): Page) -> Response<Body> {
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

fn status_only(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        response.headers_mut().insert(PROXY_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"proxy\""));
    }
    response
}
