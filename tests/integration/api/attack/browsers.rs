//! Requests that a page of another site can make a browser send: names that resolve to this machine, foreign
//! origins, forms, cookies that go along. None of it changes anything, or is shown to the page.

use api::openapi;
use http::Method;
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::super::server::{Answer, Server, send};
use super::{Operation, Target, assert_safe_headers, operations};

const TASK: &str = r#"{"role":"analytics_refresh"}"#;

fn changing_operations() -> impl Iterator<Item = Operation> {
    operations().into_iter().filter(Operation::is_changing)
}

async fn tasks(server: &Server) -> i64 {
    server.database.raw.query_one("SELECT count(*) FROM worker_tasks", &[]).await.unwrap().get(0)
}

/// Token-less on loopback, where a page of another site has most to win.
async fn post(server: &Server, fields: &[(&str, &str)]) -> Answer {
    let mut request = server.request(Method::POST, "/api/tasks");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    server.send(request.body(Full::from(TASK)).unwrap()).await
}

#[tokio::test]
async fn a_host_that_is_not_ours_is_refused() {
    let server = Server::start().await;
    let cases: [(&str, &str); 21] = [
        ("a foreign name", "evil.example"),
        ("with our port", "evil.example:PORT"),
        ("a name that begins like ours", "localhost.evil.example"),
        ("a name that holds our address", "127.0.0.1.nip.io"),
        ("another address", "10.0.0.1"),
        ("any address", "0.0.0.0"),
        ("a number for loopback", "2130706433"),
        ("octal", "0177.0.0.1"),
        ("short", "127.1"),
        ("loopback inside version 6", "[::ffff:127.0.0.1]"),
        ("any address of version 6", "[::]"),
        ("a dot at the end", "localhost."),
        ("the address of metadata", "169.254.169.254"),
        ("international", "lоcalhost"),
        ("a user", "localhost@evil.example"),
        ("ours as the user", "localhost:PORT@evil.example"),
        ("a path", "localhost/evil.example"),
        ("a list", "localhost, evil.example"),
        ("spaces", "localhost evil.example"),
        ("brackets", "[localhost"),
        ("nothing", ""),
    ];
    for (case, host) in cases {
        println!("{case}");
        let host = host.replace("PORT", &server.address.port().to_string());
        for (method, path) in [(Method::GET, "/api/tasks"), (Method::POST, "/api/tasks"), (Method::GET, "/livez")] {
            let request = http::Request::builder().method(method.clone()).uri(path).header("host", host.as_bytes());
            let answer = send(server.address, request.body(Full::from(TASK)).unwrap()).await;
            let status = answer.status.as_u16();
            assert!([400, 403].contains(&status), "{method} {path}: {status} {}", answer.text());
            answer.problem(status);
            assert_safe_headers(&host, &answer.headers);
        }
    }
    assert_eq!(tasks(&server).await, 0);
}

#[tokio::test]
async fn no_other_field_names_the_host() {
    let server = Server::start().await;
    let cases: [(&str, &str); 3] =
        [("by x forwarded host", "x-forwarded-host"), ("by forwarded", "forwarded"), ("by x host", "x-host")];
    for (case, name) in cases {
        println!("{case}");
        let own = server.address.to_string();
        let request = http::Request::get("/api/tasks").header("host", "evil.example").header(name, own);
        send(server.address, request.body(Full::default()).unwrap()).await.problem(403);
        let request = server.request(Method::GET, "/api/tasks").header(name, "evil.example");
        server.send(request.body(Full::default()).unwrap()).await.expect(200);
    }
}

#[tokio::test]
async fn a_target_of_another_host_is_refused() {
    let server = Server::start().await;
    for target in
        ["http://evil.example/api/tasks", "http://localhost:1/api/tasks", "https://evil.example:443/api/tasks"]
    {
        let request = http::Request::get(target).header("host", server.address.to_string());
        let answer = server.send(request.body(Full::default()).unwrap()).await;
        assert_eq!(answer.problem(400)["field"], "Host", "{target}");
    }
}

#[tokio::test]
async fn a_foreign_origin_is_refused() {
    let server = Server::start().await;
    let cases: [(&str, &str); 13] = [
        ("another site", "https://evil.example"),
        ("no site", "null"),
        ("another port", "http://127.0.0.1:1"),
        ("without our port", "http://127.0.0.1"),
        ("another name of this machine", "http://localhost:PORT"),
        ("another scheme", "ftp://127.0.0.1:PORT"),
        ("of an extension", "chrome-extension://127.0.0.1:PORT"),
        ("of a file", "file://"),
        ("a name that begins like ours", "http://127.0.0.1:PORT.evil.example"),
        ("ours as the user", "http://127.0.0.1:PORT@evil.example"),
        ("with a path", "http://127.0.0.1:PORT/"),
        ("a list", "http://127.0.0.1:PORT, https://evil.example"),
        ("nothing", ""),
    ];
    for (case, origin) in cases {
        println!("{case}");
        let origin = origin.replace("PORT", &server.address.port().to_string());
        let refused = post(&server, &[("origin", &origin)]).await;
        refused.problem(403);
        assert_safe_headers(&origin, &refused.headers);
        let request = server.request(Method::GET, "/api/tasks").header("origin", &origin);
        server.send(request.body(Full::default()).unwrap()).await.problem(403);
    }
    assert_eq!(tasks(&server).await, 0);
}

#[tokio::test]
async fn an_own_origin_beside_a_foreign_one_is_refused() {
    let server = Server::start().await;
    let own = format!("http://{}", server.address);
    post(&server, &[("origin", &own), ("origin", "https://evil.example")]).await.problem(403);
    post(&server, &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]).await.problem(403);
    post(&server, &[("origin", &own), ("sec-fetch-site", "same-origin")]).await.expect(201);
}

#[tokio::test]
async fn by_fetch_metadata_no_other_site_changes_anything() {
    let target = Target::start().await;
    let cases: [(&str, &str); 5] = [
        ("of another site", "cross-site"),
        ("of a neighbour", "same-site"),
        ("in capitals", "CROSS-SITE"),
        ("a word that is none", "elsewhere"),
        ("nothing", ""),
    ];
    for (operation, (case, site)) in changing_operations().zip(cases.iter().cycle()) {
        println!("{case}");
        let request = target.request(&operation.method, &operation.target()).header("sec-fetch-site", *site);
        let request = request.header("sec-fetch-mode", "no-cors").header("sec-fetch-dest", "empty");
        let answer = target.send(request.body(Full::default()).unwrap()).await;
        assert_eq!(answer.status, 403, "{}: {}", operation.name(), answer.text());
    }
    assert_eq!(target.count("audit_log").await, 0);
}

struct Login {
    cookie: String,
    csrf_token: String,
}

async fn log_in(target: &Target, token: &str) -> Login {
    let answer = target.server.post("/api/session", json!({ "token": token })).await;
    let csrf_token = answer.expect(200)["csrf_token"].as_str().unwrap().to_owned();
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    Login { cookie: cookie.split(';').next().unwrap().to_owned(), csrf_token }
}

#[tokio::test]
async fn without_its_csrf_token_a_login_changes_nothing() {
    let target = Target::start().await;
    let (login, other) = (log_in(&target, &target.admin).await, log_in(&target, &target.admin).await);
    let cut = login.csrf_token[1..].to_owned();
    let capitals = login.csrf_token.to_uppercase();
    let attempts: [&[&str]; 8] = [
        &[],
        &[""],
        &["null"],
        &[&other.csrf_token],
        &[&cut],
        &[&capitals],
        &[&login.csrf_token, &login.csrf_token],
        &[&other.csrf_token, &login.csrf_token],
    ];
    // logging in is done by a token
    let operations = changing_operations().filter(|operation| operation.name() != "POST /api/session");
    for (operation, attempt) in operations.zip(attempts.iter().cycle()) {
        let mut request = target.server.request(operation.method.clone(), &operation.target());
        request = request.header("cookie", &login.cookie);
        for token in *attempt {
            request = request.header("x-csrf-token", *token);
        }
        let answer = target.send(request.body(Full::default()).unwrap()).await;
        assert_eq!(answer.status, 403, "{} {attempt:?}: {}", operation.name(), answer.text());
    }
    assert_eq!(target.count("audit_log").await, 0);
    let request = target.server.request(Method::POST, "/api/tasks").header("cookie", &login.cookie);
    let request = request.header("x-csrf-token", &login.csrf_token);
    target.send(request.body(Full::from(TASK)).unwrap()).await.expect(201);
}

#[tokio::test]
async fn a_csrf_token_in_any_other_place_counts_for_nothing() {
    let target = Target::start().await;
    let login = log_in(&target, &target.admin).await;
    let token = &login.csrf_token;
    let in_query = format!("/api/tasks?csrf_token={token}");
    let in_body = json!({"role": "analytics_refresh", "csrf_token": token}).to_string();
    let cookies = format!("{}; x-csrf-token={token}", login.cookie);
    for (path, cookie, body) in [
        (in_query.as_str(), &login.cookie, TASK),
        ("/api/tasks", &login.cookie, &in_body),
        ("/api/tasks", &cookies, TASK),
    ] {
        let request = target.server.request(Method::POST, path).header("cookie", cookie);
        target.send(request.body(Full::from(body.to_owned())).unwrap()).await.problem(403);
    }
    assert_eq!(target.count("worker_tasks").await, 0);
}

#[tokio::test]
async fn a_preflight_permits_nothing_anywhere() {
    let target = Target::start().await;
    for operation in operations() {
        for origin in ["https://evil.example".to_owned(), format!("http://{}", target.server.address)] {
            let request = target.server.request(Method::OPTIONS, &operation.target());
            let request = request
                .header("origin", &origin)
                .header("access-control-request-method", operation.method.as_str())
                .header("access-control-request-headers", "authorization, x-csrf-token")
                .header("access-control-request-private-network", "true");
            let answer = target.send(request.body(Full::default()).unwrap()).await;
            assert!([403, 405].contains(&answer.status.as_u16()), "{}: {}", operation.name(), answer.status);
            assert_safe_headers(&operation.name(), &answer.headers);
        }
    }
}

#[tokio::test]
async fn every_answer_of_every_operation_has_the_headers_that_browsers_heed() {
    let target = Target::start().await;
    let own = format!("http://{}", target.server.address);
    for operation in operations() {
        let path = operation.target();
        let with_query = format!("{path}?no_such_parameter=1");
        let requests = [
            target.request(&operation.method, &path).header("origin", &own),
            target.request(&operation.method, &with_query),
            target.request(&operation.method, &path).header("content-type", "text/plain"),
            target.request(&Method::HEAD, &path),
            target.request(&Method::PATCH, &path),
            target.server.request(operation.method.clone(), &path),
            target.server.request(operation.method.clone(), &path).header("origin", "https://evil.example"),
        ];
        for request in requests {
            let request = request.body(Full::<Bytes>::default()).unwrap();
            let what = format!("{} {}", request.method(), request.uri());
            let answer = target.send(request).await;
            assert_safe_headers(&what, &answer.headers);
            // without its file, places are unavailable
            assert!(answer.status.as_u16() < 500 || path.starts_with("/api/geo/"), "{what}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn no_answer_is_a_page_and_no_input_comes_back_as_one() {
    let target = Target::start().await;
    let script = "%3Cscript%3Ealert(1)%3C/script%3E";
    for path in [
        format!("/api/{script}"),
        format!("/api/tasks?{script}=1"),
        format!("/api/tasks?role={script}"),
        format!("/api/tasks/{script}"),
        format!("/api/worker-registry/{script}"),
    ] {
        let answer = target.get(&path).await;
        let kind = answer.headers["content-type"].to_str().unwrap().to_owned();
        assert_eq!(kind, "application/problem+json", "{path}");
    }
    let document = openapi::document();
    let kinds = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let kinds = kinds.flat_map(|operation| operation["responses"].as_object().unwrap().values());
    let is_page =
        |response: &Value| response["content"].as_object().is_some_and(|kinds| kinds.contains_key("text/html"));
    assert!(!kinds.clone().any(is_page), "a page among the answers");
}
