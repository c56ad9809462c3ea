//! The origin's HTTP answers: coded, broken off, or plain.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::body::Body;
use crate::encoding::Coding;
use crate::world::World;

/// A status with its document.
pub(crate) type Document = (StatusCode, Value);

/// A document, in a coding that the client takes.
pub(crate) async fn document(
    world: &World,
    headers: &HeaderMap,
    (status, document): Document,
) -> io::Result<Response<Body>> {
    let coding = Coding::choose(headers, world.coding);
    let bytes = encoded(coding, &document).await?;
    answered(world, coding, status, bytes)
}

/// The bytes of a document in that coding.
pub(crate) async fn encoded(coding: Option<Coding>, document: &Value) -> io::Result<Bytes> {
    let body = serde_json::to_vec(document)?;
    Ok(match coding {
        Some(coding) => coding.encode(&body).await?.into(),
        None => body.into(),
    })
}

/// The answer with a document's bytes.
pub(crate) fn answered(
    world: &World,
    coding: Option<Coding>,
    status: StatusCode,
    bytes: Bytes,
) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.answered += u64::from(status == StatusCode::OK));
    let mut response = json(coding, bytes)?;
    *response.status_mut() = status;
    Ok(response)
}

/// A JSON answer in the coding that `bytes` have.
pub(crate) fn json(coding: Option<Coding>, bytes: Bytes) -> io::Result<Response<Body>> {
    coded(coding.map(Coding::name), whole(bytes))
}

/// An answer of JSON, whatever `body` is, under that content coding.
pub(crate) fn coded(coding: Option<&str>, body: Body) -> io::Result<Response<Body>> {
    let mut response = Response::builder().header(CONTENT_TYPE, "application/json; charset=utf-8");
    if let Some(coding) = coding {
        response = response.header(CONTENT_ENCODING, coding);
    }
    response.body(body).map_err(io::Error::other)
}

/// GraphQL's `errors[]` with one entry, and nothing else.
pub(crate) fn error(status: StatusCode, message: &str, code: &str) -> serde_json::Result<Response<Body>> {
    let mut response = plain(status, "application/json; charset=utf-8", "");
    let errors = json!({ "errors": [graphql_error(message, code)] });
    *response.body_mut() = whole(Bytes::from(serde_json::to_vec(&errors)?));
    Ok(response)
}

/// One entry of `errors[]`.
pub(crate) fn graphql_error(message: &str, code: &str) -> Value {
    json!({ "message": message, "extensions": { "code": code } })
}

pub(crate) fn later(status: StatusCode, retry_after: Option<Duration>) -> io::Result<Response<Body>> {
    let mut response = error(status, "Too many requests", "THROTTLED")?;
    if let Some(retry_after) = retry_after {
        // rounded up, so that no client comes back too soon
        response.headers_mut().insert(RETRY_AFTER, (retry_after.as_secs_f64().ceil() as u64).into());
    }
    Ok(response)
}

pub(crate) fn plain(status: StatusCode, content_type: &'static str, text: &'static str) -> Response<Body> {
    let mut response = Response::new(whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Answers with a text file.
pub(crate) fn text(status: StatusCode, text: String) -> io::Result<Response<Body>> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, "text/plain; charset=utf-8");
    response.body(whole(Bytes::from(text))).map_err(io::Error::other)
}

pub(crate) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed()
}
