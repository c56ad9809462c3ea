//! `v_worker_capacity`, row by row, and the same numbers of several roles taken together.

use tokio_postgres::Row;

use super::role_names;
use crate::row::{FromRow, read_all};
use crate::{Client, DbError};
use domain::capacity::Capacity;
use domain::role::RoleSet;

/// Each role that has open tasks, or tasks that ended within a day.
pub async fn by_role(client: &Client) -> Result<Vec<Capacity>, DbError> {
    read_all(&client.query(include_str!("../sql/task_views/capacity.sql"), &[]).await?)
}

/// Of these roles together, under the name by which they were asked for.
pub async fn of(client: &Client, roles: &RoleSet, name: &str) -> Result<Capacity, DbError> {
    let sql = include_str!("../sql/task_views/capacity_of.sql");
    Capacity::from_row(&client.query_one(sql, &[&role_names(roles), &name]).await?)
}

impl FromRow for Capacity {
    fn from_row(row: &Row) -> Result<Capacity, DbError> {
        Ok(Capacity {
            role: row.try_get("role")?,
            pending_tasks: row.try_get("pending_tasks")?,
            ready_tasks: row.try_get("ready_tasks")?,
            claimed_tasks: row.try_get("claimed_tasks")?,
            running_tasks: row.try_get("running_tasks")?,
            completed_last_hour: row.try_get("completed_last_hour")?,
            failed_last_hour: row.try_get("failed_last_hour")?,
            active_workers: row.try_get("active_workers")?,
            avg_duration_sec: row.try_get("avg_duration_sec")?,
            tasks_per_worker_hour: row.try_get("tasks_per_worker_hour")?,
            estimated_hours_to_drain: row.try_get("estimated_hours_to_drain")?,
        })
    }
}
