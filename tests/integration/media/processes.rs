//! Processes of drover that work on the harness's jobs, in its database and storage.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use db::tasks::NewTask;
use domain::media::item::ItemState;
use domain::task::TaskId;
use domain::task::role::Role;
use domain::vocabulary::Word;
use nix::sys::signal::Signal;
use serde_json::Value;
use sim::media::{MediaFault, MediaFaultKind, MediaFile};
use testkit::{Child, PATIENCE, drover, until};
use tokio::process::Command;

use super::accounts::processes_in;
use super::harness::{KEY, MediaHarness, job, tool_path};

/// Maximum time that a tool may outlive the kill -9 of its worker.
pub const GONE_AFTER_KILL: Duration = Duration::from_secs(15);

/// A process of a tool, by its number and that of its group.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolProcess {
    pid: u32,
    group: u32,
}

impl ToolProcess {
    /// All whose home is below this directory.
    pub fn all_in(work: &Path) -> Vec<ToolProcess> {
        processes_in(work).into_iter().filter_map(ToolProcess::of).collect()
    }

    /// Processes of `before` that are left, others of their groups, and others whose home is below this directory.
    pub fn left_of(before: &[ToolProcess], work: &Path) -> Vec<ToolProcess> {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let all = all.filter_map(|entry| ToolProcess::of(entry.file_name().to_str()?.parse().ok()?));
        let is_of = |process: &ToolProcess| before.iter().any(|of| of.pid == process.pid || of.group == process.group);
        all.filter(is_of).chain(ToolProcess::all_in(work)).collect()
    }

    /// None: it has ended.
    fn of(pid: u32) -> Option<ToolProcess> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // its state, its parent and its group follow the name, which may hold anything
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, group) = (fields.next()?, fields.nth(1)?.parse().ok()?);
        (state != "Z").then_some(ToolProcess { pid, group })
    }
}

impl MediaHarness {
    pub async fn enqueue(&self, role: Role, payload: Value) {
        self.enqueue_task(job(role, payload)).await;
    }

    /// Returns its id.
    pub async fn enqueue_task(&self, task: NewTask) -> TaskId {
        let client = self.database.db.client().await.unwrap();
        db::tasks::enqueue(&client, &[task]).await.unwrap().remove(0)
    }

    /// The site sends each of these files at this rate.
    pub fn slow_down(&self, files: &[MediaFile], bytes_per_second: u64) {
        for file in files {
            self.site.add_fault(&file.path, MediaFault::new(MediaFaultKind::Slow { bytes_per_second }));
        }
    }

    /// Paths at the site of the files whose rows are written.
    pub async fn whole_files(&self) -> Vec<String> {
        let items = self.items().await.into_iter();
        let downloaded = items.filter(|item| item.state == Word::Known(ItemState::Downloaded));
        downloaded.map(|item| item.url.strip_prefix(self.site.url()).unwrap().to_owned()).collect()
    }

    /// A file whose row stood before has not been sent again. `once`: bytes that were sent of each until its row stood.
    pub async fn note_once(&self, once: &mut BTreeMap<String, u64>) {
        for path in self.whole_files().await {
            let sent = self.site.bytes_sent(&path);
            let before = *once.entry(path.clone()).or_insert(sent);
            assert_eq!(sent, before, "{path} was downloaded again");
        }
    }

    pub async fn open_jobs(&self) -> i64 {
        self.number("SELECT count(*) FROM worker_tasks WHERE status <> 'completed' AND schedule_id IS NULL").await
    }

    pub async fn spawn_api(&self) -> Child {
        let api = Child::spawn(self.drover(1).arg("api").env("DROVER__API__LISTEN", "127.0.0.1:0"));
        api.probes().await;
        api
    }

    /// Kills the API with its scheduler, and starts it again once the work has gone on without it.
    pub async fn restart_api_beneath_work(&self, mut api: Child) -> Child {
        api.signal(Signal::SIGKILL);
        api.ended(PATIENCE).await;
        self.until_requests_grow_by(2).await;
        self.spawn_api().await
    }

    pub async fn until_requests_grow_by(&self, number: usize) {
        let before = self.requests_sent();
        until("the work goes on", PATIENCE, async || self.requests_sent() >= before + number).await;
    }

    /// Address at which that API listens.
    pub async fn address_of(api: &Child) -> SocketAddr {
        let line = api.logged("Listening on http", PATIENCE).await;
        let line: Value = serde_json::from_str(&line).unwrap();
        line["address"].as_str().unwrap().parse().unwrap()
    }

    pub fn spawn_worker(&self) -> Child {
        self.spawn_worker_of(1)
    }

    pub fn spawn_worker_of(&self, slots: usize) -> Child {
        Child::spawn(&mut self.worker(slots))
    }

    pub fn worker(&self, slots: usize) -> Command {
        let mut command = self.drover(slots);
        command.args(["worker", "--role", "media"]);
        command
    }

    /// A command for the harness's database and storage.
    pub fn drover(&self, slots: usize) -> Command {
        let mut command = drover();
        let (gallery_dl, yt_dlp) = (tool_path("gallery-dl"), tool_path("yt-dlp"));
        let settings = [
            ("DATABASE_URL", self.database.url.as_str()),
            ("DROVER__STORAGE__ROOT", self.storage.path().to_str().unwrap()),
            ("DROVER__MEDIA__WORK_DIR", self.services.media.work_dir.to_str().unwrap()),
            ("DROVER__MEDIA__ALLOW_PRIVATE", "true"),
            ("DROVER__SECRETS__KEY", KEY),
            ("DROVER__MEDIA__EASYNEWS_URL", self.site.url()),
            ("DROVER__MEDIA__TMDB_URL", self.site.url()),
            ("DROVER__PROBES__LISTEN", "127.0.0.1:0"),
            // a worker held up for a second by a busy machine keeps its tasks; it hears of a cancellation soon
            ("DROVER__QUEUE__LEASE", "5s"),
            ("DROVER__QUEUE__HEARTBEAT", "250ms"),
            ("DROVER__QUEUE__RECOVERY_TICK", "500ms"),
            ("DROVER__QUEUE__SWEEP_DUE", "200ms"),
            ("DROVER__QUEUE__SWEEP_ALL", "500ms"),
            ("DROVER__QUEUE__RETRY_BASE", "100ms"),
            ("DROVER__WORKER__MEMORY_BACKOFF_THRESHOLD", "0"),
            ("DROVER__WORKER__CPU_BACKOFF_THRESHOLD", "0"),
            ("DROVER__MEDIA__GALLERY_DL", gallery_dl.to_str().unwrap()),
            ("DROVER__MEDIA__YT_DLP", yt_dlp.to_str().unwrap()),
            ("DROVER__MEDIA__SLOTS", &slots.to_string()),
            ("DROVER__MEDIA__POLL_INTERVAL", "200ms"),
        ];
        command.envs(settings);
        command
    }
}
