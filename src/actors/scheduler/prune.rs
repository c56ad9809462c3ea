//! Removes data older than `[retention]` keeps: ended tasks, notifications, runs of schedules, operations, counts by minute
//! and day, the audit, kept answers.
//!
//! In: the ages. Out: how many rows went. Batches of a bounded size, each on a connection of its own: other
//! work goes first.

use db::{
    Client, Db, DbError, audit_log, fetch_minute, fetch_store_day, idempotency_keys, notifications, operations,
    schedules, stats_minute, tasks,
};
use settings::Retention;

/// Maximum batches of one kind and turn.
const MAX_BATCHES: usize = 1_000;

/// Rows that are deleted in batches.
#[derive(Clone, Copy)]
enum Kind {
    EndedTasks,
    Notifications,
    Stats,
    Fetches,
    StoreFetches,
    Audit,
    KeptAnswers,
}

const KINDS: [Kind; 7] = [
    Kind::EndedTasks,
    Kind::Notifications,
    Kind::Stats,
    Kind::Fetches,
    Kind::StoreFetches,
    Kind::Audit,
    Kind::KeptAnswers,
];

/// How many rows were deleted.
pub async fn prune(db: &Db, retention: &Retention) -> Result<u64, DbError> {
    let mut pruned = schedules::prune(&db.client().await?).await?;
    pruned += operations::prune(&db.client().await?, retention.failed).await?;
    for kind in KINDS {
        pruned += kind.prune(db, retention).await?;
    }
    Ok(pruned)
}

impl Kind {
    async fn prune(self, db: &Db, retention: &Retention) -> Result<u64, DbError> {
        let mut pruned = 0;
        for _ in 0..MAX_BATCHES {
            let removed = self.prune_batch(&db.client().await?, retention).await?;
            pruned += removed;
            if removed < retention.prune_batch as u64 {
                break;
            }
        }
        Ok(pruned)
    }

    async fn prune_batch(self, client: &Client, retention: &Retention) -> Result<u64, DbError> {
        let Retention { completed_jobs, failed_jobs, stats, audit, prune_batch: batch, .. } = *retention;
        match self {
            Kind::EndedTasks => tasks::prune(client, retention).await,
            Kind::Notifications => notifications::prune(client, completed_jobs, failed_jobs, batch).await,
            Kind::Stats => stats_minute::prune(client, stats, batch).await,
            Kind::Fetches => fetch_minute::prune(client, stats, batch).await,
            Kind::StoreFetches => fetch_store_day::prune(client, stats, batch).await,
            Kind::Audit => audit_log::prune(client, audit, batch).await,
            Kind::KeptAnswers => idempotency_keys::prune(client, batch).await,
        }
    }
}
