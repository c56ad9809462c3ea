//! Writes of a run before its end: a long run keeps what it has.
//!
//! In: the run's lease and its writes. Out: a committed transaction, fenced like the one that ends the run. It
//! must not know how often a run saves, nor what.

use thiserror::Error;

use super::outcome::{TaskError, Write};
use db::{Db, DbError, tasks};
use domain::task::TaskLease;

/// Why a run could not save. `?` makes it the end of the run.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The task belongs to another run, or to none: nothing was written, and the body has to stop.
    #[error("the lease of the run is lost")]
    LeaseLost,
    /// After `Unavailable` it may have been written. The next save may bring the same again.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Writes for a run that still has its lease, in a short transaction of its own. The results of `write` are
/// not used.
pub async fn save(db: &Db, lease: &TaskLease, write: &dyn Write) -> Result<(), SaveError> {
    let tx = db.begin().await?;
    write.run(&tx).await?;
    tasks::lock_run(&tx, lease).await.map_err(|error| match error {
        DbError::Missing(_) => SaveError::LeaseLost,
        error => SaveError::Db(error),
    })?;
    Ok(tx.commit().await?)
}

impl From<SaveError> for TaskError {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::LeaseLost => TaskError::LeaseLost,
            SaveError::Db(error) => error.into(),
        }
    }
}
