//! Files that are whole or not there: written beside their place, synced, then given their name. Blocking.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// How files are called before they have a name; a sweep removes what a crash left of them.
pub const TMP_SUFFIX: &str = ".tmp";

/// Writes `bytes` into a synced file in `dir` that has no name yet, and vanishes when it is dropped.
pub fn write_unnamed(dir: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(TMP_SUFFIX);
    #[cfg(unix)]
    // as any other file of this user: the default of temporary files is for nobody else's eyes, a backup's among them
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Writes so many bytes into a file in `dir` that vanishes at once.
pub fn try_room(dir: &Path, bytes: usize) -> io::Result<()> {
    create_dir(dir)?;
    tempfile::tempfile_in(dir)?.write_all(&vec![0; bytes])
}

/// Names `file`, unless the name is taken: then the file comes back.
pub fn name(file: NamedTempFile, path: &Path) -> io::Result<Result<(), NamedTempFile>> {
    match file.persist_noclobber(path) {
        Ok(_) => sync_parent(path).map(Ok),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Ok(Err(refused.file)),
        Err(refused) => Err(refused.error),
    }
}

/// Makes `dir` and what is missing above it, each one synced into its parent.
pub fn create_dir(dir: &Path) -> io::Result<()> {
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
