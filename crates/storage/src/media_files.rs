//! `MediaFiles`: downloaded media, one file for each content, never changed once it is there.
//!
//! In: a whole file of a work directory, with its digest. Out: a path relative to the storage root, durable
//! before it is returned. It must not know where media come from.

use std::fs::{self, File, FileType};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Payloads, StorageError, durable, media_layout, sweep};

/// Directory in which copies are made, so that no half file is below `media/`.
const COPIES: &str = "media-copies";
/// An older copy belongs to a dead process.
const MAX_COPY_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The media files of one database in one place. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MediaFiles(Payloads);

impl MediaFiles {
    /// Media files beside these payloads, under the same root and owner.
    pub fn beside(payloads: &Payloads) -> MediaFiles {
        MediaFiles(payloads.clone())
    }

    /// Moves `file`, whose content has this SHA-256, to its place. Where that content is there already, `file`
    /// is removed.
    pub async fn store(&self, file: &Path, sha256: &str, extension: &str) -> Result<String, StorageError> {
        let path = media_layout::file(sha256, extension);
        let path = path.ok_or_else(|| StorageError::InvalidPath { path: format!("{sha256}.{extension}") })?;
        self.0.files().take_media(self.0.owner(), path.clone(), file.to_owned()).await?;
        Ok(path)
    }
}

/// Moves `from` to `path` below `root`. A crash leaves it at one of the two, whole.
pub(super) fn take(root: &Path, path: &str, from: &Path) -> Result<(), StorageError> {
    let failed = |error| StorageError::from_io(path, error);
    let to = root.join(path);
    if to.is_file() {
        return remove(from).map_err(failed);
    }
    File::open(from).and_then(|file| file.sync_all()).map_err(failed)?;
    match durable::rename_durably(from, &to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            remove_left(root)?;
            copy(root, from, &to).map_err(failed)
        }
        moved => moved.map_err(failed),
    }
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a file to another file system.
fn copy(root: &Path, from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let temporary = durable::copy_temporary(&root.join(COPIES), &mut source)?;
    // another process may have been faster: it wrote the same
    durable::persist_new(temporary, to).map(drop)?;
    remove(from)
}

/// Removes the copies of dead processes.
fn remove_left(root: &Path) -> Result<(), StorageError> {
    let mut copies = sweep::entries(root, COPIES, FileType::is_file)?;
    copies.retain(|copy| is_left(&root.join(copy)));
    sweep::remove(root, &copies, durable::is_temporary).map(drop)
}

fn is_left(copy: &Path) -> bool {
    let age = fs::metadata(copy).and_then(|file| file.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > MAX_COPY_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_from_another_file_system_removes_what_dead_processes_left() {
        let root = tempfile::tempdir().unwrap();
        let place = |path: &str| root.path().join(path);
        fs::create_dir(place(COPIES)).unwrap();
        let copies = ["old", "new"].map(|_| durable::write_unsynced(&place(COPIES), b"half").unwrap().keep().unwrap());
        let day_before = copies[0].0.metadata().unwrap().modified().unwrap() - MAX_COPY_TIME - Duration::from_secs(1);
        copies[0].0.set_modified(day_before).unwrap();
        fs::write(place("from"), "whole").unwrap();

        let to = place("media/ab/file.mp4");
        remove_left(root.path()).unwrap();
        copy(root.path(), &place("from"), &to).unwrap();
        assert_eq!(fs::read(to).unwrap(), b"whole");
        assert_eq!((place("from").exists(), copies[0].1.exists(), copies[1].1.exists()), (false, false, true));
        assert_eq!(fs::read_dir(place(COPIES)).unwrap().count(), 1);
    }
}
