//! The job queue by HTTP: tasks one by one, in batches and for a state, and the picture of its pods.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::server::{MAX_BODY, Server};

impl Server {
    async fn tasks(&self) -> i64 {
        self.database.raw.query_one("SELECT count(*) FROM worker_tasks", &[]).await.unwrap().get(0)
    }
}

#[tokio::test]
async fn a_task_is_enqueued_as_old_clients_ask_for_it() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let body = json!({"role": "product_resync", "dispensary_id": store, "platform": "dutchie", "priority": 20});
    let answer = server.post("/api/job-queue/enqueue", body.clone()).await;
    let task = answer.expect(201);
    assert_eq!((&task["role"], &task["priority"]), (&json!("payload_fetch"), &json!(20)));
    assert_eq!(answer.headers["location"], format!("/api/tasks/{}", task["id"]).as_str());
    assert_eq!(server.post("/api/job-queue/enqueue", body).await.problem(409)["task_id"], task["id"]);
}

#[tokio::test]
async fn each_task_of_a_batch_has_its_own_outcome() {
    let server = Server::start().await;
    let (one, two) = (server.add_store("green-leaf").await, server.add_store("blue-sky").await);
    let open = server.post("/api/tasks", json!({"role": "payload_fetch", "dispensary_id": two})).await.expect(201);
    let tasks = json!([
        {"role": "payload_fetch", "dispensary_id": one},
        {"role": "payload_fetch", "dispensary_id": two},
        {"role": "payload_fetsch", "dispensary_id": one},
        {"role": "product_refresh", "dispensary_id": one, "priority": "high"},
        {"role": "product_refresh", "dispensary_id": one, "prio": 3},
        {"role": "product_refresh", "dispensary_id": 4711},
        [],
        {"role": "analytics_refresh"},
    ]);
    let answer = server.post("/api/job-queue/enqueue-batch", json!({"tasks": tasks})).await.expect(200);
    assert_eq!((&answer["made"], &answer["refused"]), (&json!(2), &json!(6)));
    let items = answer["tasks"].as_array().unwrap();
    let fields: Vec<&str> = items.iter().map(|item| item["field"].as_str().unwrap_or("-")).collect();
    assert_eq!(fields, ["-", "-", "role", "priority", "prio", "dispensary_id", "-", "-"]);
    let errors: Vec<bool> = items.iter().map(|item| item["error"].is_string()).collect();
    assert_eq!(errors, [false, true, true, true, true, true, true, false]);
    assert_eq!(items[1]["id"], open["id"], "the open one that does the same");
    assert_eq!(server.get(&format!("/api/tasks/{}", items[7]["id"])).await.expect(200)["role"], "analytics_refresh");
    assert_eq!(server.tasks().await, 3);
}

#[tokio::test]
async fn a_batch_may_be_larger_than_other_bodies() {
    let server = Server::start().await;
    let note = "x".repeat(190);
    let tasks: Vec<Value> =
        (0..100).map(|n| json!({"role": "analytics_refresh", "dedup_key": format!("{n}-{note}")})).collect();
    let body = json!({ "tasks": tasks });
    assert!(body.to_string().len() > 4 * MAX_BODY);
    let answer = server.post("/api/job-queue/enqueue-batch", body).await.expect(200);
    assert_eq!((&answer["made"], server.tasks().await), (&json!(100), 100));
}

#[tokio::test]
async fn a_batch_beyond_16_mib_is_refused() {
    let server = Server::start().await;
    let body = format!("{}{{}}", " ".repeat(16 * 1024 * 1024));
    let request = server.request(Method::POST, "/api/job-queue/enqueue-batch").body(Full::from(body)).unwrap();
    server.send(request).await.problem(413);
}

#[tokio::test]
async fn every_store_of_a_state_gets_a_task_that_has_none() {
    let server = Server::start().await;
    for name in ["green-leaf", "blue-sky", "far-away"] {
        server.add_store(name).await;
    }
    let sql =
        "UPDATE dispensaries SET crawl_enabled = true, state = CASE WHEN slug = 'far-away' THEN 'NV' ELSE 'AZ' END";
    server.database.raw.batch_execute(sql).await.unwrap();
    let ask = async || server.post("/api/job-queue/enqueue-state", json!({"state_code": "AZ"})).await.expect(200);
    assert_eq!(ask().await, json!({"count": 2, "skipped": 0, "raised": 0}));
    assert_eq!(ask().await, json!({"count": 0, "skipped": 2, "raised": 0}));
    let page = server.get("/api/tasks").await.expect(200);
    assert!(page["tasks"].as_array().unwrap().iter().all(|task| task["role"] == "payload_fetch"), "{page}");
    let refused = server.post("/api/job-queue/enqueue-state", json!({"state_code": "Arizona"})).await.problem(400);
    assert_eq!(refused["field"], "state_code");
}

#[tokio::test]
async fn the_picture_has_the_pods_with_their_workers_and_the_queue() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, resources) VALUES
                 ('b', 'Xylos-1', 'Xylos', 'any', '{payload_fetch}', 'backing_off', 3, '{\"memory_percent\": 87.5, \"cpu_percent\": 20}'),
                 ('a', 'Aethelgard-1', 'Aethelgard', 'any', '{payload_fetch}', 'active', 3, '{\"memory_percent\": 50, \"cpu_percent\": 45}'),
                 ('c', 'Aethelgard-2', 'Aethelgard', 'any', '{payload_fetch}', 'active', 3, '{\"memory_percent\": 51, \"cpu_percent\": 44}');
               INSERT INTO worker_tasks (role) VALUES ('payload_fetch')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let picture = server.get("/api/job-queue/pods").await.expect(200);
    let pods: Vec<_> = picture["pods"].as_array().unwrap().iter().collect();
    let shown: Vec<Value> =
        pods.iter().map(|pod| json!([pod["name"], pod["status"], pod["memory_percent"], pod["cpu_percent"]])).collect();
    assert_eq!(shown, [json!(["Aethelgard", "Normal", 51.0, 45.0]), json!(["Xylos", "Backing off", 87.5, 20.0])]);
    assert_eq!(
        (&pods[0]["workers"][1]["friendly_name"], &picture["queue"]["pending"]),
        (&json!("Aethelgard-2"), &json!(1))
    );
}
