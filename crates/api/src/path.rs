//! `Path<T>`: the named segments of a route's path, read into a derived type, which describes each of them;
//! what cannot be read is refused by name.

use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::path::ParameterIn;

use super::ApiError;
use super::description::{Describe, Description};
use domain::role::RoleSet;

pub struct Path<T>(pub T);

/// Of the paths below a role.
#[derive(Deserialize, IntoParams)]
pub struct RolePath {
    /// One role, several with commas, `any` for all crawl roles, or `media`; `product_resync` means those that it was divided into.
    #[param(example = "payload_fetch")]
    pub role: String,
}

impl RolePath {
    pub fn roles(&self) -> Result<RoleSet, ApiError> {
        RoleSet::try_from(self.role.clone()).map_err(|unknown| ApiError::bad("role", unknown))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        if parts.uri.path().contains("%00") {
            return Err(ApiError::bad("path", "holds a NUL character"));
        }
        match extract::Path::from_request_parts(parts, state).await {
            Ok(extract::Path(path)) => Ok(Path(path)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => Err(refused(error.into_kind())),
            // a route that lacks the segments which its endpoint asks for
            Err(other) => Err(ApiError::Internal(other.to_string())),
        }
    }
}

impl<T: IntoParams> Describe for Path<T> {
    fn describe(description: &mut Description<'_>) {
        description.parameters::<T>(ParameterIn::Path);
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
