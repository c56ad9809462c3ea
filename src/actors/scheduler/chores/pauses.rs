//! Ends pauses whose time is over.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::tasks;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

/// A pause that is over ends within a second.
pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_millis(500)
}

pub(super) async fn turn(Turn { db, .. }: Turn<'_>) -> Changed {
    Ok(Some(tasks::pauses::sweep(&db.client().await?).await?))
}
