//! Publication of batches: each committed one gets the next number of the feed.
//!
//! Any process may publish, one at a time: a publisher holds the lock of the feed's row, and whoever finds it locked
//! leaves the work to its holder. A publisher that is killed leaves nothing behind.

use crate::statements::{first_column, sql};
use crate::{Db, DbError};

/// Maximum number of batches that one transaction publishes.
const MAX_PUBLISHED: i32 = 200;

/// Publishes all committed batches; returns their number. While another publisher is at work, it leaves them to it.
pub async fn publish(db: &Db) -> Result<u64, DbError> {
    let mut published = 0;
    while first_column(&db.client().await?.query_one(sql!("changes/has_unpublished.sql"), &[]).await?)? {
        let row = db.client().await?.query_one(sql!("changes/publish.sql"), &[&MAX_PUBLISHED]).await?;
        match first_column::<i64>(&row)?.unsigned_abs() {
            0 => break,
            some => published += some,
        }
    }
    Ok(published)
}
