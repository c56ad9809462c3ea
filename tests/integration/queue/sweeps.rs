//! Sweeps: in batches that commit by themselves, beside people who hold locks, and no more often by many
//! processes than by one.

use contract::task_requests::TaskRequest;
use db::tasks::requests::RequestError;
use rstest::rstest;
use serde_json::json;

use super::*;

#[tokio::test]
async fn tasks_of_20_000_stores_inserted_by_hand_are_all_ready_after_one_sweep() {
    let queue = Queue::new().await;
    queue
        .sql(
            "INSERT INTO worker_tasks (role, dispensary_id) SELECT 'payload_fetch', n FROM generate_series(1, 20000) n",
        )
        .await;
    assert_eq!(queue.sweep_all().await, 20_000);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE ready").await, 20_000);
}

#[rstest]
#[case::running("status = 'running'")]
#[case::cancelled("status = 'cancelled'")]
#[tokio::test]
async fn stores_that_a_person_keeps_locked_hold_up_no_other(#[case] change: &str, #[values(1, 25, 200)] locked: i64) {
    const STORES: i64 = 1000;
    let queue = Queue::new().await;
    let every_store = |role: &str| {
        format!("INSERT INTO worker_tasks (role, dispensary_id) SELECT '{role}', n FROM generate_series(1, {STORES}) n")
    };
    queue.sql(&every_store("payload_fetch")).await;
    let every = STORES / locked;
    queue.sql(&format!("BEGIN; UPDATE worker_tasks SET {change} WHERE dispensary_id % {every} = 0")).await;
    // a store's second task would wait for the open transaction's decision about the first
    let client = queue.client().await;
    client.batch(&every_store("product_refresh")).await.unwrap();
    tasks::sweep_all(&client).await.unwrap();
    let ready = "SELECT count(*) FROM worker_tasks WHERE ready AND dispensary_id % $1 <> 0";
    let row = client.query_one(ready, &[&every]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), STORES - locked);

    queue.sql("ROLLBACK").await;
    queue.sweep_all().await;
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE ready").await, STORES);
}

#[tokio::test]
async fn due_tasks_come_while_a_person_has_swept_and_not_committed() {
    let queue = Queue::new().await;
    queue.sql("BEGIN; SELECT sweep_all()").await;
    let client = queue.client().await;
    let later = "INSERT INTO worker_tasks (role, dispensary_id, scheduled_for) VALUES ('analytics_refresh', NULL, 'infinity'), ('payload_fetch', 1, 'infinity')";
    client.batch(later).await.unwrap();
    client.batch("UPDATE worker_tasks SET scheduled_for = now()").await.unwrap();
    assert_eq!(tasks::sweep_all(&client).await.unwrap(), 2);
    queue.sql("ROLLBACK").await;
}

#[tokio::test]
async fn due_tasks_come_while_a_person_has_generated_and_not_committed() {
    let queue = Queue::new().await;
    queue.stores(5).await;
    let tomorrow = foundation::clock::Clock::system().utc() + chrono::TimeDelta::days(1);
    let late = queue
        .enqueue(&[
            NewTask { scheduled_for: Some(tomorrow), ..fetch(1) },
            NewTask { scheduled_for: Some(tomorrow), ..analytics() },
        ])
        .await;
    queue.sql("UPDATE worker_tasks SET scheduled_for = now()").await;
    queue.sql("BEGIN; SELECT generate_resync_tasks(6, '2025-01-10')").await;
    assert_eq!(queue.sweep_due().await, 2);
    assert_eq!(queue.claim_all().await, late);
    let batch = queue.enqueue(&[fetch(2), fetch(3)]).await;
    assert_eq!(queue.claim_all().await, batch, "batches need not wait either");
    queue.sql("COMMIT").await;
}

#[tokio::test]
async fn many_processes_sweep_no_more_often_than_one() {
    let queue = Queue::new().await;
    let every = Duration::from_secs(60);
    let sweep =
        async || tasks::sweep_all_unless_recent(&queue.database.db.client().await.unwrap(), every).await.unwrap();
    let turns = futures_util::future::join_all((0..6).map(|_| sweep())).await;
    assert_eq!(turns.into_iter().flatten().count(), 1);
    assert_eq!(tasks::refresh_totals_unless_recent(&queue.client().await, every).await.unwrap(), Some(0));
    assert_eq!(tasks::refresh_totals_unless_recent(&queue.client().await, every).await.unwrap(), None);
    queue.sql("UPDATE queue_chores SET done_at = now() - interval '1 minute'").await;
    assert!(sweep().await.is_some());
    queue.sql("UPDATE queue_chores SET done_at = now() + interval '1 year'").await;
    assert!(sweep().await.is_some(), "a clock that went back does not stop the sweeps");
}

/// A request as the API gets it.
fn request(role: &str, store: StoreId) -> TaskRequest {
    TaskRequest { role: role.to_owned(), dispensary_id: Some(store), ..TaskRequest::default() }
}

#[tokio::test]
async fn a_request_beside_an_open_task_without_a_key_is_refused_with_its_id() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let generated = queue.add(fetch(store)).await;
    for _ in ["ready", "claimed"] {
        let refused = queue.request(request("payload_fetch", store)).await;
        assert!(
            matches!(refused, Err(RequestError::Duplicate { existing, .. }) if existing == generated),
            "{refused:?}"
        );
        queue.claim_all().await;
    }
    let waiting = queue.add(refresh(store)).await;
    let replay = |payload_id: i64| TaskRequest {
        payload: json!({"payload_id": payload_id}),
        ..request("product_refresh", store)
    };
    queue.sql(&format!("UPDATE worker_tasks SET payload = '{{\"payload_id\": 5}}' WHERE id = {waiting}")).await;
    let refused = queue.request(replay(5)).await;
    assert!(matches!(refused, Err(RequestError::Duplicate { existing, .. }) if existing == waiting), "{refused:?}");
    queue.request(replay(6)).await.unwrap();
    let own = TaskRequest { dedup_key: Some("mine".to_owned()), ..request("payload_fetch", store) };
    queue.request(own).await.unwrap();
}
