//! `query_hashes`: the persisted queries that a platform has been seen to accept, which it changes without notice.
//!
//! In: hashes, and the endpoint (`host/path`) at which one was accepted or refused. Out: the order in which to try them. A row for
//! `%` says what is known of a hash anywhere; a row for an endpoint says that this one refused it, since a platform's shards
//! do not change at once.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::row::{read_all, rows};
use super::{Client, DbError};
use domain::query_hash::QueryHash;
use domain::store::Platform;

/// A row, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryHashRow {
    pub operation: String,
    pub hash: String,
    /// `%` for every endpoint, else `host/path`.
    pub host_pattern: String,
    pub added_at: DateTime<Utc>,
    pub first_ok: Option<DateTime<Utc>>,
    pub last_ok: Option<DateTime<Utc>>,
    pub last_not_found: Option<DateTime<Utc>>,
}

/// The platform's hashes by operation, the most likely to work at `endpoint` first.
pub async fn candidates(client: &Client, platform: Platform, endpoint: &str) -> Result<Vec<QueryHash>, DbError> {
    let rows = client.query(include_str!("sql/query_hashes/candidates.sql"), &[&platform.name(), &endpoint]).await?;
    read_all(&rows)
}

/// Every row of the platform, by operation, the newest first.
pub async fn list(client: &Client, platform: Platform) -> Result<Vec<QueryHashRow>, DbError> {
    let rows = client.query(include_str!("sql/query_hashes/list.sql"), &[&platform.name()]).await?;
    read_all(&rows)
}

/// Adds those of `hashes`, newest first, that the table lacks; returns how many. An untried hash is tried before refused ones.
pub async fn add(client: &Client, platform: Platform, hashes: &[QueryHash]) -> Result<u64, DbError> {
    let operations: Vec<&str> = hashes.iter().map(|known| known.operation.as_str()).collect();
    let hashes: Vec<&str> = hashes.iter().map(|known| known.hash.as_str()).collect();
    client.execute(include_str!("sql/query_hashes/add.sql"), &[&platform.name(), &operations, &hashes]).await
}

/// Notes that `endpoint` accepted a hash; one that was unknown is kept.
pub async fn record_worked(
    client: &Client,
    platform: Platform,
    hash: &QueryHash,
    endpoint: &str,
) -> Result<(), DbError> {
    let sql = include_str!("sql/query_hashes/record_worked.sql");
    client.execute(sql, &[&platform.name(), &hash.operation, &hash.hash, &endpoint]).await?;
    Ok(())
}

/// Notes that `endpoint` does not know a hash (any more, or yet).
pub async fn record_not_found(
    client: &Client,
    platform: Platform,
    hash: &QueryHash,
    endpoint: &str,
) -> Result<(), DbError> {
    let sql = include_str!("sql/query_hashes/record_not_found.sql");
    client.execute(sql, &[&platform.name(), &hash.operation, &hash.hash, &endpoint]).await?;
    Ok(())
}

rows! {
    QueryHash { operation, hash }
    QueryHashRow { operation, hash, host_pattern, added_at, first_ok, last_ok, last_not_found }
}
