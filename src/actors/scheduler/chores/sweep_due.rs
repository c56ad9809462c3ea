//! Makes tasks ready that became due.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::{Client, DbError, tasks};
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

/// Minimum time that a sweep looks back. The full sweep finds the rest.
const MIN_WINDOW: Duration = Duration::from_secs(30);

pub(super) fn interval(config: &Config) -> Duration {
    config.queue.sweep_due
}

pub(super) async fn turn(Turn { db, interval, .. }: Turn<'_>) -> Changed {
    Ok(sweep(&db.client().await?, interval).await?)
}

/// Looks back over several intervals, so that a late turn misses nothing. Returns how many tasks became ready.
pub(super) async fn sweep(client: &Client, interval: Duration) -> Result<Option<u64>, DbError> {
    tasks::sweep_due_unless_recent(client, MIN_WINDOW.max(3 * interval), interval).await
}
