//! `Payloads`: raw upstream answers, one gzipped file a crawl.
//!
//! In: the pages of a crawl. Out: the path, size and hash of a file, which is durable before they are
//! returned and never changed afterwards. A file whose row was never written is swept.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use nix::fcntl::OFlag;
use tokio::sync::watch;

use super::files::{Files, MAX_NAMES, MAX_PAYLOAD_BYTES};
use super::owner::{self, Owner, Ownership};
use super::{Place, StorageError, document, durable, layout};
use domain::store::StoreId;
use foundation::cpu;
use foundation::digest::sha256_hex;

pub use super::document::{PageBytes, PayloadContent, PayloadHead, StoredMenu};

/// How long the result of a write or check that found the root usable is trusted.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// The payload files of one database in one place. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Payloads {
    place: Place,
    owner: Owner,
    /// Whether the last write or check found the place usable.
    can_write: Arc<watch::Sender<bool>>,
    /// Time of the last write or check that succeeded.
    usable_at: Arc<Mutex<Option<Instant>>>,
}

/// A payload that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadFile {
    /// Relative to the storage root, beginning `payloads/`.
    pub storage_path: String,
    /// Hash of the file's bytes, in lower-case hex.
    pub sha256: String,
    pub bytes: u64,
}

impl Payloads {
    /// `owner` names the database that has the rows of these files.
    pub fn new(place: impl Into<Place>, owner: impl AsRef<str>) -> Self {
        Payloads {
            place: place.into(),
            owner: Owner::new(owner.as_ref()),
            can_write: Arc::new(watch::Sender::new(true)),
            usable_at: Arc::default(),
        }
    }

    /// The database has payloads already: a place without an owner is unavailable, and not a new one.
    pub fn expect_owner(&self) {
        self.owner.assume_registered_before();
    }

    /// Registers this database as the place's owner. Writes do so first. A place that had an owner and has
    /// none any more is unavailable: its share is away.
    pub async fn register_owner(&self) -> Result<Ownership, StorageError> {
        self.files().register(self.owner()).await
    }

    /// Checks that there is room for a payload, before a menu is fetched that could not be written. A recent
    /// result is reused.
    pub async fn check_room(&self) -> Result<(), StorageError> {
        if self.was_usable_lately() {
            return Ok(());
        }
        let could_write = *self.can_write.borrow();
        self.note_write(self.files().check_room(self.owner(), could_write).await)
    }

    /// False from a write or check that finds the disk full or the root unusable, to the next one that does
    /// not.
    pub fn can_write(&self) -> watch::Receiver<bool> {
        self.can_write.subscribe()
    }

    fn was_usable_lately(&self) -> bool {
        let usable_at = *self.usable_at.lock().unwrap_or_else(PoisonError::into_inner);
        usable_at.is_some_and(|at| at.elapsed() < CHECK_EVERY)
    }

    fn note_write<T>(&self, written: Result<T, StorageError>) -> Result<T, StorageError> {
        let can_write = !written.as_ref().is_err_and(StorageError::is_of_place);
        *self.usable_at.lock().unwrap_or_else(PoisonError::into_inner) = written.is_ok().then(Instant::now);
        self.can_write.send_if_modified(|now| std::mem::replace(now, can_write) != can_write);
        written
    }

    /// Writes one crawl's payload under a name that no other has.
    pub async fn write(&self, content: PayloadContent) -> Result<PayloadFile, StorageError> {
        let (store, at) = (content.head.dispensary_id, content.head.fetched_at);
        let encoded = cpu::run(move || document::encode(&content).map(|bytes| (sha256_hex(&bytes), bytes))).await;
        let (sha256, bytes) = encoded.map_err(|error| StorageError::from_io(&layout::payload(store, at), error))?;
        let size = bytes.len() as u64;
        let created = self.files().create_payload(self.owner(), store, at, bytes.into()).await;
        Ok(PayloadFile { storage_path: self.note_write(created)?, sha256, bytes: size })
    }

    /// Reads a payload whose bytes have the hash `sha256`.
    pub async fn read(&self, storage_path: &str, sha256: &str) -> Result<StoredMenu, StorageError> {
        self.read_with(storage_path, sha256, |menu| menu).await
    }

    /// Reads a payload whose bytes have the hash `sha256`, and hands it to `work` on the CPU pool: as few of
    /// them are inflated at a time as the pool has threads.
    pub async fn read_with<T: Send + 'static>(
        &self,
        storage_path: &str,
        sha256: &str,
        work: impl FnOnce(StoredMenu) -> T + Send + 'static,
    ) -> Result<T, StorageError> {
        let (path, expected) = (storage_path.to_owned(), sha256.to_owned());
        let bytes = self.files().read_payload(path.clone()).await?;
        cpu::run(move || decode(&bytes, path, &expected).map(work)).await
    }

    /// The paths among these that are not files. An error where the whole place is away.
    pub async fn missing(&self, storage_paths: Vec<String>) -> Result<HashSet<String>, StorageError> {
        self.files().missing(storage_paths).await
    }

    pub(super) fn files(&self) -> &dyn Files {
        self.place.files()
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner.clone()
    }
}

pub(super) fn write_file(root: &Path, store: StoreId, at: DateTime<Utc>, bytes: &[u8]) -> Result<String, StorageError> {
    let first = root.join(layout::payload(store, at));
    let dir = first.parent().unwrap_or(root);
    let failed = |error| StorageError::from_io(&layout::payload(store, at), error);
    let mut file = durable::write_temporary(dir, bytes).map_err(failed)?;
    for later in 0..MAX_NAMES {
        let path = layout::payload(store, at + TimeDelta::milliseconds(later));
        match durable::persist_new(file, &root.join(&path)).map_err(failed)? {
            Ok(()) => return Ok(path),
            Err(taken) => file = taken,
        }
    }
    Err(failed(io::ErrorKind::AlreadyExists.into()))
}

pub(super) fn read_file(root: &Path, path: &str) -> Result<Vec<u8>, StorageError> {
    let mut bytes = Vec::new();
    let read = open_file(root, path)?.take(MAX_PAYLOAD_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > MAX_PAYLOAD_BYTES => Err(StorageError::Corrupt {
            path: path.to_owned(),
            reason: format!("larger than {MAX_PAYLOAD_BYTES} bytes"),
        }),
        Ok(_) => Ok(bytes),
        Err(_) if owner::read(root)?.is_none() => Err(owner::missing(root)),
        Err(error) => Err(StorageError::from_io(path, error)),
    }
}

/// A payload file, from its beginning.
pub(super) fn open_file(root: &Path, path: &str) -> Result<fs::File, StorageError> {
    let file = layout::resolve(root, path).ok_or_else(|| StorageError::InvalidPath { path: path.to_owned() })?;
    match open(&file) {
        Ok(open) => Ok(open),
        Err(_) if owner::read(root)?.is_none() => Err(owner::missing(root)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StorageError::Missing { path: path.to_owned() }),
        Err(_) if !is_file(&file) => {
            Err(StorageError::Corrupt { path: path.to_owned(), reason: "it is not a regular file".to_owned() })
        }
        Err(error) => Err(StorageError::from_io(path, error)),
    }
}

/// A link, or a pipe without a writer, was put there from outside: the one is not followed, the other not
/// waited for.
fn open(path: &Path) -> io::Result<fs::File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn decode(bytes: &[u8], path: String, expected: &str) -> Result<StoredMenu, StorageError> {
    if sha256_hex(bytes) != expected {
        let reason = "its bytes differ from those that were written (SHA-256)".to_owned();
        return Err(StorageError::Corrupt { path, reason });
    }
    document::decode(bytes).map_err(|damage| StorageError::Corrupt { path, reason: damage.to_string() })
}

#[cfg(test)]
mod tests;
