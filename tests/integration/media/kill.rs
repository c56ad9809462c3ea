//! kill -9 of the worker in the middle of downloads, and of the API with its scheduler beneath it: no file is lost, none is half, and
//! none is downloaded again once its row is written.
//!
//! Six kills in the ordinary run; `DROVER_KILLS=30` is the long one.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use serde_json::json;
use sim::media::{AccountKind, AccountPlan, MediaFile, MediaPlan};
use testkit::{PATIENCE, until};

use super::harness::MediaHarness;

/// Slow enough that a worker is killed within a file, and fast enough that a life brings some.
const BYTES_PER_SECOND: u64 = 400_000;
/// A life brings fewer files than this.
const POSTS_PER_KILL: usize = 8;
/// Number of kills of workers for one of the API.
const KILLS_PER_RESTART: usize = 3;
const ITEMS_PER_JOB: usize = 2;
const WHOLE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_worker_that_is_killed_again_and_again_downloads_every_file_once() {
    let kills: usize = std::env::var("DROVER_KILLS").map_or(6, |text| text.parse().unwrap());
    let posts = POSTS_PER_KILL * kills;
    let harness =
        MediaHarness::facing(MediaPlan { accounts: vec![AccountPlan::new("bob", posts)], ..MediaPlan::default() })
            .await;
    let files: Vec<MediaFile> = harness.site.account(AccountKind::Mastodon, "bob").unwrap().files().cloned().collect();
    let ids = harness.know(&files.iter().collect::<Vec<_>>()).await;
    harness.slow_down(&files, BYTES_PER_SECOND);
    // a task that ends its process three times is set aside, so none has all the items
    for few in ids.chunks(ITEMS_PER_JOB) {
        harness.enqueue(Role::DownloadMedia, json!({"media_ids": few})).await;
    }

    let mut api = harness.spawn_api().await;
    let mut once = BTreeMap::new();
    for kill in 1..=kills {
        let mut worker = harness.spawn_worker();
        if kill % KILLS_PER_RESTART == 0 {
            api = harness.restart_api_beneath_work(api).await;
        }
        harness.until_requests_grow_by(1 + (kill * 5) % 7).await;
        worker.signal(Signal::SIGKILL);
        worker.ended(PATIENCE).await;
        harness.assert_whole(&files);
        harness.note_once(&mut once).await;
    }

    let worker = harness.spawn_worker();
    until("every job is completed", WHOLE, async || harness.open_jobs().await == 0).await;
    drop(worker);
    harness.note_once(&mut once).await;
    assert_eq!(harness.whole_files().await.len(), ids.len());
    harness.assert_whole(&files);
    let mut digests: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(harness.stored().len(), digests.len());
}

impl MediaHarness {
    /// Every stored file has the digest of its name, which is one of the site's.
    pub fn assert_whole(&self, files: &[MediaFile]) {
        for (path, digest) in self.stored() {
            assert!(path.contains(&digest), "{path} has the digest {digest}");
            assert!(files.iter().any(|file| file.sha256 == digest), "{path} is none of the site's");
        }
    }
}
