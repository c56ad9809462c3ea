//! `drover restore`: makes a database and its files again from a backup.
//!
//! Files first, then the database in one transaction: after an interruption the database is still empty, and the
//! command can be given again.

use std::path::PathBuf;

use serde::Serialize;

use super::backup::copy_with_progress;
use super::backup::manifest::{Files, Manifest};
use super::env::{database_name, schema_error};
use super::progress::CommandProgress;
use super::{CliError, Env, ExitCode};
use crate::app::database::OpenDatabase;
use db::migrate;
use domain::amounts::counted;
use storage::{CopyReport, Place, clear_owner, has_owner};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory of the backup
    #[arg(value_name = "DIR")]
    source: PathBuf,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    restored: CopyReport,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    env.require_own_database()?;
    let manifest = Manifest::read(&args.source)?;
    let place = Place::of(&env.config)?;
    let opened = env.database().await?;
    require_empty(opened).await?;
    let root = target_of(&manifest, &place)?;
    let progress = CommandProgress::begin(env, "files");

    progress.set_message("checking the dump");
    manifest.database.check(&args.source).await?;
    progress.set_message("");
    let restored = match root {
        Some(root) => copy_with_progress(&args.source, root, &progress).await?,
        None => Some(CopyReport::default()),
    };
    let Some(restored) = restored else { return Ok(ExitCode::Interrupted) };
    if let Some(root) = root {
        clear_owner(root)?;
    }
    progress.set_message("restoring the database");
    tokio::select! {
        done = manifest.database.restore(&args.source, opened, env) => done?,
        () = progress.until_stopped() => return Ok(ExitCode::Interrupted),
    }
    drop(progress);
    migrate::up_own(&opened.db).await.map_err(|error| schema_error(opened, error))?;

    restored.reasons.iter().for_each(|reason| env.out.note(format_args!("not copied: {reason}")));
    let is_whole = restored.left == 0;
    env.out.either(&Answer { manifest: &manifest, restored }, text)?;
    Ok(if is_whole { ExitCode::Ok } else { ExitCode::PartialFailure })
}

async fn require_empty(opened: &OpenDatabase) -> anyhow::Result<()> {
    let status = migrate::status(&opened.db).await.map_err(|error| schema_error(opened, error))?;
    match status.applied.is_empty() {
        true => Ok(()),
        false => Err(CliError::conflict(format!(
            "{} has tables of drover already: restore into a new directory (--dir NEW) or an empty database",
            database_name(opened)
        ))
        .into()),
    }
}

/// The directory to copy files to; none when a bucket has them.
fn target_of<'a>(manifest: &Manifest, place: &'a Place) -> anyhow::Result<Option<&'a std::path::Path>> {
    match (&manifest.files, place.root()) {
        (Files::InBucket { .. }, None) => Ok(None),
        (Files::InBucket { bucket }, Some(_)) => {
            let fault = format!("the files of this backup are in {bucket}: configure that bucket in [storage]");
            Err(CliError::bad_config(fault).into())
        }
        (Files::Copied { .. }, None) => {
            let fault = "[storage] names a bucket, and the backup has files: restore with storage.driver=local, then copy \
                         the directories payloads, media and images into the bucket";
            Err(CliError::bad_config(fault).into())
        }
        (Files::Copied { .. }, Some(root)) if has_owner(root)? => {
            let fault =
                format!("another database has its files in {}: give this one its own storage.root", root.display());
            Err(CliError::conflict(fault).into())
        }
        (Files::Copied { .. }, Some(root)) => Ok(Some(root)),
    }
}

fn text(answer: &Answer) -> String {
    let Answer { manifest, restored } = answer;
    format!(
        "Restored the backup of {} UTC: the database, {}; copied by this run: {}.\n\
         Set secrets.key as it was, if passwords were stored, then check with `drover doctor`.",
        manifest.made_at.format("%Y-%m-%d %H:%M"),
        manifest.files.text(),
        counted(restored.copied, "file"),
    )
}
