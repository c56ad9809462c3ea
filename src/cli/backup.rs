//! `drover backup`: copies the database and its files into a directory, from which `drover restore` makes them again.
//!
//! Files first, then the database, then the files that came meanwhile: a file is written before its row, and one that
//! a row names was there at the first or the second copy. The manifest comes last, so an interrupted backup leaves the
//! one before it valid, and the next one continues where it was.

pub mod dump;
pub mod manifest;

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::env::{database_name, schema_error};
use super::progress::CommandProgress;
use super::{CliError, Env, ExitCode};
use crate::app::database::OpenDatabase;
use db::{payloads, schema};
use domain::amounts::counted;
use dump::Dump;
use manifest::{Files, MANIFEST, Manifest};
use storage::{CopyReport, Place, RootOwner, copy_files, count_files, is_same_owner, root_owner};

/// Locked by the run that writes into the directory; it marks a directory of backups before there is a manifest.
const LOCK: &str = ".backup.lock";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory to write to: a new or empty one, or an earlier backup, which is brought up to date
    #[arg(value_name = "DIR")]
    target: PathBuf,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    /// Number of files that this run copied.
    copied: u64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    env.require_own_database()?;
    env.require_data()?;
    require_direct(env)?;
    let opened = env.database().await?;
    let schema = schema_of(opened).await?;
    let owner = owner_of(opened).await?;
    let place = Place::of(&env.config)?;
    require_its_files(&place, &owner, opened).await?;
    let _lock = lock(&args.target)?;
    require_same_database(&args.target, &owner)?;
    dump::remove_partial(&args.target);
    let progress = CommandProgress::begin(env, "files");

    let Some(Copies { first, dump, second }) = copy_all(&place, &args.target, opened, env, &progress).await? else {
        return Ok(progress.interrupted("there is no new backup yet; the same command continues this one"));
    };
    let files = match place.root() {
        Some(_) => Files::Copied { files: second.files, bytes: second.bytes, left: second.left },
        None => Files::InBucket { bucket: place.to_string() },
    };
    let manifest = Manifest::new(schema, owner, dump, files);
    manifest.write(&args.target)?;
    dump::remove_others(&args.target, &manifest.database.file);
    drop(progress);

    second.reasons.iter().for_each(|reason| env.out.note(format_args!("not copied: {reason}")));
    let is_whole = second.left == 0;
    let answer = Answer { manifest: &manifest, copied: first.copied + second.copied };
    env.out.either(&answer, |answer| text(answer, &args.target))?;
    Ok(if is_whole { ExitCode::Ok } else { ExitCode::PartialFailure })
}

/// The files before and after the dump, and the dump.
struct Copies {
    first: CopyReport,
    dump: Dump,
    second: CopyReport,
}

/// Copies the files, the database, and the files that came meanwhile; none when a signal ended it.
async fn copy_all(
    place: &Place,
    target: &Path,
    opened: &OpenDatabase,
    env: &Env,
    progress: &CommandProgress,
) -> anyhow::Result<Option<Copies>> {
    let files = match place.root() {
        Some(root) => count_files(root).await?,
        None => 0,
    };
    let Some(first) = copy(place.root(), Some(target), files, progress).await? else { return Ok(None) };
    progress.set_message("dumping the database");
    let dump = tokio::select! {
        dump = Dump::write(target, opened, env) => dump?,
        () = progress.until_stopped() => return Ok(None),
    };
    progress.set_message("");
    let second = copy(place.root(), Some(target), first.files, progress).await?;
    Ok(second.map(|second| Copies { first, dump, second }))
}

/// The name of the last migration.
async fn schema_of(opened: &OpenDatabase) -> anyhow::Result<String> {
    let status = schema::migrate::status(&opened.db).await.map_err(|error| schema_error(opened, error))?;
    let last = status.applied.last().map(|migration| migration.name.clone());
    last.ok_or_else(|| CliError::not_found(format!("{} has no drover data", database_name(opened))).into())
}

/// Refuses a pooler: both programs set what outlives a transaction, which a lent connection would keep.
pub fn require_direct(env: &Env) -> Result<(), CliError> {
    match env.config.database.pooler {
        false => Ok(()),
        true => Err(CliError::bad_config(
            "database.url points to a pooler: give the server's own address, with DATABASE_URL and DROVER__DATABASE__POOLER=false",
        )),
    }
}

async fn owner_of(opened: &OpenDatabase) -> anyhow::Result<String> {
    Ok(schema::installation::storage_owner(&opened.db.client().await?).await?)
}

/// Refuses a root without this database's files: its share is away, or the setting is not the service's.
async fn require_its_files(place: &Place, owner: &str, opened: &OpenDatabase) -> anyhow::Result<()> {
    let Some(root) = place.root() else { return Ok(()) };
    let is_away = match root_owner(root, owner)? {
        RootOwner::This | RootOwner::Several | RootOwner::Next => false,
        RootOwner::Unknown => payloads::any(&opened.db.client().await?).await?,
        RootOwner::Another => true,
    };
    match is_away {
        false => Ok(()),
        true => Err(CliError::bad_config(format!(
            "{} does not have the files of {}: mount its share, or set storage.root as in the settings of its services",
            root.display(),
            database_name(opened)
        ))
        .into()),
    }
}

/// Refuses to replace the backup of another database.
fn require_same_database(target: &Path, owner: &str) -> anyhow::Result<()> {
    match Manifest::owner_in(target)? {
        Some(other) if !is_same_owner(&other, owner) => Err(CliError::conflict(format!(
            "{} holds the backup of another database: choose another directory",
            target.display()
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Locks the directory, which is made where it is missing, against another run.
fn lock(target: &Path) -> anyhow::Result<File> {
    let cannot_use = || format!("{} cannot be used", target.display());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(target).with_context(cannot_use)?;
    let is_known = target.join(LOCK).exists() || target.join(MANIFEST).exists();
    if !is_known && fs::read_dir(target).with_context(cannot_use)?.next().is_some() {
        let fault = "is neither empty nor a backup: choose a new directory";
        return Err(CliError::usage(format!("{} {fault}", target.display())).into());
    }
    let lock = File::create(target.join(LOCK)).with_context(cannot_use)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(CliError::conflict(format!("another backup is being written to {}", target.display())).into())
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(cannot_use),
    }
}

/// Copies files between a root and a backup; none when a signal ended it. Without a root there is nothing to copy, for a
/// bucket keeps its files. `files`: about their number.
pub async fn copy(
    from: Option<&Path>,
    to: Option<&Path>,
    files: u64,
    progress: &CommandProgress,
) -> anyhow::Result<Option<CopyReport>> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(Some(CopyReport::default())) };
    progress.restart(files);
    let goes_on = |files| {
        progress.advance(files);
        !progress.is_stopped()
    };
    let report = copy_files(from, to, goes_on).await?;
    Ok((!progress.is_stopped()).then_some(report))
}

fn text(answer: &Answer, target: &Path) -> String {
    let Manifest { database, files, .. } = answer.manifest;
    let mut lines = vec![format!(
        "The backup is in {}: the database ({}), {}.",
        target.display(),
        counted(database.bytes, "byte"),
        files.text()
    )];
    if answer.copied > 0 {
        lines.push(format!("{} copied by this run.", counted(answer.copied, "file")));
    }
    lines.push(format!("Restore it with `drover restore {} --dir NEW`.", target.display()));
    lines.push(
        "The setting secrets.key, which decrypts stored passwords, is not in the backup: keep it elsewhere.".to_owned(),
    );
    lines.join("\n")
}
