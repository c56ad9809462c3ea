//! `Body<T>`: a JSON body read strictly, within its size and time; what does not fit is refused by name.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use super::ApiError;
use super::router::Shared;

/// A body of the largest size over a slow line; who needs longer is keeping a place from others.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);

pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Shared> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, ApiError> {
        require_json(&request)?;
        let limit = shared.config.max_body_bytes;
        let within = ARRIVES_WITHIN.min(shared.config.request_timeout / 2);
        let arriving = tokio::time::timeout(within, Bytes::from_request(request, shared));
        let bytes = arriving.await.map_err(|_| ApiError::SlowBody(within))?;
        let bytes = bytes.map_err(|refused| unread(&refused, limit))?;
        parse(&bytes).map(Body)
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would read a list as an object's fields in their order
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::BadBody("expected an object".to_owned()));
    }
    let mut document = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut document).map_err(|error| {
        let (field, fault) = (error.path().to_string(), error.inner());
        match fault.is_data() && field != "." {
            true => ApiError::bad(field, fault),
            false => ApiError::BadBody(fault.to_string()),
        }
    })?;
    document.end().map_err(|error| ApiError::BadBody(error.to_string()))?;
    Ok(value)
}

/// A program that names no type means JSON, and so does `curl -d` by the type that it names; a foreign page's form would bring
/// its Origin, which is refused before.
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

fn unread(refused: &BytesRejection, limit: usize) -> ApiError {
    match refused.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge(limit),
        _ => ApiError::BadBody("it broke off".to_owned()),
    }
}
