//! `Path<T>`: the named segments of a route's path, read into a derived type, which describes each of them;
//! what cannot be read is refused by name. `Roles`: the same of a path below a role.

use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::path::ParameterIn;

use super::{ApiError, Describe, Description};
use domain::task::role::RoleSet;

/// The path of a thing that may be missing, for which its operation describes a 404.
pub struct Path<T>(pub T);

/// The roles that a path names.
pub struct Roles {
    /// The word in the path.
    pub role: String,
    pub roles: RoleSet,
}

#[derive(Deserialize, IntoParams)]
struct RolePath {
    /// One role, several with commas, `any` for all crawl roles, or `media`; `product_resync` stands for the roles that replaced it.
    #[param(example = "payload_fetch")]
    role: String,
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

impl<S: Send + Sync> FromRequestParts<S> for Roles {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(RolePath { role }) = Path::from_request_parts(parts, state).await?;
        let roles = RoleSet::try_from(role.clone()).map_err(|unknown| ApiError::bad("role", unknown))?;
        Ok(Roles { role, roles })
    }
}

impl<T: IntoParams> Describe for Path<T> {
    fn describe(description: &mut Description<'_>) {
        description.parameters::<T>(ParameterIn::Path);
        description.refusals(&["404"]);
    }
}

impl Describe for Roles {
    fn describe(description: &mut Description<'_>) {
        description.parameters::<RolePath>(ParameterIn::Path);
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
