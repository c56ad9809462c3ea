//! Work done and needed by role, by HTTP: capacity, last and recent completions, a store's active task.

use rstest::rstest;
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

#[rstest]
#[case::an_unknown_role("/api/tasks/capacity/payload_fetsch", "role")]
#[case::no_role("/api/tasks/capacity/,", "role")]
#[case::an_unknown_role_of_completions("/api/tasks/role/x/last-completion", "role")]
#[case::too_many("/api/tasks/role/payload_fetch/recent?limit=501", "limit")]
#[case::no_store("/api/tasks/store/x/active", "id")]
#[tokio::test]
async fn a_wrong_parameter_is_refused_by_name(#[case] path: &str, #[case] field: &str) {
    let server = Server::start().await;
    assert_eq!(server.get(path).await.problem(400)["field"], field);
}
