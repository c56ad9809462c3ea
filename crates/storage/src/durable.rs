//! Durable, atomic file writes: under a temporary name in the same directory, synced, then renamed. Blocking.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::{NamedTempFile, PersistError};

const TMP_PREFIX: &str = ".";
const TMP_SUFFIX: &str = ".tmp";

/// Writes `bytes` into a synced temporary file in `dir`, which is created when missing. The file is removed
/// when it is dropped, or by the sweep when the process was killed. Its mode follows the umask, so that
/// backups can read it: it must hold no secret.
pub fn write_temporary(dir: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let file = write_unsynced(dir, bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// The same without the sync: a local file system reserves the room at once, a share may refuse it later.
pub fn write_unsynced(dir: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    create_dir(dir)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TMP_PREFIX).suffix(TMP_SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Whether `path` has the name of a temporary file, which a killed process may have left behind.
pub fn is_temporary(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with(TMP_PREFIX) && name.ends_with(TMP_SUFFIX)
}

/// Renames `file` to `path`, whose directory is created when missing. Returns the file when `path` exists.
pub fn persist_new(file: NamedTempFile, path: &Path) -> io::Result<Result<(), NamedTempFile>> {
    create_parent(path)?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_parent(path).map(Ok),
        Err(PersistError { error, file }) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Err(file)),
        Err(PersistError { error, .. }) => Err(error),
    }
}

/// Renames `file` to `path`, replacing any file there.
pub fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    sync_parent(path)
}

/// The same for all that `source` holds.
pub fn copy_temporary(dir: &Path, source: &mut File) -> io::Result<NamedTempFile> {
    let mut file = write_unsynced(dir, &[])?;
    io::copy(source, &mut file)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Renames a synced file within a file system.
pub fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    rename(from, to)?;
    sync_parent(to)
}

/// Renames a file within a file system; a crash may undo it.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    create_parent(to)?;
    fs::rename(from, to)
}

/// Makes creations and removals in `dir` durable, also after a crash.
pub fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn create_parent(path: &Path) -> io::Result<()> {
    create_dir(path.parent().ok_or(io::ErrorKind::InvalidInput)?)
}

/// Creates `dir` and its missing parents, each one synced into its parent.
fn create_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_dir(parent)?;
    }
    match fs::create_dir(dir) {
        Ok(()) => sync_parent(dir),
        // another process was faster
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => File::open(parent)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
