//! What tells this database from every other one.

use super::{Client, DbError};

/// Kept through dump and restore.
pub async fn id(client: &Client) -> Result<String, DbError> {
    Ok(client.query_one("SELECT id::text FROM installation", &[]).await?.try_get(0)?)
}
