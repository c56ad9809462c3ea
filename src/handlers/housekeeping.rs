//! Tidying up after runs that were killed between their file and its row.

use std::time::Duration;

use chrono::TimeDelta;

use super::{Services, TaskError};
use crate::db;

/// A file that young may still get its row.
const MARGIN: Duration = Duration::from_secs(3600);

/// Removes payload files without a row that are older than the lease and an hour, and stale temporary files.
pub async fn sweep_files(services: &Services, lease: Duration) -> Result<(), TaskError> {
    let age = TimeDelta::from_std(lease + MARGIN).unwrap_or(TimeDelta::MAX);
    let before = services.clock.utc() - age;
    let db = services.db.clone();
    let owner = db::installation::id(&db.client().await?).await?;
    services
        .payloads
        .sweep(&owner, before, |paths: Vec<String>| {
            let db = db.clone();
            async move {
                let client = db.client().await?;
                Ok::<_, TaskError>(db::payloads::known(&client, &paths).await?)
            }
        })
        .await
        .map(drop)
}
