//! `Payloads`: raw upstream answers, one gzipped file a crawl.
//!
//! In: the pages of a crawl. Out: the path, size and hash of a file, which is durable before they are
//! returned and never changed afterwards. A file whose row was never written is swept.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use nix::fcntl::OFlag;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::error::StorageError;
use super::owner::{self, Ownership};
use super::{document, durable, layout};
use domain::store::StoreId;
use foundation::cpu;
use foundation::digest::sha256_hex;

pub use super::document::{PageBytes, PayloadContent, PayloadHead, StoredMenu};

/// Far more than any payload; a larger file is not read into memory.
pub(super) const MAX_FILE_BYTES: u64 = 128 << 20;
/// Payloads of one store with the same millisecond in their name; each further one takes the next
/// millisecond.
const MAX_NAMES: i64 = 1000;
/// Free space that is needed before a menu is fetched; more than most payloads take.
const MIN_ROOM: usize = 256 << 10;
/// How long the result of a write or check that found the root usable is trusted.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Calls on an unreachable NFS mount never return; at most this many threads may hang in one.
const MAX_OPERATIONS: usize = 32;
/// Longer than any file operation here takes on a share that answers.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The same for checks, which the start of a process and each fetch wait for.
const MAX_CHECK_WAIT: Duration = Duration::from_secs(10);

/// The payload files of one database under one storage root.
#[derive(Clone, Debug)]
pub struct Payloads {
    root: PathBuf,
    owner: String,
    operations: Arc<Semaphore>,
    /// Whether the last write or check found the root usable.
    can_write: Arc<watch::Sender<bool>>,
    /// When a write or check last did.
    usable_at: Arc<Mutex<Option<Instant>>>,
    /// Whether the root has an owner, or is known to have had one.
    had_owner: Arc<AtomicBool>,
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
    pub fn new(root: impl Into<PathBuf>, owner: impl Into<String>) -> Self {
        Payloads {
            root: root.into(),
            owner: owner.into(),
            operations: Arc::new(Semaphore::new(MAX_OPERATIONS)),
            can_write: Arc::new(watch::Sender::new(true)),
            usable_at: Arc::default(),
            had_owner: Arc::default(),
        }
    }

    /// The database has payloads already: a root without an owner is unavailable, and not a new one.
    pub fn expect_owner(&self) {
        self.had_owner.store(true, Ordering::Relaxed);
    }

    /// Registers this database as the root's owner. Each write does so first, since another share may be
    /// mounted there while the process runs. A root that had an owner and has none any more is unavailable:
    /// its share is away.
    pub async fn register_owner(&self) -> Result<Ownership, StorageError> {
        self.blocking_within(MAX_CHECK_WAIT, self.registration()).await
    }

    pub(super) fn registration(&self) -> impl Fn(&Path, &str) -> Result<Ownership, StorageError> + Send + use<> {
        let had_owner = Arc::clone(&self.had_owner);
        move |root, owner| {
            let ownership = owner::register(root, owner, had_owner.load(Ordering::Relaxed))?;
            had_owner.store(true, Ordering::Relaxed);
            Ok(ownership)
        }
    }

    /// Checks that there is room for a payload, before a menu is fetched that could not be written. It waits
    /// for the disk only after a write that failed: each fetch asks. A recent result is reused.
    pub async fn check_room(&self) -> Result<(), StorageError> {
        if self.was_usable_lately() {
            return Ok(());
        }
        let write = if *self.can_write.borrow() { durable::write_unsynced } else { durable::write_temporary };
        let register = self.registration();
        let checked = self.blocking_within(MAX_CHECK_WAIT, move |root, owner| {
            register(root, owner)?;
            match write(&root.join(layout::PAYLOADS), &vec![0; MIN_ROOM]) {
                Ok(_) => Ok(()),
                Err(error) => Err(StorageError::of_root(root, layout::PAYLOADS, error)),
            }
        });
        self.note_write(checked.await)
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
        let can_write = !matches!(written, Err(StorageError::Full { .. } | StorageError::Unavailable { .. }));
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
        let register = self.registration();
        let write = move |root: &Path, owner: &str| {
            register(root, owner)?;
            write_file(root, store, at, &bytes)
        };
        Ok(PayloadFile { storage_path: self.note_write(self.blocking(write).await)?, sha256, bytes: size })
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
        let file = path.clone();
        let bytes = self.blocking(move |root, _| read_file(root, &file)).await?;
        cpu::run(move || decode(&bytes, path, &expected).map(work)).await
    }

    /// The paths among these that are not files. An error where the whole root is away.
    pub async fn missing(&self, storage_paths: Vec<String>) -> Result<HashSet<String>, StorageError> {
        self.blocking(move |root, _| {
            if owner::read(root)?.is_none() && !storage_paths.is_empty() {
                return Err(owner::missing(root));
            }
            let is_missing = |path: &String| {
                let file = layout::resolve(root, path);
                !file.is_some_and(|file| fs::symlink_metadata(file).is_ok_and(|file| file.is_file()))
            };
            Ok(storage_paths.into_iter().filter(is_missing).collect())
        })
        .await
    }

    /// Runs file work on a thread that may block. It gets the root and the owner.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path, &str) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.blocking_within(MAX_WAIT, work).await
    }

    async fn blocking_within<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&Path, &str) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let Payloads { root, owner, operations, .. } = self.clone();
        let operation = async move {
            let permit = operations.acquire_owned().await;
            // a thread that hangs keeps its permit
            spawn_blocking(move || {
                let _permit = permit;
                work(&root, &owner)
            })
            .await
        };
        match timeout(limit, operation).await {
            Ok(Ok(result)) => result,
            Ok(Err(lost)) => match lost.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(StorageError::unavailable(&self.root, "the process is shutting down")),
            },
            Err(_) => Err(StorageError::unavailable(&self.root, format!("no answer within {limit:?}"))),
        }
    }
}

fn write_file(root: &Path, store: StoreId, at: DateTime<Utc>, bytes: &[u8]) -> Result<String, StorageError> {
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

fn read_file(root: &Path, path: &str) -> Result<Vec<u8>, StorageError> {
    let mut bytes = Vec::new();
    let read = open_file(root, path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > MAX_FILE_BYTES => {
            Err(StorageError::Corrupt { path: path.to_owned(), reason: format!("larger than {MAX_FILE_BYTES} bytes") })
        }
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
            Err(StorageError::Corrupt { path: path.to_owned(), reason: "it is no regular file".to_owned() })
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
        let reason = "its bytes are not those that were written (SHA-256)".to_owned();
        return Err(StorageError::Corrupt { path, reason });
    }
    document::decode(bytes).map_err(|damage| StorageError::Corrupt { path, reason: damage.to_string() })
}

#[cfg(test)]
mod tests;
