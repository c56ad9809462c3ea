//! `Bucket`: files as objects of S3, Google Cloud Storage or Azure, which many machines share.
//!
//! A put creates an object and replaces none, so no machine changes what another one has written. The owner's
//! object alone is replaced, and only by a process that has read its latest version: two databases that register at the same time
//! notice each other.

mod calls;
mod cleaning;
mod client;
mod connector;
mod reader;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio::sync::Mutex;
use tokio::time::timeout;

use self::calls::{Calls, MAX_CHECK_WAIT, Version};
use self::reader::ObjectReader;
use super::files::{Answer, Files, MAX_IMAGE_BYTES, MAX_NAMES, MAX_PAYLOAD_BYTES, PartReader};
use super::images::{self, StoredImage};
use super::owner::{MAX_ROUNDS, Owner, Ownership, Step};
use super::{PlaceError, StorageError, image_layout, layout};
use domain::menu::image::Subject;
use domain::payload::SweepTimes;
use domain::store::StoreId;
use settings::Storage;

const MAX_OWNER_BYTES: u64 = 4096;
/// How long a failed check holds for the others that ask.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Number of objects that are looked up at a time.
const CONCURRENCY: usize = 8;

#[derive(Debug)]
pub(super) struct Bucket {
    calls: Calls,
    /// Time when the last check failed; held while one runs.
    failed_check: Mutex<Option<(Instant, String)>>,
}

pub(super) fn open(settings: &Storage) -> Result<Arc<dyn Files>, PlaceError> {
    let calls = Calls::new(client::client(settings)?, &settings.prefix);
    Ok(Arc::new(Bucket { calls, failed_check: Mutex::default() }))
}

impl Bucket {
    async fn owner(&self) -> Result<Option<(String, Version)>, StorageError> {
        let Some(object) = self.calls.get(layout::OWNER, MAX_OWNER_BYTES).await? else { return Ok(None) };
        Ok(Some((String::from_utf8_lossy(&object.bytes).trim().to_owned(), object.version)))
    }

    /// A check, which the start of a process and each fetch wait for.
    async fn soon<T>(&self, check: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
        let checked = timeout(MAX_CHECK_WAIT, check).await;
        checked.unwrap_or_else(|_| Err(self.calls.unavailable(&format!("no answer within {MAX_CHECK_WAIT:?}"))))
    }

    async fn register_owner(&self, owner: &Owner) -> Result<Ownership, StorageError> {
        let mut exclusive = Ownership::Exclusive;
        for _ in 0..MAX_ROUNDS {
            let (current, version) = self.owner().await?.unzip();
            let content = match owner.step(current.as_deref()) {
                Step::Shared => return self.registered(owner, Ownership::Shared),
                Step::Exclusive => return self.registered(owner, exclusive),
                Step::Missing => return Err(self.without_owner()),
                Step::Replace(content) => content,
                Step::Begin => {
                    exclusive = Ownership::New;
                    owner.id()
                }
            };
            // where another process was faster, the next round reads its owner
            let content = Bytes::copy_from_slice(content.as_bytes());
            match version {
                Some(version) => self.calls.replace(layout::OWNER, content, &version).await?,
                None => self.calls.create(layout::OWNER, content).await?,
            };
        }
        Err(self.calls.unavailable("processes of several databases start on it at the same time"))
    }

    fn registered(&self, owner: &Owner, ownership: Ownership) -> Result<Ownership, StorageError> {
        owner.note_registration();
        Ok(ownership)
    }

    /// Registers once a process: a bucket stays what it is, unlike the mount point of a share.
    async fn ensure_registered(&self, owner: &Owner) -> Result<(), StorageError> {
        if owner.is_registered() {
            return Ok(());
        }
        self.soon(self.register_owner(owner)).await.map(drop)
    }

    async fn owns_all(&self, owner: &Owner) -> Result<bool, StorageError> {
        Ok(owner.owns_all(self.owner().await?.map(|(id, _)| id).as_deref()))
    }

    /// Cleans up, unless another database keeps files here.
    fn as_only_owner<'a, T: Default + Send>(
        &'a self,
        owner: Owner,
        work: impl Future<Output = Result<T, StorageError>> + Send + 'a,
    ) -> Answer<'a, T> {
        Box::pin(async move { if self.owns_all(&owner).await? { work.await } else { Ok(T::default()) } })
    }

    fn without_owner(&self) -> StorageError {
        let file = layout::OWNER;
        self.calls.unavailable(&format!(
            "it has no {file}, so it is another bucket or prefix (if its objects are gone for good, create that object, empty)"
        ))
    }

    /// Whether the owner's object may be written: the service refuses to create it again, and with a right
    /// that is missing it would say so first.
    async fn check(&self, owner: &Owner) -> Result<(), StorageError> {
        self.soon(self.register_owner(owner)).await?;
        let Some((content, _)) = self.owner().await? else { return Err(self.without_owner()) };
        match self.calls.create(layout::OWNER, content.into()).await? {
            false => Ok(()),
            true => Err(self.without_conditions()),
        }
    }

    fn without_conditions(&self) -> StorageError {
        self.calls.unavailable(
            "its service replaces an object although If-None-Match forbids it: use a service that supports conditional writes",
        )
    }

    async fn check_seldom(&self, owner: &Owner) -> Result<(), StorageError> {
        let mut failed = self.failed_check.lock().await;
        if let Some((at, reason)) = failed.as_ref()
            && at.elapsed() < CHECK_EVERY
        {
            return Err(self.calls.unavailable(reason));
        }
        let checked = self.check(owner).await;
        *failed = match &checked {
            Err(StorageError::BucketUnavailable { reason, .. }) => Some((Instant::now(), reason.clone())),
            _ => None,
        };
        checked
    }

    async fn probe_objects(&self) -> Result<(), StorageError> {
        // first, since some services make a bucket that they are given an object for
        self.calls.list(layout::ORPHANS).await?;
        // one that a killed process left behind proves as much
        self.calls.create(layout::PROBE, Bytes::from_static(b"drover doctor")).await?;
        let replaced = self.calls.create(layout::PROBE, Bytes::from_static(b"drover doctor")).await?;
        self.calls.delete(layout::PROBE).await?;
        if replaced { Err(self.without_conditions()) } else { Ok(()) }
    }

    async fn create(
        &self,
        owner: &Owner,
        store: StoreId,
        at: DateTime<Utc>,
        bytes: Bytes,
    ) -> Result<String, StorageError> {
        self.ensure_registered(owner).await?;
        for later in 0..MAX_NAMES {
            let path = layout::payload(store, at + TimeDelta::milliseconds(later));
            if self.calls.store(&path, bytes.clone()).await? {
                return Ok(path);
            }
        }
        Err(StorageError::Io { path: layout::payload(store, at), error: io::ErrorKind::AlreadyExists.into() })
    }

    /// The error for a payload that is not there.
    async fn absent(&self, path: &str) -> StorageError {
        match self.owner().await {
            Ok(Some(_)) => StorageError::Missing { path: path.to_owned() },
            Ok(None) => self.without_owner(),
            Err(error) => error,
        }
    }

    async fn open(&self, path: &str) -> Result<(Box<dyn PartReader>, u64), StorageError> {
        check_payload(path)?;
        match ObjectReader::open(&self.calls, path).await? {
            Some(reader) => {
                let size = reader.size();
                Ok((Box::new(reader), size))
            }
            None => Err(self.absent(path).await),
        }
    }

    async fn read(&self, path: &str) -> Result<Bytes, StorageError> {
        check_payload(path)?;
        match self.calls.get(path, MAX_PAYLOAD_BYTES).await? {
            Some(object) => Ok(object.bytes),
            None => Err(self.absent(path).await),
        }
    }

    async fn missing_of(&self, paths: Vec<String>) -> Result<HashSet<String>, StorageError> {
        if !paths.is_empty() && self.owner().await?.is_none() {
            return Err(self.without_owner());
        }
        let looks = stream::iter(paths).map(|path| async move {
            let exists = check_payload(&path).is_ok() && self.calls.exists(&path).await?;
            Ok((!exists).then_some(path))
        });
        let missing: Vec<Option<String>> = looks.buffer_unordered(CONCURRENCY).try_collect().await?;
        Ok(missing.into_iter().flatten().collect())
    }

    async fn image(&self, path: &str) -> Result<StoredImage, StorageError> {
        images::check_readable(path)?;
        match self.calls.get(path, MAX_IMAGE_BYTES).await? {
            Some(object) => Ok(StoredImage { bytes: object.bytes.into(), modified: SystemTime::from(object.modified) }),
            None => Err(StorageError::Missing { path: path.to_owned() }),
        }
    }

    async fn image_of(&self, subject: &Subject) -> Result<Option<String>, StorageError> {
        let dir = image_layout::dir(subject);
        let is_its_own = |path: &String| {
            path.strip_prefix(&dir)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|name| image_layout::owns(subject, name))
        };
        Ok(self.calls.list(&dir).await?.into_iter().map(|object| object.path).find(is_its_own))
    }
}

fn check_payload(path: &str) -> Result<(), StorageError> {
    match layout::resolve(Path::new(""), path) {
        Some(_) => Ok(()),
        None => Err(StorageError::InvalidPath { path: path.to_owned() }),
    }
}

impl Files for Bucket {
    fn root(&self) -> Option<&Path> {
        None
    }

    fn name(&self) -> String {
        self.calls.name().to_owned()
    }

    fn register(&self, owner: Owner) -> Answer<'_, Ownership> {
        Box::pin(async move { self.soon(self.register_owner(&owner)).await })
    }

    fn is_exclusive(&self, owner: Owner) -> Answer<'_, bool> {
        Box::pin(async move { self.owns_all(&owner).await })
    }

    /// A bucket has room; it is asked at the first fetch, and once a second after a failure.
    fn check_room(&self, owner: Owner, could_write: bool) -> Answer<'_, ()> {
        Box::pin(async move {
            if could_write && owner.is_registered() {
                return Ok(());
            }
            self.check_seldom(&owner).await
        })
    }

    fn probe(&self) -> Answer<'_, ()> {
        Box::pin(self.soon(self.probe_objects()))
    }

    fn create_payload(&self, owner: Owner, store: StoreId, at: DateTime<Utc>, bytes: Bytes) -> Answer<'_, String> {
        Box::pin(async move { self.create(&owner, store, at, bytes).await })
    }

    fn read_payload(&self, path: String) -> Answer<'_, Bytes> {
        Box::pin(async move { self.read(&path).await })
    }

    fn open_payload(&self, path: String) -> Answer<'_, (Box<dyn PartReader>, u64)> {
        Box::pin(async move { self.open(&path).await })
    }

    fn missing(&self, paths: Vec<String>) -> Answer<'_, HashSet<String>> {
        Box::pin(self.missing_of(paths))
    }

    fn remove(&self, owner: Owner, paths: Vec<String>) -> Answer<'_, Vec<String>> {
        self.as_only_owner(owner, cleaning::remove_payloads(&self.calls, paths))
    }

    fn days(&self, owner: Owner) -> Answer<'_, Vec<String>> {
        self.as_only_owner(owner, cleaning::days(&self.calls))
    }

    fn sweep_day(&self, day: String, before: DateTime<Utc>) -> Answer<'_, (usize, Vec<String>)> {
        Box::pin(async move { Ok((0, cleaning::payloads_of_day(&self.calls, &day, before).await?)) })
    }

    fn set_aside(&self, owner: Owner, today: NaiveDate, paths: Vec<String>) -> Answer<'_, usize> {
        if paths.is_empty() {
            return Box::pin(std::future::ready(Ok(0)));
        }
        self.as_only_owner(owner, cleaning::set_aside(&self.calls, today, paths))
    }

    fn remove_leftovers(&self, owner: Owner, times: SweepTimes) -> Answer<'_, usize> {
        self.as_only_owner(owner, cleaning::remove_orphans(&self.calls, times))
    }

    fn find_image(&self, subject: Subject) -> Answer<'_, Option<String>> {
        Box::pin(async move { self.image_of(&subject).await })
    }

    fn create_image(&self, owner: Owner, path: String, bytes: Bytes) -> Answer<'_, ()> {
        Box::pin(async move {
            self.ensure_registered(&owner).await?;
            // another process may have been faster: it wrote the same
            self.calls.store(&path, bytes).await.map(drop)
        })
    }

    fn read_image(&self, path: String) -> Answer<'_, StoredImage> {
        Box::pin(async move { self.image(&path).await })
    }

    fn take_media(&self, owner: Owner, path: String, from: PathBuf) -> Answer<'_, ()> {
        Box::pin(async move {
            self.ensure_registered(&owner).await?;
            if !self.calls.exists(&path).await? {
                self.calls.upload(&path, &from).await?;
            }
            tokio::fs::remove_file(&from).await.map_err(|error| StorageError::from_io(&path, error))
        })
    }

    fn sweep_images(&self, owner: Owner, dir: String, known: HashSet<String>, times: SweepTimes) -> Answer<'_, usize> {
        self.as_only_owner(owner, async move { cleaning::sweep_images(&self.calls, &dir, &known, times).await })
    }
}
