//! Work done and needed by role, by HTTP: capacity, last and recent completions, a store's active task.

use serde_json::{Value, json};

use super::server::Server;

/// 500 pending fetches, and fetches and refreshes that took 72 s each: 50 an hour. One worker does both
/// roles.
const WORK: &str = "
    INSERT INTO worker_tasks (role) SELECT 'payload_fetch' FROM generate_series(1, 500);
    INSERT INTO worker_tasks (id, role, status, worker_id, started_at, last_heartbeat_at, completed_at) VALUES
      (1001, 'payload_fetch', 'completed', 'w', now() - interval '112 seconds', now() - interval '40 seconds', now() - interval '40 seconds'),
      (1002, 'payload_fetch', 'completed', 'w', now() - interval '102 seconds', now() - interval '30 seconds', now() - interval '30 seconds'),
      (1003, 'product_refresh', 'completed', 'w', now() - interval '92 seconds', now() - interval '20 seconds', now() - interval '20 seconds'),
      (1004, 'payload_fetch', 'failed', 'v', now() - interval '82 seconds', now() - interval '10 seconds', now() - interval '10 seconds');";

async fn busy_server() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(WORK).await.unwrap();
    server
}

/// 1,000 stores every 4 hours, fetches of 72 s and 18 requests, refreshes of 36 s, 8 slots in one process, one
/// proxy.
const SCHEDULED: &str = "
    INSERT INTO dispensaries (name, platform_dispensary_id, crawl_enabled, groups)
      SELECT n::text, n::text, n <= 1000, CASE WHEN n <= 200 THEN ARRAY['vip'] ELSE '{}' END FROM generate_series(1, 1100) n;
    INSERT INTO dispensaries (name) VALUES ('without an id');
    INSERT INTO task_schedules (name, role, interval_hours) VALUES ('all', 'payload_fetch', 4);
    INSERT INTO task_schedules (name, role, interval_hours, enabled) VALUES ('off', 'payload_fetch', 1, false);
    INSERT INTO worker_tasks (role, status, fence, claimed_at, started_at, completed_at, detail) VALUES
      ('payload_fetch', 'completed', 1, now() - interval '82 s', now() - interval '12 s', now() - interval '10 s', '{\"requests\": 18}'),
      ('payload_fetch', 'failed', 1, now() - interval '20 s', now() - interval '20 s', now() - interval '10 s', '{\"requests\": 1}'),
      ('product_refresh', 'completed', 1, now() - interval '46 s', now() - interval '46 s', now() - interval '10 s', '{\"requests\": 0}');
    INSERT INTO proxies (host, port) VALUES ('192.0.2.1', 80);
    INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, started_at) VALUES
      ('a', 'A', 'P', 'any', roles_of('{crawl,service}'), 'active', 4, '2026-01-01Z'), ('b', 'B', 'P', 'any', roles_of('{crawl,service}'), 'backing_off', 4, '2026-01-01Z'),
      ('c', 'C', 'P', 'any', roles_of('{crawl,service}'), 'paused', 4, '2026-01-01Z'), ('d', 'D', 'P', 'any', roles_of('{crawl,service}'), 'offline', 4, '2025-01-01Z');";

async fn scheduled_server() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(SCHEDULED).await.unwrap();
    server
}

fn ids(tasks: &Value) -> Vec<i64> {
    tasks["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_role_needs_so_many_workers_for_what_waits() {
    let server = busy_server().await;
    let role = server.get("/api/tasks/capacity/payload_fetch").await.expect(200);
    assert_eq!(role["workers_needed"], json!({"for_1_hour": 10, "for_4_hours": 3, "for_8_hours": 2}));
    let idle = server.get("/api/tasks/capacity/analytics_refresh").await.expect(200);
    assert_eq!(idle["workers_needed"], json!({"for_1_hour": null, "for_4_hours": null, "for_8_hours": null}));
    assert_eq!((&idle["pending_tasks"], &idle["avg_duration_sec"]), (&json!(0), &Value::Null));
}

#[tokio::test]
async fn capacity_is_a_bare_list_of_the_views_rows() {
    let server = busy_server().await;
    let rows = server.get("/api/tasks/capacity").await.expect(200);
    let view = "SELECT jsonb_agg(to_jsonb(v) ORDER BY role) FROM v_worker_capacity v";
    let expected: Value = server.database.raw.query_one(view, &[]).await.unwrap().get(0);
    let names = |rows: &Value| -> Vec<Vec<String>> {
        rows.as_array().unwrap().iter().map(|row| row.as_object().unwrap().keys().cloned().collect()).collect()
    };
    assert_eq!(names(&rows), names(&expected));
    for (row, expected) in rows.as_array().unwrap().iter().zip(expected.as_array().unwrap()) {
        let path = format!("/api/tasks/capacity/{}", row["role"].as_str().unwrap());
        let alone = server.get(&path).await.expect(200);
        for (name, value) in expected.as_object().unwrap() {
            // JSON of the database writes 72, that of the API 72.0
            let numbers = [&row[name], &alone[name]].map(Value::as_f64);
            assert_eq!(numbers, [value.as_f64(); 2], "{name} of {row} and {alone}");
        }
    }
}

#[tokio::test]
async fn an_old_role_name_means_its_roles_together() {
    let server = busy_server().await;
    let role = server.get("/api/tasks/capacity/product_resync").await.expect(200);
    assert_eq!(role["role"], "product_resync");
    let shown = ["pending_tasks", "completed_last_hour", "failed_last_hour", "active_workers"].map(|name| &role[name]);
    assert_eq!(shown, [&json!(500), &json!(3), &json!(1), &json!(2)], "a worker that does both roles is one");
}

#[tokio::test]
async fn what_a_role_completed_is_listed_from_the_last_on() {
    let server = busy_server().await;
    let last = server.get("/api/tasks/role/payload_fetch/last-completion").await.expect(200);
    assert_eq!((&last["role"], &last["task_id"]), (&json!("payload_fetch"), &json!(1002)));
    assert!(last["completed_at"].is_string());
    let never = server.get("/api/tasks/role/store_discovery/last-completion").await.expect(200);
    assert_eq!(never, json!({"role": "store_discovery", "task_id": null, "completed_at": null}));
    let recent = server.get("/api/tasks/role/product_resync/recent?limit=2").await.expect(200);
    assert_eq!(ids(&recent), [1003, 1002]);
}

#[tokio::test]
async fn a_store_shows_the_task_that_a_worker_has() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let path = format!("/api/tasks/store/{store}/active");
    let made = server.post("/api/tasks", json!({"role": "payload_fetch", "dispensary_id": store})).await.expect(201);
    assert_eq!(server.get(&path).await.expect(200), json!({"task": null}));
    server.database.raw.batch_execute("SELECT claim_task('payload_fetch', 'w')").await.unwrap();
    let active = server.get(&path).await.expect(200);
    assert_eq!((&active["task"]["id"], &active["task"]["status"]), (&made["id"], &json!("claimed")));
    server.get("/api/tasks/store/4711/active").await.problem(404);
}

#[tokio::test]
async fn the_schedules_need_slots_requests_and_proxies() {
    let server = scheduled_server().await;
    let forecast = server.get("/api/tasks/capacity/forecast").await.expect(200);
    assert_eq!(
        forecast["summary"],
        "1,000 stores every 4 h need 8 slots and 1.2 requests/s; you have 12 slots, 4 of them paused, and may send 5/s. That is not enough. \
         The bottleneck is the number of proxies: 125 % of it is needed. One crawl of 1,000 stores takes about 5 h."
    );
    let roles = forecast["roles"].as_array().unwrap();
    assert_eq!(
        roles[..],
        [
            json!({"role": "payload_fetch", "runs_per_hour": 250.0, "seconds_per_run": 72.0, "measured_runs": 1, "requests_per_run": 18.0,
                   "busy_slots": 5.0, "slots": 12, "requests_per_second": 1.25}),
            json!({"role": "product_refresh", "runs_per_hour": 250.0, "seconds_per_run": 36.0, "measured_runs": 1, "requests_per_run": 0.0,
                   "busy_slots": 2.5, "slots": 12, "requests_per_second": 0.0}),
        ]
    );
    let numbers = [
        "stores",
        "every_hours",
        "slots_needed",
        "slots",
        "sessions_needed",
        "sessions",
        "limited_by",
        "share_of_limit",
        "is_enough",
        "crawl_seconds",
        "unmeasured",
        "requests_per_second_needed",
        "requests_per_second_permitted",
    ]
    .map(|name| forecast[name].clone());
    assert_eq!(
        numbers,
        [
            json!(1000),
            json!(4.0),
            json!(8),
            json!(12),
            json!(5),
            json!(4),
            json!("proxies"),
            json!(1.25),
            json!(false),
            json!(18000.0),
            json!([]),
            json!(1.25),
            json!(5.0)
        ]
    );
}

#[tokio::test]
async fn other_stores_intervals_and_slots_are_tried_out() {
    let server = scheduled_server().await;
    let cases: [(&str, i64, f64, [i64; 2]); 3] = [
        ("stores=2000", 2000, 4.0, [15, 12]),
        ("every=1h", 1000, 1.0, [30, 12]),
        ("stores=500&every=30m&slots=75", 500, 0.5, [30, 75]),
    ];
    for (query, stores, every_hours, slots) in cases {
        println!("{query}");
        let forecast = server.get(&format!("/api/tasks/capacity/forecast?{query}")).await.expect(200);
        assert_eq!((&forecast["stores"], &forecast["every_hours"]), (&json!(stores), &json!(every_hours)));
        assert_eq!([&forecast["slots_needed"], &forecast["slots"]], slots.map(|slots| json!(slots)).each_ref());
    }
}

#[tokio::test]
async fn a_group_with_a_schedule_of_its_own_is_counted_once() {
    let server = scheduled_server().await;
    let vip = "INSERT INTO task_schedules (name, role, cron, group_name) VALUES ('vip', 'payload_fetch', '0 0 * * * *', 'vip')";
    server.database.raw.batch_execute(vip).await.unwrap();
    let forecast = server.get("/api/tasks/capacity/forecast").await.expect(200);
    assert_eq!((&forecast["roles"][0]["runs_per_hour"], &forecast["stores"]), (&json!(400.0), &json!(1000)));
}

#[tokio::test]
async fn hosts_share_the_requests_by_their_stores_and_slow_answers_bound_them() {
    let server = scheduled_server().await;
    let split = "UPDATE dispensaries SET api_host = 'Menu.example.com:8443' WHERE id <= (SELECT min(id) + 249 FROM dispensaries)";
    server.database.raw.batch_execute(split).await.unwrap();
    let permitted = async || {
        let forecast = server.get("/api/tasks/capacity/forecast").await.expect(200);
        forecast["requests_per_second_permitted"].as_f64().unwrap()
    };
    assert!((permitted().await - 5.0 / 0.75).abs() < 1e-9, "750 of 1,000 stores are at dutchie.com");
    let slow = "INSERT INTO hosts (host, latency_ms) VALUES ('dutchie.com', 3000), ('menu.example.com', 9000)";
    server.database.raw.batch_execute(slow).await.unwrap();
    assert!((permitted().await - 2.0 / 0.75).abs() < 1e-9, "6 at a time, each for 3 s");
}

#[tokio::test]
async fn nothing_is_guessed_of_a_role_without_a_completed_run() {
    let server = scheduled_server().await;
    server.database.raw.batch_execute("DELETE FROM worker_tasks").await.unwrap();
    let forecast = server.get("/api/tasks/capacity/forecast").await.expect(200);
    assert_eq!(forecast["unmeasured"], json!(["payload_fetch", "product_refresh"]));
    let unknown = ["slots_needed", "requests_per_second_needed", "limited_by", "is_enough", "crawl_seconds"];
    assert_eq!(unknown.map(|name| &forecast[name]), [&Value::Null; 5]);
}
