//! `v_worker_capacity`: the numbers by which people decide how many workers they need.

use db::counts;
use db::counts::stats_minute::StatsTurn;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

impl Queue {
    async fn capacity(&self, role: &str) -> Value {
        let sql = "SELECT to_jsonb(v) FROM v_worker_capacity v WHERE role = $1";
        let row = self.database.raw.query_opt(sql, &[&role]).await.unwrap();
        row.map_or(Value::Null, |row| row.get(0))
    }

    /// `count` tasks that ended `minutes_ago` minutes ago after 72 seconds of work.
    async fn worked(&self, status: &str, count: i32, minutes_ago: i32, worker: &str) {
        let at = format!("now() - interval '{minutes_ago} minutes'");
        self.sql(&format!(
            "INSERT INTO worker_tasks (role, status, worker_id, started_at, last_heartbeat_at, completed_at) \
             SELECT 'payload_fetch', '{status}', '{worker}', {at} - interval '72 seconds', {at}, {at} FROM generate_series(1, {count})"
        ))
        .await;
    }
}

#[tokio::test]
async fn each_number_counts_what_its_name_says() {
    let queue = Queue::new().await;
    queue.enqueue(&(1..=7).map(fetch).collect::<Vec<_>>()).await;
    queue.enqueue(&[fetch(1), fetch(2)]).await;
    for task in queue.claim(&Role::CRAWL, 3).await.iter().take(1) {
        tasks::start(&queue.client().await, &task.lease).await.unwrap();
    }
    queue.worked("completed", 4, 30, "a").await;
    queue.worked("completed", 8, 90, "a").await;
    queue.worked("failed", 2, 30, "a").await;
    queue.worked("failed", 1, 90, "a").await;
    queue.worked("cancelled", 5, 30, "a").await;
    let row = queue.capacity("payload_fetch").await;
    assert_eq!(
        row,
        json!({
            "role": "payload_fetch", "pending_tasks": 6, "ready_tasks": 6, "claimed_tasks": 2, "running_tasks": 1,
            "completed_last_hour": 4, "failed_last_hour": 2, "active_workers": 1, "avg_duration_sec": 72,
            "tasks_per_worker_hour": 50, "estimated_hours_to_drain": 0.12, "measured_runs": 12
        })
    );
}

#[tokio::test]
async fn the_average_is_of_the_last_day() {
    let queue = Queue::new().await;
    queue.worked("completed", 1, 23 * 60, "a").await;
    queue.sql("UPDATE worker_tasks SET started_at = completed_at - interval '10 seconds'").await;
    queue.worked("completed", 1, 25 * 60, "a").await;
    assert_eq!(queue.capacity("payload_fetch").await["avg_duration_sec"], json!(10));
}

#[tokio::test]
async fn the_average_holds_each_run_once_whether_its_minute_has_been_counted_or_not() {
    let queue = Queue::new().await;
    queue.worked("completed", 3, 90, "a").await;
    // a run fills its slot from its claim on
    queue.sql("UPDATE worker_tasks SET claimed_at = started_at, started_at = started_at + interval '5 seconds'").await;
    queue.worked("completed", 1, 0, "a").await;
    queue
        .sql("UPDATE worker_tasks SET started_at = completed_at - interval '12 seconds' WHERE claimed_at IS NULL")
        .await;
    let average = async || queue.capacity("payload_fetch").await["avg_duration_sec"].clone();
    assert_eq!(average().await, json!(57));
    assert_eq!(queue.capacity("payload_fetch").await["measured_runs"], json!(4));
    let turn = StatsTurn { every: Duration::ZERO, grace: Duration::from_secs(60), keep: Duration::from_secs(86_400) };
    counts::stats_minute::count(&queue.database.db, turn).await.unwrap().unwrap();
    assert_eq!(average().await, json!(57));
    queue.sql("DELETE FROM worker_tasks WHERE claimed_at IS NOT NULL").await;
    assert_eq!(average().await, json!(57), "a counted minute needs no tasks");
    assert_eq!(queue.capacity("payload_fetch").await["measured_runs"], json!(4));
}

#[rstest]
#[case::ended_in_no_time("completed_at = 'infinity'")]
#[case::begun_before_time("started_at = '-infinity'")]
#[tokio::test]
async fn a_row_written_by_hand_spoils_no_average(#[case] odd: &str) {
    let queue = Queue::new().await;
    queue.worked("completed", 1, 30, "by hand").await;
    queue.sql(&format!("UPDATE worker_tasks SET {odd}")).await;
    queue.worked("completed", 1, 30, "a").await;
    assert_eq!(queue.capacity("payload_fetch").await["avg_duration_sec"], json!(72));
}

#[tokio::test]
async fn a_worker_is_active_for_five_minutes_after_its_last_heartbeat() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    queue.claim_one().await;
    queue.worked("completed", 3, 4, "just finished").await;
    queue.worked("completed", 3, 6, "long gone").await;
    assert_eq!(queue.capacity("payload_fetch").await["active_workers"], json!(2));
}

#[tokio::test]
async fn nothing_is_estimated_before_something_has_completed() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let row = queue.capacity("payload_fetch").await;
    for null in ["avg_duration_sec", "tasks_per_worker_hour", "estimated_hours_to_drain"] {
        assert_eq!(row[null], Value::Null, "{null}");
    }
}

#[tokio::test]
async fn without_workers_nothing_drains() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    queue.worked("completed", 1, 30, "a").await;
    let row = queue.capacity("payload_fetch").await;
    assert_eq!((&row["active_workers"], &row["estimated_hours_to_drain"]), (&json!(0), &Value::Null));
}

#[tokio::test]
async fn a_worker_does_as_many_tasks_at_once_as_it_has_slots() {
    let queue = Queue::new().await;
    queue.worked("completed", 4, 30, "a").await;
    queue.worked("completed", 4, 1, "b").await;
    queue.sql("INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks) VALUES ('b', 'b', 'b', 'any', '{payload_fetch}', 'active', 3)").await;
    queue.enqueue(&(1..=300).map(fetch).collect::<Vec<_>>()).await;
    let row = queue.capacity("payload_fetch").await;
    assert_eq!((&row["active_workers"], &row["tasks_per_worker_hour"]), (&json!(1), &json!(150)));
    assert_eq!(row["estimated_hours_to_drain"], json!(2));
}

#[tokio::test]
async fn a_worker_that_is_offline_or_has_left_is_no_capacity() {
    let queue = Queue::new().await;
    queue.worked("completed", 4, 1, "killed").await;
    queue.worked("completed", 4, 1, "left").await;
    queue.sql("INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks) VALUES ('killed', 'k', 'b', 'any', '{payload_fetch}', 'active', 3), ('left', 'l', 'b', 'any', '{payload_fetch}', 'active', 3)").await;
    let active = async || queue.capacity("payload_fetch").await["active_workers"].clone();
    assert_eq!(active().await, json!(2));
    queue.sql("UPDATE worker_registry SET status = 'offline' WHERE worker_id = 'killed'; DELETE FROM worker_registry WHERE worker_id = 'left'").await;
    assert_eq!(active().await, json!(0));
}

#[tokio::test]
async fn a_task_is_ready_by_its_time() {
    let queue = Queue::new().await;
    queue.enqueue(&(0..500).map(|n| fetch(n % 10)).collect::<Vec<_>>()).await;
    queue.sql("INSERT INTO worker_tasks (role, dispensary_id, scheduled_for) VALUES ('payload_fetch', 1, now() + interval '1 hour')").await;
    let row = queue.capacity("payload_fetch").await;
    assert_eq!((&row["pending_tasks"], &row["ready_tasks"]), (&json!(501), &json!(500)));
}
