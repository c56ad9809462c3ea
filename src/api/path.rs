//! `Path<T>`: the named segments of a route's path, read into a derived type; what cannot be read is refused by name.

use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::ApiError;

pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match extract::Path::from_request_parts(parts, state).await {
            Ok(extract::Path(path)) => Ok(Path(path)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => Err(refused(error.into_kind())),
            // a route that lacks the segments which its endpoint asks for
            Err(other) => Err(ApiError::Internal(other.to_string())),
        }
    }
}

fn refused(error: ErrorKind) -> ApiError {
    match error {
        ErrorKind::ParseErrorAtKey { key, value, .. } => {
            ApiError::bad(key, format!("expected a whole number, got '{value}'"))
        }
        ErrorKind::DeserializeError { key, message, .. } => ApiError::bad(key, message),
        ErrorKind::InvalidUtf8InPathParam { key } => ApiError::bad(key, "not UTF-8"),
        other => ApiError::bad("path", other),
    }
}
