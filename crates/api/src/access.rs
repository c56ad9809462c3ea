//! An endpoint's requirement for its caller, as the first extractor of its handler: [`Anyone`], [`Caller`] or
//! [`Changes`]. A handler that begins otherwise is refused by the compiler (see [`super::endpoint`]).

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;

use super::authenticate::{self, RequestContext};
use super::change::{Change, IdempotencyKey};
use super::{ApiError, ApiState, query};
use db::Client;
use domain::access::{AccessRole, Principal};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const MAX_KEY_CHARS: usize = 255;

/// Requirement of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Minimum role; None: open to anyone.
    pub role: Option<AccessRole>,
    /// Whether it changes something, so that `audit_log` records the caller.
    pub is_audited: bool,
}

/// An extractor that may come first in an endpoint's handler.
pub trait Guard {
    const ACCESS: Access;
}

/// An access role, as a type.
pub trait CallerRole: Send + Sync + 'static {
    const ROLE: AccessRole;
}

macro_rules! roles {
    ($($role:ident)+) => {$(
        pub struct $role;
        impl CallerRole for $role {
            const ROLE: AccessRole = AccessRole::$role;
        }
    )+};
}

roles! { Consumer Viewer Operator Admin }

/// The endpoint is open, also to callers without a token.
pub struct Anyone;

/// The caller, whose access role is `R` or more.
pub struct Caller<R> {
    pub principal: Principal,
    api: ApiState,
    _role: PhantomData<R>,
}

/// A request that changes something, of a caller whose access role is `R` or more.
pub struct Changes<R> {
    api: ApiState,
    context: RequestContext,
    principal: Principal,
    key: Option<String>,
    _role: PhantomData<R>,
}

impl<R> Caller<R> {
    /// A connection for reads, from the pool of the API.
    pub async fn client(&self) -> Result<Client, ApiError> {
        Ok(self.api.db.api_client().await?)
    }
}

impl<R> Changes<R> {
    /// Begins the transaction of the change.
    ///
    /// # Errors
    /// [`ApiError::Answered`] where this request's `Idempotency-Key` has an answer already.
    pub async fn begin(self) -> Result<Change, ApiError> {
        let key = self.key.map(|key| IdempotencyKey { key, request: self.context.digest() });
        Change::begin(&self.api, self.principal, self.context.id, key).await
    }
}

impl<R> Deref for Changes<R> {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.principal
    }
}

impl Guard for Anyone {
    const ACCESS: Access = Access { role: None, is_audited: false };
}

impl<R: CallerRole> Guard for Caller<R> {
    const ACCESS: Access = Access { role: Some(R::ROLE), is_audited: false };
}

impl<R: CallerRole> Guard for Changes<R> {
    const ACCESS: Access = Access { role: Some(R::ROLE), is_audited: true };
}

impl FromRequestParts<ApiState> for Anyone {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        query::check_absent(parts)?;
        Ok(Anyone)
    }
}

impl<R: CallerRole> FromRequestParts<ApiState> for Caller<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, ApiError> {
        let principal = authenticate::principal(parts, api, R::ROLE).await?;
        query::check_absent(parts)?;
        Ok(Caller { principal, api: api.clone(), _role: PhantomData })
    }
}

impl<R: CallerRole> FromRequestParts<ApiState> for Changes<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, ApiError> {
        let context = RequestContext::of(parts)?;
        let principal = authenticate::principal(parts, api, R::ROLE).await?;
        let key = idempotency_key(parts)?;
        query::check_absent(parts)?;
        Ok(Changes { api: api.clone(), context, principal, key, _role: PhantomData })
    }
}

fn idempotency_key(parts: &Parts) -> Result<Option<String>, ApiError> {
    let mut given = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let (Some(key), None) = (given.next(), given.next()) else {
        return match parts.headers.contains_key(IDEMPOTENCY_KEY) {
            true => Err(ApiError::bad("Idempotency-Key", "given twice")),
            false => Ok(None),
        };
    };
    match key.to_str() {
        Ok(key) if (1..=MAX_KEY_CHARS).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(ApiError::bad("Idempotency-Key", format!("must be 1 to {MAX_KEY_CHARS} ASCII characters"))),
    }
}
