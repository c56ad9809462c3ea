//! The sweep of payload files: removes the leftovers of runs that were killed after the file and before its
//! row was written.
//!
//! In: database times, and a function that asks the database which paths have a row. Out: a [`SweepReport`].
//! It takes only regular files with the name of a payload or temporary file, follows no symbolic link, and
//! reads a payload's age from its name. A payload without a row is set aside first and deleted days later:
//! after a restore of an older database it may be the only copy of an answer. It must not know the database.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::io;
use std::path::Path;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};

use super::left::Left;
use super::owner::Owner;
use super::{Payloads, StorageError, durable, layout, owner};
use domain::payload::SweepTimes;

/// How long payloads without a row are kept in [`layout::ORPHANS`].
const ORPHAN_DAYS: Days = Days::new(7);
/// Allowance for temporary files outside of a day's directory: their modification time is by another machine's clock.
const MAX_CLOCK_DIFFERENCE: TimeDelta = TimeDelta::days(1);
/// Number of paths that one query asks about.
const MAX_BATCH: usize = 5_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Payloads without a row, moved to [`layout::ORPHANS`].
    pub set_aside: usize,
    /// Temporary files, and payloads that were set aside days ago.
    pub removed: usize,
}

impl Payloads {
    /// Sets payloads without a row aside that were fetched before `times.before`, and removes temporary files
    /// and files that were set aside days ago. Does nothing unless all payloads here belong to this database.
    ///
    /// `known` gets the paths of one day, some at a time, and answers with the ones that have a row.
    pub async fn sweep<K, F, E>(&self, times: SweepTimes, mut known: K) -> Result<SweepReport, E>
    where
        K: FnMut(Vec<String>) -> F,
        F: Future<Output = Result<HashSet<String>, E>>,
        E: From<StorageError>,
    {
        let mut report = SweepReport::default();
        let today = times.now.date_naive();
        for day in self.files().days(self.owner()).await? {
            let (removed, payloads) = self.files().sweep_day(day, times.before).await?;
            report.removed += removed;
            for batch in payloads.chunks(MAX_BATCH) {
                let with_row = known(batch.to_vec()).await?;
                let orphans: Vec<_> = batch.iter().filter(|path| !with_row.contains(*path)).cloned().collect();
                report.set_aside += self.files().set_aside(self.owner(), today, orphans).await?;
            }
        }
        report.removed += self.files().remove_leftovers(self.owner(), times).await?;
        Ok(report)
    }
}

/// The directories `payloads/{year}/{month}/{day}` that there are, oldest first.
pub(super) fn days(root: &Path) -> Result<Vec<String>, StorageError> {
    let mut level = vec![layout::PAYLOADS.to_owned()];
    for _ in ["year", "month", "day"] {
        let mut below = Vec::new();
        for dir in &level {
            below.extend(entries(root, dir, FileType::is_dir)?);
        }
        level = below;
    }
    level.retain(|dir| layout::day(dir).is_some());
    level.sort();
    Ok(level)
}

/// Removes the temporary files of a day that is over before `before`; returns how many, and the day's
/// payloads that were fetched before it.
pub(super) fn sweep_day(root: &Path, day: &str, before: DateTime<Utc>) -> Result<(usize, Vec<String>), StorageError> {
    let mut paths = entries(root, day, FileType::is_file)?;
    let is_over = layout::day(day).is_some_and(|day| day < before.date_naive());
    let removed = if is_over { remove(root, &paths, durable::is_temporary)? } else { 0 };
    paths.retain(|path| layout::fetched_at(path).is_some_and(|at| at < before));
    Ok((removed, paths))
}

/// The entries of `dir` of one kind, as paths relative to the root; empty when `dir` does not exist. A
/// symbolic link is neither a file nor a directory.
pub(super) fn entries(root: &Path, dir: &str, is_kind: fn(&FileType) -> bool) -> Result<Vec<String>, StorageError> {
    let failed = |error| StorageError::from_io(dir, error);
    let listing = match fs::read_dir(root.join(dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(failed)?,
    };
    let mut paths = Vec::new();
    for entry in listing {
        let entry = entry.map_err(failed)?;
        if is_kind(&entry.file_type().map_err(failed)?)
            && let Ok(name) = entry.file_name().into_string()
        {
            paths.push(format!("{dir}/{name}"));
        }
    }
    Ok(paths)
}

/// Moves payloads without a row to the orphans of today, unless another database has registered here
/// meanwhile. A crash may undo the move; the next sweep then repeats it.
pub(super) fn set_aside(root: &Path, owner: &Owner, today: NaiveDate, paths: &[String]) -> Result<usize, StorageError> {
    if !paths.is_empty() && !owner::is_exclusive(root, owner)? {
        return Ok(0);
    }
    let (mut moved, mut left) = (0, Left::default());
    for path in paths {
        let orphan = root.join(layout::orphan(path, today));
        moved += count(path, durable::rename(&root.join(path), &orphan), &mut left)?;
    }
    Ok(moved)
}

/// Removes temporary files beside the owner's, and payloads that were set aside more than [`ORPHAN_DAYS`]
/// ago.
pub(super) fn remove_leftovers(root: &Path, owner: &Owner, times: SweepTimes) -> Result<usize, StorageError> {
    if !owner::is_exclusive(root, owner)? {
        return Ok(0);
    }
    let mut beside_owner = entries(root, layout::PAYLOADS, FileType::is_file)?;
    beside_owner.retain(|path| is_older(&root.join(path), times.before - MAX_CLOCK_DIFFERENCE));
    let mut removed = remove(root, &beside_owner, durable::is_temporary)?;
    for dir in orphan_days(root, times.now.date_naive())? {
        removed += remove(root, &entries(root, &dir, FileType::is_file)?, layout::is_payload_name)?;
        // not empty when a person has put something into it
        let _ = fs::remove_dir(root.join(&dir));
    }
    Ok(removed)
}

/// The directories of orphans that are older than [`ORPHAN_DAYS`].
fn orphan_days(root: &Path, today: NaiveDate) -> Result<Vec<String>, StorageError> {
    if fs::symlink_metadata(root.join(layout::ORPHANS)).is_ok_and(|dir| !dir.is_dir()) {
        return Ok(Vec::new());
    }
    Ok(outdated_orphans(entries(root, layout::ORPHANS, FileType::is_dir)?, today))
}

/// The directories among these of orphans that are older than [`ORPHAN_DAYS`].
pub(super) fn outdated_orphans(mut dirs: Vec<String>, today: NaiveDate) -> Vec<String> {
    dirs.retain(|dir| {
        layout::orphan_day(dir).and_then(|day| day.checked_add_days(ORPHAN_DAYS)).is_some_and(|end| end < today)
    });
    dirs
}

pub(super) fn is_older(file: &Path, than: DateTime<Utc>) -> bool {
    let modified = fs::symlink_metadata(file).and_then(|file| file.modified());
    modified.is_ok_and(|at| DateTime::<Utc>::from(at) < than)
}

pub(super) fn remove(root: &Path, paths: &[String], is_ours: fn(&str) -> bool) -> Result<usize, StorageError> {
    let (mut removed, mut left) = (0, Left::default());
    for path in paths.iter().filter(|path| is_ours(path)) {
        removed += count(path, fs::remove_file(root.join(path)), &mut left)?;
    }
    Ok(removed)
}

/// One, or none when another process that sweeps was faster, or the file cannot be touched.
pub(super) fn count(path: &str, done: io::Result<()>, left: &mut Left) -> Result<usize, StorageError> {
    match done.map_err(|error| (error.kind(), StorageError::from_io(path, error))) {
        Ok(()) => Ok(1),
        Err((io::ErrorKind::NotFound, _)) => Ok(0),
        Err((_, error)) if error.is_outage() => Err(error),
        Err((_, error)) => {
            left.add(path, error);
            Ok(0)
        }
    }
}
