//! `/api/tasks/{id}` and the changes of one task: cancel, retry, update, remove.
//!
//! In: a caller and a task's id. Out: the task as it is then. [`change_one`] is for jobs, too, and must not
//! know how a task is shown.

use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde_json::json;

use super::tasks::{TaskPath, version};
use super::{ApiError, Body, Change, Changes, IfMatch, Operator, Path, with_tag};
use contract::problem::Problem;
use contract::task_changes::TaskChange;
use contract::tasks::TaskView;
use db::Client;
use db::tasks::{self, ChangeError};
use domain::task::{Status, TaskId};
use domain::vocabulary::Word;

/// Cancels a task that has not ended. A running one stops at its worker's next renewal; its store is kept until then.
#[utoipa::path(post, path = "/api/tasks/{id}/cancel", tag = "tasks",
               responses((status = 200, body = TaskView), (status = 409, response = Problem)))]
pub async fn cancel(changes: Changes<Operator>, Path(TaskPath { id }): Path<TaskPath>) -> Result<Response, ApiError> {
    change_one(changes.begin().await?, id, "tasks.cancel", tasks::cancel, answer).await
}

/// Puts a failed or cancelled task back to pending, with all of its retries.
#[utoipa::path(post, path = "/api/tasks/{id}/retry", tag = "tasks",
               responses((status = 200, body = TaskView), (status = 409, response = Problem)))]
pub async fn retry(changes: Changes<Operator>, Path(TaskPath { id }): Path<TaskPath>) -> Result<Response, ApiError> {
    change_one(changes.begin().await?, id, "tasks.retry", tasks::retry, answer).await
}

/// Changes the priority or the time of a pending task; a time of null means at once.
#[utoipa::path(put, path = "/api/tasks/{id}", tag = "tasks",
               responses((status = 200, body = TaskView), (status = 409, response = Problem)))]
pub async fn update(
    changes: Changes<Operator>,
    Path(TaskPath { id }): Path<TaskPath>,
    IfMatch(expected): IfMatch,
    Body(update): Body<TaskChange>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    tasks::change(&change, id, &update, expected.map(time_of)).await?;
    change.audit("tasks.update", id, json!(update));
    answer(change, id).await
}

/// Deletes a task that no worker holds, with its runs.
#[utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks",
               responses((status = 204, description = "Removed"), (status = 409, response = Problem)))]
pub async fn remove(changes: Changes<Operator>, Path(TaskPath { id }): Path<TaskPath>) -> Result<StatusCode, ApiError> {
    change_one(changes.begin().await?, id, "tasks.delete", tasks::delete, gone).await
}

/// Changes a task, or a job, which is one, and notes who did. `change_task` returns the status that it had;
/// `answer` commits.
pub async fn change_one<A>(
    mut change: Change,
    id: TaskId,
    action: &'static str,
    change_task: impl AsyncFnOnce(&Client, TaskId) -> Result<Word<Status>, ChangeError>,
    answer: impl AsyncFnOnce(Change, TaskId) -> Result<A, ApiError>,
) -> Result<A, ApiError> {
    let was = change_task(&change, id).await?;
    change.audit(action, id, json!({"was": was}));
    answer(change, id).await
}

/// Commits, and answers that there is nothing to show any more.
pub async fn gone(change: Change, _: TaskId) -> Result<StatusCode, ApiError> {
    change.no_content().await
}

/// Time when a version of a task was made, or the epoch for a version without a time.
fn time_of(version: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(version.max(0)).unwrap_or_default()
}

/// Commits, and answers the task as it is now.
async fn answer(change: Change, id: TaskId) -> Result<Response, ApiError> {
    let task = tasks::views::get(&change, id).await?.ok_or_else(|| ApiError::NotFound(format!("task {id}")))?;
    let answer = change.answer(StatusCode::OK, &task).await?;
    with_tag(answer, version(&task), &task)
}
