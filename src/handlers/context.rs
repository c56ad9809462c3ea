//! `Context`: everything a handler may use for one run of a task.
//!
//! In: the services of the process and the task's columns. It must not know leases, retries or actors.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::media::MediaServices;
use super::{ChangePublisher, ExhaustedHashAlarm, KnownHashes, PlatformKeys, RunProgress};
use crate::downloads::{DownloadQueue, RunGuard};
use crate::platforms::PlatformRegistry;
use crate::stealth::{Session, SessionAsk, Sessions, TraceHandle};
use db::tasks::AwaitedChild;
use db::{Db, DbError, Tx};
use domain::menu::category::Categories;
use domain::store::{Platform, Store, StoreId, UnknownPlatform};
use domain::task::{TaskId, TaskLease};
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use public_http::Http;
use queue::{SaveError, TaskError, WriteOf, WriteResults};
use settings::Live;
use storage::Payloads;

/// Dependencies that all tasks of a process share.
pub struct TaskServices {
    pub db: Db,
    pub sessions: Sessions,
    pub payloads: Payloads,
    pub clock: Clock,
    pub platforms: PlatformRegistry,
    pub hash_alarm: ExhaustedHashAlarm,
    pub known_hashes: KnownHashes,
    pub platform_keys: PlatformKeys,
    pub change_publisher: ChangePublisher,
    pub categories: Arc<Categories>,
    /// Maximum quantity of an option that is few.
    pub low_stock: Live<i32>,
    /// Client for services that are asked without a proxy.
    pub http: Http,
    /// Keys of the credentials in the database.
    pub keys: SecretKeys,
    pub media: MediaServices,
    /// Queue of downloads; None where this process downloads no images.
    pub downloads: Option<DownloadQueue>,
}

/// One run of a task, as its handler sees it.
pub struct Context {
    pub services: Arc<TaskServices>,
    pub task_id: TaskId,
    pub dispensary_id: Option<StoreId>,
    /// Platform as the task names it, which may be one that this program does not know.
    platform: Option<String>,
    /// The account that the task names.
    pub account: Option<String>,
    run_trace: RunTrace,
    /// Lease of the task; None where no progress is noted, and nothing saved.
    lease: Option<TaskLease>,
    /// Cancelled when the run is stopped from outside.
    stop: CancellationToken,
    progress_written_at: Mutex<Option<Instant>>,
    /// Downloads give way for as long as it is held.
    _run: Option<RunGuard>,
}

/// The requests made by one run. A clone reads the same while the body runs and after it failed.
#[derive(Clone, Default)]
pub struct RunTrace(Arc<Mutex<Vec<TraceHandle>>>);

/// The store of a task.
pub enum TaskStore {
    Enabled(Store),
    /// The store has been disabled since the task was made; the task ends cancelled for this `reason`.
    Disabled {
        reason: String,
    },
}

/// Minimum time between two writes of [`Context::progress`].
const PROGRESS_GAP: Duration = Duration::from_secs(1);

const NO_STORE: &str = "a task of this role needs a store and this one has none: enqueue it with --dispensary ID";
const NO_PLATFORM: &str = "a task of this role needs a platform and this one has none: enqueue it with --platform NAME";

impl Context {
    pub fn new(
        services: Arc<TaskServices>,
        task_id: TaskId,
        dispensary_id: Option<StoreId>,
        platform: Option<String>,
    ) -> Self {
        Context {
            _run: services.downloads.as_ref().map(DownloadQueue::begin_run),
            services,
            task_id,
            dispensary_id,
            platform,
            account: None,
            run_trace: RunTrace::default(),
            lease: None,
            stop: CancellationToken::new(),
            progress_written_at: Mutex::default(),
        }
    }

    /// Adds the run's lease, by which it notes its progress and saves.
    pub fn with_lease(mut self, lease: TaskLease) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Adds the account that the task names.
    pub fn with_account(mut self, account: Option<String>) -> Self {
        self.account = account;
        self
    }

    /// Adds the signal that stops the run.
    pub fn with_stop(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    /// Returns once the run is stopped from outside: its task was cancelled or its lease lost, its time is over,
    /// or the process ends. A body awaits it beside every long step; where its role has a `stop_grace`, it then
    /// has that time to end what it has started.
    pub async fn cancelled(&self) {
        self.stop.cancelled().await;
    }

    /// Whether the run is stopped from outside.
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether no other run continues with the task where this one was stopped: it was cancelled, or has ended. False
    /// where the database does not say it.
    pub async fn is_over(&self) -> bool {
        let Ok(client) = self.services.db.client().await else { return false };
        db::tasks::is_over(&client, self.task_id).await.unwrap_or(false)
    }

    /// The tasks that the task waited for, and what became of them. Empty: this run has to make them.
    pub async fn children(&self) -> Result<Vec<AwaitedChild>, TaskError> {
        Ok(db::tasks::children_of(&self.services.db.client().await?, self.task_id).await?)
    }

    /// Keeps a part of the run's work before its end, in a short transaction of its own, with the follow-ups of
    /// `write`, which may run again
    /// with the same data, in a later save or run. A lost lease ends the body: return the error.
    pub async fn save<D: Send + Sync>(
        &self,
        data: D,
        write: impl for<'a> Fn(&'a D, &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> + Send + Sync,
    ) -> Result<WriteResults, SaveError> {
        let lease = self.lease.as_ref().ok_or(SaveError::LeaseLost)?;
        queue::save(&self.services.db, lease, self.platform.as_deref(), &WriteOf { data, write }).await
    }

    /// Shows people how far the run is, at most once a second: what comes sooner is left out. `percent` is none
    /// where the total is unknown.
    pub async fn progress(&self, percent: Option<u8>, message: impl Into<String>) {
        if self.is_progress_due() {
            self.note_progress(&RunProgress { percent, message: message.into() }).await;
        }
    }

    fn is_progress_due(&self) -> bool {
        let mut written_at = self.progress_written_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = written_at.is_none_or(|at| at.elapsed() >= PROGRESS_GAP);
        if is_due {
            *written_at = Some(Instant::now());
        }
        is_due
    }

    /// Shows people how far the run is. Best effort: a failure is ignored.
    pub async fn note_progress(&self, progress: &RunProgress) {
        let Some(lease) = &self.lease else { return };
        if let Ok(client) = self.services.db.client().await {
            let _ = db::tasks::note_progress(&client, lease, progress.percent, &progress.message).await;
        }
    }

    /// A session whose requests belong to this run, and are counted for the task's store.
    pub fn open_session(&self, ask: SessionAsk) -> Session {
        let session = self.services.sessions.open(SessionAsk { store: self.dispensary_id, ..ask });
        self.run_trace.add(session.trace());
        session
    }

    /// The requests made by this run; [`RunTrace::detail`] is the attempt's `detail`.
    pub fn run_trace(&self) -> RunTrace {
        self.run_trace.clone()
    }

    /// The platform of a media job, as the task names it.
    pub fn media_platform(&self) -> Result<&str, TaskError> {
        self.platform.as_deref().ok_or_else(|| TaskError::permanent(NO_PLATFORM))
    }

    /// The platform that the task names.
    pub fn platform(&self) -> Result<Platform, TaskError> {
        let name = self.platform.as_deref();
        let name = name.ok_or_else(|| TaskError::permanent(NO_PLATFORM))?;
        name.parse().map_err(|unknown: UnknownPlatform| TaskError::permanent(unknown.to_string()))
    }

    /// The task's store as it is now.
    pub async fn store(&self) -> Result<TaskStore, TaskError> {
        let id = self.store_id()?;
        TaskStore::of(id, db::stores::get(&self.services.db.client().await?, id).await?)
    }

    pub fn store_id(&self) -> Result<StoreId, TaskError> {
        self.dispensary_id.ok_or_else(|| TaskError::permanent(NO_STORE))
    }
}

impl TaskStore {
    /// The store of a task that names `id`.
    pub fn of(id: StoreId, store: Option<Store>) -> Result<TaskStore, TaskError> {
        let store = store.ok_or_else(|| TaskError::permanent(format!("store {id} does not exist")))?;
        Ok(match store.crawl_enabled {
            true => TaskStore::Enabled(store),
            false => TaskStore::Disabled { reason: format!("store {id} is disabled") },
        })
    }
}

impl RunTrace {
    fn add(&self, trace: TraceHandle) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(trace);
    }

    /// The attempt's `detail`: {proxy_ids, fingerprint, requests, blocks}, and `unrecorded_headers`: how many
    /// headers were sent at a guessed position, because no browser recording has them. Null for a run without
    /// requests.
    pub fn detail(&self) -> Value {
        let traces: Vec<_> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(TraceHandle::read).collect();
        let Some(last) = traces.last() else { return Value::Null };
        let mut proxy_ids: Vec<_> = traces.iter().flat_map(|trace| trace.proxy_ids.iter().copied()).collect();
        proxy_ids.sort_unstable();
        proxy_ids.dedup();
        let mut detail = json!({
            "proxy_ids": proxy_ids,
            "fingerprint": last.fingerprint,
            "requests": traces.iter().map(|trace| trace.requests).sum::<u32>(),
            "blocks": traces.iter().map(|trace| trace.blocks).sum::<u32>(),
        });
        let unrecorded: usize = traces.iter().map(|trace| trace.unrecorded_headers).sum();
        if unrecorded > 0 {
            detail["unrecorded_headers"] = json!(unrecorded);
        }
        detail
    }
}
