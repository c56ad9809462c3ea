//! `HandlerHarness`: handlers run as a worker runs them, without any actor: a claimed task, its body, and its
//! commit.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use db::tasks::{ClaimBatch, ClaimedTask, NewTask};
use domain::payload::{NewPayload, PageQuestion, Payload};
use domain::store::Platform;
use domain::task::role::Role;
use drover::app;
use drover::handlers::{self, Context, TaskServices};
use drover::stealth::Proxy;
use foundation::clock::Clock;
use queue::{Committed, Outcome, TaskError};
use serde_json::{Value, json};
use settings::{Config, LiveConfig};
use storage::{PageBytes, PayloadContent, PayloadHead, Payloads};

use super::test_sessions::{RoundRobinProxies, test_config};
use super::test_store::TestStore;

pub struct HandlerHarness {
    pub store: TestStore,
    pub storage: tempfile::TempDir,
    pub services: Arc<TaskServices>,
}

impl HandlerHarness {
    /// Makes a harness without any proxy.
    pub async fn new() -> HandlerHarness {
        HandlerHarness::facing("https://dutchie.com", Vec::new()).await
    }

    /// Makes a harness with the platform at `base_url`, asked through `proxies`.
    pub async fn facing(base_url: &str, proxies: Vec<Proxy>) -> HandlerHarness {
        HandlerHarness::configured(&test_config(base_url), proxies).await
    }

    pub async fn configured(config: &Config, proxies: Vec<Proxy>) -> HandlerHarness {
        let store = TestStore::new().await;
        let storage = tempfile::tempdir().unwrap();
        let proxies = Arc::new(RoundRobinProxies::new(proxies));
        let owner = db::schema::installation::storage_owner(&store.database.db.client().await.unwrap()).await.unwrap();
        let payloads = Payloads::new(storage.path(), owner);
        let services =
            app::services(&LiveConfig::fixed(config.clone()), &store.database.db, payloads, &Clock::system(), proxies)
                .unwrap();
        HandlerHarness { store, storage, services: Arc::new(services) }
    }

    /// Runs a task of the harness's store.
    pub async fn run(&self, role: Role, payload: Value) -> Result<Outcome, TaskError> {
        let task = self.task(role, payload).await;
        handlers::run(&self.context(&task), role, &task.payload, None).await
    }

    /// Runs a task of the harness's store and commits its writes.
    pub async fn settle(&self, role: Role, payload: Value) -> Committed {
        let task = self.task(role, payload).await;
        let outcome = handlers::run(&self.context(&task), role, &task.payload, None).await.unwrap();
        self.commit(&task, outcome).await
    }

    /// Commits the writes of a finished run, as the engine does.
    pub async fn commit(&self, task: &ClaimedTask, outcome: Outcome) -> Committed {
        let done = match outcome {
            Outcome::Done(done) => done,
            Outcome::Await(awaits) => panic!("it waits for {} children", awaits.children.len()),
            Outcome::Cancel { reason } => panic!("it ended early: {reason}"),
        };
        let tx = self.services.db.begin().await.unwrap();
        let committed = queue::commit(tx, task, &done, &Value::Null, None).await.unwrap();
        let chained = format!("SELECT count(*) FROM worker_tasks WHERE parent_task_id = {}", task.lease.id);
        assert_eq!(self.store.count(&chained).await, committed.next.len() as i64, "{committed:?}");
        committed
    }

    /// Files of payloads under the storage root, temporary ones too.
    pub fn files(&self) -> usize {
        let below =
            |dir: std::path::PathBuf| std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
        let years = below(self.storage.path().join("payloads")).filter(|path| path.is_dir());
        years.flat_map(below).flat_map(below).flat_map(below).count()
    }

    pub fn context(&self, task: &ClaimedTask) -> Context {
        let services = Arc::clone(&self.services);
        Context::new(services, task.lease.id, task.dispensary_id, task.platform.clone()).with_lease(task.lease.clone())
    }

    /// A claimed task of the harness's store. Open tasks of earlier runs would keep it waiting, and are
    /// cancelled; their bodies have ended.
    pub async fn task(&self, role: Role, payload: Value) -> ClaimedTask {
        let open = "UPDATE worker_tasks SET status = 'cancelled' WHERE status IN ('pending', 'claimed', 'running');
                    DELETE FROM stopping_runs";
        self.store.database.raw.batch_execute(open).await.unwrap();
        let new = NewTask {
            dispensary_id: Some(self.store.id),
            platform: Some(Platform::Dutchie.name().to_owned()),
            payload,
            ..NewTask::new(role)
        };
        let claim = ClaimBatch {
            roles: vec![role],
            workers: vec!["harness".to_owned()],
            lease: Duration::from_secs(60),
            ..ClaimBatch::default()
        };
        let client = self.services.db.client().await.unwrap();
        db::tasks::enqueue(&client, &[new]).await.unwrap();
        db::tasks::settle_and_claim(&client, &claim).await.unwrap().claimed.pop().expect("the task can be claimed")
    }

    /// A payload as a fetch would have left it: file and row.
    pub async fn payload(&self, fetched_at: DateTime<Utc>, pages: &[&str]) -> Payload {
        let head = PayloadHead {
            platform: Platform::Dutchie,
            dispensary_id: self.store.id,
            platform_dispensary_id: "some id".to_owned(),
            fetched_at,
            total_count: 25,
        };
        let page = |text: &&str| PageBytes {
            bytes: Bytes::from(text.to_string()),
            is_gzip: false,
            question: PageQuestion { operation: "FilteredProducts".to_owned(), cursor: Value::Null },
        };
        let content = PayloadContent { head, pages: pages.iter().map(page).collect() };
        let file = self.services.payloads.write(content).await.unwrap();
        let row = NewPayload {
            task_id: self.task(Role::PayloadFetch, json!({})).await.lease.id,
            dispensary_id: self.store.id,
            platform: Platform::Dutchie,
            storage_path: file.storage_path,
            sha256: file.sha256,
            bytes: file.bytes as i64,
            product_count: 25,
            total_count: 25,
            coverage: 1.0,
            fetched_at,
        };
        let tx = self.services.db.begin().await.unwrap();
        let payload = db::payloads::insert(&tx, &row).await.unwrap();
        tx.commit().await.unwrap();
        payload
    }
}
