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

use super::answer::{self, Answer};
use super::faults::MediaFaultKind;
use super::requests::Origin;
use super::world::World;
use super::{connections, router};
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

/// Serves until it is dropped.
pub(super) async fn serve(world: Arc<World>, origin: Origin, listener: TcpListener) {
    connections::serve(listener, MAX_CONNECTIONS, |stream| connection(world.clone(), origin, stream)).await;
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

async fn respond(world: Arc<World>, origin: Origin, incoming: Request<Incoming>) -> Response<Body> {
    let (request, is_whole) = read(incoming).await;
    world.requests.note(origin, &request);
    if !is_whole {
        return send(world, &request, answer::text(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"), &[]);
    }
    // faults belong to the site, so that a redirect elsewhere ends there
    let faults = match origin {
        Origin::Site => world.faults.take(request.method(), request.uri()),
        Origin::Elsewhere => Vec::new(),
    };
    let answer = router::respond(&world, origin, &request, &faults).await;
    match *request.method() {
        Method::HEAD => send_head(world, &request, answer),
        _ => send(world, &request, answer, &faults),
    }
}

/// Reads a request, and whether its body came whole; a request whose body did not has none.
async fn read(incoming: Request<Incoming>) -> (answer::Request, bool) {
    let (parts, body) = incoming.into_parts();
    let body = tokio::time::timeout(MAX_REQUEST_TIME, Limited::new(body, MAX_BODY).collect()).await;
    match body {
        Ok(Ok(body)) => (Request::from_parts(parts, body.to_bytes()), true),
        Ok(Err(_)) | Err(_) => (Request::from_parts(parts, Bytes::new()), false),
    }
}

/// How a body goes out.
#[derive(Clone, Copy, Default)]
struct BodyFaults {
    cut_after: Option<u64>,
    stalled_after: Option<u64>,
    bytes_per_second: Option<u64>,
}

impl BodyFaults {
    fn of(kinds: &[MediaFaultKind]) -> BodyFaults {
        let mut faults = BodyFaults::default();
        for kind in kinds {
            match kind {
                MediaFaultKind::CutAfter(bytes) => faults.cut_after = Some(*bytes),
                MediaFaultKind::StalledAfter(bytes) => faults.stalled_after = Some(*bytes),
                MediaFaultKind::Slow { bytes_per_second } => faults.bytes_per_second = Some(*bytes_per_second),
                _ => {}
            }
        }
        faults
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
fn send(world: Arc<World>, request: &answer::Request, answer: Answer, faults: &[MediaFaultKind]) -> Response<Body> {
    let (parts, bytes) = answer.into_parts();
    let faults = BodyFaults::of(faults);
    let path = Some(router::whole_path(request)).filter(|path| world.file(path).is_some()).map(str::to_owned);
    let body = ResponseBody { world, path, faults, bytes: bytes.clone(), at: 0 };
    let body = BodyExt::boxed(StreamBody::new(stream::unfold(body, ResponseBody::next)));
    let mut response = Response::from_parts(parts, body);
    if !matches!(response.status(), StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT) {
        response.headers_mut().insert(CONTENT_LENGTH, bytes.len().into());
    }
    response
}

/// The length of the whole answer, and no bytes.
fn send_head(world: Arc<World>, request: &answer::Request, answer: Answer) -> Response<Body> {
    let length = answer.body().len();
    let mut response = send(world, request, answer.map(|_| Bytes::new()), &[]);
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    response
}

struct ResponseBody {
    world: Arc<World>,
    /// The file's, where the answer is a file.
    path: Option<String>,
    faults: BodyFaults,
    bytes: Bytes,
    at: usize,
}

impl ResponseBody {
    async fn next(mut self) -> Option<(io::Result<Frame<Bytes>>, ResponseBody)> {
        let end = self.faults.end(self.bytes.len());
        if self.at >= end && end < self.bytes.len() {
            return self.break_off().await;
        }
        if self.at >= end {
            return None;
        }
        let frame = self.bytes.slice(self.at..end.min(self.at + self.faults.frame()));
        if self.faults.bytes_per_second.is_some() && self.at > 0 {
            tokio::time::sleep(Duration::from_secs(1) / FRAMES_A_SECOND as u32).await;
        }
        self.at += frame.len();
        if let Some(path) = &self.path {
            self.world.note_sent(path, frame.len() as u64);
        }
        Some((Ok(Frame::data(frame)), self))
    }

    async fn break_off(self) -> Option<(io::Result<Frame<Bytes>>, ResponseBody)> {
        if self.faults.cut_after.is_none_or(|cut| cut > self.at as u64) {
            // until the client leaves, or the site ends
            std::future::pending::<()>().await;
        }
        // the bytes before it go out first
        tokio::task::yield_now().await;
        Some((Err(io::Error::from(io::ErrorKind::BrokenPipe)), self))
    }
}
