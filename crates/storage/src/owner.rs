//! The owner of a storage root: the file `payloads/.database`, which names the one database whose payloads
//! are there.
//!
//! Only the database that owns all payloads may remove payloads without a row, so the sweep depends on this
//! file. Nothing is written under a root before it has this file, and a root that had it gets it back only by
//! hand: without it, the root is the mount point of a share that is away. Blocking.

use std::fs;
use std::io;
use std::path::Path;

use super::error::StorageError;
use super::{durable, layout};

/// In the file instead of an owner; no database has this id.
const SEVERAL: &str = "several databases";
/// Processes that start at the same time may take the file from each other this often.
const MAX_ROUNDS: usize = 5;

/// Whose payloads are under a storage root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// This database's alone.
    Exclusive,
    /// This database's alone, and the root was just registered: there were no payloads before.
    New,
    /// Another database's too: neither database sweeps.
    Shared,
}

/// Registers `owner` under `root`, unless it is registered already. `had_owner`: whether the root once had
/// one, so that an empty one is unavailable.
pub fn register(root: &Path, owner: &str, had_owner: bool) -> Result<Ownership, StorageError> {
    let mut exclusive = Ownership::Exclusive;
    for _ in 0..MAX_ROUNDS {
        match read(root)?.as_deref() {
            Some(SEVERAL) => return Ok(Ownership::Shared),
            Some(current) if current == owner || extends(current, owner) => return Ok(exclusive),
            Some("") => {
                write(root, owner)?;
                exclusive = Ownership::New;
            }
            Some(current) if extends(owner, current) => write(root, owner)?,
            Some(_) => write(root, SEVERAL)?,
            None if had_owner => return Err(missing(root)),
            None => {
                create(root, owner)?;
                exclusive = Ownership::New;
            }
        }
    }
    Err(StorageError::unavailable(root, "processes of several databases start on it at the same time"))
}

/// A root without an owner is the mount point of a share that is not mounted.
pub fn missing(root: &Path) -> StorageError {
    let file = layout::OWNER;
    let reason = format!(
        "it has no {file}, so its share is away, or it is another directory (where its files are gone for good, make that file, empty)"
    );
    StorageError::unavailable(root, reason)
}

/// Whether all payloads under `root` belong to `owner`.
pub fn is_exclusive(root: &Path, owner: &str) -> Result<bool, StorageError> {
    let current = read(root)?;
    Ok(current.is_some_and(|current| current == owner || extends(&current, owner)))
}

/// None when the root has no owner yet, or is a share that is not mounted.
pub fn read(root: &Path) -> Result<Option<String>, StorageError> {
    match fs::read_to_string(root.join(layout::OWNER)) {
        Ok(owner) => Ok(Some(owner.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StorageError::of_root(root, layout::OWNER, error)),
    }
}

/// Whether `longer` is the same id with more parts: earlier versions, and users with fewer rights, know fewer
/// of the parts.
fn extends(longer: &str, shorter: &str) -> bool {
    !shorter.is_empty() && longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with(' '))
}

/// Leaves the file alone when another process was faster.
fn create(root: &Path, owner: &str) -> Result<(), StorageError> {
    let written = durable::write_temporary(&root.join(layout::PAYLOADS), owner.as_bytes())
        .and_then(|file| durable::persist_new(file, &root.join(layout::OWNER)));
    written.map(drop).map_err(|error| StorageError::of_root(root, layout::OWNER, error))
}

fn write(root: &Path, owner: &str) -> Result<(), StorageError> {
    let written = durable::write_temporary(&root.join(layout::PAYLOADS), owner.as_bytes())
        .and_then(|file| durable::persist(file, &root.join(layout::OWNER)));
    written.map_err(|error| StorageError::of_root(root, layout::OWNER, error))
}
