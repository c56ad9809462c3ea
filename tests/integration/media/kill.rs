//! kill -9 of the worker in the middle of downloads, and of the API with its scheduler: no file is lost, none is half, and
//! none is downloaded again once its row stands.
//!
//! Six kills in the ordinary run; `DROVER_KILLS=30` is the long one.

use std::collections::HashMap;
use std::time::Duration;

use db::tasks::NewTask;
use domain::media_item::ItemState;
use domain::role::Role;
use domain::vocabulary::Word;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sim::media::{AccountKind, AccountPlan, MediaFault, MediaFaultKind, MediaFile, MediaPlan};
use testkit::{Child, PATIENCE, drover, until};
use tokio::process::Command;

use super::harness::{KEY, MediaHarness, tool_path};

/// Slow enough that a worker is killed within a file, and fast enough that a life brings some.
const BYTES_PER_SECOND: u64 = 400_000;
/// A life brings fewer files than this.
const POSTS_PER_KILL: usize = 8;
/// Kills of workers for one of the API.
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
    for file in &files {
        harness
            .site
            .add_fault(&file.path, MediaFault::new(MediaFaultKind::Slow { bytes_per_second: BYTES_PER_SECOND }));
    }
    // a task that ends its process three times is set aside, so none has all the items
    for few in ids.chunks(ITEMS_PER_JOB) {
        harness.enqueue(Role::DownloadMedia, json!({"media_ids": few})).await;
    }

    let mut api = harness.spawn_api().await;
    // bytes that were sent of each file until its row stood
    let mut once: HashMap<String, u64> = HashMap::new();
    for kill in 1..=kills {
        let mut worker = harness.spawn_worker();
        let asked_before = harness.site.requests().len();
        let more = 1 + (kill * 5) % 7;
        until("it has asked for some files", PATIENCE, async || harness.site.requests().len() > asked_before + more)
            .await;
        worker.signal(Signal::SIGKILL);
        worker.ended(PATIENCE).await;
        if kill % KILLS_PER_RESTART == 0 {
            api.signal(Signal::SIGKILL);
            api.ended(PATIENCE).await;
            api = harness.spawn_api().await;
        }
        harness.assert_whole(&files);
        note_once(&harness, &mut once).await;
    }

    let worker = harness.spawn_worker();
    until("every job is completed", WHOLE, async || harness.open_jobs().await == 0).await;
    drop(worker);
    note_once(&harness, &mut once).await;
    assert_eq!(harness.downloaded().await.len(), ids.len());
    harness.assert_whole(&files);
    let mut digests: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(harness.stored().len(), digests.len());
}

/// A file whose row stood before has not been sent again.
async fn note_once(harness: &MediaHarness, once: &mut HashMap<String, u64>) {
    for path in harness.downloaded().await {
        let sent = harness.site.bytes_sent(&path);
        let before = *once.entry(path.clone()).or_insert(sent);
        assert_eq!(sent, before, "{path} was downloaded again");
    }
}

impl MediaHarness {
    pub async fn enqueue(&self, role: Role, payload: Value) {
        let client = self.database.db.client().await.unwrap();
        db::tasks::enqueue(&client, &[NewTask { payload, ..NewTask::new(role) }]).await.unwrap();
    }

    pub async fn open_jobs(&self) -> i64 {
        let sql = "SELECT count(*) FROM worker_tasks WHERE status <> 'completed' AND schedule_id IS NULL";
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    async fn spawn_api(&self) -> Child {
        let api = Child::spawn(self.drover(1).arg("api").env("DROVER__API__LISTEN", "127.0.0.1:0"));
        api.probes().await;
        api
    }

    pub fn spawn_worker(&self) -> Child {
        self.spawn_worker_of(1)
    }

    pub fn spawn_worker_of(&self, slots: usize) -> Child {
        Child::spawn(self.drover(slots).args(["worker", "--role", "media"]))
    }

    /// A command for the harness's database and storage.
    pub fn drover(&self, slots: usize) -> Command {
        let mut command = drover();
        let gallery_dl = tool_path("gallery-dl");
        let settings = [
            ("DATABASE_URL", self.database.url.as_str()),
            ("DROVER__STORAGE__ROOT", self.storage.path().to_str().unwrap()),
            ("DROVER__MEDIA__WORK_DIR", self.services.media.work_dir.to_str().unwrap()),
            ("DROVER__MEDIA__ALLOW_PRIVATE", "true"),
            ("DROVER__SECRETS__KEY", KEY),
            ("DROVER__PROBES__LISTEN", "127.0.0.1:0"),
            ("DROVER__QUEUE__LEASE", "1s"),
            ("DROVER__QUEUE__RECOVERY_TICK", "500ms"),
            ("DROVER__QUEUE__SWEEP_DUE", "200ms"),
            ("DROVER__QUEUE__SWEEP_ALL", "500ms"),
            ("DROVER__QUEUE__RETRY_BASE", "100ms"),
            ("DROVER__WORKER__MEMORY_BACKOFF_THRESHOLD", "0"),
            ("DROVER__WORKER__CPU_BACKOFF_THRESHOLD", "0"),
            ("DROVER__MEDIA__GALLERY_DL", gallery_dl.to_str().unwrap()),
            ("DROVER__MEDIA__SLOTS", &slots.to_string()),
            ("DROVER__MEDIA__POLL_INTERVAL", "200ms"),
        ];
        command.envs(settings);
        command
    }

    /// Paths at the site of the files whose rows stand.
    async fn downloaded(&self) -> Vec<String> {
        let items = self.items().await.into_iter();
        items.filter(|item| item.state == Word::Known(ItemState::Downloaded)).map(|item| item.source_id).collect()
    }

    /// Every stored file has the digest of its name, which is one of the site's.
    pub fn assert_whole(&self, files: &[MediaFile]) {
        for (path, digest) in self.stored() {
            assert!(path.contains(&digest), "{path} has the digest {digest}");
            assert!(files.iter().any(|file| file.sha256 == digest), "{path} is none of the site's");
        }
    }
}
