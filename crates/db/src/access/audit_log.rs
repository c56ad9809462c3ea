//! `audit_log`: the callers and their changes, written by the transaction that makes the change.

use std::time::Duration;

use crate::statements::{named, read_all, rows, sql};
use crate::{Client, DbError, Tx};
use contract::audit::{AuditFilter, AuditRow};
use domain::access::{AuditEntry, Principal};

/// Commits a request's transaction with its audit rows, and returns the result of `read` in it.
pub async fn commit<T>(
    tx: Tx,
    principal: &Principal,
    request_id: &str,
    entries: &[AuditEntry],
    read: impl AsyncFnOnce(&Client) -> Result<T, DbError>,
) -> Result<T, DbError> {
    let address = principal.address.as_deref();
    let entries = serde_json::to_value(entries).map_err(|error| DbError::Other(error.to_string()))?;
    let (sql, params) = named!(
        "access/audit_log/insert.sql",
        who = principal.name,
        token = principal.token,
        address,
        request_id,
        entries
    );
    tx.commit_with(sql, &params, read).await
}

/// Lists at most `limit` rows, in the filter's order.
pub async fn list(client: &Client, filter: &AuditFilter, limit: i64) -> Result<Vec<AuditRow>, DbError> {
    let AuditFilter { who, action, from, to, sort, after } = filter;
    read_all(
        &named!(client.query(by_age("access/audit_log/list.sql", *sort), after, who, action, from, to, limit)).await?,
    )
}

/// Removes at most `batch` rows that are older than `keep`; returns their number.
pub async fn prune(client: &Client, keep: Duration, batch: i64) -> Result<u64, DbError> {
    client.execute(sql!("access/audit_log/prune.sql"), &[&keep.as_secs_f64(), &batch]).await
}

rows! {
    AuditRow { id, at, who, token_id, address, request_id, action, target, detail }
}
