//! Numbers of tasks by role and status.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use crate::statements::{FromRow, optional_word, read_all, sql, word};
use crate::{Client, DbError};
use contract::tasks::{Counts, ReadyTasks, TaskCounts};
use domain::task::role::Role;
use domain::vocabulary::{self, Word};

/// Open tasks exactly, ended ones as last counted.
pub async fn counts(client: &Client) -> Result<TaskCounts, DbError> {
    let rows = client.query_typed(sql!("tasks/views/counts.sql"), &[]).await?;
    let known = Role::CRAWL.into_iter().map(|role| (Word::Known(role), Counts::default())).collect();
    let mut counted = TaskCounts { all: Counts::default(), by_role: known, as_of: DateTime::<Utc>::MAX_UTC };
    for row in &rows {
        add(&mut counted, row)?;
    }
    Ok(counted)
}

/// Ready tasks by role.
pub async fn ready(client: &Client) -> Result<Vec<ReadyTasks>, DbError> {
    read_all(&client.query(sql!("tasks/views/ready.sql"), &[]).await?)
}

impl FromRow for ReadyTasks {
    fn from_row(row: &Row) -> Result<ReadyTasks, DbError> {
        Ok(ReadyTasks {
            role: word(row, "role")?,
            tasks: row.try_get("tasks")?,
            oldest_seconds: row.try_get::<_, f64>("oldest_seconds")?.max(0.0),
        })
    }
}

/// Adds a row: the tasks of one role in one status, or the time of the count alone.
fn add(counted: &mut TaskCounts, row: &Row) -> Result<(), DbError> {
    counted.as_of = counted.as_of.min(row.try_get("as_of")?);
    let Some(role) = optional_word(row, "role")? else { return Ok(()) };
    let Some(status) = vocabulary::find(row.try_get("status")?) else { return Ok(()) };
    let tasks = row.try_get("tasks")?;
    counted.all.add(status, tasks);
    counted.by_role.entry(role).or_default().add(status, tasks);
    Ok(())
}
