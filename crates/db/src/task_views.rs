//! Tasks as people see them: pages, one with its attempts and children, counts, and what is going on. Reads only.
//!
//! Writes are in [`super::tasks`]. `stale` (claimed or running, and its lease has run out) is worked out here; the table never
//! holds it.

pub mod activity;
pub mod capacity;
pub mod completions;
pub mod counts;
pub mod filter;
mod search;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::types::Type;
use utoipa::ToSchema;

use self::filter::GET;
pub use self::filter::TaskFilter;
use super::row::{FromRow, first_columns, json, optional_json, optional_word, rows, word};
use super::{Client, DbError};
use domain::role::{Role, RoleSet};
use domain::shown_status::ShownStatus;
use domain::store::{Platform, StoreId};
use domain::task::{RecordedOutcome, TaskId};
use domain::vocabulary::Word;

/// At most so many attempts and children of a task are shown.
const MAX_ATTEMPTS: i64 = 500;
const MAX_CHILDREN: i64 = 1_000;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    pub id: TaskId,
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    pub dispensary_id: Option<StoreId>,
    pub dispensary_name: Option<String>,
    #[schema(value_type = Option<String>)]
    pub platform: Option<Word<Platform>>,
    #[schema(value_type = ShownStatus)]
    pub status: Word<ShownStatus>,
    pub priority: i32,
    pub scheduled_for: Option<DateTime<Utc>>,
    #[schema(value_type = Object)]
    pub payload: Value,
    pub result: Option<Value>,
    pub worker_id: Option<String>,
    pub worker_name: Option<String>,
    pub retry_count: i32,
    pub max_retries: i32,
    pub error_message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub claimed_at: Option<DateTime<Utc>>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub last_heartbeat_at: Option<DateTime<Utc>>,
    pub lease_expires_at: Option<DateTime<Utc>>,
    pub parent_task_id: Option<TaskId>,
    pub schedule_id: Option<i64>,
    pub progress_percent: Option<i16>,
    pub progress_message: Option<String>,
    /// May be claimed now.
    pub ready: bool,
    pub depends_on: Option<Vec<TaskId>>,
    pub dedup_key: Option<String>,
}

/// One run of a task.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    pub fence: i64,
    pub worker_id: String,
    /// None while it runs.
    #[schema(value_type = Option<RecordedOutcome>)]
    pub outcome: Option<Word<RecordedOutcome>>,
    pub error: Option<String>,
    pub claimed_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
    pub detail: Option<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskDetail {
    #[serde(flatten)]
    pub task: TaskView,
    /// Oldest first; of very many the newest.
    pub attempts: Vec<AttemptView>,
    pub children: Vec<TaskId>,
}

/// At most `limit` tasks, newest first.
pub async fn list(client: &Client, filter: &TaskFilter, limit: i64) -> Result<Vec<TaskView>, DbError> {
    match &filter.q {
        Some(q) => search::list(client, filter, q, limit).await,
        None => search::page(client, &filter.values(), limit).await,
    }
}

/// One task without its attempts and children.
pub async fn get(client: &Client, id: TaskId) -> Result<Option<TaskView>, DbError> {
    client.query_typed(&GET, &[(&id, Type::INT8)]).await?.first().map(TaskView::from_row).transpose()
}

/// These tasks, newest first, as far as they exist.
async fn by_ids(client: &Client, ids: Vec<TaskId>) -> Result<Vec<TaskView>, DbError> {
    let limit = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    list(client, &TaskFilter { ids: Some(ids), ..TaskFilter::default() }, limit).await
}

/// One task with its attempts and children.
pub async fn detail(client: &Client, id: TaskId) -> Result<Option<TaskDetail>, DbError> {
    // one after the other they would be three ways to the server and back
    let (task, attempts, children) = tokio::try_join!(get(client, id), attempts(client, id), children(client, id))?;
    Ok(task.map(|task| TaskDetail { task, attempts, children }))
}

async fn attempts(client: &Client, id: TaskId) -> Result<Vec<AttemptView>, DbError> {
    let rows = client.query(include_str!("sql/task_views/attempts.sql"), &[&id, &MAX_ATTEMPTS]).await?;
    rows.iter().rev().map(AttemptView::from_row).collect()
}

async fn children(client: &Client, id: TaskId) -> Result<Vec<TaskId>, DbError> {
    first_columns(&client.query(include_str!("sql/task_views/children.sql"), &[&id, &MAX_CHILDREN]).await?)
}

fn role_names(roles: &RoleSet) -> Vec<&'static str> {
    roles.roles().iter().map(|role| role.name()).collect()
}

rows! {
    TaskView {
        id,
        role: word,
        dispensary_id, dispensary_name,
        platform: optional_word,
        status: word,
        priority, scheduled_for,
        payload: json,
        result: optional_json,
        worker_id, worker_name, retry_count, max_retries, error_message, created_at, updated_at,
        claimed_at, started_at, completed_at, last_heartbeat_at, lease_expires_at, parent_task_id,
        schedule_id, progress_percent, progress_message, ready, depends_on, dedup_key,
    }

    AttemptView {
        fence, worker_id,
        outcome: optional_word,
        error, claimed_at, finished_at,
        detail: optional_json,
    }
}
