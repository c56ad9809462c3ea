//! The table of proxies over HTTP.

use contract::proxies::ProxyListing;
use domain::proxy::Budgets;
use http::Method;
use serde_json::{Value, json};

use super::server::{Answer, Server};

const PASSWORD: &str = "s3cret-canary";

async fn call(server: &Server, method: Method, path: &str, body: Value) -> Answer {
    let request = server.request(method, path).header("content-type", "application/json");
    server.send(request.body(body.to_string().into()).unwrap()).await
}

async fn create(server: &Server) -> Value {
    let body =
        json!({"host": "Proxy.Example", "port": 3128, "username": "bob", "password": PASSWORD, "state_code": "az"});
    call(server, Method::POST, "/api/proxies", body).await.expect(201)
}

async fn listed(server: &Server, query: &str) -> Value {
    server.get(&format!("/api/proxies{query}")).await.expect(200)
}

#[tokio::test]
async fn a_proxy_is_added_once_changed_and_removed() {
    let server = Server::start().await;
    let made = create(&server).await;
    let path = format!("/api/proxies/{}", made["id"]);
    assert_eq!(
        (&made["host"], &made["protocol"], &made["state_code"], &made["health"]),
        (&json!("proxy.example"), &json!("http"), &json!("AZ"), &json!("untested"))
    );
    let twin = json!({"host": "proxy.example", "port": 3128, "username": "bob"});
    let problem = call(&server, Method::POST, "/api/proxies", twin).await.problem(409);
    assert!(problem["detail"].as_str().unwrap().contains(&format!("proxy {}", made["id"])), "{problem}");

    let off = call(&server, Method::PUT, &path, json!({"is_active": false, "state_code": ""})).await.expect(200);
    assert_eq!((&off["health"], &off["state_code"]), (&json!("off"), &Value::Null));
    assert_eq!(server.get(&path).await.expect(200), off);
    assert_eq!(listed(&server, "?health=untested").await["proxies"], json!([]));
    assert_eq!(listed(&server, "?health=off").await["proxies"][0], off);

    assert_eq!(call(&server, Method::DELETE, &path, Value::Null).await.status, 204);
    server.get(&path).await.problem(404);
    call(&server, Method::DELETE, &path, Value::Null).await.problem(404);
    call(&server, Method::PUT, &path, json!({})).await.problem(404);
}

#[tokio::test]
async fn a_new_password_gives_a_benched_proxy_a_new_start() {
    let server = Server::start().await;
    let path = format!("/api/proxies/{}", create(&server).await["id"]);
    let bench = "UPDATE proxies SET is_active = false, cooldown_until = now() + interval '1 hour'";
    server.database.raw.batch_execute(bench).await.unwrap();
    assert_eq!(
        call(&server, Method::PUT, &path, json!({"timezone": "America/Phoenix"})).await.expect(200)["health"],
        "benched"
    );
    assert_eq!(call(&server, Method::PUT, &path, json!({"password": "other"})).await.expect(200)["health"], "untested");
    let stored: String = server.database.raw.query_one("SELECT password FROM proxies", &[]).await.unwrap().get(0);
    assert_eq!(stored, "other");
}

#[tokio::test]
async fn no_answer_and_no_audit_row_holds_a_password() {
    let server = Server::start().await;
    let id = create(&server).await["id"].clone();
    let path = format!("/api/proxies/{id}");
    let mut texts = vec![server.get(&path).await.text(), server.get("/api/proxies").await.text()];
    for body in [
        json!({"password": [PASSWORD]}),
        json!({"password": format!("{PASSWORD}\n")}),
        json!({"password": PASSWORD, "timezone": "no time"}),
        json!({"password": PASSWORD}),
    ] {
        texts.push(call(&server, Method::PUT, &path, body).await.text());
    }
    let faulty = json!({"proxies": [
        format!("h:99999:bob:{PASSWORD}"), format!("http://bob:{PASSWORD}#@h:1"), {"host": "h h", "port": 1, "username": "bob", "password": PASSWORD},
    ]});
    texts.push(call(&server, Method::POST, "/api/proxies/import", faulty).await.text());
    texts.push(server.get("/api/audit").await.text());
    for text in texts {
        assert!(!text.contains(PASSWORD), "{text}");
    }
}

#[tokio::test]
async fn an_import_takes_texts_and_fields_and_all_or_none() {
    let server = Server::start().await;
    let import =
        async |proxies: Value| call(&server, Method::POST, "/api/proxies/import", json!({"proxies": proxies})).await;
    let faulty = import(json!(["a:1", "b:99999", {"host": "", "port": 2}, "A:1"])).await.problem(400);
    let fields: Vec<&str> =
        faulty["errors"].as_array().unwrap().iter().map(|it| it["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["proxies[1]", "proxies[2]", "proxies[3]"]);
    assert_eq!(listed(&server, "").await["proxies"], json!([]));

    let good = json!(["a:1", "socks5://u:p@[::1]:1080", {"host": "c", "port": 3, "protocol": "https"}]);
    assert_eq!(
        import(good.clone()).await.expect(200),
        json!({"created": 3, "updated": 0, "unchanged": 0, "located": 0})
    );
    assert_eq!(import(good).await.expect(200), json!({"created": 0, "updated": 0, "unchanged": 3, "located": 0}));
    let first = listed(&server, "?limit=2").await;
    let rest = listed(&server, &format!("?limit=2&cursor={}", first["next_cursor"].as_str().unwrap())).await;
    let hosts: Vec<&Value> =
        [&first, &rest].iter().flat_map(|page| page["proxies"].as_array().unwrap()).map(|it| &it["host"]).collect();
    assert_eq!((hosts, &rest["next_cursor"]), (vec![&json!("a"), &json!("::1"), &json!("c")], &Value::Null));
    assert_eq!(import(json!([])).await.problem(400)["field"], "proxies");
}

#[tokio::test]
async fn a_test_says_why_a_proxy_does_not_work() {
    let server = Server::start().await;
    let closed = testkit::free_port();
    let made =
        call(&server, Method::POST, "/api/proxies", json!({"host": "127.0.0.1", "port": closed})).await.expect(201);
    let tested = server.post(&format!("/api/proxies/{}/test", made["id"]), json!({})).await.expect(200);
    assert_eq!((&tested["ok"], &tested["id"]), (&json!(false), &made["id"]));
    assert!(tested["reason"].as_str().unwrap().contains("cannot be reached"), "{tested}");
    server.post("/api/proxies/4711/test", json!({})).await.problem(404);
}

#[tokio::test]
async fn a_password_that_reads_as_an_encrypted_one_is_refused_by_name() {
    let server = Server::start().await;
    let id = create(&server).await["id"].clone();
    let password = "$drover$1$x";
    let new = json!({"host": "h", "port": 1, "username": "bob", "password": password});
    for (method, path, body, field) in [
        (Method::POST, "/api/proxies", new.clone(), "proxy"),
        (Method::POST, "/api/proxies/import", json!({"proxies": [new]}), "proxies[0]"),
        (Method::POST, "/api/proxies/import", json!({"proxies": [format!("h:1:bob:{password}")]}), "proxies[0]"),
        (Method::PUT, &format!("/api/proxies/{id}"), json!({"password": password}), "password"),
    ] {
        assert_eq!(call(&server, method, path, body).await.problem(400)["field"], field, "{path}");
    }
}

#[tokio::test]
async fn a_proxy_shows_what_it_has_carried_today_and_how_long_it_rests() {
    let server = Server::with_budgets(Budgets { each: Some(5_000), in_all: None }).await;
    let sql = "INSERT INTO proxies (id, host, port, timezone) VALUES (1, 'a', 1, 'Asia/Tokyo'), (2, 'b', 1, NULL), (3, 'c', 1, NULL);
               INSERT INTO fetch_minute
               SELECT minute, process, 'menu.test', proxy, 'ok', 1, 1000, 1500, 1
                 FROM (SELECT began AS minute, 1 AS proxy FROM day_in('Asia/Tokyo')
                       UNION ALL SELECT began - interval '1 minute', 1 FROM day_in('Asia/Tokyo')
                       UNION ALL SELECT began, 2 FROM day_in(NULL)) m, generate_series(1, m.proxy) process";
    server.database.raw.batch_execute(sql).await.unwrap();
    let listed = listed(&server, "").await;
    let shown = |n: usize| [&listed["proxies"][n]["bytes_today"], &listed["proxies"][n]["budget_left"]];
    assert_eq!(shown(0), [&json!(2_500), &json!(2_500)], "since midnight in Tokyo");
    assert_eq!(shown(1), [&json!(5_000), &json!(0)], "of two processes");
    assert_eq!(shown(2), [&json!(0), &json!(5_000)]);
    let midnight = "SELECT to_char(ends AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM day_in('UTC')";
    let midnight: String = server.database.raw.query_one(midnight, &[]).await.unwrap().get(0);
    let rests: Vec<&Value> = (0..3).map(|n| &listed["proxies"][n]["rests_until"]).collect();
    assert_eq!(rests, [&Value::Null, &json!(midnight), &Value::Null]);
    let health: Vec<&Value> = (0..3).map(|n| &listed["proxies"][n]["health"]).collect();
    assert_eq!(health, [&json!("untested"); 3], "a rest is no bench");
    assert_eq!(server.get("/api/proxies/2").await.expect(200), listed["proxies"][1]);
    assert_eq!(listed["resting"], json!({"proxies": 1, "switched_on": 3, "until": midnight}));
}

#[tokio::test]
async fn where_every_proxy_rests_the_overview_the_forecast_and_the_tasks_say_so() {
    let server = Server::with_budgets(Budgets { each: Some(5_000), in_all: None }).await;
    let sql = "INSERT INTO proxies (id, host, port, is_active) VALUES (1, 'a', 1, true), (2, 'b', 1, false);
               INSERT INTO fetch_minute SELECT began, 1, 'menu.test', 1, 'ok', 1, 1000, 4000, 1 FROM day_in('UTC')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let task = json!({"role": "store_discovery", "platform": "dutchie"});
    call(&server, Method::POST, "/api/tasks", task).await.expect(201);
    let resting = server.get("/api/overview").await.expect(200)["resting_proxies"].clone();
    assert_eq!((&resting["proxies"], &resting["switched_on"]), (&json!(1), &json!(1)));
    let forecast = server.get("/api/tasks/capacity/forecast").await.expect(200);
    assert!(forecast["stopped"].as_str().unwrap().starts_with("every proxy rests until "), "{forecast}");
    assert!(forecast["summary"].as_str().unwrap().starts_with("No store is crawled now: every proxy"), "{forecast}");
    for args in [&["tasks", "list"][..], &["tasks", "show", "1"]] {
        let output = testkit::drover().args(["--url", &format!("http://{}", server.address)]).args(args).output().await;
        let said = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
        assert!(said.contains("every proxy rests until "), "{args:?}: {said}");
    }
}

#[tokio::test]
async fn without_a_budget_a_proxy_shows_only_what_it_has_carried() {
    let server = Server::start().await;
    let sql = "INSERT INTO proxies (id, host, port, timezone) VALUES (1, 'a', 1, 'no/such/place');
               INSERT INTO fetch_minute SELECT began, 1, 'menu.test', 1, 'ok', 1, 10, 20, 1 FROM day_in('UTC')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let proxy = &listed(&server, "").await["proxies"][0];
    let shown = [&proxy["bytes_today"], &proxy["budget_left"], &proxy["rests_until"]];
    assert_eq!(shown, [&json!(30), &Value::Null, &Value::Null]);
}

/// A proxy for each word but `off`: 2 is refused 7 times of 8, 4 is benched at one host, 5 everywhere.
const PROXIES: &str = "
    INSERT INTO proxies (id, host, port, is_active, cooldown_until, last_error, consecutive_failure_count, recent_requests, recent_refused, recent_failed) VALUES
      (1, 'a', 1, true, NULL, NULL, 0, 0, 0, 0), (2, 'b', 1, true, NULL, 'blocked by menu.test', 0, 8, 7, 0),
      (3, 'c', 1, true, NULL, 'no answer', 1, 1, 0, 1), (4, 'd', 1, true, NULL, 'blocked by menu.test', 0, 50, 3, 0),
      (5, 'e', 1, false, now() + interval '1 hour', 'reset', 5, 5, 0, 5), (6, 'f', 1, true, NULL, NULL, 0, 50, 0, 0);
    INSERT INTO proxy_benches VALUES (4, 'menu.test', now() + interval '1 hour', 'too many blocks in a row by menu.test'),
      (6, 'menu.test', now() - interval '1 second', 'too many blocks in a row by menu.test')";

#[tokio::test]
async fn the_list_the_overview_and_the_metrics_say_the_same_of_each_proxy() {
    let server = Server::start().await;
    server.database.raw.batch_execute(PROXIES).await.unwrap();
    let listed = listed(&server, "").await["proxies"].clone();
    let words: Vec<&str> = listed.as_array().unwrap().iter().map(|it| it["health"].as_str().unwrap()).collect();
    assert_eq!(words, ["untested", "refused", "failing", "benched", "benched", "healthy"]);
    let counts = json!({"untested": 1, "healthy": 1, "refused": 1, "failing": 1, "benched": 2, "off": 0});
    assert_eq!(server.get("/api/overview").await.expect(200)["proxies"], counts);
    let metrics = server.get("/metrics").await.text();
    for (word, count) in counts.as_object().unwrap() {
        let line = format!("drover_known_proxies{{state=\"{word}\"}} {count}");
        assert!(metrics.contains(&line), "{line} is missing in:\n{metrics}");
    }
}

#[tokio::test]
async fn a_proxy_shows_its_share_of_good_requests_and_each_bench_with_its_end() {
    let server = Server::start().await;
    server.database.raw.batch_execute(PROXIES).await.unwrap();
    let listed = listed(&server, "").await["proxies"].clone();
    let share = |n: usize| (&listed[n]["healthy_share"], &listed[n]["recent_requests"]);
    assert_eq!(share(0), (&Value::Null, &json!(0)));
    assert_eq!(share(1), (&json!(0.125), &json!(8)));
    let benched = |n: usize| listed[n]["benched"].as_array().unwrap();
    let place = |n: usize| benched(n).iter().map(|it| (&it["host"], &it["reason"])).collect::<Vec<_>>();
    assert_eq!(place(3), [(&json!("menu.test"), &json!("too many blocks in a row by menu.test"))]);
    assert_eq!(place(4), [(&Value::Null, &json!("reset"))]);
    assert_eq!(benched(4)[0]["until"], listed[4]["cooldown_until"]);
    assert!(place(5).is_empty(), "its time is over");
}

#[tokio::test]
async fn a_proxy_names_the_hosts_that_it_does_not_reach_and_images_alone_make_none_unhealthy() {
    let server = Server::start().await;
    let sql = "
        INSERT INTO proxies (id, host, port, recent_requests) VALUES (1, 'a', 1, 50);
        INSERT INTO proxy_hosts VALUES (1, 'images.test', true, 9, 9, 0), (1, 'cdn.test', true, 9, 0, 9), (1, 'menu.test', false, 50, 0, 0);
        INSERT INTO proxy_benches VALUES (1, 'images.test', now() + interval '1 hour', 'too many failures', true)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let listed = listed(&server, "").await["proxies"][0].clone();
    assert_eq!((&listed["health"], listed["benched"].as_array().unwrap().len()), (&json!("healthy"), 1));
    let proxy: ProxyListing = serde_json::from_value(listed).unwrap();
    assert_eq!(proxy.hosts_text, "refused by images.test, no answer from cdn.test, answers menu.test");
    assert_eq!(server.get("/api/overview").await.expect(200)["proxies"]["healthy"], 1);
}

#[tokio::test]
async fn a_filter_by_health_has_whole_pages() {
    let server = Server::start().await;
    server.database.raw.batch_execute(PROXIES).await.unwrap();
    let first = listed(&server, "?health=benched&limit=1").await;
    assert_eq!((first["proxies"].as_array().unwrap().len(), &first["proxies"][0]["id"]), (1, &json!(4)));
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = listed(&server, &format!("?health=benched&limit=1&cursor={cursor}")).await;
    assert_eq!((&rest["proxies"][0]["id"], &rest["next_cursor"]), (&json!(5), &Value::Null));
}
