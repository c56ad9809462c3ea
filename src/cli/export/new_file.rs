//! `NewFile`: a file that gets its name when it is whole.
//!
//! In: a path and bytes. Out: the file, or nothing: on Linux it has no name until then, so that even a killed program leaves none;
//! elsewhere it has another name beside its path, and is deleted when it is dropped.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

pub struct NewFile {
    content: Content,
    path: PathBuf,
}

enum Content {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedTempFile),
}

/// Permissions: others may read it, as far as the umask lets them.
const MODE: u32 = 0o666;

impl NewFile {
    pub fn create(path: &Path) -> io::Result<NewFile> {
        Ok(NewFile { content: Content::create(directory(path))?, path: path.to_owned() })
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.content.file().write_all(bytes)
    }

    /// Gives the file its name; another file of that name is replaced.
    pub fn finish(mut self) -> io::Result<()> {
        self.content.file().sync_all()?;
        match self.content {
            Content::Named(file) => file.persist(self.path).map(drop).map_err(|error| error.error),
            #[cfg(target_os = "linux")]
            Content::Unnamed(file) => unnamed::persist(&file, &self.path),
        }
    }
}

impl Content {
    fn create(dir: &Path) -> io::Result<Content> {
        // not every file system has files without a name
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create(dir) {
            return Ok(Content::Unnamed(file));
        }
        builder().tempfile_in(dir).map(Content::Named)
    }

    fn file(&mut self) -> &mut File {
        match self {
            Content::Named(file) => file.as_file_mut(),
            #[cfg(target_os = "linux")]
            Content::Unnamed(file) => file,
        }
    }
}

pub fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(PermissionsExt::from_mode(MODE)).prefix(".export-");
    builder
}

#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, open};
    use nix::sys::stat::Mode;
    use nix::unistd::linkat;

    use super::{MODE, builder, directory};

    /// Names of open files: a file without a name is linked by it.
    const OPEN_FILES: &str = "/proc/self/fd";

    pub fn create(dir: &Path) -> Option<File> {
        if !Path::new(OPEN_FILES).is_dir() {
            return None;
        }
        let flags = OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC;
        open(dir, flags, Mode::from_bits_truncate(MODE)).ok().map(File::from)
    }

    /// A link does not replace a file: it gets a name beside it, which does.
    pub fn persist(file: &File, path: &Path) -> io::Result<()> {
        let open_file = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        let open_file = Path::new(&open_file);
        let link = |name: &Path| Ok(linkat(AT_FDCWD, open_file, AT_FDCWD, name, AtFlags::AT_SYMLINK_FOLLOW)?);
        builder().make_in(directory(path), link)?.persist(path).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_whole_file_replaces_the_one_of_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("products.csv");
        std::fs::write(&path, "of before").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "of before");
        file.finish().unwrap();
        assert_eq!(
            (names(dir.path()), std::fs::read_to_string(&path).unwrap()),
            (vec!["products.csv".to_owned()], "new".to_owned())
        );
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = NewFile::create(&dir.path().join("products.csv")).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(names(dir.path()), [""; 0]);
    }

    /// A killed program drops nothing.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_killed_program_leaves_no_half_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = NewFile::create(&dir.path().join("products.csv")).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(dir.path()), [""; 0]);
    }
}
