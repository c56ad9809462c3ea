//! Initialises a cluster so that a crash at any point leaves either nothing or all of it.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::process::Stdio;

use super::account::{self, Account};
use super::install::Install;
use super::layout::Layout;
use super::server::command;
use super::{EmbeddedError, Options, io};

/// Makes the cluster and its database `drover` in `data.new` and renames that to `data` once it is on disk.
pub fn initialise(
    layout: &Layout,
    install: &Install,
    account: Option<&Account>,
    options: &Options,
) -> Result<(), EmbeddedError> {
    if layout.data.exists() {
        return Err(EmbeddedError::NotACluster(layout.data.clone()));
    }
    let half = layout.dir.join("data.new");
    let _ = fs::remove_dir_all(&half);
    DirBuilder::new().mode(0o700).create(&half).map_err(io(format!("create {}", half.display())))?;
    account::give(&half, account)?;

    let mut initdb = command(install, "initdb", account);
    initdb.args(["--username=drover", "--auth=trust", "--encoding=UTF8", "--locale=C"]).arg("-D").arg(&half);
    if options.settings.iter().any(|setting| setting == "fsync=off") {
        initdb.arg("--no-sync");
    }
    let said = initdb.output().map_err(io("run initdb"))?;
    if !said.status.success() {
        return Err(EmbeddedError::Init(String::from_utf8_lossy(&said.stderr).trim().to_owned()));
    }
    create_database(&half, install, account)?;
    fs::rename(&half, &layout.data).map_err(io("name the new cluster"))?;
    File::open(&layout.dir).and_then(|dir| dir.sync_all()).map_err(io(format!("sync {}", layout.dir.display())))
}

/// In single-user mode, so that a cluster never exists without its database.
fn create_database(data: &std::path::Path, install: &Install, account: Option<&Account>) -> Result<(), EmbeddedError> {
    let mut single = command(install, "postgres", account);
    single.arg("--single").arg("-D").arg(data).arg("postgres");
    single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = single.spawn().map_err(io("run postgres --single"))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(b"CREATE DATABASE drover\n").map_err(io("create the database"))?;
    }
    let said = child.wait_with_output().map_err(io("create the database"))?;
    let errors = String::from_utf8_lossy(&said.stderr);
    // single-user mode reports a failed statement on stderr only
    if !said.status.success() || errors.contains("ERROR:") || errors.contains("FATAL:") {
        return Err(EmbeddedError::Init(errors.trim().to_owned()));
    }
    Ok(())
}
