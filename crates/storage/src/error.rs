//! `StorageError`: why a file was not written or read, the remedy, and what its task does next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use domain::task::disposition::{Disposition, HasDisposition};
use foundation::process_limits::{self, REMEDY};

/// How long a task waits for a storage root that is full or away.
const SNOOZE: Duration = Duration::from_secs(10);

/// `path` is relative to the storage root, as the database has it.
#[derive(Debug, Error)]
pub enum StorageError {
    /// Try again later: no partial file is left behind.
    #[error(
        "no room to write {path}: {error}. Free space under the storage root, or raise its quota or the process's file size limit"
    )]
    Full { path: String, error: io::Error },
    /// Try again later: the root itself cannot be used, whatever the file.
    #[error(
        "the storage root {} cannot be used: {reason}. Mount it, give this user the right to write there, or correct storage.root",
        .root.display()
    )]
    Unavailable { root: PathBuf, reason: String },
    /// Try again later: the bucket itself cannot be used, whatever the object. No secret is in it.
    #[error(
        "the bucket {bucket} cannot be used: {reason}. Make its service answer, give these credentials the right to read, write, list and delete there, or correct [storage]"
    )]
    BucketUnavailable { bucket: String, reason: String },
    /// Try again later: neither the file nor the root is at fault.
    #[error("{path}: {error}: this process has used up what the system allows it; {REMEDY}")]
    ProcessLimit { path: String, error: io::Error },
    /// Trying again does not help; a new crawl does.
    #[error("{path} does not exist: it was removed, or the storage root is not the one it was written to")]
    Missing { path: String },
    /// Trying again does not help; a new crawl does.
    #[error("{path} is damaged: {reason}")]
    Corrupt { path: String, reason: String },
    #[error("'{path}' is not the path of a payload or image")]
    InvalidPath { path: String },
    #[error("{path}: {error}")]
    Io { path: String, error: io::Error },
}

impl StorageError {
    pub(super) fn from_io(path: &str, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            _ if process_limits::are_reached(&error) => StorageError::ProcessLimit { path, error },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StorageError::Full { path, error }
            }
            _ => StorageError::Io { path, error },
        }
    }

    pub(super) fn unavailable(root: &Path, reason: impl fmt::Display) -> Self {
        StorageError::Unavailable { root: root.to_owned(), reason: reason.to_string() }
    }

    /// An error that any other file under `root` would meet, too.
    pub(super) fn of_root(root: &Path, path: &str, error: io::Error) -> Self {
        match StorageError::from_io(path, error) {
            StorageError::Io { error, .. } => StorageError::unavailable(root, error),
            other => other,
        }
    }

    /// Whether the storage root or this process is at fault, so that every file fails until an operator
    /// repairs it.
    pub fn is_outage(&self) -> bool {
        self.is_of_place() || matches!(self, StorageError::ProcessLimit { .. })
    }

    /// Whether the place of the files is full or away.
    pub(super) fn is_of_place(&self) -> bool {
        matches!(
            self,
            StorageError::Full { .. } | StorageError::Unavailable { .. } | StorageError::BucketUnavailable { .. }
        )
    }

    /// Whether the file itself is at fault, so that reading it again cannot succeed.
    pub fn is_permanent(&self) -> bool {
        matches!(self, StorageError::Missing { .. } | StorageError::Corrupt { .. } | StorageError::InvalidPath { .. })
    }
}

/// An outage of the storage root costs no retry: the crawl continues by itself once there is room, or the
/// share is mounted.
impl HasDisposition for StorageError {
    fn disposition(&self) -> Disposition {
        match self {
            error if error.is_outage() => Disposition::snooze(SNOOZE),
            error if error.is_permanent() => Disposition::Permanent,
            _ => Disposition::Retry,
        }
    }
}
