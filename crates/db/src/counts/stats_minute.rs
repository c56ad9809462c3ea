//! `stats_minute`: ended runs by minute, role and outcome, counted from the rows of tasks some time later.
//!
//! Each turn counts a minute again until no further end in it can become visible; then the minute is closed.
//! One process counts at a time. After a pause it catches up, some minutes in each transaction.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::statements::sql;
use crate::tasks::take_turn;
use crate::{Client, Db, DbError};

/// Time whose minutes one transaction counts.
const WINDOW: Duration = Duration::from_secs(600);
/// Maximum windows of one turn; the next turn does the rest.
const MAX_WINDOWS: usize = 200;

/// Parameters of [`count`].
#[derive(Clone, Copy, Debug)]
pub struct StatsTurn {
    /// A turn is skipped when some process had one within this time.
    pub every: Duration,
    /// Maximum time from a run's end until it is visible: the maximum duration of its transaction, and some
    /// more.
    pub grace: Duration,
    /// Age at which the first count begins.
    pub keep: Duration,
}

/// Counts the runs that ended since the last closed minute. Returns the number of closed minutes; None when
/// another process counts.
pub async fn count(db: &Db, turn: StatsTurn) -> Result<Option<u64>, DbError> {
    let client = db.client().await?;
    if !take_turn(&client, "stats", turn.every).await? {
        return Ok(None);
    }
    client.execute(sql!("counts/stats_minute/begin.sql"), &[&turn.keep.as_secs_f64()]).await?;
    drop(client);
    let mut closed = 0;
    for _ in 0..MAX_WINDOWS {
        let Some(window) = count_window(db, turn.grace).await? else { return Ok(None) };
        closed += (window.closed_until - window.from).num_minutes().unsigned_abs();
        if window.is_last {
            break;
        }
    }
    Ok(Some(closed))
}

/// Removes at most `batch` rows that are older than `keep`; returns their number.
pub async fn prune(client: &Client, keep: Duration, batch: i64) -> Result<u64, DbError> {
    client.execute(sql!("counts/stats_minute/prune.sql"), &[&keep.as_secs_f64(), &batch]).await
}

struct Window {
    from: DateTime<Utc>,
    closed_until: DateTime<Utc>,
    is_last: bool,
}

async fn count_window(db: &Db, grace: Duration) -> Result<Option<Window>, DbError> {
    let tx = db.begin().await?;
    let length = WINDOW.max(2 * grace).as_secs_f64();
    let locked = tx.query_opt(sql!("counts/stats_minute/lock.sql"), &[&length, &grace.as_secs_f64()]).await?;
    let Some(row) = locked else { return Ok(None) };
    let (from, to): (DateTime<Utc>, DateTime<Utc>) = (row.try_get("from_minute")?, row.try_get("to_minute")?);
    let window = Window { from, closed_until: row.try_get("closed_until")?, is_last: row.try_get("is_last")? };
    tx.execute(sql!("counts/stats_minute/forget.sql"), &[&from]).await?;
    tx.execute(sql!("counts/stats_minute/count.sql"), &[&from, &to]).await?;
    tx.execute(sql!("counts/stats_minute/close.sql"), &[&window.closed_until]).await?;
    tx.commit().await?;
    Ok(Some(window))
}
