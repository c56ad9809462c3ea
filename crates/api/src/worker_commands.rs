//! `/api/worker-registry/{id}/…`: people's commands to a worker. It obeys with its next heartbeat, in
//! whatever process it is.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::access::{Admin, Changes, Operator};
use super::path::Path;
use super::query::{NoParameters, Query};
use super::{ApiError, ApiState};
use contract::workers::WorkerOrder;
use db::workers;
use domain::worker::WorkerCommand;

#[derive(Deserialize, IntoParams)]
pub struct WorkerPath {
    /// The worker's id
    id: String,
}

/// Lets a worker finish its tasks and leave.
#[utoipa::path(post, path = "/api/worker-registry/{id}/decommission", tag = "workers",
               responses((status = 202, body = WorkerOrder)))]
pub async fn decommission(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Path(path): Path<WorkerPath>,
    _: Query<NoParameters>,
) -> Result<Response, ApiError> {
    order(changes, &api, path.id, WorkerCommand::Decommission).await
}

/// Lets a worker finish its tasks and claim no more.
#[utoipa::path(post, path = "/api/worker-registry/{id}/pause", tag = "workers",
               responses((status = 202, body = WorkerOrder)))]
pub async fn pause(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(path): Path<WorkerPath>,
    _: Query<NoParameters>,
) -> Result<Response, ApiError> {
    order(changes, &api, path.id, WorkerCommand::Pause).await
}

/// Lets a paused worker claim again.
#[utoipa::path(post, path = "/api/worker-registry/{id}/resume", tag = "workers",
               responses((status = 202, body = WorkerOrder)))]
pub async fn resume(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(path): Path<WorkerPath>,
    _: Query<NoParameters>,
) -> Result<Response, ApiError> {
    order(changes, &api, path.id, WorkerCommand::Resume).await
}

async fn order<R>(
    changes: Changes<R>,
    api: &ApiState,
    worker_id: String,
    command: WorkerCommand,
) -> Result<Response, ApiError> {
    let mut change = changes.begin(api).await?;
    workers::order(&change, &worker_id, command).await?;
    change.audit("workers.order", &worker_id, json!({ "command": command }));
    change.answer(StatusCode::ACCEPTED, &WorkerOrder { worker_id, command }).await
}
