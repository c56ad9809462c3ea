//! `worker_tasks` and `task_attempts` for actors, handlers and requests: enqueue, claim, renew, settle,
//! change, recover, sweep.
//!
//! The only module that writes a task's status. The writes of a run are fenced by (id, fence, worker): a lost
//! lease is [`DbError::Missing`] from [`settle()`], `false` from [`start`] and [`start_many`], and absent from
//! [`ClaimBatchResult::settled`]. The rules are SQL functions in `migrations/objects/` (`enqueue_tasks`,
//! `settle_and_claim`, `start_tasks`, `settle_task`, `await_children`, `complete_and_start`, `renew_tasks`, `cancel_task`, `retry_task`,
//! `delete_task`, `change_task`, `recover_tasks`, `sweep_…`).

mod changes;
mod children;
mod claims;
pub mod generation;
pub mod job_imports;
pub mod jobs;
mod leases;
pub mod operations;
pub mod overview;
pub mod pauses;
pub mod requests;
mod settle;
mod sweeps;
pub mod views;

use serde::Serialize;
use serde_json::Value;
use tokio_postgres::types::Type;

pub use self::changes::{ChangeError, cancel, change, delete, is_over, retry, run_stopped, waits_since};
pub use self::children::{AwaitedChild, await_children, chain, children_of};
pub use self::claims::{
    ClaimBatch, ClaimBatchResult, ClaimToken, ClaimedTask, Completion, claimed_with, settle_and_claim, start,
    start_many,
};
pub use self::leases::{
    flush_renewals, listen_for_cancels, lost, recover, recover_all, recover_held, recover_silent, release_unstarted,
    renew, waiting_leases,
};
pub use self::settle::{AttemptOutcome, EndedAttempt, Settlement, complete_and_start, ended_attempt, lock_run, settle};
pub(super) use self::sweeps::take_turn;
pub use self::sweeps::{
    prune, refresh_totals, refresh_totals_unless_recent, sweep_all, sweep_all_unless_recent, sweep_due,
    sweep_due_unless_recent,
};
use super::{Client, DbError};
use crate::statements::{first_column, named};
use domain::store::StoreId;
use domain::task::role::Role;
use domain::task::{TaskId, TaskLease};

/// Channel that announces new work.
pub const WAKE_CHANNEL: &str = "drover_tasks";

/// A task to be made; its fields have the names of the columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewTask {
    pub role: Role,
    pub dispensary_id: Option<StoreId>,
    pub platform: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    pub priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<chrono::DateTime<chrono::Utc>>,
    pub payload: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedup_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
}

impl NewTask {
    /// A task of this role at its default priority, without any other field.
    pub fn new(role: Role) -> Self {
        NewTask {
            role,
            dispensary_id: None,
            platform: None,
            account: None,
            priority: role.default_priority(),
            scheduled_for: None,
            payload: Value::Object(Default::default()),
            max_retries: None,
            dedup_key: None,
            depends_on: Vec::new(),
            parent_task_id: None,
        }
    }
}

/// Records the progress of a run, for display.
pub async fn note_progress(
    client: &Client,
    lease: &TaskLease,
    percent: Option<u8>,
    message: &str,
) -> Result<(), DbError> {
    let TaskLease { id, fence, worker_id } = lease;
    let percent = percent.map(|percent| i16::from(percent.min(100)));
    named!(client.execute("tasks/note_progress.sql", id, fence, worker_id, percent, message)).await?;
    Ok(())
}

/// Tasks to be made, in the form that the SQL functions take.
pub(super) fn specs(tasks: &[NewTask]) -> Result<Value, DbError> {
    serde_json::to_value(tasks).map_err(|error| DbError::Other(error.to_string()))
}

/// Inserts tasks in one statement and returns their ids in order. `Conflict` when a dedup key is queued
/// already: nothing is inserted.
pub async fn enqueue(client: &Client, tasks: &[NewTask]) -> Result<Vec<TaskId>, DbError> {
    // most runs chain nothing, and save the round trip
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let rows = client.query_typed("SELECT enqueue_tasks($1)", &[(&specs(tasks)?, Type::JSONB)]).await?;
    rows.first().map_or_else(|| Ok(Vec::new()), first_column)
}
