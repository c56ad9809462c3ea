//! `MediaFiles`: downloaded media, one file for each content, never changed once it is there.
//!
//! In: a whole file of a work directory, with its digest. Out: a path relative to the storage root, durable
//! before it is returned. It must not know where media come from.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::error::StorageError;
use super::payloads::Payloads;
use super::{durable, media_layout};

/// The media files of one database in one place. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MediaFiles(Payloads);

impl MediaFiles {
    /// Beside these payloads, under the same root and owner.
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
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, &to).map_err(failed),
        moved => moved.map_err(failed),
    }
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// To another file system.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let temporary = durable::copy_temporary(to.parent().unwrap_or(to), &mut source)?;
    // another process may have been faster: it wrote the same
    durable::persist_new(temporary, to).map(drop)?;
    remove(from)
}
