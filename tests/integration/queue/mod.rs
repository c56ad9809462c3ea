//! The queue on a real database: through the crate `db`, through its SQL functions, and by hand as people at
//! psql do.

mod capacity;
mod claim;
mod generation;
mod groups;
mod hand_written;
mod host_waits;
mod hostile;
mod lease;
mod listing;
mod lock_order;
mod operations;
mod pauses;
mod psql;
mod quarantine;
mod race;
mod registry;
mod request_batch;
mod request_race;
mod requests;
mod reservations;
mod retention;
mod same_slot;
mod same_work;
mod schedules;
mod settle;
mod sweeps;

use std::time::Duration;

use contract::task_requests::TaskRequest;
use contract::tasks::RecoveryCounts;
use db::tasks::requests::{QueuedTask, RequestError};
use db::tasks::{self, ClaimBatch, ClaimedTask, NewTask, Settlement};
use db::{Client, DbError};
use domain::store::StoreId;
use domain::task::role::Role;
use domain::task::{TaskId, TaskLease};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::Row;

use testkit::TestDatabase;

pub const LEASE: Duration = Duration::from_secs(600);
/// Look-back that covers whatever a test made due.
pub const BACK: Duration = Duration::from_secs(3600);
/// A worker's name where it does not matter.
pub const ME: &str = "worker-any-00000001";

/// Leases whose task actors have sent a beat at this moment.
pub fn just_beaten(leases: &[TaskLease]) -> Vec<(TaskLease, Duration)> {
    leases.iter().map(|lease| (lease.clone(), Duration::ZERO)).collect()
}

/// Other tests wait for processes; these use the processors, and races need their share of them.
static PLACES: Semaphore = Semaphore::const_new(5);

/// A migrated database, and a queue's words for it.
pub struct Queue {
    pub database: TestDatabase,
    _place: SemaphorePermit<'static>,
}

impl Queue {
    pub async fn new() -> Queue {
        Queue::on(testkit::database()).await
    }

    pub async fn on(database: impl Future<Output = TestDatabase>) -> Queue {
        let place = PLACES.acquire().await.unwrap();
        Queue { database: database.await, _place: place }
    }

    pub async fn client(&self) -> Client {
        self.database.db.client().await.unwrap()
    }

    /// Requests a task as the API does.
    pub async fn request(&self, request: TaskRequest) -> Result<QueuedTask, RequestError> {
        let tx = self.database.db.begin().await.unwrap();
        let answer = tasks::requests::enqueue(&tx, request).await;
        tx.commit().await.unwrap();
        answer
    }

    pub async fn enqueue(&self, tasks: &[NewTask]) -> Vec<TaskId> {
        tasks::enqueue(&self.client().await, tasks).await.unwrap()
    }

    pub async fn add(&self, task: NewTask) -> TaskId {
        self.enqueue(&[task]).await[0]
    }

    /// Claims up to `count` tasks of these roles, for one worker.
    pub async fn claim(&self, roles: &[Role], count: usize) -> Vec<ClaimedTask> {
        self.settle_and_claim(ClaimBatch { roles: roles.to_vec(), ..asks(count) }).await
    }

    pub async fn settle_and_claim(&self, batch: ClaimBatch) -> Vec<ClaimedTask> {
        tasks::settle_and_claim(&self.client().await, &batch).await.unwrap().claimed
    }

    /// The one task that may be claimed.
    pub async fn claim_one(&self) -> ClaimedTask {
        let mut claimed = self.claim(&Role::CRAWL, 1).await;
        claimed.pop().expect("nothing may be claimed")
    }

    /// The ids of the tasks that may be claimed now, best first; they are claimed.
    pub async fn claim_all(&self) -> Vec<TaskId> {
        ids(&self.claim(&Role::CRAWL, 1000).await)
    }

    pub async fn settle(&self, task: &ClaimedTask, settlement: &Settlement) -> Result<String, DbError> {
        tasks::settle(&self.client().await, &task.lease, settlement).await
    }

    /// The whole row, as people see it.
    pub async fn task(&self, id: TaskId) -> Value {
        self.one("SELECT to_jsonb(t) FROM worker_tasks t WHERE id = $1", id).await.get(0)
    }

    /// The outcomes of a task's attempts, oldest first; `active` for an open one.
    pub async fn outcomes(&self, id: TaskId) -> Vec<String> {
        let sql = "SELECT coalesce(array_agg(coalesce(outcome, 'active') ORDER BY fence), '{}') FROM task_attempts WHERE task_id = $1";
        self.one(sql, id).await.get(0)
    }

    /// Statements as a person at psql sends them.
    pub async fn sql(&self, statements: &str) {
        self.database.raw.batch_execute(statements).await.unwrap();
    }

    pub async fn number(&self, query: &str) -> i64 {
        self.database.raw.query_one(query, &[]).await.unwrap().get(0)
    }

    /// The lease of an active task runs out.
    pub async fn expire(&self, id: TaskId) {
        self.sql(&format!("UPDATE worker_tasks SET lease_expires_at = now() - interval '1 second' WHERE id = {id}"))
            .await;
    }

    /// Loses a task: it begins, its worker dies, and the recovery finds it.
    pub async fn lose(&self, task: &ClaimedTask) -> RecoveryCounts {
        tasks::start(&self.client().await, &task.lease).await.unwrap();
        self.expire(task.lease.id).await;
        tasks::recover(&self.client().await, None).await.unwrap()
    }

    /// Makes a postponed task due now.
    pub async fn make_due(&self, id: TaskId) {
        self.sql(&format!("UPDATE worker_tasks SET scheduled_for = now() - interval '1 second' WHERE id = {id}")).await;
        self.sweep_due().await;
    }

    pub async fn sweep_due(&self) -> i64 {
        tasks::sweep_due(&self.client().await, BACK).await.unwrap()
    }

    pub async fn sweep_all(&self) -> i64 {
        tasks::sweep_all(&self.client().await).await.unwrap()
    }

    /// Seconds from now until a task is due.
    pub async fn due_in(&self, id: TaskId) -> f64 {
        let sql = "SELECT extract(epoch FROM scheduled_for - now())::float8 FROM worker_tasks WHERE id = $1";
        self.one(sql, id).await.get(0)
    }

    /// Tasks of that many stores that have failed.
    pub async fn failures(&self, count: i64) {
        self.sql(&format!(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, dispensary_id, status, completed_at, error_message) \
             SELECT 'payload_fetch', n, 'failed', now(), 'no answer from ' || n FROM generate_series(1, {count}) n; \
             RESET xmlbinary"
        ))
        .await;
    }

    /// Crawlable stores, made by hand; returns their ids.
    pub async fn stores(&self, count: i32) -> Vec<StoreId> {
        let sql = "INSERT INTO dispensaries (name, platform_dispensary_id) SELECT 'Store ' || n, 'p' || n FROM generate_series(1, $1) n RETURNING id";
        let rows = self.database.raw.query(sql, &[&count]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn one(&self, sql: &str, id: TaskId) -> Row {
        self.database.raw.query_one(sql, &[&id]).await.unwrap()
    }
}

/// `count` asks of one worker for any role.
pub fn asks(count: usize) -> ClaimBatch {
    ClaimBatch {
        roles: Role::CRAWL.to_vec(),
        workers: vec![ME.to_owned(); count],
        lease: LEASE,
        allow_suspect: true,
        ..ClaimBatch::default()
    }
}

pub fn fetch(store: StoreId) -> NewTask {
    NewTask { dispensary_id: Some(store), platform: Some("dutchie".to_owned()), ..NewTask::new(Role::PayloadFetch) }
}

pub fn refresh(store: StoreId) -> NewTask {
    NewTask { role: Role::ProductRefresh, ..fetch(store) }
}

/// A task without a store.
pub fn analytics() -> NewTask {
    NewTask::new(Role::AnalyticsRefresh)
}

pub fn ids(claimed: &[ClaimedTask]) -> Vec<TaskId> {
    claimed.iter().map(|task| task.lease.id).collect()
}
