//! Publication of batches: each committed one gets the next number of the feed.
//!
//! Any process may publish, one at a time: a publisher holds the lock of the feed's row, and whoever finds it locked
//! leaves the work to its holder. A publisher that is killed leaves nothing behind.

use crate::statements::{first_column, sql};
use crate::{Db, DbError};

/// Maximum number of batches that one transaction publishes.
const MAX_PUBLISHED: i32 = 200;

/// Publishes all committed batches; returns their number. Another publisher at work is no error: it does the same.
pub async fn publish(db: &Db) -> Result<u64, DbError> {
    let mut published = 0;
    while first_column(&db.client().await?.query_one(sql!("changes/has_unpublished.sql"), &[]).await?)? {
        match publish_some(db).await? {
            0 => break,
            some => published += some,
        }
    }
    Ok(published)
}

async fn publish_some(db: &Db) -> Result<u64, DbError> {
    let client = db.client().await?;
    let range = client.query_opt(sql!("changes/publish.sql"), &[&MAX_PUBLISHED]).await?;
    let Some(range) = range else { return Ok(0) };
    let (first, last): (i64, i64) = (range.try_get("first")?, range.try_get("last")?);
    Ok((last - first + 1).unsigned_abs())
}
