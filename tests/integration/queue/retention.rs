//! Ended tasks are kept for a while, and go with their attempts.

use domain::task::role::Family;
use serde_json::Value;

use super::*;

impl Queue {
    /// A task with one attempt that ended `days` days ago.
    async fn ended(&self, status: &str, days: i32) -> TaskId {
        self.ended_of(Role::PayloadFetch, status, days).await
    }

    async fn ended_of(&self, role: Role, status: &str, days: i32) -> TaskId {
        let sql = format!(
            "INSERT INTO worker_tasks (role, status, fence, completed_at) VALUES ('{role}', '{status}', 1, now() - interval '{days} days') RETURNING id"
        );
        let id = self.database.raw.query_one(&sql, &[]).await.unwrap().get(0);
        self.sql(&format!("INSERT INTO task_attempts (task_id, fence, worker_id) VALUES ({id}, 1, 'w')")).await;
        id
    }

    async fn prune(&self, batch: &'static str) -> u64 {
        let retention = testkit::config(&[("retention.prune_batch", batch)]).retention;
        tasks::prune(&self.client().await, &retention).await.unwrap()
    }

    async fn kept(&self) -> Vec<TaskId> {
        let rows = self.database.raw.query("SELECT id FROM worker_tasks ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}

#[tokio::test]
async fn each_ending_has_its_retention() {
    let queue = Queue::new().await;
    queue.ended("completed", 8).await;
    let mut kept = vec![queue.ended("completed", 6).await];
    queue.ended("cancelled", 8).await;
    kept.push(queue.ended("cancelled", 6).await);
    queue.ended("failed", 31).await;
    kept.push(queue.ended("failed", 8).await);
    kept.push(queue.add(fetch(1)).await);
    assert_eq!(queue.prune("100").await, 3);
    assert_eq!(queue.kept().await, kept);
    assert_eq!(queue.number("SELECT count(*) FROM task_attempts").await, 3, "attempts go with their task");
}

#[tokio::test]
async fn media_jobs_of_each_role_are_kept_for_longer() {
    let queue = Queue::new().await;
    let mut kept = Vec::new();
    for role in Family::Media.roles() {
        for (status, days) in [("completed", 30), ("cancelled", 30), ("failed", 90)] {
            queue.ended_of(role, status, days + 1).await;
            kept.push(queue.ended_of(role, status, days - 1).await);
        }
    }
    assert_eq!(queue.prune("100").await, kept.len() as u64);
    assert_eq!(queue.kept().await, kept);
}

#[tokio::test]
async fn a_batch_is_the_bound() {
    let queue = Queue::new().await;
    for _ in 0..5 {
        queue.ended("completed", 8).await;
    }
    assert_eq!([queue.prune("2").await, queue.prune("2").await, queue.prune("2").await], [2, 2, 1]);
}

#[tokio::test]
async fn a_payload_outlives_its_task() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let id = queue.ended("completed", 8).await;
    queue
        .sql(&format!(
            "INSERT INTO raw_crawl_payloads (task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at) \
             VALUES ({id}, {store}, 'dutchie', 'payloads/x', repeat('0', 64), 1, 1, 1, 1, now())"
        ))
        .await;
    queue.prune("100").await;
    let task: Value = queue
        .database
        .raw
        .query_one("SELECT to_jsonb(task_id) FROM raw_crawl_payloads", &[])
        .await
        .unwrap()
        .get::<_, Option<Value>>(0)
        .into();
    assert_eq!(task, Value::Null);
}

#[tokio::test]
async fn totals_follow_what_is_there() {
    let queue = Queue::new().await;
    let refresh = async || tasks::refresh_totals(&queue.client().await).await.unwrap();
    let total =
        "SELECT coalesce(sum(tasks), 0)::bigint FROM task_totals WHERE role = 'payload_fetch' AND status = 'completed'";
    queue.ended("completed", 8).await;
    queue.ended("completed", 1).await;
    refresh().await;
    assert_eq!(queue.number(total).await, 2);
    queue.sql("DELETE FROM worker_tasks").await;
    refresh().await;
    assert_eq!(queue.number(total).await, 0);
}
