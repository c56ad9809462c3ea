//! Periodic work on the queue: sweeps, totals, pruning.
//!
//! Each may run in any number of processes. A sweep consists of several short transactions, each of which
//! waits at most 100 ms for a lock. The `…_unless_recent` forms return `None` and do nothing when some
//! process did the same within `every`, or does it now.

use std::time::Duration;

use tokio_postgres::types::ToSql;

use super::{Client, DbError};
use crate::statements::{first_column, named, sql};
use settings::Retention;

/// Number of stores or tasks in one transaction.
const BATCH: i32 = 1_000;
/// Maximum batches of one turn; the next turn does the rest.
const MAX_BATCHES: usize = 1_000;

/// Makes tasks ready that became due within the last `look_back`; returns their number.
pub async fn sweep_due(client: &Client, look_back: Duration) -> Result<i64, DbError> {
    let sql = "SELECT swept, last_store FROM sweep_due(make_interval(secs => $3), $1, $2)";
    sweep_by_store(client, sql, &[&look_back.as_secs_f64()]).await
}

/// Does everything that a sweep by time misses: rows written by hand, dependencies, missed wake-ups,
/// cancelled runs of dead processes, events that are in no notification, notifications without a sender. Returns the number
/// of tasks that became ready, no longer wait for other tasks, or were cancelled, and the number of runs that have stopped.
pub async fn sweep_all(client: &Client) -> Result<i64, DbError> {
    let mut swept = sweep_until_done(client, "SELECT sweep_stopping($1)").await?;
    swept += sweep_until_done(client, "SELECT sweep_blocked($1)").await?;
    swept += sweep_until_done(client, "SELECT sweep_storeless($1)").await?;
    swept += sweep_until_done(client, "SELECT gather_crawl_events($1)").await?;
    swept += sweep_until_done(client, "SELECT sweep_notifications($1)").await?;
    swept += sweep_by_store(client, "SELECT swept, last_store FROM sweep_stores($1, $2)", &[]).await?;
    Ok(swept)
}

/// Runs page by page over the stores: `$1` is the store before a page, `$2` the page's size, and then come
/// `more`.
async fn sweep_by_store(client: &Client, sql: &str, more: &[&(dyn ToSql + Sync)]) -> Result<i64, DbError> {
    let (mut swept, mut after) = (0, None::<i64>);
    for _ in 0..MAX_BATCHES {
        let page: [&(dyn ToSql + Sync); 2] = [&after, &BATCH];
        let row = client.query_one(sql, &[&page, more].concat()).await?;
        swept += row.try_get::<_, i64>(0)?;
        after = row.try_get(1)?;
        if after.is_none() {
            break;
        }
    }
    Ok(swept)
}

async fn sweep_until_done(client: &Client, sql: &str) -> Result<i64, DbError> {
    let mut swept = 0;
    for _ in 0..MAX_BATCHES {
        let batch: i64 = first_column(&client.query_one(sql, &[&BATCH]).await?)?;
        swept += batch;
        if batch < i64::from(BATCH) {
            break;
        }
    }
    Ok(swept)
}

/// [`sweep_due`], unless some process did it within `every`.
pub async fn sweep_due_unless_recent(
    client: &Client,
    look_back: Duration,
    every: Duration,
) -> Result<Option<u64>, DbError> {
    match take_turn(client, "sweep_due", every).await? {
        true => Ok(Some(count(sweep_due(client, look_back).await?))),
        false => Ok(None),
    }
}

/// [`sweep_all`], unless some process did it within `every`.
pub async fn sweep_all_unless_recent(client: &Client, every: Duration) -> Result<Option<u64>, DbError> {
    match take_turn(client, "sweep_all", every).await? {
        true => Ok(Some(count(sweep_all(client).await?))),
        false => Ok(None),
    }
}

fn count(swept: i64) -> u64 {
    u64::try_from(swept).unwrap_or(0)
}

/// [`refresh_totals`], unless some process did it within `every`.
pub async fn refresh_totals_unless_recent(client: &Client, every: Duration) -> Result<Option<u64>, DbError> {
    if take_turn(client, "totals", every).await? { Ok(Some(refresh_totals(client).await?)) } else { Ok(None) }
}

/// Whether this process shall do the chore now; records that it does (SQL `take_turn`). `every` is shortened
/// by a fifth, so that a slightly early tick is not refused.
pub(crate) async fn take_turn(client: &Client, chore: &str, every: Duration) -> Result<bool, DbError> {
    let seconds = every.as_secs_f64() * 0.8;
    first_column(&client.query_one("SELECT take_turn($1, make_interval(secs => $2))", &[&chore, &seconds]).await?)
}

/// Deletes one batch of ended tasks past their retention, with their attempts; returns their number.
pub async fn prune(client: &Client, retention: &Retention) -> Result<u64, DbError> {
    let Retention { completed, failed, completed_jobs, failed_jobs, prune_batch, .. } = retention;
    let [completed, failed, completed_jobs, failed_jobs] =
        [completed, failed, completed_jobs, failed_jobs].map(Duration::as_secs_f64);
    named!(client.execute("tasks/prune.sql", completed, failed, completed_jobs, failed_jobs, batch = prune_batch)).await
}

/// Counts ended tasks by role and status, which is too slow for a request.
pub async fn refresh_totals(client: &Client) -> Result<u64, DbError> {
    client.execute(sql!("tasks/refresh_totals.sql"), &[]).await
}
