//! `Variants`: resized images on disk, a cache that may be lost at any time.
//!
//! In: the digest of a request, and bytes. Out: the bytes again, until others were used more recently and the
//! cache is full. It survives restarts: a file's access time says when it was used last. It must not know the
//! files' content.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use lru::LruCache;
use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::durable;

/// Number of characters of a digest that name its directory.
const DIR_CHARS: usize = 2;

/// One cached file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedFile {
    pub bytes: Vec<u8>,
    /// Time that was given when the file was written.
    pub modified: SystemTime,
}

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Variants(Arc<Cache>);

struct Cache {
    root: PathBuf,
    max_bytes: u64,
    index: OnceCell<Mutex<Index>>,
}

/// Files on disk, the least recently used first.
struct Index {
    sizes: LruCache<String, u64>,
    bytes: u64,
}

impl Variants {
    pub fn new(root: impl Into<PathBuf>, max_bytes: u64) -> Variants {
        Variants(Arc::new(Cache { root: root.into(), max_bytes, index: OnceCell::new() }))
    }

    /// The file called `name`, which is then the most recently used one.
    pub async fn get(&self, name: &str) -> Option<CachedFile> {
        let size = self.index().await.get(name)?;
        let (cache, name) = (Arc::clone(&self.0), name.to_owned());
        let read = spawn_blocking(move || match read(&cache.path(&name), size) {
            Ok(file) => Some(file),
            // another process made room, or a crash left a part
            Err(_) => {
                cache.forget(&name);
                None
            }
        });
        read.await.ok().flatten()
    }

    /// Notes that the file called `name` was used, without reading it.
    pub fn note_use(&self, name: &str) {
        if let Some(index) = self.0.index.get() {
            lock(index).get(name);
        }
    }

    /// Keeps `bytes` as `name`, and makes room for them. Errors: the disk; nothing is kept then.
    pub async fn put(&self, name: &str, bytes: Vec<u8>, modified: SystemTime) -> io::Result<()> {
        if bytes.len() as u64 > self.0.max_bytes {
            return Ok(());
        }
        drop(self.index().await);
        let (cache, name) = (Arc::clone(&self.0), name.to_owned());
        let written = spawn_blocking(move || cache.put(&name, &bytes, modified));
        written.await.map_err(io::Error::other)?
    }

    /// Read from the disk when it is first needed.
    async fn index(&self) -> MutexGuard<'_, Index> {
        let cache = Arc::clone(&self.0);
        let scan = async || {
            let scanned = spawn_blocking(move || cache.scan()).await;
            Mutex::new(scanned.unwrap_or_else(|_| Index::empty()))
        };
        lock(self.0.index.get_or_init(scan).await)
    }
}

impl Cache {
    fn put(&self, name: &str, bytes: &[u8], modified: SystemTime) -> io::Result<()> {
        let path = self.path(name);
        let dir = path.parent().unwrap_or(&self.root);
        let file = durable::write_temporary(dir, bytes)?;
        file.as_file().set_modified(modified)?;
        durable::persist(file, &path)?;
        let evicted = match self.index.get() {
            Some(index) => lock(index).insert(name, bytes.len() as u64, self.max_bytes),
            None => Vec::new(),
        };
        for name in evicted {
            // it may be gone already
            let _ = fs::remove_file(self.path(&name));
        }
        Ok(())
    }

    fn forget(&self, name: &str) {
        if let Some(index) = self.index.get() {
            lock(index).remove(name);
        }
    }

    /// All files in the order of their last use, without the ones that do not fit any more.
    fn scan(&self) -> Index {
        let mut found: Vec<(SystemTime, String, u64)> = dirs(&self.root).iter().flat_map(|dir| files(dir)).collect();
        found.sort();
        let mut index = Index::empty();
        for (_, name, size) in found {
            for evicted in index.insert(&name, size, self.max_bytes) {
                let _ = fs::remove_file(self.path(&evicted));
            }
        }
        index
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name.get(..DIR_CHARS).unwrap_or("00")).join(name)
    }
}

impl Index {
    fn empty() -> Index {
        Index { sizes: LruCache::unbounded(), bytes: 0 }
    }

    fn get(&mut self, name: &str) -> Option<u64> {
        self.sizes.get(name).copied()
    }

    /// Returns the names to remove.
    fn insert(&mut self, name: &str, size: u64, max_bytes: u64) -> Vec<String> {
        self.bytes += size;
        self.bytes -= self.sizes.put(name.to_owned(), size).unwrap_or_default();
        let mut evicted = Vec::new();
        while self.bytes > max_bytes
            && let Some((name, size)) = self.sizes.pop_lru()
        {
            self.bytes -= size;
            evicted.push(name);
        }
        evicted
    }

    fn remove(&mut self, name: &str) {
        self.bytes -= self.sizes.pop(name).unwrap_or_default();
    }
}

fn read(path: &Path, size: u64) -> io::Result<CachedFile> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.len() != size {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::with_capacity(size as usize);
    io::Read::read_to_end(&mut file, &mut bytes)?;
    // a file system without access times loses the order at a restart, and nothing else
    let _ = futimens(&file, &TimeSpec::UTIME_NOW, &TimeSpec::UTIME_OMIT);
    Ok(CachedFile { bytes, modified: metadata.modified()? })
}

fn dirs(root: &Path) -> Vec<PathBuf> {
    let listing = fs::read_dir(root).into_iter().flatten().flatten();
    listing.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// Last use, name and size of the files in `dir`. Removes half-written files of killed processes.
fn files(dir: &Path) -> Vec<(SystemTime, String, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (Ok(metadata), Ok(name)) = (entry.metadata(), entry.file_name().into_string()) else { continue };
        if durable::is_temporary(&name) {
            let _ = fs::remove_file(entry.path());
        } else if metadata.is_file() {
            files.push((metadata.accessed().unwrap_or(SystemTime::UNIX_EPOCH), name, metadata.len()));
        }
    }
    files
}

fn lock(index: &Mutex<Index>) -> MutexGuard<'_, Index> {
    index.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::{UtimensatFlags, utimensat};

    use super::*;

    const LONG_AGO: SystemTime = SystemTime::UNIX_EPOCH;

    async fn put(variants: &Variants, name: &str) {
        variants.put(name, vec![7; 100], LONG_AGO).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_kept_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        put(&Variants::new(dir.path(), 1000), "aa01.webp").await;
        let again = Variants::new(dir.path(), 1000);
        assert_eq!(again.get("aa01.webp").await, Some(CachedFile { bytes: vec![7; 100], modified: LONG_AGO }));
    }

    #[tokio::test]
    async fn the_least_recently_used_goes_first() {
        let dir = tempfile::tempdir().unwrap();
        let variants = Variants::new(dir.path(), 250);
        put(&variants, "aa01").await;
        put(&variants, "bb02").await;
        variants.note_use("aa01");
        put(&variants, "cc03").await;
        assert!(variants.get("bb02").await.is_none());
        assert!(variants.get("aa01").await.is_some() && variants.get("cc03").await.is_some());
        assert!(!dir.path().join("bb/bb02").exists());
    }

    #[tokio::test]
    async fn the_order_of_use_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let variants = Variants::new(dir.path(), 1000);
        for name in ["aa01", "bb02", "cc03"] {
            put(&variants, name).await;
            let (used, path) = (TimeSpec::new(if name == "aa01" { 30 } else { 20 }, 0), variants.0.path(name));
            utimensat(nix::fcntl::AT_FDCWD, &path, &used, &TimeSpec::UTIME_OMIT, UtimensatFlags::FollowSymlink)
                .unwrap();
        }
        let smaller = Variants::new(dir.path(), 150);
        assert!(smaller.get("aa01").await.is_some());
        assert!(smaller.get("bb02").await.is_none() && smaller.get("cc03").await.is_none());
    }

    #[tokio::test]
    async fn a_part_of_a_file_is_not_handed_out() {
        let dir = tempfile::tempdir().unwrap();
        let variants = Variants::new(dir.path(), 1000);
        put(&variants, "aa01").await;
        fs::write(variants.0.path("aa01"), b"half").unwrap();
        assert!(variants.get("aa01").await.is_none());
        put(&variants, "aa01").await;
        assert!(variants.get("aa01").await.is_some());
    }
}
