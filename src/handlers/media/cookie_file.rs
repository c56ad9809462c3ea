//! `CookieFile`: cookies in a file that a tool reads. It is gone when this is dropped; after kill -9 it goes with its
//! work directory.
//!
//! In: a work directory, a credential, and the address that the tool begins with. Out: a file of the cookies for that
//! address's host alone. It must not know which tool reads it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use url::Url;

use ::media::cookies::{self, Cookie};
use db::access::credentials::OpenCredential;
use domain::credential::CredentialKind;
use domain::vocabulary::Word;
use queue::TaskError;

const NAME: &str = "cookies.txt";
const MODE: u32 = 0o600;
/// Minimum length of a value that is masked: `1` or `en` is not a secret, and would mask half of a message.
const MIN_SECRET: usize = 4;

pub struct CookieFile {
    path: PathBuf,
    secrets: Vec<String>,
}

impl CookieFile {
    /// None: it is not a credential of cookies, or has none for the host. What a dead run has left is replaced.
    pub fn write(work: &Path, login: &OpenCredential, url: &Url) -> Result<Option<CookieFile>, TaskError> {
        if login.kind != Word::Known(CredentialKind::Cookies) {
            return Ok(None);
        }
        let all = cookies::read(&login.secret).map_err(|error| TaskError::permanent(error.to_string()))?;
        let of_host = cookies::of_host(all, url.host_str().unwrap_or_default());
        if of_host.is_empty() {
            return Ok(None);
        }
        let path = work.join(NAME);
        let written = replace(&path, &cookies::file(&of_host));
        written.map_err(|error| TaskError::retry(format!("the file of cookies cannot be written: {error}")))?;
        let values = of_host.iter().map(Cookie::value).filter(|value| value.len() >= MIN_SECRET);
        Ok(Some(CookieFile { path, secrets: values.map(str::to_owned).collect() }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The cookies' values that messages must not show.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }
}

impl Drop for CookieFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
    file.write_all(text.as_bytes())
}
