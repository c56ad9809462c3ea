//! `/api/tasks/bulk` and `/api/operations`: one action on many tasks, at once or, for very many, in the
//! background.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, Body, Caller, Changes, Operator, Path, Viewer};
use contract::operations::{BulkAnswer, BulkRequest, Operation};
use db::tasks;

#[derive(Deserialize, IntoParams)]
pub struct OperationPath {
    /// The operation's id
    id: i64,
}

/// Retries, cancels, deletes or reprioritizes the tasks that a filter finds, or those with the given ids. More than 1,000 become an
/// operation, which continues after the answer.
#[utoipa::path(post, path = "/api/tasks/bulk", tag = "tasks",
               responses((status = 200, body = BulkAnswer), (status = 202, body = Operation)))]
pub async fn bulk(changes: Changes<Operator>, Body(request): Body<BulkRequest>) -> Result<Response, ApiError> {
    let who = changes.name.clone();
    let mut change = changes.begin().await?;
    let answer = tasks::operations::bulk(&change, &request, Some(&who)).await?;
    let (done, operation) = match &answer {
        BulkAnswer::DryRun { .. } => return change.answer(StatusCode::OK, &answer).await,
        BulkAnswer::Done { done, .. } => (Some(done), None),
        BulkAnswer::Started(operation) => (None, Some(operation.id)),
    };
    let detail = json!({"request": request, "done": done, "operation": operation});
    change.audit("tasks.bulk", request.action, detail);
    match answer {
        BulkAnswer::Started(operation) => {
            change.accepted(format!("/api/operations/{}", operation.id), &*operation).await
        }
        done => change.answer(StatusCode::OK, &done).await,
    }
}

/// Shows an operation with its progress.
#[utoipa::path(get, path = "/api/operations/{id}", tag = "tasks", responses((status = 200, body = Operation)))]
pub async fn show(
    caller: Caller<Viewer>,
    Path(OperationPath { id }): Path<OperationPath>,
) -> Result<Json<Operation>, ApiError> {
    let client = caller.client().await?;
    let operation = tasks::operations::get(&client, id).await?;
    operation.map(Json).ok_or_else(|| ApiError::NotFound(format!("operation {id}")))
}
