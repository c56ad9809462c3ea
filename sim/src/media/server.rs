//! The HTTP servers of the site: connections, bodies in, and bodies out as their faults want them.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::answer::{self, Answer, Asked};
use super::faults::MediaFaultKind;
use super::requests::Origin;
use super::router;
use super::world::World;
use crate::body::Body;

/// Maximum bytes of a request's body.
const MAX_BODY: usize = 1 << 20;
/// Maximum time that a client may take for a request.
const MAX_REQUEST_TIME: Duration = Duration::from_secs(30);
/// Maximum number of connections of a listener; further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// Bytes of a frame of a body.
const FRAME: usize = 16 << 10;
/// Frames of a slow body in a second.
const FRAMES_A_SECOND: u64 = 20;

/// Accepts until it is dropped, with all of its connections.
pub(super) async fn serve(world: Arc<World>, origin: Origin, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        let Ok((stream, _)) = listener.accept().await else {
            // out of file descriptors: others must get some time to close theirs
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        connections.spawn(connection(world.clone(), origin, stream));
    }
}

async fn connection(world: Arc<World>, origin: Origin, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let world = world.clone();
        async move { Ok::<_, Infallible>(respond(world, origin, request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(MAX_REQUEST_TIME);
    if let Err(error) = server.serve_connection(TokioIo::new(stream), service).await {
        tracing::trace!(%error, "media site: connection ended");
    }
}

async fn respond(world: Arc<World>, origin: Origin, request: Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let is_head = parts.method == Method::HEAD;
    let (asked, is_whole) = match tokio::time::timeout(MAX_REQUEST_TIME, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(body)) => (Asked::from_parts(parts, body.to_bytes()), true),
        Ok(Err(_)) | Err(_) => (Asked::from_parts(parts, Bytes::new()), false),
    };
    world.requests.note(origin, &asked);
    if !is_whole {
        return send(world, &asked, answer::text(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"), &[]);
    }
    // faults belong to the site, so that a redirect elsewhere ends there
    let faults = match origin {
        Origin::Site => world.faults.take(asked.method(), asked.uri()),
        Origin::Elsewhere => Vec::new(),
    };
    let answer = router::respond(&world, origin, &asked, &faults).await;
    if is_head {
        let length = answer.body().len();
        let mut answer = send(world, &asked, answer.map(|_| Bytes::new()), &[]);
        answer.headers_mut().insert(CONTENT_LENGTH, length.into());
        return answer;
    }
    send(world, &asked, answer, &faults)
}

/// How a body goes out.
#[derive(Clone, Copy, Default)]
struct Delivery {
    cut_after: Option<u64>,
    stalled_after: Option<u64>,
    bytes_per_second: Option<u64>,
}

impl Delivery {
    fn of(faults: &[MediaFaultKind]) -> Delivery {
        let mut delivery = Delivery::default();
        for fault in faults {
            match fault {
                MediaFaultKind::CutAfter(bytes) => delivery.cut_after = Some(*bytes),
                MediaFaultKind::StalledAfter(bytes) => delivery.stalled_after = Some(*bytes),
                MediaFaultKind::Slow { bytes_per_second } => delivery.bytes_per_second = Some(*bytes_per_second),
                _ => {}
            }
        }
        delivery
    }

    fn frame(&self) -> usize {
        match self.bytes_per_second {
            Some(rate) => usize::try_from(rate / FRAMES_A_SECOND).unwrap_or(FRAME).clamp(1, FRAME),
            None => FRAME,
        }
    }

    /// Bytes that go out at all, of a body of this size.
    fn end(&self, size: usize) -> usize {
        let limits = [self.cut_after, self.stalled_after].into_iter().flatten();
        limits.filter_map(|limit| usize::try_from(limit).ok()).fold(size, usize::min)
    }
}

/// Counts the bytes of a file as they go out.
fn send(world: Arc<World>, asked: &Asked, answer: Answer, faults: &[MediaFaultKind]) -> Response<Body> {
    let (parts, bytes) = answer.into_parts();
    let delivery = Delivery::of(faults);
    let path = Some(router::whole_path(asked)).filter(|path| world.file(path).is_some()).map(str::to_owned);
    let sending = Sending { world, path, delivery, bytes: bytes.clone(), at: 0 };
    let body = BodyExt::boxed(StreamBody::new(stream::unfold(sending, Sending::next)));
    let mut response = Response::from_parts(parts, body);
    let may_have_body = response.status() != StatusCode::NOT_MODIFIED;
    if may_have_body {
        response.headers_mut().insert(CONTENT_LENGTH, bytes.len().into());
    }
    response
}

struct Sending {
    world: Arc<World>,
    /// Of the file.
    path: Option<String>,
    delivery: Delivery,
    bytes: Bytes,
    at: usize,
}

impl Sending {
    async fn next(mut self) -> Option<(io::Result<Frame<Bytes>>, Sending)> {
        let end = self.delivery.end(self.bytes.len());
        if self.at >= end && end < self.bytes.len() {
            return self.break_off().await;
        }
        if self.at >= end {
            return None;
        }
        let frame = self.bytes.slice(self.at..end.min(self.at + self.delivery.frame()));
        if self.delivery.bytes_per_second.is_some() && self.at > 0 {
            tokio::time::sleep(Duration::from_secs(1) / FRAMES_A_SECOND as u32).await;
        }
        self.at += frame.len();
        if let Some(path) = &self.path {
            self.world.note_sent(path, frame.len() as u64);
        }
        Some((Ok(Frame::data(frame)), self))
    }

    async fn break_off(self) -> Option<(io::Result<Frame<Bytes>>, Sending)> {
        if self.delivery.cut_after.is_none_or(|cut| cut > self.at as u64) {
            // until the client leaves, or the site ends
            std::future::pending::<()>().await;
        }
        // the bytes before it go out first
        tokio::task::yield_now().await;
        Some((Err(io::Error::from(io::ErrorKind::BrokenPipe)), self))
    }
}
