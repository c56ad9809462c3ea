//! `Manifest`: the description of a backup, in the file `backup.json` of its directory. A backup without it is
//! unfinished.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::dump::Dump;
use crate::cli::CliError;
use db::schema;
use domain::amounts::counted;
use foundation::clock::Clock;

pub const MANIFEST: &str = "backup.json";
/// Grows when an older program could not restore a backup any more.
const FORMAT: u32 = 1;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// Version of the program that wrote it.
    pub drover: String,
    pub made_at: DateTime<Utc>,
    /// The last migration of the database.
    pub schema: String,
    /// Owner of the files (`db::schema::installation::storage_owner`).
    pub owner: String,
    pub database: Dump,
    pub files: Files,
}

/// Fields that a manifest of any format has.
#[derive(Deserialize)]
struct Version {
    format: u32,
    drover: String,
    schema: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Files {
    /// `left`: files that could not be read.
    Copied { files: u64, bytes: u64, left: u64 },
    /// The bucket has the files, and the backup does not.
    InBucket { bucket: String },
}

impl Files {
    /// Number of files in the backup.
    pub fn number(&self) -> u64 {
        match self {
            Files::Copied { files, .. } => *files,
            Files::InBucket { .. } => 0,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Files::Copied { files, bytes, left: 0 } => {
                format!("{} ({})", counted(*files, "file"), counted(*bytes, "byte"))
            }
            Files::Copied { files, bytes, left } => {
                format!("{} ({}); not copied: {left}", counted(*files, "file"), counted(*bytes, "byte"))
            }
            Files::InBucket { bucket } => format!("no files: they stay in {bucket}"),
        }
    }
}

impl Manifest {
    pub fn new(schema: String, owner: String, database: Dump, files: Files) -> Manifest {
        let drover = env!("CARGO_PKG_VERSION").to_owned();
        Manifest { format: FORMAT, drover, made_at: Clock::system().utc(), schema, owner, database, files }
    }

    /// Replaces the manifest of an earlier backup at once.
    pub fn write(&self, dir: &Path) -> anyhow::Result<()> {
        let written = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.as_file().sync_all()?;
            file.persist(dir.join(MANIFEST))?;
            fs::File::open(dir)?.sync_all()
        };
        written().with_context(|| format!("cannot write {}", dir.join(MANIFEST).display()))
    }

    /// Owner of the files of the backup in `dir`, if there is a finished one.
    pub fn owner_in(dir: &Path) -> anyhow::Result<Option<String>> {
        match dir.join(MANIFEST).exists() {
            true => Ok(Some(Manifest::read(dir)?.owner)),
            false => Ok(None),
        }
    }

    /// Refuses what this program cannot restore.
    pub fn read(dir: &Path) -> anyhow::Result<Manifest> {
        let path = dir.join(MANIFEST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(CliError::not_found(format!(
                    "there is no finished backup in {}: {MANIFEST} is missing; `drover backup` finishes one that was interrupted",
                    dir.display()
                ))
                .into());
            }
            Err(error) => return Err(error).context(format!("cannot read {}", path.display())),
        };
        let damaged = |error| CliError::usage(format!("{} is damaged: {error}", path.display()));
        let version: Version = serde_json::from_slice(&text).map_err(damaged)?;
        if version.format != FORMAT || !schema::migrate::knows(&version.schema) {
            return Err(CliError::conflict(format!(
                "the backup was created by drover {}, which is newer than this one ({}): restore it with that version",
                version.drover,
                env!("CARGO_PKG_VERSION")
            ))
            .into());
        }
        Ok(serde_json::from_slice(&text).map_err(damaged)?)
    }
}
