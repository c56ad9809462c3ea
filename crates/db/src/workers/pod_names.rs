//! `pod_names`: names that processes have taken while they start. Until its workers are registered, nothing else
//! shows which name a process uses.
//!
//! In: a transaction that holds the lock of the names. Out: the names of others, and this process's own. It
//! must not know how a name is chosen.

use std::time::Duration;

use tokio_postgres::Row;

use crate::statements::{FromRow, named, read_all, sql};
use crate::{DbError, Tx};
use foundation::process::ProcessIdentity;

/// Maximum time until a process has registered its workers.
const MAX_START_TIME: Duration = Duration::from_secs(120);

/// A name that was taken lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenName {
    pub name: String,
    pub process: ProcessIdentity,
}

/// Locks the names until the transaction ends; returns the ones taken lately.
pub async fn lock(tx: &Tx) -> Result<Vec<TakenName>, DbError> {
    tx.execute(sql!("workers/pod_names/lock.sql"), &[]).await?;
    tx.execute(sql!("workers/pod_names/prune.sql"), &[]).await?;
    read_all(&tx.query(sql!("workers/pod_names/list.sql"), &[]).await?)
}

/// Takes names, also from a process that had them.
pub async fn take(tx: &Tx, names: &[String], process: &ProcessIdentity) -> Result<(), DbError> {
    let ProcessIdentity { host, pid, pid_space } = process;
    named!(tx.execute(
        "workers/pod_names/take.sql",
        names,
        host,
        pid,
        pid_space,
        seconds = MAX_START_TIME.as_secs_f64()
    ))
    .await
    .map(drop)
}

impl FromRow for TakenName {
    fn from_row(row: &Row) -> Result<TakenName, DbError> {
        let process = ProcessIdentity {
            host: row.try_get("host")?,
            pid: row.try_get("pid")?,
            pid_space: row.try_get("pid_space")?,
        };
        Ok(TakenName { name: row.try_get("name")?, process })
    }
}
