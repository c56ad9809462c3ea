//! `/api/worker-registry/{id}/…`: people's commands to a worker, in whatever process it is. A worker outside
//! of the program obeys with its next heartbeat.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{Admin, ApiError, Changes, Operator, Path, pauses};
use contract::problem::Problem;
use contract::workers::WorkerOrder;
use db::tasks::pauses::NewPause;
use db::workers;
use domain::task::pause::PauseTarget;
use domain::worker::WorkerCommand;

#[derive(Deserialize, IntoParams)]
pub struct WorkerPath {
    /// The worker's id
    id: String,
}

/// Lets a worker finish its tasks and stop.
#[utoipa::path(post, path = "/api/worker-registry/{id}/decommission", tag = "workers",
               responses((status = 202, body = WorkerOrder)))]
pub async fn decommission(changes: Changes<Admin>, Path(path): Path<WorkerPath>) -> Result<Response, ApiError> {
    let (worker_id, command) = (path.id, WorkerCommand::Decommission);
    let mut change = changes.begin().await?;
    workers::order(&change, &worker_id, command).await?;
    change.audit("workers.order", &worker_id, json!({ "command": command }));
    change.answer(StatusCode::ACCEPTED, &WorkerOrder { worker_id, command }).await
}

/// Lets a worker finish its tasks and claim no more: a pause of scope `worker`, which outlives the worker's process.
#[utoipa::path(post, path = "/api/worker-registry/{id}/pause", tag = "workers",
               responses((status = 202, body = WorkerOrder), (status = 409, response = Problem)))]
pub async fn pause(changes: Changes<Operator>, Path(path): Path<WorkerPath>) -> Result<Response, ApiError> {
    let caller = changes.name.clone();
    let mut change = changes.begin().await?;
    let target = PauseTarget::Worker(workers::get(&change, &path.id).await?.friendly_name);
    let new = NewPause { target: &target, reason: "paused by hand", until: None, created_by: &caller };
    pauses::put(&mut change, &new).await?;
    change.answer(StatusCode::ACCEPTED, &WorkerOrder { worker_id: path.id, command: WorkerCommand::Pause }).await
}

/// Lets a paused worker claim again.
#[utoipa::path(post, path = "/api/worker-registry/{id}/resume", tag = "workers",
               responses((status = 202, body = WorkerOrder)))]
pub async fn resume(changes: Changes<Operator>, Path(path): Path<WorkerPath>) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let target = PauseTarget::Worker(workers::get(&change, &path.id).await?.friendly_name);
    if !pauses::end(&mut change, &target).await? {
        // paused by a row of worker_commands
        workers::order(&change, &path.id, WorkerCommand::Resume).await?;
    }
    change.answer(StatusCode::ACCEPTED, &WorkerOrder { worker_id: path.id, command: WorkerCommand::Resume }).await
}
