//! Puts back tasks past their lease.

use std::time::Duration;

use super::{Changed, Scope, Turn, sweep_due};
use db::{Db, DbError, tasks};
use settings::Config;
use telemetry::events;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(config: &Config) -> Duration {
    config.queue.recovery_tick
}

pub(super) async fn turn(Turn { config, db, .. }: Turn<'_>) -> Changed {
    Ok(Some(recover(db, config).await?))
}

/// Puts back tasks past their lease; returns how many.
pub async fn recover(db: &Db, config: &Config) -> Result<u64, DbError> {
    let client = db.client().await?;
    sweep_due::sweep(&client, config.queue.sweep_due).await?;
    let recovered = tasks::recover(&client, None).await?;
    let (requeued, failed) = (recovered.requeued as u64, recovered.failed as u64);
    events::tasks_recovered(requeued, failed);
    Ok(requeued + failed)
}
