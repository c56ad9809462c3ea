//! The sweep of image files: removes files that no row names any more (`--refetch` brought another one), and
//! half-written files of killed processes.
//!
//! In: a directory, and the images there that rows name. Out: how many files went. It takes only regular
//! files with the names of images or temporary files, and follows no symbolic link. It must not know the
//! database.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};

use super::left::Left;
use super::sweep::{count, entries, is_older};
use super::{StorageError, durable, image_layout};
use domain::payload::SweepTimes;

/// Minimum age of a file to remove: after a restore of an older database, rows of younger files may still come back.
pub(super) const MIN_AGE: TimeDelta = TimeDelta::days(7);
/// Allowance for modification times, which are by another machine's clock.
const MAX_CLOCK_DIFFERENCE: TimeDelta = TimeDelta::days(1);
/// Levels of directories below that of a store or of all brands.
const MAX_DEPTH: usize = 2;

/// Removes old files below `dir` that are not among `known`.
pub(super) fn sweep(root: &Path, dir: &str, known: &HashSet<String>, times: SweepTimes) -> Result<usize, StorageError> {
    sweep_level(root, dir, known, times, MAX_DEPTH)
}

fn sweep_level(
    root: &Path,
    dir: &str,
    known: &HashSet<String>,
    times: SweepTimes,
    depth: usize,
) -> Result<usize, StorageError> {
    let (mut removed, mut left) = (0, Left::default());
    for path in entries(root, dir, FileType::is_file)? {
        if is_left_over(root, &path, known, times.before) {
            removed += count(&path, fs::remove_file(root.join(&path)), &mut left)?;
        }
    }
    if depth > 0 {
        for below in entries(root, dir, FileType::is_dir)? {
            removed += sweep_level(root, &below, known, times, depth - 1)?;
        }
    }
    Ok(removed)
}

fn is_left_over(root: &Path, path: &str, known: &HashSet<String>, before: DateTime<Utc>) -> bool {
    let file = root.join(path);
    match durable::is_temporary(path) {
        true => is_older(&file, before - MAX_CLOCK_DIFFERENCE),
        false => image_layout::is_image(path) && !known.contains(path) && is_older(&file, before - MIN_AGE),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{Images, Payloads};

    const NOW: &str = "2026-10-01T00:00:00Z";

    fn put(root: &Path, name: &str, age_days: u64) -> String {
        let path = format!("images/products/az/az-s/b/1/{name}");
        let file = root.join(&path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, b"x").unwrap();
        let now = SystemTime::from(NOW.parse::<DateTime<Utc>>().unwrap());
        let modified = now - Duration::from_secs(age_days * 24 * 3600);
        fs::File::options().write(true).open(file).unwrap().set_modified(modified).unwrap();
        path
    }

    #[tokio::test]
    async fn only_old_files_that_no_row_names_go() {
        let root = tempfile::tempdir().unwrap();
        let payloads = Payloads::new(root.path(), "a test");
        payloads.register_owner().await.unwrap();
        let known = put(root.path(), "image-00000001.webp", 30);
        let gone = [put(root.path(), "image-00000002.webp", 30), put(root.path(), ".x.tmp", 2)];
        let kept = [
            known.clone(),
            put(root.path(), "image-00000003.webp", 3),
            put(root.path(), ".y.tmp", 0),
            put(root.path(), "notes.txt", 30),
        ];
        let times = SweepTimes { now: NOW.parse().unwrap(), before: NOW.parse().unwrap() };
        let dir = "images/products/az/az-s".to_owned();
        let removed = Images::beside(&payloads).sweep(dir, HashSet::from([known]), times).await.unwrap();
        assert_eq!(removed, gone.len());
        assert!(gone.iter().all(|path| !root.path().join(path).exists()));
        assert!(kept.iter().all(|path| root.path().join(path).exists()));
    }

    #[tokio::test]
    async fn where_two_databases_keep_files_nothing_goes() {
        let root = tempfile::tempdir().unwrap();
        for owner in ["a test", "another"] {
            Payloads::new(root.path(), owner).register_owner().await.unwrap();
        }
        put(root.path(), "image-00000002.webp", 30);
        let images = Images::beside(&Payloads::new(root.path(), "a test"));
        let times = SweepTimes { now: NOW.parse().unwrap(), before: NOW.parse().unwrap() };
        let removed = images.sweep("images/products/az/az-s".to_owned(), HashSet::new(), times).await.unwrap();
        assert_eq!(removed, 0);
    }
}
