//! The sweeps of a bucket: payloads without a row, and images that no row names.
//!
//! A put is atomic: no object is half-written. A move is a copy and a deletion; the next sweep repairs a crash
//! between the two.

use std::collections::HashSet;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::calls::Calls;
use crate::error::StorageError;
use crate::{image_layout, image_sweep, layout, sweep};
use domain::payload::SweepTimes;

/// Objects that are copied or deleted at a time.
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
        let copied = calls.copy(&path, &layout::orphan(&path, today)).await?;
        calls.delete(&path).await?;
        Ok(usize::from(copied))
    });
    moves.buffer_unordered(CONCURRENCY).try_fold(0, |sum, moved| async move { Ok(sum + moved) }).await
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
    let deletions = stream::iter(paths).map(|path| async move { calls.delete(&path).await.map(|()| path) });
    deletions.buffer_unordered(CONCURRENCY).try_collect().await
}
