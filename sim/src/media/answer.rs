//! Answers of the services, whole: faults break them afterwards. And what a request has in it.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::plan::Login;

pub(super) type Request = http::Request<Bytes>;
pub(super) type Answer = Response<Bytes>;

pub(super) fn json_of(status: StatusCode, value: &Value) -> Answer {
    typed(status, "application/json; charset=utf-8", value.to_string())
}

pub(super) fn html(status: StatusCode, page: String) -> Answer {
    typed(status, "text/html; charset=utf-8", page)
}

pub(super) fn text(status: StatusCode, text: &str) -> Answer {
    typed(status, "text/plain; charset=utf-8", text.to_owned())
}

pub(super) fn typed(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// Adds that header; a value that no header can have is left out.
pub(super) fn with(mut answer: Answer, name: HeaderName, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

pub(super) fn not_found() -> Answer {
    json_of(StatusCode::NOT_FOUND, &json!({"error": "not found"}))
}

pub(super) fn not_allowed() -> Answer {
    text(StatusCode::METHOD_NOT_ALLOWED, "another method is needed")
}

/// 401 that asks for Basic credentials.
pub(super) fn ask_login() -> Answer {
    with(text(StatusCode::UNAUTHORIZED, "log in"), WWW_AUTHENTICATE, "Basic realm=\"members\"")
}

/// The first value of that parameter.
pub(super) fn parameter<'a>(request: &'a Request, name: &str) -> Option<Cow<'a, str>> {
    parameters(request).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// The same as a number.
pub(super) fn number<T: std::str::FromStr>(request: &Request, name: &str) -> Option<T> {
    parameter(request, name)?.parse().ok()
}

pub(super) fn parameters(request: &Request) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
}

pub(super) fn header(request: &Request, name: impl http::header::AsHeaderName) -> Option<&str> {
    request.headers().get(name)?.to_str().ok()
}

pub(super) fn bearer(request: &Request) -> Option<&str> {
    header(request, AUTHORIZATION)?.strip_prefix("Bearer ")
}

pub(super) fn is_logged_in(request: &Request, login: &Login) -> bool {
    basic(request.headers()).is_some_and(|pair| pair == format!("{}:{}", login.username, login.password))
}

/// User name and password of Basic credentials, with a colon between.
pub(super) fn basic(headers: &HeaderMap) -> Option<String> {
    let coded = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
    String::from_utf8(BASE64_STANDARD.decode(coded).ok()?).ok()
}

pub(super) fn cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let pairs = request.headers().get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = pairs.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}
