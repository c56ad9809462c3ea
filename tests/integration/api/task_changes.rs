//! One task changed over HTTP: each request's answer, its refusals, and its record in the audit log.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::server::{Answer, Server};
use testkit::{PATIENCE, until};

impl Server {
    async fn change(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let body = body.map_or_else(String::new, |body| body.to_string());
        self.send(self.request(method, path).body(Full::from(body)).unwrap()).await
    }

    /// A task of a store, as it was answered when it was made.
    async fn make_task(&self) -> Value {
        let store = self.add_store("a-shop").await;
        self.post("/api/tasks", json!({"role": "payload_fetch", "dispensary_id": store})).await.expect(201)
    }
}

#[tokio::test]
async fn a_task_is_changed_cancelled_retried_and_removed_and_the_audit_tells() {
    let server = Server::start().await;
    let task = server.make_task().await;
    let path = format!("/api/tasks/{}", task["id"]);
    let changed = server.change(Method::PUT, &path, Some(json!({"priority": 20}))).await.expect(200);
    assert_eq!((&changed["priority"], &changed["status"]), (&json!(20), &json!("pending")));
    let cancelled = server.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(cancelled.expect(200)["status"], "cancelled");
    let retried = server.post(&format!("{path}/retry"), json!({})).await;
    assert_eq!(retried.expect(200)["status"], "pending");
    assert_eq!(server.change(Method::DELETE, &path, None).await.status, 204);
    server.get(&path).await.problem(404);
    let rows = server.database.raw.query("SELECT action FROM audit_log ORDER BY id", &[]).await.unwrap();
    let actions: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(actions, ["tasks.create", "tasks.update", "tasks.cancel", "tasks.retry", "tasks.delete"]);
}

#[tokio::test]
async fn what_a_task_does_not_allow_is_a_conflict() {
    let server = Server::start().await;
    let task = server.make_task().await;
    let path = format!("/api/tasks/{}", task["id"]);
    server.post(&format!("{path}/retry"), json!({})).await.problem(409);
    // the transaction of the refusal may keep the row locked until its connection has closed
    let claim = "SELECT count(*) FROM claim_task('payload_fetch', 'w')";
    until("a worker has it", PATIENCE, async || {
        server.database.raw.query_one(claim, &[]).await.unwrap().get::<_, i64>(0) == 1
    })
    .await;
    server.change(Method::DELETE, &path, None).await.problem(409);
    server.change(Method::PUT, &path, Some(json!({"priority": 1}))).await.problem(409);
    server.post("/api/tasks/4711/cancel", json!({})).await.problem(404);
    assert_eq!(
        server.change(Method::PUT, &path, Some(json!({"priority": 5000}))).await.problem(400)["field"],
        "priority"
    );
    assert_eq!(server.change(Method::PUT, &path, Some(json!({}))).await.problem(400)["field"], "priority");
}

#[tokio::test]
async fn a_retry_names_the_open_task_that_does_the_same() {
    let server = Server::start().await;
    let task = server.make_task().await;
    let path = format!("/api/tasks/{}", task["id"]);
    server.post(&format!("{path}/cancel"), json!({})).await.expect(200);
    let body = json!({"role": "payload_fetch", "dispensary_id": task["dispensary_id"]});
    let twin = server.post("/api/tasks", body).await.expect(201);
    assert_eq!(server.post(&format!("{path}/retry"), json!({})).await.problem(409)["task_id"], twin["id"]);
}

#[tokio::test]
async fn a_task_that_was_changed_meanwhile_is_not_changed_again_unseen() {
    let server = Server::start().await;
    let task = server.make_task().await;
    let path = format!("/api/tasks/{}", task["id"]);
    let read = server.get(&path).await.headers["etag"].clone();
    let put = async |priority: i64| {
        let request = server.request(Method::PUT, &path).header("if-match", &read);
        server.send(request.body(json!({ "priority": priority }).to_string().into()).unwrap()).await
    };
    assert_eq!(put(5).await.expect(200)["priority"], 5);
    put(6).await.problem(412);
    for odd in [i64::MAX, i64::MIN, -1] {
        let request = server.request(Method::PUT, &path).header("if-match", format!("\"{odd}-0\""));
        server.send(request.body(json!({"priority": 6}).to_string().into()).unwrap()).await.problem(412);
    }
    assert_eq!(server.get(&path).await.expect(200)["priority"], 5);
}

#[tokio::test]
async fn a_task_that_a_client_has_is_not_sent_again_until_something_of_it_changes() {
    let server = Server::start().await;
    let task = server.make_task().await;
    let path = format!("/api/tasks/{}", task["id"]);
    let read = server.get(&path).await.headers["etag"].clone();
    let again = async || {
        let request = server.request(Method::GET, &path).header("if-none-match", &read);
        server.send(request.body(Full::default()).unwrap()).await.status.as_u16()
    };
    assert_eq!(again().await, 304);
    // a heartbeat moves no updated_at, and yet is news for a reader
    let beat = "SET xmlbinary = hex; UPDATE worker_tasks SET last_heartbeat_at = now(); RESET xmlbinary";
    server.database.raw.batch_execute(beat).await.unwrap();
    assert_eq!(again().await, 200);
}
