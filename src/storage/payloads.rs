//! `Payloads`: raw upstream answers, one gzipped file a crawl.
//!
//! A file is durable before its path is given out, and is never changed afterwards; one whose row was never written is swept.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::durable;
use super::error::StorageError;
use super::layout;
use crate::cpu;
use crate::domain::dispensary::DispensaryId;

use super::document;
pub use super::document::{PageBytes, PayloadContent, PayloadHead, StoredMenu};

/// No payload comes near it; a file that does is not read into memory.
const MAX_FILE_BYTES: u64 = 128 << 20;
/// Payloads of one store that may share a millisecond: names move on by one each.
const MAX_NAMES: i64 = 1000;

/// In place of an owner: no database has this id.
const SEVERAL: &str = "several databases\n";

/// More than most payloads take.
const ROOM: usize = 256 << 10;

/// The payload files under one storage root.
#[derive(Clone, Debug)]
pub struct Payloads {
    root: PathBuf,
}

/// A payload that is on disk for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadFile {
    /// Relative to the storage root, beginning `payloads/`.
    pub storage_path: String,
    /// Of the file's bytes, in lower-case hex.
    pub sha256: String,
    pub bytes: u64,
}

impl Payloads {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Payloads { root: root.into() }
    }

    /// Notes that payloads of the database `owner` are kept here. False when those of another are, too: then nobody can tell what
    /// is left over from what the other one knows, and nothing is swept any more.
    pub async fn claim(&self, owner: &str) -> Result<bool, StorageError> {
        let (root, owner) = (self.root.clone(), owner.to_owned());
        blocking(move || {
            let path = root.join(layout::OWNER);
            let failed = |error| StorageError::from_io(layout::OWNER, error);
            if read_owner(&root)?.is_none() {
                let file = unnamed(&path, owner.as_bytes()).map_err(failed)?;
                // somebody may be faster
                drop(name(file, &path).map_err(failed)?);
            }
            if read_owner(&root)?.as_ref() == Some(&owner) {
                return Ok(true);
            }
            fs::write(&path, SEVERAL).map_err(failed)?;
            Ok(false)
        })
        .await
    }

    /// Whether another payload would find room, asked before a menu is fetched that could not be kept.
    pub async fn check_room(&self) -> Result<(), StorageError> {
        let dir = self.root.join(layout::PAYLOADS);
        blocking(move || durable::try_room(&dir, ROOM).map_err(|error| StorageError::from_io(layout::PAYLOADS, error)))
            .await
    }

    /// Writes one crawl's payload under a name that no other has.
    pub async fn write(&self, content: PayloadContent) -> Result<PayloadFile, StorageError> {
        let (store, at) = (content.head.dispensary_id, content.head.fetched_at);
        let encoded = cpu::run(move || document::encode(&content).map(|bytes| (sha256(&bytes), bytes))).await;
        let (sha256, bytes) = encoded.map_err(|error| StorageError::from_io(&layout::payload(store, at), error))?;
        let size = bytes.len() as u64;
        let root = self.root.clone();
        let storage_path = blocking(move || write_file(&root, store, at, &bytes)).await?;
        Ok(PayloadFile { storage_path, sha256, bytes: size })
    }

    /// Reads a payload whose bytes have the hash `sha256`.
    pub async fn read(&self, storage_path: &str, sha256: &str) -> Result<StoredMenu, StorageError> {
        let file = layout::resolve(&self.root, storage_path)
            .ok_or_else(|| StorageError::Refused { path: storage_path.to_owned() })?;
        let (path, expected) = (storage_path.to_owned(), sha256.to_owned());
        let bytes = blocking({
            let path = path.clone();
            move || read_file(&file, &path)
        })
        .await?;
        cpu::run(move || decode(&bytes, path, &expected)).await
    }

    /// Removes what crashes left behind: temporary files, and payloads of which `known` does not name the path, all of them last
    /// written before `before` (a row may still be on its way until its task's lease is over). Returns how many files went.
    ///
    /// `known` is asked for the files of one day at a time, and answers with those that have a row. Files that are not
    /// [`claim`](Self::claim)ed by `owner` are nobody's business here.
    pub async fn sweep<K, F, E>(&self, owner: &str, before: DateTime<Utc>, mut known: K) -> Result<usize, E>
    where
        K: FnMut(Vec<String>) -> F,
        F: Future<Output = Result<HashSet<String>, E>>,
        E: From<StorageError>,
    {
        let root = self.root.clone();
        if blocking(move || read_owner(&root)).await?.as_deref() != Some(owner) {
            return Ok(0);
        }
        let mut removed = 0;
        let root = self.root.clone();
        for day in blocking(move || days(&root)).await? {
            let root = self.root.clone();
            let (stale, mut payloads) = blocking(move || written_before(&root, &day, before.into())).await?;
            if !payloads.is_empty() {
                let with_a_row = known(payloads.clone()).await?;
                payloads.retain(|path| !with_a_row.contains(path));
            }
            let root = self.root.clone();
            removed += blocking(move || remove(&root, stale.into_iter().chain(payloads))).await?;
        }
        Ok(removed)
    }
}

fn write_file(root: &Path, store: DispensaryId, at: DateTime<Utc>, bytes: &[u8]) -> Result<String, StorageError> {
    let first = layout::payload(store, at);
    let mut file = unnamed(&root.join(&first), bytes).map_err(|error| StorageError::from_io(&first, error))?;
    for later in 0..MAX_NAMES {
        let path = layout::payload(store, at + TimeDelta::milliseconds(later));
        match name(file, &root.join(&path)).map_err(|error| StorageError::from_io(&path, error))? {
            Ok(()) => return Ok(path),
            Err(taken) => file = taken,
        }
    }
    Err(StorageError::from_io(&first, io::ErrorKind::AlreadyExists.into()))
}

fn unnamed(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    durable::create_dir(dir)?;
    durable::write_unnamed(dir, bytes)
}

fn name(file: tempfile::NamedTempFile, path: &Path) -> io::Result<Result<(), tempfile::NamedTempFile>> {
    // the next millisecond may be of the next day
    durable::create_dir(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    durable::name(file, path)
}

fn read_owner(root: &Path) -> Result<Option<String>, StorageError> {
    match fs::read_to_string(root.join(layout::OWNER)) {
        Ok(owner) => Ok(Some(owner.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StorageError::from_io(layout::OWNER, error)),
    }
}

fn read_file(file: &Path, path: &str) -> Result<Vec<u8>, StorageError> {
    let mut bytes = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StorageError::Missing { path: path.to_owned() }),
        Err(error) => Err(StorageError::from_io(path, error)),
        Ok(_) if bytes.len() as u64 > MAX_FILE_BYTES => {
            Err(StorageError::Corrupt { path: path.to_owned(), why: format!("larger than {MAX_FILE_BYTES} bytes") })
        }
        Ok(_) => Ok(bytes),
    }
}

fn decode(bytes: &[u8], path: String, expected: &str) -> Result<StoredMenu, StorageError> {
    if sha256(bytes) != expected {
        return Err(StorageError::Corrupt {
            path,
            why: "its bytes are not those that were written (SHA-256)".to_owned(),
        });
    }
    document::decode(bytes).map_err(|damage| StorageError::Corrupt { path, why: damage.to_string() })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The directories `payloads/{year}/{month}/{day}` that there are, oldest first.
fn days(root: &Path) -> Result<Vec<String>, StorageError> {
    let mut level = vec![layout::PAYLOADS.to_owned()];
    for _ in ["year", "month", "day"] {
        let mut below = Vec::new();
        for dir in &level {
            below.extend(entries(root, dir)?.into_iter().filter(|path| root.join(path).is_dir()));
        }
        level = below;
    }
    level.sort();
    Ok(level)
}

/// The temporary files and the payloads of one day that were last written before `before`.
fn written_before(root: &Path, day: &str, before: SystemTime) -> Result<(Vec<String>, Vec<String>), StorageError> {
    let is_old = |path: &String| {
        let is_old = |file: fs::Metadata| file.is_file() && file.modified().is_ok_and(|written| written < before);
        // gone already, or not to be judged: left alone
        fs::symlink_metadata(root.join(path)).is_ok_and(is_old)
    };
    let old = entries(root, day)?.into_iter().filter(is_old);
    Ok(old.partition(|path| path.ends_with(durable::TMP_SUFFIX)))
}

/// What lies in `dir`, as paths relative to the root; nothing when it is gone.
fn entries(root: &Path, dir: &str) -> Result<Vec<String>, StorageError> {
    let listed = match fs::read_dir(root.join(dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let listed = listed.map_err(|error| StorageError::from_io(dir, error))?;
    let names = listed.iter().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.map(|name| format!("{dir}/{name}")).collect())
}

fn remove(root: &Path, paths: impl Iterator<Item = String>) -> Result<usize, StorageError> {
    let mut removed = 0;
    for path in paths {
        match fs::remove_file(root.join(&path)) {
            Ok(()) => removed += 1,
            // another process sweeps too
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StorageError::from_io(&path, error)),
        }
    }
    Ok(removed)
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(lost) => match lost.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(StorageError::from_io(layout::PAYLOADS, io::Error::other("the runtime is shutting down"))),
        },
    }
}

#[cfg(test)]
mod tests;
