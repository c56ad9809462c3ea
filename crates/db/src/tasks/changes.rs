//! Changes of tasks by request: cancel, retry, delete, change. Each is one SQL function
//! (`migrations/objects/42_requests.sql`), also for use in psql, and moves the store's reservation in its own
//! transaction.
//!
//! In: a client or a transaction, such as the one that writes the audit. Out: the former status of the task,
//! or the reason why nothing was changed.

use chrono::{DateTime, Utc};
use thiserror::Error;
use tokio_postgres::Row;

use super::{Client, DbError};
use crate::statements::{first_column, sql};
use contract::checks::BadField;
use contract::task_changes::TaskChange;
use domain::task::{Status, TaskId, TaskLease};
use domain::vocabulary::Word;
use foundation::clock::Clock;

/// Reason why a task was not changed.
#[derive(Debug, Error)]
pub enum ChangeError {
    #[error(transparent)]
    Bad(#[from] BadField),
    #[error("task {0} does not exist")]
    Missing(TaskId),
    /// `rule`: which tasks allow the change.
    #[error("task {id} is {status}; {rule}")]
    Status { id: TaskId, status: Word<Status>, rule: &'static str },
    #[error("task {existing} does the same and is queued or running already")]
    Duplicate { id: TaskId, existing: TaskId },
    #[error("task {dependent} waits for task {id}; cancel or delete that one first")]
    Depended { id: TaskId, dependent: TaskId },
    /// The version is not the one that the request expected.
    #[error("task {id} was changed since it was read; read it again")]
    Changed { id: TaskId },
    #[error(transparent)]
    Db(DbError),
}

/// Cancels a task that has not ended; a cancelled one stays as it is. The body of an active task stops at its
/// worker's next renewal, and its store stays reserved until then. Returns the former status.
pub async fn cancel(client: &Client, id: TaskId) -> Result<Word<Status>, ChangeError> {
    let sql = "SELECT was, refusal, NULL::bigint AS other FROM cancel_task($1)";
    status_of(id, client.query_one(sql, &[&id]).await, "only a task that has not ended can be cancelled")
}

/// Records that the body of a run with a lost lease has stopped. True: its task was cancelled, and its store
/// is free now.
pub async fn run_stopped(client: &Client, lease: &TaskLease) -> Result<bool, DbError> {
    let sql = "SELECT run_stopped($1, $2, $3)";
    first_column(&client.query_one(sql, &[&lease.id, &lease.fence, &lease.worker_id]).await?)
}

/// Whether no run of the task is to come: it has ended, or is removed.
pub async fn is_over(client: &Client, id: TaskId) -> Result<bool, DbError> {
    first_column(&client.query_one(sql!("tasks/is_over.sql"), &[&id]).await?)
}

/// Begin of the run that was the first to end with a wait; None: the task has not waited since it last began.
pub async fn waits_since(client: &Client, id: TaskId) -> Result<Option<DateTime<Utc>>, DbError> {
    first_column(&client.query_one(sql!("tasks/waits_since.sql"), &[&id]).await?)
}

/// Puts a failed or cancelled task back to pending with all of its retries; its runs stay as history. Returns
/// the former status.
pub async fn retry(client: &Client, id: TaskId) -> Result<Word<Status>, ChangeError> {
    let sql = "SELECT was, refusal, other FROM retry_task($1)";
    status_of(
        id,
        client.query_one(sql, &[&id]).await,
        "only a failed or cancelled task can be retried, and a pending one runs sooner with another time (`drover tasks set ID --now`)",
    )
}

/// Deletes a task that no worker holds, with its runs. Returns the former status.
pub async fn delete(client: &Client, id: TaskId) -> Result<Word<Status>, ChangeError> {
    let sql = "SELECT was, refusal, other FROM delete_task($1)";
    status_of(id, client.query_one(sql, &[&id]).await, "cancel it, or wait for its end, before it can be deleted")
}

/// Changes the priority or the time of a pending task. `expected`: changes only the version with this
/// `updated_at`, which each change of a task moves (a heartbeat does not).
pub async fn change(
    client: &Client,
    id: TaskId,
    change: &TaskChange,
    expected: Option<DateTime<Utc>>,
) -> Result<(), ChangeError> {
    change.check(Clock::system().utc())?;
    let sql = "SELECT was, refusal, NULL::bigint AS other FROM change_task($1, $2, $3)";
    let change = serde_json::to_value(change).map_err(|error| DbError::Other(error.to_string()))?;
    let answer = client.query_one(sql, &[&id, &change, &expected]).await;
    status_of(id, answer, "only a pending task can be changed").map(drop)
}

/// Reads the answer of one of the functions.
fn status_of(id: TaskId, answer: Result<Row, DbError>, rule: &'static str) -> Result<Word<Status>, ChangeError> {
    let row = answer.map_err(|error| match error {
        DbError::Missing(_) => ChangeError::Missing(id),
        other => ChangeError::Db(other),
    })?;
    let status = Word::from(row.try_get::<_, String>("was")?);
    let other: Option<TaskId> = row.try_get("other")?;
    match (row.try_get("refusal")?, other) {
        (None, _) => Ok(status),
        (Some("status"), _) => Err(ChangeError::Status { id, status, rule }),
        (Some("version"), _) => Err(ChangeError::Changed { id }),
        (Some("twin"), Some(existing)) => Err(ChangeError::Duplicate { id, existing }),
        (Some("twin"), None) => Err(DbError::Contention(format!("a twin of task {id} has just ended")).into()),
        (Some("depended"), Some(dependent)) => Err(ChangeError::Depended { id, dependent }),
        (Some(refusal), _) => Err(DbError::Other(format!("task {id} was not changed: {refusal}")).into()),
    }
}

impl From<DbError> for ChangeError {
    fn from(error: DbError) -> Self {
        ChangeError::Db(error)
    }
}

impl From<tokio_postgres::Error> for ChangeError {
    fn from(error: tokio_postgres::Error) -> Self {
        ChangeError::Db(error.into())
    }
}
