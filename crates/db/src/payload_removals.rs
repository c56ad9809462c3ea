//! `payload_removals`: files of payloads whose rows retention has deleted. A path goes once its file has gone.

use super::row::first_columns;
use super::{Client, DbError};
use domain::payload::RemovedFiles;

/// Paths of files to be removed that come after `after`, in order; at most `limit`.
pub async fn page(client: &Client, after: &str, limit: i64) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(include_str!("sql/payload_removals/page.sql"), &[&after, &limit]).await?)
}

/// These files are gone.
pub async fn forget(client: &Client, paths: &[String]) -> Result<(), DbError> {
    client.execute(include_str!("sql/payload_removals/forget.sql"), &[&paths]).await?;
    Ok(())
}

/// What an earlier run has left to be removed.
pub async fn count(client: &Client) -> Result<RemovedFiles, DbError> {
    let row = client.query_one(include_str!("sql/payload_removals/count.sql"), &[]).await?;
    super::payloads::removed(&row)
}
