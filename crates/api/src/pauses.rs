//! `/api/pauses`: an operator stops the claims of everything, or of one family, role, pod, worker, host or
//! store.
//!
//! The pause of a host also opens its breaker, and its end closes it: [`put`] and [`end`] keep the two
//! together, and `/api/hosts` does so where the breaker is what was asked for. The worker registry pauses by
//! [`put`], too.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, Body, Caller, Change, Changes, Operator, Path, Viewer};
use contract::pauses::{Pause, PauseList, PauseRequest};
use contract::problem::Problem;
use db::tasks::pauses::{MAX_PAUSES, NewPause};
use db::{DbError, hosts, stores, tasks, workers};
use domain::task::pause::{PauseScope, PauseTarget};
use domain::vocabulary::Word;

#[derive(Deserialize, IntoParams)]
pub struct PausePath {
    /// The pause's id
    id: i64,
}

/// Lists the pauses in force, the widest scope first.
#[utoipa::path(get, path = "/api/pauses", tag = "workers", responses((status = 200, body = PauseList)))]
pub async fn list(caller: Caller<Viewer>) -> Result<Json<PauseList>, ApiError> {
    Ok(Json(PauseList { pauses: tasks::pauses::list(&caller.client().await?).await? }))
}

/// Stops the claims of everything, or of one family, role, pod, worker, host or store, within a second. Running tasks
/// finish normally, schedules continue to create tasks, and a second pause of the same thing replaces the first. A
/// fetch on a paused pod or worker still runs its refresh.
#[utoipa::path(post, path = "/api/pauses", tag = "workers",
               responses((status = 201, body = Pause), (status = 404, response = Problem), (status = 409, response = Problem)))]
pub async fn create(changes: Changes<Operator>, Body(request): Body<PauseRequest>) -> Result<Response, ApiError> {
    let caller = changes.name.clone();
    let mut change = changes.begin().await?;
    let target = existing(&change, request.check(workers::now(&change).await?)?).await?;
    let new = NewPause { target: &target, reason: request.reason.trim(), until: request.until, created_by: &caller };
    let pause = put(&mut change, &new).await?;
    change.created(format!("/api/pauses/{}", pause.id), &pause).await
}

/// Ends a pause: its tasks are claimed again within a second.
#[utoipa::path(delete, path = "/api/pauses/{id}", tag = "workers", responses((status = 204, description = "Ended")))]
pub async fn remove(changes: Changes<Operator>, Path(path): Path<PausePath>) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin().await?;
    let ended = tasks::pauses::end(&change, path.id).await?;
    resumed(&mut change, &ended).await?;
    change.no_content().await
}

/// Makes a pause of something that exists.
pub(super) async fn put(change: &mut Change, new: &NewPause<'_>) -> Result<Pause, ApiError> {
    if tasks::pauses::list(change).await?.len() >= MAX_PAUSES {
        return Err(ApiError::Conflict(format!(
            "{MAX_PAUSES} pauses are in force, which is the maximum: end some first"
        )));
    }
    if let PauseTarget::Host(host) = new.target {
        open_breaker(change, host, new.reason, new.until).await?;
    }
    let pause = tasks::pauses::put(change, new).await?;
    change.audit("pauses.create", pause.target(), json!({ "reason": new.reason, "until": new.until }));
    Ok(pause)
}

/// Ends the pause of a thing; `false` when there is none.
pub(super) async fn end(change: &mut Change, target: &PauseTarget) -> Result<bool, ApiError> {
    let Some(ended) = tasks::pauses::end_of(change, target).await? else { return Ok(false) };
    resumed(change, &ended).await?;
    Ok(true)
}

/// Completes the end of a pause.
async fn resumed(change: &mut Change, ended: &Pause) -> Result<(), ApiError> {
    if let (Word::Known(PauseScope::Host), Some(host)) = (&ended.scope, &ended.of) {
        close_breaker(change, host).await?;
    }
    change.audit("pauses.delete", ended.target(), json!({ "reason": ended.reason }));
    Ok(())
}

async fn open_breaker(change: &Change, host: &str, reason: &str, until: Option<DateTime<Utc>>) -> Result<(), ApiError> {
    let open = hosts::change(change, host, |state, now| {
        state.open_by_hand(Some(reason), until, now);
        Ok::<_, ApiError>(())
    });
    open.await.map(drop)
}

async fn close_breaker(change: &Change, host: &str) -> Result<(), DbError> {
    let close = hosts::change(change, host, |state, now| {
        state.close_by_hand(now);
        Ok::<_, DbError>(())
    });
    match close.await {
        // it was forgotten since
        Err(DbError::Missing(_)) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The target, if it exists; a worker by its friendly name.
async fn existing(change: &Change, target: PauseTarget) -> Result<PauseTarget, ApiError> {
    match target {
        PauseTarget::Worker(worker) => Ok(PauseTarget::Worker(tasks::pauses::worker_name(change, &worker).await?)),
        PauseTarget::Pod(pod) if !tasks::pauses::pod_exists(change, &pod).await? => {
            Err(ApiError::NotFound(format!("pod {pod}")))
        }
        PauseTarget::Store(id) => match stores::first_missing(change, &[id]).await? {
            Some(id) => Err(ApiError::NotFound(format!("store {id}"))),
            None => Ok(PauseTarget::Store(id)),
        },
        target => Ok(target),
    }
}
