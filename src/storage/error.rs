//! `StorageError`: why a file was not written or read, and what helps.

use std::io;

use thiserror::Error;

/// Paths in it are relative to the storage root, as the database has them.
#[derive(Debug, Error)]
pub enum StorageError {
    /// Try again later: nothing half is left behind.
    #[error(
        "no room to write {path}: {why}. Free space under the storage root, or raise its quota or the process's file size limit; the task is tried again"
    )]
    Full { path: String, why: io::Error },
    /// Trying again does not help; a new crawl does.
    #[error("{path} is not there: it was removed, or the storage root is not the one it was written to")]
    Missing { path: String },
    /// Trying again does not help; a new crawl does.
    #[error("{path} is damaged: {why}")]
    Corrupt { path: String, why: String },
    /// A path that no payload can have.
    #[error("'{path}' is no path of a payload")]
    Refused { path: String },
    #[error("{path}: {why}")]
    Io { path: String, why: io::Error },
}

impl StorageError {
    pub(super) fn from_io(path: &str, why: io::Error) -> Self {
        let path = path.to_owned();
        match why.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StorageError::Full { path, why }
            }
            _ => StorageError::Io { path, why },
        }
    }

    /// Whether the file itself is at fault, so that reading it again cannot succeed.
    pub fn is_permanent(&self) -> bool {
        matches!(self, StorageError::Missing { .. } | StorageError::Corrupt { .. } | StorageError::Refused { .. })
    }
}
