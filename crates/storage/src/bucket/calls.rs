//! `Calls`: the few operations of an object store, each with a deadline, few of them at a time.
//!
//! In: paths of the layout. Out: bytes and times, or how the bucket is at fault. It must not know what the
//! objects are.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path as ObjectPath;
use object_store::{
    Error, GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::client::{Client, without_secrets};
use super::connector::Attempts;
use crate::error::StorageError;

const MAX_CALLS: usize = 32;
/// Maximum time of a call with its retries, and of one page of a listing.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Maximum time of a check, which the start of a process and each fetch wait for.
pub const MAX_CHECK_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of objects below one directory; a larger one is left to the operator.
const MAX_LISTED: usize = 1_000_000;
/// Bytes of a part of a large object; a service takes 10,000 parts of at least 5 MiB.
const PART: u64 = 8 << 20;
/// Maximum number of characters of a service's message that are passed on.
const MAX_REASON: usize = 300;
/// Maximum number of puts of one object whose answers are lost.
const MAX_PUTS: usize = 2;
const NO_BUCKET: &str = "there is no such bucket";

/// Cheap to clone.
#[derive(Clone)]
pub struct Calls {
    store: Arc<dyn ObjectStore>,
    /// Begins each object's name; empty, or without slashes at its ends.
    prefix: Arc<str>,
    permits: Arc<Semaphore>,
    name: Arc<str>,
    secrets: Arc<[String]>,
}

pub struct Object {
    pub bytes: Bytes,
    pub modified: DateTime<Utc>,
    /// Size of the whole object.
    pub size: u64,
    pub version: Version,
}

/// The state of an object, by which a change is noticed.
#[derive(Clone, Default)]
pub struct Version {
    tag: Option<String>,
    number: Option<String>,
}

/// An object of a listing.
pub struct ObjectSummary {
    pub path: String,
    pub modified: DateTime<Utc>,
}

/// How a call failed.
enum Failure {
    Absent,
    /// The condition does not hold: it exists, or is another version.
    Unmet,
    /// The object ends before the part that was asked for.
    OutOfRange,
    /// Its answer is lost, late or says that the service failed: the call may be done all the same.
    Unknown(StorageError),
    Outage(StorageError),
}

impl Calls {
    pub fn new(client: Client, prefix: &str) -> Calls {
        Calls {
            store: client.store,
            prefix: prefix.into(),
            permits: Arc::new(Semaphore::new(MAX_CALLS)),
            name: client.name.into(),
            secrets: client.secrets.into(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads an object, or returns None if it does not exist. `Corrupt` if it is larger than `most`.
    pub async fn get(&self, path: &str, most: u64) -> Result<Option<Object>, StorageError> {
        self.read(path, GetOptions::default(), most).await
    }

    /// Reads a part of an object, or returns None if the object does not exist or was changed.
    pub async fn get_range(
        &self,
        path: &str,
        range: Range<u64>,
        version: &Version,
    ) -> Result<Option<Object>, StorageError> {
        let most = range.end - range.start;
        let options = GetOptions { range: Some(range.into()), if_match: version.tag.clone(), ..GetOptions::default() };
        self.read(path, options, most).await
    }

    async fn read(&self, path: &str, options: GetOptions, most: u64) -> Result<Option<Object>, StorageError> {
        let place = self.place(path)?;
        let read = async {
            let found = self.store.get_opts(&place, options).await?;
            let (modified, size) = (found.meta.last_modified, found.meta.size);
            let version = Version { tag: found.meta.e_tag.clone(), number: found.meta.version.clone() };
            let length = found.range.end - found.range.start;
            let bytes = if length > most { None } else { Some(found.bytes().await?) };
            Ok(bytes.map(|bytes| Object { bytes, modified, size, version }))
        };
        match self.call(read).await {
            Ok(Some(object)) => Ok(Some(object)),
            Ok(None) => {
                Err(StorageError::Corrupt { path: path.to_owned(), reason: format!("larger than {most} bytes") })
            }
            Err(Failure::Absent | Failure::Unmet) => Ok(None),
            Err(Failure::OutOfRange) => {
                Err(StorageError::Corrupt { path: path.to_owned(), reason: "it ends too early".to_owned() })
            }
            Err(failure) => Err(self.outage(failure)),
        }
    }

    /// False where there is such an object, which stays as it is.
    pub async fn create(&self, path: &str, bytes: Bytes) -> Result<bool, StorageError> {
        self.put(path, bytes, PutMode::Create).await
    }

    /// False where the object is not this version any more, and stays as it is.
    pub async fn replace(&self, path: &str, bytes: Bytes, version: &Version) -> Result<bool, StorageError> {
        let version = UpdateVersion { e_tag: version.tag.clone(), version: version.number.clone() };
        self.put(path, bytes, PutMode::Update(version)).await
    }

    /// Creates an object, also where the answer is lost after the service has stored it: the object itself shows it. False where
    /// there is another one of this name, which stays as it is.
    pub async fn store(&self, path: &str, bytes: Bytes) -> Result<bool, StorageError> {
        let (attempts, mut lost) = (Attempts::default(), None);
        for _ in 0..MAX_PUTS {
            match self.try_put(path, bytes.clone(), PutMode::Create, &attempts).await? {
                Ok(()) => return Ok(true),
                Err(Failure::Unmet) if !attempts.are_several() => return Ok(false),
                Err(Failure::Unmet) => {}
                Err(Failure::Unknown(error)) => lost = Some(error),
                Err(failure) => return Err(self.outage(failure)),
            }
            if let Some(is_same) = self.compare(path, &bytes).await? {
                return Ok(is_same);
            }
        }
        Err(lost.unwrap_or_else(|| self.outage(Failure::Unmet)))
    }

    /// Whether an object has these bytes; None where it does not exist.
    async fn compare(&self, path: &str, bytes: &Bytes) -> Result<Option<bool>, StorageError> {
        match self.get(path, bytes.len() as u64).await {
            Ok(object) => Ok(object.map(|object| object.bytes == *bytes)),
            Err(StorageError::Corrupt { .. }) => Ok(Some(false)),
            Err(error) => Err(error),
        }
    }

    async fn put(&self, path: &str, bytes: Bytes, mode: PutMode) -> Result<bool, StorageError> {
        match self.try_put(path, bytes, mode, &Attempts::default()).await? {
            Ok(()) => Ok(true),
            Err(Failure::Unmet) => Ok(false),
            Err(failure) => Err(self.outage(failure)),
        }
    }

    async fn try_put(
        &self,
        path: &str,
        bytes: Bytes,
        mode: PutMode,
        attempts: &Attempts,
    ) -> Result<Result<(), Failure>, StorageError> {
        let place = self.place(path)?;
        let mut options = PutOptions::from(mode);
        options.extensions.insert(attempts.clone());
        let put = self.store.put_opts(&place, PutPayload::from_bytes(bytes), options);
        Ok(self.call(put).await.map(drop))
    }

    /// Creates an object of any size from a file of this machine; one of the same name is replaced. A failed
    /// one leaves no object.
    pub async fn upload(&self, path: &str, file: &Path) -> Result<(), StorageError> {
        let place = self.place(path)?;
        let mut upload = self.call(self.store.put_multipart(&place)).await.map_err(|failure| self.outage(failure))?;
        let sent = self.send_parts(path, file, &mut *upload).await;
        if sent.is_err() {
            // the bucket's own rules remove what stays
            let _ = timeout(MAX_CHECK_WAIT, upload.abort()).await;
        }
        sent
    }

    async fn send_parts(&self, path: &str, file: &Path, upload: &mut dyn MultipartUpload) -> Result<(), StorageError> {
        let failed = |error| StorageError::from_io(path, error);
        let mut file = File::open(file).await.map_err(failed)?;
        loop {
            let mut part = Vec::new();
            (&mut file).take(PART).read_to_end(&mut part).await.map_err(failed)?;
            if part.is_empty() {
                break;
            }
            let sent = self.call(upload.put_part(PutPayload::from(part))).await;
            sent.map_err(|failure| self.outage(failure))?;
        }
        self.call(upload.complete()).await.map(drop).map_err(|failure| self.outage(failure))
    }

    pub async fn exists(&self, path: &str) -> Result<bool, StorageError> {
        let place = self.place(path)?;
        match self.call(self.store.head(&place)).await {
            Ok(_) => Ok(true),
            Err(Failure::Absent) => Ok(false),
            Err(failure) => Err(self.outage(failure)),
        }
    }

    /// An object that is away is deleted.
    pub async fn delete(&self, path: &str) -> Result<(), StorageError> {
        let place = self.place(path)?;
        match self.call(self.store.delete(&place)).await {
            Ok(()) | Err(Failure::Absent) => Ok(()),
            Err(failure) => Err(self.outage(failure)),
        }
    }

    /// Replaces an object of the name `to`. False where there is nothing to copy.
    pub async fn copy(&self, from: &str, to: &str) -> Result<bool, StorageError> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        match self.call(self.store.copy(&from, &to)).await {
            Ok(()) => Ok(true),
            Err(Failure::Absent) => Ok(false),
            Err(failure) => Err(self.outage(failure)),
        }
    }

    /// All objects below a directory, at any depth.
    pub async fn list(&self, dir: &str) -> Result<Vec<ObjectSummary>, StorageError> {
        let place = self.place(dir)?;
        let mut pages = self.store.list(Some(&place));
        let mut found = Vec::new();
        loop {
            let next = async { pages.next().await.transpose() };
            let Some(object) = self.call(next).await.map_err(|failure| self.outage(failure))? else {
                return Ok(found);
            };
            if found.len() == MAX_LISTED {
                return Err(self.unavailable(&format!("more than {MAX_LISTED} objects are below {dir}")));
            }
            if let Some(path) = self.path(&object.location) {
                found.push(ObjectSummary { path, modified: object.last_modified });
            }
        }
    }

    /// The directories in a directory.
    pub async fn dirs(&self, dir: &str) -> Result<Vec<String>, StorageError> {
        let place = self.place(dir)?;
        let listed = self.call(self.store.list_with_delimiter(Some(&place))).await;
        let listed = listed.map_err(|failure| self.outage(failure))?;
        Ok(listed.common_prefixes.iter().filter_map(|place| self.path(place)).collect())
    }

    pub fn unavailable(&self, reason: &str) -> StorageError {
        let reason = without_secrets(reason.to_owned(), self.secrets.iter());
        StorageError::BucketUnavailable { bucket: self.name.to_string(), reason }
    }

    /// Error of a failure that says nothing about the object.
    fn outage(&self, failure: Failure) -> StorageError {
        match failure {
            Failure::Outage(error) | Failure::Unknown(error) => error,
            Failure::Absent => self.unavailable(NO_BUCKET),
            Failure::Unmet | Failure::OutOfRange => self.unavailable("it answers as if a condition had been set"),
        }
    }

    async fn call<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let within_permit = async {
            // it is never closed
            let _permit = self.permits.acquire().await.ok();
            work.await
        };
        match timeout(MAX_WAIT, within_permit).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(Error::NotFound { .. })) => Err(Failure::Absent),
            Ok(Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. })) => {
                Err(Failure::Unmet)
            }
            Ok(Err(error)) if code(&error.to_string()) == Some("InvalidRange") => Err(Failure::OutOfRange),
            Ok(Err(error)) if may_be_done(&error) => Err(Failure::Unknown(self.unavailable(&reason(&error)))),
            Ok(Err(error)) => Err(Failure::Outage(self.unavailable(&reason(&error)))),
            Err(_) => Err(Failure::Unknown(self.unavailable(&format!("no answer within {MAX_WAIT:?}")))),
        }
    }

    fn place(&self, path: &str) -> Result<ObjectPath, StorageError> {
        let place = match &*self.prefix {
            "" => ObjectPath::parse(path),
            prefix => ObjectPath::parse(format!("{prefix}/{path}")),
        };
        place.map_err(|_| StorageError::InvalidPath { path: path.to_owned() })
    }

    fn path(&self, place: &ObjectPath) -> Option<String> {
        let place = place.as_ref();
        match &*self.prefix {
            "" => Some(place.to_owned()),
            prefix => Some(place.strip_prefix(prefix)?.strip_prefix('/')?.to_owned()),
        }
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Calls({})", self.name)
    }
}

/// The cause in few words. An answer may repeat the request with its signature: only its code is passed on.
fn reason(error: &Error) -> String {
    let text = error.to_string();
    match code(&text) {
        Some("NoSuchBucket" | "ContainerNotFound") => NO_BUCKET.to_owned(),
        code if is_refusal(error, &text) => {
            format!("it refuses these credentials ({})", code.unwrap_or("access denied"))
        }
        Some(code) => format!("it answers {code}"),
        None => chain(error).chars().take(MAX_REASON).collect(),
    }
}

/// The library has no kind for the refusal of a listing.
fn is_refusal(error: &Error, text: &str) -> bool {
    matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
        || text.contains("status code: 403")
        || text.contains("status code: 401")
}

/// Whether the service may have done what it was asked: its answer did not come or cannot be read, or names a failure of the
/// service.
fn may_be_done(error: &Error) -> bool {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |cause| cause.source());
    let mut faults = causes.filter_map(|cause| cause.downcast_ref::<HttpError>());
    let has_no_answer = faults.any(|fault| !matches!(fault.kind(), HttpErrorKind::Connect));
    has_no_answer || error.to_string().contains("status code: 5")
}

/// The service's word for an error.
fn code(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once("<Code>")?;
    rest.split_once("</Code>").map(|(code, _)| code)
}

/// The innermost cause, such as a refused connection.
fn chain(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
