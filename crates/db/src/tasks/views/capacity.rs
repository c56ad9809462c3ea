//! `v_worker_capacity`, row by row, and the same numbers for several roles together.

use super::role_names;
use crate::statements::{FromRow, read_all, rows, sql};
use crate::{Client, DbError};
use domain::task::role::RoleSet;
use domain::worker::capacity::Capacity;

/// Every role with open tasks, or with tasks that ended within a day.
pub async fn by_role(client: &Client) -> Result<Vec<Capacity>, DbError> {
    read_all(&client.query(sql!("tasks/views/capacity.sql"), &[]).await?)
}

/// Capacity of these roles together, under the requested name.
pub async fn of(client: &Client, roles: &RoleSet, name: &str) -> Result<Capacity, DbError> {
    let sql = sql!("tasks/views/capacity_of.sql");
    Capacity::from_row(&client.query_one(sql, &[&role_names(roles), &name]).await?)
}

rows! {
    Capacity {
        role, pending_tasks, ready_tasks, claimed_tasks, running_tasks, completed_last_hour,
        failed_last_hour, active_workers, avg_duration_sec, tasks_per_worker_hour,
        estimated_hours_to_drain, measured_runs,
    }
}
