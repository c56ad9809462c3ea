//! Tokens and logins that are none, or not for this: 401, and a word about nothing. What each access role may do stands in `openapi`.

use drover::digest::sha256_hex;
use futures_util::future::join_all;
use http::Method;
use http_body_util::Full;
use rstest::rstest;
use serde_json::json;

use super::super::server::Answer;
use super::{Operation, Target, operations};

/// `TOKEN` stands for the admin's, `OTHER` for a viewer's, `DIGEST` for what is stored of the admin's.
#[rstest]
#[case::nothing(&[""])]
#[case::the_scheme_alone(&["Bearer"])]
#[case::an_empty_one(&["Bearer "])]
#[case::no_scheme(&["TOKEN"])]
#[case::another_scheme(&["Basic TOKEN"])]
#[case::digest_scheme(&["Digest username=TOKEN"])]
#[case::a_scheme_that_begins_alike(&["BearerTOKEN"])]
#[case::no_space(&["Bearer:TOKEN"])]
#[case::two_spaces(&["Bearer  TOKEN"])]
#[case::a_tab(&["Bearer\tTOKEN"])]
#[case::something_after_it(&["Bearer TOKENx"])]
#[case::a_space_inside(&["Bearer TOKEN TOKEN"])]
#[case::a_list(&["Bearer TOKEN, Bearer TOKEN"])]
#[case::quoted(&["Bearer \"TOKEN\""])]
#[case::encoded(&["Bearer %44TOKEN"])]
#[case::twice(&["Bearer TOKEN", "Bearer TOKEN"])]
#[case::behind_another(&["Bearer x", "Bearer TOKEN"])]
#[case::before_another(&["Bearer TOKEN", "Basic eDp5"])]
#[case::two_tokens(&["Bearer TOKEN", "Bearer OTHER"])]
#[case::what_is_stored_of_it(&["Bearer DIGEST"])]
#[case::its_name(&["Bearer admin"])]
#[case::no_text(&["Bearer \u{e9}\u{ff}"])]
#[case::a_long_one(&["Bearer LONG"])]
#[case::sql(&["Bearer ' OR '1'='1"])]
#[case::a_pattern(&["Bearer %"])]
#[case::a_web_token(&["Bearer eyJhbGciOiJub25lIn0.eyJyb2xlIjoiYWRtaW4ifQ."])]
#[tokio::test]
async fn a_token_that_is_wrong_in_any_way_opens_nothing(#[case] values: &[&str]) {
    let target = Target::start().await;
    let other = target.server.token("viewer").await;
    let digest = "SELECT digest FROM api_tokens WHERE name = 'admin'";
    let digest: String = target.server.database.raw.query_one(digest, &[]).await.unwrap().get(0);
    for (method, path) in [(Method::GET, "/api/tasks"), (Method::POST, "/api/tasks"), (Method::GET, "/api/config")] {
        let mut request = target.server.request(method, path);
        for value in values {
            let value = value.replace("TOKEN", &target.admin).replace("OTHER", &other).replace("DIGEST", &digest);
            request = request.header("authorization", value.replace("LONG", &"x".repeat(10_000)).as_bytes());
        }
        let refused = target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await;
        assert_unauthenticated(&target, &refused);
    }
    assert_eq!(target.count("worker_tasks").await, 0);
}

#[track_caller]
fn assert_unauthenticated(target: &Target, refused: &Answer) {
    refused.problem(401);
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    assert!(!refused.text().contains(&target.admin), "{}", refused.text());
}

#[tokio::test]
async fn every_token_that_lacks_or_has_a_character_more_is_unknown() {
    let target = Target::start().await;
    let token = &target.admin;
    let mut guesses: Vec<String> = (0..token.len()).map(|length| token[..length].to_owned()).collect();
    guesses.extend([token[1..].to_owned(), token.to_uppercase(), token.to_lowercase(), format!("{token}=")]);
    guesses.extend(token.char_indices().map(|(at, _)| format!("{}*{}", &token[..at], &token[at + 1..])));
    let ask = async |guess: &String| target.server.call(Method::GET, "/api/session", guess, None).await;
    for answer in join_all(guesses.iter().map(ask)).await {
        assert_unauthenticated(&target, &answer);
    }
}

#[tokio::test]
async fn a_token_opens_from_the_moment_in_which_it_is_made_however_often_it_was_guessed() {
    let target = Target::start().await;
    for n in 0..10 {
        let token = format!("drover_made_elsewhere_{n}");
        target.server.call(Method::GET, "/api/tasks", &token, None).await.problem(401);
        // as another process does
        let make = "INSERT INTO api_tokens (name, role, digest) VALUES ($1, 'viewer', $2)";
        target.server.database.raw.execute(make, &[&token, &sha256_hex(&token)]).await.unwrap();
        target.server.call(Method::GET, "/api/tasks", &token, None).await.expect(200);
        target.server.post("/api/session", json!({ "token": token })).await.expect(200);
    }
}

#[rstest]
#[case::in_the_query("/api/tasks?token=TOKEN", ("x", "x"))]
#[case::as_access_token("/api/tasks?access_token=TOKEN", ("x", "x"))]
#[case::in_a_cookie("/api/tasks", ("cookie", "drover_login=TOKEN"))]
#[case::in_another_cookie("/api/tasks", ("cookie", "token=TOKEN; authorization=Bearer TOKEN"))]
#[case::as_an_api_key("/api/tasks", ("x-api-key", "TOKEN"))]
#[case::for_a_proxy("/api/tasks", ("proxy-authorization", "Bearer TOKEN"))]
#[case::as_a_user("/api/tasks", ("x-remote-user", "admin"))]
#[case::as_loopback("/api/tasks", ("x-forwarded-for", "127.0.0.1"))]
#[case::as_another_target("/api/tasks", ("x-original-url", "/livez"))]
#[case::as_a_rewritten_target("/livez/../api/tasks", ("x-rewrite-url", "/livez"))]
#[tokio::test]
async fn a_token_or_a_name_in_another_place_opens_nothing(#[case] path: &str, #[case] (name, value): (&str, &str)) {
    let target = Target::start().await;
    let fill = |text: &str| text.replace("TOKEN", &target.admin);
    let request = target.server.request(Method::GET, &fill(path)).header(name, fill(value));
    let answer = target.send(request.body(Full::default()).unwrap()).await;
    assert!([401, 404].contains(&answer.status.as_u16()), "{}", answer.text());
}

#[tokio::test]
async fn what_is_of_a_login_is_no_token_and_the_reverse() {
    let target = Target::start().await;
    let login = target.server.post("/api/session", json!({"token": target.admin})).await;
    let csrf_token = login.expect(200)["csrf_token"].as_str().unwrap().to_owned();
    let cookie = login.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let text = cookie.split_once('=').unwrap().1;
    for guess in [text, &csrf_token] {
        assert_unauthenticated(&target, &target.server.call(Method::GET, "/api/tasks", guess, None).await);
    }
    for cookie in [
        format!("drover_login={csrf_token}"),
        format!("drover_login={}", &text[1..]),
        format!("drover_login=\"{text}\""),
        format!("drover_login={text}x"),
        format!("drover_login=x; drover_login={text}"),
        format!("Drover_Login={text}"),
        "drover_login=".to_owned(),
        "drover_login".to_owned(),
        ";;;===;".to_owned(),
    ] {
        let request = target.server.request(Method::GET, "/api/tasks").header("cookie", &cookie);
        let answer = target.send(request.body(Full::default()).unwrap()).await;
        assert_eq!(answer.status, 401, "{cookie}");
    }
    let wrong = target.request(&Method::GET, "/api/tasks").header("cookie", cookie);
    let wrong = wrong.header("authorization", "Bearer x").body(Full::default()).unwrap();
    assert_eq!(target.send(wrong).await.status, 401, "two tokens are one too many");
}

#[rstest]
#[case::a_number(json!({"token": 1}), 400)]
#[case::nothing(json!({"token": null}), 400)]
#[case::a_list(json!({"token": ["x"]}), 400)]
#[case::any(json!({"token": {"$ne": ""}}), 400)]
#[case::a_pattern(json!({"token": "%"}), 401)]
#[case::sql(json!({"token": "' OR '1'='1"}), 401)]
#[case::empty(json!({"token": ""}), 401)]
#[case::a_role(json!({"token": "x", "role": "admin"}), 400)]
#[tokio::test]
async fn a_login_by_what_is_no_token_is_refused(#[case] body: serde_json::Value, #[case] status: u16) {
    let target = Target::start().await;
    let refused = target.server.post("/api/session", body).await;
    refused.problem(status);
    assert!(!refused.headers.contains_key("set-cookie"));
}

#[tokio::test]
async fn a_wrong_token_changes_nothing_anywhere() {
    let target = Target::start().await;
    let operations = operations();
    let closed = operations.iter().filter(|operation| operation.description["x-access-role"] != "none");
    let ask = async |operation: &Operation| {
        let request = target.server.request(operation.method.clone(), &operation.target());
        let request = request.header("authorization", "Bearer x").header("x-http-method-override", "GET");
        target.send(request.body(Full::from("{}")).unwrap()).await
    };
    for answer in join_all(closed.map(ask)).await {
        assert_unauthenticated(&target, &answer);
    }
    assert_eq!(target.count("audit_log").await, 1, "the admin's token alone");
}

#[tokio::test]
async fn no_header_turns_a_read_into_a_change() {
    let target = Target::start().await;
    let task = target.json(&Method::POST, "/api/tasks", r#"{"role":"analytics_refresh"}"#).await.expect(201);
    let path = format!("/api/tasks/{}", task["id"]);
    for name in ["x-http-method-override", "x-method-override", "x-http-method", "_method"] {
        let request = target.request(&Method::GET, &path).header(name, "DELETE");
        target.send(request.body(Full::default()).unwrap()).await.expect(200);
    }
    target.get(&format!("{path}?_method=DELETE")).await.problem(400);
    assert_eq!(target.count("worker_tasks").await, 1);
}

#[tokio::test]
async fn a_refusal_does_not_tell_what_is_there() {
    let target = Target::start().await;
    let consumer = target.server.token("consumer").await;
    let task = target.json(&Method::POST, "/api/tasks", r#"{"role":"analytics_refresh"}"#).await.expect(201);
    let there = format!("/api/tasks/{}", task["id"]);
    for path in [there.as_str(), "/api/tasks/4711", "/api/tokens/1", "/api/tokens/4711"] {
        let method = if path.contains("tokens") { Method::DELETE } else { Method::GET };
        target.server.call(method.clone(), path, &consumer, None).await.problem(403);
        target.server.call(method, path, "x", None).await.problem(401);
    }
}
