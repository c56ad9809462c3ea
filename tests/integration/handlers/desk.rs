//! `Desk`: handlers run as a worker would run them, without any actor: body, then its writes in one transaction.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use drover::clock::Clock;
use drover::config;
use drover::db;
use drover::domain::dispensary::{DispensaryId, Platform};
use drover::domain::payload::{NewPayload, Payload};
use drover::domain::role::Role;
use drover::domain::task::TaskId;
use drover::handlers::{self, Chained, Context, HashAlarm, Outcome, Services, TaskError};
use drover::platforms::dutchie::DutchieData;
use drover::platforms::{Dutchie, Limits};
use drover::stealth::{Proxy, States};
use drover::storage::{PageBytes, PayloadContent, PayloadHead, Payloads};
use serde_json::Value;

use super::shelf::{MIN_COVERAGE, TestShelf};

pub struct Desk {
    pub shelf: TestShelf,
    pub storage: tempfile::TempDir,
    pub services: Arc<Services>,
}

/// A settled run.
#[derive(Debug)]
pub struct Settled {
    pub result: Value,
    pub next: Vec<Chained>,
}

impl Desk {
    /// Without any proxy.
    pub async fn new() -> Desk {
        Desk::facing("https://dutchie.com", Vec::new()).await
    }

    /// With the platform at `base_url`, asked through `proxies`.
    pub async fn facing(base_url: &str, proxies: Vec<Proxy>) -> Desk {
        let data = DutchieData::load(None).unwrap();
        let url = url::Url::parse(base_url).unwrap();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = &format!("{}{port}", url.host_str().unwrap());
        let shelf = TestShelf::new().await;
        let storage = tempfile::tempdir().unwrap();
        let services = Services {
            db: shelf.database.db.clone(),
            sessions: super::outside::sessions(proxies, host),
            payloads: Payloads::new(storage.path()),
            clock: Clock::system(),
            dutchie: Dutchie::new(&dutchie(base_url), data.clone()).unwrap(),
            shipped_hashes: data.hashes().to_vec(),
            hash_alarm: HashAlarm::default(),
            limits: Limits { max_pages: 40, min_coverage: MIN_COVERAGE },
            states: States::load(None).unwrap(),
        };
        Desk { shelf, storage, services: Arc::new(services) }
    }

    /// Runs a task of the desk's store.
    pub async fn run(&self, role: Role, payload: Value) -> Result<Outcome, TaskError> {
        let task = self.task(role).await;
        handlers::run(&self.context(task), role, &payload).await
    }

    /// Runs a task of the desk's store and commits what it writes.
    pub async fn settle(&self, role: Role, payload: Value) -> Settled {
        self.commit_outcome(self.run(role, payload).await.unwrap()).await
    }

    /// Commits what a finished run writes.
    pub async fn commit_outcome(&self, outcome: Outcome) -> Settled {
        match outcome {
            Outcome::Done(done) => self.commit(done).await,
            Outcome::Cancel { reason } | Outcome::Snooze { reason, .. } => panic!("it ended early: {reason}"),
        }
    }

    pub fn context(&self, task: TaskId) -> Context {
        Context::new(Arc::clone(&self.services), task, Some(self.shelf.store), Some(Platform::Dutchie))
    }

    pub async fn task(&self, role: Role) -> TaskId {
        let sql = "INSERT INTO worker_tasks (role, dispensary_id, platform) VALUES ($1, $2, 'dutchie') RETURNING id";
        self.shelf.database.raw.query_one(sql, &[&role.name(), &self.shelf.store]).await.unwrap().get(0)
    }

    async fn commit(&self, done: handlers::Done) -> Settled {
        let mut settled = Settled { result: done.result, next: done.next };
        if let Some(write) = done.write {
            let tx = self.services.db.begin().await.unwrap();
            let learned = write(&tx).await.unwrap();
            tx.commit().await.unwrap();
            settled.result.as_object_mut().unwrap().extend(learned.result);
            settled.next.extend(learned.next);
        }
        settled
    }

    /// A payload as a fetch would have left it: file and row.
    pub async fn payload(&self, fetched_at: DateTime<Utc>, pages: &[&str]) -> Payload {
        let head = PayloadHead {
            platform: Platform::Dutchie,
            dispensary_id: self.shelf.store,
            platform_dispensary_id: "some id".to_owned(),
            fetched_at,
            total_count: 25,
        };
        let page = |text: &&str| PageBytes { bytes: Bytes::from(text.to_string()), is_gzip: false };
        let content = PayloadContent { head, pages: pages.iter().map(page).collect() };
        let file = self.services.payloads.write(content).await.unwrap();
        let row = NewPayload {
            task_id: self.task(Role::PayloadFetch).await,
            dispensary_id: self.shelf.store,
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
        let id = db::payloads::insert(&tx, &row).await.unwrap();
        tx.commit().await.unwrap();
        let client = self.services.db.client().await.unwrap();
        db::payloads::get(&client, id).await.unwrap().unwrap()
    }

    pub fn store(&self) -> DispensaryId {
        self.shelf.store
    }
}

pub fn dutchie(base_url: &str) -> config::Dutchie {
    config::Dutchie {
        base_url: base_url.to_owned(),
        api_path: "/api-3/graphql".to_owned(),
        per_page: 100,
        min_coverage: MIN_COVERAGE,
    }
}

/// A menu page of in-stock products with these ids.
pub fn page(ids: &[&str]) -> String {
    let products: Vec<Value> = ids
        .iter()
        .map(|id| serde_json::json!({ "_id": id, "Name": id, "Status": "Active", "Options": ["1g"], "Prices": [10] }))
        .collect();
    let info = serde_json::json!({ "totalCount": ids.len(), "totalPages": 1 });
    serde_json::json!({ "data": { "filteredProducts": { "products": products, "queryInfo": info } } }).to_string()
}
