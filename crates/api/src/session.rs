//! `/api/session`: the login of people by a token. The login is a cookie that pages cannot read and other
//! sites cannot send; a change by it needs its CSRF token too.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::authenticate::{LOGIN_COOKIE, login, require_csrf_token};
use super::credentials::SecretText;
use super::{Anyone, ApiError, ApiState, Body, Caller, Consumer};
use contract::problem::Problem;
use contract::sessions::{Login, LoginRequest};
use contract::workers::RoleView;
use db::access;

const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 3600);

/// Name and role of the caller.
#[utoipa::path(get, path = "/api/session", tag = "access", responses((status = 200, body = Login)))]
pub async fn show(caller: Caller<Consumer>, headers: HeaderMap) -> Json<Login> {
    let csrf_token = login(&headers).map(|login| login.csrf_token());
    Json(Login {
        name: caller.principal.name.clone(),
        role: caller.principal.role,
        csrf_token,
        expires_at: None,
        roles: RoleView::all(),
    })
}

/// Logs in with a token.
#[utoipa::path(post, path = "/api/session", tag = "access",
               responses((status = 200, body = Login), (status = 401, response = Problem),
                         (status = 429, response = Problem), (status = 500, response = Problem),
                         (status = 503, response = Problem)))]
pub async fn log_in(
    _: Anyone,
    State(api): State<ApiState>,
    Body(request): Body<LoginRequest>,
) -> Result<Response, ApiError> {
    let secret = SecretText::token(&request.token);
    let known = api.credentials.known_for(&secret, &api.db).await?;
    let Some(token) = known.find(&secret) else {
        return Err(ApiError::Unauthenticated("the token is unknown or revoked"));
    };
    api.rates.take(token.token, token.role).map_err(ApiError::TooManyRequests)?;
    let login = SecretText::new_login();
    let client = api.db.api_client().await?;
    let expires_at = Some(access::api_tokens::log_in(&client, token.token, &login.digest(), SESSION_LIFETIME).await?);
    api.credentials.forget();
    let csrf_token = Some(login.csrf_token());
    let answer = Login { name: token.name.clone(), role: token.role, csrf_token, expires_at, roles: RoleView::all() };
    Ok(([(SET_COOKIE, cookie(&api.config.base_path, login.reveal(), SESSION_LIFETIME))], Json(answer)).into_response())
}

/// Ends the login of the request, if it has one; like every change made with a login, this needs its CSRF token.
#[utoipa::path(delete, path = "/api/session", tag = "access",
               responses((status = 204, description = "Logged out"), (status = 500, response = Problem), (status = 503, response = Problem)))]
pub async fn log_out(_: Anyone, State(api): State<ApiState>, headers: HeaderMap) -> Result<Response, ApiError> {
    if let Some(login) = login(&headers) {
        end(&api, &headers, &login).await?;
    }
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie(&api.config.base_path, "", Duration::ZERO))]).into_response())
}

/// One that is over needs no CSRF token, which its page may not know any more.
async fn end(api: &ApiState, headers: &HeaderMap, login: &SecretText) -> Result<(), ApiError> {
    if api.credentials.known_for(login, &api.db).await?.find(login).is_none() {
        return Ok(());
    }
    require_csrf_token(headers, login)?;
    let client = api.db.api_client().await?;
    access::api_tokens::log_out(&client, &login.digest()).await?;
    api.credentials.forget();
    Ok(())
}

/// Makes a cookie that is not `Secure`: a server on loopback or behind a proxy is called by plain HTTP.
fn cookie(base_path: &str, text: &str, lasts: Duration) -> String {
    format!("{LOGIN_COOKIE}={text}; Path={base_path}/; HttpOnly; SameSite=Strict; Max-Age={}", lasts.as_secs())
}
