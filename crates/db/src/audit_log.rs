//! `audit_log`: who changed what by request, written by the transaction that makes the change.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};
use utoipa::{IntoParams, ToSchema};

use super::row::{read_all, rows};
use super::{Client, DbError, Tx};
use domain::access::{AuditEntry, Principal, TokenId};
use domain::span;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    pub id: i64,
    pub at: DateTime<Utc>,
    /// The token's name; `local` without one, `command line` for a command on the database itself.
    pub who: String,
    pub token_id: Option<TokenId>,
    pub address: Option<String>,
    /// As in the answer's `X-Request-Id` and in the log.
    pub request_id: String,
    /// The resource and what was done with it, such as `tasks.create`.
    pub action: String,
    /// The resource's id or name.
    pub target: String,
    pub detail: Value,
}

/// Which rows to list; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// A token's name, `local` or `command line`.
    pub who: Option<String>,
    /// The resource and what was done with it, such as `tasks.create`.
    pub action: Option<String>,
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Before this time.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    /// Ids below this one.
    #[serde(skip)]
    pub below: Option<i64>,
}

/// Commits a request's transaction with its rows, and returns what `read` finds in it.
pub async fn commit<T>(
    tx: Tx,
    principal: &Principal,
    request_id: &str,
    entries: &[AuditEntry],
    read: impl AsyncFnOnce(&Client) -> Result<T, DbError>,
) -> Result<T, DbError> {
    let address = principal.address.as_deref();
    let entries = serde_json::to_value(entries).map_err(|error| DbError::Other(error.to_string()))?;
    let sql = include_str!("sql/audit_log/insert.sql");
    let types = [Type::TEXT, Type::INT8, Type::TEXT, Type::TEXT, Type::JSONB];
    let values: [&(dyn ToSql + Sync); 5] = [&principal.name, &principal.token, &address, &request_id, &entries];
    tx.commit_with(sql, &values.into_iter().zip(types).collect::<Vec<_>>(), read).await
}

/// The newest first, at most `limit`.
pub async fn list(client: &Client, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditRow>, DbError> {
    let AuditFilter { who, action, from, to, below } = filter;
    let sql = include_str!("sql/audit_log/list.sql");
    read_all(&client.query(sql, &[below, who, action, from, to, &limit]).await?)
}

/// Removes at most `batch` rows that are older than `keep`; returns how many.
pub async fn prune(client: &Client, keep: Duration, batch: i64) -> Result<u64, DbError> {
    client.execute(include_str!("sql/audit_log/prune.sql"), &[&keep.as_secs_f64(), &batch]).await
}

rows! {
    AuditRow { id, at, who, token_id, address, request_id, action, target, detail }
}
