//! One action on many tasks by HTTP: counted, done at once, or as an operation that is asked for later.

use contract::operations::{BulkAnswer, Operation};
use db::tasks;
use http::Method;
use serde_json::{Value, json};

use super::server::Server;

impl Server {
    async fn failed_tasks(&self, count: i32) {
        let sql = format!(
            "INSERT INTO worker_tasks (role, status, error_message) SELECT 'payload_fetch', 'failed', 'no answer' FROM generate_series(1, {count})"
        );
        self.database.raw.batch_execute(&sql).await.unwrap();
    }

    async fn with_status(&self, status: &str) -> i64 {
        let sql = "SELECT count(*) FROM worker_tasks WHERE status = $1";
        self.database.raw.query_one(sql, &[&status]).await.unwrap().get(0)
    }

    async fn audit_rows(&self) -> Vec<(String, String, Value)> {
        let rows =
            self.database.raw.query("SELECT action, target, detail FROM audit_log ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }
}

#[tokio::test]
async fn a_dry_run_counts_and_leaves_no_trace() {
    let server = Server::start().await;
    server.failed_tasks(5).await;
    server.post("/api/tasks", json!({"role": "analytics_refresh"})).await.expect(201);
    let body = json!({"action": "retry", "filter": {"created_after": "2020-01-01T00:00:00Z"}, "dry_run": true});
    let counted = server.post("/api/tasks/bulk", body).await.expect(200);
    assert_eq!(counted, json!({"matched": 6, "eligible": 5}));
    assert_eq!((server.with_status("failed").await, server.audit_rows().await.len()), (5, 1));
}

#[tokio::test]
async fn few_tasks_are_changed_at_once_and_the_audit_has_the_request() {
    let server = Server::start().await;
    server.failed_tasks(3).await;
    let body = json!({"action": "delete", "filter": {"status": "failed", "error": "no answer"}});
    let answer = server.post("/api/tasks/bulk", body).await.expect(200);
    assert_eq!(answer, json!({"done": 3, "failed": []}));
    assert_eq!(server.with_status("failed").await, 0);
    let (action, target, detail) = server.audit_rows().await.remove(0);
    assert_eq!((action.as_str(), target.as_str(), &detail["done"]), ("tasks.bulk", "delete", &json!(3)));
    assert_eq!(detail["request"]["filter"], json!({"status": "failed", "error": "no answer"}));
}

#[tokio::test]
async fn a_task_that_cannot_be_changed_is_named() {
    let server = Server::start().await;
    server.failed_tasks(1).await;
    let answer = server.post("/api/tasks/bulk", json!({"action": "retry", "ids": [1, 4711]})).await.expect(200);
    assert_eq!(answer, json!({"done": 1, "failed": [{"id": 4711, "reason": "it does not exist"}]}));
    let answer: BulkAnswer = serde_json::from_value(answer).unwrap();
    assert!(matches!(answer, BulkAnswer::Done { done: 1, .. }));
}

#[tokio::test]
async fn many_tasks_become_an_operation_that_tells_how_far_it_is() {
    let server = Server::start().await;
    server.failed_tasks(1001).await;
    let answer = server.post("/api/tasks/bulk", json!({"action": "delete", "filter": {"status": "failed"}})).await;
    let operation = answer.expect(202);
    let path = format!("/api/operations/{}", operation["id"]);
    assert_eq!(answer.headers["location"], path.as_str());
    let shown = ["action", "state", "matched", "done", "failed"].map(|name| operation[name].clone());
    assert_eq!(shown, [json!("delete"), json!("running"), json!(1001), json!(0), json!(0)]);
    assert_eq!(operation["created_by"], "local");
    assert_eq!(server.get(&path).await.expect(200), operation);

    tasks::operations::run_batch(&server.database.db).await.unwrap();
    assert_eq!(server.get(&path).await.expect(200)["done"], 200);
    while tasks::operations::run_batch(&server.database.db).await.unwrap().is_some() {}
    let ended: Operation = serde_json::from_value(server.get(&path).await.expect(200)).unwrap();
    assert_eq!((ended.state.as_str(), ended.done, server.with_status("failed").await), ("completed", 1001, 0));
    server.get("/api/operations/4711").await.problem(404);
}

#[tokio::test]
async fn a_bulk_request_sent_again_with_its_key_starts_no_second_operation() {
    let server = Server::start().await;
    server.failed_tasks(1001).await;
    let send = async || {
        let request = server.request(Method::POST, "/api/tasks/bulk").header("idempotency-key", "k");
        let body = json!({"action": "delete", "filter": {"status": "failed"}});
        server.send(request.body(body.to_string().into()).unwrap()).await
    };
    let (first, again) = (send().await, send().await);
    assert_eq!((first.expect(202), &first.headers["location"]), (again.expect(202), &again.headers["location"]));
}

#[tokio::test]
async fn what_no_task_can_have_is_no_fault_of_the_server() {
    let server = Server::start().await;
    let cases: [Value; 5] = [
        json!({"action": "delete", "filter": {"error": "a\u{0}"}}),
        json!({"action": "delete", "filter": {"created_after": "-200000-01-01T00:00:00Z"}}),
        json!({"action": "delete", "filter": {"created_before": "-004712-01-01T00:00:00Z"}}),
        json!({"action": "delete", "filter": {"created_before": "+262000-01-01T00:00:00Z"}}),
        json!({"action": "delete", "ids": [i64::MAX, i64::MIN]}),
    ];
    for body in cases {
        println!("{body}");
        let mut counted = body;
        counted["dry_run"] = true.into();
        let status = server.post("/api/tasks/bulk", counted).await.status.as_u16();
        assert!(matches!(status, 200 | 400), "{status}");
    }
}

#[tokio::test]
async fn a_wrong_bulk_request_is_refused_by_name() {
    let server = Server::start().await;
    server.failed_tasks(1).await;
    let cases: [(Value, &str); 8] = [
        (json!({"action": "delete", "filter": {}}), "filter"),
        (json!({"action": "delete", "filter": {"sort": "oldest"}}), "filter.sort"),
        (json!({"action": "delete"}), "filter"),
        (json!({"action": "delete", "filter": {"error": ""}}), "filter"),
        (json!({"action": "delete", "filter": {"role": ""}}), "filter.role"),
        (json!({"action": "delete", "filter": {"statsu": "failed"}}), "filter.statsu"),
        (json!({"action": "restart", "ids": [1]}), "action"),
        (json!({"action": "reprioritize", "ids": [1]}), "priority"),
    ];
    for (body, field) in cases {
        println!("{body}");
        let refused = server.post("/api/tasks/bulk", body).await.problem(400);
        assert_eq!(refused["field"], field, "{refused}");
        assert_eq!(server.with_status("failed").await, 1);
    }
}
