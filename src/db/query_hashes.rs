//! `query_hashes`: the persisted queries that a platform has been seen to accept, which it changes without notice.

use super::{Client, DbError};
use crate::domain::dispensary::Platform;

/// A persisted query's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryHash {
    pub operation: String,
    pub hash: String,
}

/// The platform's hashes by operation, the most likely to work first.
pub async fn list(client: &Client, platform: Platform) -> Result<Vec<QueryHash>, DbError> {
    let rows = client.query(include_str!("sql/query_hashes/list.sql"), &[&platform.name()]).await?;
    rows.iter().map(|row| Ok(QueryHash { operation: row.try_get("operation")?, hash: row.try_get("hash")? })).collect()
}

/// Fills an empty table with what the configuration knows, newest first; returns how many.
pub async fn seed(client: &Client, platform: Platform, known: &[QueryHash]) -> Result<u64, DbError> {
    let operations: Vec<&str> = known.iter().map(|known| known.operation.as_str()).collect();
    let hashes: Vec<&str> = known.iter().map(|known| known.hash.as_str()).collect();
    client.execute(include_str!("sql/query_hashes/seed.sql"), &[&platform.name(), &operations, &hashes]).await
}

/// Notes that the platform accepted a hash; one that was unknown is kept.
pub async fn worked(client: &Client, platform: Platform, hash: &QueryHash) -> Result<(), DbError> {
    client
        .execute(include_str!("sql/query_hashes/worked.sql"), &[&platform.name(), &hash.operation, &hash.hash])
        .await?;
    Ok(())
}

/// Notes that the platform does not know a hash any more.
pub async fn not_found(client: &Client, platform: Platform, hash: &QueryHash) -> Result<(), DbError> {
    client
        .execute(include_str!("sql/query_hashes/not_found.sql"), &[&platform.name(), &hash.operation, &hash.hash])
        .await?;
    Ok(())
}
