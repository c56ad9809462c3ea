//! `/api/worker-registry/register`, `…/heartbeat`, `…/deregister`: the registry of workers outside this
//! program.
//!
//! In: a worker's heartbeat document. Out: its registry entry, and with each heartbeat the commands that it
//! has to obey. A worker that is silent for three heartbeats is offline, and forgotten after a day.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::{ApiError, ApiState, Body, Caller, Changes, Operator};
use contract::checks::check_text;
use contract::problem::Problem;
use contract::workers::{HeartbeatAnswer, LeavingWorker, WorkerReport};
use db::workers;
use domain::worker::WorkerDocument;

/// Registers a worker of another program. Registering an id again means that its process has restarted.
#[utoipa::path(post, path = "/api/worker-registry/register", tag = "workers",
               responses((status = 201, body = WorkerDocument)))]
pub async fn register(changes: Changes<Operator>, Body(report): Body<WorkerReport>) -> Result<Response, ApiError> {
    report.check()?;
    let every = report.every();
    let mut document = report.into_document(None);
    let mut change = changes.begin().await?;
    document.started_at = Some(workers::now(&change).await?);
    workers::upsert(&change, &document, every, None).await?;
    let registered = workers::get(&change, &document.worker_id).await?;
    let detail = json!({"friendly_name": registered.friendly_name, "pod": registered.pod, "role": registered.role});
    change.audit("workers.register", &document.worker_id, detail);
    change.created("/api/worker-registry".to_owned(), &registered).await
}

/// Records the heartbeat of a registered worker, and returns the commands for it.
#[utoipa::path(post, path = "/api/worker-registry/heartbeat", tag = "workers",
               responses((status = 200, body = HeartbeatAnswer), (status = 404, response = Problem)))]
pub async fn heartbeat(
    _: Caller<Operator>,
    State(api): State<ApiState>,
    Body(report): Body<WorkerReport>,
) -> Result<Json<HeartbeatAnswer>, ApiError> {
    report.check()?;
    let tx = api.db.begin_api().await?;
    let known = workers::get(&tx, &report.worker_id).await?;
    let (worker_id, every) = (report.worker_id.clone(), report.every());
    workers::upsert(&tx, &report.into_document(Some(&known)), every, None).await?;
    // a command that was given before it was registered is for a predecessor of its name
    let open = match known.started_at {
        Some(since) => workers::open_commands(&tx, std::slice::from_ref(&worker_id), since).await?,
        None => Vec::new(),
    };
    workers::mark_taken(&tx, &open).await?;
    tx.commit().await?;
    Ok(Json(HeartbeatAnswer { worker_id, commands: open.into_iter().map(|open| open.command).collect() }))
}

/// Removes a worker that has stopped properly.
#[utoipa::path(post, path = "/api/worker-registry/deregister", tag = "workers",
               responses((status = 204, description = "Removed"), (status = 404, response = Problem)))]
pub async fn deregister(
    changes: Changes<Operator>,
    Body(LeavingWorker { worker_id }): Body<LeavingWorker>,
) -> Result<StatusCode, ApiError> {
    check_text("worker_id", Some(&worker_id))?;
    let mut change = changes.begin().await?;
    workers::get(&change, &worker_id).await?;
    workers::deregister(&change, std::slice::from_ref(&worker_id)).await?;
    change.audit("workers.deregister", &worker_id, json!({}));
    change.no_content().await
}
