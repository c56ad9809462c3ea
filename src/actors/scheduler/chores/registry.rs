//! Marks silent workers offline and removes old ones.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::workers;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

/// Interval that is short enough: with the scheduler's own, a silent worker is offline within 5 s.
pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(4)
}

pub(super) async fn turn(Turn { db, .. }: Turn<'_>) -> Changed {
    Ok(Some(workers::sweep(&db.client().await?).await?))
}
