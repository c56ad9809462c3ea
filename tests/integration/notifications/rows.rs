//! Which ends of jobs have notifications: the ones that a rule asks for, each once, in the transaction that ends the job.

use std::time::Duration;

use db::tasks::{self, AttemptOutcome, ClaimBatch, Completion, NewTask, Settlement};
use domain::task::TaskId;
use domain::task::role::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::queue::{Queue, asks, fetch};

fn job(role: Role) -> NewTask {
    NewTask { platform: Some("site".to_owned()), account: Some("ann".to_owned()), ..NewTask::new(role) }
}

impl Queue {
    /// An endpoint with the id 1, and a rule of it.
    async fn rule(&self, events: &str, filter: &str) {
        self.sql(&format!(
            "INSERT INTO notification_endpoints (id, name, kind, target) VALUES (1, 'phone', 'ntfy', 'https://ntfy.example/a');
             INSERT INTO notification_rules (endpoint_id, events, job_type, platform, account) VALUES (1, '{events}', {filter})"
        ))
        .await;
    }

    async fn rule_of_all(&self) {
        self.rule("{job.completed,job.failed}", "NULL, NULL, NULL").await;
    }

    /// Runs a task up to this end.
    async fn end(&self, task: NewTask, how: AttemptOutcome) -> TaskId {
        let id = self.add(task.clone()).await;
        let claimed = self.claim(&[task.role], 1).await.pop().unwrap();
        let settlement =
            Settlement { result: Some(json!({"new": 3})), ..Settlement::new(how, Some("away".to_owned())) };
        self.settle(&claimed, &settlement).await.unwrap();
        id
    }

    /// Event and subject of each notification.
    async fn told(&self) -> Vec<(String, String)> {
        let rows = self.database.raw.query("SELECT event, subject FROM notifications ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    async fn senders(&self) -> Vec<Value> {
        let sql = "SELECT payload FROM worker_tasks WHERE role = 'notify' AND status = 'pending' AND ready ORDER BY id";
        self.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

fn failed(id: TaskId, run: i64) -> (String, String) {
    ("job.failed".to_owned(), format!("{id}:{run}"))
}

fn completed(id: TaskId, run: i64) -> (String, String) {
    ("job.completed".to_owned(), format!("{id}:{run}"))
}

#[tokio::test]
async fn without_rules_there_are_no_notifications_and_no_sender() {
    let queue = Queue::new().await;
    queue.end(job(Role::DownloadMedia), AttemptOutcome::Permanent).await;
    assert_eq!((queue.told().await, queue.senders().await), (vec![], vec![]));
}

#[tokio::test]
async fn a_failed_and_a_completed_job_are_told_by_one_sender() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let away = queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    let done = queue.end(job(Role::DownloadMedia), AttemptOutcome::Completed).await;
    assert_eq!(queue.told().await, [failed(away, 1), completed(done, 1)]);
    assert_eq!(queue.senders().await, [json!({"endpoint_id": 1})]);
    let row =
        queue.database.raw.query_one("SELECT body FROM notifications WHERE event = 'job.failed'", &[]).await.unwrap();
    let body: Value = row.get(0);
    let expected = json!({"id": away, "job_type": "scrape_account", "platform": "site", "account": "ann", "status": "failed",
                          "error_message": "away", "result": {"new": 3}, "result_is_cut": false});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&body[field], value, "{field}");
    }
    assert!(body["completed_at"].is_string() && body["created_at"].is_string(), "{body}");
}

#[rstest]
#[case::every_job("'job.failed'", "NULL, NULL, NULL", true)]
#[case::its_type("'job.failed'", "'scrape_account', NULL, NULL", true)]
#[case::another_type("'job.failed'", "'download_media', NULL, NULL", false)]
#[case::its_platform("'job.failed'", "NULL, 'site', NULL", true)]
#[case::another_platform("'job.failed'", "NULL, 'elsewhere', NULL", false)]
#[case::its_account("'job.failed'", "NULL, NULL, 'ann'", true)]
#[case::another_account("'job.failed'", "NULL, 'site', 'bea'", false)]
#[case::another_event("'job.completed'", "NULL, NULL, NULL", false)]
#[tokio::test]
async fn a_rule_chooses_jobs(#[case] event: &str, #[case] filter: &str, #[case] is_told: bool) {
    let queue = Queue::new().await;
    queue.rule(&format!("{{{}}}", event.trim_matches('\'')), filter).await;
    queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    assert_eq!(queue.told().await.len(), usize::from(is_told));
}

#[tokio::test]
async fn two_rules_of_an_endpoint_tell_it_once() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    queue.sql("INSERT INTO notification_rules (endpoint_id, events, job_type) VALUES (1, '{job.failed}', 'scrape_account')").await;
    let id = queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    assert_eq!(queue.told().await, [failed(id, 1)]);
}

#[rstest]
#[case::a_retry(AttemptOutcome::Failed)]
#[case::a_wait(AttemptOutcome::Snoozed)]
#[case::a_cancel(AttemptOutcome::Cancelled)]
#[case::a_stopped_worker(AttemptOutcome::Released)]
#[tokio::test]
async fn what_is_no_end_and_no_failure_is_not_told(#[case] how: AttemptOutcome) {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    queue.end(job(Role::ScrapeAccount), how).await;
    assert_eq!(queue.told().await, []);
}

#[rstest]
#[case::a_crawl(fetch(1))]
#[case::a_sender(NewTask { payload: json!({"endpoint_id": 1}), ..NewTask::new(Role::Notify) })]
#[tokio::test]
async fn a_task_that_is_no_job_is_never_told(#[case] task: NewTask) {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    queue.end(task.clone(), AttemptOutcome::Permanent).await;
    queue.end(task, AttemptOutcome::Completed).await;
    assert_eq!(queue.told().await, []);
}

#[tokio::test]
async fn a_job_that_used_up_its_retries_or_was_ended_by_hand_is_told() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let last = queue.end(NewTask { max_retries: Some(0), ..job(Role::ScrapeAccount) }, AttemptOutcome::Failed).await;
    let by_hand = queue.add(job(Role::DownloadMedia)).await;
    queue.sql(&format!("UPDATE worker_job_queue SET status = 'failed' WHERE id = {by_hand}")).await;
    assert_eq!(queue.told().await, [failed(last, 1), failed(by_hand, 0)]);
}

#[tokio::test]
async fn a_job_that_completes_with_a_claim_is_told() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let id = queue.add(job(Role::YoutubeMonitor)).await;
    let task = queue.claim(&[Role::YoutubeMonitor], 1).await.pop().unwrap();
    let done = vec![Completion { lease: task.lease, result: json!({}), detail: Value::Null }];
    queue.settle_and_claim(ClaimBatch { done, ..asks(0) }).await;
    assert_eq!(queue.told().await, [completed(id, 1)]);
}

#[tokio::test]
async fn a_job_in_quarantine_is_told() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let id = queue.add(job(Role::DownloadMedia)).await;
    queue.sql("UPDATE worker_tasks SET loss_count = 2, crash_count = 2").await;
    let batch = ClaimBatch { roles: vec![Role::DownloadMedia], ..asks(1) };
    let task = queue.settle_and_claim(batch).await.pop().unwrap();
    let counts = queue.lose(&task).await;
    assert_eq!((counts.failed, queue.told().await), (1, vec![failed(id, 1)]));
}

#[tokio::test]
async fn a_job_that_is_retried_by_hand_is_told_of_each_end() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let id = queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    tasks::retry(&queue.client().await, id).await.unwrap();
    let again = queue.claim(&[Role::ScrapeAccount], 1).await.pop().unwrap();
    queue.settle(&again, &Settlement::new(AttemptOutcome::Permanent, None)).await.unwrap();
    assert_eq!(queue.told().await, [failed(id, 1), failed(id, 2)]);
}

#[tokio::test]
async fn a_job_of_any_size_has_a_notification_within_its_limit() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let wide = NewTask { account: Some("\u{1}".repeat(9000)), ..job(Role::ScrapeAccount) };
    queue.add(wide).await;
    let task = queue.claim(&[Role::ScrapeAccount], 1).await.pop().unwrap();
    let settlement = Settlement {
        result: Some(json!({"text": "x".repeat(100_000)})),
        ..Settlement::new(AttemptOutcome::Permanent, Some("\u{1}".repeat(8000)))
    };
    queue.settle(&task, &settlement).await.unwrap();
    let row =
        queue.database.raw.query_one("SELECT body, octet_length(body::text) FROM notifications", &[]).await.unwrap();
    let (body, bytes): (Value, i32) = (row.get(0), row.get(1));
    assert!(bytes <= 20_480, "{bytes}");
    assert_eq!((&body["result"], &body["result_is_cut"]), (&Value::Null, &json!(true)));
}

#[tokio::test]
async fn a_disabled_endpoint_gets_nothing_and_goes_on_when_it_is_enabled() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    let before = queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    queue.sql("DELETE FROM worker_tasks WHERE role = 'notify'; UPDATE notification_endpoints SET enabled = false, disabled_reason = 'gone'").await;
    queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    queue.sweep_all().await;
    assert_eq!((queue.told().await, queue.senders().await), (vec![failed(before, 1)], vec![]));

    queue.sql("UPDATE notification_endpoints SET enabled = true").await;
    queue.sweep_all().await;
    assert_eq!(queue.senders().await, [json!({"endpoint_id": 1})]);
    assert_eq!(queue.number("SELECT count(*) FROM notification_endpoints WHERE disabled_reason IS NULL").await, 1);
}

#[tokio::test]
async fn a_sender_that_is_retried_by_hand_is_the_only_one_of_its_endpoint() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    let sender = queue.claim(&[Role::Notify], 1).await.pop().unwrap();
    queue.settle(&sender, &Settlement::new(AttemptOutcome::Permanent, None)).await.unwrap();
    tasks::retry(&queue.client().await, sender.lease.id).await.unwrap();
    queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    queue.sweep_all().await;
    assert_eq!(queue.senders().await, [json!({"endpoint_id": 1})]);
}

#[tokio::test]
async fn a_sender_that_was_deleted_is_made_again() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    queue.end(job(Role::ScrapeAccount), AttemptOutcome::Permanent).await;
    queue.sql("DELETE FROM worker_tasks WHERE role = 'notify'").await;
    queue.sweep_all().await;
    assert_eq!(queue.senders().await, [json!({"endpoint_id": 1})]);
}

#[tokio::test]
async fn ended_notifications_are_removed_when_their_time_is_over() {
    let queue = Queue::new().await;
    queue.rule_of_all().await;
    queue
        .sql(
            "INSERT INTO notifications (endpoint_id, event, subject, body, state, ended_at)
             SELECT 1, 'job.failed', s.state || s.days, '{}', s.state, now() - make_interval(days => s.days)
               FROM (VALUES ('delivered', 29), ('delivered', 31), ('failed', 31), ('failed', 91)) AS s(state, days);
             INSERT INTO notifications (endpoint_id, event, subject, body, created_at)
             VALUES (1, 'job.failed', 'pending', '{}', now() - interval '1 year')",
        )
        .await;
    let days = |days: u64| Duration::from_secs(days * 86_400);
    let removed = db::notifications::prune(&queue.client().await, days(30), days(90), 10).await.unwrap();
    let left: Vec<String> = queue.told().await.into_iter().map(|(_, subject)| subject).collect();
    assert_eq!((removed, left), (2, ["delivered29", "failed31", "pending"].map(str::to_owned).to_vec()));
}
