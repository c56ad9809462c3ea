//! One action on many tasks: counted, done at once, or worked off in batches that survive their process.

use contract::operations::{BulkAnswer, BulkRequest, Operation};
use db::tasks;
use db::tasks::operations::BulkError;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

impl Queue {
    async fn bulk(&self, request: Value) -> Result<BulkAnswer, BulkError> {
        let request: BulkRequest = serde_json::from_value(request).unwrap();
        let tx = self.database.db.begin().await.unwrap();
        let answer = tasks::operations::bulk(&tx, &request, Some("a test")).await;
        tx.commit().await.unwrap();
        answer
    }

    async fn operation(&self, id: i64) -> Operation {
        tasks::operations::get(&self.client().await, id).await.unwrap().unwrap()
    }

    async fn with_status(&self, status: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM worker_tasks WHERE status = '{status}'")).await
    }

    /// Processes all operations to their end.
    async fn run_operations(&self) -> usize {
        let mut done = 0;
        while let Some(batch) = tasks::operations::run_batch(&self.database.db).await.unwrap() {
            done += batch.done;
        }
        done
    }
}

fn started(answer: Result<BulkAnswer, BulkError>) -> Operation {
    match answer.unwrap() {
        BulkAnswer::Started(operation) => *operation,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_dry_run_counts_and_changes_nothing() {
    let queue = Queue::new().await;
    queue.failures(5).await;
    queue.enqueue(&[refresh(1), refresh(2)]).await;
    let request = json!({"action": "retry", "filter": {"role": "payload_fetch,product_refresh"}, "dry_run": true});
    let answer = serde_json::to_value(queue.bulk(request).await.unwrap()).unwrap();
    assert_eq!(answer, json!({"matched": 7, "eligible": 5}));
    assert_eq!(queue.with_status("failed").await, 5);
}

#[rstest]
#[case::retry("retry", "failed", "pending")]
#[case::cancel("cancel", "pending", "cancelled")]
#[tokio::test]
async fn few_tasks_are_changed_at_once(#[case] action: &str, #[case] was: &str, #[case] becomes: &str) {
    let queue = Queue::new().await;
    queue.failures(3).await;
    queue.enqueue(&[refresh(11), refresh(12), refresh(13)]).await;
    let answer = queue.bulk(json!({"action": action, "filter": {"status": was}})).await.unwrap();
    assert_eq!(serde_json::to_value(answer).unwrap(), json!({"done": 3, "failed": []}));
    let changed = format!(
        "SELECT count(*) FROM worker_tasks WHERE status = '{becomes}' AND (dispensary_id > 10) = ('{action}' = 'cancel')"
    );
    assert_eq!(queue.number(&changed).await, 3);
}

#[tokio::test]
async fn what_cannot_be_changed_is_named_with_its_reason_and_holds_up_no_other() {
    let queue = Queue::new().await;
    queue.failures(2).await;
    let twin = queue.add(fetch(1)).await;
    let made = queue.enqueue(&[refresh(5)]).await;
    let answer = queue.bulk(json!({"action": "retry", "ids": [1, 2, made[0], 4711]})).await.unwrap();
    let BulkAnswer::Done { done, failed } = answer else { panic!("{answer:?}") };
    assert_eq!(done, 1);
    let reasons: Vec<(TaskId, &str)> = failed.iter().map(|failure| (failure.id, failure.reason.as_str())).collect();
    let twin = format!("task {twin} does the same and is queued or running already");
    let expected =
        [(1, twin.as_str()), (made[0], "it is pending, which retry does not change"), (4711, "it does not exist")];
    assert_eq!(reasons, expected);
}

#[tokio::test]
async fn a_task_that_a_person_has_locked_does_not_hold_a_bulk_change_up() {
    let queue = Queue::new().await;
    queue.failures(2).await;
    queue.sql("BEGIN; SELECT FROM worker_tasks WHERE id = 1 FOR UPDATE").await;
    let answer = queue.bulk(json!({"action": "retry", "filter": {"status": "failed"}})).await.unwrap();
    let BulkAnswer::Done { done, failed } = answer else { panic!("{answer:?}") };
    assert_eq!((done, failed[0].id), (1, 1));
    queue.sql("COMMIT").await;
}

#[tokio::test]
async fn pending_tasks_get_another_priority_and_their_stores_follow() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1), fetch(2), refresh(2)]).await;
    let request = json!({"action": "reprioritize", "filter": {"role": "product_refresh"}, "priority": 30});
    queue.bulk(request).await.unwrap();
    assert_eq!(queue.claim_all().await, [made[1], made[3]]);
}

#[tokio::test]
async fn a_wrong_bulk_request_is_refused() {
    let queue = Queue::new().await;

    let cases: [(Value, &str); 7] = [
        (json!({"action": "delete", "filter": {}}), "filter"),
        (json!({"action": "delete"}), "filter"),
        (json!({"action": "delete", "filter": {"q": ""}}), "filter"),
        (json!({"action": "delete", "ids": []}), "ids"),
        (json!({"action": "delete", "ids": [1], "filter": {"status": "failed"}}), "ids"),
        (json!({"action": "reprioritize", "ids": [1]}), "priority"),
        (json!({"action": "retry", "ids": [1], "priority": 5}), "priority"),
    ];
    for (request, field) in cases {
        println!("{request}");
        let refused = queue.bulk(request).await.unwrap_err();
        assert!(matches!(&refused, BulkError::Bad(bad) if bad.field == field), "{refused}");
    }
}

#[tokio::test]
async fn many_tasks_become_an_operation_that_leaves_later_tasks_alone() {
    let queue = Queue::new().await;
    queue.failures(2500).await;
    let filter = json!({"status": "failed", "error": "no answer"});
    let operation = started(queue.bulk(json!({"action": "retry", "filter": filter})).await);
    assert_eq!((operation.state.as_str(), operation.matched, operation.done), ("running", 2500, 0));
    assert_eq!(operation.created_by.as_deref(), Some("a test"));
    queue.sql("INSERT INTO worker_tasks (role, status, error_message) VALUES ('analytics_refresh', 'failed', 'no answer')").await;
    assert_eq!(queue.run_operations().await, 2500);
    let ended = queue.operation(operation.id).await;
    assert_eq!((ended.state.as_str(), ended.done, ended.failed), ("completed", 2500, 0));
    assert!(ended.ended_at.is_some());
    assert_eq!((queue.with_status("pending").await, queue.with_status("failed").await), (2500, 1));
}

#[tokio::test]
async fn an_operation_goes_on_where_a_dead_process_left_it() {
    let queue = Queue::new().await;
    queue.failures(2500).await;
    let operation = started(queue.bulk(json!({"action": "delete", "filter": {"status": "failed"}})).await);
    let first = tasks::operations::run_batch(&queue.database.db).await.unwrap().unwrap();
    // a process that dies in the middle of a batch: its session ends without a commit
    let dying = testkit::connect(&queue.database.url).await;
    dying
        .batch_execute(&format!(
            "BEGIN; SELECT FROM operations WHERE id = {0} FOR UPDATE; \
             UPDATE operations SET below = 0, done = 4711 WHERE id = {0}; DELETE FROM worker_tasks WHERE id <= 100",
            operation.id
        ))
        .await
        .unwrap();
    assert_eq!(tasks::operations::run_batch(&queue.database.db).await.unwrap(), None, "another process has it");
    drop(dying);
    testkit::until("its locks are gone", Duration::from_secs(60), async || {
        tasks::operations::run_batch(&queue.database.db).await.unwrap().is_some()
    })
    .await;
    queue.run_operations().await;
    let ended = queue.operation(operation.id).await;
    assert_eq!((ended.state.as_str(), ended.done, ended.failed), ("completed", 2500, 0));
    assert!(first.done > 0 && queue.number("SELECT count(*) FROM worker_tasks").await == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_processes_change_each_task_of_an_operation_once() {
    let queue = Queue::new().await;
    queue.failures(3000).await;
    let operation = started(queue.bulk(json!({"action": "retry", "filter": {"status": "failed"}})).await);
    let done = futures_util::future::join_all((0..4).map(|_| queue.run_operations())).await;
    testkit::until("it is complete", Duration::from_secs(60), async || {
        queue.run_operations().await;
        queue.operation(operation.id).await.state == "completed"
    })
    .await;
    assert!(done.iter().sum::<usize>() <= 3000);
    let ended = queue.operation(operation.id).await;
    assert_eq!((ended.done, ended.failed), (3000, 0));
}

#[tokio::test]
async fn an_operation_keeps_the_reasons_of_its_first_failures() {
    let queue = Queue::new().await;
    queue.failures(1300).await;
    queue.enqueue(&(1..=150).map(fetch).collect::<Vec<_>>()).await;
    let operation = started(queue.bulk(json!({"action": "retry", "filter": {"status": "failed"}})).await);
    queue.run_operations().await;
    let ended = queue.operation(operation.id).await;
    assert_eq!((ended.done, ended.failed, ended.failures.len()), (1150, 150, 100));
    assert!(ended.failures[0].reason.contains("does the same"), "{:?}", ended.failures[0]);
}

#[tokio::test]
async fn an_operation_that_cannot_be_read_fails_and_holds_up_no_other() {
    let queue = Queue::new().await;
    queue.failures(1100).await;
    queue
        .sql("INSERT INTO operations (action, filter, matched, below) VALUES ('delete', '{\"of_a_newer_program\": 1}', 1, 5000)")
        .await;
    let operation = started(queue.bulk(json!({"action": "delete", "filter": {"status": "failed"}})).await);
    queue.run_operations().await;
    assert_eq!(queue.operation(operation.id).await.state, "completed");
    let broken = queue.operation(operation.id - 1).await;
    assert_eq!(broken.state, "failed");
    assert!(broken.error.is_some_and(|error| error.contains("of_a_newer_program")));
}

#[tokio::test]
async fn an_operation_tells_how_many_tasks_were_gone_before_their_turn() {
    let queue = Queue::new().await;
    queue.failures(1_200).await;
    let operation = started(queue.bulk(json!({"action": "retry", "filter": {"status": "failed"}})).await);
    queue.sql("DELETE FROM worker_tasks WHERE id % 4 = 0").await;
    assert_eq!(queue.operation(operation.id).await.gone, 0, "nothing is known before its end");
    let done = queue.run_operations().await as i64;
    let ended = queue.operation(operation.id).await;
    assert_eq!((ended.done, ended.failed, ended.gone), (done, 0, 1_200 - done));
    assert!(ended.gone > 0);
}
