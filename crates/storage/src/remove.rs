//! The removal of payload files that retention has given up.
//!
//! In: storage paths whose rows are gone. Out: the paths whose files are gone, durably. It must not know the
//! database.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::left::Left;
use super::{Payloads, StorageError, durable, layout};

impl Payloads {
    /// Whether retention may remove files here: all payloads belong to this database.
    pub async fn is_exclusive(&self) -> Result<bool, StorageError> {
        self.files().is_exclusive(self.owner()).await
    }

    /// Removes these files; returns the paths whose files are gone, also after a crash. Files that cannot be
    /// removed are left out; so are all of them while another database keeps payloads here.
    pub async fn remove(&self, paths: Vec<String>) -> Result<Vec<String>, StorageError> {
        self.files().remove(self.owner(), paths).await
    }
}

pub(super) fn remove(root: &Path, paths: Vec<String>) -> Result<Vec<String>, StorageError> {
    let mut left = Left::default();
    let gone: Vec<String> = paths.into_iter().filter(|path| is_removed(root, path, &mut left)).collect();
    sync_days(root, &gone)?;
    Ok(gone)
}

fn is_removed(root: &Path, path: &str, left: &mut Left) -> bool {
    // a row with a path outside our layout has no file
    let Some(file) = layout::resolve(root, path) else { return true };
    match fs::remove_file(file) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => {
            left.add(path, StorageError::from_io(path, error));
            false
        }
    }
}

/// A removal that a crash undoes would leave a file without a row. Days, months and years without files go,
/// too.
fn sync_days(root: &Path, paths: &[String]) -> Result<(), StorageError> {
    let days: BTreeSet<&str> = paths.iter().filter_map(|path| path.rsplit_once('/')).map(|(day, _)| day).collect();
    for day in days {
        let mut dir = day;
        // it fails while there are files
        while layout::is_date(dir) && fs::remove_dir(root.join(dir)).is_ok() {
            dir = dir.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        match durable::sync(&root.join(dir)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StorageError::from_io(dir, error)),
            _ => {}
        }
    }
    Ok(())
}
