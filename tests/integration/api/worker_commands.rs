//! What people order workers to do.

use http::Method;
use serde_json::json;

use super::server::Server;

async fn with_worker(id: &str) -> Server {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
               VALUES ($1, 'Xylos-1', 'Xylos', 'any', '{}', 'active', 3)";
    server.database.raw.execute(sql, &[&id]).await.unwrap();
    server
}

#[tokio::test]
async fn an_order_waits_for_its_worker() {
    let server = with_worker("worker any/1").await;
    for command in ["pause", "resume", "decommission"] {
        let answer = server.post(&format!("/api/worker-registry/worker%20any%2F1/{command}"), json!({})).await;
        assert_eq!(answer.expect(202), json!({"worker_id": "worker any/1", "command": command}));
    }
    let sql = "SELECT string_agg(command, ' ' ORDER BY id) FROM worker_commands WHERE worker_id = 'worker any/1' AND taken_at IS NULL";
    let orders: String = server.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(orders, "pause resume decommission");
    let audit = server.get("/api/audit?action=workers.order").await.expect(200);
    assert_eq!((&audit["audit"][0]["target"], audit["audit"].as_array().unwrap().len()), (&json!("worker any/1"), 3));
}

#[tokio::test]
async fn a_worker_that_is_not_registered_gets_no_order() {
    let server = with_worker("worker-1").await;
    server.post("/api/worker-registry/worker-2/pause", json!({})).await.problem(404);
    assert_eq!(server.post("/api/worker-registry/a%00b/pause", json!({})).await.problem(400)["field"], "path");
    let operator = server.token("operator").await;
    let path = "/api/worker-registry/worker-1/decommission";
    server.call(Method::POST, path, &operator, None).await.problem(403);
}
