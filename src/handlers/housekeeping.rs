//! Cleaning up after runs that were killed between their file and its row.
//!
//! In: the services and how long a lease is. Out: what was swept. It must not know when it runs.

use std::time::Duration;

use super::{Services, TaskError};
use crate::db;
use crate::storage::SweepReport;

/// A run may write a payload's row this long after its fetch began, and its lease.
const MAX_RUN: Duration = Duration::from_secs(3600);

/// Moves payload files without a row away that were fetched longer than the lease and an hour ago, by the database's time, and
/// removes temporary files.
pub async fn sweep_files(services: &Services, lease: Duration) -> Result<SweepReport, TaskError> {
    let db = services.db.clone();
    let client = db.client().await?;
    let times = db::payloads::sweep_times(&client, lease + MAX_RUN).await?;
    drop(client);
    let known = |paths: Vec<String>| {
        let db = db.clone();
        async move {
            let client = db.client().await?;
            Ok::<_, TaskError>(db::payloads::known(&client, &paths).await?)
        }
    };
    services.payloads.sweep(times, known).await
}

/// Looks whether payloads can be written again, once they could not: a full disk, a share that is not mounted.
pub async fn check_storage(services: &Services) -> Result<(), TaskError> {
    if *services.payloads.can_write().borrow() {
        return Ok(());
    }
    Ok(services.payloads.check_room().await?)
}
