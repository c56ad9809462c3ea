//! `Part`: the bytes of a file so far, and the description of the file that they are a part of.
//!
//! The description is whole or absent (tmp, fsync, rename), and is written while the part is empty: a
//! crash between any two steps leaves bytes of the described file, or a part that is begun again.

use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use foundation::digest::{sha256_hex, sha256_of_file};
use hyper::header::{CONTENT_LENGTH, DATE, ETAG, HeaderMap, LAST_MODIFIED};
use serde::{Deserialize, Serialize};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use url::Url;

use super::{ContentRange, DownloadError, media_type, text_of};

/// Minimum age of a file's last change, when its date proves that it is the same.
const MIN_AGE: Duration = Duration::from_secs(1);
/// Mode for the account of the worker alone.
const MODE: u32 = 0o600;

pub(super) struct Part {
    pub len: u64,
    /// None while the part is empty.
    pub remote: Option<Remote>,
    file: File,
    path: PathBuf,
}

/// A file as its server describes it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remote {
    /// The digest of its address, which may hold a key.
    url_sha256: String,
    etag: Option<String>,
    last_modified: Option<String>,
    /// The time of the answer by the clock of its server.
    date: Option<String>,
    pub total: Option<u64>,
    pub media_type: Option<String>,
}

impl Remote {
    pub fn of(url: &Url, headers: &HeaderMap) -> Self {
        let text = |name| text_of(headers, name).map(str::to_owned);
        Remote {
            url_sha256: sha256_hex(url.as_str()),
            etag: text(ETAG),
            last_modified: text(LAST_MODIFIED),
            date: text(DATE),
            total: text_of(headers, CONTENT_LENGTH).and_then(|text| text.parse().ok()),
            media_type: media_type(headers),
        }
    }

    /// The value of If-Range that only this very file has: a strong ETag; without any ETag, the date of a change
    /// that is at least [`MIN_AGE`] old, because a file may change twice in one second.
    fn proof(&self) -> Option<&str> {
        match self.etag.as_deref() {
            Some(etag) if etag.starts_with('"') => Some(etag),
            Some(_) => None,
            None => self.last_modified.as_deref().filter(|changed| self.is_older(changed)),
        }
    }

    fn is_older(&self, changed: &str) -> bool {
        let (Ok(changed), Some(date)) = (httpdate::parse_http_date(changed), self.date.as_deref()) else {
            return false;
        };
        httpdate::parse_http_date(date).is_ok_and(|told| told.duration_since(changed).is_ok_and(|age| age >= MIN_AGE))
    }
}

impl Part {
    /// The part that an earlier run left, where it is of this address and can be continued; else an empty one.
    pub async fn open(path: &Path, url: &Url) -> Result<Self, DownloadError> {
        let url_sha256 = sha256_hex(url.as_str());
        let remote = read_description(path).await;
        let remote = remote.filter(|remote| remote.url_sha256 == url_sha256 && remote.proof().is_some());
        let Some(remote) = remote else { return Part::empty(path).await };
        let mut file = open_file(path).await?;
        // at its end, and not in append mode: a write of a run that was dropped may still come, and then
        // writes the same bytes to the same place
        let len = file.seek(SeekFrom::End(0)).await.map_err(|error| disk(path, error))?;
        if len == 0 || remote.total.is_some_and(|total| len > total) {
            return Part::empty(path).await;
        }
        Ok(Part { len, remote: Some(remote), file, path: path.to_owned() })
    }

    pub async fn empty(path: &Path) -> Result<Self, DownloadError> {
        remove(path).await?;
        Ok(Part { len: 0, remote: None, file: open_file(path).await?, path: path.to_owned() })
    }

    /// The value of If-Range for the missing bytes; None for a request of the whole file.
    pub fn proof(&self) -> Option<&str> {
        self.remote.as_ref().filter(|_| self.len > 0)?.proof()
    }

    /// Whether the answer is of the file that this is a part of. An ETag that proves it must come again; an
    /// answer to a date need not repeat it.
    pub fn is_of(&self, headers: &HeaderMap) -> bool {
        let Some(remote) = &self.remote else { return false };
        match (remote.etag.as_deref(), remote.last_modified.as_deref(), text_of(headers, LAST_MODIFIED)) {
            (Some(etag), ..) => text_of(headers, ETAG) == Some(etag),
            (None, Some(then), Some(now)) => then == now,
            (None, ..) => true,
        }
    }

    /// Whether the whole file may have this size.
    pub fn may_have(&self, total: u64) -> bool {
        self.remote.as_ref().and_then(|remote| remote.total).is_none_or(|known| known == total)
    }

    /// The size of the whole file, where the body of this answer are the missing bytes, and all of them.
    pub fn continued_to(&self, headers: &HeaderMap, range: Option<ContentRange>) -> Option<u64> {
        let Some(ContentRange::Part { start, end, total: Some(total) }) = range else { return None };
        let is_rest = start == self.len && end.checked_add(1) == Some(total);
        (is_rest && self.may_have(total) && self.is_of(headers)).then_some(total)
    }

    /// Keeps the size, which the first answer may not have named.
    pub async fn learn(&mut self, total: u64) -> Result<(), DownloadError> {
        match &mut self.remote {
            Some(remote) if remote.total.is_none() => {
                remote.total = Some(total);
                write_description(&self.path, remote).await
            }
            _ => Ok(()),
        }
    }

    /// Makes it the empty part of this file, in a new file: what an earlier run still writes goes to the old.
    pub async fn begin(&mut self, remote: Remote) -> Result<(), DownloadError> {
        remove_if_there(&self.path).await?;
        write_description(&self.path, &remote).await?;
        (self.file, self.len) = (open_file(&self.path).await?, 0);
        self.remote = Some(remote);
        Ok(())
    }

    pub async fn append(&mut self, data: &[u8]) -> Result<(), DownloadError> {
        let written = async {
            self.file.write_all(data).await?;
            self.file.flush().await
        };
        written.await.map_err(|error| disk(&self.path, error))?;
        self.len += data.len() as u64;
        Ok(())
    }

    /// Makes the file durable, and returns its hash. Its description stays for a run that has to come again.
    pub async fn finish(self) -> Result<String, DownloadError> {
        let Part { file, path, len, .. } = self;
        file.sync_all().await.map_err(|error| disk(&path, error))?;
        let hashed = path.clone();
        let hash = tokio::task::spawn_blocking(move || sha256_of_file(&hashed))
            .await
            .map_err(io::Error::other)
            .and_then(|hash| hash);
        let (bytes, hash) = hash.map_err(|error| disk(&path, error))?;
        if bytes != len {
            return Err(disk(&path, io::Error::other(format!("has {bytes} bytes after {len} were written"))));
        }
        Ok(hash)
    }
}

/// Removes a part, then its description.
pub(super) async fn remove(part: &Path) -> Result<(), DownloadError> {
    remove_if_there(part).await?;
    remove_if_there(&new_description(part)).await?;
    remove_if_there(&description(part)).await
}

async fn open_file(path: &Path) -> Result<File, DownloadError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(MODE);
    options.open(path).await.map_err(|error| disk(path, error))
}

async fn remove_if_there(path: &Path) -> Result<(), DownloadError> {
    match fs::remove_file(path).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(disk(path, error)),
        _ => Ok(()),
    }
}

/// Reads the description; None where there is none, or one that cannot be read.
async fn read_description(part: &Path) -> Option<Remote> {
    serde_json::from_slice(&fs::read(description(part)).await.ok()?).ok()
}

async fn write_description(part: &Path, remote: &Remote) -> Result<(), DownloadError> {
    let (path, new) = (description(part), new_description(part));
    let written = async {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(&new).await?;
        file.write_all(&serde_json::to_vec(remote)?).await?;
        file.sync_all().await?;
        fs::rename(&new, &path).await
    };
    written.await.map_err(|error| disk(&path, error))
}

fn description(part: &Path) -> PathBuf {
    beside(part, ".json")
}

fn new_description(part: &Path) -> PathBuf {
    beside(part, ".json.new")
}

fn beside(part: &Path, ending: &str) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn disk(path: &Path, error: io::Error) -> DownloadError {
    DownloadError::Disk { file: path.display().to_string(), error }
}
