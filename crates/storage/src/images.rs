//! `Images`: stored images of products and brands, one file each, never changed once it is there. It reads
//! pictures among the media files, too.
//!
//! In: whose image it is, and its bytes. Out: a path relative to the storage root, durable before it is
//! returned; or the bytes. A path is opened part by part, so that no symbolic link in it is followed. It must
//! not know where images come from.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::SystemTime;

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use super::files::MAX_IMAGE_BYTES;
use super::{Payloads, Place, StorageError, durable, image_layout, media_layout};
use domain::menu::image::Subject;
use domain::payload::SweepTimes;

/// The image files of one database in one place. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Images(Payloads);

/// A stored image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredImage {
    pub bytes: Vec<u8>,
    pub modified: SystemTime,
}

impl Images {
    /// Images beside these payloads, under the same root and owner.
    pub fn beside(payloads: &Payloads) -> Images {
        Images(payloads.clone())
    }

    /// Images in a place, for reading only.
    pub fn under(place: impl Into<Place>) -> Images {
        Images(Payloads::new(place, ""))
    }

    /// The image that `subject` has already, whatever its content.
    pub async fn find(&self, subject: &Subject) -> Result<Option<String>, StorageError> {
        self.0.files().find_image(subject.clone()).await
    }

    /// Writes the image of `subject` whose download has this SHA-256; a file that is there already is left as
    /// it is.
    pub async fn write(&self, subject: &Subject, sha256: &str, bytes: Vec<u8>) -> Result<String, StorageError> {
        let path = image_layout::file(subject, sha256);
        self.0.files().create_image(self.0.owner(), path.clone(), bytes.into()).await?;
        Ok(path)
    }

    /// Reads a stored image, or a picture among the media files. `Missing` where there is none, `InvalidPath`
    /// where neither layout can name it, `Corrupt` where it is not a regular file.
    pub async fn read(&self, path: &str) -> Result<StoredImage, StorageError> {
        self.0.files().read_image(path.to_owned()).await
    }

    /// Removes old files below `dir` that are not among `known`. Does nothing unless all files here belong to
    /// this database.
    pub async fn sweep(&self, dir: String, known: HashSet<String>, times: SweepTimes) -> Result<usize, StorageError> {
        self.0.files().sweep_images(self.0.owner(), dir, known, times).await
    }
}

pub(super) fn find(root: &Path, subject: &Subject) -> Result<Option<String>, StorageError> {
    let dir = image_layout::dir(subject);
    let failed = |error| StorageError::from_io(&dir, error);
    let listing = match std::fs::read_dir(root.join(&dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        listing => listing.map_err(failed)?,
    };
    for entry in listing {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if let Some(name) = name.to_str().filter(|name| image_layout::owns(subject, name)) {
            return Ok(Some(format!("{dir}/{name}")));
        }
    }
    Ok(None)
}

pub(super) fn write(root: &Path, path: &str, bytes: &[u8]) -> Result<(), StorageError> {
    let failed = |error| StorageError::from_io(path, error);
    let file = image_layout::resolve(root, path).ok_or_else(|| invalid(path))?;
    let dir = file.parent().unwrap_or(root);
    let temporary = durable::write_temporary(dir, bytes).map_err(failed)?;
    // another process may have been faster: it wrote the same
    durable::persist_new(temporary, &file).map(drop).map_err(failed)
}

pub(super) fn read(root: &Path, path: &str) -> Result<StoredImage, StorageError> {
    let failed = |error| StorageError::from_io(path, error);
    let file = open_image(root, path)?;
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 {
        0..=MAX_IMAGE_BYTES => Ok(StoredImage { bytes, modified }),
        _ => {
            Err(StorageError::Corrupt { path: path.to_owned(), reason: format!("larger than {MAX_IMAGE_BYTES} bytes") })
        }
    }
}

fn open_image(root: &Path, path: &str) -> Result<File, StorageError> {
    check_readable(path)?;
    match open_beneath(root, path) {
        Ok(file) => match file.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(file),
            _ => Err(StorageError::Corrupt { path: path.to_owned(), reason: "it is not a regular file".to_owned() }),
        },
        Err(nix::Error::ENOENT | nix::Error::ENOTDIR) => Err(StorageError::Missing { path: path.to_owned() }),
        // a symbolic link
        Err(nix::Error::ELOOP | nix::Error::EMLINK) => {
            Err(StorageError::Corrupt { path: path.to_owned(), reason: "a symbolic link is not followed".to_owned() })
        }
        Err(error) => Err(StorageError::from_io(path, error.into())),
    }
}

/// Opens `path` below `root`, one part after the other, and follows no symbolic link in it.
fn open_beneath(root: &Path, path: &str) -> nix::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    let mut at: OwnedFd = open(root, flags | OFlag::O_DIRECTORY, Mode::empty())?;
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    for dir in dirs.split('/') {
        at = openat(&at, dir, flags | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW, Mode::empty())?;
    }
    // a pipe without a writer is not waited for
    openat(&at, name, flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK, Mode::empty()).map(File::from)
}

/// Refuses a path that is not an image's or a picture's.
pub(super) fn check_readable(path: &str) -> Result<(), StorageError> {
    match image_layout::is_image(path) || media_layout::is_picture(path) {
        true => Ok(()),
        false => Err(invalid(path)),
    }
}

fn invalid(path: &str) -> StorageError {
    StorageError::InvalidPath { path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "ae38b1f9bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015";

    fn images(root: &Path) -> Images {
        Images::beside(&Payloads::new(root, "a test"))
    }

    fn brand() -> Subject {
        Subject::Brand { slug: "bud-bros".to_owned() }
    }

    #[tokio::test]
    async fn a_written_image_is_found_and_read() {
        let root = tempfile::tempdir().unwrap();
        let images = images(root.path());
        assert_eq!(images.find(&brand()).await.unwrap(), None);
        let path = images.write(&brand(), SHA, b"webp".to_vec()).await.unwrap();
        assert_eq!(path, "images/brands/bud-bros/logo-ae38b1f9.webp");
        assert_eq!(images.find(&brand()).await.unwrap(), Some(path.clone()));
        assert_eq!(images.read(&path).await.unwrap().bytes, b"webp");
    }

    #[tokio::test]
    async fn an_image_is_never_written_over() {
        let root = tempfile::tempdir().unwrap();
        let images = images(root.path());
        let path = images.write(&brand(), SHA, b"first".to_vec()).await.unwrap();
        images.write(&brand(), SHA, b"second".to_vec()).await.unwrap();
        assert_eq!(std::fs::read(root.path().join(path)).unwrap(), b"first");
        let left = std::fs::read_dir(root.path().join("images/brands/bud-bros")).unwrap().count();
        assert_eq!(left, 1, "no temporary file is left");
    }

    #[tokio::test]
    async fn no_symbolic_link_is_followed_wherever_it_is_planted() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let images = images(root.path());
        let canary = outside.path().join("logo-ae38b1f9.webp");
        std::fs::write(&canary, b"canary").unwrap();
        std::fs::create_dir_all(root.path().join("images/brands/linked-file")).unwrap();
        let link = std::os::unix::fs::symlink::<&Path, _>;
        link(&canary, root.path().join("images/brands/linked-file/logo-ae38b1f9.webp")).unwrap();
        link(outside.path(), root.path().join("images/brands/linked-dir")).unwrap();
        for brand in ["linked-file", "linked-dir"] {
            let read = images.read(&format!("images/brands/{brand}/logo-ae38b1f9.webp")).await;
            assert!(matches!(read, Err(StorageError::Corrupt { .. } | StorageError::Missing { .. })), "{read:?}");
        }
    }
}
