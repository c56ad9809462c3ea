//! Initialises a cluster so that a crash at any point leaves either nothing or all of it.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use super::account::{self, Account};
use super::server::command;
use super::{Install, Layout, PrivateServerError, io};

/// Creates the cluster with its database `drover` under a temporary name, and renames it to `data` once it is
/// on disk.
pub fn initialise(layout: &Layout, install: &Install, account: Option<&Account>) -> Result<(), PrivateServerError> {
    if layout.data.exists() {
        return Err(PrivateServerError::NotACluster(layout.data.clone()));
    }
    let new = NewCluster { data: create_directory(&layout.dir, account)?, install, account };
    new.init()?;
    new.create_database()?;
    new.sync()?;
    fs::rename(&new.data, &layout.data).map_err(io("rename the new cluster"))?;
    File::open(&layout.dir).and_then(|dir| dir.sync_all()).map_err(io(format!("sync {}", layout.dir.display())))
}

/// A cluster under its temporary name.
struct NewCluster<'a> {
    data: PathBuf,
    install: &'a Install,
    account: Option<&'a Account>,
}

impl NewCluster<'_> {
    fn init(&self) -> Result<(), PrivateServerError> {
        let mut initdb = command(self.install, "initdb", self.account);
        initdb.args(["--username=drover", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        initdb.arg("-D").arg(&self.data);
        require_success(&initdb.output().map_err(io("run initdb"))?)
    }

    /// Creates the database in single-user mode, so that a cluster never exists without its database.
    fn create_database(&self) -> Result<(), PrivateServerError> {
        let mut single = command(self.install, "postgres", self.account);
        single.args(["--single", "-F", "-D"]).arg(&self.data).arg("postgres");
        single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = single.spawn().map_err(io("run postgres --single"))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(b"CREATE DATABASE drover\n").map_err(io("create the database"))?;
        }
        let output = child.wait_with_output().map_err(io("create the database"))?;
        // in this mode the exit code is 0 even when a statement fails
        match String::from_utf8_lossy(&output.stderr).contains("ERROR:") {
            true => Err(failure(&output)),
            false => require_success(&output),
        }
    }

    /// Syncs once for all files: initdb would sync each of a thousand, which takes ten seconds on a busy disk.
    #[cfg(target_os = "linux")]
    fn sync(&self) -> Result<(), PrivateServerError> {
        let failed = || io(format!("sync {}", self.data.display()));
        let data = File::open(&self.data).map_err(failed())?;
        nix::unistd::syncfs(&data).map_err(|errno| failed()(errno.into()))
    }

    #[cfg(not(target_os = "linux"))]
    fn sync(&self) -> Result<(), PrivateServerError> {
        let mut initdb = command(self.install, "initdb", self.account);
        initdb.arg("--sync-only").arg("-D").arg(&self.data);
        require_success(&initdb.output().map_err(io("run initdb"))?)
    }
}

/// A directory with a unique name, since the initdb of a killed process may still write to an older one;
/// older ones are removed.
fn create_directory(dir: &Path, account: Option<&Account>) -> Result<PathBuf, PrivateServerError> {
    const PREFIX: &str = "data.new";
    for entry in fs::read_dir(dir).map_err(io(format!("list {}", dir.display())))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let new = dir.join(format!("{PREFIX}.{}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&new).map_err(io(format!("create {}", new.display())))?;
    account::give(&new, account)?;
    Ok(new)
}

fn require_success(output: &Output) -> Result<(), PrivateServerError> {
    if output.status.success() { Ok(()) } else { Err(failure(output)) }
}

fn failure(output: &Output) -> PrivateServerError {
    PrivateServerError::Init(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}
