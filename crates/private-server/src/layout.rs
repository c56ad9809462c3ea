//! `Layout`: the paths in a private server's directory, and the creation of the ones that must exist before
//! the server starts.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::Uid;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::account::{self, Account};
use super::{PrivateServerError, io};
use foundation::digest::sha256_hex;

/// macOS allows 103 bytes for a socket's path (Linux 107), of which the server's own name takes 18.
const MAX_SOCKET_DIR: usize = 103 - "/.s.PGSQL.5432.lock".len();
const MAX_LOG: u64 = 16 << 20;
/// Percent-encoded in a path in a URL's query.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_');

#[derive(Clone, Debug)]
pub struct Layout {
    /// Directory with symbolic links resolved, since a process's working directory is compared with it.
    pub dir: PathBuf,
    pub data: PathBuf,
    pub socket_dir: PathBuf,
}

impl Layout {
    /// Creates the directory when it is missing.
    pub fn create(dir: &Path) -> Result<Layout, PrivateServerError> {
        let failed = || io(format!("create {}", dir.display()));
        create_missing(dir).map_err(failed())?;
        let dir = dir.canonicalize().map_err(failed())?;
        Ok(Layout { data: dir.join("data"), socket_dir: socket_dir(&dir), dir })
    }

    pub fn start_lock(&self) -> PathBuf {
        self.dir.join("start.lock")
    }

    pub fn users_lock(&self) -> PathBuf {
        self.dir.join("users.lock")
    }

    pub fn keeper_lock(&self) -> PathBuf {
        self.dir.join("keeper.lock")
    }

    pub fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    pub fn pid_file(&self) -> PathBuf {
        self.data.join("postmaster.pid")
    }

    pub fn socket(&self) -> PathBuf {
        self.socket_dir.join(".s.PGSQL.5432")
    }

    pub fn is_initialised(&self) -> bool {
        self.data.join("PG_VERSION").exists()
    }

    pub fn url(&self) -> String {
        let host = percent_encode(self.socket_dir.as_os_str().as_encoded_bytes(), PATH);
        format!("postgresql:///drover?host={host}&user=drover")
    }

    /// The socket's directory is the server's access control: other accounts must neither own nor enter it.
    pub fn create_socket_dir(&self, account: Option<&Account>) -> Result<(), PrivateServerError> {
        let dir = &self.socket_dir;
        let failed = || io(format!("create {}", dir.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed())?;
        let meta = fs::symlink_metadata(dir).map_err(failed())?;
        let owners = [Some(Uid::effective().as_raw()), account.map(|account| account.uid)];
        if meta.file_type().is_symlink() || !owners.contains(&Some(meta.uid())) {
            return Err(PrivateServerError::UnsafeSocketDir(dir.clone()));
        }
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(failed())?;
        account::give(dir, account)
    }

    /// The server's log, readable by its account alone, emptied when it is larger than [`MAX_LOG`].
    pub fn open_log(&self, account: Option<&Account>) -> Result<File, PrivateServerError> {
        let failed = || io(format!("open {}", self.log().display()));
        // logged statements may hold secrets
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(self.log()).map_err(failed())?;
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed())?;
        if file.metadata().map_err(failed())?.len() > MAX_LOG {
            file.set_len(0).map_err(failed())?;
        }
        account::give(&self.log(), account)?;
        Ok(file)
    }

    /// Asks the keeper to stop the server even while it has users.
    pub fn request_stop(&self) -> Result<(), PrivateServerError> {
        fs::write(self.stop_request(), "").map_err(io("write the stop request"))
    }

    pub fn stop_is_requested(&self) -> bool {
        self.stop_request().exists()
    }

    pub fn clear_stop_request(&self) -> Result<(), PrivateServerError> {
        match fs::remove_file(self.stop_request()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove the stop request")(error)),
            _ => Ok(()),
        }
    }

    fn stop_request(&self) -> PathBuf {
        self.dir.join("stop")
    }
}

/// Directories that root creates must be open to the server's account, whatever the umask.
fn create_missing(dir: &Path) -> std::io::Result<()> {
    let missing = missing_of(dir);
    DirBuilder::new().recursive(true).create(dir)?;
    if Uid::effective().is_root() {
        missing.iter().try_for_each(|dir| fs::set_permissions(dir, Permissions::from_mode(0o711)))?;
    }
    Ok(())
}

/// A directory and its parents, as far as they do not exist. A relative path ends with an empty one, the working
/// directory.
fn missing_of(dir: &Path) -> Vec<&Path> {
    dir.ancestors().take_while(|parent| !parent.as_os_str().is_empty() && !parent.exists()).collect()
}

fn socket_dir(dir: &Path) -> PathBuf {
    let beside = dir.join("sock");
    if beside.as_os_str().len() <= MAX_SOCKET_DIR {
        return beside;
    }
    let digest = sha256_hex(dir.as_os_str().as_encoded_bytes());
    Path::new("/tmp").join(format!("drover-{}-{}", Uid::effective(), &digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_directory_gets_a_short_socket_path() {
        let long = PathBuf::from(format!("/{}", "long/".repeat(40)));
        assert!(socket_dir(&long).as_os_str().len() <= MAX_SOCKET_DIR);
        assert_eq!(socket_dir(&long), socket_dir(&long));
        assert_ne!(socket_dir(&long), socket_dir(&long.join("other")));
    }

    #[test]
    fn the_working_directory_is_not_missing_under_a_relative_path() {
        let dir = Path::new("no-such-directory/postgres");
        assert_eq!(missing_of(dir), [dir, Path::new("no-such-directory")]);
    }

    #[test]
    fn the_url_survives_spaces_in_the_path() {
        let dir = Path::new("/Users/a b/Application Support/drover");
        let layout = Layout { dir: dir.to_owned(), data: dir.join("data"), socket_dir: dir.join("sock") };
        let config: tokio_postgres::Config = layout.url().parse().unwrap();
        assert_eq!(config.get_hosts(), [tokio_postgres::config::Host::Unix(dir.join("sock"))]);
        assert_eq!(config.get_user(), Some("drover"));
    }
}
