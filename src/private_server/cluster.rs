//! Initialises a cluster so that a crash at any point leaves either nothing or all of it.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use super::account::{self, Account};
use super::install::Install;
use super::layout::Layout;
use super::server::command;
use super::{PrivateServerError, io};

/// Makes the cluster and its database `drover` beside its place, and renames it to `data` once it is on disk.
pub fn initialise(layout: &Layout, install: &Install, account: Option<&Account>) -> Result<(), PrivateServerError> {
    if layout.data.exists() {
        return Err(PrivateServerError::NotACluster(layout.data.clone()));
    }
    let new = Making { data: fresh_directory(&layout.dir, account)?, install, account };
    new.init()?;
    new.create_database()?;
    new.sync()?;
    fs::rename(&new.data, &layout.data).map_err(io("name the new cluster"))?;
    File::open(&layout.dir).and_then(|dir| dir.sync_all()).map_err(io(format!("sync {}", layout.dir.display())))
}

/// A cluster being made.
struct Making<'a> {
    data: PathBuf,
    install: &'a Install,
    account: Option<&'a Account>,
}

impl Making<'_> {
    fn init(&self) -> Result<(), PrivateServerError> {
        let mut initdb = command(self.install, "initdb", self.account);
        initdb.args(["--username=drover", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        initdb.arg("-D").arg(&self.data);
        require_success(&initdb.output().map_err(io("run initdb"))?)
    }

    /// In single-user mode, so that a cluster never exists without its database.
    fn create_database(&self) -> Result<(), PrivateServerError> {
        let mut single = command(self.install, "postgres", self.account);
        single.args(["--single", "-F", "-D"]).arg(&self.data).arg("postgres");
        single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = single.spawn().map_err(io("run postgres --single"))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(b"CREATE DATABASE drover\n").map_err(io("create the database"))?;
        }
        let said = child.wait_with_output().map_err(io("create the database"))?;
        // a failed statement changes nothing about the exit code of this mode
        match String::from_utf8_lossy(&said.stderr).contains("ERROR:") {
            true => Err(failure(&said)),
            false => require_success(&said),
        }
    }

    /// Once for all files: initdb syncs each of a thousand by itself, which takes ten seconds on a busy disk.
    #[cfg(target_os = "linux")]
    fn sync(&self) -> Result<(), PrivateServerError> {
        let doing = || io(format!("sync {}", self.data.display()));
        let data = File::open(&self.data).map_err(doing())?;
        nix::unistd::syncfs(&data).map_err(|errno| doing()(errno.into()))
    }

    #[cfg(not(target_os = "linux"))]
    fn sync(&self) -> Result<(), PrivateServerError> {
        let mut initdb = command(self.install, "initdb", self.account);
        initdb.arg("--sync-only").arg("-D").arg(&self.data);
        require_success(&initdb.output().map_err(io("run initdb"))?)
    }
}

/// A name of its own, since the initdb of a killed process may still be writing to an older one. Those are removed.
fn fresh_directory(dir: &Path, account: Option<&Account>) -> Result<PathBuf, PrivateServerError> {
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

fn require_success(said: &Output) -> Result<(), PrivateServerError> {
    if said.status.success() { Ok(()) } else { Err(failure(said)) }
}

fn failure(said: &Output) -> PrivateServerError {
    PrivateServerError::Init(String::from_utf8_lossy(&said.stderr).trim().to_owned())
}
