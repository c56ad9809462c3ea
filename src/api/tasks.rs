//! `/api/tasks`: list, show, count, create.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use super::body::Body;
use super::cursor::Cursor;
use super::path::Path;
use super::query::{self, NoParameters, Query};
use super::{ApiError, ApiState};
use crate::db::task_requests;
use crate::db::task_views::counts::{self, TaskCounts};
use crate::db::task_views::{self, TaskDetail, TaskFilter, TaskView};
use crate::domain::role::RoleSet;
use crate::domain::shown_status::ShownStatus;
use crate::domain::store::{Platform, StoreId};
use crate::domain::task::TaskId;
use crate::domain::task_request::TaskRequest;

const DEFAULT_PAGE: i64 = 50;
const MAX_PAGE: i64 = 500;

/// Which tasks to list; a parameter that is absent filters nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    status: Option<ShownStatus>,
    #[serde(default, deserialize_with = "role_set")]
    role: Option<RoleSet>,
    dispensary_id: Option<StoreId>,
    platform: Option<Platform>,
    worker_id: Option<String>,
    /// How an id, a worker's id or a store's slug begins.
    q: Option<String>,
    #[serde(default, deserialize_with = "query::time")]
    created_after: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "query::time")]
    created_before: Option<DateTime<Utc>>,
    #[serde(default = "default_page", deserialize_with = "page_size")]
    limit: i64,
    cursor: Option<Cursor>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct TaskPage {
    pub tasks: Vec<TaskView>,
    /// For the next page; none on the last.
    pub next_cursor: Option<Cursor>,
}

#[derive(Deserialize)]
pub struct TaskPath {
    id: TaskId,
}

pub async fn list(State(api): State<ApiState>, Query(query): Query<ListQuery>) -> Result<Json<TaskPage>, ApiError> {
    let limit = query.limit;
    let client = api.db.api_client().await?;
    // one more than asked for shows whether there is another page
    let mut tasks = task_views::list(&client, &query.into(), limit + 1).await?;
    let has_next = tasks.len() as i64 > limit;
    tasks.truncate(limit as usize);
    let next_cursor = tasks.last().filter(|_| has_next).map(|last| Cursor(last.id));
    Ok(Json(TaskPage { tasks, next_cursor }))
}

pub async fn show(
    State(api): State<ApiState>,
    Path(TaskPath { id }): Path<TaskPath>,
    _: Query<NoParameters>,
) -> Result<Json<TaskDetail>, ApiError> {
    let client = api.db.api_client().await?;
    let task = task_views::detail(&client, id).await?;
    task.map(Json).ok_or_else(|| ApiError::NotFound(format!("task {id}")))
}

pub async fn counts(State(api): State<ApiState>, _: Query<NoParameters>) -> Result<Json<TaskCounts>, ApiError> {
    let client = api.db.api_client().await?;
    Ok(Json(counts::counts(&client).await?))
}

pub async fn create(
    State(api): State<ApiState>,
    _: Query<NoParameters>,
    Body(request): Body<TaskRequest>,
) -> Result<Response, ApiError> {
    let client = api.db.api_client().await?;
    let id = task_requests::enqueue(&client, request).await?;
    let task = task_views::get(&client, id).await?.ok_or_else(|| ApiError::NotFound(format!("task {id}")))?;
    Ok((StatusCode::CREATED, [(header::LOCATION, format!("/api/tasks/{id}"))], Json(task)).into_response())
}

impl From<ListQuery> for TaskFilter {
    fn from(query: ListQuery) -> Self {
        TaskFilter {
            status: query.status,
            roles: query.role,
            dispensary_id: query.dispensary_id,
            platform: query.platform,
            worker_id: query.worker_id,
            q: query.q,
            created_after: query.created_after,
            created_before: query.created_before,
            below: query.cursor.map(|Cursor(id)| id),
            ..TaskFilter::default()
        }
    }
}

fn default_page() -> i64 {
    DEFAULT_PAGE
}

fn page_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let size = i64::deserialize(deserializer)?;
    match (1..=MAX_PAGE).contains(&size) {
        true => Ok(size),
        false => Err(D::Error::custom(format_args!("{size} is out of range (1 to {MAX_PAGE})"))),
    }
}

/// Roles as in `WORKER_ROLE`. The empty text would mean `any`, and leave out the other families.
fn role_set<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RoleSet>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.is_empty() {
        true => Err(D::Error::invalid_value(Unexpected::Str(""), &"a role")),
        false => text.parse().map(Some).map_err(D::Error::custom),
    }
}
