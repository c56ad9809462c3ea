//! Deletes data older than `[retention]` keeps: ended tasks, notifications, runs of schedules, operations, counts
//! by minute and day, the audit, kept answers, batches of changes.
//!
//! Batches of a bounded size, each on a connection of its own: other work goes first.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::{Client, Db, DbError, access, changes, counts, notifications, retention_runs, schedules, tasks};
use domain::retention::RetentionKind;
use settings::{Config, Retention};

pub(super) const SCOPE: Scope = Scope::EveryProcess;
/// Maximum number of batches of one table and turn.
const MAX_BATCHES: usize = 1_000;

pub(super) fn interval(config: &Config) -> Duration {
    config.retention.prune_every
}

pub(super) async fn turn(Turn { config, db, .. }: Turn<'_>) -> Changed {
    let removed = prune(db, &config.retention).await?;
    retention_runs::note(&db.client().await?, RetentionKind::EndedWork, removed).await?;
    Ok(Some(removed))
}

/// How many rows were deleted.
async fn prune(db: &Db, retention: &Retention) -> Result<u64, DbError> {
    let Retention { completed_jobs, failed_jobs, stats, audit, changes: age, prune_batch: batch, .. } = *retention;
    let mut pruned = schedules::prune(&db.client().await?).await?;
    pruned += tasks::operations::prune(&db.client().await?, retention.failed).await?;
    pruned += in_batches(db, batch, |client: Client| async move { tasks::prune(&client, retention).await }).await?;
    let ended = |client: Client| async move { notifications::prune(&client, completed_jobs, failed_jobs, batch).await };
    pruned += in_batches(db, batch, ended).await?;
    pruned +=
        in_batches(db, batch, |client: Client| async move { counts::stats_minute::prune(&client, stats, batch).await })
            .await?;
    pruned +=
        in_batches(db, batch, |client: Client| async move { counts::fetch_minute::prune(&client, stats, batch).await })
            .await?;
    pruned +=
        in_batches(
            db,
            batch,
            |client: Client| async move { counts::fetch_store_day::prune(&client, stats, batch).await },
        )
        .await?;
    pruned +=
        in_batches(db, batch, |client: Client| async move { access::audit_log::prune(&client, audit, batch).await })
            .await?;
    pruned +=
        in_batches(db, batch, |client: Client| async move { access::idempotency_keys::prune(&client, batch).await })
            .await?;
    pruned += in_batches(db, batch, |client: Client| async move { changes::prune(&client, age, batch).await }).await?;
    pruned +=
        in_batches(db, batch, |client: Client| async move { changes::rules::prune(&client, batch).await }).await?;
    Ok(pruned)
}

/// Calls `delete` until it deletes less than a batch; returns how many rows went.
async fn in_batches<F: Future<Output = Result<u64, DbError>>>(
    db: &Db,
    batch: i64,
    delete: impl Fn(Client) -> F,
) -> Result<u64, DbError> {
    let mut deleted = 0;
    for _ in 0..MAX_BATCHES {
        let removed = delete(db.client().await?).await?;
        deleted += removed;
        if removed < batch as u64 {
            break;
        }
    }
    Ok(deleted)
}
