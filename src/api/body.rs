//! `Body<T>`: a JSON body read strictly into a derived type, within its size and time.
//!
//! `T` is a struct with `deny_unknown_fields`. A field that is unknown, doubled, missing or unreadable is refused with its name.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use super::authenticate::RequestContext;
use super::{ApiError, ApiState};

/// Enough for a body of the largest size over a slow line; a slower client would occupy a connection.
const MAX_BODY_TIME: Duration = Duration::from_secs(10);

pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<ApiState> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        require_json(&request)?;
        let context = request.extensions().get::<RequestContext>().cloned();
        let max_time = MAX_BODY_TIME.min(state.config.request_timeout / 2);
        let body = tokio::time::timeout(max_time, Bytes::from_request(request, state));
        let bytes = body.await.map_err(|_| ApiError::SlowBody(max_time))?;
        let bytes = bytes.map_err(|rejection| not_received(&rejection, state.config.max_body_bytes))?;
        if let Some(context) = context {
            context.note_body(&bytes);
        }
        parse(&bytes).map(Body)
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would read a list as an object's fields in their order
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::BadBody("expected an object".to_owned()));
    }
    let mut document = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut document).map_err(|error| bad_field(&error))?;
    document.end().map_err(|error| ApiError::BadBody(error.to_string()))?;
    Ok(value)
}

fn bad_field(error: &serde_path_to_error::Error<serde_json::Error>) -> ApiError {
    let (path, detail) = (error.path().to_string(), error.inner());
    if !detail.is_data() {
        return ApiError::BadBody(detail.to_string());
    }
    match named_field(&detail.to_string()) {
        Some(field) if path == "." => ApiError::bad(field, detail),
        Some(field) => ApiError::bad(format!("{path}.{field}"), detail),
        None if path == "." => ApiError::BadBody(detail.to_string()),
        None => ApiError::bad(path, detail),
    }
}

/// These two errors belong to the object and not to one of its values, so serde names the field only in their text.
fn named_field(detail: &str) -> Option<&str> {
    let named = ["missing field `", "duplicate field `"].iter().find_map(|prefix| detail.strip_prefix(prefix))?;
    named.split('`').next()
}

/// A program that names no type means JSON, and `curl -d` names a form's. A page of another site that sends a form is refused
/// before, by its `Origin` or `Sec-Fetch-Site`.
fn require_json(request: &Request) -> Result<(), ApiError> {
    let Some(named) = request.headers().get(CONTENT_TYPE) else { return Ok(()) };
    let named = String::from_utf8_lossy(named.as_bytes()).to_ascii_lowercase();
    let kind = named.split(';').next().unwrap_or_default().trim();
    match matches!(kind, "application/json" | "application/x-www-form-urlencoded")
        || (kind.starts_with("application/") && kind.ends_with("+json"))
    {
        true => Ok(()),
        false => Err(ApiError::NotJson(kind.to_owned())),
    }
}

fn not_received(rejection: &BytesRejection, max_bytes: usize) -> ApiError {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge(max_bytes),
        _ => ApiError::BadBody("it ends before its announced length".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fruit {
        #[expect(dead_code, reason = "only read")]
        count: i64,
    }

    #[rstest]
    #[case::unknown(r#"{"count": 1, "cuont": 2}"#, "cuont")]
    #[case::doubled(r#"{"count": 1, "count": 2}"#, "count")]
    #[case::missing("{}", "count")]
    #[case::no_number(r#"{"count": "1"}"#, "count")]
    fn a_field_that_does_not_fit_is_refused_by_name(#[case] body: &str, #[case] field: &str) {
        let error = parse::<Fruit>(body.as_bytes()).unwrap_err();
        assert!(matches!(&error, ApiError::Bad { field: named, .. } if named == field), "{error}");
    }
}
