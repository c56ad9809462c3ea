//! Processes of drover that work on the harness's jobs, in its database and storage.

use std::net::SocketAddr;

use db::tasks::NewTask;
use domain::role::Role;
use serde_json::Value;
use testkit::{Child, PATIENCE, drover};
use tokio::process::Command;

use super::harness::{KEY, MediaHarness, tool_path};

impl MediaHarness {
    pub async fn enqueue(&self, role: Role, payload: Value) {
        let client = self.database.db.client().await.unwrap();
        db::tasks::enqueue(&client, &[NewTask { payload, ..NewTask::new(role) }]).await.unwrap();
    }

    pub async fn open_jobs(&self) -> i64 {
        self.number("SELECT count(*) FROM worker_tasks WHERE status <> 'completed' AND schedule_id IS NULL").await
    }

    pub async fn spawn_api(&self) -> Child {
        let api = Child::spawn(self.drover(1).arg("api").env("DROVER__API__LISTEN", "127.0.0.1:0"));
        api.probes().await;
        api
    }

    /// Where that API listens.
    pub async fn address_of(api: &Child) -> SocketAddr {
        let line = api.logged("Listening on http", PATIENCE).await;
        let line: Value = serde_json::from_str(&line).unwrap();
        line["address"].as_str().unwrap().parse().unwrap()
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
            ("DROVER__QUEUE__LEASE", "1s"),
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
