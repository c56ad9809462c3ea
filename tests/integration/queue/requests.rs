//! Tasks changed by request: the changes that each status allows, their effect on the store, and that many at
//! once have one effect.

use contract::task_changes::TaskChange;
use db::tasks;
use db::tasks::{AttemptOutcome, ChangeError, Completion};
use domain::task::Status;
use domain::vocabulary::Word;
use futures_util::future::join_all;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

const AT_ONCE: usize = 50;
const SOON: Duration = Duration::from_secs(60);
const STOPPING: &str = "SELECT count(*) FROM stopping_runs";

fn completed() -> Settlement {
    Settlement::new(AttemptOutcome::Completed, None)
}

fn urgent(task: NewTask) -> NewTask {
    NewTask { priority: 20, ..task }
}

fn known(status: Status) -> Word<Status> {
    Word::Known(status)
}

fn change_of(change: Value) -> TaskChange {
    serde_json::from_value(change).unwrap()
}

/// How many of these changes were made.
fn made<T>(answers: &[Result<T, ChangeError>]) -> usize {
    answers.iter().filter(|answer| answer.is_ok()).count()
}

impl Queue {
    async fn cancel(&self, id: TaskId) -> Result<Word<Status>, ChangeError> {
        tasks::cancel(&self.client().await, id).await
    }

    async fn retry(&self, id: TaskId) -> Result<Word<Status>, ChangeError> {
        tasks::retry(&self.client().await, id).await
    }

    async fn delete(&self, id: TaskId) -> Result<Word<Status>, ChangeError> {
        tasks::delete(&self.client().await, id).await
    }

    async fn change(&self, id: TaskId, change: Value) -> Result<(), ChangeError> {
        tasks::change(&self.client().await, id, &change_of(change), None).await
    }

    /// A task that has just failed for good.
    async fn failed(&self, new: NewTask) -> ClaimedTask {
        let task = self.running(new).await;
        self.settle(&task, &Settlement::new(AttemptOutcome::Permanent, Some("why".to_owned()))).await.unwrap();
        task
    }

    async fn run_stopped(&self, task: &ClaimedTask) -> bool {
        tasks::run_stopped(&self.client().await, &task.lease).await.unwrap()
    }

    /// A task of a store that runs.
    async fn running(&self, new: NewTask) -> ClaimedTask {
        self.add(new).await;
        let task = self.claim_one().await;
        assert!(tasks::start(&self.client().await, &task.lease).await.unwrap());
        task
    }

    async fn status(&self, id: TaskId) -> Value {
        self.task(id).await["status"].clone()
    }

    /// Sessions of this database that wait for a lock.
    async fn waiting_sessions(&self) -> i64 {
        self.number(testkit::WAITING_FOR_LOCKS).await
    }
}

#[tokio::test]
async fn a_pending_task_is_cancelled_at_once_and_its_store_goes_to_the_next() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[NewTask { dedup_key: Some("k".to_owned()), ..fetch(1) }, refresh(1)]).await;
    assert_eq!(queue.cancel(made[0]).await.unwrap(), known(Status::Pending));
    let row = queue.task(made[0]).await;
    assert_eq!((&row["status"], &row["ready"], &row["dedup_key"]), (&json!("cancelled"), &json!(false), &Value::Null));
    assert!(row["completed_at"].is_string() && row["error_message"].is_string(), "{row}");
    assert_eq!(queue.number(STOPPING).await, 0);
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn a_running_task_that_is_cancelled_keeps_its_store_until_its_body_has_stopped() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let next = queue.add(refresh(1)).await;
    assert_eq!(queue.cancel(task.lease.id).await.unwrap(), known(Status::Running));
    assert_eq!(queue.status(task.lease.id).await, "cancelled");
    assert_eq!(queue.outcomes(task.lease.id).await, ["cancelled"]);
    let leases = std::slice::from_ref(&task.lease);
    assert!(tasks::renew(&queue.database.raw, &just_beaten(leases), LEASE).await.unwrap().is_empty());
    assert_eq!(tasks::lost(&queue.database.raw, leases).await.unwrap(), [task.lease.id], "the heartbeat stops it");

    queue.sweep_all().await;
    queue.sweep_due().await;
    let later = queue.add(urgent(refresh(1))).await;
    assert!(queue.claim_all().await.is_empty(), "the body still runs");

    assert!(queue.run_stopped(&task).await);
    assert_eq!(queue.claim_all().await, [later]);
    assert!(!queue.run_stopped(&task).await, "it is said once");
    assert_eq!(queue.status(next).await, "pending");
}

#[tokio::test]
async fn a_claimed_task_that_is_cancelled_before_it_begins_does_not_begin() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    assert_eq!(queue.cancel(id).await.unwrap(), known(Status::Claimed));
    assert!(!tasks::start(&queue.client().await, &task.lease).await.unwrap());
    assert!(queue.run_stopped(&task).await);
    assert_eq!(queue.number(STOPPING).await, 0);
}

#[tokio::test]
async fn a_store_is_free_when_the_lease_of_its_cancelled_run_would_have_run_out() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let next = queue.add(refresh(1)).await;
    queue.cancel(task.lease.id).await.unwrap();
    queue.sql("UPDATE stopping_runs SET lease_expires_at = now() + interval '1 hour'").await;
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    queue.sql("UPDATE stopping_runs SET lease_expires_at = now() - interval '1 second'").await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [next]);
    assert_eq!(queue.number(STOPPING).await, 0);
}

#[tokio::test]
async fn a_stale_task_that_is_cancelled_frees_its_store_at_once() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let next = queue.add(refresh(1)).await;
    queue.expire(task.lease.id).await;
    queue.cancel(task.lease.id).await.unwrap();
    assert_eq!(queue.claim_all().await, [next]);
}

#[tokio::test]
async fn a_body_that_completes_after_the_cancel_writes_nothing() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    queue.cancel(task.lease.id).await.unwrap();
    assert!(matches!(queue.settle(&task, &completed()).await, Err(DbError::Missing(_))));
    let done = vec![Completion { lease: task.lease.clone(), result: json!({}), detail: json!({}) }];
    let answer = tasks::settle_and_claim(&queue.client().await, &ClaimBatch { done, ..asks(0) }).await.unwrap();
    assert!(answer.settled.is_empty());
    assert_eq!(queue.status(task.lease.id).await, "cancelled");
    assert!(queue.run_stopped(&task).await);
}

#[tokio::test]
async fn only_the_run_that_was_cancelled_frees_the_store() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    queue.cancel(task.lease.id).await.unwrap();
    let mut other = task.clone();
    other.lease.fence += 1;
    assert!(!queue.run_stopped(&other).await);
    other = task.clone();
    other.lease.worker_id = "another worker".to_owned();
    assert!(!queue.run_stopped(&other).await);
    assert_eq!(queue.number(STOPPING).await, 1);
}

#[tokio::test]
async fn a_cancelled_task_stays_cancelled_and_an_ended_one_is_refused() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    queue.cancel(made[0]).await.unwrap();
    let first = queue.task(made[0]).await;
    assert_eq!(queue.cancel(made[0]).await.unwrap(), known(Status::Cancelled));
    assert_eq!(queue.task(made[0]).await, first);

    let task = queue.claim_one().await;
    queue.settle(&task, &completed()).await.unwrap();
    let refused = queue.cancel(made[1]).await.unwrap_err();
    assert!(matches!(&refused, ChangeError::Status { id, .. } if *id == made[1]), "{refused}");
    assert!(refused.to_string().contains("is completed"), "{refused}");
    assert!(matches!(queue.cancel(4711).await, Err(ChangeError::Missing(4711))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelled_many_times_at_once_it_is_cancelled_once() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let answers = join_all((0..AT_ONCE).map(|_| queue.cancel(task.lease.id))).await;
    let found: Vec<Word<Status>> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(found.iter().filter(|status| **status == known(Status::Running)).count(), 1);
    assert_eq!(found.iter().filter(|status| **status == known(Status::Cancelled)).count(), AT_ONCE - 1);
    assert_eq!(queue.number(STOPPING).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reservation_that_is_given_while_the_cancel_commits_is_taken_back() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let made = queue.enqueue(&[refresh(1), refresh(1)]).await;
    let person = testkit::connect(&queue.database.url).await;
    person.batch_execute(&format!("BEGIN; SELECT cancel_task({})", task.lease.id)).await.unwrap();
    // it chooses the store's other task while the running one has its reservation, and waits for that one's
    // end
    let db = queue.database.db.clone();
    let other = made[0];
    let giving = tokio::spawn(async move { tasks::cancel(&db.client().await.unwrap(), other).await });
    testkit::until("it waits", SOON, async || giving.is_finished() || queue.waiting_sessions().await == 1).await;
    person.batch_execute("COMMIT").await.unwrap();
    giving.await.unwrap().unwrap();
    assert!(queue.claim_all().await.is_empty(), "the cancelled body still runs");
    assert!(queue.run_stopped(&task).await);
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[rstest]
#[case::failed("failed")]
#[case::cancelled("cancelled")]
#[tokio::test]
async fn a_retried_task_begins_anew_and_keeps_its_history(#[case] ended: &str) {
    let queue = Queue::new().await;
    let id = match ended {
        "failed" => queue.failed(fetch(1)).await.lease.id,
        _ => {
            let task = queue.running(fetch(1)).await;
            queue.cancel(task.lease.id).await.unwrap();
            queue.run_stopped(&task).await;
            task.lease.id
        }
    };
    queue.sql("UPDATE worker_tasks SET retry_count = 3, loss_count = 2, crash_count = 1").await;
    assert_eq!(queue.retry(id).await.unwrap().to_string(), ended);
    let row = queue.task(id).await;
    assert_eq!(row["status"], "pending");
    for zero in ["retry_count", "loss_count", "crash_count"] {
        assert_eq!(row[zero], json!(0), "{zero}");
    }
    for null in ["worker_id", "completed_at", "claimed_at", "lease_expires_at", "error_message", "result"] {
        assert_eq!(row[null], Value::Null, "{null}");
    }
    assert_eq!(queue.outcomes(id).await, [ended]);
    let again = queue.claim_one().await;
    assert_eq!((again.lease.id, again.lease.fence), (id, 2));
    queue.settle(&again, &completed()).await.unwrap();
    assert_eq!(queue.outcomes(id).await, [ended, "completed"]);
}

#[tokio::test]
async fn a_cancelled_task_that_is_retried_waits_until_its_old_body_has_stopped() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    queue.cancel(task.lease.id).await.unwrap();
    queue.retry(task.lease.id).await.unwrap();
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    assert!(matches!(queue.settle(&task, &completed()).await, Err(DbError::Missing(_))));
    assert!(queue.run_stopped(&task).await);
    assert_eq!(queue.claim_all().await, [task.lease.id]);
}

#[tokio::test]
async fn only_a_failed_or_cancelled_task_is_retried() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let waiting = queue.add(fetch(1)).await;
    for (id, status) in [(task.lease.id, "running"), (waiting, "pending")] {
        let refused = queue.retry(id).await.unwrap_err();
        assert!(matches!(refused, ChangeError::Status { .. }) && refused.to_string().contains(status), "{refused}");
    }
    queue.settle(&task, &completed()).await.unwrap();
    assert!(matches!(queue.retry(task.lease.id).await, Err(ChangeError::Status { .. })));
    assert!(matches!(queue.retry(4711).await, Err(ChangeError::Missing(4711))));
}

#[rstest]
#[case::of_the_store(fetch(1), fetch(1))]
#[case::of_a_payload(NewTask { payload: json!({"payload_id": 9}), ..refresh(1) }, NewTask { payload: json!({"payload_id": 9}), ..refresh(1) })]
#[case::without_a_store(analytics(), analytics())]
#[tokio::test]
async fn a_task_whose_twin_is_open_is_not_retried(#[case] failed: NewTask, #[case] open: NewTask) {
    let queue = Queue::new().await;
    let id = queue.failed(failed).await.lease.id;
    let twin = queue.add(open).await;
    for status in ["pending", "claimed"] {
        assert_eq!(queue.status(twin).await, status);
        let refused = queue.retry(id).await.unwrap_err();
        assert!(matches!(refused, ChangeError::Duplicate { existing, .. } if existing == twin), "{refused}");
        assert_eq!((queue.status(id).await, queue.outcomes(id).await), (json!("failed"), vec!["failed".to_owned()]));
        queue.claim_all().await;
    }
    queue.cancel(twin).await.unwrap();
    queue.retry(id).await.unwrap();
}

#[rstest]
#[case::another_role(fetch(1), refresh(1))]
#[case::another_store(fetch(1), fetch(2))]
#[case::another_payload(NewTask { payload: json!({"payload_id": 9}), ..refresh(1) }, NewTask { payload: json!({"payload_id": 8}), ..refresh(1) })]
#[case::another_state(
    NewTask { payload: json!({"state_code": "AZ"}), ..NewTask::new(Role::StoreDiscovery) },
    NewTask { payload: json!({"state_code": "CA"}), ..NewTask::new(Role::StoreDiscovery) }
)]
#[tokio::test]
async fn other_open_work_does_not_keep_a_task_from_being_retried(#[case] failed: NewTask, #[case] open: NewTask) {
    let queue = Queue::new().await;
    let id = queue.failed(failed).await.lease.id;
    queue.add(open).await;
    queue.retry(id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn retried_many_times_at_once_it_is_retried_once() {
    let queue = Queue::new().await;
    let id = queue.failed(fetch(1)).await.lease.id;
    let answers = join_all((0..AT_ONCE).map(|_| queue.retry(id))).await;
    assert_eq!(made(&answers), 1);
    assert_eq!(queue.outcomes(id).await, ["failed"]);
    assert_eq!(queue.claim_all().await, [id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_twins_that_are_retried_at_once_one_is() {
    let queue = Queue::new().await;
    let mut failed = Vec::new();
    for _ in 0..8 {
        failed.push(queue.failed(fetch(1)).await.lease.id);
    }
    let answers = join_all(failed.iter().map(|id| queue.retry(*id))).await;
    assert_eq!(made(&answers), 1);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE status = 'pending'").await, 1);
}

#[tokio::test]
async fn an_urgent_task_that_is_retried_takes_the_reservation_over() {
    let queue = Queue::new().await;
    let id = queue.failed(urgent(fetch(1))).await.lease.id;
    queue.add(refresh(1)).await;
    queue.retry(id).await.unwrap();
    assert_eq!(queue.claim_all().await, [id]);
}

#[tokio::test]
async fn a_task_cancelled_for_its_dependency_runs_when_it_is_retried() {
    let queue = Queue::new().await;
    let first = queue.add(fetch(1)).await;
    let second = queue.add(NewTask { depends_on: vec![first], ..fetch(2) }).await;
    queue.cancel(first).await.unwrap();
    queue.sweep_all().await;
    assert_eq!(queue.status(second).await, "cancelled");
    queue.retry(second).await.unwrap();
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [second]);
}

#[tokio::test]
async fn a_retried_task_waits_for_a_dependency_that_is_open_again() {
    let queue = Queue::new().await;
    let first = queue.add(fetch(1)).await;
    let second = queue.add(NewTask { depends_on: vec![first], ..fetch(2) }).await;
    queue.cancel(first).await.unwrap();
    queue.sweep_all().await;
    queue.retry(first).await.unwrap();
    queue.retry(second).await.unwrap();
    queue.sweep_all().await;
    let task = queue.claim_one().await;
    assert_eq!(task.lease.id, first);
    assert!(queue.claim_all().await.is_empty());
    queue.settle(&task, &completed()).await.unwrap();
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [second]);
}

#[tokio::test]
async fn a_task_that_no_worker_has_is_deleted_with_its_runs_and_its_store_goes_to_the_next() {
    let queue = Queue::new().await;
    let ended = queue.failed(fetch(1)).await.lease.id;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    assert_eq!(queue.delete(ended).await.unwrap(), known(Status::Failed));
    assert!(queue.outcomes(ended).await.is_empty());
    assert_eq!(queue.delete(made[0]).await.unwrap(), known(Status::Pending));
    assert_eq!(queue.claim_all().await, [made[1]]);
    assert!(matches!(queue.delete(made[1]).await, Err(ChangeError::Status { .. })), "a worker has it");
    assert!(matches!(queue.delete(ended).await, Err(ChangeError::Missing(id)) if id == ended));
}

#[tokio::test]
async fn a_cancelled_task_that_is_deleted_keeps_its_store_until_its_body_has_stopped() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let next = queue.add(refresh(1)).await;
    queue.cancel(task.lease.id).await.unwrap();
    queue.delete(task.lease.id).await.unwrap();
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    queue.run_stopped(&task).await;
    assert_eq!(queue.claim_all().await, [next]);
}

#[tokio::test]
async fn a_task_that_others_wait_for_is_not_deleted_before_it_has_completed() {
    let queue = Queue::new().await;
    let first = queue.add(fetch(1)).await;
    let second = queue.add(NewTask { depends_on: vec![first], ..fetch(2) }).await;
    let refused = queue.delete(first).await.unwrap_err();
    assert!(matches!(refused, ChangeError::Depended { dependent, .. } if dependent == second), "{refused}");
    let task = queue.claim_one().await;
    queue.settle(&task, &completed()).await.unwrap();
    queue.delete(first).await.unwrap();
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [second]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deleted_many_times_at_once_it_is_deleted_once() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let answers = join_all((0..AT_ONCE).map(|_| queue.delete(id))).await;
    assert_eq!(made(&answers), 1);
    assert!(answers.iter().all(|answer| matches!(answer, Ok(_) | Err(ChangeError::Missing(_)))), "{answers:?}");
}

#[tokio::test]
async fn a_pending_task_that_becomes_more_urgent_takes_the_reservation_over() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    queue.change(made[1], json!({"priority": 5})).await.unwrap();
    assert_eq!(queue.claim_all().await, [made[1]]);
    assert_eq!(queue.task(made[1]).await["priority"], 5);
}

#[tokio::test]
async fn a_pending_task_that_becomes_less_urgent_gives_the_reservation_up() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    queue.change(made[0], json!({"priority": -5})).await.unwrap();
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn a_pending_task_is_put_off_and_brought_forward() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1), analytics()]).await;
    let later = foundation::clock::Clock::system().utc() + chrono::TimeDelta::days(300);
    for id in [made[0], made[2]] {
        queue.change(id, json!({ "scheduled_for": later })).await.unwrap();
    }
    assert_eq!(queue.claim_all().await, [made[1]]);
    queue.change(made[2], json!({"scheduled_for": null})).await.unwrap();
    assert_eq!(queue.claim_all().await, [made[2]]);
    assert_eq!(queue.task(made[0]).await["priority"], 0, "what is not named stays");
}

#[tokio::test]
async fn only_a_pending_task_is_changed_and_only_within_the_bounds() {
    let queue = Queue::new().await;
    let task = queue.running(fetch(1)).await;
    let refused = queue.change(task.lease.id, json!({"priority": 5})).await.unwrap_err();
    assert!(matches!(refused, ChangeError::Status { .. }), "{refused}");
    assert!(matches!(queue.change(4711, json!({"priority": 5})).await, Err(ChangeError::Missing(4711))));
    let refused = queue.change(task.lease.id, json!({"priority": 5000})).await.unwrap_err();
    assert!(matches!(&refused, ChangeError::Bad(bad) if bad.field == "priority"), "{refused}");
}

#[tokio::test]
async fn of_two_changes_of_one_version_the_second_is_refused() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let client = queue.client().await;
    let read = tasks::views::get(&client, id).await.unwrap().unwrap().updated_at;
    tasks::change(&client, id, &change_of(json!({"priority": 5})), Some(read)).await.unwrap();
    let refused = tasks::change(&client, id, &change_of(json!({"priority": 6})), Some(read)).await.unwrap_err();
    assert!(matches!(refused, ChangeError::Changed { .. }), "{refused}");
    let read = tasks::views::get(&client, id).await.unwrap().unwrap().updated_at;
    tasks::change(&client, id, &change_of(json!({"priority": 7})), Some(read)).await.unwrap();
    assert_eq!(queue.task(id).await["priority"], 7);
}

#[tokio::test]
async fn people_at_psql_change_tasks_by_the_same_functions() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    let change = r#"'{"priority": 7}'"#;
    queue.sql(&format!("SELECT * FROM change_task({}, {change})", made[1])).await;
    queue.sql(&format!("SELECT * FROM cancel_task({})", made[0])).await;
    queue.sql(&format!("SELECT * FROM retry_task({})", made[0])).await;
    queue.sql(&format!("SELECT * FROM delete_task({})", made[0])).await;
    assert_eq!(queue.claim_all().await, [made[1]]);
}
