//! Tasks requested by API or command line. A request that is faulty, or queued already, gets its own answer
//! and does not stop the others.
//!
//! In: an open transaction and unchecked requests. Out: for each, in their order, its task, or the reason why
//! there is none.

use std::collections::HashSet;

use thiserror::Error;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::NewTask;
use crate::statements::{first_columns, sql};
use crate::{Client, DbError, MAX_BATCH, Tx, tasks};
use contract::checks::BadField;
use contract::task_requests::{CheckedRequest, TaskRequest};
use domain::store::StoreId;
use domain::task::TaskId;
use domain::task::role::Role;
use foundation::clock::Clock;
use telemetry::events;

/// Maximum number of requests of a batch; the caller refuses more.
pub const MAX_BATCH_ITEMS: usize = 10_000;

/// Options of a request whose work is queued already.
pub const DUPLICATE_HINT: &str =
    "a request with a higher priority raises a waiting task, and a request with its own dedup_key creates a second one";

/// Reason why no task was made.
#[derive(Debug, Error)]
pub enum RequestError {
    #[error(transparent)]
    Bad(#[from] BadField),
    /// The request names something that does not exist.
    #[error("{field}: {what} does not exist")]
    Missing { field: &'static str, what: String },
    /// An open task does the same work: `existing`.
    #[error("task {existing} with the key '{key}' is queued or running already; {DUPLICATE_HINT}")]
    Duplicate { existing: TaskId, key: String },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedTask {
    pub id: TaskId,
    /// An open task did the same work with a lower priority, and now has the priority of the request.
    pub raised: bool,
    pub role: Role,
    pub dispensary_id: Option<StoreId>,
    pub priority: i32,
}

type Answer = Result<QueuedTask, RequestError>;

/// Checks the request and queues it. The transaction stays usable after a refusal.
pub async fn enqueue(tx: &Tx, request: TaskRequest) -> Answer {
    let mut answers = enqueue_batch(tx, vec![request]).await?;
    answers.pop().ok_or_else(|| DbError::Other("a request has no answer".to_owned()))?
}

/// Queues the valid requests. An error of the whole comes from the database: then nothing is queued once the
/// transaction is rolled back.
pub async fn enqueue_batch(tx: &Tx, requests: Vec<TaskRequest>) -> Result<Vec<Answer>, DbError> {
    let now = Clock::system().utc();
    let checked: Vec<_> = requests.into_iter().map(|request| request.check(now)).collect();
    let good: Vec<&CheckedRequest> = checked.iter().flatten().collect();
    let mut answered = Vec::new();
    for part in good.chunks(MAX_BATCH) {
        answered.extend(request(tx, part).await?);
    }
    let mut answered = answered.into_iter();
    let answer_of = |request: Result<CheckedRequest, BadField>| match request {
        Ok(_) => answered.next().ok_or_else(|| DbError::Other("a request of the batch has no answer".to_owned())),
        Err(bad) => Ok(Err(bad.into())),
    };
    checked.into_iter().map(answer_of).collect()
}

/// The tasks among these that do not exist.
pub(crate) async fn missing(client: &Client, ids: &[TaskId]) -> Result<HashSet<TaskId>, DbError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = client.query(sql!("tasks/requests/missing.sql"), &[&ids]).await?;
    Ok(first_columns(&rows)?.into_iter().collect())
}

async fn request(tx: &Tx, requests: &[&CheckedRequest]) -> Result<Vec<Answer>, DbError> {
    let new: Vec<NewTask> = requests.iter().map(|request| task_of(request)).collect();
    let works: Vec<String> = requests.iter().map(|request| request.default_key()).collect();
    let sql = sql!("tasks/requests/request.sql");
    let rows = tx.query_typed(sql, &[(&tasks::specs(&new)?, Type::JSONB), (&works, Type::TEXT_ARRAY)]).await?;
    requests.iter().zip(&rows).map(|(request, row)| answer(request, row)).collect()
}

fn answer(request: &CheckedRequest, row: &Row) -> Result<Answer, DbError> {
    let CheckedRequest { role, dispensary_id, priority, .. } = *request;
    let (outcome, task, other): (&str, Option<TaskId>, Option<&str>) =
        (row.try_get("outcome")?, row.try_get("task_id")?, row.try_get("other")?);
    let queued = |id, raised| Ok(QueuedTask { id, raised, role, dispensary_id, priority });
    Ok(match (outcome, task) {
        ("made", Some(id)) => {
            events::tasks_enqueued(role, 1);
            queued(id, false)
        }
        ("raised", Some(id)) => queued(id, true),
        ("twin", Some(existing)) => Err(RequestError::Duplicate { existing, key: request.dedup_key() }),
        ("no_store", _) => {
            let what = format!("store {}", dispensary_id.unwrap_or_default());
            Err(RequestError::Missing { field: "dispensary_id", what })
        }
        ("platform", _) => {
            let fault = format!("the store's platform is {}", other.unwrap_or_default());
            Err(RequestError::Bad(BadField { field: "platform", fault }))
        }
        ("no_task", _) => {
            let what = format!("task {}", other.unwrap_or_default());
            Err(RequestError::Missing { field: "depends_on", what })
        }
        (unknown, _) => return Err(DbError::Other(format!("a request came to '{unknown}'"))),
    })
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
