//! `/api/schedules`: which tasks are made periodically; added, changed, removed and run by request.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, ApiState, Body, Caller, Changes, IfMatch, IfNoneMatch, Operator, Path, Viewer, with_tag};
use contract::problem::Problem;
use contract::schedules::{Run, SavedSchedule, Schedule, ScheduleList, ScheduleRequest, ScheduleRuns, ScheduleUpdate};
use db::schedules;

#[derive(Deserialize, IntoParams)]
pub struct SchedulePath {
    /// The schedule's id
    id: i64,
}

/// Lists the schedules, by name.
#[utoipa::path(get, path = "/api/schedules", tag = "schedules", responses((status = 200, body = ScheduleList)))]
pub async fn list(caller: Caller<Viewer>) -> Result<Json<ScheduleList>, ApiError> {
    let client = caller.client().await?;
    Ok(Json(ScheduleList { schedules: schedules::list(&client).await? }))
}

/// One schedule.
#[utoipa::path(get, path = "/api/schedules/{id}", tag = "schedules",
               responses((status = 200, body = Schedule), (status = 304, description = "Not modified")))]
pub async fn show(
    caller: Caller<Viewer>,
    Path(SchedulePath { id }): Path<SchedulePath>,
    known: IfNoneMatch,
) -> Result<Response, ApiError> {
    let client = caller.client().await?;
    let schedule = schedules::get(&client, id).await?.ok_or_else(|| ApiError::NotFound(format!("schedule {id}")))?;
    known.answer(schedule.version, &schedule)
}

/// Adds a schedule; one with an interval is due at once.
#[utoipa::path(post, path = "/api/schedules", tag = "schedules",
               responses((status = 201, body = SavedSchedule), (status = 409, response = Problem)))]
pub async fn create(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Body(request): Body<ScheduleRequest>,
) -> Result<Response, ApiError> {
    let detail = json!(request);
    let new = request.check()?;
    let mut change = changes.begin().await?;
    let schedule = schedules::add(&change, &new).await?;
    change.audit("schedules.create", schedule.id, detail);
    let saved = saved(schedule, &api);
    let created = change.created(format!("/api/schedules/{}", saved.schedule.id), &saved).await?;
    with_tag(created, saved.schedule.version, &saved.schedule)
}

/// Changes a schedule; with another recurrence, its next run is at the next time of that one.
#[utoipa::path(put, path = "/api/schedules/{id}", tag = "schedules",
               responses((status = 200, body = SavedSchedule), (status = 409, response = Problem)))]
pub async fn update(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(SchedulePath { id }): Path<SchedulePath>,
    IfMatch(expected): IfMatch,
    Body(update): Body<ScheduleUpdate>,
) -> Result<Response, ApiError> {
    let detail = json!(update);
    let wanted = update.check()?;
    let mut change = changes.begin().await?;
    let schedule = schedules::change(&change, id, &wanted, expected).await?;
    change.audit("schedules.update", id, json!({"name": schedule.name, "change": detail}));
    let saved = saved(schedule, &api);
    let answer = change.answer(StatusCode::OK, &saved).await?;
    with_tag(answer, saved.schedule.version, &saved.schedule)
}

fn saved(schedule: Schedule, api: &ApiState) -> SavedSchedule {
    SavedSchedule::new(schedule, api.live.current().config.queue.schedule_tick)
}

/// Removes a schedule; its tasks stay. A default one comes back at the next start: switch it off instead.
#[utoipa::path(delete, path = "/api/schedules/{id}", tag = "schedules",
               responses((status = 204, description = "Removed"), (status = 409, response = Problem)))]
pub async fn remove(
    changes: Changes<Operator>,
    Path(SchedulePath { id }): Path<SchedulePath>,
) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin().await?;
    let schedule = schedules::remove(&change, id).await?;
    change.audit("schedules.delete", id, json!({"name": schedule.name}));
    change.no_content().await
}

/// Runs a schedule now; requests within 10 seconds of each other run it once.
#[utoipa::path(post, path = "/api/schedules/{id}/trigger", tag = "schedules",
               responses((status = 200, body = Run), (status = 409, response = Problem)))]
pub async fn trigger(
    changes: Changes<Operator>,
    Path(SchedulePath { id }): Path<SchedulePath>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let run = schedules::trigger(&change, id).await?;
    if let Some(fault) = run.fault {
        return Err(ApiError::Conflict(format!("{} cannot be run: {fault}", run.schedule)));
    }
    let detail = json!({"name": run.schedule, "tasks": run.tasks, "already_made": run.already_made});
    change.audit("schedules.trigger", id, detail);
    change.answer(StatusCode::OK, &run).await
}

/// The latest 20 runs of a schedule, with the states of the tasks that each made, and its next due times.
#[utoipa::path(get, path = "/api/schedules/{id}/runs", tag = "schedules", responses((status = 200, body = ScheduleRuns)))]
pub async fn runs(
    caller: Caller<Viewer>,
    Path(SchedulePath { id }): Path<SchedulePath>,
) -> Result<Json<ScheduleRuns>, ApiError> {
    let client = caller.client().await?;
    let runs = schedules::runs(&client, id).await?;
    runs.map(Json).ok_or_else(|| ApiError::NotFound(format!("schedule {id}")))
}
