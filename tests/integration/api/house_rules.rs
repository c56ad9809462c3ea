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

/// One parameter of each type, and each rule that no type has: the readers' own tests have the other faults.
#[tokio::test]
async fn an_unknown_or_impossible_parameter_is_refused_by_name() {
    let server = Server::start().await;
    for (query, field) in [
        ("/api/tasks?statsu=failed", "statsu"),
        ("/api/tasks?status=done", "status"),
        ("/api/tasks?role=", "role"),
        ("/api/tasks?platform=x", "platform"),
        ("/api/tasks?limit=501", "limit"),
        ("/api/tasks?limit=1&limit=2", "limit"),
        ("/api/tasks?a[]=1", "a[]"),
        ("/api/tasks?__proto__=1", "__proto__"),
        ("/api/tasks?cursor=17", "cursor"),
        ("/api/tasks?created_after=yesterday", "created_after"),
        ("/api/tasks?dispensary_id=x", "dispensary_id"),
        ("/api/tasks?worker_id=%00", "worker_id"),
        ("/api/tasks/1?x=1", "x"),
        ("/api/tasks/abc", "id"),
        ("/api/tasks/capacity/payload_fetsch", "role"),
        ("/api/tasks/capacity/,", "role"),
        ("/api/tasks/capacity/forecast?stores=0", "stores"),
        ("/api/tasks/capacity/forecast?slots=1000001", "slots"),
        ("/api/tasks/capacity/forecast?every=4", "every"),
        ("/api/tasks/capacity/forecast?every=0s", "every"),
        ("/api/overview?hours=25", "hours"),
        ("/api/stores?state=Arizona", "state"),
        ("/api/stores?crawl_enabled=yes", "crawl_enabled"),
        ("/api/stores/1/products?sort=size", "sort"),
        ("/api/stores/1/products?min_price=2147483648", "min_price"),
        ("/api/products/search?sort=relevance", "sort"),
        ("/api/products/search?max_unit_price=-1", "max_unit_price"),
        ("/api/products/search?q=", "q"),
        ("/api/products/1/history?points=1001", "points"),
        ("/api/products/1/history?nth=-1", "nth"),
        ("/api/payloads/1/data?raw=2", "raw"),
        ("/api/payloads/store/1/diff?from=first", "from"),
    ] {
        assert_eq!(server.get(query).await.problem(400)["errors"][0]["field"], field, "{query}");
    }
    for query in ["%00=1", "=1"] {
        server.get(&format!("/api/tasks?{query}")).await.problem(400);
    }
}

/// The same of bodies.
#[tokio::test]
async fn a_body_that_is_not_a_request_is_refused_by_name() {
    let server = Server::start().await;
    for (path, body, field) in [
        ("tasks", json!({"role": "analytics_refresh", "prio": 3}), "prio"),
        ("tasks", json!({"role": "analytics_refresh", "priority": "high"}), "priority"),
        ("tasks", json!({"role": "analytics_refresh", "depends_on": [1, "x"]}), "depends_on[1]"),
        ("tasks", json!({"role": "payload_fetch"}), "dispensary_id"),
        ("tasks", json!({"priority": 3}), "role"),
        ("tasks/recover-stale", json!({"threshold_minutes": 0}), "threshold_minutes"),
        ("tasks/generate/resync", json!({"date": "tomorrow"}), "date"),
        ("tasks/generate/resync", json!({"state_code": "Arizona"}), "state_code"),
        ("tasks/generate/discovery", json!({}), "platform"),
        ("job-queue/enqueue-batch", json!({"tasks": []}), "tasks"),
        ("job-queue/enqueue-batch", json!({"tasks": vec![1; 10_001]}), "tasks"),
    ] {
        println!("{path}: {field}");
        assert_eq!(server.post(&format!("/api/{path}"), body).await.problem(400)["field"], field);
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
