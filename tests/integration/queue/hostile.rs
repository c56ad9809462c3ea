//! Unusual rows: infinite and far dates, numbers at the ends of their types, documents that cannot be
//! decoded. One bad row never fails a batch.

use contract::stores::StoreFilter;
use contract::tasks::{RecoveryCounts, TaskFilter};
use db::tasks::views::counts;
use db::tasks::{AttemptOutcome, Settlement};
use db::{hosts, payloads, schedules, schema, stores, tasks, workers};
use domain::store::Platform;
use rstest::rstest;
use serde_json::json;

use super::*;

impl Queue {
    /// Runs a statement by drover's own rules: no trigger corrects the writes.
    async fn unguarded(&self, statement: &str) {
        self.sql(&format!("SET xmlbinary = hex; {statement}; RESET xmlbinary")).await;
    }
}

#[rstest]
#[case::parked("scheduled_for = 'infinity'")]
#[case::since_ever("scheduled_for = '-infinity'")]
#[case::the_last_year("scheduled_for = '294276-12-31'")]
#[case::made_in_the_future("created_at = 'infinity'")]
#[case::made_before_time("created_at = '-infinity'")]
#[case::made_in_the_last_year("created_at = '294276-12-31'")]
#[case::the_largest_fence("fence = 9223372036854775807")]
#[case::the_largest_priority("priority = 2147483647")]
#[case::the_smallest_priority("priority = -2147483648")]
#[case::many_losses("loss_count = 2147483647")]
#[case::a_number_beyond_f64("payload = '{\"n\": 1e400}'")]
#[case::many_levels("payload = (repeat('[', 3000) || repeat(']', 3000))::jsonb")]
#[tokio::test]
async fn a_claim_goes_past_a_row_with(#[case] odd: &str) {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    queue.unguarded(&format!("UPDATE worker_tasks SET {odd}, ready = true WHERE id = {}", made[0])).await;
    let claimed = queue.claim_all().await;
    assert!(claimed.contains(&made[1]) && claimed.contains(&made[2]), "{claimed:?} of {made:?}");
    assert!(queue.claim(&Role::CRAWL, 3).await.is_empty());
}

#[rstest]
#[case::that_cannot_be_claimed("fence = 9223372036854775807", "cannot be claimed")]
#[case::that_cannot_be_read("payload = '{\"n\": 1e400}'", "cannot be read")]
#[tokio::test]
async fn a_task_fails_with_its_reason_and_frees_its_store(#[case] odd: &str, #[case] reason: &str) {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    queue.unguarded(&format!("UPDATE worker_tasks SET {odd} WHERE id = {}", made[0])).await;
    assert!(queue.claim_all().await.is_empty());
    let sql = "SELECT status, error_message FROM worker_tasks WHERE id = $1";
    let row = queue.database.raw.query_one(sql, &[&made[0]]).await.unwrap();
    let (status, error): (String, String) = (row.get(0), row.get(1));
    assert_eq!(status, "failed");
    assert!(error.contains(reason), "{error}");
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn what_is_done_is_completed_although_another_row_cannot_be_claimed() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    let lease = queue.claim_one().await.lease;
    queue.unguarded(&format!("UPDATE worker_tasks SET fence = 9223372036854775807 WHERE id = {}", made[1])).await;
    let done = vec![tasks::Completion { lease, result: json!({}), detail: json!({}) }];
    let answer = tasks::settle_and_claim(&queue.client().await, &ClaimBatch { done, ..asks(1) }).await.unwrap();
    assert_eq!(answer.settled, made[..1]);
    assert!(answer.claimed.is_empty());
}

#[rstest]
#[case::parked("scheduled_for = 'infinity'")]
#[case::many_losses("loss_count = 2147483647, crash_count = 1")]
#[case::blocked("blocked = true")]
#[case::no_lease("lease_expires_at = NULL")]
#[case::a_lease_for_ever("lease_expires_at = 'infinity'")]
#[case::a_lease_of_the_past("lease_expires_at = '-infinity', last_heartbeat_at = '-infinity'")]
#[tokio::test]
async fn a_recovery_goes_past_a_row_with(#[case] odd: &str) {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[analytics(), analytics()]).await;
    queue.claim_all().await;
    queue.unguarded("UPDATE worker_tasks SET status = 'running', lease_expires_at = now() - interval '1 second'").await;
    queue.unguarded(&format!("UPDATE worker_tasks SET {odd} WHERE id = {}", made[0])).await;
    let recovered = tasks::recover(&queue.client().await, None).await.unwrap();
    assert_eq!(recovered.requeued + recovered.failed, 2);
    assert_eq!(queue.task(made[1]).await["status"], json!("pending"));
}

#[tokio::test]
async fn a_task_that_cannot_be_put_back_fails_and_the_others_come_back() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[analytics(), analytics(), analytics()]).await;
    queue.claim_all().await;
    queue.unguarded("UPDATE worker_tasks SET status = 'running', lease_expires_at = now() - interval '1 second'").await;
    queue
        .sql(&format!(
            "ALTER TABLE worker_tasks ADD CONSTRAINT refuse CHECK (id <> {} OR status <> 'pending') NOT VALID",
            made[1]
        ))
        .await;
    assert_eq!(tasks::recover(&queue.client().await, None).await.unwrap(), RecoveryCounts { requeued: 2, failed: 1 });
    assert_eq!(queue.task(made[1]).await["status"], json!("failed"));
}

#[rstest]
#[case::of_a_store("NOT ready", Some(1), false)]
#[case::of_no_store("NOT ready", None, false)]
#[case::that_waited("blocked", None, true)]
#[case::that_cannot_even_fail("false", Some(1), false)]
#[tokio::test]
async fn a_sweep_goes_past_a_task(#[case] allowed: &str, #[case] store: Option<StoreId>, #[case] is_blocked: bool) {
    let queue = Queue::new().await;
    let depends_on = if is_blocked { "'{0}'" } else { "NULL" };
    let insert = format!(
        "INSERT INTO worker_tasks (role, dispensary_id, depends_on) \
         SELECT 'analytics_refresh', $1::bigint + n, {depends_on} FROM generate_series(1, 12) n RETURNING id"
    );
    let rows = queue.database.raw.query(&insert, &[&store]).await.unwrap();
    let bad: i64 = rows[2].get(0);
    let constraint = format!("id <> {bad} OR status = 'failed' AND {} OR {allowed}", allowed != "false");
    queue.sql(&format!("ALTER TABLE worker_tasks ADD CONSTRAINT refuse CHECK ({constraint}) NOT VALID")).await;
    queue.sweep_all().await;
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE ready").await, 11);
    let expected = if allowed == "false" { "pending" } else { "failed" };
    assert_eq!(queue.task(bad).await["status"], json!(expected));
}

#[rstest]
#[case::released(AttemptOutcome::Released)]
#[case::failed(AttemptOutcome::Failed)]
#[tokio::test]
async fn a_running_task_that_was_put_off_by_hand_waits_when_it_comes_back(#[case] outcome: AttemptOutcome) {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    let task = queue.claim_one().await;
    queue.sql("UPDATE worker_tasks SET scheduled_for = 'infinity'").await;
    queue.settle(&task, &Settlement::new(outcome, None)).await.unwrap();
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    assert_eq!(queue.task(id).await["scheduled_for"], json!("infinity"));
}

#[tokio::test]
async fn the_first_loss_of_a_task_that_was_put_off_by_hand_does_not_bring_it_forward() {
    let queue = Queue::new().await;
    queue.add(analytics()).await;
    let task = queue.claim_one().await;
    queue.sql("UPDATE worker_tasks SET scheduled_for = now() + interval '1 hour'").await;
    queue.lose(&task).await;
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
}

const TASK_TIMES: [&str; 8] = [
    "scheduled_for",
    "created_at",
    "updated_at",
    "claimed_at",
    "started_at",
    "completed_at",
    "last_heartbeat_at",
    "lease_expires_at",
];

#[rstest]
#[tokio::test]
async fn people_see_a_task_whatever_its_times_and_documents_are(
    #[values("-infinity", "infinity", "294276-12-31", "4713-01-01 BC")] time: &str,
) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.claim_one().await;
    let set: Vec<String> = TASK_TIMES.iter().map(|column| format!("{column} = '{time}'")).collect();
    let documents = "payload = '{\"n\": 1e400}', result = '1e400', detail = '1e400'";
    queue.unguarded(&format!("UPDATE worker_tasks SET {}, {documents}", set.join(", "))).await;
    let client = queue.client().await;
    let shown = tasks::views::list(&client, &TaskFilter::default(), 10).await.unwrap();
    assert_eq!(shown.len(), 1);
    assert_eq!(tasks::views::detail(&client, id).await.unwrap().unwrap().attempts.len(), 1);
    queue.unguarded("UPDATE worker_tasks SET status = 'pending', ready = true").await;
    assert_eq!(counts::ready(&client).await.unwrap().len(), 1);
}

/// Every time in the database is `time`.
async fn write_times(queue: &Queue, time: &str) {
    let columns = "SELECT table_name::text, column_name::text \
                   FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) \
                   WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'timestamp with time zone'";
    for row in queue.database.raw.query(columns, &[]).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        queue.sql(&format!("UPDATE {table} SET {column} = '{time}'")).await;
    }
}

#[rstest]
#[tokio::test]
async fn lists_show_rows_whatever_their_times_are(
    #[values("-infinity", "infinity", "294276-12-31", "4713-01-01 BC")] time: &str,
) {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    queue
        .sql(&format!(
            "INSERT INTO raw_crawl_payloads (dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage,
                                             fetched_at)
             VALUES ({store}, 'dutchie', 'payloads/x', repeat('0', 64), 1, 1, 1, 1, now());
             INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
             VALUES ('w', 'w', 'p', 'any', '{{}}', 'active', 1);
             INSERT INTO rotating_values (platform, name, value) VALUES ('dutchie', 'q', repeat('0', 64));
             INSERT INTO task_totals (role, status, tasks, as_of) VALUES ('payload_fetch', 'completed', 7, now())"
        ))
        .await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    write_times(&queue, time).await;
    let client = queue.client().await;
    assert!(schema::migrate::status(&queue.database.db).await.unwrap().is_current());
    assert_eq!(counts::counts(&client).await.unwrap().all.completed, 7);
    assert_eq!(schedules::list(&client).await.unwrap().len(), 3);
    assert_eq!(stores::views::list(&client, &StoreFilter::default(), 10).await.unwrap().stores.len(), 1);
    let payload = payloads::latest(&client, store).await.unwrap().unwrap();
    assert!(payloads::get(&client, payload.id).await.unwrap().is_some());
    assert_eq!(workers::list(&client).await.unwrap().len(), 1);
    assert_eq!(hosts::rotating_values::list(&client, Some(Platform::Dutchie)).await.unwrap().len(), 1);
}

#[rstest]
#[tokio::test]
async fn a_store_is_locked_whatever_its_times_are(
    #[values("-infinity", "infinity", "294276-12-31", "4713-01-01 BC")] time: &str,
) {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    queue
        .sql(&format!(
            "UPDATE dispensaries SET last_payload_id = 1, last_payload_at = '{time}', last_complete_at = '{time}'"
        ))
        .await;
    let tx = queue.database.db.begin().await.unwrap();
    assert!(stores::lock(&tx, store).await.unwrap().newest.is_some());
}

#[rstest]
#[tokio::test]
async fn a_schedule_with_odd_times_holds_up_no_other(
    #[values("-infinity", "infinity", "294276-12-31", "4713-01-01 BC")] time: &str,
    #[values("next_run_at", "created_at", "last_run_at", "last_attempt_at")] column: &str,
) {
    let queue = Queue::new().await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    queue.sql(&format!("UPDATE task_schedules SET {column} = '{time}' WHERE name = 'analytics_refresh'")).await;
    assert_eq!(schedules::list(&queue.client().await).await.unwrap().len(), 3);
    let mut ran = Vec::new();
    while let Some(run) = schedules::run_due(&queue.database.db).await.unwrap() {
        assert!(ran.len() < 10 && run.fault.is_none(), "{run:?}");
        ran.push(run.schedule);
    }
    assert!(
        ran.contains(&"payload_fetch_all".to_owned()) && ran.contains(&"store_discovery_dutchie".to_owned()),
        "{ran:?}"
    );
}

#[rstest]
#[tokio::test]
async fn a_schedule_is_triggered_whatever_the_times_of_its_last_run_are(
    #[values("-infinity", "infinity", "294276-12-31", "4713-01-01 BC")] time: &str,
) {
    let queue = Queue::new().await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    let trigger = async || queue.trigger_schedule("analytics_refresh").await;
    trigger().await;
    queue.sql(&format!("UPDATE schedule_runs SET due_at = '{time}', created_at = clock_timestamp()")).await;
    assert!(trigger().await.already_made, "it was just made");
    queue.sql(&format!("UPDATE schedule_runs SET created_at = '{time}'")).await;
    assert!(!trigger().await.already_made, "it was not made within the last seconds");
}

#[rstest]
#[case::too_small_for_f64("1e-400")]
#[case::too_large_for_f64("1e400")]
#[case::no_number("'NaN'")]
#[tokio::test]
async fn a_schedule_with_an_odd_interval_holds_up_no_other(#[case] hours: &str) {
    let queue = Queue::new().await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    queue.sql(&format!("UPDATE task_schedules SET interval_hours = {hours} WHERE name = 'analytics_refresh'")).await;
    assert_eq!(schedules::list(&queue.client().await).await.unwrap().len(), 3);
    queue.trigger_schedule("analytics_refresh").await;
    let mut ran = Vec::new();
    for _ in 0..3 {
        ran.extend(schedules::run_due(&queue.database.db).await.unwrap().map(|run| run.schedule));
    }
    assert!(ran.contains(&"payload_fetch_all".to_owned()), "{ran:?}");
}

#[rstest]
#[case::no_number("NaN")]
#[case::infinite("Infinity")]
#[case::long_ago("-Infinity")]
#[tokio::test]
async fn a_worker_with_an_odd_heartbeat_keeps_no_other_from_going_offline(#[case] seconds: &str) {
    let queue = Queue::new().await;
    queue
        .sql(&format!(
            "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, last_heartbeat_at, heartbeat_seconds)
             SELECT 'w' || seconds, 'w', 'p', 'any', '{{}}', 'active', 1, now() - interval '1 hour', seconds
               FROM unnest('{{30,{seconds}}}'::real[]) seconds"
        ))
        .await;
    workers::sweep(&queue.client().await).await.unwrap();
    assert_eq!(
        queue.number("SELECT count(*) FROM worker_registry WHERE worker_id = 'w30' AND status = 'offline'").await,
        1
    );
}

#[rstest]
#[case::of_nothing("{NULL}", 0)]
#[case::of_two_dimensions("{{11,12},{13,14}}", 4)]
#[tokio::test]
async fn people_see_a_task_with_dependencies(#[case] depends_on: &str, #[case] shown: usize) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    queue.sql(&format!("UPDATE worker_tasks SET depends_on = '{depends_on}'")).await;
    let task = tasks::views::get(&queue.client().await, id).await.unwrap().unwrap();
    assert_eq!(task.depends_on.unwrap().len(), shown);
}
