//! Writes of a run before its end: a long run keeps what it has.
//!
//! In: the run's lease and its writes. Out: a committed transaction, fenced like the one that ends the run. It
//! must not know how often a run saves, nor what.

use thiserror::Error;

use super::outcome::{FollowUp, TaskError, Write, WriteResults};
use db::tasks::NewTask;
use db::{Db, DbError, tasks};
use domain::task::TaskLease;

/// Why a run could not save. `?` makes it the end of the run.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The task belongs to another run, or to none: nothing was written, and the body has to stop.
    #[error("the lease of the run is lost")]
    LeaseLost,
    /// Failure of the database. After `Unavailable` the save may have been written; the next one may bring the same again.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Writes for a run that still has its lease, in a short transaction of its own, with the follow-ups of these
/// writes; returns their results. `platform` is the task's, which follow-ups have where they name none.
pub async fn save(
    db: &Db,
    lease: &TaskLease,
    platform: Option<&str>,
    write: &dyn Write,
) -> Result<WriteResults, SaveError> {
    let tx = db.begin().await?;
    let written = write.run(&tx).await?;
    let task = |next: &FollowUp| next.task(lease.id, platform, next.role.default_priority());
    let follow_ups: Vec<NewTask> = written.next.iter().map(task).collect();
    tasks::chain(&tx, &follow_ups).await?;
    tasks::lock_run(&tx, lease).await.map_err(|error| match error {
        DbError::Missing(_) => SaveError::LeaseLost,
        error => SaveError::Db(error),
    })?;
    tx.commit().await?;
    Ok(written)
}

impl SaveError {
    /// Whether the same writes may be saved later.
    pub fn is_external(&self) -> bool {
        matches!(self, SaveError::Db(error) if error.is_external())
    }
}

impl From<SaveError> for TaskError {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::LeaseLost => TaskError::LeaseLost,
            SaveError::Db(error) => error.into(),
        }
    }
}
