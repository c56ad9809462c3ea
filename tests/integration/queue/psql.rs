//! Statements that people at psql have always typed: each runs, and answers truly.

use db::tasks::{AttemptOutcome, Settlement};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

impl Queue {
    async fn rows(&self, query: &str) -> Vec<Value> {
        let rows = self.database.raw.query(&format!("SELECT to_jsonb(q) FROM ({query}) q"), &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// One pending task, one claimed, and one of each ending.
    async fn of_each_kind(&self) {
        self.enqueue(&(1..=4).map(fetch).collect::<Vec<_>>()).await;
        let outcomes = [AttemptOutcome::Completed, AttemptOutcome::Permanent, AttemptOutcome::Cancelled];
        for (task, outcome) in self.claim(&Role::CRAWL, 4).await.iter().zip(outcomes) {
            tasks::start(&self.client().await, &task.lease).await.unwrap();
            self.settle(task, &Settlement::new(outcome, Some("why".to_owned()))).await.unwrap();
        }
        self.add(analytics()).await;
    }
}

#[rstest]
#[case::another_store("https://dutchie.com/stores/south", Some("south"))]
#[case::another_page_of_it("https://dutchie.com/dispensary/north?utm=1", Some("north"))]
#[case::a_form_of_another_platform("https://menus.example/shops/north/all", Some("north"))]
#[case::of_no_known_form("https://menus.example/shops/south", None)]
#[tokio::test]
async fn a_menu_url_has_its_key(#[case] menu_url: &str, #[case] expected: Option<&str>) {
    let queue = Queue::new().await;
    let key = "SELECT menu_key FROM dispensaries WHERE id = 900";
    queue
        .sql("INSERT INTO dispensaries (id, name, menu_url) VALUES (900, 'North', 'https://dutchie.com/stores/north')")
        .await;
    assert_eq!(queue.rows(key).await, [json!({"menu_key": "north"})]);
    queue.sql(&format!("UPDATE dispensaries SET menu_url = '{menu_url}' WHERE id = 900")).await;
    assert_eq!(queue.rows(key).await, [json!({ "menu_key": expected })]);
}

#[tokio::test]
async fn counts_by_status() {
    let queue = Queue::new().await;
    queue.of_each_kind().await;
    let counts = queue.rows("SELECT status, count(*) FROM worker_tasks GROUP BY status ORDER BY status").await;
    let counts: Vec<&str> = counts.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(counts, ["cancelled", "claimed", "completed", "failed", "pending"]);
}

#[tokio::test]
async fn counts_by_role_and_status() {
    let queue = Queue::new().await;
    queue.of_each_kind().await;
    let counts = queue.rows("SELECT role, status, count(*) FROM worker_tasks GROUP BY role, status").await;
    assert!(counts.contains(&json!({"role": "analytics_refresh", "status": "pending", "count": 1})));
    assert_eq!(counts.len(), 5);
}

#[tokio::test]
async fn active_workers_include_those_whose_tasks_have_just_ended() {
    let queue = Queue::new().await;
    queue.of_each_kind().await;
    let active = queue
        .rows("SELECT worker_id, role, count(*), max(last_heartbeat_at) FROM worker_tasks WHERE last_heartbeat_at > now() - interval '5 minutes' GROUP BY 1, 2")
        .await;
    assert_eq!(active.len(), 1);
    assert_eq!((&active[0]["worker_id"], &active[0]["count"]), (&json!(ME), &json!(4)));
}

#[tokio::test]
async fn average_duration_of_completed_tasks_by_role() {
    let queue = Queue::new().await;
    queue.of_each_kind().await;
    queue
        .sql("UPDATE worker_tasks SET started_at = completed_at - interval '90 seconds' WHERE status = 'completed'")
        .await;
    let averages = queue
        .rows("SELECT role, avg(extract(epoch FROM completed_at - started_at))::int AS seconds FROM worker_tasks WHERE status = 'completed' AND completed_at > now() - interval '24 hours' GROUP BY role")
        .await;
    assert_eq!(averages, [json!({"role": "payload_fetch", "seconds": 90})]);
}

#[tokio::test]
async fn claim_task_wants_the_name_of_the_worker() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    for nameless in ["NULL", "''", "' '"] {
        let refused =
            queue.database.raw.batch_execute(&format!("SELECT claim_task('payload_fetch', {nameless})")).await;
        let said = refused.unwrap_err().as_db_error().unwrap().message().to_owned();
        assert_eq!(said, "claim_task needs the name of the worker");
    }
}

#[tokio::test]
async fn the_last_failed_have_an_end() {
    let queue = Queue::new().await;
    queue.of_each_kind().await;
    let failed = queue
        .rows("SELECT id, role, error_message, completed_at FROM worker_tasks WHERE status = 'failed' ORDER BY completed_at DESC LIMIT 20")
        .await;
    assert_eq!(failed.len(), 1);
    assert!(failed[0]["completed_at"].is_string());
    let open_ends = "SELECT count(*) FROM worker_tasks WHERE status IN ('failed', 'cancelled', 'completed') AND completed_at IS NULL";
    assert_eq!(queue.number(open_ends).await, 0);
}

#[tokio::test]
async fn recover_stale_tasks_takes_the_silent_and_the_expired() {
    let queue = Queue::new().await;
    queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    let claimed = queue.claim(&Role::CRAWL, 3).await;
    queue.expire(claimed[0].lease.id).await;
    queue
        .sql(&format!(
            "UPDATE worker_tasks SET last_heartbeat_at = now() - interval '11 minutes' WHERE id = {}",
            claimed[1].lease.id
        ))
        .await;
    assert_eq!(queue.rows("SELECT recover_stale_tasks(10)").await, [json!({"recover_stale_tasks": 2})]);
    assert_eq!(queue.task(claimed[2].lease.id).await["status"], json!("claimed"));
}

#[tokio::test]
async fn a_task_that_ends_workers_of_another_program_again_and_again_is_given_up() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    for _ in 0..5 {
        queue.sql("UPDATE worker_tasks SET scheduled_for = NULL").await;
        queue.rows("SELECT id FROM claim_task('payload_fetch', 'of another program')").await;
        let silent = "UPDATE worker_tasks SET status = 'running', last_heartbeat_at = now() - interval '20 minutes' WHERE status = 'claimed'";
        queue.sql(silent).await;
        queue.rows("SELECT recover_stale_tasks(10)").await;
    }
    let task = queue.task(id).await;
    assert_eq!((&task["status"], &task["loss_count"]), (&json!("failed"), &json!(5)), "{task}");
}

#[tokio::test]
async fn a_too_small_number_of_minutes_is_harmless() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let early = queue.claim_one().await;
    queue.rows("SELECT recover_stale_tasks(0)::bigint").await;
    let heir = queue.claim_one().await;
    assert!(queue.settle(&early, &Settlement::new(AttemptOutcome::Completed, None)).await.is_err());
    queue.settle(&heir, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    assert_eq!(queue.outcomes(id).await, ["lost", "completed"]);
}

#[rstest]
#[case::the_role("'payload_fetch'", true)]
#[case::any_role("NULL", true)]
#[case::the_old_name("'product_resync'", true)]
#[case::another_role("'analytics_refresh'", false)]
#[tokio::test]
async fn claim_task_answers_the_row_it_claimed(#[case] role: &str, #[case] found: bool) {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let claimed = queue.rows(&format!("SELECT * FROM claim_task({role}, 'me')")).await;
    assert_eq!(claimed.len(), usize::from(found));
    if found {
        assert_eq!(
            (&claimed[0]["id"], &claimed[0]["status"], &claimed[0]["worker_id"]),
            (&json!(id), &json!("claimed"), &json!("me"))
        );
        assert_eq!(queue.outcomes(id).await, ["active"]);
    }
}

#[tokio::test]
async fn a_failed_task_set_to_pending_runs_again_and_carries_nothing_old() {
    let queue = Queue::new().await;
    queue.of_each_kind().await;
    queue.sql("UPDATE worker_tasks SET status = 'pending', retry_count = retry_count + 1 WHERE status = 'failed' AND retry_count < max_retries").await;
    let row = &queue.rows("SELECT * FROM worker_tasks WHERE retry_count = 1").await[0];
    for null in ["worker_id", "lease_expires_at", "last_heartbeat_at", "claimed_at", "started_at", "completed_at"] {
        assert_eq!(row[null], Value::Null, "{null}");
    }
    queue.sweep_all().await;
    assert!(queue.claim_all().await.contains(&row["id"].as_i64().unwrap()));
    assert_eq!(queue.rows("SELECT * FROM worker_tasks WHERE retry_count = 1").await[0]["error_message"], Value::Null);
}

#[rstest]
#[case::in_full(
    "INSERT INTO worker_tasks (role, dispensary_id, platform, priority) VALUES ('payload_fetch', 1, 'dutchie', 10)",
    "payload_fetch"
)]
#[case::fetches(
    "INSERT INTO worker_tasks (role, dispensary_id, platform, priority) VALUES ('product_resync', 1, 'dutchie', 10)",
    "payload_fetch"
)]
#[case::refreshes(
    "INSERT INTO worker_tasks (role, dispensary_id, payload) VALUES ('product_resync', 1, '{\"payload_id\": 5}')",
    "product_refresh"
)]
#[tokio::test]
async fn a_task_written_by_hand_is_claimed_after_the_sweep(#[case] insert: &str, #[case] role: &str) {
    let queue = Queue::new().await;
    queue.sql(insert).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_one().await.role.name(), role);
}

#[tokio::test]
async fn a_pending_task_written_by_hand_has_no_worker() {
    let queue = Queue::new().await;
    queue.sql("INSERT INTO worker_tasks (role, scheduled_for, ready, worker_id, claimed_at, started_at, completed_at, last_heartbeat_at, lease_expires_at) VALUES ('analytics_refresh', 'infinity', true, 'x', now(), now(), now(), now(), now())").await;
    let row = &queue.rows("SELECT * FROM worker_tasks").await[0];
    for null in ["worker_id", "lease_expires_at", "last_heartbeat_at", "claimed_at", "started_at", "completed_at"] {
        assert_eq!(row[null], Value::Null, "{null}");
    }
    assert_eq!(row["ready"], json!(false));
}

#[tokio::test]
async fn a_running_task_cancelled_by_hand_closes_its_attempt_and_frees_its_store_once_its_body_has_stopped() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    let task = queue.claim_one().await;
    tasks::start(&queue.client().await, &task.lease).await.unwrap();
    queue.sql(&format!("UPDATE worker_tasks SET status = 'cancelled' WHERE id = {}", made[0])).await;
    let row = queue.task(made[0]).await;
    assert!(row["completed_at"].is_string());
    assert_eq!(row["worker_id"], json!(ME));
    assert_eq!(queue.outcomes(made[0]).await, ["cancelled"]);
    let leases = [task.lease];
    assert_eq!(tasks::lost(&queue.database.raw, &leases).await.unwrap(), [made[0]], "its body will be stopped");
    queue.sweep_all().await;
    assert!(queue.claim_all().await.is_empty());
    assert!(tasks::run_stopped(&queue.client().await, &leases[0]).await.unwrap());
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[tokio::test]
async fn a_task_deleted_by_hand_takes_its_attempts_with_it_and_frees_its_store() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), refresh(1)]).await;
    queue.claim_one().await;
    queue.sql(&format!("DELETE FROM worker_tasks WHERE id = {}", made[0])).await;
    assert!(queue.outcomes(made[0]).await.is_empty());
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [made[1]]);
}

#[rstest]
#[case::fetches("'{}'", "payload_fetch")]
#[case::refreshes("'{\"payload_id\": 5}'", "product_refresh")]
#[tokio::test]
async fn a_schedule_by_the_old_role_is_translated(#[case] args: &str, #[case] role: &str) {
    let queue = Queue::new().await;
    queue
        .sql(&format!(
            "INSERT INTO task_schedules (name, role, args, interval_hours) VALUES ('mine', 'product_resync', {args}, 4)"
        ))
        .await;
    assert_eq!(queue.rows("SELECT role FROM task_schedules WHERE name = 'mine'").await, [json!({ "role": role })]);
}

#[tokio::test]
async fn what_would_break_the_queue_is_refused() {
    let queue = Queue::new().await;
    queue.enqueue(&[fetch(1), fetch(1)]).await;
    let cases: [&str; 3] = [
        "INSERT INTO worker_tasks (role) VALUES ('gardening')",
        "INSERT INTO worker_tasks (role, status) VALUES ('payload_fetch', 'stale')",
        "UPDATE worker_tasks SET status = 'running' WHERE dispensary_id = 1",
    ];
    for statement in cases {
        println!("{statement}");
        assert!(queue.database.raw.batch_execute(statement).await.is_err());
    }
}

#[tokio::test]
async fn resync_tasks_come_in_contiguous_blocks_of_stores() {
    let queue = Queue::new().await;
    let stores = queue.stores(14).await;
    let made = queue.rows("SELECT generate_resync_tasks(6, ((now() AT TIME ZONE 'UTC')::date + 2))").await;
    assert_eq!(made, [json!({"generate_resync_tasks": 14})]);
    let planned = queue
        .rows("SELECT dispensary_id, (extract(epoch FROM scheduled_for AT TIME ZONE 'UTC' - date_trunc('day', scheduled_for AT TIME ZONE 'UTC')) / 3600)::int AS hour FROM worker_tasks WHERE role = 'payload_fetch' ORDER BY dispensary_id")
        .await;
    let hours: Vec<i64> = planned.iter().map(|row| row["hour"].as_i64().unwrap()).collect();
    assert_eq!(planned.iter().map(|row| row["dispensary_id"].as_i64().unwrap()).collect::<Vec<_>>(), stores);
    assert_eq!(hours, [0, 0, 0, 4, 4, 8, 8, 12, 12, 12, 16, 16, 20, 20]);
}

#[tokio::test]
async fn resync_times_already_past_are_due_at_once() {
    let queue = Queue::new().await;
    queue.stores(6).await;
    queue.rows("SELECT generate_resync_tasks(6, '2025-01-10')").await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await.len(), 6);
}

#[tokio::test]
async fn resync_leaves_out_what_cannot_be_crawled_or_is_queued_already() {
    let queue = Queue::new().await;
    let stores = queue.stores(5).await;
    queue.sql(&format!("UPDATE dispensaries SET crawl_enabled = false WHERE id = {}", stores[0])).await;
    queue.sql(&format!("UPDATE dispensaries SET platform_dispensary_id = NULL WHERE id = {}", stores[1])).await;
    queue.add(fetch(stores[2])).await;
    queue.add(refresh(stores[3])).await;
    let made = queue.rows("SELECT generate_resync_tasks(6, '2025-01-10')").await;
    assert_eq!(made, [json!({"generate_resync_tasks": 2})]);
    assert_eq!(
        queue.rows("SELECT generate_resync_tasks(6, '2025-01-10')").await,
        [json!({"generate_resync_tasks": 0})]
    );
}

#[tokio::test]
async fn resync_leaves_the_stores_of_a_group_to_its_own_schedule() {
    let queue = Queue::new().await;
    let stores = queue.stores(3).await;
    let group = "UPDATE dispensaries SET groups = '{rivals}' WHERE id = ";
    queue.sql(&format!("{group}{}; {group}{}", stores[0], stores[1])).await;
    queue
        .sql("INSERT INTO task_schedules (name, role, group_name, interval_hours, next_run_at) VALUES ('rivals', 'payload_fetch', 'rivals', 1, now() + interval '1 hour')")
        .await;
    let generate = "SELECT generate_resync_tasks(6, ((now() AT TIME ZONE 'UTC')::date + 2))";
    assert_eq!(queue.rows(generate).await, [json!({"generate_resync_tasks": 1})]);
    queue.sql("UPDATE task_schedules SET enabled = false WHERE name = 'rivals'").await;
    assert_eq!(queue.rows(generate).await, [json!({"generate_resync_tasks": 2})], "switched off, it keeps none");
}

#[tokio::test]
async fn people_who_generate_at_the_same_time_make_one_task_a_store() {
    let queue = Queue::new().await;
    queue.stores(50).await;
    let generate = async || {
        let client = queue.client().await;
        client.query_one("SELECT generate_resync_tasks(6, '2025-01-10')", &[]).await.unwrap().get::<_, i32>(0)
    };
    let made = futures_util::future::join_all((0..6).map(|_| generate())).await;
    assert_eq!(made.iter().sum::<i32>(), 50);
}

#[tokio::test]
async fn a_task_run_again_by_hand_keeps_its_ended_run_as_history() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    let task = queue.claim_one().await;
    let settlement = Settlement {
        detail: json!({"requests": 3}),
        ..Settlement::new(AttemptOutcome::Permanent, Some("gone".to_owned()))
    };
    queue.settle(&task, &settlement).await.unwrap();
    queue.sql("UPDATE worker_tasks SET status = 'pending', error_message = NULL").await;
    queue.sweep_all().await;
    queue.claim_one().await;
    assert_eq!(queue.outcomes(id).await, ["failed", "active"]);
    let kept = "SELECT count(*) FROM task_attempts a WHERE fence = 1 AND error = 'gone' AND detail->>'requests' = '3'";
    assert_eq!(queue.number(kept).await, 1);
}

#[tokio::test]
async fn a_task_claimed_by_hand_gets_a_fence_of_its_own() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    let task = queue.claim_one().await;
    queue.settle(&task, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    queue.sql("UPDATE worker_tasks SET status = 'running'").await;
    assert_eq!(queue.outcomes(id).await, ["completed", "active"]);
    assert_eq!(queue.task(id).await["fence"], 2);
}

#[tokio::test]
async fn history_is_written_by_hand_but_the_latest_run_only_in_its_task() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    queue.claim_one().await;
    queue
        .sql(&format!("INSERT INTO task_attempts (task_id, fence, worker_id, outcome) VALUES ({id}, 0, 'w', 'lost')"))
        .await;
    queue.sql("UPDATE task_attempts SET outcome = 'failed', error = 'seen' WHERE fence = 0").await;
    assert_eq!(queue.outcomes(id).await, ["failed", "active"]);
    queue.sql("DELETE FROM task_attempts WHERE fence = 0").await;
    assert_eq!(queue.outcomes(id).await, ["active"]);
    let refused = queue.database.raw.batch_execute("DELETE FROM task_attempts").await.unwrap_err();
    assert!(refused.as_db_error().unwrap().message().contains("change it there"), "{refused}");
}

#[tokio::test]
async fn a_blocked_task_claimed_by_hand_does_not_stand_in_the_way_of_recovery() {
    let queue = Queue::new().await;
    let first = queue.add(analytics()).await;
    let waiting = queue.add(NewTask { depends_on: vec![first], ..analytics() }).await;
    queue.sql(&format!("UPDATE worker_tasks SET status = 'running', worker_id = 'me' WHERE id = {waiting}")).await;
    let lost = queue.claim_one().await;
    queue.expire(lost.lease.id).await;
    let recovered = tasks::recover(&queue.client().await, None).await.unwrap();
    assert_eq!((recovered.requeued, recovered.failed), (2, 0));
}

#[tokio::test]
async fn a_task_whose_dependencies_are_taken_away_is_free() {
    let queue = Queue::new().await;
    let first = queue.add(NewTask { priority: -1, ..analytics() }).await;
    let waiting = queue.add(NewTask { depends_on: vec![first], ..analytics() }).await;
    queue.sql(&format!("UPDATE worker_tasks SET depends_on = NULL WHERE id = {waiting}")).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_one().await.lease.id, waiting);
}

#[tokio::test]
async fn a_task_that_gets_a_dependency_by_hand_waits_for_it() {
    let queue = Queue::new().await;
    let first = queue.add(NewTask { priority: -1, ..analytics() }).await;
    let second = queue.add(analytics()).await;
    queue.sql(&format!("UPDATE worker_tasks SET depends_on = '{{{first}}}' WHERE id = {second}")).await;
    assert_eq!(ids(&queue.claim(&Role::CRAWL, 2).await), [first]);
}

#[tokio::test]
async fn recovering_the_merely_silent_blames_no_task() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    for _ in 0..6 {
        queue.claim_one().await;
        assert_eq!(queue.number("SELECT recover_stale_tasks(0)::bigint").await, 1);
    }
    let task = queue.task(id).await;
    assert_eq!((&task["status"], &task["loss_count"], &task["crash_count"]), (&json!("pending"), &json!(0), &json!(0)));
}

#[tokio::test]
async fn an_ended_task_inserted_by_hand_has_its_end_and_keeps_no_key() {
    let queue = Queue::new().await;
    queue.sql("INSERT INTO worker_tasks (role, status, dedup_key) VALUES ('payload_fetch', 'failed', 'k')").await;
    assert_eq!(
        queue.number("SELECT count(*) FROM worker_tasks WHERE completed_at IS NOT NULL AND dedup_key IS NULL").await,
        1
    );
}

#[tokio::test]
async fn a_run_begun_by_hand_without_a_worker_is_shown_with_its_writer() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    queue.sql("UPDATE worker_tasks SET status = 'running'").await;
    queue.sql("UPDATE worker_tasks SET status = 'completed', worker_id = NULL; UPDATE worker_tasks SET status = 'pending'").await;
    assert_eq!(queue.task(id).await["status"], "pending");
    queue.sql("UPDATE worker_tasks SET status = 'running'").await;
    assert_eq!(
        queue
            .number("SELECT count(*) FROM task_attempts WHERE worker_id = session_user AND claimed_at IS NOT NULL")
            .await,
        1
    );
}

#[rstest]
#[case::put_off("scheduled_for = now() + interval '1 hour'")]
#[case::parked("scheduled_for = 'infinity'")]
#[tokio::test]
async fn a_ready_task_that_is_put_off_by_hand_does_not_run(#[case] change: &str) {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(1), analytics()]).await;
    queue.sql(&format!("UPDATE worker_tasks SET {change} WHERE id <> {}", made[1])).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [made[1]], "the store's next task has the reservation");
}

#[tokio::test]
async fn a_task_that_is_brought_forward_by_hand_runs() {
    let queue = Queue::new().await;
    let tomorrow = foundation::clock::Clock::system().utc() + chrono::TimeDelta::days(1);
    let id = queue.add(NewTask { scheduled_for: Some(tomorrow), ..fetch(1) }).await;
    queue.sql("UPDATE worker_tasks SET scheduled_for = NULL").await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [id]);
}

#[tokio::test]
async fn a_ready_task_moved_to_another_store_by_hand_waits_for_that_store() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    queue.sql(&format!("UPDATE worker_tasks SET dispensary_id = 1 WHERE id = {}", made[1])).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, made[..1]);
}

#[tokio::test]
async fn ready_set_by_hand_changes_nothing() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(1)]).await;
    queue.sql(&format!("UPDATE worker_tasks SET ready = true WHERE id = {}", made[1])).await;
    assert_eq!(queue.claim_all().await, made[..1]);
}

#[tokio::test]
async fn a_waiting_task_made_more_urgent_by_hand_goes_first() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(1)]).await;
    queue.sql(&format!("UPDATE worker_tasks SET priority = 20 WHERE id = {}", made[1])).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, made[1..]);
}

#[tokio::test]
async fn a_completed_fetch_that_is_run_again_by_hand_may_keep_another_payload() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let id = queue.add(fetch(store)).await;
    let keep = |path: &str| {
        format!(
            "INSERT INTO raw_crawl_payloads (task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, \
             coverage, fetched_at) VALUES ({id}, {store}, 'dutchie', 'payloads/{path}', repeat('0', 64), 1, 1, 1, 1, now())"
        )
    };
    let task = queue.claim_one().await;
    queue.sql(&keep("first")).await;
    queue.settle(&task, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    queue.sql("UPDATE worker_tasks SET status = 'pending' WHERE status = 'completed'").await;
    queue.sweep_all().await;
    queue.claim_one().await;
    queue.sql(&keep("second")).await;
    assert_eq!(queue.number("SELECT count(*) FROM raw_crawl_payloads").await, 2);
}
