//! Counts ended tasks by role and status.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::tasks;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(30)
}

pub(super) async fn turn(Turn { db, interval, .. }: Turn<'_>) -> Changed {
    Ok(tasks::refresh_totals_unless_recent(&db.client().await?, interval).await?)
}
