//! Quarantine: a task that kills its processes is distinguished from the tasks beside it.

use contract::tasks::RecoveryCounts;
use db::tasks::{AttemptOutcome, Settlement};
use db::workers;
use domain::worker::WorkerDocument;
use serde_json::{Value, json};

use super::*;

impl Queue {
    /// Claims and loses a task as often as `times` says.
    async fn lose_times(&self, id: TaskId, times: usize) {
        for _ in 0..times {
            let task = self.claim_one().await;
            assert_eq!(task.lease.id, id);
            self.lose(&task).await;
            self.make_due(id).await;
        }
    }
}

#[tokio::test]
async fn a_task_lost_twice_is_a_suspect() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.lose_times(id, 1).await;
    let once = queue.claim_one().await;
    assert!(!once.is_suspect());
    queue.lose(&once).await;
    queue.make_due(id).await;
    assert!(queue.claim_one().await.is_suspect());
    assert_eq!(queue.task(id).await["crash_count"], json!(0), "no crash counts before it is a suspect");
}

#[tokio::test]
async fn a_process_claims_one_suspect_at_a_time() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    queue.sql(&format!("UPDATE worker_tasks SET loss_count = 2 WHERE id <> {}", made[2])).await;
    assert_eq!(queue.claim_all().await, [made[0], made[2]]);
    assert!(queue.settle_and_claim(ClaimBatch { allow_suspect: false, ..asks(9) }).await.is_empty());
    assert_eq!(queue.claim_all().await, [made[1]], "another process may take the other one");
}

#[tokio::test]
async fn three_losses_as_the_suspect_are_the_end() {
    let queue = Queue::new().await;
    let id = queue.add(NewTask { dedup_key: Some("key".to_owned()), ..fetch(1) }).await;
    queue.lose_times(id, 4).await;
    assert_eq!(queue.task(id).await["crash_count"], json!(2));
    let last = queue.claim_one().await;
    assert_eq!(queue.lose(&last).await, RecoveryCounts { requeued: 0, failed: 1 });
    let row = queue.task(id).await;
    assert_eq!((&row["status"], &row["crash_count"], &row["retry_count"]), (&json!("failed"), &json!(3), &json!(0)));
    assert!(row["error_message"].as_str().unwrap().contains("quarantined"));
    assert!(row["completed_at"].is_string() && row["dedup_key"].is_null());
    assert_eq!(row["worker_id"], json!(ME));
    assert_eq!(queue.outcomes(id).await, ["lost"; 5]);
}

#[tokio::test]
async fn a_quarantined_task_gives_its_stores_reservation_away() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    let task = queue.claim_one().await;
    queue.sql("UPDATE worker_tasks SET loss_count = 4, crash_count = 2 WHERE status = 'claimed'").await;
    queue.lose(&task).await;
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn success_clears_the_suspicion() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.lose_times(id, 3).await;
    let task = queue.claim_one().await;
    queue.settle(&task, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    let row = queue.task(id).await;
    assert_eq!((&row["loss_count"], &row["crash_count"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn a_quarantined_task_put_back_by_hand_starts_with_a_clean_slate() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.lose_times(id, 5).await;
    queue.sql("UPDATE worker_tasks SET status = 'pending' WHERE status = 'failed'").await;
    queue.sweep_all().await;
    let task = queue.claim_one().await;
    assert!(!task.is_suspect());
    assert_eq!(queue.lose(&task).await, RecoveryCounts { requeued: 1, failed: 0 });
}

impl Queue {
    async fn registered(&self, heartbeat: &str) {
        self.sql(&format!(
            "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, started_at, \
             last_heartbeat_at) VALUES ('{ME}', 'x', 'x', 'any', '{{}}', 'active', 3, now() - interval '1 day', {heartbeat})"
        ))
        .await;
    }

    async fn loss_count(&self, id: TaskId) -> Value {
        self.task(id).await["loss_count"].clone()
    }
}

#[tokio::test]
async fn a_task_that_never_began_is_never_blamed() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    for _ in 0..6 {
        queue.claim_one().await;
        queue.expire(id).await;
        assert_eq!(
            tasks::recover(&queue.client().await, None).await.unwrap(),
            RecoveryCounts { requeued: 1, failed: 0 }
        );
    }
    assert_eq!(queue.loss_count(id).await, json!(0));
}

#[tokio::test]
async fn a_process_that_lives_on_blames_no_task() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.registered("now()").await;
    let task = queue.claim_one().await;
    queue.lose(&task).await;
    assert_eq!(queue.loss_count(id).await, json!(0), "its registry row was written after the lease had run out");
}

#[tokio::test]
async fn a_process_that_ended_while_it_drained_blames_no_task_however_late_that_is_seen() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.registered("now() - interval '1 hour'").await;
    let task = queue.claim_one().await;
    queue.sql("UPDATE worker_registry SET drained_at = clock_timestamp()").await;
    workers::sweep(&queue.client().await).await.unwrap();
    queue.lose(&task).await;
    assert_eq!(queue.loss_count(id).await, json!(0));

    queue.make_due(id).await;
    let later_task = queue.claim_one().await;
    queue.lose(&later_task).await;
    assert_eq!(queue.loss_count(id).await, json!(1), "its successor did not drain");
}

#[tokio::test]
async fn a_process_that_has_not_been_seen_since_is_dead() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.registered("now() - interval '1 hour'").await;
    let task = queue.claim_one().await;
    queue.lose(&task).await;
    assert_eq!(queue.loss_count(id).await, json!(1));
}

#[tokio::test]
async fn a_lease_that_ran_out_while_the_whole_queue_stood_still_blames_no_task() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.sql("UPDATE worker_tasks SET last_heartbeat_at = now() - interval '10 minutes'").await;
    // turns of the sweep came back a second ago
    queue
        .sql("INSERT INTO queue_chores (name, unbroken_since) VALUES ('sweep_due', now() - interval '1 second')")
        .await;
    queue.lose(&task).await;
    assert_eq!(queue.loss_count(id).await, json!(0));
    queue.sql("UPDATE queue_chores SET unbroken_since = now() - interval '1 hour'").await;
    let task = queue.claim_one().await;
    queue.lose(&task).await;
    assert_eq!(queue.loss_count(id).await, json!(1));
}

#[tokio::test]
async fn a_process_that_died_and_came_back_under_its_name_is_dead_to_its_old_tasks() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let beat = async || {
        let started_at = workers::now(&queue.client().await).await.unwrap();
        let document = WorkerDocument { started_at: Some(started_at), ..registry::worker(ME, "Aethelgard") };
        workers::upsert(&queue.client().await, &document, Duration::from_secs(30), None).await.unwrap();
    };
    beat().await;
    let task = queue.claim_one().await;
    tasks::start(&queue.client().await, &task.lease).await.unwrap();
    queue.expire(id).await;
    beat().await;
    tasks::recover(&queue.client().await, None).await.unwrap();
    assert_eq!(queue.loss_count(id).await, json!(1));
}
