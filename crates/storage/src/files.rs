//! `Files`: all that [`Payloads`](super::Payloads), [`Images`](super::Images) and
//! [`MediaFiles`](super::MediaFiles) do with the files of one
//! database, wherever these are.
//!
//! In: whose files they are, and paths of the layout. Out: bytes, paths, counts. There are two: a directory
//! ([`Local`](super::local::Local)), and a bucket. A file that was created is durable, and is never changed.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use chrono::{DateTime, NaiveDate, Utc};
use futures_util::future::BoxFuture;

use super::owner::{Owner, Ownership};
use crate::{StorageError, StoredImage};
use domain::menu::image::Subject;
use domain::payload::SweepTimes;
use domain::store::StoreId;

/// Payloads of one store with the same millisecond in their name; each further one takes the next
/// millisecond.
pub(super) const MAX_NAMES: i64 = 1000;
/// Maximum size, far beyond any payload; a larger file is not read into memory.
pub(super) const MAX_PAYLOAD_BYTES: u64 = 128 << 20;
/// Far more than any image that was written; a larger file is not read into memory.
pub(super) const MAX_IMAGE_BYTES: u64 = 64 << 20;

pub(super) type Answer<'a, T> = BoxFuture<'a, Result<T, StorageError>>;

pub(super) trait Files: fmt::Debug + Send + Sync {
    /// The directory; none for a bucket.
    fn root(&self) -> Option<&Path>;

    /// The name of the place for people.
    fn name(&self) -> String;

    /// See [`Payloads::register_owner`](super::Payloads::register_owner).
    fn register(&self, owner: Owner) -> Answer<'_, Ownership>;

    /// Whether all payloads here belong to `owner`.
    fn is_exclusive(&self, owner: Owner) -> Answer<'_, bool>;

    /// Whether a payload can be written. `could_write`: the last write or check succeeded.
    fn check_room(&self, owner: Owner, could_write: bool) -> Answer<'_, ()>;

    /// Whether files can be made and removed here; leaves nothing behind.
    fn probe(&self) -> Answer<'_, ()>;

    /// Creates a payload under a name that no other has, and returns its path.
    fn create_payload(&self, owner: Owner, store: StoreId, at: DateTime<Utc>, bytes: Bytes) -> Answer<'_, String>;

    fn read_payload(&self, path: String) -> Answer<'_, Bytes>;

    /// A payload to be read part by part, and its length.
    fn open_payload(&self, path: String) -> Answer<'_, (Box<dyn PartReader>, u64)>;

    /// The paths among these that are not files. An error where the whole place is away.
    fn missing(&self, paths: Vec<String>) -> Answer<'_, HashSet<String>>;

    /// Removes payloads unless another database keeps some here; returns the paths that are gone for good.
    fn remove(&self, owner: Owner, paths: Vec<String>) -> Answer<'_, Vec<String>>;

    /// The days `payloads/{year}/{month}/{day}` that `owner` may sweep, oldest first.
    fn days(&self, owner: Owner) -> Answer<'_, Vec<String>>;

    /// Removes half-written files of a day that is over before `before`; returns how many, and the day's
    /// payloads that were fetched before it.
    fn sweep_day(&self, day: String, before: DateTime<Utc>) -> Answer<'_, (usize, Vec<String>)>;

    /// Moves payloads to the orphans of `today`, unless another database keeps some here.
    fn set_aside(&self, owner: Owner, today: NaiveDate, paths: Vec<String>) -> Answer<'_, usize>;

    /// Removes half-written files outside of days, and payloads that were set aside long ago.
    fn remove_leftovers(&self, owner: Owner, times: SweepTimes) -> Answer<'_, usize>;

    /// The image that `subject` has already, whatever its content.
    fn find_image(&self, subject: Subject) -> Answer<'_, Option<String>>;

    /// Creates an image; one that is there already stays as it is.
    fn create_image(&self, owner: Owner, path: String, bytes: Bytes) -> Answer<'_, ()>;

    fn read_image(&self, path: String) -> Answer<'_, StoredImage>;

    /// Moves a file of this machine to its place; where one is there already, the file is removed.
    fn take_media(&self, owner: Owner, path: String, from: PathBuf) -> Answer<'_, ()>;

    /// Removes old images below `dir` that are not among `known`, unless another database keeps files here.
    fn sweep_images(&self, owner: Owner, dir: String, known: HashSet<String>, times: SweepTimes) -> Answer<'_, usize>;
}

/// An open payload.
pub(super) trait PartReader: Send {
    /// The next bytes, at most `most`; none at the end.
    fn read(&mut self, most: usize) -> Answer<'_, Vec<u8>>;

    /// The next part is the first one again.
    fn rewind(&mut self) -> Answer<'_, ()>;
}
