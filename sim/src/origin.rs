//! The origin: the HTTP server of the fake platforms. It checks the real one's requirements, blocks by proxy, and
//! breaks on demand.

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use http::header::PROXY_AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::body::Body;
use crate::encoding::Coding;
use crate::faults::{FaultKind, Refusal};
use crate::request::{Ask, GraphqlRequest, Operation};
use crate::settings::Robots;
use crate::transmission::{ConnectionUse, RawAnswer};
use crate::world::World;
use crate::{answer, jane, leafly, pages, pictures, plus, reply, weedmaps};

const MAX_REQUEST_BODY: usize = 256 * 1024;
const CHALLENGE: &str = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>\
    <form id=\"challenge-form\" action=\"/cdn-cgi/challenge\" method=\"POST\"></form></body></html>";

/// Accepts until it is dropped.
pub(crate) async fn serve(world: Arc<World>, listener: TcpListener, tls: Option<TlsAcceptor>) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // out of file descriptors: others must get some time to close theirs
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let proxy = world.outgoing.take(peer);
        world.counters.note(|counts| counts.direct_connections += u64::from(proxy.is_none()));
        let (world, tls) = (world.clone(), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => connection(world, stream, proxy, false).await,
                Some(tls) => secure_connection(world, stream, proxy, tls).await,
            }
        });
    }
}

async fn secure_connection(world: Arc<World>, stream: TcpStream, proxy: Option<usize>, tls: TlsAcceptor) {
    match tokio::time::timeout(world.client_timeout, tls.accept(stream)).await {
        Ok(Ok(stream)) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            connection(world, stream, proxy, is_http2).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "simulator: TLS handshake failed"),
        Err(_) => tracing::debug!("simulator: TLS handshake took too long"),
    }
}

async fn connection(
    world: Arc<World>,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    proxy: Option<usize>,
    is_http2: bool,
) {
    let (client_timeout, shared) = (world.client_timeout, world.clone());
    let service = service_fn(move |request| {
        let world = shared.clone();
        // the connection is polled by hand, which takes a future that may be moved
        Box::pin(async move { respond(&world, request, proxy).await })
    });
    let stream = TokioIo::new(stream);
    if is_http2 {
        let mut server = http2::Builder::new(TokioExecutor::new());
        server.timer(TokioTimer::new()).keep_alive_interval(client_timeout).keep_alive_timeout(client_timeout);
        log_end(server.serve_connection(stream, service).await);
        return;
    }
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(client_timeout);
    let mut stream = stream;
    loop {
        let mut connection = server.serve_connection(stream, service.clone());
        let ended = poll_fn(|context| connection.poll_without_shutdown(context)).await;
        let mut inner = connection.into_parts().io.into_inner();
        match ended {
            Ok(()) => return drop(inner.shutdown().await),
            Err(error) => match RawAnswer::of(&error) {
                Some(answer) if break_http(&world, &mut inner, &answer).await => stream = TokioIo::new(inner),
                Some(_) => return,
                None => return log_end(Err(error)),
            },
        }
    }
}

fn log_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::trace!(%error, "simulator: connection ended");
    }
}

/// Sends bytes that no HTTP server would send, and counts a client that trusts the connection afterwards.
async fn break_http(world: &World, stream: &mut (impl AsyncRead + AsyncWrite + Unpin), answer: &RawAnswer) -> bool {
    match answer.send(stream).await {
        Ok(ConnectionUse::Serve) => return true,
        Ok(ConnectionUse::Close) => drop(stream.shutdown().await),
        Ok(ConnectionUse::Watch) => {
            let mut next = [0; 1];
            let asked_again = tokio::time::timeout(world.client_timeout, stream.read(&mut next)).await;
            if matches!(asked_again, Ok(Ok(1))) {
                world.counters.note(|counts| counts.trusted_broken += 1);
            }
        }
        Err(error) => tracing::trace!(%error, "simulator: the client of a broken answer has left"),
    }
    false
}

/// An error closes the connection without an answer.
async fn respond(world: &World, request: Request<Incoming>, proxy: Option<usize>) -> io::Result<Response<Body>> {
    let _in_flight = InFlight::of(world, proxy);
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    if headers.contains_key(PROXY_AUTHORIZATION) {
        world.counters.note(|counts| counts.credentials_astray += 1);
    }
    if path == plus::PATH {
        world.delay().await;
        return plus::respond(world, request).await;
    }
    if let Some(platform) = Rest::of(&path) {
        world.delay().await;
        return match proxy.and_then(|index| refusal(world, index)) {
            // a 403 of JSON would be the platform's own word on a key
            Some(Refusal::Forbidden) => blocked(world, Refusal::ChallengeForbidden),
            Some(refusal) => blocked(world, refusal),
            None => platform.respond(world, request).await,
        };
    }
    if path == "/robots.txt" {
        return robots(world);
    }
    if path.starts_with(pictures::PATH) {
        return pictures::respond(world, request.method(), request.headers(), &path).await;
    }
    if !is_graphql(&path) {
        world.counters.note(|counts| counts.other += 1);
        return Ok(reply::plain(StatusCode::NOT_FOUND, "text/plain", "not found"));
    }
    match read(world, request).await {
        Ok(graphql) => {
            count(world, &graphql);
            world.delay().await;
            execute(world, proxy, &path, &headers, &graphql).await
        }
        Err(reason) => {
            world.counters.note(|counts| counts.other += 1);
            Ok(reply::error(StatusCode::BAD_REQUEST, &reason, "BAD_REQUEST")?)
        }
    }
}

fn robots(world: &World) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.robots += 1);
    let robots = world.robots.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Robots { status, text } = robots.unwrap_or(Robots { status: 404, text: "not found".to_owned() });
    reply::text(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), text)
}

async fn execute(
    world: &World,
    proxy: Option<usize>,
    path: &str,
    headers: &HeaderMap,
    graphql: &GraphqlRequest,
) -> io::Result<Response<Body>> {
    if let Some(refusal) = proxy.and_then(|index| refusal(world, index)) {
        return blocked(world, refusal);
    }
    let (is_known, wrong) = (knows(world, path, graphql), answer::wrong_input(graphql));
    let fault = world.faults.take(path, graphql, is_known && wrong.is_none());
    if let Some(fault) = &fault {
        world.counters.note(|counts| counts.faults += 1);
        if let Some(answer) = fail(world, fault).await? {
            return Ok(answer);
        }
    }
    if !is_known {
        return hash_not_found(world);
    }
    if let Some(reason) = wrong {
        return Ok(reply::error(StatusCode::OK, reason, "BAD_USER_INPUT")?);
    }
    if let Some(FaultKind::Coded(coding_fault)) = fault {
        let plain = pages::coded(world, graphql, None, None).await?;
        let (coding, bytes) = coding_fault.code(plain).await?;
        return reply::coded(coding, reply::whole(bytes));
    }
    let coding = Coding::choose(headers, world.coding);
    let bytes = pages::coded(world, graphql, coding, fault.as_ref()).await?;
    if let Some(FaultKind::Sent(how)) = fault {
        return Err(io::Error::other(RawAnswer { how, coding, body: bytes }));
    }
    let response = reply::json(coding, bytes, fault.as_ref())?;
    world.counters.note(|counts| counts.answered += u64::from(fault.is_none()));
    Ok(response)
}

/// `/graphql`, and its shards `/api-0/graphql` … `/api-4/graphql`.
fn is_graphql(path: &str) -> bool {
    let shard = path.strip_prefix("/api-").and_then(|rest| rest.strip_suffix("/graphql"));
    path == "/graphql" || matches!(shard, Some("0" | "1" | "2" | "3" | "4"))
}

/// Errors are the text of a 400.
async fn read(world: &World, request: Request<Incoming>) -> Result<GraphqlRequest, String> {
    require_preflight(request.headers())?;
    if request.method() == Method::GET {
        return GraphqlRequest::of_query(request.uri().query().unwrap_or_default())
            .map_err(|reason| reason.into_owned());
    }
    if request.method() != Method::POST {
        return Err(format!("method {} is not supported", request.method()));
    }
    let body = Limited::new(request.into_body(), MAX_REQUEST_BODY).collect();
    let body = tokio::time::timeout(world.client_timeout, body).await.map_err(|_| "the body took too long")?;
    let body = body.map_err(|error| error.to_string())?;
    GraphqlRequest::of_body(&body.to_bytes()).map_err(|reason| reason.into_owned())
}

/// Requires the headers without which a browser would not have asked first, and Apollo refuses the request.
fn require_preflight(headers: &HeaderMap) -> Result<(), String> {
    for (name, value) in [("content-type", "application/json"), ("apollo-require-preflight", "true")] {
        if !headers.get(name).is_some_and(|given| given.as_bytes().starts_with(value.as_bytes())) {
            return Err(format!("This operation has been blocked as a potential CSRF: {name} must be {value}"));
        }
    }
    Ok(())
}

fn count(world: &World, graphql: &GraphqlRequest) {
    // only ids of the catalogue, so that no client can make the counts grow without end
    let store = graphql.store().and_then(|id| world.catalogue.of_id(id));
    world.counters.note(|counts| {
        match graphql.operation {
            Operation::FilteredProducts => counts.filtered_products += 1,
            Operation::ConsumerDispensaries => counts.consumer_dispensaries += 1,
            Operation::DispensarySearch => counts.dispensary_search += 1,
        }
        counts.full_text += u64::from(matches!(graphql.ask, Ask::FullText(_)));
        if let (Operation::FilteredProducts, Some(store)) = (graphql.operation, store) {
            *counts.menus.entry(store.platform_dispensary_id.clone()).or_default() += 1;
        }
    });
}

/// A platform without GraphQL.
enum Rest {
    Jane,
    Weedmaps,
    Leafly,
}

impl Rest {
    fn of(path: &str) -> Option<Rest> {
        match path {
            _ if jane::is_path(path) => Some(Rest::Jane),
            _ if weedmaps::is_path(path) => Some(Rest::Weedmaps),
            _ if leafly::is_path(path) => Some(Rest::Leafly),
            _ => None,
        }
    }

    async fn respond(self, world: &World, request: Request<Incoming>) -> io::Result<Response<Body>> {
        match self {
            Rest::Jane => jane::respond(world, request).await,
            Rest::Weedmaps => weedmaps::respond(world, request).await,
            Rest::Leafly => leafly::respond(world, request).await,
        }
    }
}

/// The refusal of a request because of its proxy.
fn refusal(world: &World, proxy: usize) -> Option<Refusal> {
    let refusal = world.proxies[proxy].next_refusal()?;
    world.counters.note_proxy(proxy, |counts| counts.blocked += 1);
    Some(refusal)
}

fn blocked(world: &World, refusal: Refusal) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.blocked += 1);
    match refusal {
        Refusal::Forbidden => Ok(reply::error(StatusCode::FORBIDDEN, "Forbidden", "FORBIDDEN")?),
        Refusal::ChallengeForbidden => Ok(reply::plain(StatusCode::FORBIDDEN, "text/html; charset=UTF-8", CHALLENGE)),
        Refusal::ChallengeOk => Ok(reply::plain(StatusCode::OK, "text/html; charset=UTF-8", CHALLENGE)),
    }
}

/// The answer of a fault that needs no data; none = continue.
async fn fail(world: &World, fault: &FaultKind) -> io::Result<Option<Response<Body>>> {
    let response = match fault {
        FaultKind::Blocked(refusal) => blocked(world, *refusal)?,
        FaultKind::Throttled { retry_after } => reply::later(StatusCode::TOO_MANY_REQUESTS, *retry_after)?,
        FaultKind::Unavailable { retry_after } => reply::later(StatusCode::SERVICE_UNAVAILABLE, *retry_after)?,
        FaultKind::ServerError(status) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            reply::plain(status, "text/plain", "upstream error")
        }
        FaultKind::Reset => return Err(io::Error::from(io::ErrorKind::ConnectionReset)),
        FaultKind::Hang => std::future::pending().await,
        FaultKind::GraphqlErrors { with_data: false } => {
            reply::error(StatusCode::OK, "Something went wrong", "INTERNAL_SERVER_ERROR")?
        }
        FaultKind::HashNotFound => hash_not_found(world)?,
        FaultKind::Body(text) => reply::coded(None, reply::whole(text.clone().into()))?,
        FaultKind::Flood(flood) => {
            let (coding, body) = flood.answer().await?;
            reply::coded(coding.as_deref(), body)?
        }
        FaultKind::Truncated
        | FaultKind::CutShort
        | FaultKind::EmptyPage
        | FaultKind::EmptyMenu
        | FaultKind::DriftingTotal
        | FaultKind::GrowingTotal
        | FaultKind::LostToTies
        | FaultKind::RepeatedPage
        | FaultKind::EndlessPages
        | FaultKind::HalfMenu
        | FaultKind::AnnouncedTotal(_)
        | FaultKind::OtherStore
        | FaultKind::OddItems(_)
        | FaultKind::Coded(_)
        | FaultKind::Sent(_)
        | FaultKind::GraphqlErrors { with_data: true }
        | FaultKind::UnknownDispensary => return Ok(None),
    };
    Ok(Some(response))
}

fn hash_not_found(world: &World) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.hash_not_found += 1);
    Ok(reply::error(StatusCode::OK, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")?)
}

fn knows(world: &World, path: &str, graphql: &GraphqlRequest) -> bool {
    match &graphql.ask {
        Ask::FullText(_) => true,
        Ask::Hash(hash) => world.hashes.knows(path, graphql.operation, hash),
    }
}

/// Counts a request as being answered for as long as it lives: clients go away in the middle.
struct InFlight<'a>(&'a World);

impl<'a> InFlight<'a> {
    fn of(world: &'a World, proxy: Option<usize>) -> InFlight<'a> {
        world.counters.note(|counts| {
            counts.requests += 1;
            counts.direct += u64::from(proxy.is_none());
            counts.in_flight += 1;
            counts.most_in_flight = counts.most_in_flight.max(counts.in_flight);
            if let Some(proxy) = proxy.and_then(|index| counts.proxies.get_mut(index)) {
                proxy.requests += 1;
            }
        });
        InFlight(world)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.counters.note(|counts| counts.in_flight -= 1);
    }
}
