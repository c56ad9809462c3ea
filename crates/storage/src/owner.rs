//! The owner of a storage root: the file `payloads/.database`, which names the one database whose payloads
//! are there.
//!
//! Only the database that owns all payloads may remove payloads without a row, so the sweep depends on this
//! file. Nothing is written under a root before it has this file, and a root that had it gets it back only by
//! hand: without it, the root is the mount point of a share that is away. The rules are pure and hold for a
//! bucket, too; the functions on a root block.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{StorageError, durable, layout};

/// Content of the file in place of an owner; no database has this id.
pub(super) const SEVERAL: &str = "several databases";
/// Processes that start at the same time may take the file from each other this often.
pub(super) const MAX_ROUNDS: usize = 5;

/// Owner of the payloads under a storage root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// This database's alone.
    Exclusive,
    /// This database's alone, and the root was just registered: there were no payloads before.
    New,
    /// Another database's too: neither database sweeps.
    Shared,
}

/// Owner of a root, as a command sees it that writes nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootOwner {
    /// No process has registered here: a new root, or the mount point of a share that is away.
    Unknown,
    /// The next database that uses the root.
    Next,
    This,
    /// Another database, alone.
    Another,
    Several,
}

/// The database that has the rows of the files. All clones are one.
#[derive(Clone, Debug)]
pub struct Owner {
    id: Arc<str>,
    /// Whether the place has an owner, or is known to have had one: without one it is unavailable then.
    had_one: Arc<AtomicBool>,
    /// Whether this process has registered it.
    is_registered: Arc<AtomicBool>,
}

impl Owner {
    pub fn new(id: &str) -> Owner {
        Owner { id: id.into(), had_one: Arc::default(), is_registered: Arc::default() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The place has files already: one without an owner is not a new one.
    pub fn assume_registered_before(&self) {
        self.had_one.store(true, Ordering::Relaxed);
    }

    #[cfg(feature = "cloud")]
    pub fn is_registered(&self) -> bool {
        self.is_registered.load(Ordering::Relaxed)
    }

    pub(super) fn note_registration(&self) {
        self.assume_registered_before();
        self.is_registered.store(true, Ordering::Relaxed);
    }

    /// Whether all payloads belong to this database, by the content of the file.
    pub fn owns_all(&self, current: Option<&str>) -> bool {
        current.is_some_and(|current| current == self.id() || extends(current, self.id()))
    }

    /// The next step of the registration, by the content of the file.
    pub(super) fn step(&self, current: Option<&str>) -> Step<'_> {
        match current {
            Some(SEVERAL) => Step::Shared,
            Some(_) if self.owns_all(current) => Step::Exclusive,
            Some("") => Step::Begin,
            Some(current) if extends(self.id(), current) => Step::Replace(self.id()),
            Some(_) => Step::Replace(SEVERAL),
            None if self.had_one.load(Ordering::Relaxed) => Step::Missing,
            None => Step::Begin,
        }
    }
}

pub(super) enum Step<'a> {
    Shared,
    Exclusive,
    /// The file is to be made: there were no payloads before.
    Begin,
    /// The file is to have this content.
    Replace(&'a str),
    /// The place is away.
    Missing,
}

/// Registers `owner` under `root`, unless it is registered already.
pub fn register(root: &Path, owner: &Owner) -> Result<Ownership, StorageError> {
    let mut exclusive = Ownership::Exclusive;
    for _ in 0..MAX_ROUNDS {
        let current = read(root)?;
        match owner.step(current.as_deref()) {
            Step::Shared => {
                owner.note_registration();
                return Ok(Ownership::Shared);
            }
            Step::Exclusive => {
                owner.note_registration();
                return Ok(exclusive);
            }
            Step::Begin => {
                if current.is_some() {
                    write(root, owner.id())?
                } else {
                    create(root, owner.id())?
                }
                exclusive = Ownership::New;
            }
            Step::Replace(content) => write(root, content)?,
            Step::Missing => return Err(missing(root)),
        }
    }
    Err(StorageError::unavailable(root, "processes of several databases start on it at the same time"))
}

/// Looks whose files are under `root`, for the database with this id (`db::schema::installation::storage_owner`).
pub fn root_owner(root: &Path, id: &str) -> Result<RootOwner, StorageError> {
    Ok(match read(root)?.as_deref() {
        None => RootOwner::Unknown,
        Some("") => RootOwner::Next,
        Some(SEVERAL) => RootOwner::Several,
        Some(found) if is_same_owner(found, id) => RootOwner::This,
        Some(_) => RootOwner::Another,
    })
}

/// Whether two ids are of one database.
pub fn is_same_owner(one: &str, other: &str) -> bool {
    one == other || extends(one, other) || extends(other, one)
}

/// Lets the next database that uses `root` own its files.
pub(super) fn clear(root: &Path) -> Result<(), StorageError> {
    write(root, "")
}

/// A root without an owner is the mount point of a share that is not mounted.
pub fn missing(root: &Path) -> StorageError {
    let file = layout::OWNER;
    let reason = format!(
        "it has no {file}, so its share is not mounted, or it is another directory (if its files are gone for good, create that file, empty)"
    );
    StorageError::unavailable(root, reason)
}

/// Whether all payloads under `root` belong to `owner`.
pub fn is_exclusive(root: &Path, owner: &Owner) -> Result<bool, StorageError> {
    Ok(owner.owns_all(read(root)?.as_deref()))
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::new(None, RootOwner::Unknown)]
    #[case::handed_over(Some(""), RootOwner::Next)]
    #[case::this(Some("id 7 19"), RootOwner::This)]
    #[case::this_without_the_server(Some("id 7"), RootOwner::This)]
    #[case::a_copy(Some("id 8 19"), RootOwner::Another)]
    #[case::several(Some("several databases"), RootOwner::Several)]
    fn a_root_says_whose_files_it_has(#[case] file: Option<&str>, #[case] expected: RootOwner) {
        let root = tempfile::tempdir().unwrap();
        if let Some(content) = file {
            fs::create_dir(root.path().join(layout::PAYLOADS)).unwrap();
            fs::write(root.path().join(layout::OWNER), content).unwrap();
        }
        assert_eq!(root_owner(root.path(), "id 7 19").unwrap(), expected);
    }
}
