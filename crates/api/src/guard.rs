//! Middleware of every request: its id, the deadline, and the headers of each answer.
//!
//! Not layers of `tower-http`: its deadline answers without a body, so a problem document would have to be
//! made afterwards; its request id is the client's where the client sends one; and what a panic becomes is
//! ours to say in either case.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, LINK, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::error::InternalCause;
use super::page::NextPage;
use super::{ApiError, head};
use contract::problem::Problem;
use telemetry::events;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The route of a request that no route answers.
const NO_ROUTE: &str = "none";
/// Headers of answers, unless an endpoint sets another value: answers are data, not to be kept, and shown in no page of
/// another site.
const SAFE_HEADERS: [(HeaderName, &str); 5] = [
    (CACHE_CONTROL, "no-store"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (REFERRER_POLICY, "no-referrer"),
    (X_FRAME_OPTIONS, "DENY"),
];

/// An extension of the request.
#[derive(Clone)]
pub struct RequestId(pub String);

/// Runs a request within `max_time`. Each answer gets the request's id, and the headers that keep browsers
/// from misusing it.
pub async fn answer(State(max_time): State<Duration>, mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, |path| resource(path.as_str())).to_owned();
    let started = Instant::now();
    let (method, target) = (request.method().clone(), request.uri().clone());
    let request_id = new_id();
    request.extensions_mut().insert(RequestId(request_id.clone()));
    let mut response = run(max_time, request, next).await;
    events::request_answered(&route, response.status().as_u16(), started.elapsed());
    if let Some(InternalCause(cause)) = response.extensions().get() {
        events::request_failed(method.as_str(), target.path(), response.status().as_u16(), &request_id, cause);
    }
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        *response.body_mut() = problem.json(&request_id).into();
    }
    if let Some(link) = response.extensions_mut().remove::<NextPage>().and_then(|next| next.link(&target)) {
        response.headers_mut().insert(LINK, link);
    }
    complete(response.headers_mut(), &request_id);
    response
}

/// The whole answer to a request that reaches no route; it is neither counted nor logged with theirs.
pub fn refusal(error: ApiError) -> Response {
    let request_id = new_id();
    let mut response = error.into_response();
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        *response.body_mut() = problem.json(&request_id).into();
    }
    complete(response.headers_mut(), &request_id);
    response
}

fn new_id() -> String {
    format!("{:016x}", rand::random::<u64>())
}

/// Adds the headers of every answer.
fn complete(headers: &mut HeaderMap, request_id: &str) {
    for (name, value) in SAFE_HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(request_id) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, request_id);
    }
}

/// The routes that are counted together: `/api/tasks` and all routes below it. One by one they would be more
/// series than a process may have.
fn resource(route: &str) -> &str {
    let begin = route.find("/api/").unwrap_or(0);
    let path = &route[begin..];
    path.match_indices('/').nth(2).map_or(path, |(end, _)| &path[..end])
}

async fn run(max_time: Duration, request: Request, next: Next) -> Response {
    if let Err(refused) = head::check(&request) {
        return refused.into_response();
    }
    let running = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(max_time, running).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => ApiError::Internal(format!("panic: {}", panic_text(&*panic))).into_response(),
        Err(_) => ApiError::TimedOut(max_time).into_response(),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_list("/api/tasks", "/api/tasks")]
    #[case::one("/api/tasks/{id}", "/api/tasks")]
    #[case::below_a_prefix("/drover/api/tasks/{id}/retry", "/api/tasks")]
    #[case::a_probe("/livez", "/livez")]
    #[case::none(NO_ROUTE, NO_ROUTE)]
    fn requests_are_counted_by_resource(#[case] route: &str, #[case] counted: &str) {
        assert_eq!(resource(route), counted);
    }
}
