//! `Geo`: where an address is, by a file of the operator: an IP2Location BIN or a MaxMind MMDB.
//!
//! In: the file's path and an address. Out: its [`Place`]. The file is read whole and checked, and read again
//! once it has changed; while a new one cannot be read, the one before serves. It must not know its callers,
//! and keeps no address.

#[cfg(feature = "ip2location")]
mod ip2location_file;
#[cfg(not(feature = "ip2location"))]
#[path = "ip2location_absent.rs"]
mod ip2location_file;
mod mmdb_file;

use std::fs::{File, Metadata};
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use thiserror::Error;

use domain::store::place::Place;
use ip2location_file::Ip2LocationFile;
use mmdb_file::MmdbFile;
use telemetry::events;

/// Maximum size of the file; files of all cities have some hundred megabytes.
const MAX_BYTES: u64 = 1 << 30;

/// Cheap to clone.
#[derive(Clone, Default)]
pub struct Geo(Option<Arc<WatchedFile>>);

/// Why there is no answer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GeoError {
    #[error("geo lookups are off: geo.database names no file")]
    Off,
    /// The file cannot be read, or this part of it.
    #[error("the file of geo.database cannot be read: {0}")]
    Unreadable(String),
}

/// A file that may change.
struct WatchedFile {
    path: PathBuf,
    /// Stamp of the file that was read last; locked while it is read.
    seen: tokio::sync::Mutex<Option<Stamp>>,
    current: RwLock<Result<Arc<GeoFile>, GeoError>>,
}

/// Differs where a file was written, or replaced by another.
#[derive(Clone, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

enum GeoFile {
    Ip2Location(Ip2LocationFile),
    Mmdb(MmdbFile),
}

impl Geo {
    /// None: lookups are off. Nothing is read yet.
    pub fn new(path: Option<&Path>) -> Self {
        let unread = Err(GeoError::Unreadable("it has not been read yet".to_owned()));
        let watched =
            |path: &Path| WatchedFile { path: path.to_owned(), seen: Default::default(), current: RwLock::new(unread) };
        Geo(path.map(watched).map(Arc::new))
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Reads the file if it has changed since it was read.
    pub async fn refresh(&self) {
        let Some(watched) = self.0.clone() else { return };
        let mut seen = watched.seen.lock().await;
        let (path, before) = (watched.path.clone(), seen.clone());
        let read = tokio::task::spawn_blocking(move || read_if_changed(&path, before.as_ref())).await;
        let Ok(Some((stamp, file))) = read else { return };
        *seen = Some(stamp);
        watched.replace(file);
    }

    /// Looks the address up in the file as it was last read. None: the file does not know the address.
    pub fn look_up(&self, address: IpAddr) -> Result<Option<Place>, GeoError> {
        let watched = self.0.as_ref().ok_or(GeoError::Off)?;
        let current = watched.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let place = current?.look_up(address.to_canonical()).map_err(GeoError::Unreadable)?;
        Ok(place.filter(|place| *place != Place::default()))
    }
}

impl WatchedFile {
    fn replace(&self, file: Result<GeoFile, String>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        match file {
            Ok(file) => {
                events::geo_file_read(&self.path);
                *current = Ok(Arc::new(file));
            }
            Err(fault) => {
                events::geo_file_unreadable(&self.path, &fault, current.is_ok());
                if current.is_err() {
                    *current = Err(GeoError::Unreadable(fault));
                }
            }
        }
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Stamp { modified: metadata.modified().ok(), bytes: metadata.len(), inode: metadata.ino() }
    }
}

/// An unreadable file counts as empty; it is logged once per version of the file.
const ABSENT: Stamp = Stamp { modified: None, bytes: 0, inode: 0 };

/// Reads the file; None where it is as before.
fn read_if_changed(path: &Path, before: Option<&Stamp>) -> Option<(Stamp, Result<GeoFile, String>)> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let stamp = opened.as_ref().map_or(ABSENT, |(metadata, _)| Stamp::from(metadata));
    if before == Some(&stamp) {
        return None;
    }
    let file = opened.map_err(|error| error.to_string()).and_then(|(_, file)| GeoFile::read(file));
    Some((stamp, file))
}

impl GeoFile {
    fn read(file: File) -> Result<GeoFile, String> {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        match () {
            () if bytes.len() as u64 > MAX_BYTES => Err(format!("it has more than {MAX_BYTES} bytes")),
            () if mmdb_file::is_one(&bytes) => MmdbFile::read(bytes).map(GeoFile::Mmdb),
            () => Ip2LocationFile::read(&bytes).map(GeoFile::Ip2Location),
        }
    }

    fn look_up(&self, address: IpAddr) -> Result<Option<Place>, String> {
        match self {
            GeoFile::Ip2Location(file) => file.look_up(address),
            GeoFile::Mmdb(file) => file.look_up(address),
        }
    }
}
