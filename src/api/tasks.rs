//! `/api/tasks`: list, show, count, create.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::json::Body;
use super::params::Params;
use super::router::Shared;
use super::{ApiError, cursor};
use crate::db::task_requests;
use crate::db::task_views::counts::{self, TaskCounts};
use crate::db::task_views::{self, TaskDetail, TaskFilter, TaskView};
use crate::domain::role::RoleSet;
use crate::domain::task::TaskId;
use crate::domain::task_request::TaskRequest;

const PARAMETERS: [&str; 10] = [
    "status",
    "role",
    "dispensary_id",
    "platform",
    "worker_id",
    "q",
    "created_after",
    "created_before",
    "limit",
    "cursor",
];
const USUAL_PAGE: i64 = 50;
const LARGEST_PAGE: i64 = 500;

#[derive(Serialize)]
pub struct Page {
    tasks: Vec<TaskView>,
    /// For the next page; none on the last.
    next_cursor: Option<String>,
}

pub async fn list(State(api): State<Shared>, RawQuery(query): RawQuery) -> Result<Json<Page>, ApiError> {
    let params = Params::read(query.as_deref(), &PARAMETERS)?;
    let limit = params.within("limit", 1..=LARGEST_PAGE)?.unwrap_or(USUAL_PAGE);
    let filter = filter(&params)?;
    let client = api.db.api_client().await?;
    // one more than asked for tells whether there is another page
    let mut tasks = task_views::list(&client, &filter, limit + 1).await?;
    let more = tasks.len() as i64 > limit;
    tasks.truncate(limit as usize);
    let next_cursor = tasks.last().filter(|_| more).map(|last| cursor::write(last.id));
    Ok(Json(Page { tasks, next_cursor }))
}

pub async fn show(
    State(api): State<Shared>,
    id: Result<Path<TaskId>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Json<TaskDetail>, ApiError> {
    Params::none(query.as_deref())?;
    let Path(id) = id.map_err(|_| ApiError::bad("id", "expected a task's number"))?;
    let client = api.db.api_client().await?;
    let task = task_views::detail(&client, id).await?;
    task.map(Json).ok_or_else(|| ApiError::NotFound(format!("task {id}")))
}

pub async fn counts(State(api): State<Shared>, RawQuery(query): RawQuery) -> Result<Json<TaskCounts>, ApiError> {
    Params::none(query.as_deref())?;
    let client = api.db.api_client().await?;
    Ok(Json(counts::counts(&client).await?))
}

pub async fn create(
    State(api): State<Shared>,
    RawQuery(query): RawQuery,
    Body(request): Body<TaskRequest>,
) -> Result<Response, ApiError> {
    Params::none(query.as_deref())?;
    let client = api.db.api_client().await?;
    let id = task_requests::enqueue(&client, request).await?;
    let made = task_views::get(&client, id).await?.ok_or_else(|| ApiError::NotFound(format!("task {id}")))?;
    Ok((StatusCode::CREATED, [(header::LOCATION, format!("/api/tasks/{id}"))], Json(made)).into_response())
}

fn filter(params: &Params) -> Result<TaskFilter, ApiError> {
    Ok(TaskFilter {
        status: params.get("status")?,
        roles: params.with("role", roles)?,
        dispensary_id: params.get("dispensary_id")?,
        platform: params.get("platform")?,
        worker_id: params.get("worker_id")?,
        q: params.get("q")?,
        created_after: params.with("created_after", time)?,
        created_before: params.with("created_before", time)?,
        below: params.with("cursor", cursor::read)?,
        id: None,
    })
}

/// One role, or the old name of several; an empty word would be any.
fn roles(text: &str) -> Result<RoleSet, String> {
    match text.is_empty() {
        true => Err("names no role".to_owned()),
        false => text.parse().map_err(|unknown: crate::domain::role::UnknownRole| unknown.to_string()),
    }
}

fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let time =
        DateTime::parse_from_rfc3339(text).map_err(|_| "not a time as in RFC 3339, 2025-01-10T08:00:00Z".to_owned())?;
    Ok(time.with_timezone(&Utc))
}
