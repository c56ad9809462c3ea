//! `payload_removals`: files of payloads whose rows retention has deleted. A path is deleted once its file
//! is.

use super::row::first_columns;
use super::{Client, DbError};
use domain::payload::RemovedFiles;

/// Lists at most `limit` paths of files to remove, in order, after `after`.
pub async fn page(client: &Client, after: &str, limit: i64) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(include_str!("sql/payload_removals/page.sql"), &[&after, &limit]).await?)
}

/// Deletes the paths of removed files.
pub async fn forget(client: &Client, paths: &[String]) -> Result<(), DbError> {
    client.execute(include_str!("sql/payload_removals/forget.sql"), &[&paths]).await?;
    Ok(())
}

/// Files that an earlier run has left to remove.
pub async fn count(client: &Client) -> Result<RemovedFiles, DbError> {
    let row = client.query_one(include_str!("sql/payload_removals/count.sql"), &[]).await?;
    super::payloads::removed(&row)
}
