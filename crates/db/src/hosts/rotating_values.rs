//! `rotating_values`: values that platforms change without notice: hashes of persisted queries, and keys.
//!
//! In: values, and the endpoint (`host/path`) that accepted or refused one. Out: the order in which to try
//! them. A row for `%` holds the knowledge about a value at any endpoint; a row for an endpoint records that
//! this one refused it, since a platform's shards do not change at once. The name of a hash is its operation. A key
//! has its digest for a value, and is itself sealed, or not here at all.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::statements::{named, read_all, rows, sql};
use crate::{Client, DbError};
use domain::query_hash::QueryHash;
use domain::store::Platform;

/// The row of a hash, for display.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryHashRow {
    /// Platform as the row names it.
    pub platform: String,
    pub operation: String,
    pub hash: String,
    /// `%` for every endpoint, else `host/path`.
    pub host_pattern: String,
    pub added_at: DateTime<Utc>,
    pub first_ok: Option<DateTime<Utc>>,
    pub last_ok: Option<DateTime<Utc>>,
    pub last_not_found: Option<DateTime<Utc>>,
}

/// A key of a platform; equal keys have one row, wherever they came from.
#[derive(Clone, PartialEq)]
pub struct KeyRow {
    pub digest: String,
    /// None where it is sealed by no key of this program: configured, or known to the process alone that read it.
    pub sealed: Option<String>,
    /// Whether it was refused since it was last accepted.
    pub is_refused: bool,
    pub last_success_at: Option<DateTime<Utc>>,
    pub last_refusal_at: Option<DateTime<Utc>>,
}

/// How the hashes of an operation fared at any endpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationRow {
    pub operation: String,
    /// Number of known hashes.
    pub hashes: i64,
    pub last_success_at: Option<DateTime<Utc>>,
    pub last_refusal_at: Option<DateTime<Utc>>,
}

/// The name of a platform's key.
const KEY: &str = "key";
/// The endpoint of what is known of all endpoints.
const EVERYWHERE: &str = "%";

/// The platform's hashes by operation, the most likely to work at `endpoint` first.
pub async fn candidates(client: &Client, platform: Platform, endpoint: &str) -> Result<Vec<QueryHash>, DbError> {
    let rows = client.query(sql!("hosts/rotating_values/candidates.sql"), &[&platform.name(), &endpoint]).await?;
    read_all(&rows)
}

/// Every row of hashes, of one platform or of all, by operation, the newest first.
pub async fn list(client: &Client, platform: Option<Platform>) -> Result<Vec<QueryHashRow>, DbError> {
    let platform = platform.map(Platform::name);
    read_all(&client.query(sql!("hosts/rotating_values/list.sql"), &[&platform]).await?)
}

/// The operations of which the platform has hashes, by name.
pub async fn operations(client: &Client, platform: Platform) -> Result<Vec<OperationRow>, DbError> {
    read_all(&client.query(sql!("hosts/rotating_values/operations.sql"), &[&platform.name()]).await?)
}

/// Adds the hashes (newest first) that the table lacks; returns their number. An untried hash is tried before
/// refused ones.
pub async fn add(client: &Client, platform: Platform, hashes: &[QueryHash]) -> Result<u64, DbError> {
    let operations: Vec<&str> = hashes.iter().map(|known| known.operation.as_str()).collect();
    let hashes: Vec<&str> = hashes.iter().map(|known| known.hash.as_str()).collect();
    client.execute(sql!("hosts/rotating_values/add.sql"), &[&platform.name(), &operations, &hashes]).await
}

/// Records that `endpoint` accepted a hash; an unknown one is added.
pub async fn record_worked(
    client: &Client,
    platform: Platform,
    hash: &QueryHash,
    endpoint: &str,
) -> Result<(), DbError> {
    record_success(client, platform, (&hash.operation, &hash.hash), endpoint).await
}

/// Records that `endpoint` does not know a hash (any more, or yet).
pub async fn record_not_found(
    client: &Client,
    platform: Platform,
    hash: &QueryHash,
    endpoint: &str,
) -> Result<(), DbError> {
    record_refusal(client, platform, (&hash.operation, &hash.hash), endpoint).await
}

/// The keys of the platform that were used or read, the last read one first.
pub async fn keys(client: &Client, platform: Platform) -> Result<Vec<KeyRow>, DbError> {
    read_all(&client.query(sql!("hosts/rotating_values/keys.sql"), &[&platform.name()]).await?)
}

/// Keeps a key that was read now; `sealed` is none where no key of this program seals it.
pub async fn keep_key(client: &Client, platform: Platform, digest: &str, sealed: Option<&str>) -> Result<(), DbError> {
    client.execute(sql!("hosts/rotating_values/keep_key.sql"), &[&platform.name(), &digest, &sealed]).await?;
    Ok(())
}

/// Records that the platform accepted the key with this digest.
pub async fn record_key_worked(client: &Client, platform: Platform, digest: &str) -> Result<(), DbError> {
    record_success(client, platform, (KEY, digest), EVERYWHERE).await
}

/// Records that the platform refused the key with this digest.
pub async fn record_key_refused(client: &Client, platform: Platform, digest: &str) -> Result<(), DbError> {
    record_refusal(client, platform, (KEY, digest), EVERYWHERE).await
}

async fn record_success(
    client: &Client,
    platform: Platform,
    (name, value): (&str, &str),
    endpoint: &str,
) -> Result<(), DbError> {
    let platform = platform.name();
    named!(client.execute("hosts/rotating_values/record_success.sql", platform, name, value, endpoint)).await?;
    Ok(())
}

async fn record_refusal(
    client: &Client,
    platform: Platform,
    (name, value): (&str, &str),
    endpoint: &str,
) -> Result<(), DbError> {
    let platform = platform.name();
    named!(client.execute("hosts/rotating_values/record_refusal.sql", platform, name, value, endpoint)).await?;
    Ok(())
}

rows! {
    QueryHash { operation, hash }
    KeyRow { digest, sealed, is_refused, last_success_at, last_refusal_at }
    OperationRow { operation, hashes, last_success_at, last_refusal_at }
    QueryHashRow { platform, operation, hash, host_pattern, added_at, first_ok, last_ok, last_not_found }
}
