//! Actions of the older system's users at psql, in the order of a day: with a process of drover beside them,
//! and with none.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use testkit::{Child, TestDatabase};

const SOON: Duration = Duration::from_secs(60);

/// A database with stores, and no schedule that is switched on.
async fn database() -> TestDatabase {
    let database = testkit::database().await;
    let sql = "INSERT INTO task_schedules (name, role, platform, interval_hours, enabled) VALUES \
                 ('payload_fetch_all', 'payload_fetch', NULL, 4, false), ('store_discovery_dutchie', 'store_discovery', 'dutchie', 24, false), \
                 ('analytics_refresh', 'analytics_refresh', NULL, 6, false); \
               INSERT INTO dispensaries (name, platform_dispensary_id, state) SELECT 'Store ' || n, 'p' || n, 'AZ' FROM generate_series(1, 6) n";
    database.raw.batch_execute(sql).await.unwrap();
    database
}

async fn rows(database: &TestDatabase, query: &str) -> Vec<Value> {
    let rows = database.raw.query(&format!("SELECT to_jsonb(q) FROM ({query}) q"), &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn execute(database: &TestDatabase, sql: &str) {
    database.raw.batch_execute(sql).await.unwrap();
}

async fn claim(database: &TestDatabase, role: &str) -> Option<Value> {
    rows(database, &format!("SELECT * FROM claim_task('{role}', 'worker-of-mine')")).await.pop()
}

/// A sweep of the process may hold the task for a moment.
async fn claim_soon(database: &TestDatabase, role: &str) -> Value {
    testkit::until_some("a task to claim", SOON, async || claim(database, role).await).await
}

#[rstest]
#[case::alone(false)]
#[case::beside_a_process(true)]
#[tokio::test]
async fn the_statements_of_the_older_system_do_what_they_did(#[case] beside_a_process: bool) {
    let database = database().await;
    let storage = tempfile::tempdir().unwrap();
    let mut scheduler = testkit::drover();
    scheduler.arg("scheduler").env("DATABASE_URL", &database.url).env("DROVER__STORAGE__ROOT", storage.path());
    let _scheduler = beside_a_process.then(|| Child::spawn(&mut scheduler));

    // work, by priority
    for (store, priority) in [(1, 0), (2, 20), (3, 10)] {
        let insert = "INSERT INTO worker_tasks (role, dispensary_id, platform, priority) \
                      SELECT 'product_resync', id, 'dutchie', ";
        execute(&database, &format!("{insert} {priority} FROM dispensaries WHERE name = 'Store {store}'")).await;
    }
    let ready = "SELECT count(*) FROM worker_tasks WHERE ready";
    testkit::until("three ready tasks", SOON, async || rows(&database, ready).await[0]["count"] == 3).await;
    let mut claimed = Vec::new();
    while let Some(task) = claim(&database, "product_resync").await {
        claimed.push((task["priority"].as_i64().unwrap(), task["id"].as_i64().unwrap()));
    }
    assert_eq!(claimed.iter().map(|(priority, _)| *priority).collect::<Vec<_>>(), [20, 10, 0]);

    // a worker of one's own: begin, beat, end
    let [(_, first), (_, second), (_, third)] = claimed[..] else { panic!("{claimed:?}") };
    execute(&database, &format!("UPDATE worker_tasks SET status = 'running', started_at = now() WHERE id = {first}"))
        .await;
    execute(&database, &format!("UPDATE worker_tasks SET last_heartbeat_at = now() WHERE id = {first}")).await;
    execute(&database, &format!("UPDATE worker_tasks SET status = 'completed', completed_at = now(), result = '{{\"products\": 5}}' WHERE id = {first}")).await;
    execute(
        &database,
        &format!("UPDATE worker_tasks SET status = 'failed', error_message = 'no answer' WHERE id = {second}"),
    )
    .await;
    let retry = "UPDATE worker_tasks SET status = 'pending', retry_count = retry_count + 1 WHERE status = 'failed' AND retry_count < max_retries";
    execute(&database, retry).await;
    let again = claim_soon(&database, "product_resync").await;
    assert_eq!(
        (&again["id"], &again["retry_count"], &again["error_message"]),
        (&json!(second), &json!(1), &Value::Null)
    );

    // one that went silent
    execute(
        &database,
        &format!("UPDATE worker_tasks SET last_heartbeat_at = now() - interval '11 minutes' WHERE id = {third}"),
    )
    .await;
    assert_eq!(rows(&database, "SELECT recover_stale_tasks(10)").await, [json!({"recover_stale_tasks": 1})]);
    assert_eq!(claim_soon(&database, "payload_fetch").await["id"], third);

    // the content now
    let counts = rows(&database, "SELECT status, count(*) FROM worker_tasks GROUP BY status ORDER BY status").await;
    assert_eq!(counts, [json!({"status": "claimed", "count": 2}), json!({"status": "completed", "count": 1})]);
    let capacity = rows(&database, "SELECT * FROM v_worker_capacity WHERE role = 'payload_fetch'").await;
    let columns = [
        "pending_tasks",
        "ready_tasks",
        "claimed_tasks",
        "running_tasks",
        "completed_last_hour",
        "failed_last_hour",
        "active_workers",
        "avg_duration_sec",
        "tasks_per_worker_hour",
        "estimated_hours_to_drain",
        "measured_runs",
    ];
    assert!(columns.iter().all(|column| capacity[0].get(column).is_some()), "{capacity:?}");
    assert_eq!((&capacity[0]["claimed_tasks"], &capacity[0]["completed_last_hour"]), (&json!(2), &json!(1)));

    // a day's crawls: a task due today keeps no store out of tomorrow's
    let day = "SELECT generate_resync_tasks(6, (now() AT TIME ZONE 'UTC')::date + 1)";
    assert_eq!(rows(&database, day).await, [json!({"generate_resync_tasks": 6})]);
    assert_eq!(rows(&database, day).await, [json!({"generate_resync_tasks": 0})]);
    let hours = "SELECT extract(hour FROM scheduled_for AT TIME ZONE 'UTC')::int AS hour FROM worker_tasks \
                 WHERE scheduled_for > now() ORDER BY dispensary_id";
    let hours: Vec<i64> = rows(&database, hours).await.iter().map(|row| row["hour"].as_i64().unwrap()).collect();
    assert_eq!(hours, [0, 4, 8, 12, 16, 20]);

    // jobs
    let insert = "INSERT INTO worker_job_queue (job_type, platform, account, priority) VALUES ('scrape_account', 'site', 'ann', 1)";
    execute(&database, insert).await;
    let job = "UPDATE worker_job_queue SET status = 'running', worker_id = 'old-1', started_at = now() WHERE id = (\
                 SELECT id FROM worker_job_queue WHERE status = 'pending' ORDER BY priority, created_at LIMIT 1 FOR UPDATE SKIP LOCKED)";
    assert_eq!(database.raw.execute(job, &[]).await.unwrap(), 1);
    execute(
        &database,
        "UPDATE worker_job_queue SET status = 'completed', completed_at = now(), progress_percent = 100",
    )
    .await;
    execute(
        &database,
        "UPDATE worker_tasks SET status = 'cancelled' WHERE status IN ('pending', 'claimed', 'running')",
    )
    .await;
}
