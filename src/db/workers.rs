//! `worker_registry` and `worker_commands`: who is there, as they say themselves, and what they are told.
//!
//! Best effort: a worker whose row cannot be written works on. Nothing here decides who may run a task.

use std::time::Duration;

use tokio_postgres::Row;

use super::{Client, DbError};
use crate::domain::worker::{WorkerCommand, WorkerDocument, WorkerStatus};

/// Writes a worker's heartbeat document; `every` is the time to its next one.
pub async fn upsert(client: &Client, document: &WorkerDocument, every: Duration) -> Result<(), DbError> {
    let resources = serde_json::to_value(&document.resources).map_err(|error| DbError::Other(error.to_string()))?;
    client
        .execute(
            include_str!("sql/workers/upsert.sql"),
            &[
                &document.worker_id,
                &document.friendly_name,
                &document.pod,
                &document.role,
                &document.roles,
                &document.status.name(),
                &document.current_task_ids,
                &(document.max_concurrent_tasks as i32),
                &resources,
                &every.as_secs_f32(),
            ],
        )
        .await?;
    Ok(())
}

pub async fn list(client: &Client) -> Result<Vec<WorkerDocument>, DbError> {
    let rows = client.query(include_str!("sql/workers/list.sql"), &[]).await?;
    Ok(rows.iter().map(document).collect())
}

/// Forgets workers that have left in good order.
pub async fn deregister(client: &Client, worker_ids: &[String]) -> Result<(), DbError> {
    client.execute("DELETE FROM worker_registry WHERE worker_id = ANY ($1)", &[&worker_ids]).await?;
    Ok(())
}

/// Marks silent workers offline and forgets the long gone; returns how many went offline.
pub async fn sweep(client: &Client) -> Result<u64, DbError> {
    client.execute(include_str!("sql/workers/sweep.sql"), &[]).await
}

/// Pods that have a live worker: their names are taken.
pub async fn live_pods(client: &Client) -> Result<Vec<String>, DbError> {
    let rows = client.query("SELECT DISTINCT pod FROM worker_registry WHERE status <> 'offline'", &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// What somebody ordered a worker to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCommand {
    pub id: i64,
    pub worker_id: String,
    pub command: WorkerCommand,
}

/// The open commands for these workers, oldest first. Each stays open until it is said to be [`taken`].
pub async fn open_commands(client: &Client, worker_ids: &[String]) -> Result<Vec<OpenCommand>, DbError> {
    let rows = client.query(include_str!("sql/workers/open_commands.sql"), &[&worker_ids]).await?;
    let read = |row: &Row| {
        Some(OpenCommand { id: row.get("id"), worker_id: row.get("worker_id"), command: command(row.get("command"))? })
    };
    Ok(rows.iter().filter_map(read).collect())
}

/// These commands were delivered.
pub async fn taken(client: &Client, commands: &[OpenCommand]) -> Result<(), DbError> {
    let ids: Vec<i64> = commands.iter().map(|open| open.id).collect();
    client.execute("UPDATE worker_commands SET taken_at = now() WHERE id = ANY ($1)", &[&ids]).await?;
    Ok(())
}

fn command(word: &str) -> Option<WorkerCommand> {
    match word {
        "decommission" => Some(WorkerCommand::Decommission),
        "pause" => Some(WorkerCommand::Pause),
        "resume" => Some(WorkerCommand::Resume),
        _ => None,
    }
}

fn document(row: &Row) -> WorkerDocument {
    let status: &str = row.get("status");
    let current_task_ids: Vec<i64> = row.get("current_task_ids");
    WorkerDocument {
        worker_id: row.get("worker_id"),
        current_task_id: current_task_ids.first().copied(),
        active_task_count: row.get::<_, i32>("active_task_count") as usize,
        current_task_ids,
        max_concurrent_tasks: row.get::<_, i32>("max_concurrent_tasks") as usize,
        status: WorkerStatus::ALL.into_iter().find(|known| known.name() == status).unwrap_or(WorkerStatus::Offline),
        resources: serde_json::from_value(row.get("resources")).unwrap_or_default(),
        friendly_name: row.get("friendly_name"),
        pod: row.get("pod"),
        role: row.get("role"),
        roles: row.get("roles"),
        last_heartbeat_at: row.get("last_heartbeat_at"),
        started_at: row.get("started_at"),
    }
}
