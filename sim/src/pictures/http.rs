//! The HTTP answers to requests for pictures.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;

use super::address::Address;
use super::kind::PictureKind;
use super::photo::Photo;
use super::plan::Plan;
use crate::body::Body;
use crate::reply;
use crate::world::World;

/// Number of pieces of a slow body, each after a pause.
const PIECES: usize = 10;
const PAUSE: Duration = Duration::from_millis(80);
const BLOCK: &[u8] = &[0; 64 << 10];
/// A body that is too large has 21 MiB of them.
const BLOCKS: usize = 336;
const LIES: [&str; 3] = ["image/gif", "text/plain", "application/octet-stream"];
const HTML: &str = "<!DOCTYPE html><html><head><title>Image not available</title></head><body>Sorry.</body></html>";
const SVG: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><circle cx="32" cy="32" r="20" fill="#284"/></svg>"##;
/// A whole PNG except for its pixels: a header of 30,000 × 30,000 and a few bytes of data.
const HUGE: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x75\x30\x00\x00\x75\x30\x08\x02\x00\x00\x00\xe9\x45\x6f\xed\
    \x00\x00\x00\x0cIDAT\x78\xda\x63\x60\xa0\x0c\x00\x00\x00\x40\x00\x01\x89\xc9\xaf\x43\x00\x00\x00\x00IEND\xae\x42\x60\x82";

/// The beginning of an AVIF file, which is all that a client looks at that cannot decode one.
const AVIF: &[u8] = b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf";

/// The answer to a request for a path below [`super::PATH`].
pub(crate) async fn respond(
    world: &World,
    method: &Method,
    headers: &HeaderMap,
    path: &str,
) -> io::Result<Response<Body>> {
    let Some((address, plan)) = Address::of_path(path).and_then(|address| Some((address, plan(world, address)?)))
    else {
        world.counters.note(|counts| counts.other += 1);
        return Ok(not_found());
    };
    world.counters.note(|counts| counts.pictures += 1);
    world.pictures.wait(world.client_timeout).await;
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if world.pictures.prefers_avif()
        && accept.contains("image/avif")
        && plan.next(address).is_none()
        && plan.kind.failure().is_none()
    {
        return sized("image/avif", Bytes::from_static(AVIF));
    }
    match *method {
        Method::GET => answer(world, address, plan),
        Method::HEAD => Ok(without_body(answer(world, address, plan)?)),
        _ => Ok(not_allowed()),
    }
}

fn plan(world: &World, address: Address) -> Option<Plan> {
    let plan = Plan::of(world.seed, world.picture_subject(address)?, address.hash);
    plan.has(address).then_some(plan)
}

fn answer(world: &World, address: Address, mut plan: Plan) -> io::Result<Response<Body>> {
    if let Some(next) = plan.next(address) {
        return redirect(world, address, next, plan);
    }
    let photo = Photo::of(plan.content);
    match plan.kind {
        PictureKind::Plain | PictureKind::Redirected => good(world, address, &photo, photo.content_type),
        PictureKind::Slow => slow(world, address, &photo),
        PictureKind::Mislabelled => good(world, address, &photo, plan.look.pick::<&str>(&LIES)),
        // these are behind redirects that lead too far: a client that follows them counts as served
        PictureKind::EndlessRedirects | PictureKind::OtherHost => good(world, address, &photo, photo.content_type),
        PictureKind::RandomBytes => sized("image/jpeg", random(&mut plan)),
        PictureKind::HalfFile => sized(photo.content_type, photo.bytes.slice(..photo.bytes.len() / 2)),
        PictureKind::BrokenOff => broken_off(&photo),
        PictureKind::HugeByHeader => sized("image/png", Bytes::from_static(HUGE)),
        PictureKind::LargeBody => large(&photo, plan.look.percent(75)),
        PictureKind::Html => sized("image/jpeg", Bytes::from_static(HTML.as_bytes())),
        PictureKind::Svg => sized("image/svg+xml", Bytes::from_static(SVG.as_bytes())),
        PictureKind::NotFound => Ok(not_found()),
        PictureKind::Failing => {
            let status = *plan.look.pick(&[StatusCode::GONE, StatusCode::INTERNAL_SERVER_ERROR]);
            Ok(reply::plain(status, "text/plain", "no picture"))
        }
        PictureKind::Empty => sized("image/jpeg", Bytes::new()),
    }
}

fn redirect(world: &World, address: Address, next: Address, mut plan: Plan) -> io::Result<Response<Body>> {
    let status = *plan.look.pick(&[StatusCode::FOUND, StatusCode::MOVED_PERMANENTLY, StatusCode::TEMPORARY_REDIRECT]);
    let form = plan.look.below(3) + u64::from(address.hop);
    let location = match form % 3 {
        _ if plan.kind == PictureKind::OtherHost => format!("http://images.elsewhere.invalid{next}"),
        0 => world.pictures.absolute(next),
        1 => next.to_string(),
        _ => address.relative(next),
    };
    let response = Response::builder().status(status).header(LOCATION, location).header(CONTENT_LENGTH, 0);
    response.body(reply::whole(Bytes::new())).map_err(io::Error::other)
}

fn good(world: &World, address: Address, photo: &Photo, content_type: &str) -> io::Result<Response<Body>> {
    with_length(content_type, photo.bytes.len(), counted(world, address, vec![photo.bytes.clone()], Duration::ZERO))
}

fn slow(world: &World, address: Address, photo: &Photo) -> io::Result<Response<Body>> {
    let size = photo.bytes.len().div_ceil(PIECES).max(1);
    let starts = (0..photo.bytes.len()).step_by(size);
    let pieces = starts.map(|start| photo.bytes.slice(start..photo.bytes.len().min(start + size))).collect();
    with_length(photo.content_type, photo.bytes.len(), counted(world, address, pieces, PAUSE))
}

/// A body that counts as served as its last piece goes out.
fn counted(world: &World, address: Address, pieces: Vec<Bytes>, pause: Duration) -> Body {
    let (counters, path, last) = (world.counters.clone(), Arc::new(address.with_hop(0).to_string()), pieces.len() - 1);
    let frames = stream::iter(pieces.into_iter().enumerate()).then(move |(at, piece)| {
        let (counters, path) = (counters.clone(), path.clone());
        async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            if at == last {
                counters.note_picture(&path);
            }
            Ok(Frame::data(piece))
        }
    });
    BodyExt::boxed(StreamBody::new(frames))
}

/// Half of the body goes out before the break, head and all.
fn broken_off(photo: &Photo) -> io::Result<Response<Body>> {
    let half = Ok(Frame::data(photo.bytes.slice(..photo.bytes.len() / 2)));
    let broken = async {
        tokio::task::yield_now().await;
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    };
    let frames = stream::iter([half]).chain(stream::once(broken));
    with_length(photo.content_type, photo.bytes.len(), BodyExt::boxed(StreamBody::new(frames)))
}

/// A good file with 21 MiB of zeros behind it, made while they are sent.
fn large(photo: &Photo, is_announced: bool) -> io::Result<Response<Body>> {
    let blocks = std::iter::repeat_n(Bytes::from_static(BLOCK), BLOCKS);
    let frames = std::iter::once(photo.bytes.clone()).chain(blocks).map(|bytes| Ok(Frame::data(bytes)));
    let body = BodyExt::boxed(StreamBody::new(stream::iter(frames)));
    let mut response = with_length(photo.content_type, photo.bytes.len() + BLOCKS * BLOCK.len(), body)?;
    if !is_announced {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    Ok(response)
}

fn random(plan: &mut Plan) -> Bytes {
    let words = plan.look.between(30, 400);
    (0..words).flat_map(|_| plan.look.next().to_be_bytes()).collect()
}

fn sized(content_type: &str, bytes: Bytes) -> io::Result<Response<Body>> {
    with_length(content_type, bytes.len(), reply::whole(bytes))
}

fn with_length(content_type: &str, length: usize, body: Body) -> io::Result<Response<Body>> {
    let response = Response::builder().header(CONTENT_TYPE, content_type).header(CONTENT_LENGTH, length);
    response.body(body).map_err(io::Error::other)
}

fn without_body(response: Response<Body>) -> Response<Body> {
    response.map(|_| reply::whole(Bytes::new()))
}

fn not_found() -> Response<Body> {
    reply::plain(StatusCode::NOT_FOUND, "text/plain", "no such picture")
}

fn not_allowed() -> Response<Body> {
    let mut response = reply::plain(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "GET and HEAD only");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}
