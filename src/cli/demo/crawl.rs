//! One crawl of the demo: makes its tasks once, however often the demo is killed, and waits until all have
//! ended.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::{ProgressBar, ProgressStyle};

use db::demo_report::{self, CrawlProgress};
use db::{Db, DbError, schedules};

const FETCH: &str = "payload_fetch_all";
const ANALYTICS: &str = "analytics_refresh";
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time for making a crawl's tasks.
const MAX_GENERATION: Duration = Duration::from_secs(30);

/// Makes the tasks of crawl `n`, unless they exist, and waits until all of them have ended. Returns the start
/// time of the crawl and the outcomes of its tasks.
pub async fn run(db: &Db, n: u32, stores: usize) -> Result<(DateTime<Utc>, CrawlProgress), DbError> {
    let due_at = due_at(n);
    generate(db, FETCH, due_at).await?;
    let since = demo_report::begun(&db.client().await?, FETCH, due_at).await?.unwrap_or(due_at);
    let bar = bar(n, stores);
    wait(db, since, &bar).await?;
    generate(db, ANALYTICS, due_at).await?;
    let progress = wait(db, since, &bar).await?;
    bar.finish_and_clear();
    Ok((since, progress))
}

/// Retries: a request by the API may generate at the same moment, and the keeper may restart the private
/// server.
async fn generate(db: &Db, schedule: &str, due_at: DateTime<Utc>) -> Result<(), DbError> {
    let begun = Instant::now();
    loop {
        match schedules::run_for(db, schedule, due_at).await {
            Err(error) if error.is_transient() && begun.elapsed() < MAX_GENERATION => {}
            other => return other.map(drop),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn wait(db: &Db, since: DateTime<Utc>, bar: &ProgressBar) -> Result<CrawlProgress, DbError> {
    loop {
        match progress(db, since).await {
            Ok(progress) => {
                bar.set_position(progress.stores_crawled.max(0) as u64);
                bar.set_message(format!("tasks open {}, failed {}", progress.open, progress.failed));
                if progress.open == 0 {
                    return Ok(progress);
                }
            }
            // the keeper restarts the private server
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn progress(db: &Db, since: DateTime<Utc>) -> Result<CrawlProgress, DbError> {
    demo_report::progress(&db.client().await?, since).await
}

/// Each crawl has a due time of its own: a schedule makes the tasks of one due time exactly once.
fn due_at(n: u32) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::hours(4 * i64::from(n))
}

/// A bar for downloads of images, whose number is unknown before.
pub fn image_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("Images  {pos} · {msg} · {elapsed}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

fn bar(n: u32, stores: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} stores · {msg} · {elapsed}");
    let bar = ProgressBar::new(stores as u64).with_prefix(format!("Crawl {n}"));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
