//! The origin: the HTTP server of the fake platforms, of their pictures and their robots file.
//!
//! It must not know a platform. In: connections, by proxy or not. Out: answers, and bytes that no HTTP server would send.

use std::future::poll_fn;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use http::header::PROXY_AUTHORIZATION;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::body::Body;
use crate::settings::Robots;
use crate::transmission::{ConnectionUse, RawAnswer};
use crate::world::World;
use crate::{pictures, platform, reply};

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
    if let Some(platform) = platform::of_path(&path) {
        return platform::respond(platform, world, request, proxy).await;
    }
    if path == "/robots.txt" {
        return robots(world);
    }
    if path.starts_with(pictures::PATH) {
        return pictures::respond(world, request.method(), request.headers(), &path).await;
    }
    world.counters.note(|counts| counts.other += 1);
    Ok(reply::plain(StatusCode::NOT_FOUND, "text/plain", "not found"))
}

fn robots(world: &World) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.robots += 1);
    let robots = world.robots.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Robots { status, text } = robots.unwrap_or(Robots { status: 404, text: "not found".to_owned() });
    reply::text(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), text)
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
