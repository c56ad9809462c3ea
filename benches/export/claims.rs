//! Claims beside an export: one task at a time on one connection, each completed with the next claim.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use db::Db;
use db::tasks::{self, ClaimBatch, ClaimToken, Completion};
use domain::task::role::Role;
use serde_json::json;

const PENDING: i64 = 1_000_000;
const LEASE: Duration = Duration::from_secs(600);

pub struct Claimer {
    db: Db,
}

impl Claimer {
    /// Fills the queue.
    pub async fn new(db: &Db) -> Claimer {
        let client = db.maintenance_client().await.unwrap();
        let insert = "INSERT INTO worker_tasks (role, dispensary_id, ready, payload) SELECT $2::text, 1000 + n, true, '{}' FROM generate_series(1, $1::bigint) n";
        // rows of the bench are ready as they are
        client.batch("SET xmlbinary = 'hex'").await.unwrap();
        client.execute(insert, &[&PENDING, &Role::PayloadFetch.name()]).await.unwrap();
        Claimer { db: db.clone() }
    }

    /// Claims a second until the other work ends.
    pub async fn beside<T>(&self, work: impl Future<Output = T>) -> (T, f64) {
        let is_over = Arc::new(AtomicBool::new(false));
        let claims = tokio::spawn(claim(self.db.clone(), Arc::clone(&is_over)));
        let result = work.await;
        is_over.store(true, Ordering::Release);
        (result, claims.await.unwrap())
    }
}

async fn claim(db: Db, is_over: Arc<AtomicBool>) -> f64 {
    let client = db.client().await.unwrap();
    let (begun, mut claimed, mut done) = (Instant::now(), 0_u32, Vec::new());
    while !is_over.load(Ordering::Acquire) {
        let exchange = ClaimBatch {
            done,
            roles: vec![Role::PayloadFetch],
            workers: vec!["bench".to_owned()],
            lease: LEASE,
            allow_suspect: true,
            token: ClaimToken::random(),
        };
        let answer = tasks::settle_and_claim(&client, &exchange).await.unwrap();
        assert!(!answer.claimed.is_empty(), "the queue is empty after {claimed} claims");
        claimed += 1;
        let leases = answer.claimed.into_iter().map(|task| task.lease);
        done = leases.map(|lease| Completion { lease, result: json!({}), detail: json!({}) }).collect();
    }
    f64::from(claimed) / begun.elapsed().as_secs_f64()
}
