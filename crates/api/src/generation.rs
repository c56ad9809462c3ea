//! Tasks made for many stores at once, a platform's discovery, and tasks put back whose workers are gone.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::tasks::make;
use super::{ApiError, Body, Changes, Operator};
use contract::generation::{DiscoveryRequest, RecoveryRequest, Resync, ResyncRequest};
use contract::problem::Problem;
use contract::task_requests::RequestedTask;
use contract::tasks::{Recovery, RecoveryCounts};
use db::tasks;
use telemetry::events;

/// Puts back tasks whose lease has run out, or that have sent no heartbeat for some minutes (10).
///
/// The answer also counts the tasks of dead workers that still wait for the end of their lease.
#[utoipa::path(post, path = "/api/tasks/recover-stale", tag = "tasks",
               responses((status = 200, body = Recovery)))]
pub async fn recover_stale(
    changes: Changes<Operator>,
    Body(request): Body<RecoveryRequest>,
) -> Result<Response, ApiError> {
    let minutes = request.minutes()?;
    let mut change = changes.begin().await?;
    let silence = Duration::from_secs(60 * u64::from(minutes.unsigned_abs()));
    let counts = tasks::recover_silent(&change, silence).await?;
    change.audit("tasks.recover", "stale", json!({"threshold_minutes": minutes, "counts": counts}));
    let waiting = tasks::waiting_leases(&change).await?;
    let answer = change.answer(StatusCode::OK, &Recovery { counts, waiting }).await?;
    let RecoveryCounts { requeued, failed } = counts;
    events::tasks_recovered(u64::from(requeued.unsigned_abs()), u64::from(failed.unsigned_abs()));
    Ok(answer)
}

/// Creates the crawls of a day: all stores in batches (6) over its hours. A store with an open crawl gets no second
/// one.
#[utoipa::path(post, path = "/api/tasks/generate/resync", tag = "tasks",
               responses((status = 200, body = Resync), (status = 409, response = Problem)))]
pub async fn resync(changes: Changes<Operator>, Body(request): Body<ResyncRequest>) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let made = tasks::generation::resync(&change, &request).await?;
    change.audit("tasks.generate", "resync", json!({"request": request, "count": made.count}));
    change.answer(StatusCode::OK, &made).await
}

/// Creates a task that looks for the stores of a platform, or raises a waiting one.
#[utoipa::path(post, path = "/api/tasks/generate/discovery", tag = "tasks",
               responses((status = 200, body = RequestedTask, description = "It was already waiting; its priority was raised"),
                         (status = 201, body = RequestedTask), (status = 409, response = Problem)))]
pub async fn discovery(
    changes: Changes<Operator>,
    Body(request): Body<DiscoveryRequest>,
) -> Result<Response, ApiError> {
    make(changes.begin().await?, request.into()).await
}
