//! `/api/pauses`, and everything that shows a pause.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::server::{Answer, Server};

const WORKER: &str =
    "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
                      VALUES ('worker-1', 'Xylos-1', 'Xylos', 'any', '{}', 'active', 3);
                      INSERT INTO hosts (host) VALUES ('menu.test')";

async fn server() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(WORKER).await.unwrap();
    server
}

async fn pause(server: &Server, body: Value) -> Value {
    server.post("/api/pauses", body).await.expect(201)
}

async fn delete(server: &Server, id: &Value) -> Answer {
    let request = server.request(Method::DELETE, &format!("/api/pauses/{id}"));
    server.send(request.body(Full::default()).unwrap()).await
}

async fn put_host(server: &Server, body: Value) -> Answer {
    let request = server.request(Method::PUT, "/api/hosts/menu.test").header("content-type", "application/json");
    server.send(request.body(body.to_string().into()).unwrap()).await
}

/// Scope and name of each pause in force.
async fn in_force(server: &Server) -> Vec<Value> {
    let list = server.get("/api/pauses").await.expect(200);
    list["pauses"].as_array().unwrap().iter().map(|pause| json!([pause["scope"], pause["of"]])).collect()
}

#[tokio::test]
async fn a_pause_is_made_listed_audited_and_ended() {
    let server = server().await;
    let role = pause(&server, json!({"scope": "role", "of": "product_refresh", "reason": " parsers are wrong "})).await;
    assert_eq!(
        (&role["reason"], &role["until"], &role["created_by"]),
        (&json!("parsers are wrong"), &Value::Null, &json!("local"))
    );
    pause(&server, json!({"scope": "all", "reason": "maintenance"})).await;
    assert_eq!(in_force(&server).await, [json!(["all", null]), json!(["role", "product_refresh"])]);

    assert_eq!(delete(&server, &role["id"]).await.status, 204);
    delete(&server, &role["id"]).await.problem(404);
    assert_eq!(in_force(&server).await, [json!(["all", null])]);
    let audit = server.get("/api/audit").await.expect(200);
    let told: Vec<Value> =
        audit["audit"].as_array().unwrap().iter().map(|row| json!([row["action"], row["target"]])).collect();
    let expected = [
        json!(["pauses.delete", "role product_refresh"]),
        json!(["pauses.create", "everything"]),
        json!(["pauses.create", "role product_refresh"]),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_second_pause_of_the_same_thing_replaces_the_first() {
    let server = server().await;
    let first = pause(&server, json!({"scope": "pod", "of": "Xylos", "reason": "too hot"})).await;
    let until = "2099-01-01T00:00:00Z";
    let bad = server.post("/api/pauses", json!({"scope": "pod", "of": "Xylos", "reason": "x", "until": until})).await;
    assert_eq!(bad.problem(400)["detail"], "until: is more than a year away");
    let second = pause(&server, json!({"scope": "pod", "of": "Xylos", "reason": "still too hot"})).await;
    assert_eq!((&second["id"], &second["reason"]), (&first["id"], &json!("still too hot")));
    assert_eq!(in_force(&server).await.len(), 1);
}

#[tokio::test]
async fn a_wrong_pause_is_refused() {
    let server = server().await;
    let cases: [(Value, u16, &str); 8] = [
        (json!({"scope": "role", "reason": "x"}), 400, "of: is missing: name the role to pause"),
        (json!({"scope": "all", "of": "x", "reason": "x"}), 400, "of: must be left out: the scope `all` has no name"),
        (json!({"scope": "all", "reason": "  "}), 400, "reason: must be 1 to 200 characters"),
        (json!({"scope": "all", "reason": "x", "until": "2020-01-01T00:00:00Z"}), 400, "until: has passed"),
        (json!({"scope": "store", "of": "4711", "reason": "x"}), 404, "store 4711 does not exist"),
        (json!({"scope": "pod", "of": "Nova", "reason": "x"}), 404, "pod Nova does not exist"),
        (json!({"scope": "worker", "of": "w", "reason": "x"}), 404, "worker w does not exist"),
        (json!({"scope": "host", "of": "z.test", "reason": "x"}), 404, "host z.test does not exist"),
    ];
    for (body, status, fault) in cases {
        println!("{body}");
        let problem = server.post("/api/pauses", body).await.problem(status);
        assert!(problem["detail"].as_str().unwrap().contains(fault), "{problem}");
        assert_eq!(in_force(&server).await, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn a_pause_shows_on_the_overview_among_the_probes_and_in_the_metrics() {
    let server = server().await;
    let before = server.get("/readyz").await.expect(200);
    assert_eq!(before["parts"]["pauses"], json!({"state": "ok"}));
    pause(&server, json!({"scope": "role", "of": "product_refresh", "reason": "parsers are wrong"})).await;
    assert_eq!(server.get("/api/overview").await.expect(200)["pauses"][0]["of"], "product_refresh");
    let ready = server.get("/readyz").await.expect(200);
    assert_eq!(ready["parts"]["pauses"]["detail"], "paused: role product_refresh (parsers are wrong)");
    let metrics = server.get("/metrics").await.text();
    assert!(
        metrics.contains("drover_paused{scope=\"role\"} 1") && metrics.contains("drover_paused{scope=\"all\"} 0"),
        "{metrics}"
    );
}

#[tokio::test]
async fn pausing_a_worker_by_the_registry_is_a_pause_of_its_name() {
    let server = server().await;
    server.post("/api/worker-registry/worker-1/pause", json!({})).await.expect(202);
    assert_eq!(in_force(&server).await, [json!(["worker", "Xylos-1"])]);
    server.post("/api/worker-registry/worker-1/resume", json!({})).await.expect(202);
    assert_eq!(in_force(&server).await, [] as [Value; 0]);
    let by_id = pause(&server, json!({"scope": "worker", "of": "worker-1", "reason": "x"})).await;
    assert_eq!(by_id["of"], "Xylos-1");
}

#[tokio::test]
async fn the_pause_of_a_host_and_its_breaker_are_one() {
    let server = server().await;
    let breaker = async || server.get("/api/hosts/menu.test").await.expect(200)["breaker"].clone();
    let made = pause(&server, json!({"scope": "host", "of": "Menu.TEST", "reason": "their request"})).await;
    assert_eq!(breaker().await, "open");
    assert_eq!(delete(&server, &made["id"]).await.status, 204);
    assert_eq!(breaker().await, "closed");

    put_host(&server, json!({"breaker": "open", "why": "their request"})).await.expect(200);
    assert_eq!(in_force(&server).await, [json!(["host", "menu.test"])]);
    put_host(&server, json!({"breaker": "closed"})).await.expect(200);
    assert_eq!(in_force(&server).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_viewer_sees_pauses_and_makes_none() {
    let server = server().await;
    let viewer = server.token("viewer").await;
    server.call(Method::GET, "/api/pauses", &viewer, None).await.expect(200);
    let body = json!({"scope": "all", "reason": "x"});
    server.call(Method::POST, "/api/pauses", &viewer, Some(body)).await.problem(403);
}
