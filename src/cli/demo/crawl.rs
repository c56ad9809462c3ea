//! One crawl of the demo: made once, however often the demo is killed in its middle, and watched until nothing is left to do.

use std::io::IsTerminal;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::{ProgressBar, ProgressStyle};

use crate::db::demo_report::{self, Progress};
use crate::db::{Db, DbError, schedules};

const FETCH: &str = "payload_fetch_all";
const ANALYTICS: &str = "analytics_refresh";
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Makes the tasks of crawl `n`, unless they are made, and comes back when all of them have ended: since when, and how.
pub async fn run(db: &Db, n: u32, stores: usize) -> Result<(DateTime<Utc>, Progress), DbError> {
    let slot = slot(n);
    schedules::run_for(db, FETCH, slot).await?;
    let since = demo_report::begun(&db.client().await?, FETCH, slot).await?.unwrap_or(slot);
    let bar = bar(n, stores);
    watch(db, since, &bar).await?;
    schedules::run_for(db, ANALYTICS, slot).await?;
    let progress = watch(db, since, &bar).await?;
    bar.finish_and_clear();
    Ok((since, progress))
}

async fn watch(db: &Db, since: DateTime<Utc>, bar: &ProgressBar) -> Result<Progress, DbError> {
    loop {
        match look(db, since).await {
            Ok(progress) => {
                bar.set_position(progress.stores_crawled.max(0) as u64);
                bar.set_message(format!("{} tasks open, {} failed", progress.open, progress.failed));
                if progress.open == 0 {
                    return Ok(progress);
                }
            }
            // it comes back by itself: the private server is started again by whoever needs it
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(db: &Db, since: DateTime<Utc>) -> Result<Progress, DbError> {
    demo_report::progress(&db.client().await?, since).await
}

/// Each crawl is a slot of the schedule of its own, which makes its tasks exactly once.
fn slot(n: u32) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::hours(4 * i64::from(n))
}

fn bar(n: u32, stores: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} stores · {msg} · {elapsed}");
    let bar = ProgressBar::new(stores as u64).with_prefix(format!("Crawl {n}"));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
