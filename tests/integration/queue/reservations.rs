//! A store's reservation: which task gets it, which gives it up, and which waits for which.

use db::tasks::{AttemptOutcome, Settlement};
use foundation::clock::Clock;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn completed() -> Settlement {
    Settlement::new(AttemptOutcome::Completed, None)
}

fn urgent(task: NewTask) -> NewTask {
    NewTask { priority: 20, ..task }
}

#[rstest]
#[case::done(AttemptOutcome::Completed)]
#[case::cancel(AttemptOutcome::Cancelled)]
#[case::permanent_error(AttemptOutcome::Permanent)]
#[case::error(AttemptOutcome::Failed)]
#[case::snooze(AttemptOutcome::Snoozed)]
#[tokio::test]
async fn settling_hands_the_reservation_to_the_stores_best_waiting_task(#[case] outcome: AttemptOutcome) {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1), refresh(2)]).await;
    let first = queue.claim_one().await;
    let best = queue.add(urgent(refresh(1))).await;
    let settlement = Settlement { retry_after: Duration::from_secs(60), ..Settlement::new(outcome, None) };
    queue.settle(&first, &settlement).await.unwrap();
    assert_eq!(queue.claim_all().await, [best, made[2]]);
}

#[tokio::test]
async fn a_more_urgent_task_takes_the_reservation_over() {
    let queue = Queue::new().await;
    let batch = queue.add(fetch(1)).await;
    let by_hand = queue.add(urgent(fetch(1))).await;
    assert_eq!(queue.claim_all().await, [by_hand]);
    assert_eq!(queue.task(batch).await["ready"], json!(false));
}

#[tokio::test]
async fn an_equally_urgent_task_does_not() {
    let queue = Queue::new().await;
    let older = queue.add(urgent(fetch(1))).await;
    queue.add(urgent(fetch(1))).await;
    assert_eq!(queue.claim_all().await, [older]);
}

#[tokio::test]
async fn the_best_of_one_batch_gets_the_reservation() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), urgent(refresh(1)), fetch(1)]).await;
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn an_active_task_keeps_its_reservation_however_urgent_the_next() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    queue.claim_one().await;
    queue.add(urgent(fetch(1))).await;
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
}

#[tokio::test]
async fn an_urgent_task_written_by_hand_takes_the_reservation_over_at_the_next_sweep() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    queue.sql("INSERT INTO worker_tasks (role, dispensary_id, priority) VALUES ('payload_fetch', 1, 20)").await;
    queue.sweep_all().await;
    let claimed = queue.claim_one().await;
    assert_eq!(claimed.priority, 20);
}

#[tokio::test]
async fn an_urgent_task_takes_the_reservation_over_when_it_becomes_due() {
    let queue = Queue::new().await;
    let tomorrow = Clock::system().utc() + chrono::TimeDelta::days(1);
    let later = queue.add(NewTask { scheduled_for: Some(tomorrow), ..urgent(fetch(1)) }).await;
    let waiting = queue.add(fetch(1)).await;
    queue.make_due(later).await;
    assert_eq!(queue.claim_all().await, [later]);
    assert_eq!(queue.task(waiting).await["status"], json!("pending"));
}

#[tokio::test]
async fn what_is_not_due_is_not_claimed_until_the_sweep_brings_it() {
    let queue = Queue::new().await;
    let tomorrow = Some(Clock::system().utc() + chrono::TimeDelta::days(1));
    let with_store = queue.add(NewTask { scheduled_for: tomorrow, ..fetch(1) }).await;
    let without = queue.add(NewTask { scheduled_for: tomorrow, ..analytics() }).await;
    queue.sweep_all().await;
    assert_eq!(queue.sweep_due().await, 0);
    assert!(queue.claim_all().await.is_empty());
    queue.sql("UPDATE worker_tasks SET scheduled_for = now()").await;
    assert_eq!(queue.sweep_due().await, 2);
    assert_eq!(queue.claim_all().await, [with_store, without]);
}

#[tokio::test]
async fn a_queued_dedup_key_is_a_conflict_and_inserts_nothing() {
    let queue = Queue::new().await;
    let keyed = |store| NewTask { dedup_key: Some("payload_fetch:1".to_owned()), ..fetch(store) };
    queue.add(keyed(1)).await;
    let refused = tasks::enqueue(&queue.client().await, &[fetch(2), keyed(3)]).await;
    assert!(matches!(refused, Err(DbError::Conflict { .. })), "{refused:?}");
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1);
}

#[rstest]
#[case::done(AttemptOutcome::Completed)]
#[case::cancel(AttemptOutcome::Cancelled)]
#[case::permanent_error(AttemptOutcome::Permanent)]
#[tokio::test]
async fn a_dedup_key_is_free_again_when_its_task_has_ended(#[case] outcome: AttemptOutcome) {
    let queue = Queue::new().await;
    let keyed = NewTask { dedup_key: Some("key".to_owned()), ..fetch(1) };
    let first = queue.add(keyed.clone()).await;
    queue.settle(&queue.claim_one().await, &Settlement::new(outcome, None)).await.unwrap();
    assert_eq!(queue.task(first).await["dedup_key"], Value::Null);
    queue.add(keyed).await;
}

#[tokio::test]
async fn a_batch_completion_frees_the_dedup_key_too() {
    let queue = Queue::new().await;
    let keyed = NewTask { dedup_key: Some("key".to_owned()), ..fetch(1) };
    queue.add(keyed.clone()).await;
    let lease = queue.claim_one().await.lease;
    let done = vec![tasks::Completion { lease, result: json!({}), detail: json!({}) }];
    queue.settle_and_claim(ClaimBatch { done, ..asks(0) }).await;
    queue.add(keyed).await;
}

#[tokio::test]
async fn a_task_waits_until_all_it_depends_on_have_completed() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    let dependent = queue.add(NewTask { depends_on: made.clone(), ..refresh(3) }).await;
    for task in queue.claim(&Role::CRAWL, 9).await {
        assert!(made.contains(&task.lease.id), "it depends on what runs");
        queue.sweep_all().await;
        assert_eq!(queue.task(dependent).await["ready"], json!(false));
        queue.settle(&task, &completed()).await.unwrap();
    }
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [dependent]);
}

#[rstest]
#[case::cancelled_by_default("cancel", AttemptOutcome::Permanent, "cancelled")]
#[case::cancelled_with_it("cancel", AttemptOutcome::Cancelled, "cancelled")]
#[case::runs_anyway("run", AttemptOutcome::Permanent, "pending")]
#[tokio::test]
async fn a_broken_dependency_is_answered_by_policy(
    #[case] policy: &str,
    #[case] outcome: AttemptOutcome,
    #[case] status: &str,
) {
    let queue = Queue::new().await;
    let first = queue.add(fetch(1)).await;
    let dependent = NewTask { depends_on: vec![first], dedup_key: Some("key".to_owned()), ..refresh(2) };
    let dependent = queue.add(dependent).await;
    queue.sql(&format!("UPDATE worker_tasks SET depends_policy = '{policy}' WHERE id = {dependent}")).await;
    queue.settle(&queue.claim_one().await, &Settlement::new(outcome, None)).await.unwrap();
    queue.sweep_all().await;
    let row = queue.task(dependent).await;
    assert_eq!(row["status"], json!(status));
    assert_eq!(row["completed_at"].is_string(), status == "cancelled");
    assert_eq!(row["dedup_key"].is_null(), status == "cancelled");
    assert_eq!(row["ready"], json!(status == "pending"));
}

#[tokio::test]
async fn what_depends_on_a_cancelled_dependent_is_cancelled_too() {
    let queue = Queue::new().await;
    let first = queue.add(fetch(1)).await;
    let second = queue.add(NewTask { depends_on: vec![first], ..fetch(2) }).await;
    let third = queue.add(NewTask { depends_on: vec![second], ..fetch(3) }).await;
    queue.settle(&queue.claim_one().await, &Settlement::new(AttemptOutcome::Cancelled, None)).await.unwrap();
    queue.sweep_all().await;
    queue.sweep_all().await;
    assert_eq!(queue.task(third).await["status"], json!("cancelled"));
}

#[tokio::test]
async fn a_dependency_that_was_pruned_holds_up_no_task() {
    let queue = Queue::new().await;
    let dependent = queue.add(NewTask { depends_on: vec![999_999], ..fetch(1) }).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [dependent]);
}

#[tokio::test]
async fn an_empty_list_of_dependencies_is_none() {
    let queue = Queue::new().await;
    queue.sql("INSERT INTO worker_tasks (role, depends_on) VALUES ('analytics_refresh', '{}')").await;
    queue.sql("SELECT enqueue_tasks('[{\"role\": \"analytics_refresh\", \"depends_on\": []}]')").await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await.len(), 2);
}

/// Batches that give the reservations of the same stores in opposite orders must not wait for each other in a
/// ring.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn enqueuers_of_the_same_stores_in_opposite_orders_do_not_deadlock() {
    let queue = Queue::new().await;
    for _ in 0..30 {
        let forth: Vec<NewTask> = (1..=200).map(fetch).collect();
        let back: Vec<NewTask> = forth.iter().rev().cloned().collect();
        let enqueue = async |tasks: Vec<NewTask>| tasks::enqueue(&queue.client().await, &tasks).await;
        let (one, two) = tokio::join!(enqueue(forth), enqueue(back));
        one.and(two).unwrap();
        assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE ready").await, 200);
        queue.sql("DELETE FROM worker_tasks").await;
    }
}

impl Queue {
    /// No worker has claimed ready tasks for a while.
    async fn half_a_minute_passes(&self) {
        self.sql("SET xmlbinary = hex; UPDATE worker_tasks SET updated_at = updated_at - interval '31 seconds'; RESET xmlbinary").await;
        self.sweep_all().await;
    }
}

#[rstest]
#[case::of_the_same_priority(0)]
#[case::of_a_higher_priority(10)]
#[tokio::test]
async fn a_task_that_no_worker_claims_yields_its_reservation_to_another_role(#[case] priority: i32) {
    let queue = Queue::new().await;
    queue.add(NewTask { priority, ..fetch(1) }).await;
    let replay = queue.add(refresh(1)).await;
    queue.sweep_all().await;
    assert!(queue.claim(&[Role::ProductRefresh], 1).await.is_empty());
    queue.half_a_minute_passes().await;
    queue.sweep_all().await;
    assert_eq!(ids(&queue.claim(&[Role::ProductRefresh], 1).await), [replay]);
}

#[tokio::test]
async fn a_task_that_has_yielded_gets_its_turn_again() {
    let queue = Queue::new().await;
    let unclaimed = queue.add(fetch(1)).await;
    queue.add(refresh(1)).await;
    queue.half_a_minute_passes().await;
    queue.half_a_minute_passes().await;
    assert_eq!(ids(&queue.claim(&[Role::PayloadFetch], 1).await), [unclaimed]);
}

#[tokio::test]
async fn workers_of_one_role_go_on_while_another_role_has_none() {
    let queue = Queue::new().await;
    for _ in 0..2 {
        queue.enqueue(&(1..=3).map(refresh).collect::<Vec<_>>()).await;
        queue.enqueue(&(1..=3).map(fetch).collect::<Vec<_>>()).await;
        queue.half_a_minute_passes().await;
        let fetches = queue.claim(&[Role::PayloadFetch], 9).await;
        assert_eq!(fetches.len(), 3);
        for task in fetches {
            queue.settle(&task, &completed()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_generation_that_lost_one_race_looks_at_each_task_once() {
    let queue = Queue::new().await;
    let insert_the_last = "SELECT cardinality(insert_tasks(specs, ids, ids[2:], false))::bigint
        FROM (SELECT array_agg(n::bigint) AS ids, jsonb_agg(jsonb_build_object('role', 'analytics_refresh')) AS specs
                FROM generate_series(1, 60000) n) generation";
    // as enqueue_tasks pins it; a comparison of each task with each other one takes several times as long
    queue.sql("SET plan_cache_mode = force_generic_plan; SET statement_timeout = '3s'").await;
    assert_eq!(queue.number(insert_the_last).await, 1);
}
