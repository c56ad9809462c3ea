//! Tasks for display: pages, one with its attempts and children, counts, and current activity. Reads only.
//!
//! [`crate::tasks`] has the writes. The status `stale` (claimed or running, with an expired lease) is
//! computed here; the table never holds it.

pub mod activity;
pub mod capacity;
pub mod completions;
pub mod counts;
pub mod filter;
mod search;

use std::collections::HashMap;

use tokio_postgres::Row;

use self::filter::FilterValues;
use crate::statements::{FromRow, first_columns, json, named, optional_json, optional_word, rows, sql, word};
use crate::{Client, DbError};
use contract::tasks::{AttemptView, TaskDetail, TaskFilter, TaskView};
use domain::task::TaskId;
use domain::task::retry_state::{RetryState, retry_state};
use domain::task::role::RoleSet;
use domain::vocabulary::Word;

/// Maximum attempts and children of a task that are shown.
const MAX_ATTEMPTS: i64 = 500;
const MAX_CHILDREN: i64 = 1_000;

/// Lists at most `limit` tasks, in the filter's order.
pub async fn list(client: &Client, filter: &TaskFilter, limit: i64) -> Result<Vec<TaskView>, DbError> {
    match &filter.q {
        Some(q) => search::list(client, filter, q, limit).await,
        None => search::page(client, &FilterValues::of(filter), limit).await,
    }
}

/// Lists at most `limit` tasks that run now, the longest-running first and the claimed ones last.
pub async fn running(client: &Client, limit: i64) -> Result<Vec<TaskView>, DbError> {
    let ids: Vec<TaskId> = first_columns(&client.query(sql!("tasks/views/running.sql"), &[&limit]).await?)?;
    let places: HashMap<TaskId, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut tasks = by_ids(client, ids).await?;
    tasks.sort_by_key(|task| places.get(&task.id).copied());
    Ok(tasks)
}

/// One task without its attempts and children.
pub async fn get(client: &Client, id: TaskId) -> Result<Option<TaskView>, DbError> {
    named!(client.query_typed("tasks/views/get.sql", id)).await?.first().map(TaskView::from_row).transpose()
}

/// Lists these tasks, newest first; missing ones are left out.
async fn by_ids(client: &Client, ids: Vec<TaskId>) -> Result<Vec<TaskView>, DbError> {
    let limit = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    list(client, &TaskFilter { ids: Some(ids), ..TaskFilter::default() }, limit).await
}

/// One task with its attempts and children.
pub async fn detail(client: &Client, id: TaskId) -> Result<Option<TaskDetail>, DbError> {
    // one after the other they would be three round trips
    let (task, attempts, children) = tokio::try_join!(get(client, id), attempts(client, id), children(client, id))?;
    Ok(task.map(|task| TaskDetail { task, attempts, children }))
}

async fn attempts(client: &Client, id: TaskId) -> Result<Vec<AttemptView>, DbError> {
    let rows = client.query(sql!("tasks/views/attempts.sql"), &[&id, &MAX_ATTEMPTS]).await?;
    rows.iter().rev().map(AttemptView::from_row).collect()
}

async fn children(client: &Client, id: TaskId) -> Result<Vec<TaskId>, DbError> {
    first_columns(&client.query(sql!("tasks/views/children.sql"), &[&id, &MAX_CHILDREN]).await?)
}

fn role_names(roles: &RoleSet) -> Vec<&'static str> {
    roles.roles().iter().map(|role| role.name()).collect()
}

/// Derives the state from the columns of [`TaskView`]; the table has no column for it.
fn retry_state_of(row: &Row, _: &str) -> Result<Option<Word<RetryState>>, DbError> {
    let Word::Known(status) = word(row, "status")? else { return Ok(None) };
    let has_error = row.try_get::<_, Option<&str>>("error_message")?.is_some();
    let state = retry_state(status, row.try_get("retry_count")?, row.try_get("max_retries")?, has_error);
    Ok(state.map(Word::Known))
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
        worker_id, worker_name, retry_count, max_retries,
        retry_state: retry_state_of,
        error_message, created_at, updated_at,
        claimed_at, started_at, completed_at, last_heartbeat_at, lease_expires_at, parent_task_id,
        schedule_id, progress_percent, progress_message, ready, depends_on, dedup_key,
    }

    AttemptView {
        fence, worker_id, worker_name,
        outcome: optional_word,
        error, claimed_at, finished_at,
        detail: optional_json,
    }
}
