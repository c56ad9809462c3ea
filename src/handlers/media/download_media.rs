//! `download_media`: downloads items that are known.
//!
//! In: the ids of items. Out: a file for each content, and the state of each item. An item that has its file
//! is not downloaded again. One that fails does not fail the job, unless all fail; where a server asks to
//! wait, the job waits with what is left. Its ends are saved while it continues.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::watch;

use super::item_download::{self, ItemError, ItemProgress};
use super::stopped;
use crate::handlers::progress::report_progress_while;
use crate::handlers::{Context, RunProgress};
use db::{DbError, Tx};
use domain::media::item::{Item, ItemEnd, ItemId, ItemState};
use domain::task::kinds::download_media::Args;
use domain::task::role::Role;
use queue::{FollowUp, Outcome, SaveError, TaskError, WriteResults};

/// Maximum number of items of one task.
const MAX_ITEMS: usize = 1_000;
/// Minimum time between two saves.
const SAVE_EVERY: Duration = Duration::from_secs(10);
/// The priority of downloads that another job makes: after what people ask for, before schedules.
const PRIORITY: i32 = 4;

/// Tasks that download these items.
pub fn follow_ups(source: &str, ids: &[ItemId]) -> Vec<FollowUp> {
    let args = |ids: &[ItemId]| json!({"media_ids": ids, "source": source});
    let task = |ids: &[ItemId]| FollowUp { priority: Some(PRIORITY), ..FollowUp::new(Role::DownloadMedia, args(ids)) };
    ids.chunks(MAX_ITEMS).map(task).collect()
}

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let known = db::media::items::get(&ctx.services.db.client().await?, &args.media_ids, ctx.task_id).await?;
    if known.is_empty() {
        return Err(TaskError::permanent("none of these items exists: `drover media items` lists them"));
    }
    let asked: HashSet<ItemId> = args.media_ids.iter().copied().collect();
    let unknown = asked.len() - known.len();
    let is_wanted = |item: &Item| args.source.as_ref().is_none_or(|source| *source == item.source);
    let (wanted, others): (Vec<Item>, Vec<Item>) = known.into_iter().partition(is_wanted);
    let (over, wanted): (Vec<Item>, Vec<Item>) = wanted.into_iter().partition(|item| item.is_over);
    let mut downloads = Downloads::default();
    downloads.run(ctx, &wanted).await?;
    let mut result = json!({
        "downloaded": downloads.count(ItemState::Downloaded),
        "gone": downloads.count(ItemState::Gone),
        "refused": downloads.count(ItemState::Refused),
        "failed": downloads.count(ItemState::Failed),
        "unknown": unknown,
    });
    // what is asked for and left alone, where there is some
    for (name, left) in [("over", over.len()), ("of_another_source", others.len())] {
        if left > 0 {
            result[name] = json!(left);
        }
    }
    if let Some(reason) = downloads.reason_of_failure() {
        downloads.save(ctx).await?;
        return Err(TaskError::retry(reason));
    }
    Ok(Outcome::done(result).write(downloads.unsaved, |ends, tx| Box::pin(write(tx, ends))).into())
}

/// Downloads one item, and shows how far it and the job are.
async fn download(ctx: &Context, item: &Item, before: usize, items: usize) -> Result<ItemEnd, ItemError> {
    let (received, steps) = watch::channel(ItemProgress { before, items, bytes: 0, total: None });
    report_progress_while(ctx, steps, progress, item_download::run(ctx, item, &received)).await
}

fn progress(received: &ItemProgress) -> RunProgress {
    let ItemProgress { before, items, bytes, total } = *received;
    let share = total.filter(|total| *total > 0).map_or(0.0, |total| bytes as f64 / total as f64);
    let percent = 100.0 * (before as f64 + share.min(1.0)) / items.max(1) as f64;
    let size = total.map_or_else(String::new, |total| format!(" of {total}"));
    RunProgress {
        percent: Some(percent as u8),
        message: format!("item {} of {items}: {bytes}{size} bytes", before + 1),
    }
}

type Ends = Vec<(ItemId, ItemEnd)>;

#[derive(Default)]
struct Downloads {
    states: Vec<ItemState>,
    unsaved: Ends,
    /// The first reason of a failure.
    failure: Option<String>,
}

impl Downloads {
    async fn run(&mut self, ctx: &Context, items: &[Item]) -> Result<(), TaskError> {
        let mut saved = Instant::now();
        let (mut wait, mut permanent) = (None, None);
        for (nth, item) in items.iter().enumerate() {
            if ctx.is_cancelled() {
                self.save(ctx).await?;
                return Err(stopped());
            }
            let percent = u8::try_from(100 * nth / items.len()).ok();
            ctx.progress(percent, format!("item {} of {}", nth + 1, items.len())).await;
            match download(ctx, item, nth, items.len()).await {
                Ok(end) => self.add(item.id, end),
                Err(ItemError::Wait(later)) => wait = Some(later.min(wait)),
                // a credential or a tool is missing, which other items may not need
                Err(ItemError::Task(error @ TaskError::Permanent { .. })) => permanent = permanent.or(Some(error)),
                Err(ItemError::Task(error)) => {
                    self.save(ctx).await?;
                    return Err(error);
                }
            }
            if saved.elapsed() >= SAVE_EVERY {
                self.save_unless_busy(ctx).await?;
                saved = Instant::now();
            }
        }
        let Some(end) = wait.map(TaskError::from).or(permanent) else { return Ok(()) };
        self.save(ctx).await?;
        Err(end)
    }

    fn add(&mut self, id: ItemId, end: ItemEnd) {
        if let ItemEnd::Failed { reason } = &end {
            self.failure.get_or_insert_with(|| reason.clone());
        }
        self.states.push(end.state());
        self.unsaved.push((id, end));
    }

    async fn save(&mut self, ctx: &Context) -> Result<(), SaveError> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        ctx.save(self.unsaved.clone(), |ends, tx| Box::pin(write(tx, ends))).await?;
        self.unsaved.clear();
        Ok(())
    }

    /// An outage of the database does not end the downloads: the next save has the same ends.
    async fn save_unless_busy(&mut self, ctx: &Context) -> Result<(), SaveError> {
        match self.save(ctx).await {
            Err(error) if error.is_external() => Ok(()),
            saved => saved,
        }
    }

    fn count(&self, state: ItemState) -> usize {
        self.states.iter().filter(|ended| **ended == state).count()
    }

    /// None: an item came, or will never come.
    fn reason_of_failure(&self) -> Option<String> {
        let all_failed = self.count(ItemState::Failed) == self.states.len();
        self.failure.clone().filter(|_| all_failed)
    }
}

async fn write(tx: &Tx, ends: &Ends) -> Result<WriteResults, DbError> {
    for (id, end) in ends {
        db::media::items::end(tx, *id, end).await?;
    }
    Ok(WriteResults::default())
}
