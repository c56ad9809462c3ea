//! `Dump`: a copy of the database in one file, written by pg_dump and read by pg_restore.
//!
//! Both run as programs of the server's packages, with the password in their environment: every process of the
//! machine can read a command line.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::app::database::OpenDatabase;
use crate::cli::db::cannot_run;
use crate::cli::{CliError, Env};
use foundation::clock::Clock;
use foundation::digest::sha256_of_file;

const PREFIX: &str = "database-";
const SUFFIX: &str = ".dump";
const PARTIAL: &str = ".partial";
/// Maximum characters of a program's error in ours.
const MAX_ERROR_CHARS: usize = 600;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dump {
    /// Name in the directory of the backup.
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
}

impl Dump {
    /// Dumps the database from one snapshot. Dropped, it ends pg_dump.
    pub async fn write(dir: &Path, database: &OpenDatabase, env: &Env) -> anyhow::Result<Dump> {
        let file = format!("{PREFIX}{}{SUFFIX}", Clock::system().utc().format("%Y%m%dT%H%M%S%3fZ"));
        let path = dir.join(&file);
        let partial = tempfile::Builder::new().prefix(".").suffix(PARTIAL).tempfile_in(dir);
        let partial = partial.with_context(|| format!("cannot write to {}", dir.display()))?.into_temp_path();
        let mut pg_dump = program("pg_dump", database, env)?;
        pg_dump.args(["--format=custom", "--no-owner", "--no-privileges", "--no-comments", "--lock-wait-timeout=60s"]);
        pg_dump.arg("--file").arg(&partial);
        run(pg_dump, "pg_dump").await?;
        let digested = tokio::task::spawn_blocking(move || {
            File::open(&partial)?.sync_all()?;
            partial.persist(&path)?;
            sha256_of_file(&path)
        });
        let (bytes, sha256) = digested.await?.context("cannot read the dump")?;
        Ok(Dump { file, bytes, sha256 })
    }

    /// Fails if the file is not the one that was written.
    pub async fn check(&self, dir: &Path) -> anyhow::Result<()> {
        let path = self.path(dir)?;
        let shown = path.display().to_string();
        let found = tokio::task::spawn_blocking(move || sha256_of_file(&path)).await?;
        let (bytes, sha256) = found.with_context(|| format!("cannot read {shown}"))?;
        match bytes == self.bytes && sha256 == self.sha256 {
            true => Ok(()),
            false => Err(CliError::conflict(format!(
                "{shown} is damaged: {bytes} bytes with the checksum {sha256}, expected {} with {}",
                self.bytes, self.sha256
            ))
            .into()),
        }
    }

    /// Restores all or nothing into an empty database.
    pub async fn restore(&self, dir: &Path, database: &OpenDatabase, env: &Env) -> anyhow::Result<()> {
        let mut pg_restore = program("pg_restore", database, env)?;
        pg_restore.args(["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]);
        pg_restore.arg(self.path(dir)?);
        run(pg_restore, "pg_restore").await
    }

    /// The name comes from a file that people can edit.
    fn path(&self, dir: &Path) -> anyhow::Result<PathBuf> {
        match is_dump(&self.file) {
            true => Ok(dir.join(&self.file)),
            false => Err(CliError::usage(format!("'{}' is not the name of a dump", self.file)).into()),
        }
    }
}

/// Removes dumps of earlier runs; one that cannot be removed only takes room.
pub fn remove_others(dir: &Path, kept: &str) {
    remove(dir, |name| is_dump(name) && name != kept);
}

/// Removes the halves of dumps that killed runs have left.
pub fn remove_partial(dir: &Path) {
    remove(dir, |name| name.starts_with('.') && name.ends_with(PARTIAL));
}

fn remove(dir: &Path, is_unused: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&is_unused) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_dump(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX) && !name.contains('/')
}

fn program(name: &str, database: &OpenDatabase, env: &Env) -> anyhow::Result<Command> {
    let cluster = private_server::dir_in(env.config.data_dir()).join("data");
    let mut command =
        Command::new(private_server::client_program(name, &cluster, env.config.database.pg_bin.as_deref()));
    command.arg("--dbname");
    database.connect(command.as_std_mut()).map_err(CliError::bad_config)?;
    Ok(command)
}

async fn run(mut command: Command, name: &str) -> anyhow::Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    // Ctrl-C at the terminal is for this process, which then ends the program
    command.process_group(0);
    let output = command.output().await.map_err(|error| cannot_run(name, error))?;
    if output.status.success() {
        return Ok(());
    }
    let said: String = String::from_utf8_lossy(&output.stderr).trim().chars().take(MAX_ERROR_CHARS).collect();
    let remedy = match said.contains("server version") {
        true => "; install the client of the server's version, or name its directory in database.pg_bin",
        false => "",
    };
    Err(CliError::unavailable(format!("{name} failed: {said}{remedy}")).into())
}
