//! `payload_removals`: files of payloads whose rows retention has deleted. A path is deleted once its file
//! is.

use crate::statements::{first_columns, sql};
use crate::{Client, DbError};
use domain::payload::RemovedFiles;

/// Lists at most `limit` paths of files to remove, in order, after `after`.
pub async fn page(client: &Client, after: &str, limit: i64) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(sql!("payloads/removals/page.sql"), &[&after, &limit]).await?)
}

/// Deletes the paths of removed files.
pub async fn forget(client: &Client, paths: &[String]) -> Result<(), DbError> {
    client.execute(sql!("payloads/removals/forget.sql"), &[&paths]).await?;
    Ok(())
}

/// Files that an earlier run has left to remove.
pub async fn count(client: &Client) -> Result<RemovedFiles, DbError> {
    let row = client.query_one(sql!("payloads/removals/count.sql"), &[]).await?;
    super::removed(&row)
}
