//! How requests that are not welcome are refused: each with its status, a problem document and the offender's
//! name.

use std::time::Duration;

use http::Method;
use http_body_util::Full;
use serde_json::json;

use super::server::Server;

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let server = Server::start().await;
    server.get("/api/nothing").await.problem(404);
    server.get("/api/tasks/17").await.problem(404);
    let refused = server.send(server.request(Method::DELETE, "/api/tasks").body(Full::default()).unwrap()).await;
    refused.problem(405);
    assert_eq!(refused.headers["allow"], "GET,HEAD,POST");
}

#[tokio::test]
async fn an_unknown_or_impossible_parameter_is_refused_by_name() {
    let server = Server::start().await;
    for (query, field) in [
        ("/api/tasks?statsu=failed", "statsu"),
        ("/api/tasks?status=done", "status"),
        ("/api/tasks?role=fetch", "role"),
        ("/api/tasks?role=", "role"),
        ("/api/tasks?platform=x", "platform"),
        ("/api/tasks?limit=0", "limit"),
        ("/api/tasks?limit=1&limit=2", "limit"),
        ("/api/tasks?a[]=1", "a[]"),
        ("/api/tasks?__proto__=1", "__proto__"),
        ("/api/tasks?cursor=17", "cursor"),
        ("/api/tasks?created_after=yesterday", "created_after"),
        ("/api/tasks?dispensary_id=x", "dispensary_id"),
        ("/api/tasks?worker_id=%00", "worker_id"),
        ("/api/tasks/counts?x=1", "x"),
        ("/api/worker-registry?x=1", "x"),
        ("/api/worker-registry/roles?x=1", "x"),
        ("/api/tasks/1?x=1", "x"),
        ("/api/tasks/abc", "id"),
    ] {
        assert_eq!(server.get(query).await.problem(400)["field"], field, "{query}");
    }
    for query in ["%00=1", "=1"] {
        server.get(&format!("/api/tasks?{query}")).await.problem(400);
    }
    let problem = server.get("/api/tasks?limit=501").await.problem(400);
    assert!(problem["detail"].as_str().unwrap().contains("(1 to 500)"), "{problem}");
}

#[tokio::test]
async fn a_body_that_is_not_a_request_is_refused_by_name() {
    let server = Server::start().await;
    for (body, field) in [
        (json!({"role": "analytics_refresh", "prio": 3}), "prio"),
        (json!({"role": "analytics_refresh", "priority": "high"}), "priority"),
        (json!({"role": "analytics_refresh", "priority": 2000}), "priority"),
        (json!({"role": "analytics_refresh", "max_retries": 21}), "max_retries"),
        (json!({"role": "analytics_refresh", "payload": {"a": 1}}), "payload"),
        (json!({"role": "analytics_refresh", "depends_on": [1, "x"]}), "depends_on[1]"),
        (json!({"role": "nothing"}), "role"),
        (json!({"role": "payload_fetch"}), "dispensary_id"),
        (json!({"priority": 3}), "role"),
    ] {
        assert_eq!(server.post("/api/tasks", body.clone()).await.problem(400)["field"], field, "{body}");
    }
}

#[tokio::test]
async fn every_answer_has_an_id_and_is_neither_stored_nor_guessed_at() {
    let server = Server::start().await;
    for path in ["/api/tasks", "/livez", "/metrics", "/api/nothing"] {
        let answer = server.get(path).await;
        assert_eq!(answer.headers["cache-control"], "no-store", "{path}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(answer.headers["x-request-id"].len(), 16, "{path}");
    }
    let refused = server.get("/api/tasks?limit=0").await;
    let problem = refused.problem(400);
    assert_eq!(problem["request_id"], refused.headers["x-request-id"].to_str().unwrap());
    assert_eq!(problem["errors"], json!([{"field": "limit", "detail": "0 is out of range (1 to 500)"}]));
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered_with_503() {
    // the last request is to be answered within it, too
    let server = Server::with_timeout(Duration::from_secs(2)).await;
    let lock = "BEGIN; LOCK TABLE worker_registry IN ACCESS EXCLUSIVE MODE";
    server.database.raw.batch_execute(lock).await.unwrap();
    server.get("/api/worker-registry").await.problem(503);
    server.database.raw.batch_execute("COMMIT").await.unwrap();
    server.get("/api/worker-registry").await.expect(200);
}
