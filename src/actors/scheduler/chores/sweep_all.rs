//! Makes tasks ready that a sweep by time cannot see: rows written by hand, dependencies, missed
//! wake-ups.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::tasks;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(config: &Config) -> Duration {
    config.queue.sweep_all
}

pub(super) async fn turn(Turn { db, interval, .. }: Turn<'_>) -> Changed {
    Ok(tasks::sweep_all_unless_recent(&db.client().await?, interval).await?)
}
