//! Middleware of every request: the check of its origin, the deadline, and the headers of each answer.
//!
//! Not layers of `tower-http`: its deadline answers without a body, so a problem document would have to be made afterwards; its
//! request id is the client's where the client sends one; and what a panic becomes is ours to say in either case.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, HOST, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::ApiError;
use super::error::{InternalCause, Problem};
use crate::{events, metrics};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The route of a request that no route answers.
const NO_ROUTE: &str = "none";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Runs a request within `max_time`. Each answer gets a request id, `no-store` unless its endpoint sets another, and `nosniff`.
pub async fn answer(State(max_time): State<Duration>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let timer = metrics::HTTP_SECONDS.with_label_values(&[route.as_str()]).start_timer();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let request_id = format!("{:016x}", rand::random::<u64>());
    let mut response = run(max_time, request, next).await;
    timer.observe_duration();
    events::request_answered(&route, response.status().as_u16());
    if let Some(InternalCause(cause)) = response.extensions().get() {
        events::request_failed(method.as_str(), &path, response.status().as_u16(), &request_id, cause);
    }
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        *response.body_mut() = problem.body(&request_id);
    }
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(request_id) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, request_id);
    }
    response
}

async fn run(max_time: Duration, request: Request, next: Next) -> Response {
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

/// Refuses requests that do not come from this machine or that a page of another site causes.
pub async fn require_same_machine(request: Request, next: Next) -> Response {
    match check_origin(&request) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

/// There is no access control yet, so the host must be a loopback name: a page of another site could reach this server by a name
/// of its own that resolves to this machine. Browsers send `Origin` or `Sec-Fetch-Site` with requests that a page causes.
fn check_origin(request: &Request) -> Result<(), ApiError> {
    let host = host_of(request)?;
    if !is_loopback(host.host()) {
        return Err(ApiError::Forbidden(format!(
            "Host is {host}, which is no loopback name: call the API as localhost or 127.0.0.1"
        )));
    }
    check_site(request)?;
    let Some(origin) = request.headers().get(ORIGIN) else { return Ok(()) };
    let same = [format!("http://{host}"), format!("https://{host}")];
    match same.iter().any(|same| origin.as_bytes().eq_ignore_ascii_case(same.as_bytes())) {
        true => Ok(()),
        false => Err(ApiError::Forbidden(format!("Origin is not that of {host}"))),
    }
}

/// A request that changes something and that another site's page causes is refused, also when it has no `Origin`.
fn check_site(request: &Request) -> Result<(), ApiError> {
    let Some(site) = request.headers().get(SEC_FETCH_SITE).filter(|_| !request.method().is_safe()) else {
        return Ok(());
    };
    match site.as_bytes() {
        b"same-origin" | b"none" => Ok(()),
        _ => Err(ApiError::Forbidden("by Sec-Fetch-Site, a page of another site sends this request".to_owned())),
    }
}

fn host_of(request: &Request) -> Result<Authority, ApiError> {
    let mut named = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return Err(ApiError::bad("Host", "exactly one is needed"));
    };
    let host = Authority::try_from(host.as_bytes()).map_err(|_| ApiError::bad("Host", "no host and port"))?;
    if host.as_str().contains('@') {
        return Err(ApiError::bad("Host", "no host and port"));
    }
    // `GET http://other/ HTTP/1.1` asks for another host than its header names
    match request.uri().authority().is_none_or(|target| target.as_str().eq_ignore_ascii_case(host.as_str())) {
        true => Ok(host),
        false => Err(ApiError::bad("Host", "not the host of the request's target")),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::name("localhost", None, true)]
    #[case::name_and_port("localhost:8080", None, true)]
    #[case::v4("127.0.0.1:8080", None, true)]
    #[case::v6("[::1]:8080", None, true)]
    #[case::rebound("evil.example:8080", None, false)]
    #[case::looks_alike("localhost.evil.example", None, false)]
    #[case::another_address("10.0.0.1", None, false)]
    #[case::user("localhost@evil.example", None, false)]
    #[case::same_origin("localhost:8080", Some("http://localhost:8080"), true)]
    #[case::other_port("localhost:8080", Some("http://localhost:9090"), false)]
    #[case::other_site("localhost:8080", Some("https://evil.example"), false)]
    #[case::sandboxed("localhost:8080", Some("null"), false)]
    fn only_this_machine_is_served(#[case] host: &str, #[case] origin: Option<&str>, #[case] admitted: bool) {
        let mut request = Request::builder().uri("/api/tasks").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        assert_eq!(check_origin(&request.body(Body::empty()).unwrap()).is_ok(), admitted);
    }

    #[rstest]
    #[case::read("GET", "cross-site", true)]
    #[case::write("POST", "cross-site", false)]
    #[case::write_from_another_port("POST", "same-site", false)]
    #[case::own_page("DELETE", "same-origin", true)]
    #[case::typed_by_a_person("POST", "none", true)]
    fn another_site_changes_nothing(#[case] method: &str, #[case] site: &str, #[case] admitted: bool) {
        let request = Request::builder().method(method).header(HOST, "localhost").header(SEC_FETCH_SITE, site);
        assert_eq!(check_origin(&request.body(Body::empty()).unwrap()).is_ok(), admitted);
    }

    #[rstest]
    #[case::two_hosts(Request::builder().header(HOST, "localhost").header(HOST, "evil.example"))]
    #[case::another_target(Request::builder().uri("http://evil.example/api/tasks").header(HOST, "localhost"))]
    fn one_request_names_one_host(#[case] request: axum::http::request::Builder) {
        assert!(check_origin(&request.body(Body::empty()).unwrap()).is_err());
    }
}
