//! Keeps the tables of a continuous demo small, however long it runs: a real drover keeps months.
//!
//! In: how long rows of real crawls are kept. The simulated history stays. It must not know when it runs.

use std::time::Duration;

use crate::statements::sql;
use crate::{Db, DbError};

/// Deletes older rows; returns their number.
pub async fn apply(db: &Db, keep: Duration) -> Result<u64, DbError> {
    let (client, seconds) = (db.maintenance_client().await?, keep.as_secs_f64());
    // options first: a snapshot that a crawl makes needless meanwhile must not outlive its options
    let mut deleted = client.execute(sql!("demo/limits/options.sql"), &[&seconds]).await?;
    deleted += client.execute(sql!("demo/limits/snapshots.sql"), &[&seconds]).await?;
    deleted += client.execute(sql!("demo/limits/runs_of_schedules.sql"), &[]).await?;
    deleted += client.execute(sql!("demo/limits/days.sql"), &[]).await?;
    deleted += client.execute(sql!("demo/limits/requests.sql"), &[]).await?;
    Ok(deleted)
}
