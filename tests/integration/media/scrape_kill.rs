//! kill -9 of the worker in the middle of a scrape, and of the API with its scheduler: the job is done in the end, no file
//! is half, none is downloaded again once its row is written, and no tool is left.
//!
//! Two kills in the ordinary run, since rows are saved every ten seconds; `DROVER_KILLS=30` is the long one.

use std::collections::BTreeMap;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;
use sim::media::{AccountPlan, MediaFile, MediaPlan};
use testkit::{PATIENCE, until};

use super::accounts::{has_tool, scrape_of};
use super::harness::MediaHarness;
use super::processes::{GONE_AFTER_KILL, ToolProcess};

/// A task that ends its process three times is set aside.
const KILLS_PER_JOB: usize = 2;
/// Slow enough that a whole scrape takes longer than the lives of its killed workers.
const BYTES_PER_SECOND: u64 = 150_000;
const POSTS_PER_JOB: usize = 110;
const WHOLE: Duration = Duration::from_secs(180);

#[tokio::test]
async fn a_scrape_whose_worker_is_killed_downloads_every_file_once() {
    if !has_tool() {
        return;
    }
    let kills: usize = std::env::var("DROVER_KILLS").map_or(KILLS_PER_JOB, |text| text.parse().unwrap());
    let names: Vec<String> = (0..kills.div_ceil(KILLS_PER_JOB)).map(|number| format!("creator-{number}")).collect();
    let accounts = names.iter().map(|name| AccountPlan::new(name, POSTS_PER_JOB)).collect();
    let harness = MediaHarness::facing(MediaPlan { accounts, ..MediaPlan::default() }).await;
    let mut api = harness.spawn_api().await;
    let mut once: BTreeMap<String, u64> = BTreeMap::new();
    let mut oracle: Vec<MediaFile> = Vec::new();
    for name in names {
        harness.add_account(&name, json!({})).await;
        let files = harness.files_of_account(&name);
        oracle.extend(files.iter().cloned());
        harness.slow_down(&files, BYTES_PER_SECOND);
        let id = harness.enqueue_task(scrape_of(&name, json!({}))).await;

        for kill in 0..KILLS_PER_JOB {
            let mut worker = harness.spawn_worker();
            let before = once.len();
            until("rows are saved", WHOLE, async || harness.whole_files().await.len() > before).await;
            if kill == 0 {
                api = harness.restart_api_beneath_work(api).await;
            }
            harness.until_requests_grow_by(1 + kill % 3).await;
            let tool = ToolProcess::all_in(&harness.services.media.work_dir);
            assert_ne!(tool, [], "the tool runs");
            worker.signal(Signal::SIGKILL);
            worker.ended(PATIENCE).await;
            let has_ended = async || ToolProcess::left_of(&tool, &harness.services.media.work_dir).is_empty();
            until("the tool has ended", GONE_AFTER_KILL, has_ended).await;
            harness.assert_whole(&oracle);
            harness.note_once(&mut once).await;
            assert!(once.len() > before);
        }

        files.iter().for_each(|file| harness.site.remove_faults(&file.path));
        let worker = harness.spawn_worker();
        let done = format!("SELECT count(*) FROM worker_tasks WHERE id = {id} AND status = 'completed'");
        until("the job is completed", WHOLE, async || harness.number(&done).await == 1).await;
        drop(worker);
        harness.note_once(&mut once).await;
        assert_eq!(once.len(), oracle.len());
    }
    drop(api);
    assert_eq!(harness.open_jobs().await, 0);
    harness.assert_like(&oracle).await;
}
