//! `/api/tasks`: list, show, count, create.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    ApiError, ApiState, Body, Caller, Change, Changes, IfNoneMatch, Listing, Operator, Page, PageJson, Path, Viewer,
};
use contract::cursor::Cursor;
use contract::problem::Problem;
use contract::task_requests::{RequestedTask, TaskRequest};
use contract::tasks::{StoppedClaims, TaskCounts, TaskDetail, TaskFilter, TaskPage, TaskView};
use db::tasks::requests::QueuedTask;
use db::tasks::views::counts;
use db::{Client, DbError, proxies, tasks};
use domain::task::TaskId;
use domain::task::shown_status::ShownStatus;
use domain::vocabulary::Word;

#[derive(Deserialize, IntoParams)]
pub struct TaskPath {
    /// The task's id
    pub id: TaskId,
}

/// Lists tasks, newest first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/tasks", tag = "tasks", responses((status = 200, body = TaskPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<TaskFilter>,
) -> Result<PageJson<TaskPage>, ApiError> {
    let filter = TaskFilter { after: cursor.map(|Cursor(id)| id), ..filter };
    let client = api.db.api_client().await?;
    // at once, in one round trip
    let read = tokio::try_join!(tasks::views::list(&client, &filter, limit.with_next()), tasks::pauses::list(&client));
    let (tasks, pauses) = read?;
    let stopped = match tasks.iter().any(|task| task.status == Word::Known(ShownStatus::Pending)) {
        true => Some(StoppedClaims { pauses, resting_proxies: proxies::resting(&client, api.budgets()).await? }),
        false => None,
    };
    let page = Page::of(tasks, limit, |task| task.id);
    Ok(page.json(|tasks, next_cursor| TaskPage { tasks, stopped, next_cursor }))
}

/// One task with its attempts and children.
#[utoipa::path(get, path = "/api/tasks/{id}", tag = "tasks",
               responses((status = 200, body = TaskDetail), (status = 304, description = "Not modified")))]
pub async fn show(
    caller: Caller<Viewer>,
    Path(TaskPath { id }): Path<TaskPath>,
    known: IfNoneMatch,
) -> Result<Response, ApiError> {
    let client = caller.client().await?;
    let detail = tasks::views::detail(&client, id).await?.ok_or_else(|| ApiError::NotFound(format!("task {id}")))?;
    known.answer(version(&detail.task), &detail)
}

/// Each change of a task moves it, a heartbeat does not.
pub fn version(task: &TaskView) -> i64 {
    task.updated_at.timestamp_micros()
}

/// Counts tasks by status, and by role and status.
#[utoipa::path(get, path = "/api/tasks/counts", tag = "tasks", responses((status = 200, body = TaskCounts)))]
pub async fn counts(caller: Caller<Viewer>) -> Result<Json<TaskCounts>, ApiError> {
    let client = caller.client().await?;
    Ok(Json(counts::counts(&client).await?))
}

/// Creates a task. If a task that does the same waits with a lower priority, it gets the priority of this one.
#[utoipa::path(post, path = "/api/tasks", tag = "tasks",
               responses((status = 200, body = RequestedTask, description = "It was already waiting; its priority was raised"),
                         (status = 201, body = RequestedTask), (status = 404, response = Problem),
                         (status = 409, response = Problem)))]
pub async fn create(changes: Changes<Operator>, Body(request): Body<TaskRequest>) -> Result<Response, ApiError> {
    make(changes.begin().await?, request).await
}

/// Makes a task, or raises the one that does the same, and answers it.
pub async fn make(mut change: Change, request: TaskRequest) -> Result<Response, ApiError> {
    let QueuedTask { id, raised, role, dispensary_id, priority } = tasks::requests::enqueue(&change, request).await?;
    let detail = json!({"role": role, "dispensary_id": dispensary_id, "priority": priority});
    change.audit(if raised { "tasks.raise" } else { "tasks.create" }, id, detail);
    let (status, location) = match raised {
        true => (StatusCode::OK, None),
        false => (StatusCode::CREATED, Some(format!("/api/tasks/{id}"))),
    };
    let read = async |client: &Client| {
        let task = tasks::views::get(client, id).await?.ok_or_else(|| DbError::Missing(format!("task {id}")))?;
        Ok(RequestedTask { task, raised })
    };
    change.answer_read(status, location, read).await
}
