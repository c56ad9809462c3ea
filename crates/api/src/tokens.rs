//! `/api/tokens`: credentials for the API. A token's text is answered once, by the request that makes it.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::credentials::SecretText;
use super::{Admin, ApiError, ApiState, Body, Caller, Changes, Path};
use contract::problem::Problem;
use contract::tokens::{MadeToken, NewToken, TokenList};
use db::access::api_tokens::MAX_TOKENS;
use db::{DbError, access};
use domain::access::TokenId;

const MAX_NAME_CHARS: usize = 100;

#[derive(Deserialize, IntoParams)]
pub struct TokenPath {
    /// The token's id
    id: TokenId,
}

/// Lists the tokens that are not revoked.
#[utoipa::path(get, path = "/api/tokens", tag = "access", responses((status = 200, body = TokenList)))]
pub async fn list(caller: Caller<Admin>) -> Result<Json<TokenList>, ApiError> {
    let client = caller.client().await?;
    Ok(Json(TokenList { tokens: access::api_tokens::list(&client).await? }))
}

/// Creates a token. Once the first one exists, no request is answered without a token.
#[utoipa::path(post, path = "/api/tokens", tag = "access",
               responses((status = 201, body = MadeToken), (status = 409, response = Problem)))]
pub async fn create(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Body(NewToken { name, role }): Body<NewToken>,
) -> Result<Response, ApiError> {
    check_name(&name)?;
    let mut change = changes.begin().await?;
    let secret = SecretText::new_token();
    let token = match access::api_tokens::insert(&change, &name, role, &secret.digest()).await {
        Ok(Some(token)) => token,
        Ok(None) => {
            return Err(ApiError::Conflict(format!("the maximum number of tokens is {MAX_TOKENS}: revoke some")));
        }
        Err(DbError::Conflict { .. }) => {
            return Err(ApiError::Conflict(format!("a token named '{name}' exists already")));
        }
        Err(other) => return Err(other.into()),
    };
    change.audit("tokens.create", token.id, json!({"name": name, "role": role}));
    let made = |token_text| MadeToken { id: token.id, name: token.name.clone(), role, token: token_text };
    change.commit(StatusCode::CREATED, json!(made(None))).await?;
    api.credentials.forget();
    let location = [(header::LOCATION, format!("/api/tokens/{}", token.id))];
    Ok((StatusCode::CREATED, location, Json(made(Some(secret.reveal().to_owned())))).into_response())
}

/// Revokes a token, and ends the logins by it.
#[utoipa::path(delete, path = "/api/tokens/{id}", tag = "access", responses((status = 204, description = "Revoked")))]
pub async fn revoke(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Path(TokenPath { id }): Path<TokenPath>,
) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin().await?;
    let token =
        access::api_tokens::revoke(&change, id).await?.ok_or_else(|| ApiError::NotFound(format!("token {id}")))?;
    change.audit("tokens.revoke", id, json!({"name": token.name}));
    let answer = change.no_content().await?;
    api.credentials.forget();
    Ok(answer)
}

fn check_name(name: &str) -> Result<(), ApiError> {
    let is_plain = !name.chars().any(char::is_control) && name.trim() == name;
    match is_plain && (1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
        true => Ok(()),
        false => Err(ApiError::bad(
            "name",
            format!("must be 1 to {MAX_NAME_CHARS} characters, without leading or trailing spaces"),
        )),
    }
}
