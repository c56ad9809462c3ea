//! `PayloadFiles`: the payload files of the database that the API serves.
//!
//! In: where the files are, and how platforms' answers become products: a function, since the API knows no
//! platforms. Whose files they are is the database's to say, which is asked when the first one is read.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::ApiError;
use db::{Db, schema};
use domain::menu::Normalise;
use storage::{Payloads, Place, StorageError};

/// Cheap to clone.
#[derive(Clone)]
pub struct PayloadFiles {
    pub(super) normalise: Normalise,
    place: Place,
    opened: Arc<OnceCell<Payloads>>,
}

impl PayloadFiles {
    pub fn new(place: impl Into<Place>, normalise: Normalise) -> Self {
        PayloadFiles { normalise, place: place.into(), opened: Arc::default() }
    }

    /// The directory; none for a bucket.
    pub(super) fn root(&self) -> Option<&Path> {
        self.place.root()
    }

    pub(super) async fn open(&self, db: &Db) -> Result<&Payloads, ApiError> {
        let open = async || {
            let owner = schema::installation::storage_owner(&db.api_client().await?).await?;
            Ok::<_, ApiError>(Payloads::new(self.place.clone(), owner))
        };
        self.opened.get_or_try_init(open).await
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Missing { .. } => ApiError::Gone(error.to_string()),
            StorageError::Corrupt { .. } | StorageError::InvalidPath { .. } => ApiError::Damaged(error.to_string()),
            StorageError::Full { .. }
            | StorageError::Unavailable { .. }
            | StorageError::BucketUnavailable { .. }
            | StorageError::ProcessLimit { .. }
            | StorageError::Io { .. } => ApiError::FilesUnavailable(error.to_string()),
        }
    }
}
