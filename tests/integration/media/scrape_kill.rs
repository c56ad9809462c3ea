//! kill -9 of the worker in the middle of a scrape: no file is half, none is downloaded again once its row stands, and
//! no tool is left.
//!
//! Two kills in the ordinary run, since rows are saved every ten seconds; `DROVER_KILLS=30` is the long one.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::media_item::ItemState;
use domain::vocabulary::Word;
use nix::sys::signal::Signal;
use serde_json::json;
use sim::media::{AccountPlan, MediaFault, MediaFaultKind, MediaPlan};
use testkit::{PATIENCE, until};

use super::accounts::{has_tool, processes_in, scrape_of};
use super::harness::MediaHarness;

/// Slow enough that a whole scrape takes longer than the lives of all workers.
const BYTES_PER_SECOND: u64 = 150_000;
/// A life brings fewer files than this.
const POSTS_PER_KILL: usize = 40;
const WHOLE: Duration = Duration::from_secs(180);

#[tokio::test]
async fn a_worker_that_is_killed_in_scrapes_downloads_every_file_once() {
    if !has_tool() {
        return;
    }
    let kills: usize = std::env::var("DROVER_KILLS").map_or(2, |text| text.parse().unwrap());
    let posts = POSTS_PER_KILL * kills;
    let harness =
        MediaHarness::facing(MediaPlan { accounts: vec![AccountPlan::new("bob", posts)], ..MediaPlan::default() })
            .await;
    harness.add_account("bob", json!({})).await;
    let files = harness.files_of_account("bob");
    for file in &files {
        let slow = MediaFaultKind::Slow { bytes_per_second: BYTES_PER_SECOND };
        harness.site.add_fault(&file.path, MediaFault::new(slow));
    }
    let work = harness.services.media.work_dir.clone();
    let mut once: BTreeMap<String, u64> = BTreeMap::new();
    for kill in 0..kills {
        harness.renew_scrape().await;
        let mut worker = harness.spawn_worker();
        let before = once.len();
        until("rows are saved", WHOLE, async || harness.whole_files().await.len() > before).await;
        let asked = harness.site.requests().len();
        let more = kill % 3;
        until("it goes on", PATIENCE, async || harness.site.requests().len() > asked + more).await;
        worker.signal(Signal::SIGKILL);
        worker.ended(PATIENCE).await;
        until("the tool has ended", PATIENCE, async || processes_in(&work).is_empty()).await;
        harness.assert_whole(&files);
        harness.note_once(&mut once).await;
        assert!(once.len() > before);
    }

    for file in &files {
        harness.site.remove_faults(&file.path);
    }
    harness.renew_scrape().await;
    let worker = harness.spawn_worker();
    until("the scrape is done", WHOLE, async || harness.open_scrapes().await == 0).await;
    drop(worker);
    harness.note_once(&mut once).await;
    assert_eq!(once.len(), files.len());
    harness.assert_whole(&files);
}

impl MediaHarness {
    /// A task that ends its process three times is set aside, so each life has its own.
    async fn renew_scrape(&self) {
        let over =
            "UPDATE worker_tasks SET status = 'cancelled' WHERE status IN ('pending', 'claimed', 'running', 'failed')";
        self.database.raw.batch_execute(over).await.unwrap();
        let client = self.database.db.client().await.unwrap();
        db::tasks::enqueue(&client, &[scrape_of("bob", json!({}))]).await.unwrap();
    }

    async fn open_scrapes(&self) -> i64 {
        let sql = "SELECT count(*) FROM worker_tasks WHERE status NOT IN ('completed', 'cancelled')";
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Paths at the site of the files whose rows stand.
    async fn whole_files(&self) -> Vec<String> {
        let items = self.items().await.into_iter();
        let downloaded = items.filter(|item| item.state == Word::Known(ItemState::Downloaded));
        downloaded.map(|item| item.url.strip_prefix(self.site.url()).unwrap().to_owned()).collect()
    }

    /// A file whose row stood before has not been sent again.
    async fn note_once(&self, once: &mut BTreeMap<String, u64>) {
        for path in self.whole_files().await {
            let sent = self.site.bytes_sent(&path);
            let before = *once.entry(path.clone()).or_insert(sent);
            assert_eq!(sent, before, "{path} was downloaded again");
        }
    }
}
