//! One crawl of the demo: makes its tasks once, however often the demo is killed, and waits until all have
//! ended.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use indicatif::{ProgressBar, ProgressStyle};

use db::demo::report::CrawlProgress;
use db::{Db, DbError, demo, schedules};
use domain::store::StoreId;

const FETCH: &str = "payload_fetch_all";
const ANALYTICS: &str = "analytics_refresh";
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time for making a crawl's tasks.
const MAX_GENERATION: Duration = Duration::from_secs(30);

/// A crawl to run.
#[derive(Clone, Copy)]
pub struct Crawl<'a> {
    pub number: u32,
    pub stores: usize,
    /// Stores in trouble on purpose: they are crawled too, and nothing waits for them.
    pub apart: &'a [StoreId],
    /// Time when the next crawl begins, if this one has ended by then.
    pub next_at: Option<tokio::time::Instant>,
}

/// A crawl whose stores are fetched.
pub struct Fetched<'a> {
    crawl: Crawl<'a>,
    since: DateTime<Utc>,
    bar: ProgressBar,
}

/// Makes the tasks of the crawl, unless they exist, and waits until all of them have ended.
pub async fn fetch<'a>(db: &Db, crawl: Crawl<'a>) -> Result<Fetched<'a>, DbError> {
    generate(db, FETCH, crawl).await?;
    let since = begun(db, crawl.number).await?.unwrap_or(due_at(crawl.number));
    let bar = bar(crawl.number, crawl.stores);
    wait(db, since, crawl.apart, &bar).await?;
    Ok(Fetched { crawl, since, bar })
}

/// Time at which the tasks of the crawl with that number were made; None before.
pub async fn begun(db: &Db, number: u32) -> Result<Option<DateTime<Utc>>, DbError> {
    demo::report::begun(&db.client().await?, FETCH, due_at(number)).await
}

impl Fetched<'_> {
    /// Refreshes what is made of the crawl. Returns its start time and the outcomes of its tasks.
    pub async fn analyse(self, db: &Db) -> Result<(DateTime<Utc>, CrawlProgress), DbError> {
        generate(db, ANALYTICS, self.crawl).await?;
        let progress = wait(db, self.since, self.crawl.apart, &self.bar).await?;
        self.bar.finish_and_clear();
        Ok((self.since, progress))
    }
}

/// Retries: a request by the API may generate at the same moment, and the keeper may restart the private
/// server.
async fn generate(db: &Db, schedule: &str, crawl: Crawl<'_>) -> Result<(), DbError> {
    let begun = Instant::now();
    loop {
        match run(db, schedule, crawl).await {
            Err(error) if error.is_transient() && begun.elapsed() < MAX_GENERATION => {}
            other => return other,
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn run(db: &Db, schedule: &str, crawl: Crawl<'_>) -> Result<(), DbError> {
    schedules::run_for(db, schedule, due_at(crawl.number)).await?;
    let Some(next_at) = crawl.next_at else { return Ok(()) };
    let wait = next_at.saturating_duration_since(tokio::time::Instant::now());
    demo::schedules::set_next_run(&db.client().await?, schedule, wait).await
}

async fn wait(db: &Db, since: DateTime<Utc>, apart: &[StoreId], bar: &ProgressBar) -> Result<CrawlProgress, DbError> {
    loop {
        match progress(db, since, apart).await {
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

async fn progress(db: &Db, since: DateTime<Utc>, apart: &[StoreId]) -> Result<CrawlProgress, DbError> {
    demo::report::progress(&db.client().await?, since, apart).await
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
