//! Ends one run: records its outcome, and moves its task to the next status.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, DbError, NewTask};
use crate::statements::{FromRow, first_column, named, rows, sql, storable, word};
use domain::task::{RecordedOutcome, TaskId, TaskLease};
use domain::vocabulary::Word;

/// Maximum bytes of a stored error.
const MAX_ERROR_BYTES: usize = 8192;
/// Fence of a task that has run once.
const FIRST_FENCE: i64 = 1;

/// Outcome of a run when it is settled; [`RecordedOutcome`] is its form in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    Completed,
    Cancelled,
    /// The task is retried while retries are left.
    Failed,
    /// The task fails, whatever retries are left.
    Permanent,
    Snoozed,
    Released,
}

impl AttemptOutcome {
    pub fn recorded(self) -> RecordedOutcome {
        match self {
            AttemptOutcome::Completed => RecordedOutcome::Completed,
            AttemptOutcome::Cancelled => RecordedOutcome::Cancelled,
            AttemptOutcome::Failed | AttemptOutcome::Permanent => RecordedOutcome::Failed,
            AttemptOutcome::Snoozed => RecordedOutcome::Snoozed,
            AttemptOutcome::Released => RecordedOutcome::Released,
        }
    }

    fn name(self) -> &'static str {
        match self {
            AttemptOutcome::Completed => "completed",
            AttemptOutcome::Cancelled => "cancelled",
            AttemptOutcome::Failed => "failed",
            AttemptOutcome::Permanent => "permanent",
            AttemptOutcome::Snoozed => "snoozed",
            AttemptOutcome::Released => "released",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Settlement {
    pub outcome: AttemptOutcome,
    pub result: Option<Value>,
    /// Text of the error, cut to [`MAX_ERROR_BYTES`].
    pub error_message: Option<String>,
    /// Time until a failed or snoozed task may run again.
    pub retry_after: Duration,
    /// Maximum time that a task may be snoozed in a row.
    pub snooze_limit: Duration,
    /// A snoozed task runs again when the breaker of this host closes, if that is earlier.
    pub waits_for_host: Option<String>,
    /// The attempt's detail: proxies, fingerprint, requests, blocks.
    pub detail: Value,
}

impl Settlement {
    /// A settlement without result and detail; a retry happens at once.
    pub fn new(outcome: AttemptOutcome, error_message: Option<String>) -> Self {
        Settlement {
            outcome,
            result: None,
            error_message,
            retry_after: Duration::ZERO,
            snooze_limit: Duration::from_secs(24 * 3600),
            waits_for_host: None,
            detail: Value::Null,
        }
    }

    /// The task becomes pending again, with its old time, and spends no retry.
    pub fn released(reason: &str) -> Self {
        Settlement::new(AttemptOutcome::Released, Some(reason.to_owned()))
    }

    fn to_json(&self) -> Value {
        // the database's text cannot hold a zero byte, which upstream's answers may contain
        let error = self.error_message.as_deref().map(|error| error.replace('\0', ""));
        json!({
            "outcome": self.outcome.name(),
            "result": self.result.as_ref().map(storable),
            "error": error.as_deref().map(|error| &error[..error.floor_char_boundary(MAX_ERROR_BYTES)]),
            "retry_after": self.retry_after.as_secs_f64(),
            "snooze_limit": self.snooze_limit.as_secs_f64(),
            "waits_for_host": self.waits_for_host,
            "detail": storable(&self.detail),
        })
    }
}

/// Ends one run; the last call of the transaction that holds its effects. Returns the task's new status.
/// `Missing`: the lease was lost, and the transaction must be rolled back.
pub async fn settle(client: &Client, lease: &TaskLease, settlement: &Settlement) -> Result<String, DbError> {
    let TaskLease { id, fence, worker_id: worker } = lease;
    let settlement = settlement.to_json();
    first_column(&named!(client.query_one("tasks/settle.sql", id, fence, worker, settlement)).await?)
}

/// Locks the row of a run that keeps its lease, until the end of the transaction: the last call of one that
/// writes before the run has ended. `Missing`: the lease was lost, and the transaction must be rolled back.
pub async fn lock_run(client: &Client, lease: &TaskLease) -> Result<(), DbError> {
    let sql = "SELECT FROM lock_run($1, $2, $3)";
    client.query_one(sql, &[&lease.id, &lease.fence, &lease.worker_id]).await.map(drop)
}

/// Completes a run like [`settle`] and starts `next`, a task of the same store, for the same worker. Returns
/// the lease of `next`, which is running then; None when it could not start, and waits like any other chained
/// task.
pub async fn complete_and_start(
    client: &Client,
    lease: &TaskLease,
    settlement: &Settlement,
    next: &NewTask,
    length: Duration,
) -> Result<Option<TaskLease>, DbError> {
    let spec = serde_json::to_value(next).map_err(|error| DbError::Other(error.to_string()))?;
    let row = named!(client.query_one(
        "tasks/complete_and_start.sql",
        id = lease.id,
        fence = lease.fence,
        worker = lease.worker_id,
        settlement = settlement.to_json(),
        next = spec,
        lease = length.as_secs_f64()
    ))
    .await?;
    let started: Option<TaskId> = first_column(&row)?;
    Ok(started.map(|id| TaskLease { id, fence: FIRST_FENCE, worker_id: lease.worker_id.clone() }))
}

/// An ended attempt in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedAttempt {
    pub outcome: Word<RecordedOutcome>,
    /// Status of the task after it.
    pub status: String,
}

impl EndedAttempt {
    /// Whether a settlement that is recorded as `outcome` may have ended it.
    pub fn matches(&self, outcome: RecordedOutcome) -> bool {
        self.outcome == Word::Known(outcome)
    }
}

rows! {
    EndedAttempt { outcome: word, status }
}

/// Outcome of a run, for a commit whose answer was lost. None: it is still open, or its task is gone.
pub async fn ended_attempt(client: &Client, lease: &TaskLease) -> Result<Option<EndedAttempt>, DbError> {
    let row = client.query_opt(sql!("tasks/ended_attempt.sql"), &[&lease.id, &lease.fence]).await?;
    row.as_ref().map(EndedAttempt::from_row).transpose()
}
