//! What every request passes before its route: who may speak to us at all, for how long, and that a panic is an answer.

use std::any::Any;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::ApiError;
use super::error::Cause;
use crate::{config, events};

#[derive(Clone, Copy)]
pub struct Limits {
    pub body_bytes: usize,
    request: Duration,
}

impl Limits {
    pub fn of(config: &config::Api) -> Self {
        Limits { body_bytes: config.max_body_bytes, request: config.request_timeout }
    }
}

pub async fn guard(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = match admit(&request) {
        Ok(()) => answer(limits, request, next).await,
        Err(refused) => refused.into_response(),
    };
    if let Some(Cause(why)) = answer.extensions().get() {
        events::request_failed(method.as_str(), &path, answer.status().as_u16(), why);
    }
    answer
}

async fn answer(limits: Limits, request: Request, next: Next) -> Response {
    let running = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(limits.request, running).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => ApiError::Internal(format!("panic: {}", text_of(&*panic))).into_response(),
        Err(_) => ApiError::TimedOut(limits.request).into_response(),
    }
}

/// Without access control only this machine is served: by a name that only means this machine, so that no page of another
/// site can reach us through a name of its own, and not for such a page's sake.
fn admit(request: &Request) -> Result<(), ApiError> {
    let host = host_of(request)?;
    if !is_loopback(host.host()) {
        return Err(ApiError::Forbidden(format!("Host is {host}, which is no loopback name")));
    }
    let Some(origin) = request.headers().get(ORIGIN) else { return Ok(()) };
    let same = [format!("http://{host}"), format!("https://{host}")];
    match same.iter().any(|same| origin.as_bytes().eq_ignore_ascii_case(same.as_bytes())) {
        true => Ok(()),
        false => Err(ApiError::Forbidden(format!("Origin is not that of {host}"))),
    }
}

fn host_of(request: &Request) -> Result<Authority, ApiError> {
    let mut named = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return Err(ApiError::bad("Host", "exactly one is needed"));
    };
    let host = Authority::try_from(host.as_bytes()).map_err(|_| ApiError::bad("Host", "no host and port"))?;
    match host.as_str().contains('@') {
        true => Err(ApiError::bad("Host", "no host and port")),
        false => Ok(host),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a text".to_owned())
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
        assert_eq!(admit(&request.body(Body::empty()).unwrap()).is_ok(), admitted);
    }

    #[test]
    fn two_hosts_are_none() {
        let request = Request::builder().header(HOST, "localhost").header(HOST, "evil.example");
        assert!(admit(&request.body(Body::empty()).unwrap()).is_err());
    }
}
