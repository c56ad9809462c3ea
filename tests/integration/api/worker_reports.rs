//! Workers of other programs in the registry.

use serde_json::{Value, json};

use super::server::Server;

fn heartbeat() -> Value {
    json!({
        "worker_id": "worker-any-1", "current_task_id": 456, "current_task_ids": [456, 457], "active_task_count": 2,
        "max_concurrent_tasks": 3, "status": "backing_off",
        "resources": {"memory_mb": 256, "memory_total_mb": 512, "memory_rss_mb": 320, "memory_percent": 50, "cpu_user_ms": 12500,
                      "cpu_system_ms": 3200, "cpu_percent": 45, "is_backing_off": true, "backoff_reason": "Memory at 87.3%"},
    })
}

async fn register(server: &Server) -> Value {
    let body =
        json!({"worker_id": "worker-any-1", "friendly_name": "Xylos-1", "pod": "Xylos", "role": "product_resync"});
    server.post("/api/worker-registry/register", body).await.expect(201)
}

async fn workers(server: &Server) -> Vec<Value> {
    server.get("/api/worker-registry").await.expect(200)["workers"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_worker_of_another_program_is_listed_as_its_heartbeat_says() {
    let server = Server::start().await;
    let registered = register(&server).await;
    assert_eq!(registered["roles"], json!(["product_discovery", "payload_fetch", "product_refresh"]));
    let answer = server.post("/api/worker-registry/heartbeat", heartbeat()).await.expect(200);
    assert_eq!(answer, json!({"worker_id": "worker-any-1", "commands": []}));

    let [listed] = workers(&server).await.try_into().unwrap();
    for (field, reported) in heartbeat().as_object().unwrap().iter().filter(|(field, _)| *field != "resources") {
        assert_eq!(listed[field], *reported, "{field}");
    }
    assert_eq!((&listed["pod"], &listed["friendly_name"]), (&json!("Xylos"), &json!("Xylos-1")));
    assert_eq!(listed["resources"]["backoff_reason"], "Memory at 87.3%");
    assert_eq!(listed["roles"], registered["roles"], "a heartbeat leaves the registration as it is");

    let left = server.post("/api/worker-registry/deregister", json!({"worker_id": "worker-any-1"})).await;
    assert_eq!(left.status, 204);
    assert!(workers(&server).await.is_empty());
    server.post("/api/worker-registry/heartbeat", heartbeat()).await.problem(404);
    server.post("/api/worker-registry/deregister", json!({"worker_id": "worker-any-1"})).await.problem(404);
}

#[tokio::test]
async fn a_heartbeat_answers_each_command_once() {
    let server = Server::start().await;
    register(&server).await;
    for command in ["pause", "resume"] {
        server.post(&format!("/api/worker-registry/worker-any-1/{command}"), json!({})).await.expect(202);
    }
    let commands =
        async || server.post("/api/worker-registry/heartbeat", heartbeat()).await.expect(200)["commands"].clone();
    assert_eq!(commands().await, json!(["pause", "resume"]));
    assert_eq!(commands().await, json!([]));
    server.post("/api/worker-registry/worker-any-1/decommission", json!({})).await.expect(202);
    register(&server).await;
    assert_eq!(commands().await, json!([]), "it was for the process before");
}

#[tokio::test]
async fn a_report_that_cannot_be_true_is_refused_by_its_field() {
    let server = Server::start().await;
    for (field, value) in [
        ("worker_id", json!("")),
        ("worker_id", json!("a\nb")),
        ("max_concurrent_tasks", json!(0)),
        ("heartbeat_seconds", json!(100_000)),
        ("status", json!("asleep")),
        ("role", json!("cook")),
        ("current_task_ids", json!(vec![1; 1_001])),
    ] {
        let mut body = json!({"worker_id": "w"});
        body[field] = value;
        assert_eq!(server.post("/api/worker-registry/register", body).await.problem(400)["field"], field);
    }
    let body = json!({"worker_id": "w", "resources": {"memory": 1}});
    let problem = server.post("/api/worker-registry/register", body).await.problem(400);
    assert!(problem["detail"].as_str().unwrap().contains("unknown field `memory`"), "{problem}");
}
