//! `Housekeeping`: upkeep of the payload files: what killed runs left behind, and whether payloads can be written again.
//!
//! In: the database, the payload files and how long a lease is. Out: what was swept. It must not know when it runs.

use std::time::Duration;

use super::TaskError;
use crate::db::{self, Db};
use crate::storage::{Payloads, SweepReport};

/// A payload's row may come this long after its fetch began, plus one lease.
const MAX_RUN_TIME: Duration = Duration::from_secs(3600);

/// Cheap to clone.
#[derive(Clone)]
pub struct Housekeeping {
    pub db: Db,
    pub payloads: Payloads,
}

impl Housekeeping {
    /// Moves payload files without a row away that were fetched longer than the lease and an hour ago, by the database's time,
    /// and removes temporary files.
    pub async fn sweep_files(&self, lease: Duration) -> Result<SweepReport, TaskError> {
        let client = self.db.client().await?;
        let times = db::payloads::sweep_times(&client, lease + MAX_RUN_TIME).await?;
        drop(client);
        let known = |paths: Vec<String>| async move {
            let client = self.db.client().await?;
            Ok::<_, TaskError>(db::payloads::known(&client, &paths).await?)
        };
        self.payloads.sweep(times, known).await
    }

    /// Looks whether payloads can be written again, once they could not: a full disk, a share that is not mounted.
    pub async fn check_storage(&self) -> Result<(), TaskError> {
        if *self.payloads.can_write().borrow() {
            return Ok(());
        }
        Ok(self.payloads.check_room().await?)
    }
}
