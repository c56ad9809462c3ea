//! The end of a finished run: the handler's writes, its follow-ups and the fenced change of the task's status, in one transaction.
//!
//! In: an open transaction, the claimed task and what its handler returned. Out: [`Committed`], or why it is not. `actors/settle`, the
//! handlers' tests and the benchmark end their runs here. It decides nothing about retries.

use serde_json::Value;

use super::outcome::{Done, FollowUp, Written};
use crate::db::tasks::{self, AttemptOutcome, ClaimedTask, NewTask, Settlement};
use crate::db::{DbError, Tx};
use crate::events::DataWritten;

/// What a run has written.
#[derive(Debug)]
pub struct Committed {
    /// The task's result, with the fields that the writes added.
    pub result: Value,
    /// The follow-ups, which are tasks now.
    pub next: Vec<FollowUp>,
    /// What was written, for the metrics.
    pub data: Option<DataWritten>,
}

#[derive(Debug)]
pub enum CommitError {
    /// The task belongs to another run, or to none: nothing was written, and nothing of this run can be.
    LeaseLost,
    /// Nothing was written.
    RolledBack(DbError),
    /// COMMIT was sent and its answer did not come. Look the attempt up before trying again.
    Unknown(DbError, Committed),
}

/// Commits a finished run. `detail` is the attempt's. After [`CommitError::RolledBack`] it may be called again, with a new
/// transaction.
pub async fn commit(tx: Tx, task: &ClaimedTask, done: &Done, detail: &Value) -> Result<Committed, CommitError> {
    let committed = write(&tx, task, done).await.map_err(CommitError::RolledBack)?;
    let settlement = Settlement {
        result: Some(committed.result.clone()),
        detail: detail.clone(),
        ..Settlement::new(AttemptOutcome::Completed, None)
    };
    tasks::settle(&tx, &task.lease, &settlement).await.map_err(|error| match error {
        DbError::Missing(_) => CommitError::LeaseLost,
        error => CommitError::RolledBack(error),
    })?;
    fail::fail_point!("execute.before_commit");
    match tx.commit().await {
        Ok(()) => Ok(committed),
        Err(error) => Err(CommitError::Unknown(error, committed)),
    }
}

async fn write(tx: &Tx, task: &ClaimedTask, done: &Done) -> Result<Committed, DbError> {
    let Written { result: additions, next, data } = match &done.write {
        Some(write) => write.run(tx).await?,
        None => Written::default(),
    };
    let mut result = done.result.clone();
    if let Value::Object(fields) = &mut result {
        fields.extend(additions);
    }
    let next: Vec<FollowUp> = done.next.iter().cloned().chain(next).collect();
    let new_tasks: Vec<NewTask> = next.iter().map(|follow_up| new_task(task, follow_up)).collect();
    tasks::enqueue(tx, &new_tasks).await?;
    Ok(Committed { result, next, data })
}

fn new_task(parent: &ClaimedTask, follow_up: &FollowUp) -> NewTask {
    let platform = follow_up.platform.map(|platform| platform.name().to_owned());
    NewTask {
        dispensary_id: follow_up.dispensary_id,
        platform: platform.or_else(|| parent.platform.clone()),
        // one above its parent: a fetched menu becomes products before more menus are fetched
        priority: follow_up.priority.unwrap_or(parent.priority.saturating_add(1)),
        payload: follow_up.args.clone(),
        parent_task_id: Some(parent.lease.id),
        ..NewTask::new(follow_up.role)
    }
}
