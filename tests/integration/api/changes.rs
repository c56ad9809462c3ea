//! Requests that change something, sent more than once.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::server::{Answer, Server};

async fn create(server: &Server, key: &str, body: &Value) -> Answer {
    let request = server.request(Method::POST, "/api/tasks").header("idempotency-key", key);
    server.send(request.body(Full::from(body.to_string())).unwrap()).await
}

async fn tasks(server: &Server) -> i64 {
    server.database.raw.query_one("SELECT count(*) FROM worker_tasks", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_request_sent_again_with_its_key_gets_the_same_answer_and_changes_nothing() {
    let server = Server::start().await;
    let body = json!({"role": "analytics_refresh"});
    let first = create(&server, "k1", &body).await;
    first.expect(201);
    server.database.raw.batch_execute("UPDATE worker_tasks SET status = 'cancelled'").await.unwrap();
    let again = create(&server, "k1", &body).await;
    assert_eq!(again.expect(201), first.json());
    assert_eq!(again.headers["location"], first.headers["location"]);
    assert_eq!(tasks(&server).await, 1);
    create(&server, "k2", &body).await.expect(201);
    assert_eq!(tasks(&server).await, 2);
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let server = Server::start().await;
    create(&server, "k1", &json!({"role": "analytics_refresh"})).await.expect(201);
    create(&server, "k1", &json!({"role": "analytics_refresh", "priority": 3})).await.problem(422);
    let twice =
        server.request(Method::POST, "/api/tasks").header("idempotency-key", "a").header("idempotency-key", "b");
    let twice = server.send(twice.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await;
    assert_eq!(twice.problem(400)["field"], "Idempotency-Key");
    assert_eq!(
        create(&server, "", &json!({"role": "analytics_refresh"})).await.problem(400)["field"],
        "Idempotency-Key"
    );
    assert_eq!(tasks(&server).await, 1);
}

#[tokio::test]
async fn a_key_is_free_after_a_refusal_and_after_a_day() {
    let server = Server::start().await;
    let body = json!({"role": "analytics_refresh"});
    create(&server, "k1", &json!({"role": "payload_fetch", "dispensary_id": 7})).await.problem(404);
    create(&server, "k1", &body).await.expect(201);
    let sql = "UPDATE worker_tasks SET status = 'cancelled';
               UPDATE idempotency_keys SET created_at = now() - interval '25 hours'";
    server.database.raw.batch_execute(sql).await.unwrap();
    create(&server, "k1", &body).await.expect(201);
    assert_eq!(tasks(&server).await, 2);
}

#[tokio::test]
async fn requests_with_one_key_at_once_have_one_effect() {
    let server = Server::start().await;
    let body = json!({"role": "analytics_refresh"});
    let answers = futures_util::future::join_all((0..20).map(|_| create(&server, "k1", &body))).await;
    let first = answers[0].expect(201);
    assert!(answers.iter().all(|answer| answer.expect(201) == first));
    assert_eq!(tasks(&server).await, 1);
}
