//! `api_tokens` and `api_logins`: digests of the tokens that open the API, and of the logins that people make
//! with a token.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::statements::{FromRow, first_column, named, parsed, read_all, rows, sql};
use crate::{Client, DbError};
use contract::tokens::ApiToken;
use domain::access::{AccessRole, TokenId};

/// Maximum number of tokens. Together with [`MAX_LOGINS`] it bounds the memory of a process.
pub const MAX_TOKENS: i64 = 1_000;
const MAX_LOGINS: i64 = 1_000;

/// A credential of the API: a token, or a login made with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// SHA-256 of its text, in hex.
    pub digest: String,
    pub is_login: bool,
    pub token: TokenId,
    pub name: String,
    pub role: AccessRole,
}

/// None when there are [`MAX_TOKENS`] already. A name that another token has is a conflict.
pub async fn insert(client: &Client, name: &str, role: AccessRole, digest: &str) -> Result<Option<ApiToken>, DbError> {
    let role: &str = role.into();
    let row =
        named!(client.query_opt("access/api_tokens/insert.sql", name, role, digest, max_tokens = MAX_TOKENS)).await?;
    row.as_ref().map(ApiToken::from_row).transpose()
}

pub async fn list(client: &Client) -> Result<Vec<ApiToken>, DbError> {
    read_all(&client.query(sql!("access/api_tokens/list.sql"), &[]).await?)
}

/// None when the token does not exist.
pub async fn revoke(client: &Client, id: TokenId) -> Result<Option<ApiToken>, DbError> {
    let row = client.query_opt(sql!("access/api_tokens/revoke.sql"), &[&id]).await?;
    row.as_ref().map(ApiToken::from_row).transpose()
}

/// All credentials that open the API now.
pub async fn credentials(client: &Client) -> Result<Vec<Credential>, DbError> {
    read_all(&client.query(sql!("access/api_tokens/credentials.sql"), &[]).await?)
}

/// Whether a token was ever made, revoked ones included: revoking the last token opens nothing.
pub async fn exist(client: &Client) -> Result<bool, DbError> {
    first_column(&client.query_one(sql!("access/api_tokens/exists.sql"), &[]).await?)
}

pub async fn note_used(client: &Client, ids: &[TokenId]) -> Result<(), DbError> {
    client.execute(sql!("access/api_tokens/used.sql"), &[&ids]).await?;
    Ok(())
}

/// Begins a login; returns when it ends.
pub async fn log_in(client: &Client, token: TokenId, digest: &str, lasts: Duration) -> Result<DateTime<Utc>, DbError> {
    let seconds = lasts.as_secs_f64();
    first_column(
        &named!(client.query_one("access/api_logins/insert.sql", digest, token, seconds, others = MAX_LOGINS - 1))
            .await?,
    )
}

pub async fn log_out(client: &Client, digest: &str) -> Result<(), DbError> {
    client.execute(sql!("access/api_logins/delete.sql"), &[&digest]).await?;
    Ok(())
}

rows! {
    ApiToken { id, name, role: parsed, created_at, last_used_at }
    Credential { digest, is_login, token: "id", name, role: parsed }
}
