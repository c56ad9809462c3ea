//! `pauses`: the things that operators have stopped, with reasons and ends.
//!
//! In: the caller's transaction for changes. Out: pauses in force. How claims obey them is the business of
//! the queue, and for stores of `migrations/objects/18_pauses.sql`.

use chrono::{DateTime, Utc};

use crate::statements::{FromRow, first_column, named, read_all, rows, sql, word};
use crate::{Client, DbError};
use contract::pauses::Pause;
use domain::task::pause::{PauseTarget, Pauses};
use domain::worker::WorkerCommand;

/// Maximum number of pauses; each process that runs tasks reads all of them twice a second.
pub const MAX_PAUSES: usize = 1_000;

/// A pause to be made. `created_by` is the name of the caller.
#[derive(Debug)]
pub struct NewPause<'a> {
    pub target: &'a PauseTarget,
    pub reason: &'a str,
    pub until: Option<DateTime<Utc>>,
    pub created_by: &'a str,
}

/// All pauses in force, the widest scope first.
pub async fn list(client: &Client) -> Result<Vec<Pause>, DbError> {
    read_all(&client.query_typed(sql!("tasks/pauses/list.sql"), &[]).await?)
}

/// The pauses in force, for the decisions of a process. A scope or name of a newer program stops nothing here.
pub async fn in_force(client: &Client) -> Result<Pauses, DbError> {
    Ok(Pauses::new(list(client).await?.iter().filter_map(Pause::parsed).collect()))
}

/// Makes a pause; one of the same thing gets the new reason and end. The tasks of a paused store are not ready
/// any more when it returns, unless another session has their rows locked. `Missing`: the store.
pub async fn put(client: &Client, new: &NewPause<'_>) -> Result<Pause, DbError> {
    let NewPause { target, reason, until, created_by } = new;
    let row = named!(client.query_one(
        "tasks/pauses/put.sql",
        scope = target.scope().name(),
        target = target.name(),
        store = target.store(),
        reason,
        until,
        created_by
    ))
    .await?;
    match target {
        PauseTarget::Store(_) => drop(client.query_one("SELECT hold_paused_stores()", &[]).await?),
        PauseTarget::Worker(name) => {
            client.query_one("SELECT order_workers($1, $2)", &[name, &WorkerCommand::Pause.name()]).await?;
        }
        _ => {}
    }
    Pause::from_row(&row)
}

/// Ends a pause and returns it. `Missing` when there is none with this id.
pub async fn end(client: &Client, id: i64) -> Result<Pause, DbError> {
    let row = client.query_opt(sql!("tasks/pauses/end.sql"), &[&id]).await?;
    Pause::from_row(&row.ok_or_else(|| DbError::Missing(format!("pause {id}")))?)
}

/// Ends the pause of this thing, if there is one, and returns it.
pub async fn end_of(client: &Client, target: &PauseTarget) -> Result<Option<Pause>, DbError> {
    let sql = sql!("tasks/pauses/find.sql");
    match client.query_opt(sql, &[&target.scope().name(), &target.name()]).await? {
        Some(row) => Ok(Some(end(client, first_column(&row)?).await?)),
        None => Ok(None),
    }
}

/// The friendly name of the registered worker with this id or friendly name. `Missing` when there is none.
pub async fn worker_name(client: &Client, worker: &str) -> Result<String, DbError> {
    let row = client.query_opt(sql!("tasks/pauses/worker_name.sql"), &[&worker]).await?;
    first_column(&row.ok_or_else(|| DbError::Missing(format!("worker {worker}")))?)
}

/// Whether a worker of this pod is registered.
pub async fn pod_exists(client: &Client, pod: &str) -> Result<bool, DbError> {
    first_column(&client.query_one(sql!("tasks/pauses/pod_exists.sql"), &[&pod]).await?)
}

/// Removes pauses whose time is over, and takes reservations from the tasks of paused stores; returns the
/// number of changes.
pub async fn sweep(client: &Client) -> Result<u64, DbError> {
    let changed: i64 = first_column(&client.query_one("SELECT sweep_pauses()", &[]).await?)?;
    Ok(u64::try_from(changed).unwrap_or(0))
}

rows! {
    Pause { id, scope: word, of: "target", reason, until, created_at, created_by }
}
