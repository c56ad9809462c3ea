//! `drover restore`: makes a database and its files again from a backup.
//!
//! Files first, then the database in one transaction: after an interruption the database is still empty, and the
//! command can be given again.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::backup::manifest::{Files, Manifest};
use super::backup::{copy, require_direct};
use super::env::{database_name, schema_error};
use super::progress::CommandProgress;
use super::{CliError, Env, ExitCode};
use crate::app::database::OpenDatabase;
use db::schema;
use domain::amounts::counted;
use storage::{CopyReport, Place, RootOwner, hand_over, root_owner};

const CONTINUES: &str = "the database is not restored yet; the same command continues";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory of the backup
    #[arg(value_name = "DIR")]
    source: PathBuf,
    /// Restore even if files of the backup are missing
    #[arg(long)]
    incomplete: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    restored: CopyReport,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    env.require_own_database()?;
    require_direct(env)?;
    let manifest = Manifest::read(&args.source)?;
    let place = Place::of(&env.config)?;
    let opened = env.database().await?;
    require_empty(opened).await?;
    let root = target_of(&manifest, &place)?;
    let progress = CommandProgress::begin(env, "files");

    progress.set_message("checking the dump");
    manifest.database.check(&args.source).await?;
    progress.set_message("");
    let files = manifest.files.number();
    let Some(restored) = copy(Some(&args.source), root, files, &progress).await? else {
        return Ok(progress.interrupted(CONTINUES));
    };
    require_all_files(files, &restored, args.incomplete)?;
    if let Some(root) = root {
        hand_over(root).await?;
    }
    progress.set_message("restoring the database");
    tokio::select! {
        done = manifest.database.restore(&args.source, opened, env) => done?,
        () = progress.until_stopped() => return Ok(progress.interrupted(CONTINUES)),
    }
    drop(progress);
    schema::migrate::up_own(&opened.db).await.map_err(|error| schema_error(opened, error))?;
    schema::migrate::complete_restored(&opened.db).await.map_err(|error| schema_error(opened, error))?;

    restored.reasons.iter().for_each(|reason| env.out.note(format_args!("not copied: {reason}")));
    let is_whole = restored.left == 0;
    env.out.either(&Answer { manifest: &manifest, restored }, text)?;
    Ok(if is_whole { ExitCode::Ok } else { ExitCode::PartialFailure })
}

async fn require_empty(opened: &OpenDatabase) -> anyhow::Result<()> {
    let status = schema::migrate::status(&opened.db).await.map_err(|error| schema_error(opened, error))?;
    if !status.applied.is_empty() {
        return Err(CliError::conflict(format!(
            "{} already has drover tables: restore into a new directory (--dir NEW) or an empty database",
            database_name(opened)
        ))
        .into());
    }
    schema::migrate::require_own(&opened.db).await.map_err(|error| schema_error(opened, error))
}

/// Media that are lost are not downloaded again, since their rows say that they are there.
fn require_all_files(files: u64, restored: &CopyReport, is_incomplete: bool) -> Result<(), CliError> {
    let missing = files.saturating_sub(restored.files);
    match missing == 0 || is_incomplete {
        true => Ok(()),
        false => Err(CliError::conflict(format!(
            "files of the backup that are missing: {missing} of {files}. Find them, or restore the rest with --incomplete"
        ))),
    }
}

/// The directory to copy files to; none when a bucket has them.
fn target_of<'a>(manifest: &Manifest, place: &'a Place) -> anyhow::Result<Option<&'a Path>> {
    match (&manifest.files, place.root()) {
        (Files::InBucket { bucket }, None) if *bucket == place.to_string() => Ok(None),
        (Files::InBucket { bucket }, _) => {
            let fault = format!("the files of this backup are in {bucket}: configure that bucket in [storage]");
            Err(CliError::bad_config(fault).into())
        }
        (Files::Copied { .. }, None) => {
            let fault = "[storage] names a bucket, and the backup has files: restore with storage.driver=local, then copy \
                         the directories payloads, media and images into the bucket";
            Err(CliError::bad_config(fault).into())
        }
        (Files::Copied { .. }, Some(root)) => match root_owner(root, &manifest.owner)? {
            RootOwner::Unknown | RootOwner::Next | RootOwner::This => Ok(Some(root)),
            RootOwner::Another | RootOwner::Several => {
                let fault =
                    format!("another database has its files in {}: give this one its own storage.root", root.display());
                Err(CliError::conflict(fault).into())
            }
        },
    }
}

fn text(answer: &Answer) -> String {
    let Answer { manifest, restored } = answer;
    let of_bucket = match manifest.files {
        Files::Copied { .. } => "",
        Files::InBucket { .. } => {
            "\nEmpty the bucket's object payloads/.database, so that this database owns its files."
        }
    };
    format!(
        "Restored the backup of {} UTC: the database, {}; copied by this run: {}.\n\
         Set secrets.key as it was, if passwords were stored, then check with `drover doctor`.{of_bucket}",
        manifest.made_at.format("%Y-%m-%d %H:%M"),
        manifest.files.text(),
        counted(restored.copied, "file"),
    )
}
