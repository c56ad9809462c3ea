//! `Place`: where the files of a database are, by the configuration: a directory, or a bucket.
//!
//! In: the section `[storage]`. Out: a value that [`Payloads`](super::Payloads) and
//! [`Images`](super::Images) are made of. It asks no service.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use super::files::Files;
use super::local::Local;
use super::{StorageError, bucket};
use settings::Config;

/// Cheap to clone; all clones share the limits of concurrent operations.
#[derive(Clone, Debug)]
pub struct Place(Arc<dyn Files>);

/// Why the place cannot be used.
#[derive(Debug, Error)]
pub enum PlaceError {
    #[error("{key}: {} cannot be read: {reason}", .file.display())]
    File { key: &'static str, file: PathBuf, reason: String },
    #[error("storage.extra_ca_file: {0}")]
    Authorities(String),
    /// The library's message.
    #[error("[storage] is not accepted: {0}")]
    Refused(String),
    #[error("storage.driver: this program has no drivers for buckets: build it with the feature cloud")]
    NoDriver,
}

impl Place {
    /// Reads the files with credentials, if there are some.
    pub fn of(config: &Config) -> Result<Place, PlaceError> {
        match config.storage.is_local() {
            true => Ok(config.storage_root().into()),
            false => bucket::open(&config.storage).map(Place),
        }
    }

    /// The directory; none for a bucket.
    pub fn root(&self) -> Option<&Path> {
        self.0.root()
    }

    /// Whether files can be made and removed here; leaves nothing behind.
    pub async fn probe(&self) -> Result<(), StorageError> {
        self.0.probe().await
    }

    pub(super) fn files(&self) -> &dyn Files {
        &*self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name())
    }
}

impl<P: AsRef<Path>> From<P> for Place {
    fn from(root: P) -> Place {
        Place(Arc::new(Local::new(root.as_ref())))
    }
}
