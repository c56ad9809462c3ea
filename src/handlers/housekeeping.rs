//! `Housekeeping`: upkeep of the files: leftovers of killed runs, images that no row names, and whether
//! payloads can be written again.
//!
//! In: the database, the payload files and how long a lease is. Out: counts of removed files. It must not
//! know when it runs.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use db::Db;
use domain::store::StoreId;
use queue::TaskError;
use storage::{Images, Payloads, SweepReport, image_layout};

/// A payload's row may come this long after its fetch began, plus one lease.
const MAX_RUN_TIME: Duration = Duration::from_secs(3600);

/// Cheap to clone.
#[derive(Clone)]
pub struct Housekeeping {
    pub db: Db,
    pub payloads: Payloads,
}

impl Housekeeping {
    /// Moves payload files without a row away that were fetched longer than the lease and an hour ago, by the
    /// database's time, and removes temporary files.
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

    /// Removes images that no row names any more, and temporary files; returns how many.
    pub async fn sweep_images(&self) -> Result<usize, TaskError> {
        let images = Images::beside(&self.payloads);
        let client = self.db.client().await?;
        let times = db::payloads::sweep_times(&client, MAX_RUN_TIME).await?;
        let logos = db::products::images::stored_logos(&client).await?.into_iter().collect();
        // stores of one name share a directory
        let mut dirs: BTreeMap<String, Vec<StoreId>> = BTreeMap::new();
        for (id, state, store) in db::products::images::store_names(&client).await? {
            dirs.entry(image_layout::store_dir(state.as_deref(), &store)).or_default().push(id);
        }
        drop(client);
        let mut removed = images.sweep(image_layout::BRANDS.to_owned(), logos, times).await?;
        for (dir, stores) in dirs {
            let mut known = HashSet::new();
            for store in stores {
                known.extend(db::products::images::stored_of_store(&self.db.client().await?, store).await?);
            }
            removed += images.sweep(dir, known, times).await?;
        }
        Ok(removed)
    }

    /// Looks whether payloads can be written again, once they could not: a full disk, a share that is not
    /// mounted.
    pub async fn check_storage(&self) -> Result<(), TaskError> {
        if *self.payloads.can_write().borrow() {
            return Ok(());
        }
        Ok(self.payloads.check_room().await?)
    }
}
