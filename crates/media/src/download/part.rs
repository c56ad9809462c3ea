//! `Part`: the bytes of a file so far, and the description of the file that they are a part of.
//!
//! The description is whole or absent (tmp, fsync, rename), and is written while the part is empty: a
//! crash between any two steps leaves bytes of the described file, or a part that is begun again.

use std::io;
use std::path::{Path, PathBuf};

use foundation::digest::Sha256Hex;
use hyper::header::{CONTENT_LENGTH, ETAG, HeaderMap, LAST_MODIFIED};
use serde::{Deserialize, Serialize};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::AsyncWriteExt;
use url::Url;

use super::outcome::{ContentRange, DownloadError};
use super::{media_type, text_of};

/// Bytes that are read at once for the hash.
const READ_BYTES: usize = 256 * 1024;

pub(super) struct Part {
    pub len: u64,
    /// None while the part is empty.
    pub remote: Option<Remote>,
    file: File,
    path: PathBuf,
}

/// A file as its server describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remote {
    url: String,
    etag: Option<String>,
    last_modified: Option<String>,
    pub total: Option<u64>,
    pub media_type: Option<String>,
}

impl Remote {
    pub fn of(url: &Url, headers: &HeaderMap) -> Self {
        Remote {
            url: url.to_string(),
            etag: text_of(headers, ETAG).map(str::to_owned),
            last_modified: text_of(headers, LAST_MODIFIED).map(str::to_owned),
            total: text_of(headers, CONTENT_LENGTH).and_then(|text| text.parse().ok()),
            media_type: media_type(headers),
        }
    }

    /// The value of If-Range that only this very file has. A weak ETag proves nothing of bytes, and a
    /// date beside one nothing either.
    fn proof(&self) -> Option<&str> {
        match self.etag.as_deref() {
            Some(etag) if etag.starts_with('"') => Some(etag),
            Some(_) => None,
            None => self.last_modified.as_deref(),
        }
    }
}

impl Part {
    /// The part that an earlier run left, where it is of this address and can be continued; else an empty
    /// one.
    pub async fn open(path: &Path, url: &Url) -> Result<Self, DownloadError> {
        let remote =
            read_description(path).await.filter(|remote| remote.url == url.as_str() && remote.proof().is_some());
        let Some(remote) = remote else { return Part::empty(path).await };
        let file = OpenOptions::new().append(true).create(true).open(path).await.map_err(|error| disk(path, error))?;
        let len = file.metadata().await.map_err(|error| disk(path, error))?.len();
        if len == 0 || remote.total.is_some_and(|total| len > total) {
            return Part::empty(path).await;
        }
        Ok(Part { len, remote: Some(remote), file, path: path.to_owned() })
    }

    pub async fn empty(path: &Path) -> Result<Self, DownloadError> {
        remove(path).await?;
        let file = OpenOptions::new().append(true).create(true).open(path).await.map_err(|error| disk(path, error))?;
        Ok(Part { len: 0, remote: None, file, path: path.to_owned() })
    }

    /// The value of If-Range for the missing bytes; None for a request of the whole file.
    pub fn proof(&self) -> Option<&str> {
        self.remote.as_ref().filter(|_| self.len > 0)?.proof()
    }

    /// Whether the answer is of the file that this is a part of, as far as it says so.
    pub fn is_of(&self, headers: &HeaderMap) -> bool {
        let Some(remote) = &self.remote else { return false };
        match (remote.etag.as_deref(), text_of(headers, ETAG)) {
            (Some(then), Some(now)) => then == now,
            _ => match (remote.last_modified.as_deref(), text_of(headers, LAST_MODIFIED)) {
                (Some(then), Some(now)) => then == now,
                _ => true,
            },
        }
    }

    /// Whether the body of this answer are the missing bytes, and all of them.
    pub fn is_continued_by(&self, headers: &HeaderMap, range: Option<ContentRange>) -> bool {
        let Some(ContentRange::Part { start, end, total }) = range else { return false };
        let known = self.remote.as_ref().and_then(|remote| remote.total);
        let is_rest = start == self.len && (total.is_none() || known.is_none() || total == known);
        is_rest && known.or(total).is_none_or(|total| end.checked_add(1) == Some(total)) && self.is_of(headers)
    }

    /// Makes it the empty part of this file.
    pub async fn begin(&mut self, remote: Remote) -> Result<(), DownloadError> {
        self.file.set_len(0).await.map_err(|error| disk(&self.path, error))?;
        self.len = 0;
        write_description(&self.path, &remote).await?;
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

    /// Makes the file durable, removes its description and returns its hash.
    pub async fn finish(self) -> Result<String, DownloadError> {
        let Part { file, path, .. } = self;
        file.sync_all().await.map_err(|error| disk(&path, error))?;
        let hashed = path.clone();
        let hash =
            tokio::task::spawn_blocking(move || hash(&hashed)).await.map_err(io::Error::other).and_then(|hash| hash);
        let hash = hash.map_err(|error| disk(&path, error))?;
        remove_if_there(&description(&path)).await?;
        Ok(hash)
    }
}

/// Removes a part, then its description.
pub(super) async fn remove(part: &Path) -> Result<(), DownloadError> {
    remove_if_there(part).await?;
    remove_if_there(&description(part)).await
}

async fn remove_if_there(path: &Path) -> Result<(), DownloadError> {
    match fs::remove_file(path).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(disk(path, error)),
        _ => Ok(()),
    }
}

/// None where there is none, or one that cannot be read.
async fn read_description(part: &Path) -> Option<Remote> {
    serde_json::from_slice(&fs::read(description(part)).await.ok()?).ok()
}

async fn write_description(part: &Path, remote: &Remote) -> Result<(), DownloadError> {
    let path = description(part);
    let new = path.with_extension("json.new");
    let written = async {
        let mut file = File::create(&new).await?;
        file.write_all(&serde_json::to_vec(remote)?).await?;
        file.sync_all().await?;
        fs::rename(&new, &path).await
    };
    written.await.map_err(|error| disk(&path, error))
}

fn description(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

fn hash(path: &Path) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256Hex::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hash.finish()),
            read => hash = hash.and(&buffer[..read]),
        }
    }
}

fn disk(path: &Path, error: io::Error) -> DownloadError {
    DownloadError::Disk { file: path.display().to_string(), error }
}
