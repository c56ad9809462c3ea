//! `CookieFile`: cookies in a file that a tool reads. It is gone when this is dropped; after kill -9 it goes with its
//! work directory.
//!
//! In: a work directory and cookies. Out: the file's path. It must not know which tool reads it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ::media::cookies::{self, Cookie};
use queue::TaskError;

const NAME: &str = "cookies.txt";
const MODE: u32 = 0o600;

pub struct CookieFile {
    path: PathBuf,
    values: Vec<String>,
}

impl CookieFile {
    /// Replaces what a dead run has left.
    pub fn write(work: &Path, cookies: &[Cookie]) -> Result<CookieFile, TaskError> {
        let path = work.join(NAME);
        let write = || {
            let _ = std::fs::remove_file(&path);
            create(&path)?.write_all(cookies::file(cookies).as_bytes())
        };
        let written: io::Result<()> = write();
        written.map_err(|error| TaskError::retry(format!("the file of cookies cannot be written: {error}")))?;
        let values = cookies.iter().map(|cookie| cookie.value().to_owned()).collect();
        Ok(CookieFile { path, values })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The cookies' values, which are secrets.
    pub fn values(&self) -> &[String] {
        &self.values
    }
}

impl Drop for CookieFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)
}
