//! A handler's result, and its effect on the task and its attempt.

use rstest::rstest;
use serde_json::{Value, json};

use db::tasks::{AttemptOutcome, Settlement};
use domain::task::Blame;

use super::*;

const SOON: Duration = Duration::from_secs(60);

fn settlement(outcome: AttemptOutcome) -> Settlement {
    Settlement { retry_after: SOON, ..Settlement::new(outcome, Some("why".to_owned())) }
}

#[rstest]
#[case::done(AttemptOutcome::Completed, "completed", "completed", 0)]
#[case::cancel(AttemptOutcome::Cancelled, "cancelled", "cancelled", 0)]
#[case::error(AttemptOutcome::Failed, "pending", "failed", 1)]
#[case::permanent_error(AttemptOutcome::Permanent, "failed", "failed", 0)]
#[case::snooze(AttemptOutcome::Snoozed, "pending", "snoozed", 0)]
#[case::grace_over(AttemptOutcome::Released, "pending", "released", 0)]
#[tokio::test]
async fn an_outcome_decides(
    #[case] how: AttemptOutcome,
    #[case] status: &str,
    #[case] outcome: &str,
    #[case] retries: i64,
) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    assert_eq!(queue.settle(&task, &settlement(how)).await.unwrap(), status);
    let row = queue.task(id).await;
    assert_eq!((&row["status"], &row["retry_count"]), (&json!(status), &json!(retries)));
    assert_eq!(queue.outcomes(id).await, [outcome]);
}

#[rstest]
#[case::done(AttemptOutcome::Completed)]
#[case::cancel(AttemptOutcome::Cancelled)]
#[case::permanent_error(AttemptOutcome::Permanent)]
#[tokio::test]
async fn an_ended_task_keeps_its_last_run(#[case] how: AttemptOutcome) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    assert!(tasks::start(&queue.client().await, &task.lease).await.unwrap());
    queue.settle(&task, &settlement(how)).await.unwrap();
    let row = queue.task(id).await;
    assert_eq!(row["worker_id"], json!(ME));
    for kept in ["claimed_at", "started_at", "last_heartbeat_at", "completed_at"] {
        assert!(row[kept].is_string(), "{kept} of {row}");
    }
}

#[rstest]
#[case::error(AttemptOutcome::Failed)]
#[case::snooze(AttemptOutcome::Snoozed)]
#[case::grace_over(AttemptOutcome::Released)]
#[tokio::test]
async fn a_task_put_back_has_no_worker(#[case] how: AttemptOutcome) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.settle(&task, &settlement(how)).await.unwrap();
    let row = queue.task(id).await;
    for null in ["worker_id", "lease_expires_at", "last_heartbeat_at", "claimed_at", "started_at", "completed_at"] {
        assert_eq!(row[null], Value::Null, "{null}");
    }
}

#[tokio::test]
async fn a_failed_run_waits_for_its_backoff_and_says_why() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.settle(&task, &settlement(AttemptOutcome::Failed)).await.unwrap();
    assert_eq!(queue.task(id).await["error_message"], json!("why"));
    assert!((50.0..=60.0).contains(&queue.due_in(id).await));
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    queue.make_due(id).await;
    assert_eq!(queue.claim_all().await, [id]);
}

#[tokio::test]
async fn three_retries_are_four_runs() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    for run in 1..=4 {
        let task = queue.claim_one().await;
        let new_status = queue.settle(&task, &settlement(AttemptOutcome::Failed)).await.unwrap();
        assert_eq!(new_status, if run < 4 { "pending" } else { "failed" }, "run {run}");
        queue.make_due(id).await;
    }
    let row = queue.task(id).await;
    assert_eq!((&row["status"], &row["retry_count"], &row["fence"]), (&json!("failed"), &json!(3), &json!(4)));
    assert_eq!(queue.outcomes(id).await, ["failed"; 4]);
}

#[tokio::test]
async fn a_snooze_longer_than_its_limit_is_a_failure() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.settle(&queue.claim_one().await, &settlement(AttemptOutcome::Snoozed)).await.unwrap();
    let put_off_for = async |hours: i32| {
        queue.sql(&format!("UPDATE worker_tasks SET snoozed_since = now() - interval '{hours} hours'")).await;
        queue.make_due(id).await;
        queue.settle(&queue.claim_one().await, &settlement(AttemptOutcome::Snoozed)).await.unwrap();
        queue.task(id).await["retry_count"].clone()
    };
    assert_eq!(put_off_for(23).await, json!(0));
    assert_eq!(put_off_for(25).await, json!(1));
    assert_eq!(queue.outcomes(id).await, ["snoozed", "snoozed", "failed"]);
    assert!(queue.task(id).await["snoozed_since"].is_null(), "the next row of snoozes starts from the beginning");
}

#[tokio::test]
async fn a_release_between_two_snoozes_does_not_restart_their_limit() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.settle(&queue.claim_one().await, &settlement(AttemptOutcome::Snoozed)).await.unwrap();
    let since = queue.task(id).await["snoozed_since"].clone();
    queue.make_due(id).await;
    queue.settle(&queue.claim_one().await, &Settlement::released("stopping")).await.unwrap();
    assert_eq!(queue.task(id).await["snoozed_since"], since);
}

#[tokio::test]
async fn a_released_task_may_be_claimed_at_once() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), analytics()]).await;
    for task in queue.claim(&Role::CRAWL, 2).await {
        queue.settle(&task, &Settlement::released("stopping")).await.unwrap();
    }
    assert_eq!(queue.claim_all().await, made);
}

#[rstest]
#[case::longer_than_the_column("x".repeat(20_000))]
#[case::cut_between_characters("é".repeat(9_000))]
#[case::with_a_byte_that_text_cannot_hold("before\0after".to_owned())]
#[tokio::test]
async fn no_error_text_keeps_a_task_from_being_settled(#[case] why: String) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let settlement = Settlement { retry_after: SOON, ..Settlement::new(AttemptOutcome::Failed, Some(why)) };
    queue.settle(&queue.claim_one().await, &settlement).await.unwrap();
    assert!(queue.task(id).await["error_message"].as_str().unwrap().len() <= 8192);
}

#[tokio::test]
async fn a_long_reason_fits_when_the_snooze_limit_has_passed() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.sql("UPDATE worker_tasks SET snoozed_since = now() - interval '25 hours'").await;
    let settlement = Settlement::new(AttemptOutcome::Snoozed, Some("x".repeat(8_192)));
    assert_eq!(queue.settle(&task, &settlement).await.unwrap(), "pending");
}

#[tokio::test]
async fn effects_and_status_are_one_transaction() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    let tx = queue.database.db.begin().await.unwrap();
    let child = NewTask { parent_task_id: Some(id), ..refresh(1) };
    let child = tasks::enqueue(&tx, &[child]).await.unwrap()[0];
    tasks::settle(&tx, &task.lease, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1, "no other session sees half of it");
    tx.commit().await.unwrap();
    assert_eq!(queue.task(id).await["status"], json!("completed"));
    assert_eq!(queue.claim_all().await, [child], "the store's reservation went to the follow-up");
}

#[tokio::test]
async fn an_unknown_commit_is_looked_up_by_its_attempt() {
    let queue = Queue::new().await;
    for (outcome, recorded, status) in [
        (AttemptOutcome::Completed, "completed", "completed"),
        (AttemptOutcome::Failed, "failed", "pending"),
        (AttemptOutcome::Permanent, "failed", "failed"),
    ] {
        queue.add(fetch(1)).await;
        let task = queue.claim_one().await;
        let look_up = async || tasks::ended_attempt(&queue.client().await, &task.lease).await.unwrap();
        assert_eq!(look_up().await, None);
        queue.settle(&task, &settlement(outcome)).await.unwrap();
        let wanted = tasks::EndedAttempt { outcome: recorded.to_owned().into(), status: status.to_owned() };
        assert_eq!(look_up().await, Some(wanted));
        queue.sql("DELETE FROM worker_tasks").await;
    }
}

/// A settlement and a cancellation by hand lock the same two rows.
#[tokio::test]
async fn a_settlement_waits_for_a_cancellation_by_hand_and_finds_itself_lost() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.sql(&format!("BEGIN; SELECT FROM worker_tasks WHERE id = {id} FOR UPDATE")).await;
    let settling = {
        let (db, lease) = (queue.database.db.clone(), task.lease.clone());
        tokio::spawn(
            async move { tasks::settle(&db.client().await?, &lease, &settlement(AttemptOutcome::Completed)).await },
        )
    };
    testkit::until("the settlement waits", SOON, async || queue.number(testkit::WAITING_FOR_LOCKS).await == 1).await;
    queue.sql(&format!("UPDATE worker_tasks SET status = 'cancelled' WHERE id = {id}; COMMIT")).await;
    let settled = settling.await.unwrap();
    assert!(matches!(settled, Err(DbError::Missing(_))), "{settled:?}");
    assert_eq!(queue.outcomes(id).await, ["cancelled"]);
}

#[tokio::test]
async fn a_run_becomes_a_row_of_its_own_only_before_the_next_writes_over_it() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let kept = "SELECT count(*) FROM past_attempts";
    let first = queue.claim_one().await;
    assert_eq!((queue.outcomes(id).await, queue.number(kept).await), (vec!["active".to_owned()], 0));
    queue.settle(&first, &Settlement::new(AttemptOutcome::Failed, Some("no answer".to_owned()))).await.unwrap();
    assert_eq!((queue.outcomes(id).await, queue.number(kept).await), (vec!["failed".to_owned()], 1));
    queue.make_due(id).await;
    let second = queue.claim_one().await;
    queue.settle(&second, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    assert_eq!(
        (queue.outcomes(id).await, queue.number(kept).await),
        (vec!["failed".to_owned(), "completed".to_owned()], 1)
    );
    let kept_attempts =
        "SELECT count(*) FROM task_attempts WHERE error = 'no answer' AND fence = 1 AND finished_at >= claimed_at";
    assert_eq!(queue.number(kept_attempts).await, 1);
}

#[tokio::test]
async fn the_guard_of_rows_written_by_hand_is_not_asked_about_runs() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let refuse = "LANGUAGE plpgsql AS 'BEGIN RAISE ''the guard was asked''; END'";
    queue.sql(&format!("CREATE OR REPLACE FUNCTION worker_tasks_guard_status() RETURNS trigger {refuse}")).await;
    queue.sql(&format!("CREATE OR REPLACE FUNCTION worker_tasks_guard_pending() RETURNS trigger {refuse}")).await;
    for outcome in [AttemptOutcome::Released, AttemptOutcome::Completed] {
        queue.sweep_all().await;
        let task = queue.claim_one().await;
        assert!(tasks::start(&queue.client().await, &task.lease).await.unwrap());
        queue.settle(&task, &Settlement::new(outcome, None)).await.unwrap();
    }
}

fn completion(task: &ClaimedTask) -> tasks::Completion {
    tasks::Completion { lease: task.lease.clone(), result: json!({}), detail: json!({}) }
}

impl Queue {
    /// A person at psql has the row of a task locked, for as long as the answer lives.
    async fn lock_row(&self, id: TaskId) -> tokio_postgres::Client {
        let person = testkit::connect(&self.database.url).await;
        let lock = format!("BEGIN; SELECT FROM worker_tasks WHERE id = {id} FOR UPDATE");
        person.batch_execute(&lock).await.unwrap();
        person
    }
}

#[tokio::test]
async fn a_row_that_a_person_holds_delays_no_other_completion_and_no_claim() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    let claimed = queue.claim(&Role::CRAWL, 2).await;
    let person = queue.lock_row(made[0]).await;
    let batch = || ClaimBatch { done: claimed.iter().map(completion).collect(), ..asks(1) };
    let answer = tasks::settle_and_claim(&queue.client().await, &batch()).await.unwrap();
    assert_eq!((answer.settled, ids(&answer.claimed)), (made[1..2].to_vec(), made[2..].to_vec()));
    assert_eq!(queue.outcomes(made[0]).await, ["active"]);
    person.batch_execute("COMMIT").await.unwrap();
    let answer = tasks::settle_and_claim(&queue.client().await, &batch()).await.unwrap();
    assert_eq!(answer.settled, made[..1]);
}

#[tokio::test]
async fn a_settlement_waits_for_a_person_by_its_own_limit_and_not_by_that_of_its_session() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    let _person = queue.lock_row(id).await;
    let client = queue.client().await;
    client.batch("SET lock_timeout = 0; SET statement_timeout = 0").await.unwrap();
    let settled = tasks::settle(&client, &task.lease, &Settlement::new(AttemptOutcome::Completed, None)).await;
    assert!(matches!(settled, Err(DbError::Contention(_))), "{settled:?}");
}

#[tokio::test]
async fn a_row_that_a_person_holds_keeps_no_other_task_of_a_dead_worker() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    let leases: Vec<_> = queue.claim(&Role::CRAWL, 2).await.into_iter().map(|task| task.lease).collect();
    let _person = queue.lock_row(made[0]).await;
    let recovered = tasks::recover_held(&queue.client().await, &leases, Blame::NoTask).await.unwrap();
    assert_eq!(recovered.requeued, 1);
    assert_eq!(queue.claim_all().await, [made[1]]);
}
