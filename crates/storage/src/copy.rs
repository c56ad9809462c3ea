//! Copies all files of a storage root into another directory: for a backup, and back.
//!
//! In: two roots. Out: a [`CopyReport`]. A file is not copied again while its copy has the same size and time, so
//! a copy that was interrupted continues where it was. Files whose names begin with a dot stay behind: they are of
//! processes, or of the database that owns the root. Symbolic links, and what cannot be read, are counted as left; a
//! copy that cannot be written ends the work.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tokio::task::spawn_blocking;

use super::{StorageError, durable, image_layout, layout, media_layout, owner};

/// The directories of a root with files that rows name.
const DIRECTORIES: [&str; 3] = [layout::PAYLOADS, media_layout::MEDIA, image_layout::IMAGES];
/// Maximum number of files between two checks whether to continue.
const MAX_PART: usize = 64;
/// Maximum number of reasons in a report.
const MAX_REASONS: usize = 10;
/// Largest difference between equal times: some file systems count in steps of two seconds.
const TIME_STEP: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CopyReport {
    /// Files of the source that have a copy now.
    pub files: u64,
    pub bytes: u64,
    /// Number of these that this run copied.
    pub copied: u64,
    /// Files, directories and symbolic links that were not copied.
    pub left: u64,
    /// The first of these, with the reason.
    pub reasons: Vec<String>,
}

/// Number of files that [`copy_files`] would look at.
pub async fn count_files(root: &Path) -> Result<u64, StorageError> {
    let walk = Walk::new(root);
    blocking(move || Ok(walk.map(|listed| listed.files.len() as u64).sum())).await
}

/// Copies the files under `from` to the same paths under `to`. `goes_on` gets the number of files since it was last
/// asked; false ends the copy early.
pub async fn copy_files(from: &Path, to: &Path, goes_on: impl Fn(u64) -> bool) -> Result<CopyReport, StorageError> {
    let (mut walk, mut report) = (Walk::new(from), CopyReport::default());
    loop {
        let listed;
        (walk, listed) = blocking(move || {
            let listed = walk.next();
            Ok((walk, listed))
        })
        .await?;
        let Some(listed) = listed else { return Ok(report) };
        listed.left.into_iter().for_each(|reason| report.leave(reason));
        for part in listed.files.chunks(MAX_PART) {
            let (from, to, part) = (from.to_owned(), to.to_owned(), part.to_vec());
            let looked_at = part.len() as u64;
            report = blocking(move || copy_part(&from, &to, &part, report)).await?;
            if !goes_on(looked_at) {
                return Ok(report);
            }
        }
    }
}

/// Lets the next database that uses `root` own its files, and gives them, as root, to the account that owns the
/// directory.
pub async fn hand_over(root: &Path) -> Result<(), StorageError> {
    owner::clear(root)?;
    let root = root.to_owned();
    blocking(move || {
        let failed = |error| StorageError::of_root(&root, "its files", error);
        let account = fs::metadata(&root).map_err(failed)?;
        if !nix::unistd::Uid::effective().is_root() || account.uid() == 0 {
            return Ok(());
        }
        let give = |path: &Path| lchown(root.join(path), Some(account.uid()), Some(account.gid())).map_err(failed);
        give(Path::new(layout::OWNER))?;
        for listed in Walk::new(&root) {
            listed.dirs.iter().chain(&listed.files).try_for_each(|path| give(path))?;
        }
        Ok(())
    })
    .await
}

/// Lists the directories under a root one by one, without their order.
struct Walk {
    root: PathBuf,
    /// Directories that are listed later.
    dirs: Vec<PathBuf>,
    is_begun: bool,
}

impl Walk {
    fn new(root: &Path) -> Walk {
        Walk { root: root.to_owned(), dirs: Vec::new(), is_begun: false }
    }
}

impl Iterator for Walk {
    type Item = Listed;

    fn next(&mut self) -> Option<Listed> {
        let listed = match std::mem::replace(&mut self.is_begun, true) {
            false => Listed::top(&self.root),
            true => Listed::read(&self.root, &self.dirs.pop()?),
        };
        self.dirs.extend_from_slice(&listed.dirs);
        Some(listed)
    }
}

/// The entries of one directory, by their paths under the root.
#[derive(Default)]
struct Listed {
    dirs: Vec<PathBuf>,
    files: Vec<PathBuf>,
    /// Reasons why others are left.
    left: Vec<String>,
}

impl Listed {
    /// The directories with files that rows name.
    fn top(root: &Path) -> Listed {
        let mut listed = Listed::default();
        for dir in DIRECTORIES.map(PathBuf::from) {
            match fs::read_dir(root.join(&dir)) {
                Ok(_) => listed.dirs.push(dir),
                Err(error) => listed.leave(&dir, &error),
            }
        }
        listed
    }

    fn read(root: &Path, dir: &Path) -> Listed {
        let mut listed = Listed::default();
        let entries = match fs::read_dir(root.join(dir)) {
            Ok(entries) => entries,
            Err(error) => {
                listed.leave(dir, &error);
                return listed;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))) {
                Ok((name, _)) if name.as_encoded_bytes().starts_with(b".") => {}
                Ok((name, kind)) if kind.is_dir() => listed.dirs.push(dir.join(name)),
                Ok((name, kind)) if kind.is_file() => listed.files.push(dir.join(name)),
                Ok((name, _)) => {
                    listed.left.push(format!("{}: neither a file nor a directory", dir.join(name).display()));
                }
                Err(error) => listed.leave(dir, &error),
            }
        }
        listed
    }

    fn leave(&mut self, path: &Path, error: &io::Error) {
        // removed while others were copied
        if error.kind() != io::ErrorKind::NotFound {
            self.left.push(format!("{}: {error}", path.display()));
        }
    }
}

impl CopyReport {
    fn leave(&mut self, reason: String) {
        self.left += 1;
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(reason);
        }
    }
}

fn copy_part(from: &Path, to: &Path, files: &[PathBuf], mut report: CopyReport) -> Result<CopyReport, StorageError> {
    for path in files {
        match copy(&from.join(path), &to.join(path)) {
            Ok(Copied { bytes, is_new }) => {
                report.files += 1;
                report.bytes += bytes;
                report.copied += u64::from(is_new);
            }
            // removed since the directory was read
            Err(CopyError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(CopyError::Read(error)) => report.leave(format!("{}: {error}", path.display())),
            Err(CopyError::Write(error)) => return Err(StorageError::of_root(to, &path.to_string_lossy(), error)),
        }
    }
    Ok(report)
}

struct Copied {
    bytes: u64,
    is_new: bool,
}

enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

fn copy(from: &Path, to: &Path) -> Result<Copied, CopyError> {
    let mut source = File::open(from).map_err(CopyError::Read)?;
    let original = source.metadata().map_err(CopyError::Read)?;
    let (bytes, modified) = (original.len(), original.modified().map_err(CopyError::Read)?);
    let is_same = |copy: fs::Metadata| copy.len() == bytes && copy.modified().is_ok_and(|time| is_near(time, modified));
    if fs::symlink_metadata(to).is_ok_and(is_same) {
        return Ok(Copied { bytes, is_new: false });
    }
    let dir = to.parent().unwrap_or(to);
    let mut file = durable::write_unsynced(dir, &[]).map_err(CopyError::Write)?;
    copy_bytes(&mut source, file.as_file_mut())?;
    let finished = file.as_file().set_modified(modified).and_then(|()| file.as_file().sync_all());
    finished.and_then(|()| durable::persist(file, to)).map_err(CopyError::Write)?;
    Ok(Copied { bytes, is_new: true })
}

fn is_near(one: SystemTime, other: SystemTime) -> bool {
    one.duration_since(other).or_else(|_| other.duration_since(one)).is_ok_and(|difference| difference <= TIME_STEP)
}

/// Copies like `io::copy`, and says which of the two files is at fault.
fn copy_bytes(source: &mut File, target: &mut File) -> Result<(), CopyError> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match io::Read::read(source, &mut buffer).map_err(CopyError::Read)? {
            0 => return Ok(()),
            read => io::Write::write_all(target, &buffer[..read]).map_err(CopyError::Write)?,
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(lost) => Err(StorageError::Io { path: "the copy".to_owned(), error: io::Error::other(lost) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    async fn copied(from: &tempfile::TempDir, to: &tempfile::TempDir) -> CopyReport {
        copy_files(from.path(), to.path(), |_| true).await.unwrap()
    }

    #[tokio::test]
    async fn files_of_rows_are_copied_once_and_again_when_they_change() {
        let from = root_with(&[
            ("payloads/2025/11/07/store_1.json.gz", "menu"),
            ("payloads/.database", "a database"),
            ("payloads/.orphans/2025-11-07/store_2.json.gz", "no row"),
            ("media/aa/aabb.jpg", "media"),
            ("images/products/az/image.webp", "image"),
            ("images/products/az/.image.tmp", "half"),
            ("postgres/data/base", "a server's"),
        ]);
        let to = tempfile::tempdir().unwrap();
        assert_eq!(count_files(from.path()).await.unwrap(), 3);
        let first = copied(&from, &to).await;
        assert_eq!((first.files, first.bytes, first.copied, first.left), (3, 14, 3, 0));
        assert_eq!(fs::read_to_string(to.path().join("payloads/2025/11/07/store_1.json.gz")).unwrap(), "menu");
        assert_eq!(count_files(to.path()).await.unwrap(), 3);
        assert!(!to.path().join("postgres").exists() && !to.path().join("payloads/.database").exists());

        fs::write(from.path().join("images/products/az/image.webp"), "another image").unwrap();
        let second = copied(&from, &to).await;
        assert_eq!((second.files, second.copied), (3, 1));
        assert_eq!(fs::read_to_string(to.path().join("images/products/az/image.webp")).unwrap(), "another image");
    }

    #[tokio::test]
    async fn a_stopped_copy_goes_on_with_the_files_that_are_left() {
        let names: Vec<String> = (0..MAX_PART + 6).map(|number| format!("media/aa/{number}.jpg")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "media")).collect();
        let (from, to) = (root_with(&files), tempfile::tempdir().unwrap());
        let stopped = copy_files(from.path(), to.path(), |_| false).await.unwrap();
        assert_eq!(stopped.copied, MAX_PART as u64);
        let rest = copied(&from, &to).await;
        assert_eq!((rest.files, rest.copied), (MAX_PART as u64 + 6, 6));
    }

    #[tokio::test]
    async fn a_link_is_left_and_named_and_a_missing_root_has_no_files() {
        let (from, to) = (root_with(&[("media/aa/1.jpg", "media")]), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink("/etc", from.path().join("media/bb")).unwrap();
        let report = copied(&from, &to).await;
        assert_eq!((report.files, report.left), (1, 1));
        assert_eq!(report.reasons, ["media/bb: neither a file nor a directory"]);
        let absent = copy_files(&from.path().join("absent"), to.path(), |_| true).await.unwrap();
        assert_eq!(absent, CopyReport::default());
    }

    #[test]
    fn a_directory_that_was_removed_meanwhile_is_empty() {
        let root = root_with(&[("payloads/2025/11/07/store_1.json.gz", "menu")]);
        let listed = Listed::read(root.path(), Path::new("payloads/2025/11/08"));
        assert!(listed.files.is_empty() && listed.left.is_empty());
    }

    #[tokio::test]
    async fn a_copy_that_cannot_be_written_ends_the_work() {
        let (from, to) =
            (root_with(&[("media/aa/1.jpg", "media")]), root_with(&[("media", "a file, not a directory")]));
        assert!(copy_files(from.path(), to.path(), |_| true).await.is_err());
    }

    #[tokio::test]
    async fn files_that_were_handed_over_are_the_next_database_s() {
        let root = root_with(&[("payloads/.database", "id 7"), ("media/aa/1.jpg", "media")]);
        hand_over(root.path()).await.unwrap();
        assert_eq!(owner::root_owner(root.path(), "another").unwrap(), owner::RootOwner::Next);
    }
}
