//! `Body<T>`: a JSON body read strictly into a derived type, within its size and time. `BatchBody<T>` is one
//! that may be larger.
//!
//! `T` is a struct with `deny_unknown_fields`. A field that is unknown, doubled, missing or unreadable is
//! refused with its name.

use std::error::Error;
use std::time::Duration;

use axum::body::{Bytes, HttpBody, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use super::authenticate::RequestContext;
use super::strict::Strict;
use super::unique::require_unique_fields;
use super::{ApiError, ApiState, Describe, Description};

/// Maximum time, enough for a body of the largest size over a slow line; a slower client would occupy a connection.
const MAX_BODY_TIME: Duration = Duration::from_secs(10);
/// Largest number up to which a float is exact.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;
/// Maximum size of a batch.
const MAX_BATCH_BYTES: usize = 16 * 1024 * 1024;

pub struct Body<T>(pub T);

/// The body of a batch: larger than others, and few are received at once.
pub struct BatchBody<T> {
    pub value: T,
    _place: OwnedSemaphorePermit,
}

impl<T: DeserializeOwned> FromRequest<ApiState> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        read(request, state.config.max_body_bytes, max_time(state)).await.map(Body)
    }
}

impl<T: DeserializeOwned> FromRequest<ApiState> for BatchBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let place = tokio::time::timeout(max_time(state), state.batches.clone().acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Err(ApiError::Busy("other batches are being received; try again".to_owned()));
        };
        let max_bytes = MAX_BATCH_BYTES.max(state.config.max_body_bytes);
        Ok(BatchBody { value: read(request, max_bytes, max_time(state)).await?, _place: place })
    }
}

impl<T: ToSchema> Describe for Body<T> {
    fn describe(description: &mut Description<'_>) {
        description.body::<T>();
    }
}

impl<T: ToSchema> Describe for BatchBody<T> {
    fn describe(description: &mut Description<'_>) {
        description.body::<T>();
    }
}

fn max_time(state: &ApiState) -> Duration {
    MAX_BODY_TIME.min(state.config.request_timeout / 2)
}

async fn read<T: DeserializeOwned>(request: Request, max_bytes: usize, max_time: Duration) -> Result<T, ApiError> {
    require_json(request.headers())?;
    // a client that waits for `100 Continue` need not send the length it announced
    if request.body().size_hint().lower() > max_bytes as u64 {
        return Err(ApiError::TooLarge(max_bytes));
    }
    let context = request.extensions().get::<RequestContext>().cloned();
    let body = tokio::time::timeout(max_time, to_bytes(request.into_body(), max_bytes));
    let bytes: Bytes =
        body.await.map_err(|_| ApiError::SlowBody(max_time))?.map_err(|error| not_received(&error, max_bytes))?;
    if let Some(context) = context {
        context.note_body(&bytes);
    }
    parse(&bytes)
}

/// Reads one document.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if holds_nul(bytes) {
        return Err(ApiError::BadBody(
            "it holds a NUL character (\\u0000), which the database cannot store".to_owned(),
        ));
    }
    // where every field may be left out, so may the body
    let bytes = if matches!(bytes.trim_ascii(), b"" | b"null") { b"{}" } else { bytes };
    let value = document(bytes)
        .or_else(|error| with_whole_numbers(bytes).and_then(|bytes| document(&bytes).ok()).ok_or(error))?;
    // a typed object refuses a doubled field itself; of one that may have any fields, the last would count
    require_unique_fields(bytes).map_err(|error| bad_field(&error))?;
    Ok(value)
}

fn document<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut document = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Strict(&mut document)).map_err(|error| bad_field(&error))?;
    document.end().map_err(|error| ApiError::BadBody(error.to_string()))?;
    Ok(value)
}

/// JSON has one kind of numbers: the document with whole ones written without a fraction. None if it needs no
/// change.
fn with_whole_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut document = serde_json::from_slice(bytes).ok()?;
    make_whole(&mut document).then(|| document.to_string().into_bytes())
}

/// Whether a number of it was written with a fraction and is whole.
fn make_whole(value: &mut Value) -> bool {
    match value {
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(whole) if whole.fract() == 0.0 && whole.abs() <= MAX_WHOLE => {
                *value = Value::from(whole as i64);
                true
            }
            _ => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |made, item| make_whole(item) | made),
        Value::Object(fields) => fields.values_mut().fold(false, |made, field| make_whole(field) | made),
        _ => false,
    }
}

fn holds_nul(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let escape = &rest[at + 1..];
        if escape.starts_with(b"u0000") {
            return true;
        }
        // the character after a backslash does not begin an escape, even if it is a backslash
        rest = escape.get(1..).unwrap_or_default();
    }
    false
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

/// Returns the field that an error names. These two errors belong to the object and not to one of its values, so serde names
/// the field only in their text.
pub fn named_field(detail: &str) -> Option<&str> {
    let named = ["missing field `", "duplicate field `"].iter().find_map(|prefix| detail.strip_prefix(prefix))?;
    named.split('`').next()
}

/// A program that names no type means JSON, and `curl -d` names a form's. A page of another site that sends a
/// form is refused before, by its `Origin` or `Sec-Fetch-Site`.
fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    for named in headers.get_all(CONTENT_TYPE) {
        let named = String::from_utf8_lossy(named.as_bytes()).to_ascii_lowercase();
        let kind = named.split(';').next().unwrap_or_default().trim();
        if !is_json(kind) {
            return Err(ApiError::NotJson(kind.to_owned()));
        }
    }
    match headers.get_all(CONTENT_ENCODING).iter().find(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        Some(coding) => Err(ApiError::Coded(String::from_utf8_lossy(coding.as_bytes()).into_owned())),
        None => Ok(()),
    }
}

fn is_json(kind: &str) -> bool {
    matches!(kind, "application/json" | "application/x-www-form-urlencoded")
        || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn not_received(error: &axum::Error, max_bytes: usize) -> ApiError {
    let mut cause = Some(error as &dyn Error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return ApiError::TooLarge(max_bytes);
        }
        cause = error.source();
    }
    ApiError::BadBody("it ends before its announced length".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fruit {
        count: i64,
    }

    #[rstest]
    #[case::whole(r#"{"count": 7}"#, Some(7))]
    #[case::with_a_fraction_of_zero(r#"{"count": 7.0}"#, Some(7))]
    #[case::with_an_exponent(r#"{"count": -7e2}"#, Some(-700))]
    #[case::not_whole(r#"{"count": 7.5}"#, None)]
    #[case::too_large(r#"{"count": 1e300}"#, None)]
    #[case::doubled(r#"{"count": 7.0, "count": 8.0}"#, None)]
    fn a_whole_number_may_be_written_with_a_fraction(#[case] body: &str, #[case] count: Option<i64>) {
        assert_eq!(parse::<Fruit>(body.as_bytes()).map(|fruit| fruit.count).ok(), count);
    }

    #[rstest]
    #[case::unknown(r#"{"count": 1, "cuont": 2}"#, "cuont")]
    #[case::doubled(r#"{"count": 1, "count": 2}"#, "count")]
    #[case::missing("{}", "count")]
    #[case::no_body("", "count")]
    #[case::no_number(r#"{"count": "1"}"#, "count")]
    fn a_field_that_does_not_fit_is_refused_by_name(#[case] body: &str, #[case] field: &str) {
        let error = parse::<Fruit>(body.as_bytes()).unwrap_err();
        assert!(matches!(&error, ApiError::Bad { field: named, .. } if named == field), "{error}");
    }

    #[rstest]
    #[case::escaped(r#"{"name": "a\u0000"}"#, true)]
    #[case::after_another_escape(r#"{"name": "\\\u0000"}"#, true)]
    #[case::its_text(r#"{"name": "\\u0000"}"#, false)]
    #[case::another_character(r#"{"name": "\u0001"}"#, false)]
    #[case::cut_off("{\"name\": \"\\", false)]
    fn a_nul_is_found_in_a_text(#[case] body: &str, #[case] found: bool) {
        assert_eq!(holds_nul(body.as_bytes()), found);
    }
}
