//! Brings the jobs of an older queue over, each once: `imported_jobs` knows them by their source and old ids.
//!
//! In: checked jobs. Out: the task of each.

use serde_json::{Value, json};

use crate::statements::{read_all, reason, rows, sql, storable};
use crate::{DbError, Tx};
use contract::job_imports::OldJob;
use domain::task::TaskId;

/// A job of the older queue, with its task here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedRow {
    pub old_id: i64,
    /// None: an earlier import of this source had another job with this id.
    pub task: Option<TaskId>,
    /// Whether it was made now. If not, an earlier import made it, or an open job does the same.
    pub is_new: bool,
}

/// `Conflict` or `Contention` when another transaction imports one of them now.
pub async fn import(tx: &Tx, source: &str, jobs: &[OldJob]) -> Result<Vec<ImportedRow>, DbError> {
    let document: Value = jobs.iter().map(document).collect();
    let sql = sql!("tasks/job_imports/import.sql");
    read_all(&tx.query(sql, &[&source, &document]).await?)
}

fn document(OldJob { old_id, created_at, retry_count, job, end }: &OldJob) -> Value {
    json!({
        "old_id": old_id,
        "made_at": created_at,
        "job_type": job.role.name(),
        "platform": job.platform,
        "account": job.account,
        "priority": job.priority,
        "payload": storable(&job.payload),
        "scheduled_for": job.scheduled_for,
        "max_retries": job.max_retries,
        "retry_count": retry_count,
        "ended_as": end.as_ref().map(|end| end.status.name()),
        "started_at": end.as_ref().and_then(|end| end.started_at),
        "completed_at": end.as_ref().and_then(|end| end.completed_at),
        "error_message": end.as_ref().and_then(|end| end.error_message.as_deref().map(reason)),
    })
}

rows! { ImportedRow { old_id, task, is_new } }
