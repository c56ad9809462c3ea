//! Indexes built while the queue works, by `CREATE INDEX CONCURRENTLY`, which no migration's transaction can
//! hold; built in one, an index of millions of tasks would stop the queue. Without these indexes everything
//! works, but slowly.
//!
//! In: the pools. Out: the number of indexes built. One process builds at a time. A process that dies leaves
//! an invalid index, which is replaced.

use super::row::first_column;
use super::{Client, Db, DbError};

/// Session advisory lock held while building indexes.
const LOCK: i64 = 7345;
/// Each build waits for the transactions that are open when it begins. Longer ones are a person's, and the
/// next turn tries again.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '60s'";

/// Built only where the server has trigrams (migrations/0006_product_search.sql).
const ERROR_TRIGRAMS: &str = "worker_tasks_error_trigrams";

const INDEXES: [(&str, &str); 10] = [
    ("past_attempts_finished", include_str!("sql/indexes/past_attempts_finished.sql")),
    ("worker_tasks_with_error", include_str!("sql/indexes/worker_tasks_with_error.sql")),
    (ERROR_TRIGRAMS, include_str!("sql/indexes/worker_tasks_error_trigrams.sql")),
    ("worker_tasks_retried", include_str!("sql/indexes/worker_tasks_retried.sql")),
    ("worker_tasks_ended_store", include_str!("sql/indexes/worker_tasks_ended_store.sql")),
    ("worker_tasks_ended_role", include_str!("sql/indexes/worker_tasks_ended_role.sql")),
    ("worker_tasks_ended_worker", include_str!("sql/indexes/worker_tasks_ended_worker.sql")),
    ("worker_tasks_ended_schedule", include_str!("sql/indexes/worker_tasks_ended_schedule.sql")),
    ("worker_tasks_ended_platform", include_str!("sql/indexes/worker_tasks_ended_platform.sql")),
    ("worker_tasks_jobs", include_str!("sql/indexes/worker_tasks_jobs.sql")),
];

/// Builds missing indexes; None when another process is building.
pub async fn ensure(db: &Db) -> Result<Option<u64>, DbError> {
    if missing(&db.client().await?).await?.is_empty() {
        return Ok(Some(0));
    }
    // closed at the end, which releases the lock
    let client = db.maintenance_client().await?;
    if !first_column::<bool>(&client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?)? {
        return Ok(None);
    }
    client.batch(LOCK_TIMEOUT).await?;
    let mut made = 0;
    for (name, is_broken) in missing(&client).await? {
        let Some((_, create)) = INDEXES.iter().find(|(known, _)| *known == name) else { continue };
        if is_broken {
            client.batch(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}")).await?;
        }
        client.batch(create).await?;
        made += 1;
    }
    Ok(Some(made))
}

/// Name, and whether an invalid part of it exists.
async fn missing(client: &Client) -> Result<Vec<(String, bool)>, DbError> {
    let names: Vec<&str> = INDEXES.iter().map(|(name, _)| *name).collect();
    let rows = client.query(include_str!("sql/indexes/missing.sql"), &[&names, &ERROR_TRIGRAMS]).await?;
    rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get("is_broken")?))).collect()
}
