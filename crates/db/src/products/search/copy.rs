//! Copies the search data of products: names, words, prices and stock. Store by store, some time after their
//! crawls.

use std::time::{Duration, Instant};

use crate::statements::{first_column, first_columns, sql};
use crate::tasks::take_turn;
use crate::{Client, Db, DbError};
use domain::store::StoreId;

/// Stores whose products are copied before the waiting stores are read again.
const BATCH: i64 = 100;
/// Maximum new words of one store, and of all.
const MAX_WORDS_OF_STORE: i64 = 20_000;
const MAX_WORDS: i64 = 200_000;
/// Interval of counts: counting a million names takes seconds.
const COUNT_INTERVAL: Duration = Duration::from_secs(3600);

/// Copies the products of stores that were crawled since, store by store, until none waits or the time is up;
/// returns the number of changed names.
pub async fn copy_names(db: &Db, time: Duration) -> Result<u64, DbError> {
    let begun = Instant::now();
    let mut copied = 0;
    loop {
        let waiting = db.client().await?.query(sql!("products/search/waiting.sql"), &[&BATCH]).await?;
        if waiting.is_empty() {
            return Ok(copied);
        }
        let client = db.maintenance_client().await?;
        for store in first_columns::<StoreId>(&waiting)? {
            copied += copy_store(&client, store).await?;
            if begun.elapsed() >= time {
                return Ok(copied);
            }
        }
    }
}

/// [`copy_names`] and its maintenance, unless some process did it within `every`.
pub async fn copy_names_unless_recent(db: &Db, time: Duration, every: Duration) -> Result<Option<u64>, DbError> {
    if !take_turn(&db.client().await?, "search", every).await? {
        return Ok(None);
    }
    forget_gone(&db.client().await?).await?;
    let copied = copy_names(db, time).await?;
    if take_turn(&db.client().await?, "search_words", COUNT_INTERVAL).await? {
        count_words(&db.maintenance_client().await?).await?;
    }
    Ok(Some(copied))
}

/// Counts the words of all names, and deletes words without names; returns the number of changed counts.
pub async fn count_words(client: &Client) -> Result<u64, DbError> {
    let row = client.query_one(sql!("products/search/count_words.sql"), &[&MAX_WORDS]).await?;
    first_column::<i64>(&row).map(i64::unsigned_abs)
}

/// Deletes the copies of products whose stores were deleted.
pub async fn forget_gone(client: &Client) -> Result<(), DbError> {
    client.execute(sql!("products/search/forget_gone.sql"), &[]).await?;
    Ok(())
}

async fn copy_store(client: &Client, store: StoreId) -> Result<u64, DbError> {
    let sql = sql!("products/search/copy_store.sql");
    let row = client.query_one(sql, &[&store, &MAX_WORDS_OF_STORE]).await?;
    first_column::<i64>(&row).map(i64::unsigned_abs)
}
