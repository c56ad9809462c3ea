//! Identifies the caller of a request: by a token, by a login with one, or from this machine while there are
//! no tokens.
//!
//! In: a request. Out: its [`Principal`], for the extractors of [`super::access`], which hold an endpoint's
//! requirement.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::credentials::{KnownCredentials, SecretText};
use super::guard::RequestId;
use super::{ApiError, ApiState, origin};
use domain::access::{AccessRole, Principal};
use foundation::digest::sha256_hex;

pub const LOGIN_COOKIE: &str = "drover_login";
pub const CSRF_TOKEN: HeaderName = HeaderName::from_static("x-csrf-token");

/// Address of the client, as an extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

/// Facts about a request before its endpoint runs, as an extension of it.
#[derive(Clone)]
pub struct RequestContext {
    pub id: String,
    via: Via,
    method: Method,
    target: Uri,
    body: Arc<OnceLock<Bytes>>,
}

/// How a request came.
#[derive(Clone)]
enum Via {
    /// `host` is its name for this server.
    Network { host: Authority, address: Option<IpAddr> },
    /// A command, which has the database itself.
    CommandLine,
}

/// Lets requests from the network pass whose host and site are acceptable.
pub async fn network(State(api): State<ApiState>, request: Request, next: Next) -> Response {
    match origin::check(&request, &api.hosts) {
        Ok(host) => {
            let address = request.extensions().get::<ClientAddress>().map(|ClientAddress(ip)| *ip);
            run(Via::Network { host, address }, request, next).await
        }
        Err(refused) => refused.into_response(),
    }
}

/// Lets requests of the command line pass.
pub async fn command_line(request: Request, next: Next) -> Response {
    run(Via::CommandLine, request, next).await
}

async fn run(via: Via, mut request: Request, next: Next) -> Response {
    let id = request.extensions().get::<RequestId>().map(|RequestId(id)| id.clone()).unwrap_or_default();
    let (method, target) = (request.method().clone(), request.uri().clone());
    request.extensions_mut().insert(RequestContext { id, via, method, target, body: Arc::default() });
    next.run(request).await
}

impl RequestContext {
    pub fn of(parts: &Parts) -> Result<RequestContext, ApiError> {
        let context = parts.extensions.get::<RequestContext>().cloned();
        context.ok_or_else(|| ApiError::Internal("a route without authentication".to_owned()))
    }

    /// Notes the body; called once, by the extractor that reads it.
    pub fn note_body(&self, bytes: &Bytes) {
        let _ = self.body.set(bytes.clone());
    }

    /// Digest of the whole request: equal for requests that ask for the same.
    pub fn digest(&self) -> String {
        let body = self.body.get().map_or_else(String::new, sha256_hex);
        sha256_hex(format!("{} {}\n{body}", self.method, self.target))
    }
}

/// The caller of the request, if it has at least the permissions of `needed`.
pub async fn principal(parts: &Parts, api: &ApiState, needed: AccessRole) -> Result<Principal, ApiError> {
    let principal = match RequestContext::of(parts)?.via {
        Via::CommandLine => Principal::command_line(),
        Via::Network { host, address } => caller(api, &parts.method, &parts.headers, &host, address).await?,
    };
    match principal.may(needed) {
        true => {
            note_visitor(parts, api, &principal);
            Ok(principal)
        }
        false => Err(ApiError::Forbidden(format!(
            "{principal} has the access role {}, and this needs {needed}",
            principal.role
        ))),
    }
}

/// Consumers ask for the visitors of a public site: these are counted, by where they are.
fn note_visitor(parts: &Parts, api: &ApiState, principal: &Principal) {
    if principal.role == AccessRole::Consumer {
        let address = parts.extensions.get::<ClientAddress>().map(|ClientAddress(ip)| *ip);
        api.visitors.note(&api.geo, &parts.headers, address);
    }
}

async fn caller(
    api: &ApiState,
    method: &Method,
    headers: &HeaderMap,
    host: &Authority,
    address: Option<IpAddr>,
) -> Result<Principal, ApiError> {
    let Some(secret) = secret(headers).map_err(ApiError::Unauthenticated)? else {
        let known = api.credentials.known(&api.db).await?;
        return match is_trusted(&known, host, address) {
            true => Ok(Principal::local(address.map(|address| address.to_string()))),
            false => Err(ApiError::Unauthenticated("a token is needed: Authorization: Bearer …")),
        };
    };
    let unknown = ApiError::Unauthenticated("the token or login is unknown, revoked or expired");
    let known = api.credentials.known_for(&secret, &api.db).await?;
    let credential = known.find(&secret).ok_or(unknown)?;
    api.rates.take(credential.token, credential.role).map_err(ApiError::TooManyRequests)?;
    if secret.is_login() && !method.is_safe() {
        require_csrf_token(headers, &secret)?;
    }
    api.credentials.note_use(credential.token);
    Ok(Principal {
        name: credential.name.clone(),
        role: credential.role,
        token: Some(credential.token),
        address: address.map(|address| address.to_string()),
    })
}

/// No token was ever made, and the request comes from this machine, by a name that no other site can have.
fn is_trusted(known: &KnownCredentials, host: &Authority, address: Option<IpAddr>) -> bool {
    !known.has_tokens && origin::is_loopback(host.host()) && address.is_some_and(|address| address.is_loopback())
}

/// The token of the request, otherwise its login.
fn secret(headers: &HeaderMap) -> Result<Option<SecretText>, &'static str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (Some(_), Some(_)) => Err("Authorization is given twice"),
        (Some(value), None) => {
            let text = value.to_str().map_err(|_| "Authorization holds no token")?;
            let (scheme, token) = text.split_once(' ').ok_or("Authorization must be: Bearer …")?;
            if !scheme.eq_ignore_ascii_case("bearer") {
                return Err("Authorization must be: Bearer …");
            }
            Ok(Some(SecretText::token(token)))
        }
        (None, _) => Ok(login(headers)),
    }
}

/// The login of the request's cookie.
pub fn login(headers: &HeaderMap) -> Option<SecretText> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == LOGIN_COOKIE).map(|(_, text)| SecretText::login(text))
}

/// Checks the token of a request that changes something by a login.
pub fn require_csrf_token(headers: &HeaderMap, login: &SecretText) -> Result<(), ApiError> {
    let mut given = headers.get_all(CSRF_TOKEN).iter();
    match (given.next(), given.next()) {
        (Some(token), None) if login.is_csrf_token(token.as_bytes()) => Ok(()),
        _ => Err(ApiError::Forbidden(format!(
            "a change made with a login needs the header {CSRF_TOKEN} with the token that the login returned"
        ))),
    }
}
