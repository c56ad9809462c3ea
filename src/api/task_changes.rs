//! `/api/tasks/{id}` and what changes one task: cancel, retry, update, remove.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde_json::json;

use super::access::{Changes, Operator};
use super::body::Body;
use super::change::Change;
use super::error::Problem;
use super::etag::{IfMatch, with_tag};
use super::path::Path;
use super::query::{NoParameters, Query};
use super::tasks::{TaskPath, version};
use super::{ApiError, ApiState};
use crate::db::task_views::{self, TaskView};
use crate::db::tasks;
use crate::domain::task::TaskId;
use crate::domain::task_change::TaskChange;

/// Cancels a task that has not ended. The body of a running one stops at its worker's next renewal; its store is kept until then.
#[utoipa::path(post, path = "/api/tasks/{id}/cancel", tag = "tasks", params(("id" = i64, Path, description = "The task's id")),
               responses((status = 200, body = TaskView), (status = 404, response = Problem), (status = 409, response = Problem)))]
pub async fn cancel(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(TaskPath { id }): Path<TaskPath>,
    _: Query<NoParameters>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin(&api).await?;
    let was = tasks::cancel(&change, id).await?;
    change.audit("tasks.cancel", id, json!({"was": was}));
    answer(change, id).await
}

/// Puts a failed or cancelled task back to pending, with all of its retries.
#[utoipa::path(post, path = "/api/tasks/{id}/retry", tag = "tasks", params(("id" = i64, Path, description = "The task's id")),
               responses((status = 200, body = TaskView), (status = 404, response = Problem), (status = 409, response = Problem)))]
pub async fn retry(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(TaskPath { id }): Path<TaskPath>,
    _: Query<NoParameters>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin(&api).await?;
    let was = tasks::retry(&change, id).await?;
    change.audit("tasks.retry", id, json!({"was": was}));
    answer(change, id).await
}

/// Changes the priority or the time of a pending task; a time of null means at once.
#[utoipa::path(put, path = "/api/tasks/{id}", tag = "tasks",
               params(("id" = i64, Path, description = "The task's id"),
                      ("If-Match" = Option<String>, Header, pattern = r#"^(\*|(W/)?"[!#-~]*")$"#, description = "The ETag of the task as it was read")),
               request_body = TaskChange,
               responses((status = 200, body = TaskView), (status = 404, response = Problem), (status = 409, response = Problem),
                         (status = 412, response = Problem)))]
pub async fn update(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(TaskPath { id }): Path<TaskPath>,
    _: Query<NoParameters>,
    IfMatch(expected): IfMatch,
    Body(update): Body<TaskChange>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin(&api).await?;
    tasks::change(&change, id, &update, expected.map(time_of)).await?;
    change.audit("tasks.update", id, json!(update));
    answer(change, id).await
}

/// Removes a task that no worker has, with its runs.
#[utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks", params(("id" = i64, Path, description = "The task's id")),
               responses((status = 204, description = "Removed"), (status = 404, response = Problem), (status = 409, response = Problem)))]
pub async fn remove(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(TaskPath { id }): Path<TaskPath>,
    _: Query<NoParameters>,
) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin(&api).await?;
    let was = tasks::delete(&change, id).await?;
    change.audit("tasks.delete", id, json!({"was": was}));
    change.no_content().await
}

/// When a version of a task was made; where there is no such time, one at which no task was.
fn time_of(version: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(version.max(0)).unwrap_or_default()
}

/// Commits, and answers the task as it is now.
async fn answer(change: Change, id: TaskId) -> Result<Response, ApiError> {
    let task = task_views::get(&change, id).await?.ok_or_else(|| ApiError::NotFound(format!("task {id}")))?;
    let answer = change.answer(StatusCode::OK, &task).await?;
    with_tag(answer, version(&task), &task)
}
