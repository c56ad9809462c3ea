//! A chained task that the end of its parent's run starts in the same slot.

use db::tasks::{AttemptOutcome, Settlement, complete_and_start};
use domain::task::TaskLease;
use serde_json::json;

use super::*;

fn refresh_of(parent: &ClaimedTask) -> NewTask {
    NewTask {
        dispensary_id: parent.dispensary_id,
        platform: parent.platform.clone(),
        account: Some("ann".to_owned()),
        dedup_key: Some("its key".to_owned()),
        priority: parent.priority + 1,
        payload: json!({ "payload_id": 7 }),
        parent_task_id: Some(parent.lease.id),
        ..NewTask::new(Role::ProductRefresh)
    }
}

async fn complete(queue: &Queue, parent: &ClaimedTask) -> Result<Option<TaskLease>, DbError> {
    let settlement =
        Settlement { result: Some(json!({ "bytes": 3 })), ..Settlement::new(AttemptOutcome::Completed, None) };
    let client = queue.client().await;
    complete_and_start(&client, &parent.lease, &settlement, &refresh_of(parent), Duration::from_secs(60)).await
}

#[tokio::test]
async fn a_chained_task_runs_for_the_worker_of_its_parent() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let parent = queue.claim_one().await;
    let lease = complete(&queue, &parent).await.unwrap().unwrap();

    let ended = queue.task(id).await;
    assert_eq!((&ended["status"], &ended["result"]), (&json!("completed"), &json!({ "bytes": 3 })));
    let row = queue.task(lease.id).await;
    for (column, expected) in [
        ("status", json!("running")),
        ("role", json!("product_refresh")),
        ("account", json!("ann")),
        ("dedup_key", json!("its key")),
        ("worker_id", json!(ME)),
        ("fence", json!(lease.fence)),
        ("parent_task_id", json!(id)),
        ("priority", json!(1)),
        ("payload", json!({ "payload_id": 7 })),
        ("ready", json!(false)),
    ] {
        assert_eq!(row[column], expected, "{column}");
    }
    let leased = "SELECT count(*) FROM worker_tasks WHERE lease_expires_at BETWEEN now() + interval '50 seconds' AND now() + interval '60 seconds'";
    assert_eq!(queue.number(leased).await, 1);
    assert_eq!(queue.outcomes(id).await, ["completed"]);
}

#[tokio::test]
async fn it_keeps_the_stores_other_tasks_waiting_until_it_ends() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(1)]).await;
    let parent = queue.claim_one().await;
    let lease = complete(&queue, &parent).await.unwrap().unwrap();
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    let client = queue.client().await;
    tasks::settle(&client, &lease, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn a_run_without_its_lease_starts_nothing() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let zombie = queue.claim_one().await;
    queue.expire(id).await;
    assert!(matches!(complete(&queue, &zombie).await, Err(DbError::Missing(_))));
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1);
    assert_ne!(queue.task(id).await["status"], json!("completed"));
}

#[tokio::test]
async fn where_a_person_has_made_another_task_of_the_store_active_it_waits() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let parent = queue.claim_one().await;
    queue.sql("UPDATE worker_tasks SET dispensary_id = NULL").await;
    queue.sql("INSERT INTO worker_tasks (role, dispensary_id, status) VALUES ('payload_fetch', 1, 'running')").await;
    assert_eq!(complete(&queue, &parent).await.unwrap(), None);
    let waiting =
        "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'pending' AND NOT ready";
    assert_eq!(queue.number(waiting).await, 1);
}

#[tokio::test]
async fn a_lost_one_is_recovered_like_any_other() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let parent = queue.claim_one().await;
    let lease = complete(&queue, &parent).await.unwrap().unwrap();
    queue.expire(lease.id).await;
    tasks::recover(&queue.client().await, None).await.unwrap();
    let again = queue.claim_one().await;
    assert_eq!((again.lease.id, again.lease.fence), (lease.id, lease.fence + 1));
}
