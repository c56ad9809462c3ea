//! `/api/job-queue`: the queue as its picture shows it, and tasks made by request: one, many, or one for each
//! store of a state.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;
use serde_json::value::RawValue;

use super::body::{self, BatchBody, Body};
use super::tasks::make;
use super::{ApiError, ApiState, Caller, Changes, Operator, Viewer};
use contract::generation::{StateRequest, StateTasks};
use contract::problem::Problem;
use contract::task_requests::{BatchAnswer, BatchItem, BatchRequest, RequestedTask, TaskRequest};
use contract::tasks::QueuePicture;
use db::tasks::requests::{MAX_BATCH_ITEMS, QueuedTask};
use db::{Tx, tasks};
use domain::task::TaskId;

/// Creates a task; the same as `POST /api/tasks`.
#[utoipa::path(post, path = "/api/job-queue/enqueue", tag = "job queue",
               responses((status = 200, body = RequestedTask, description = "It was already waiting; its priority was raised"),
                         (status = 201, body = RequestedTask), (status = 404, response = Problem),
                         (status = 409, response = Problem)))]
pub async fn enqueue(changes: Changes<Operator>, Body(request): Body<TaskRequest>) -> Result<Response, ApiError> {
    make(changes.begin().await?, request).await
}

/// Creates up to 10,000 tasks in one transaction, and returns the result of each.
#[utoipa::path(post, path = "/api/job-queue/enqueue-batch", tag = "job queue",
               responses((status = 200, body = BatchAnswer)))]
pub async fn enqueue_batch(changes: Changes<Operator>, body: BatchBody<BatchRequest>) -> Result<Response, ApiError> {
    let tasks = &body.value.tasks;
    if !(1..=MAX_BATCH_ITEMS).contains(&tasks.len()) {
        return Err(ApiError::bad("tasks", format!("{} tasks; 1 to {MAX_BATCH_ITEMS} are allowed", tasks.len())));
    }
    let mut change = changes.begin().await?;
    let items = make_each(&change, tasks).await?;
    let refused = items.iter().filter(|item| item.error.is_some()).count();
    let raised = items.iter().filter(|item| item.raised).count();
    let answer = BatchAnswer { made: items.len() - refused - raised, raised, refused, tasks: items };
    let (first, last) = made_between(&answer.tasks);
    let detail = json!({"made": answer.made, "raised": raised, "refused": refused, "first_id": first, "last_id": last});
    change.audit("tasks.create_batch", answer.made, detail);
    change.answer(StatusCode::OK, &answer).await
}

/// Creates a task for every crawlable store of a state. A store that already has such a task gets no second one; a
/// waiting task with a lower priority is raised.
#[utoipa::path(post, path = "/api/job-queue/enqueue-state", tag = "job queue",
               responses((status = 200, body = StateTasks), (status = 409, response = Problem)))]
pub async fn enqueue_state(
    changes: Changes<Operator>,
    Body(request): Body<StateRequest>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let made = tasks::generation::of_state(&change, &request).await?;
    let detail = json!({"request": request, "count": made.count, "raised": made.raised});
    change.audit("tasks.generate", &*request.state_code, detail);
    change.answer(StatusCode::OK, &made).await
}

/// The pods with their workers, tasks and resources, what is queued, and what runs, all read from one snapshot.
#[utoipa::path(get, path = "/api/job-queue/pods", tag = "job queue", responses((status = 200, body = QueuePicture)))]
pub async fn pods(_: Caller<Viewer>, State(api): State<ApiState>) -> Result<Json<QueuePicture>, ApiError> {
    Ok(Json(tasks::overview::queue(&api.db.api_snapshot().await?).await?))
}

async fn make_each(tx: &Tx, tasks: &[Box<RawValue>]) -> Result<Vec<BatchItem>, ApiError> {
    let (mut requests, mut read) = (Vec::new(), Vec::new());
    for task in tasks {
        read.push(body::parse::<TaskRequest>(task.get().as_bytes()).map(|request| requests.push(request)));
    }
    let mut made = tasks::requests::enqueue_batch(tx, requests).await?.into_iter();
    let items = read.into_iter().map(|read| match read.map(|()| made.next()) {
        Ok(Some(Ok(QueuedTask { id, raised, .. }))) => BatchItem { id: Some(id), raised, ..BatchItem::default() },
        Ok(Some(Err(refused))) => refused_item(&refused.into()),
        Ok(None) => refused_item(&ApiError::Internal("a request of the batch has no answer".to_owned())),
        Err(unread) => refused_item(&unread),
    });
    Ok(items.collect())
}

fn refused_item(error: &ApiError) -> BatchItem {
    BatchItem {
        id: error.existing_task(),
        raised: false,
        error: Some(error.detail()),
        field: error.field().map(str::to_owned),
    }
}

/// The least and the greatest id.
fn made_between(items: &[BatchItem]) -> (Option<TaskId>, Option<TaskId>) {
    let made = || items.iter().filter(|item| item.error.is_none() && !item.raised).filter_map(|item| item.id);
    (made().min(), made().max())
}
