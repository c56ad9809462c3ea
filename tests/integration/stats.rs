//! Counts by minute: runs that ended, and requests to hosts.

use std::time::Duration;

use chrono::{DateTime, Utc};
use db::counts::stats_minute::StatsTurn;
use db::{Db, counts};
use domain::counts::fetches::{FetchKey, FetchTotal};
use domain::counts::store_fetches::StoreDay;
use domain::task::role::Role;
use drover::actors::scheduler::chore::{Chore, ChoreDeps, ChoreStatus};
use drover::handlers::housekeeping::Housekeeping;
use nix::sys::signal::Signal;
use settings::LiveConfig;
use storage::Payloads;

use testkit::{Child, Farm, PATIENCE, TestDatabase, config, database};

const GRACE: Duration = Duration::from_secs(60);

async fn count(db: &Db) -> Option<u64> {
    let turn = StatsTurn { every: Duration::ZERO, grace: GRACE, keep: Duration::from_secs(86_400) };
    counts::stats_minute::count(db, turn).await.unwrap()
}

/// Rows as they would be written by runs: past the guard of hand-written ones.
async fn write(database: &TestDatabase, sql: &str) {
    let sql = format!("SET xmlbinary = hex; {sql}; RESET xmlbinary");
    database.raw.batch_execute(&sql).await.unwrap();
}

/// `tasks` of a role that ended `minutes_ago` minutes ago, at the thirtieth second, each after a wait of 3 s
/// and a run of 10 s.
async fn ended(database: &TestDatabase, role: &str, status: &str, minutes_ago: i32, tasks: i32) {
    let sql = format!(
        "INSERT INTO worker_tasks (role, status, fence, worker_id, created_at, claimed_at, completed_at, result)
         SELECT '{role}', '{status}', 1, 'w', at - interval '13 seconds', at - interval '10 seconds', at, '{{\"products\": 7}}'
           FROM (SELECT date_trunc('minute', now()) - interval '{minutes_ago} minutes' + interval '30 seconds' AS at) ended,
                generate_series(1, {tasks})"
    );
    write(database, &sql).await;
}

/// Counts by role and outcome: tasks, waits, seconds waited, runs, seconds run, products.
async fn counted(database: &TestDatabase) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', role, outcome, sum(tasks), sum(waits), sum(wait_seconds), sum(runs), sum(run_seconds), sum(products))
                 FROM stats_minute GROUP BY role, outcome ORDER BY role, outcome";
    database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn closed_until(database: &TestDatabase) -> DateTime<Utc> {
    database.raw.query_one("SELECT closed_until FROM stats_progress", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn runs_that_ended_are_counted_by_minute_role_and_outcome() {
    let database = database().await;
    ended(&database, "product_refresh", "completed", 10, 2).await;
    ended(&database, "product_refresh", "completed", 9, 1).await;
    ended(&database, "payload_fetch", "failed", 10, 1).await;
    let earlier = "INSERT INTO past_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at)
                   SELECT id, 0, 'w', 'failed', claimed_at - interval '8 seconds', claimed_at - interval '3 seconds'
                     FROM worker_tasks WHERE role = 'payload_fetch'";
    write(&database, earlier).await;
    assert!(count(&database.db).await.is_some());
    assert_eq!(
        counted(&database).await,
        ["payload_fetch failed 2 1 3 2 15 0", "product_refresh completed 3 3 9 3 30 21"]
    );
    // 10 s are in the bucket from 9.74 s to 11.59 s, and 5 s in that from 4.87 s to 5.79 s
    let buckets = "SELECT concat_ws(' ', run_buckets, wait_buckets) FROM stats_minute ORDER BY role, minute LIMIT 1";
    let buckets: String = database.raw.query_one(buckets, &[]).await.unwrap().get(0);
    assert_eq!(buckets, r#"{"50": 1, "54": 1} {"47": 1}"#);
    let minutes = "SELECT count(DISTINCT minute), min(tasks)::bigint FROM stats_minute WHERE role = 'product_refresh'";
    let row = database.raw.query_one(minutes, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (2, 1));
}

#[tokio::test]
async fn what_a_person_wrote_into_a_task_holds_up_no_count() {
    let database = database().await;
    let sql = "INSERT INTO worker_tasks (role, status, fence, created_at, claimed_at, scheduled_for, completed_at, result)
               SELECT 'product_refresh', 'completed', 1, created, claimed, scheduled, now() - interval '1 minute', result::jsonb
                 FROM (VALUES ('-infinity'::timestamptz, '-infinity'::timestamptz, 'infinity'::timestamptz, '{\"products\": \"many\"}'),
                              ('4713-01-01 BC', '294276-01-01', NULL, '{\"products\": 1e400}'), ('infinity', NULL, NULL, '[7]'))
                      AS odd(created, claimed, scheduled, result);
               INSERT INTO worker_tasks (role, status, completed_at)
               VALUES ('payload_fetch', 'completed', 'infinity'), ('payload_fetch', 'completed', '-infinity')";
    write(&database, sql).await;
    assert!(count(&database.db).await.is_some());
    let counted = counted(&database).await;
    assert!(counted.len() == 1 && counted[0].starts_with("product_refresh completed 3 "), "{counted:?}");
}

#[tokio::test]
async fn counting_again_or_at_once_in_many_processes_changes_nothing() {
    let database = database().await;
    for minutes_ago in [1, 2, 30, 600] {
        ended(&database, "payload_fetch", "completed", minutes_ago, 5).await;
    }
    let expected = ["payload_fetch completed 20 20 60 20 200 0"];
    futures_util::future::join_all((0..6).map(|_| count(&database.db))).await;
    count(&database.db).await;
    assert_eq!(counted(&database).await, expected);
    count(&database.db).await;
    assert_eq!(counted(&database).await, expected);
    // counts stay without their tasks
    write(&database, "DELETE FROM worker_tasks WHERE completed_at < now() - interval '5 minutes'").await;
    count(&database.db).await;
    assert_eq!(counted(&database).await, expected);
}

#[tokio::test]
async fn a_run_that_comes_to_light_late_is_counted() {
    let database = database().await;
    ended(&database, "analytics_refresh", "completed", 10, 1).await;
    count(&database.db).await;
    let late = database.db.begin().await.unwrap();
    let sql = "INSERT INTO worker_tasks (role, status, completed_at) VALUES ('payload_fetch', 'completed', now() - interval '50 seconds')";
    late.execute(sql, &[]).await.unwrap();
    count(&database.db).await;
    assert_eq!(counted(&database).await.len(), 1);
    late.commit().await.unwrap();
    count(&database.db).await;
    assert_eq!(counted(&database).await[1], "payload_fetch completed 1 0 0 0 0 0");
}

#[tokio::test]
async fn after_a_pause_the_minutes_in_between_are_counted_too() {
    let database = database().await;
    count(&database.db).await;
    database
        .raw
        .batch_execute("UPDATE stats_progress SET closed_until = closed_until - interval '20 hours'")
        .await
        .unwrap();
    for minutes_ago in [1100, 700, 3] {
        ended(&database, "payload_fetch", "completed", minutes_ago, 1).await;
    }
    let closed = count(&database.db).await.unwrap();
    assert!((1199..=1201).contains(&closed), "{closed} minutes");
    assert_eq!(counted(&database).await, ["payload_fetch completed 3 3 9 3 30 0"]);
    let behind = database.raw.query_one("SELECT now()", &[]).await.unwrap().get::<_, DateTime<Utc>>(0)
        - closed_until(&database).await;
    assert!(behind.num_seconds() >= 60 && behind.num_seconds() <= 121, "{behind}");
}

#[tokio::test]
async fn one_process_counts_at_a_time() {
    let database = database().await;
    count(&database.db).await;
    let other = database.db.begin().await.unwrap();
    other.execute("UPDATE stats_progress SET closed_until = closed_until", &[]).await.unwrap();
    assert_eq!(count(&database.db).await, None);
}

fn key(minute: DateTime<Utc>) -> FetchKey {
    FetchKey::new(minute, "menu.test", 7, "ok")
}

fn total(requests: i64) -> FetchTotal {
    FetchTotal { requests, bytes_sent: 10 * requests, bytes_received: 100 * requests, seconds: requests as f64 }
}

#[tokio::test]
async fn totals_of_a_process_may_be_written_again_and_late() {
    let database = database().await;
    let client = database.db.client().await.unwrap();
    let now = "2026-11-23T08:00:30Z".parse().unwrap();
    for (process, requests) in [(1, 3), (1, 5), (1, 5), (1, 3), (2, 2)] {
        counts::fetch_minute::write(&client, process, &[(key(now), total(requests))]).await.unwrap();
    }
    let sql = "SELECT sum(requests)::bigint, sum(bytes_sent)::bigint, sum(bytes_received)::bigint, count(*) FROM fetch_minute";
    let row = database.raw.query_one(sql, &[]).await.unwrap();
    assert_eq!([0, 1, 2, 3].map(|column| row.get::<_, i64>(column)), [7, 70, 700, 2]);
}

#[tokio::test]
async fn totals_of_a_store_and_day_may_be_written_again_and_late() {
    let database = database().await;
    let client = database.db.client().await.unwrap();
    let now = "2026-11-23T08:00:30Z".parse().unwrap();
    let written = [(1, Some(5), 3), (1, Some(5), 5), (1, Some(5), 3), (2, Some(5), 2), (1, None, 4)];
    for (process, store, requests) in written {
        counts::fetch_store_day::write(&client, process, &[(StoreDay::new(now, store), total(requests))])
            .await
            .unwrap();
    }
    let sql = "SELECT concat_ws(' ', day, dispensary_id, sum(requests), sum(bytes_sent), sum(bytes_received))
                 FROM fetch_store_day GROUP BY day, dispensary_id ORDER BY dispensary_id";
    let rows: Vec<String> = database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(rows, ["2026-11-23 0 4 40 400", "2026-11-23 5 7 70 700"]);
}

#[tokio::test]
async fn what_a_crawl_sends_is_known_by_host_proxy_and_outcome() {
    let farm = Farm::with_stores(6).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    worker.signal(Signal::SIGTERM);
    worker.ended(PATIENCE).await;
    let requests = "SELECT sum(requests)::bigint FROM fetch_minute WHERE host = '127.0.0.1' AND outcome = 'ok'";
    assert_eq!(farm.count(requests).await as u64, farm.sim.counts().answered);
    let unknown = "SELECT count(*) FROM fetch_minute WHERE proxy_id NOT IN (SELECT id FROM proxies)";
    assert_eq!(farm.count(unknown).await, 0);
    let by_store = "SELECT sum(requests)::bigint FROM fetch_store_day WHERE dispensary_id > 0";
    assert_eq!(farm.count(by_store).await, farm.count("SELECT sum(requests)::bigint FROM fetch_minute").await);
    assert_eq!(farm.count("SELECT count(DISTINCT dispensary_id) FROM fetch_store_day").await, 6);
    // menus come compressed, as they are kept
    let payloads = "SELECT sum(bytes)::bigint FROM raw_crawl_payloads";
    let received = farm.count("SELECT sum(bytes_received)::bigint FROM fetch_minute").await;
    assert!(received > farm.count(payloads).await / 2, "{received} bytes");
    assert!(
        farm.count("SELECT min(bytes_sent / requests)::bigint FROM fetch_minute").await > 200,
        "a request has headers"
    );
}

#[tokio::test]
async fn what_is_older_than_it_is_kept_goes() {
    let database = database().await;
    let sql = "INSERT INTO stats_minute
               SELECT date_trunc('minute', now()) - days * interval '1 day', 'payload_fetch', 'completed', 1, 0, 0, 0, 0, 0 FROM generate_series(1, 40) days;
               INSERT INTO fetch_minute
               SELECT date_trunc('minute', now()) - days * interval '1 day', 1, 'menu.test', 1, 'ok', 1, 1, 1, 1 FROM generate_series(1, 40) days;
               INSERT INTO fetch_store_day
               SELECT (now() AT TIME ZONE 'UTC')::date - days, 1, 1, 1, 1, 1 FROM generate_series(1, 40) days;
               INSERT INTO audit_log (at, who, request_id, action, target, detail)
               SELECT now() - days * interval '1 day', 'local', 'r', 'tasks.create', '1', '{}' FROM generate_series(361, 370) days;
               INSERT INTO idempotency_keys (who, key, request, created_at)
               SELECT 'local', hours::text, 'r', now() - hours * interval '1 hour' FROM generate_series(20, 30) hours";
    database.raw.batch_execute(sql).await.unwrap();
    let storage = tempfile::tempdir().unwrap();
    let payloads = Payloads::new(storage.path(), "the test's");
    let deps = ChoreDeps {
        live: LiveConfig::fixed(config(&[("retention.prune_batch", "3")])),
        db: database.db.clone(),
        housekeeping: Housekeeping { db: database.db.clone(), payloads },
    };
    // of each day beyond the thirtieth and the 365th, and each hour beyond the 24th
    assert_eq!(Chore::Prune.run(&deps).await, ChoreStatus::Done { changed: 11 + 11 + 10 + 6 + 7 });
    let left = "SELECT (SELECT count(*) FROM stats_minute) + (SELECT count(*) FROM fetch_minute)
                       + (SELECT count(*) FROM fetch_store_day)";
    assert_eq!(database.raw.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 88);
}
