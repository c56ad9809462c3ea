//! `query_hashes`: persisted queries that a platform was seen to accept; platforms change them without
//! notice.
//!
//! In: hashes, and the endpoint (`host/path`) that accepted or refused one. Out: the order in which to try
//! them. A row for `%` holds the knowledge about a hash at any endpoint; a row for an endpoint records that
//! this one refused it, since a platform's shards do not change at once.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::statements::{named, read_all, rows, sql};
use crate::{Client, DbError};
use domain::query_hash::QueryHash;
use domain::store::Platform;

/// A row, for display.
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
    let rows = client.query(sql!("hosts/query_hashes/candidates.sql"), &[&platform.name(), &endpoint]).await?;
    read_all(&rows)
}

/// Every row of the platform, by operation, the newest first.
pub async fn list(client: &Client, platform: Platform) -> Result<Vec<QueryHashRow>, DbError> {
    let rows = client.query(sql!("hosts/query_hashes/list.sql"), &[&platform.name()]).await?;
    read_all(&rows)
}

/// Adds the hashes (newest first) that the table lacks; returns their number. An untried hash is tried before
/// refused ones.
pub async fn add(client: &Client, platform: Platform, hashes: &[QueryHash]) -> Result<u64, DbError> {
    let operations: Vec<&str> = hashes.iter().map(|known| known.operation.as_str()).collect();
    let hashes: Vec<&str> = hashes.iter().map(|known| known.hash.as_str()).collect();
    client.execute(sql!("hosts/query_hashes/add.sql"), &[&platform.name(), &operations, &hashes]).await
}

/// Records that `endpoint` accepted a hash; an unknown one is added.
pub async fn record_worked(
    client: &Client,
    platform: Platform,
    hash: &QueryHash,
    endpoint: &str,
) -> Result<(), DbError> {
    let (platform, QueryHash { operation, hash }) = (platform.name(), hash);
    named!(client.execute("hosts/query_hashes/record_worked.sql", platform, operation, hash, endpoint)).await?;
    Ok(())
}

/// Records that `endpoint` does not know a hash (any more, or yet).
pub async fn record_not_found(
    client: &Client,
    platform: Platform,
    hash: &QueryHash,
    endpoint: &str,
) -> Result<(), DbError> {
    let (platform, QueryHash { operation, hash }) = (platform.name(), hash);
    named!(client.execute("hosts/query_hashes/record_not_found.sql", platform, operation, hash, endpoint)).await?;
    Ok(())
}

rows! {
    QueryHash { operation, hash }
    QueryHashRow { operation, hash, host_pattern, added_at, first_ok, last_ok, last_not_found }
}
