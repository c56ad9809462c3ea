//! `Local`: files below a directory of this machine, or of a share that is mounted there.
//!
//! Each operation is a function on the root that may block, run on a thread of its own: calls on an
//! unreachable share never return, so few of them may run, and each caller waits for a limited time.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, NaiveDate, Utc};
use domain::menu::image::Subject;
use domain::payload::SweepTimes;
use domain::store::StoreId;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::error::StorageError;
use super::files::{Answer, Files, PartReader};
use super::images::StoredImage;
use super::owner::{Owner, Ownership};
use super::{durable, image_sweep, images, layout, media_files, owner, payloads, remove, sweep};

/// Free space that is needed before a menu is fetched; more than most payloads take.
const MIN_ROOM: usize = 256 << 10;
/// Calls on an unreachable NFS mount never return; at most this many threads may hang in one.
pub(super) const MAX_OPERATIONS: usize = 32;
/// Maximum time, longer than any file operation here takes on a share that answers.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The same for a file of any size that is moved.
const MAX_MOVE_WAIT: Duration = Duration::from_secs(15 * 60);
/// The same for checks, which the start of a process and each fetch wait for.
const MAX_CHECK_WAIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(super) struct Local {
    root: PathBuf,
    operations: Arc<Semaphore>,
}

impl Local {
    pub fn new(root: &Path) -> Local {
        Local { root: root.to_owned(), operations: Arc::new(Semaphore::new(MAX_OPERATIONS)) }
    }

    /// Runs file work on a thread that may block.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, StorageError> + Send + 'static,
    ) -> Answer<'_, T> {
        Box::pin(self.blocking_within(MAX_WAIT, work))
    }

    pub(super) async fn blocking_within<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&Path) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let Local { root, operations } = self.clone();
        let operation = async move {
            let permit = operations.acquire_owned().await;
            // a thread that hangs keeps its permit
            spawn_blocking(move || {
                let _permit = permit;
                work(&root)
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

impl Files for Local {
    fn root(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn name(&self) -> String {
        self.root.display().to_string()
    }

    fn register(&self, owner: Owner) -> Answer<'_, Ownership> {
        Box::pin(self.blocking_within(MAX_CHECK_WAIT, move |root| owner::register(root, &owner)))
    }

    fn is_exclusive(&self, owner: Owner) -> Answer<'_, bool> {
        self.blocking(move |root| owner::is_exclusive(root, &owner))
    }

    /// Checks the room on the disk. It waits for the disk only after a write that failed: each fetch asks.
    fn check_room(&self, owner: Owner, could_write: bool) -> Answer<'_, ()> {
        let write = if could_write { durable::write_unsynced } else { durable::write_temporary };
        Box::pin(self.blocking_within(MAX_CHECK_WAIT, move |root| {
            owner::register(root, &owner)?;
            match write(&root.join(layout::PAYLOADS), &vec![0; MIN_ROOM]) {
                Ok(_) => Ok(()),
                Err(error) => Err(StorageError::of_root(root, layout::PAYLOADS, error)),
            }
        }))
    }

    fn probe(&self) -> Answer<'_, ()> {
        self.blocking(|root| match tempfile::NamedTempFile::new_in(root) {
            Ok(_) => Ok(()),
            Err(error) => Err(StorageError::of_root(root, layout::PAYLOADS, error)),
        })
    }

    /// Each write registers the owner first, since another share may be mounted there while the process
    /// runs.
    fn create_payload(&self, owner: Owner, store: StoreId, at: DateTime<Utc>, bytes: Bytes) -> Answer<'_, String> {
        self.blocking(move |root| {
            owner::register(root, &owner)?;
            payloads::write_file(root, store, at, &bytes)
        })
    }

    fn read_payload(&self, path: String) -> Answer<'_, Bytes> {
        self.blocking(move |root| payloads::read_file(root, &path).map(Bytes::from))
    }

    fn open_payload(&self, path: String) -> Answer<'_, (Box<dyn PartReader>, u64)> {
        let files = self.clone();
        self.blocking(move |root| {
            let file = payloads::open_file(root, &path)?;
            let length = file.metadata().map_err(|error| StorageError::from_io(&path, error))?.len();
            Ok((Box::new(LocalReader { files, path, file: Some(file) }) as Box<dyn PartReader>, length))
        })
    }

    fn missing(&self, paths: Vec<String>) -> Answer<'_, HashSet<String>> {
        self.blocking(move |root| {
            if owner::read(root)?.is_none() && !paths.is_empty() {
                return Err(owner::missing(root));
            }
            let is_missing = |path: &String| {
                let file = layout::resolve(root, path);
                !file.is_some_and(|file| fs::symlink_metadata(file).is_ok_and(|file| file.is_file()))
            };
            Ok(paths.into_iter().filter(is_missing).collect())
        })
    }

    fn remove(&self, owner: Owner, paths: Vec<String>) -> Answer<'_, Vec<String>> {
        self.blocking(move |root| match owner::is_exclusive(root, &owner)? {
            true => remove::remove(root, paths),
            false => Ok(Vec::new()),
        })
    }

    fn days(&self, owner: Owner) -> Answer<'_, Vec<String>> {
        self.blocking(move |root| match owner::is_exclusive(root, &owner)? {
            true => sweep::days(root),
            false => Ok(Vec::new()),
        })
    }

    fn sweep_day(&self, day: String, before: DateTime<Utc>) -> Answer<'_, (usize, Vec<String>)> {
        self.blocking(move |root| sweep::sweep_day(root, &day, before))
    }

    fn set_aside(&self, owner: Owner, today: NaiveDate, paths: Vec<String>) -> Answer<'_, usize> {
        self.blocking(move |root| sweep::set_aside(root, &owner, today, &paths))
    }

    fn remove_leftovers(&self, owner: Owner, times: SweepTimes) -> Answer<'_, usize> {
        self.blocking(move |root| sweep::remove_leftovers(root, &owner, times))
    }

    fn find_image(&self, subject: Subject) -> Answer<'_, Option<String>> {
        self.blocking(move |root| images::find(root, &subject))
    }

    fn create_image(&self, owner: Owner, path: String, bytes: Bytes) -> Answer<'_, ()> {
        self.blocking(move |root| {
            owner::register(root, &owner)?;
            images::write(root, &path, &bytes)
        })
    }

    fn read_image(&self, path: String) -> Answer<'_, StoredImage> {
        self.blocking(move |root| images::read(root, &path))
    }

    fn take_media(&self, owner: Owner, path: String, from: PathBuf) -> Answer<'_, ()> {
        // a copy to another file system takes as long as the file is large
        Box::pin(self.blocking_within(MAX_MOVE_WAIT, move |root| {
            owner::register(root, &owner)?;
            media_files::take(root, &path, &from)
        }))
    }

    fn sweep_images(&self, owner: Owner, dir: String, known: HashSet<String>, times: SweepTimes) -> Answer<'_, usize> {
        self.blocking(move |root| match owner::is_exclusive(root, &owner)? {
            true => image_sweep::sweep(root, &dir, &known, times),
            false => Ok(0),
        })
    }
}

/// An open file. Each read holds a thread, the time between two reads holds none.
struct LocalReader {
    files: Local,
    path: String,
    /// None while a thread reads it.
    file: Option<File>,
}

impl LocalReader {
    async fn on_file<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut File) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        let path = self.path.clone();
        let closed = || StorageError::Corrupt { path: path.clone(), reason: "it was closed".to_owned() };
        let mut file = self.file.take().ok_or_else(closed)?;
        let read = self.files.blocking(move |_| {
            let done = work(&mut file).map_err(|error| StorageError::from_io(&path, error))?;
            Ok((file, done))
        });
        let (file, done) = read.await?;
        self.file = Some(file);
        Ok(done)
    }
}

impl PartReader for LocalReader {
    fn read(&mut self, most: usize) -> Answer<'_, Vec<u8>> {
        let mut part = Vec::with_capacity(most);
        Box::pin(self.on_file(move |file| file.take(most as u64).read_to_end(&mut part).map(|_| part)))
    }

    fn rewind(&mut self) -> Answer<'_, ()> {
        Box::pin(self.on_file(|file| file.seek(SeekFrom::Start(0)).map(drop)))
    }
}
