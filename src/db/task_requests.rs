//! Tasks that are asked for by API or command line: the checks that need the database, then the queue.

mod batch;

use std::collections::HashSet;

use thiserror::Error;

pub use self::batch::{MAX_BATCH_ITEMS, enqueue_batch};
use super::row::first_columns;
use super::tasks::NewTask;
use super::{Client, DbError, Tx};
use crate::domain::role::Role;
use crate::domain::store::StoreId;
use crate::domain::task::TaskId;
use crate::domain::task_request::{BadField, CheckedRequest, TaskRequest};

/// What a request that meets its twin can do.
pub const WAYS_OUT: &str =
    "a request with a higher priority raises one that waits, and one with a dedup_key of its own makes a second task";

/// Why no task was made.
#[derive(Debug, Error)]
pub enum RequestError {
    #[error(transparent)]
    Bad(#[from] BadField),
    /// Something that the request names is not there.
    #[error("{field}: {what} does not exist")]
    Missing { field: &'static str, what: String },
    /// The same is queued or running already; `existing` does it.
    #[error("task {existing} with the key '{key}' is queued or running already; {WAYS_OUT}")]
    Duplicate { existing: TaskId, key: String },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// What a request came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    pub id: TaskId,
    /// It waited already, less urgent, and is as urgent as the request now.
    pub raised: bool,
    pub role: Role,
    pub dispensary_id: Option<StoreId>,
    pub priority: i32,
}

/// Checks the request and queues it. In a transaction, which goes on after a refusal.
pub async fn enqueue(tx: &Tx, request: TaskRequest) -> Result<Queued, RequestError> {
    let mut answers = enqueue_batch(tx, vec![request]).await?;
    answers.pop().ok_or_else(|| DbError::Other("a request has no answer".to_owned()))?
}

/// Which of these tasks do not exist.
pub(super) async fn missing(client: &Client, ids: &[TaskId]) -> Result<HashSet<TaskId>, DbError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = client.query(include_str!("sql/task_requests/missing.sql"), &[&ids]).await?;
    Ok(first_columns(&rows)?.into_iter().collect())
}

fn task_of(request: &CheckedRequest) -> NewTask {
    NewTask {
        dispensary_id: request.dispensary_id,
        platform: request.platform.map(|platform| platform.name().to_owned()),
        priority: request.priority,
        scheduled_for: request.scheduled_for,
        payload: request.payload.clone(),
        max_retries: request.max_retries,
        dedup_key: Some(request.dedup_key()),
        depends_on: request.depends_on.clone(),
        ..NewTask::new(request.role)
    }
}
