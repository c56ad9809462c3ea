//! `worker_registry` and `worker_commands`: the workers' reports about themselves, and the commands for them.
//!
//! Best effort: a worker whose row cannot be written works on. Nothing here decides which worker may run a
//! task.

pub mod pod_names;

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::{Client, DbError};
use crate::statements::{FromRow, first_column, json, named, read_all, rows, sql};
use domain::task::{Blame, TaskId, TaskLease};
use domain::vocabulary;
use domain::worker::{Resources, WorkerCommand, WorkerDocument, WorkerStatus};
use foundation::process::ProcessIdentity;

/// Writes a worker's heartbeat document; `every` is the time to its next one. Without `process`, its end shows by its silence alone.
pub async fn upsert(
    client: &Client,
    document: &WorkerDocument,
    every: Duration,
    process: Option<&ProcessIdentity>,
) -> Result<(), DbError> {
    let resources = serde_json::to_value(&document.resources).map_err(|error| DbError::Other(error.to_string()))?;
    named!(client.execute(
        "workers/upsert.sql",
        worker_id = document.worker_id,
        friendly_name = document.friendly_name,
        pod = document.pod,
        role = document.role,
        roles = document.roles,
        status = document.status.name(),
        task_ids = document.current_task_ids,
        slots = document.max_concurrent_tasks as i32,
        resources,
        seconds = every.as_secs_f32(),
        started_at = document.started_at,
        host = process.map(|process| &process.host),
        pid = process.map(|process| process.pid),
        pid_space = process.and_then(|process| process.pid_space.as_ref())
    ))
    .await?;
    Ok(())
}

pub async fn list(client: &Client) -> Result<Vec<WorkerDocument>, DbError> {
    read_all(&client.query(sql!("workers/list.sql"), &[&None::<String>]).await?)
}

/// Same as [`list`], each worker with the tasks that the queue says it holds now: its own report of them is as old as its
/// last heartbeat.
pub async fn list_with_tasks(client: &Client) -> Result<Vec<WorkerDocument>, DbError> {
    let mut workers = list(client).await?;
    let mut held = HashMap::new();
    for row in &client.query(sql!("workers/active_tasks.sql"), &[]).await? {
        held.insert(row.try_get::<_, String>("worker_id")?, row.try_get::<_, Vec<TaskId>>("ids")?);
    }
    for worker in &mut workers {
        let ids = held.remove(&worker.worker_id).filter(|_| worker.status != WorkerStatus::Offline).unwrap_or_default();
        worker.current_task_id = ids.first().copied();
        worker.active_task_count = ids.len();
        worker.current_task_ids = ids;
    }
    Ok(workers)
}

/// `Missing` when no worker is registered by that id.
pub async fn get(client: &Client, worker_id: &str) -> Result<WorkerDocument, DbError> {
    let rows = client.query(sql!("workers/list.sql"), &[&Some(worker_id)]).await?;
    read_all(&rows)?.pop().ok_or_else(|| DbError::Missing(format!("worker {worker_id}")))
}

/// Removes workers that have left in good order.
pub async fn deregister(client: &Client, worker_ids: &[String]) -> Result<(), DbError> {
    client.execute(sql!("workers/deregister.sql"), &[&worker_ids]).await?;
    Ok(())
}

/// Marks silent workers offline and removes workers that were offline for a day; returns the number that went
/// offline.
pub async fn sweep(client: &Client) -> Result<u64, DbError> {
    client.execute(sql!("workers/sweep.sql"), &[]).await
}

/// A worker that is not offline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveWorker {
    pub worker_id: String,
    pub pod: String,
    /// None = unknown.
    pub process: Option<ProcessIdentity>,
}

/// All workers that are not offline.
pub async fn live(client: &Client) -> Result<Vec<LiveWorker>, DbError> {
    read_all(&client.query(sql!("workers/live_processes.sql"), &[]).await?)
}

/// The runs that these workers hold, of at most 10,000 tasks; for workers whose process has ended.
pub async fn held_leases(client: &Client, worker_ids: &[String]) -> Result<Vec<(TaskLease, Blame)>, DbError> {
    let rows = client.query(sql!("workers/held_leases.sql"), &[&worker_ids]).await?;
    rows.iter().map(held_lease).collect()
}

fn held_lease(row: &Row) -> Result<(TaskLease, Blame), DbError> {
    let lease =
        TaskLease { id: row.try_get("id")?, fence: row.try_get("fence")?, worker_id: row.try_get("worker_id")? };
    let blame = match row.try_get("is_blamed")? {
        true => Blame::Task,
        false => Blame::NoTask,
    };
    Ok((lease, blame))
}

/// Marks workers offline whose process has ended.
pub async fn mark_offline(client: &Client, worker_ids: &[String]) -> Result<(), DbError> {
    client.execute(sql!("workers/mark_offline.sql"), &[&worker_ids]).await?;
    Ok(())
}

/// A command that its worker has not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCommand {
    pub id: i64,
    pub worker_id: String,
    pub command: WorkerCommand,
}

/// The database's time, from which a starting process takes commands: older ones were for a predecessor of
/// the same id.
pub async fn now(client: &Client) -> Result<DateTime<Utc>, DbError> {
    first_column(&client.query_one("SELECT now()", &[]).await?)
}

/// Orders a worker to obey `command` with its next heartbeat. `Missing` when no worker is registered by that
/// id.
pub async fn order(client: &Client, worker_id: &str, command: WorkerCommand) -> Result<(), DbError> {
    let command: &str = command.into();
    match client.execute(sql!("workers/order.sql"), &[&worker_id, &command]).await? {
        0 => Err(DbError::Missing(format!("worker {worker_id}"))),
        _ => Ok(()),
    }
}

/// Open commands for these workers that were given after `since`, oldest first. Each stays open until
/// [`mark_taken`] marks it.
pub async fn open_commands(
    client: &Client,
    worker_ids: &[String],
    since: DateTime<Utc>,
) -> Result<Vec<OpenCommand>, DbError> {
    let rows = client.query(sql!("workers/open_commands.sql"), &[&worker_ids, &since]).await?;
    rows.iter().filter_map(|row| open_command(row).transpose()).collect()
}

/// Marks these commands as delivered.
pub async fn mark_taken(client: &Client, commands: &[OpenCommand]) -> Result<(), DbError> {
    let ids: Vec<i64> = commands.iter().map(|open| open.id).collect();
    client.execute(sql!("workers/mark_taken.sql"), &[&ids]).await?;
    Ok(())
}

/// None = a command that this program does not know.
fn open_command(row: &Row) -> Result<Option<OpenCommand>, DbError> {
    let Some(command) = vocabulary::find(row.try_get("command")?) else { return Ok(None) };
    Ok(Some(OpenCommand { id: row.try_get("id")?, worker_id: row.try_get("worker_id")?, command }))
}

rows! {
    WorkerDocument {
        worker_id,
        current_task_id: first("current_task_ids"),
        current_task_ids,
        active_task_count: count,
        max_concurrent_tasks: count,
        status: status,
        resources: resources,
        friendly_name, pod, role, roles, last_heartbeat_at, started_at,
    }
}

impl FromRow for LiveWorker {
    fn from_row(row: &Row) -> Result<LiveWorker, DbError> {
        let pid: Option<i32> = row.try_get("pid")?;
        let (host, pid_space) = (row.try_get::<_, Option<String>>("host")?, row.try_get("pid_space")?);
        let process = pid.map(|pid| ProcessIdentity { host: host.unwrap_or_default(), pid, pid_space });
        Ok(LiveWorker { worker_id: row.try_get("worker_id")?, pod: row.try_get("pod")?, process })
    }
}

fn first(row: &Row, column: &str) -> Result<Option<TaskId>, DbError> {
    Ok(row.try_get::<_, Vec<TaskId>>(column)?.first().copied())
}

/// A status of a newer program counts as offline.
fn status(row: &Row, column: &str) -> Result<WorkerStatus, DbError> {
    Ok(vocabulary::find(row.try_get(column)?).unwrap_or(WorkerStatus::Offline))
}

fn resources(row: &Row, column: &str) -> Result<Resources, DbError> {
    Ok(serde_json::from_value(json(row, column)?).unwrap_or_default())
}

fn count(row: &Row, column: &str) -> Result<usize, DbError> {
    Ok(usize::try_from(row.try_get::<_, i32>(column)?).unwrap_or_default())
}
