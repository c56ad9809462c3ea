//! Tasks that are asked for by API or command line: the checks that need the database, then the queue.

mod batch;

use thiserror::Error;

pub use self::batch::{MAX_BATCH_ITEMS, enqueue_batch};
use super::row::first_column;
use super::tasks::{self, NewTask};
use super::{Client, DbError, Tx, stores};
use crate::domain::store::{Platform, StoreId};
use crate::domain::task::TaskId;
use crate::domain::task_request::{BadField, CheckedRequest, TaskRequest};
use crate::events;

/// The holder of a conflicting key may end before it is looked up; then the insert is tried again.
const MAX_TRIES: usize = 3;

/// Why no task was made.
#[derive(Debug, Error)]
pub enum RequestError {
    #[error(transparent)]
    Bad(#[from] BadField),
    /// Something that the request names is not there.
    #[error("{field}: {what} does not exist")]
    Missing { field: &'static str, what: String },
    /// The same is queued or running already; `existing` does it.
    #[error("task {existing} with the key '{key}' is queued or running already")]
    Duplicate { existing: TaskId, key: String },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Checks the request and queues it. In a transaction, which goes on after a refusal.
pub async fn enqueue(tx: &Tx, request: TaskRequest) -> Result<TaskId, RequestError> {
    let mut request = request.check()?;
    if let Some(store) = request.dispensary_id {
        resolve_store(tx, store, &mut request).await?;
    }
    require_tasks(tx, &request.depends_on).await?;
    if !request.has_own_key() {
        refuse_open_task(tx, &request).await?;
    }
    let task = task_of(&request);
    for _ in 0..MAX_TRIES {
        tx.batch("SAVEPOINT request").await?;
        match tasks::enqueue(tx, std::slice::from_ref(&task)).await {
            Ok(ids) => return note_enqueued(&ids, &task),
            // the key was taken since it was looked up
            Err(DbError::Conflict { .. }) => {
                tx.batch("ROLLBACK TO SAVEPOINT request").await?;
                refuse_holder_of_key(tx, &task).await?;
            }
            Err(other) => return Err(other.into()),
        }
    }
    let text = format!("other tasks with the key '{}' are being queued and ended; try again", request.dedup_key());
    Err(DbError::Contention(text).into())
}

async fn resolve_store(client: &Client, id: StoreId, request: &mut CheckedRequest) -> Result<(), RequestError> {
    let store = stores::get(client, id).await?;
    let missing = || RequestError::Missing { field: "dispensary_id", what: format!("store {id}") };
    Ok(request.resolve_platform(store.ok_or_else(missing)?.platform)?)
}

async fn require_tasks(client: &Client, ids: &[TaskId]) -> Result<(), RequestError> {
    if ids.is_empty() {
        return Ok(());
    }
    match client.query_opt(include_str!("sql/task_requests/first_missing.sql"), &[&ids]).await? {
        None => Ok(()),
        Some(row) => {
            let id: TaskId = first_column(&row)?;
            Err(RequestError::Missing { field: "depends_on", what: format!("task {id}") })
        }
    }
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

fn note_enqueued(ids: &[TaskId], task: &NewTask) -> Result<TaskId, RequestError> {
    let id = ids.first().ok_or_else(|| DbError::Other("a task was queued without an id".to_owned()))?;
    events::tasks_enqueued(task.role, 1);
    Ok(*id)
}

/// Refuses the request when a task without a key (of a schedule, a chain, or written at psql) does the same work.
async fn refuse_open_task(client: &Client, request: &CheckedRequest) -> Result<(), RequestError> {
    let platform = request.platform.map(Platform::name);
    let payload_id = request.payload_id();
    let open = include_str!("sql/task_requests/open_task.sql");
    match client.query_opt(open, &[&request.role.name(), &request.dispensary_id, &platform, &payload_id]).await? {
        None => Ok(()),
        Some(row) => Err(RequestError::Duplicate { existing: first_column(&row)?, key: request.dedup_key() }),
    }
}

/// Ok when no task has the key any more: the caller tries again.
async fn refuse_holder_of_key(client: &Client, task: &NewTask) -> Result<(), RequestError> {
    let key = task.dedup_key.clone().unwrap_or_default();
    match client.query_opt(include_str!("sql/task_requests/holder_of_key.sql"), &[&key]).await? {
        None => Ok(()),
        Some(row) => Err(RequestError::Duplicate { existing: first_column(&row)?, key }),
    }
}
