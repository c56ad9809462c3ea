//! Permissions by tokens, logins and their access roles.

use std::time::Duration;

use http::Method;
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::server::{Answer, Server};
use testkit::{drover, until};

const SOON: Duration = Duration::from_secs(60);

async fn with_header(server: &Server, name: &str, values: &[&str]) -> Answer {
    let mut request = server.request(Method::GET, "/api/tasks");
    for value in values {
        request = request.header(name, *value);
    }
    server.send(request.body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn from_the_first_token_on_nothing_is_answered_without_one() {
    let server = Server::start().await;
    server.get("/api/tasks").await.expect(200);
    let token = server.token("viewer").await;
    until("the server asks for a token", SOON, async || server.get("/api/tasks").await.status == 401).await;
    let refused = server.get("/api/tasks").await;
    refused.problem(401);
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    server.call(Method::GET, "/api/tasks", &token, None).await.expect(200);
    server.get("/livez").await.expect(200);
    server.get("/readyz").await.expect(200);
    server.get("/api/nothing").await.problem(404);
}

#[tokio::test]
async fn a_revoked_token_opens_nothing_and_neither_do_its_logins() {
    let server = Server::start().await;
    let (admin, viewer) = (server.token("admin").await, server.token("viewer").await);
    let login = server.post("/api/session", json!({ "token": viewer })).await;
    login.expect(200);
    let cookie = cookie(&login);
    with_header(&server, "cookie", &[&cookie]).await.expect(200);
    let tokens = server.call(Method::GET, "/api/tokens", &admin, None).await.expect(200);
    let id = tokens["tokens"].as_array().unwrap().iter().find(|token| token["name"] == "viewer").unwrap()["id"].clone();
    let revoked = server.call(Method::DELETE, &format!("/api/tokens/{id}"), &admin, None).await;
    assert_eq!(revoked.status, 204);
    server.call(Method::GET, "/api/tasks", &viewer, None).await.problem(401);
    with_header(&server, "cookie", &[&cookie]).await.problem(401);
    server.call(Method::DELETE, &format!("/api/tokens/{id}"), &admin, None).await.problem(404);
}

#[tokio::test]
async fn tokens_are_shown_once_and_kept_as_digests() {
    let server = Server::start().await;
    let admin = server.token("admin").await;
    let made = server.call(Method::POST, "/api/tokens", &admin, Some(json!({"name": "ci", "role": "operator"}))).await;
    let made = made.expect(201);
    assert_eq!((&made["name"], &made["role"]), (&json!("ci"), &json!("operator")));
    let token = made["token"].as_str().unwrap();
    let list = server.call(Method::GET, "/api/tokens", &admin, None).await.expect(200);
    assert!(!list.to_string().contains(token), "{list}");
    let sql = "SELECT string_agg(t::text, ' ') FROM (SELECT to_jsonb(a) t FROM api_tokens a UNION ALL SELECT to_jsonb(l) FROM audit_log l
               UNION ALL SELECT to_jsonb(k) FROM idempotency_keys k) AS rows";
    let rows: String = server.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    assert!(!rows.contains(token), "{rows}");
    let again = server.call(Method::POST, "/api/tokens", &admin, Some(json!({"name": "ci", "role": "viewer"}))).await;
    again.problem(409);
    for name in ["", " ci", "c\ni", &"x".repeat(101)] {
        let body = json!({"name": name, "role": "viewer"});
        assert_eq!(server.call(Method::POST, "/api/tokens", &admin, Some(body)).await.problem(400)["field"], "name");
    }
    let body = json!({"name": "x", "role": "root"});
    assert_eq!(server.call(Method::POST, "/api/tokens", &admin, Some(body)).await.problem(400)["field"], "role");
}

#[tokio::test]
async fn a_login_changes_nothing_without_its_csrf_token() {
    let server = Server::start().await;
    let token = server.token("operator").await;
    let login = server.post("/api/session", json!({ "token": token })).await;
    let session = login.expect(200);
    assert_eq!((&session["name"], &session["role"]), (&json!("operator"), &json!("operator")));
    let set = login.headers["set-cookie"].to_str().unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    let cookie = cookie(&login);
    let post = async |csrf: Option<&str>| {
        let mut request = server.request(Method::POST, "/api/tasks").header("cookie", &cookie);
        if let Some(csrf) = csrf {
            request = request.header("x-csrf-token", csrf);
        }
        server.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await
    };
    post(None).await.problem(403);
    post(Some("x")).await.problem(403);
    post(session["csrf_token"].as_str()).await.expect(201);
    let shown = with_cookie(&server, Method::GET, &cookie).await.expect(200);
    assert_eq!(shown["csrf_token"], session["csrf_token"]);
    with_cookie(&server, Method::DELETE, &cookie).await.problem(403);
    let log_out = server.request(Method::DELETE, "/api/session").header("cookie", &cookie);
    let log_out = log_out.header("x-csrf-token", session["csrf_token"].as_str().unwrap());
    assert_eq!(server.send(log_out.body(Full::default()).unwrap()).await.status, 204);
    assert_eq!(with_cookie(&server, Method::DELETE, &cookie).await.status, 204, "it is over already");
    with_header(&server, "cookie", &[&cookie]).await.problem(401);
    server.post("/api/session", json!({ "token": "x" })).await.problem(401);
}

#[tokio::test]
async fn a_token_has_so_many_requests_a_minute() {
    let server = Server::with(|config| config.requests_per_minute = 3).await;
    let (hasty, other) = (server.token("viewer").await, server.token("operator").await);
    for _ in 0..3 {
        server.call(Method::GET, "/api/tasks", &hasty, None).await.expect(200);
    }
    let refused = server.call(Method::GET, "/api/tasks", &hasty, None).await;
    refused.problem(429);
    let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=21).contains(&wait), "{wait}");
    server.call(Method::GET, "/api/tasks", &other, None).await.expect(200);
}

#[tokio::test]
async fn a_change_is_in_the_audit_with_who_made_it_from_where() {
    let server = Server::start().await;
    let create = ["token", "create", "--role", "operator", "--name", "operator"];
    let token = drover().env("DATABASE_URL", &server.database.url).args(create).output().await.unwrap().stdout;
    let token = String::from_utf8(token).unwrap().trim().to_owned();
    let made = server.call(Method::POST, "/api/tasks", &token, Some(json!({"role": "analytics_refresh"}))).await;
    let id = made.expect(201)["id"].to_string();
    server.call(Method::POST, "/api/tasks", &token, Some(json!({"role": "analytics_refresh"}))).await.problem(409);
    let audit = server.call(Method::GET, "/api/audit?action=tasks.create", &token, None).await.expect(200);
    let rows = audit["audit"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "what was refused is no change: {audit}");
    assert_eq!((&rows[0]["who"], &rows[0]["target"]), (&json!("operator"), &json!(id)));
    assert_eq!(rows[0]["address"], "127.0.0.1");
    assert_eq!(rows[0]["request_id"], made.headers["x-request-id"].to_str().unwrap());
    let by_command = server.call(Method::GET, "/api/audit?who=command%20line", &token, None).await.expect(200);
    assert_eq!(by_command["audit"][0]["action"], "tokens.create");
    let page = server.call(Method::GET, "/api/audit?limit=1", &token, None).await.expect(200);
    let next = page["next_cursor"].as_str().unwrap();
    let next = server.call(Method::GET, &format!("/api/audit?limit=1&cursor={next}"), &token, None).await.expect(200);
    assert_eq!((&next["audit"][0]["action"], &next["next_cursor"]), (&json!("tokens.create"), &Value::Null));
    let oldest = server.call(Method::GET, "/api/audit?limit=1&sort=oldest", &token, None).await.expect(200);
    assert_eq!(oldest["audit"][0]["action"], "tokens.create");
    let next = format!("/api/audit?limit=1&sort=oldest&cursor={}", oldest["next_cursor"].as_str().unwrap());
    let next = server.call(Method::GET, &next, &token, None).await.expect(200);
    assert_eq!((&next["audit"][0]["action"], &next["next_cursor"]), (&json!("tasks.create"), &Value::Null));
}

#[tokio::test]
async fn a_change_that_cannot_be_audited_is_not_made() {
    let server = Server::start().await;
    server.database.raw.batch_execute("ALTER TABLE audit_log ADD CHECK (false) NOT VALID").await.unwrap();
    let refused = server.post("/api/tasks", json!({"role": "analytics_refresh"})).await;
    assert!(!refused.status.is_success(), "{}", refused.status);
    assert_eq!(server.get("/api/tasks").await.expect(200)["tasks"], json!([]));
}

async fn with_cookie(server: &Server, method: Method, cookie: &str) -> Answer {
    let request = server.request(method, "/api/session").header("cookie", cookie);
    server.send(request.body(Full::<Bytes>::default()).unwrap()).await
}

fn cookie(login: &Answer) -> String {
    login.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}
