//! The sweeps of a bucket: payloads without a row, and images that no row names.
//!
//! A put is atomic: no object is half-written. A move is a copy and a deletion; the next sweep repairs a crash
//! between the two. An object that its service will not copy or delete costs itself alone; where the bucket does
//! not answer, the sweep ends.

use std::collections::HashSet;
use std::path::Path;
use std::pin::pin;

use chrono::{DateTime, NaiveDate, Utc};
use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};

use super::calls::Calls;
use crate::left::Left;
use crate::{StorageError, image_layout, image_sweep, layout, sweep};
use domain::payload::SweepTimes;

/// Number of objects that are copied or deleted at a time.
const CONCURRENCY: usize = 8;

/// The directories `payloads/{year}/{month}/{day}` that there are, oldest first.
pub async fn days(calls: &Calls) -> Result<Vec<String>, StorageError> {
    let mut level = vec![layout::PAYLOADS.to_owned()];
    for _ in ["year", "month", "day"] {
        let mut below = Vec::new();
        for dir in &level {
            below.extend(calls.dirs(dir).await?.into_iter().filter(|dir| layout::is_date(dir)));
        }
        level = below;
    }
    level.retain(|dir| layout::day(dir).is_some());
    level.sort();
    Ok(level)
}

/// The day's payloads that were fetched before `before`.
pub async fn payloads_of_day(calls: &Calls, day: &str, before: DateTime<Utc>) -> Result<Vec<String>, StorageError> {
    let paths = calls.list(day).await?.into_iter().map(|object| object.path);
    Ok(paths.filter(|path| layout::fetched_at(path).is_some_and(|at| at < before)).collect())
}

pub async fn set_aside(calls: &Calls, today: NaiveDate, paths: Vec<String>) -> Result<usize, StorageError> {
    let moves = stream::iter(paths).map(|path| async move {
        let moved = move_object(calls, &path, &layout::orphan(&path, today)).await;
        of_object(calls, path, moved).await
    });
    let moved = without_left(moves.buffer_unordered(CONCURRENCY)).await?;
    Ok(moved.into_iter().filter(|(_, was_there)| *was_there).count())
}

/// False where there is nothing to move.
async fn move_object(calls: &Calls, from: &str, to: &str) -> Result<bool, StorageError> {
    let was_there = calls.copy(from, to).await?;
    if let Err(error) = calls.delete(from).await {
        // a copy each day of what cannot be moved would fill the bucket
        let _ = calls.delete(to).await;
        return Err(error);
    }
    Ok(was_there)
}

/// Deletes payloads that were set aside long ago.
pub async fn remove_orphans(calls: &Calls, times: SweepTimes) -> Result<usize, StorageError> {
    let mut removed = 0;
    for dir in sweep::outdated_orphans(calls.dirs(layout::ORPHANS).await?, times.now.date_naive()) {
        let paths = calls.list(&dir).await?.into_iter().map(|object| object.path);
        removed += delete(calls, paths.filter(|path| layout::is_payload_name(path)).collect()).await?.len();
    }
    Ok(removed)
}

/// Deletes old images below `dir` that are not among `known`.
pub async fn sweep_images(
    calls: &Calls,
    dir: &str,
    known: &HashSet<String>,
    times: SweepTimes,
) -> Result<usize, StorageError> {
    let is_left_over = |path: &str, modified: DateTime<Utc>| {
        image_layout::is_image(path) && !known.contains(path) && modified < times.before - image_sweep::MIN_AGE
    };
    let listed = calls.list(dir).await?.into_iter();
    let old = listed.filter(|object| is_left_over(&object.path, object.modified)).map(|object| object.path);
    Ok(delete(calls, old.collect()).await?.len())
}

/// The paths of payloads that are gone.
pub async fn remove_payloads(calls: &Calls, paths: Vec<String>) -> Result<Vec<String>, StorageError> {
    // a row with a path outside our layout has no object
    let (ours, mut gone): (Vec<String>, Vec<String>) =
        paths.into_iter().partition(|path| layout::resolve(Path::new(""), path).is_some());
    gone.extend(delete(calls, ours).await?);
    Ok(gone)
}

async fn delete(calls: &Calls, paths: Vec<String>) -> Result<Vec<String>, StorageError> {
    let deletions = stream::iter(paths).map(|path| async move {
        let deleted = calls.delete(&path).await;
        of_object(calls, path, deleted).await
    });
    let deleted = without_left(deletions.buffer_unordered(CONCURRENCY)).await?;
    Ok(deleted.into_iter().map(|(path, ())| path).collect())
}

/// An object with its result, which may be its own fault. An error where the bucket is at fault: then its owner's object
/// does not answer, either.
async fn of_object<T>(
    calls: &Calls,
    path: String,
    result: Result<T, StorageError>,
) -> Result<(String, Result<T, StorageError>), StorageError> {
    if result.is_err() {
        calls.exists(layout::OWNER).await?;
    }
    Ok((path, result))
}

/// The objects without a fault, and their results.
async fn without_left<T>(
    results: impl Stream<Item = Result<(String, Result<T, StorageError>), StorageError>>,
) -> Result<Vec<(String, T)>, StorageError> {
    let mut results = pin!(results);
    let (mut done, mut left) = (Vec::new(), Left::default());
    while let Some((path, result)) = results.try_next().await? {
        match result {
            Ok(result) => done.push((path, result)),
            Err(error) => left.add(&path, error),
        }
    }
    Ok(done)
}
