//! `MediaHarness`: media jobs run as a worker runs them, without any actor, against a simulated media site.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::media::credentials::{Credential, CredentialDraft};
use contract::media::items::{ItemFilter, ItemView};
use contract::media::{Fields, Record};
use db::tasks::{AttemptOutcome, ClaimBatch, ClaimedTask, NewTask, Settlement};
use domain::host::{Hold, HostState};
use domain::task::role::Role;
use drover::app;
use drover::handlers::{self, Context, TaskServices};
use drover::stealth::Proxy;
use foundation::clock::Clock;
use foundation::digest::sha256_hex;
use queue::{Committed, Outcome, TaskError};
use serde_json::{Value, json};
use settings::{Config, LiveConfig};
use sim::media::{AccountKind, MediaFile, MediaPlan, MediaSite};
use storage::Payloads;
use testkit::TestDatabase;
use tokio_util::sync::CancellationToken;

use crate::handlers::test_sessions::RoundRobinProxies;

/// 64 hex digits, as `openssl rand -hex 32` prints them.
pub const KEY: &str = "8f3c2a1b5d4e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";

pub struct MediaHarness {
    pub database: TestDatabase,
    pub site: MediaSite,
    pub storage: tempfile::TempDir,
    pub services: Arc<TaskServices>,
}

impl MediaHarness {
    pub async fn start() -> MediaHarness {
        MediaHarness::facing(MediaPlan::default()).await
    }

    pub async fn facing(plan: MediaPlan) -> MediaHarness {
        MediaHarness::with(plan, &[]).await
    }

    /// Starts with other settings.
    pub async fn with(plan: MediaPlan, others: &[(&'static str, &str)]) -> MediaHarness {
        MediaHarness::with_proxies(plan, others, Vec::new()).await
    }

    /// Starts with other settings, and with proxies for the tools.
    pub async fn with_proxies(plan: MediaPlan, others: &[(&'static str, &str)], proxies: Vec<Proxy>) -> MediaHarness {
        let site = MediaSite::start(plan).await.unwrap();
        let database = testkit::database().await;
        let storage = tempfile::tempdir().unwrap();
        let owner = db::schema::installation::storage_owner(&database.db.client().await.unwrap()).await.unwrap();
        let payloads = Payloads::new(storage.path(), owner);
        let work_dir = storage.path().join("media-work");
        let accounts = site.account_address(AccountKind::Mastodon, "{username}");
        let (yt_dlp, gallery_dl) = (tool_path("yt-dlp"), tool_path("gallery-dl"));
        let settings = [
            ("media.allow_private", "true"),
            ("media.work_dir", work_dir.to_str().unwrap()),
            ("media.youtube_url", site.url()),
            ("media.easynews_url", site.url()),
            ("media.tmdb_url", site.url()),
            ("media.forum_interval", "10ms"),
            ("politeness.requests_per_second", "0"),
            ("politeness.concurrency", "0"),
            ("media.yt_dlp", yt_dlp.to_str().unwrap()),
            ("media.gallery_dl", gallery_dl.to_str().unwrap()),
            ("media.platforms.mastodon.url", &accounts),
            ("secrets.key", KEY),
        ];
        let live = LiveConfig::fixed(Config::with(&[&settings, others].concat()).unwrap());
        let proxies = Arc::new(RoundRobinProxies::new(proxies));
        let services = app::services(&live, &database.db, payloads, &Clock::system(), proxies).unwrap();
        MediaHarness { database, site, storage, services: Arc::new(services) }
    }

    /// Adds a record; returns its id.
    pub async fn add<R: Record>(&self, draft: R::Draft) -> i64 {
        draft.check().unwrap();
        let tx = self.database.db.begin_api().await.unwrap();
        let id = db::media::records::insert::<R>(&tx, &draft).await.unwrap();
        if let Some(secret) = draft.secret() {
            db::access::credentials::seal(&tx, id, secret, &self.services.keys).await.unwrap();
        }
        tx.commit().await.unwrap();
        id
    }

    pub async fn get<R: Record>(&self, id: i64) -> R {
        db::media::records::get(&self.database.db.client().await.unwrap(), id).await.unwrap()
    }

    /// The number that a statement selects.
    pub async fn number(&self, sql: &str) -> i64 {
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    pub async fn add_credential(&self, draft: Value) -> i64 {
        self.add::<Credential>(serde_json::from_value::<CredentialDraft>(draft).unwrap()).await
    }

    /// Runs a job, and leaves its task as it is.
    pub async fn run(&self, role: Role, args: Value) -> Result<Outcome, TaskError> {
        self.run_task(job(role, args)).await
    }

    pub async fn run_task(&self, task: NewTask) -> Result<Outcome, TaskError> {
        self.run_claimed(&self.task(task).await).await
    }

    pub async fn run_claimed(&self, task: &ClaimedTask) -> Result<Outcome, TaskError> {
        handlers::run(&self.context(task), task.role, &task.payload, None).await
    }

    /// Runs a job and commits its writes.
    pub async fn settle(&self, role: Role, args: Value) -> Committed {
        self.settle_task(job(role, args)).await
    }

    pub async fn settle_task(&self, task: NewTask) -> Committed {
        self.complete(&self.task(task).await).await
    }

    /// Runs a job until `until` returns, stops it, runs it once more and commits its writes.
    pub async fn settle_in_two_runs(&self, task: NewTask, until: impl Future<Output = ()>) -> Committed {
        let task = self.task(task).await;
        assert!(self.run_claimed_until(task.clone(), until).await.is_err());
        self.complete(&task).await
    }

    /// Runs a task to its end.
    pub async fn complete(&self, task: &ClaimedTask) -> Committed {
        let outcome = handlers::run(&self.context(task), task.role, &task.payload, None).await.unwrap();
        let Outcome::Done(done) = outcome else { panic!("it is not done") };
        let tx = self.database.db.begin().await.unwrap();
        queue::commit(tx, task, &done, &Value::Null, None).await.unwrap()
    }

    /// Runs a task that has to wait; returns how long.
    pub async fn wait(&self, task: &ClaimedTask) -> Option<Duration> {
        let ended = handlers::run(&self.context(task), task.role, &task.payload, None).await;
        let Err(TaskError::Snooze { reason, after, .. }) = ended else { panic!("it does not wait") };
        let client = self.database.db.client().await.unwrap();
        let snooze = Settlement::new(AttemptOutcome::Snoozed, Some(reason));
        db::tasks::settle(&client, &task.lease, &snooze).await.unwrap();
        after
    }

    /// The next run of a task that waits.
    pub async fn wake(&self, task: &ClaimedTask) -> ClaimedTask {
        db::tasks::sweep_all(&self.database.db.client().await.unwrap()).await.unwrap();
        self.claim(task.role).await
    }

    /// Runs a job until `until` returns, and stops it then.
    pub async fn run_until(
        &self,
        role: Role,
        args: Value,
        until: impl Future<Output = ()>,
    ) -> Result<Outcome, TaskError> {
        self.run_task_until(job(role, args), until).await
    }

    pub async fn run_task_until(&self, task: NewTask, until: impl Future<Output = ()>) -> Result<Outcome, TaskError> {
        self.run_claimed_until(self.task(task).await, until).await
    }

    /// Runs a job until `until` returns, and cancels it then, as a person does.
    pub async fn run_until_cancelled(
        &self,
        task: NewTask,
        until: impl Future<Output = ()>,
    ) -> Result<Outcome, TaskError> {
        let task = self.task(task).await;
        let id = task.lease.id;
        let cancel = async {
            until.await;
            db::tasks::cancel(&self.database.db.client().await.unwrap(), id).await.unwrap();
        };
        self.run_claimed_until(task, cancel).await
    }

    async fn run_claimed_until(
        &self,
        task: ClaimedTask,
        until: impl Future<Output = ()>,
    ) -> Result<Outcome, TaskError> {
        let stop = CancellationToken::new();
        let context = self.context(&task).with_stop(stop.clone());
        let run = handlers::run(&context, task.role, &task.payload, None);
        let cancel = async {
            until.await;
            stop.cancel();
        };
        tokio::join!(run, cancel).0
    }

    fn context(&self, task: &ClaimedTask) -> Context {
        let services = Arc::clone(&self.services);
        let context = Context::new(services, task.lease.id, None, task.platform.clone());
        context.with_account(task.account.clone()).with_lease(task.lease.clone())
    }

    /// A claimed task; those before it are over.
    pub async fn task(&self, task: NewTask) -> ClaimedTask {
        let open = "UPDATE worker_tasks SET status = 'cancelled' WHERE status IN ('pending', 'claimed', 'running');
                    DELETE FROM stopping_runs";
        self.database.raw.batch_execute(open).await.unwrap();
        let role = task.role;
        db::tasks::enqueue(&self.database.db.client().await.unwrap(), &[task]).await.unwrap();
        self.claim(role).await
    }

    /// The task that a worker would begin with.
    pub async fn claim(&self, role: Role) -> ClaimedTask {
        let claim = ClaimBatch {
            roles: vec![role],
            workers: vec!["harness".to_owned()],
            lease: Duration::from_secs(60),
            ..ClaimBatch::default()
        };
        let client = self.database.db.client().await.unwrap();
        let mut claimed = db::tasks::settle_and_claim(&client, &claim).await.unwrap().claimed;
        let task = claimed.pop().expect("the task can be claimed");
        db::tasks::start(&client, &task.lease).await.unwrap();
        task
    }

    /// The arguments of the jobs of this role that wait.
    pub async fn waiting(&self, role: Role) -> Vec<Value> {
        let sql = "SELECT payload FROM worker_tasks WHERE role = $1 AND status = 'pending' ORDER BY id";
        let rows = self.database.raw.query(sql, &[&role.name()]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// The shared state of a host, with what this process has seen of it.
    pub async fn host(&self, name: &str) -> HostState {
        self.services.sessions.exchange_hosts().await;
        db::hosts::get(&self.database.db.client().await.unwrap(), name).await.unwrap().state
    }

    /// Changes the shared state of a host, as an operator does.
    pub async fn change_host(&self, name: &str, change: impl FnOnce(&mut HostState, DateTime<Utc>)) {
        self.services.sessions.exchange_hosts().await;
        db::hosts::exchange(&self.database.db, name, change).await.unwrap();
        self.services.sessions.reread_host(name).await;
    }

    /// Ends the wait that a host has asked for.
    pub async fn end_hold(&self, name: &str) {
        self.change_host(name, |state, _| state.hold = Hold::default()).await;
    }

    /// Number of requests to the site.
    pub fn requests_sent(&self) -> usize {
        self.site.requests().len()
    }

    /// All items, the oldest first.
    pub async fn items(&self) -> Vec<ItemView> {
        let client = self.database.db.client().await.unwrap();
        let mut items = db::media::items::list(&client, &ItemFilter::default(), 10_000).await.unwrap();
        items.reverse();
        items
    }

    /// Items of these files, known and not downloaded; returns their ids.
    pub async fn know(&self, files: &[&MediaFile]) -> Vec<i64> {
        let items = files.iter().map(|file| {
            serde_json::from_value(json!({
                "source": "site", "source_id": file.path, "kind": "file", "url": self.site.address(&file.path), "metadata": {},
            }))
            .unwrap()
        });
        let tx = self.database.db.begin().await.unwrap();
        let ids = db::media::items::insert(&tx, &items.collect::<Vec<_>>()).await.unwrap();
        tx.commit().await.unwrap();
        ids
    }

    /// The digest of each stored file by its path below the storage root.
    pub fn stored(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = files_below(&self.storage.path().join("media"))
            .into_iter()
            .map(|path| {
                let name = path.strip_prefix(self.storage.path()).unwrap().to_str().unwrap().to_owned();
                (name, sha256_hex(std::fs::read(path).unwrap()))
            })
            .collect();
        found.sort();
        found
    }

    /// Files that a job left in its work directory.
    pub fn left(&self) -> Vec<PathBuf> {
        files_below(&self.storage.path().join("media-work"))
    }
}

pub fn job(role: Role, payload: Value) -> NewTask {
    NewTask { payload, ..NewTask::new(role) }
}

/// Path at which `./dev media-tools` installs a tool.
pub fn tool_path(name: &str) -> PathBuf {
    testkit::media_tool(name)
}

/// A tool that runs `misbehaviour` where its input matches this pattern of the shell, and is the real one elsewhere. The
/// misbehaviour has the input and the path of the real one: `$input`, `$real`.
pub fn misbehaving_tool(directory: &tempfile::TempDir, name: &str, pattern: &str, misbehaviour: &str) -> PathBuf {
    let path = directory.path().join(name);
    let script = format!(
        "#!/bin/sh\nreal='{}'\ninput=$(cat)\ncase \"$input\" in\n{pattern}) {misbehaviour} ;;\n\
         *) printf '%s\\n' \"$input\" | \"$real\" \"$@\" ;;\nesac\n",
        tool_path(name).canonicalize().unwrap().display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
