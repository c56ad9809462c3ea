//! Tokens and logins that are invalid, or valid elsewhere: 401, without any detail. The permissions of each
//! access role are tested in `openapi`.

use foundation::digest::sha256_hex;
use futures_util::future::join_all;
use http::Method;
use http_body_util::Full;
use serde_json::json;

use super::super::server::Answer;
use super::Target;

/// `TOKEN` is replaced by the admin's token, `OTHER` by a viewer's, `DIGEST` by the stored digest of the
/// admin's.
#[tokio::test]
async fn a_token_that_is_wrong_in_any_way_opens_nothing() {
    let target = Target::start().await;
    let other = target.server.token("viewer").await;
    let digest = "SELECT digest FROM api_tokens WHERE name = 'admin'";
    let digest: String = target.server.database.raw.query_one(digest, &[]).await.unwrap().get(0);
    let cases: [(&str, &[&str]); 26] = [
        ("nothing", &[""]),
        ("the scheme alone", &["Bearer"]),
        ("an empty one", &["Bearer "]),
        ("no scheme", &["TOKEN"]),
        ("another scheme", &["Basic TOKEN"]),
        ("digest scheme", &["Digest username=TOKEN"]),
        ("a scheme that begins alike", &["BearerTOKEN"]),
        ("no space", &["Bearer:TOKEN"]),
        ("two spaces", &["Bearer  TOKEN"]),
        ("a tab", &["Bearer\tTOKEN"]),
        ("something after it", &["Bearer TOKENx"]),
        ("a space inside", &["Bearer TOKEN TOKEN"]),
        ("a list", &["Bearer TOKEN, Bearer TOKEN"]),
        ("quoted", &["Bearer \"TOKEN\""]),
        ("encoded", &["Bearer %44TOKEN"]),
        ("twice", &["Bearer TOKEN", "Bearer TOKEN"]),
        ("behind another", &["Bearer x", "Bearer TOKEN"]),
        ("before another", &["Bearer TOKEN", "Basic eDp5"]),
        ("two tokens", &["Bearer TOKEN", "Bearer OTHER"]),
        ("what is stored of it", &["Bearer DIGEST"]),
        ("its name", &["Bearer admin"]),
        ("no text", &["Bearer \u{e9}\u{ff}"]),
        ("a long one", &["Bearer LONG"]),
        ("sql", &["Bearer ' OR '1'='1"]),
        ("a pattern", &["Bearer %"]),
        ("a web token", &["Bearer eyJhbGciOiJub25lIn0.eyJyb2xlIjoiYWRtaW4ifQ."]),
    ];
    for (case, values) in cases {
        println!("{case}");
        for (method, path) in [(Method::GET, "/api/tasks"), (Method::POST, "/api/tasks"), (Method::GET, "/api/config")]
        {
            let mut request = target.server.request(method, path);
            for value in values {
                let value = value.replace("TOKEN", &target.admin).replace("OTHER", &other).replace("DIGEST", &digest);
                request = request.header("authorization", value.replace("LONG", &"x".repeat(10_000)).as_bytes());
            }
            let refused = target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await;
            assert_unauthenticated(&target, &refused);
        }
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

#[tokio::test]
async fn a_token_or_a_name_in_another_place_opens_nothing() {
    let target = Target::start().await;
    let cases: [(&str, &str, (&str, &str)); 10] = [
        ("in the query", "/api/tasks?token=TOKEN", ("x", "x")),
        ("as access token", "/api/tasks?access_token=TOKEN", ("x", "x")),
        ("in a cookie", "/api/tasks", ("cookie", "drover_login=TOKEN")),
        ("in another cookie", "/api/tasks", ("cookie", "token=TOKEN; authorization=Bearer TOKEN")),
        ("as an api key", "/api/tasks", ("x-api-key", "TOKEN")),
        ("for a proxy", "/api/tasks", ("proxy-authorization", "Bearer TOKEN")),
        ("as a user", "/api/tasks", ("x-remote-user", "admin")),
        ("as loopback", "/api/tasks", ("x-forwarded-for", "127.0.0.1")),
        ("as another target", "/api/tasks", ("x-original-url", "/livez")),
        ("as a rewritten target", "/livez/../api/tasks", ("x-rewrite-url", "/livez")),
    ];
    for (case, path, (name, value)) in cases {
        println!("{case}");
        let fill = |text: &str| text.replace("TOKEN", &target.admin);
        let request = target.server.request(Method::GET, &fill(path)).header(name, fill(value));
        let answer = target.send(request.body(Full::default()).unwrap()).await;
        assert!([401, 404].contains(&answer.status.as_u16()), "{}", answer.text());
    }
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

#[tokio::test]
async fn a_login_by_what_is_no_token_is_refused() {
    let target = Target::start().await;
    let cases: [(&str, serde_json::Value, u16); 8] = [
        ("a number", json!({"token": 1}), 400),
        ("nothing", json!({"token": null}), 400),
        ("a list", json!({"token": ["x"]}), 400),
        ("any", json!({"token": {"$ne": ""}}), 400),
        ("a pattern", json!({"token": "%"}), 401),
        ("sql", json!({"token": "' OR '1'='1"}), 401),
        ("empty", json!({"token": ""}), 401),
        ("a role", json!({"token": "x", "role": "admin"}), 400),
    ];
    for (case, body, status) in cases {
        println!("{case}");
        let refused = target.server.post("/api/session", body).await;
        refused.problem(status);
        assert!(!refused.headers.contains_key("set-cookie"));
    }
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
