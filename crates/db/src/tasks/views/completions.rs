//! Completed tasks of roles, and the active task of a store.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::Type;

use super::{by_ids, get, role_names};
use crate::statements::{first_column, first_columns, sql};
use crate::{Client, DbError};
use contract::tasks::TaskView;
use domain::store::StoreId;
use domain::task::TaskId;
use domain::task::role::RoleSet;

/// Time when one of some roles last completed a task; None when no completed task is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCompletion {
    pub task_id: Option<TaskId>,
    pub completed_at: Option<DateTime<Utc>>,
}

pub async fn last(client: &Client, roles: &RoleSet) -> Result<LastCompletion, DbError> {
    let sql = sql!("tasks/views/last_completion.sql");
    let rows = client.query_planned(sql, &[(&role_names(roles), Type::TEXT_ARRAY)]).await?;
    let Some(row) = rows.first() else { return Ok(LastCompletion::default()) };
    Ok(LastCompletion { task_id: row.try_get("id")?, completed_at: row.try_get("completed_at")? })
}

/// Lists at most `limit` completed tasks of these roles, the last one first.
pub async fn recent(client: &Client, roles: &RoleSet, limit: i64) -> Result<Vec<TaskView>, DbError> {
    let sql = sql!("tasks/views/recent_completions.sql");
    let rows = client.query_planned(sql, &[(&role_names(roles), Type::TEXT_ARRAY), (&limit, Type::INT8)]).await?;
    let mut tasks = by_ids(client, first_columns(&rows)?).await?;
    tasks.sort_by_key(|task| std::cmp::Reverse((task.completed_at, task.id)));
    Ok(tasks)
}

/// Shows the task of a store that a worker holds.
pub async fn active_of_store(client: &Client, store: StoreId) -> Result<Option<TaskView>, DbError> {
    match client.query_opt(sql!("tasks/views/active_of_store.sql"), &[&store]).await? {
        None => Ok(None),
        Some(row) => get(client, first_column(&row)?).await,
    }
}
