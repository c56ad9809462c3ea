//! Charts from counts by minute, by HTTP and from the command line.

use std::process::Output;

use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;
use testkit::drover;

/// Two hours of requests through two proxies to two hosts, and of runs of two roles. The first proxy has
/// gone.
async fn counted() -> Server {
    let server = Server::start().await;
    let sql = "INSERT INTO proxies (id, protocol, host, port) VALUES (8, 'http', '203.0.113.8', 3128);
               INSERT INTO fetch_minute (minute, process, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds) VALUES
                 ('2026-11-22T10:00Z', 1, 'menu.test',  7, 'ok',          3, 30, 1000, 6),
                 ('2026-11-22T10:00Z', 2, 'menu.test',  8, 'ok',          2, 20,  500, 4),
                 ('2026-11-22T10:59Z', 1, 'menu.test',  7, 'blocked',     1, 10,   50, 1),
                 ('2026-11-22T11:30Z', 1, 'other.test', 8, 'challenged',  4, 40,  200, 2),
                 ('2026-11-22T12:00Z', 1, 'other.test', 8, 'ok',        100, 40,  200, 2);
               INSERT INTO stats_minute (minute, role, outcome, tasks, waits, wait_seconds, runs, run_seconds, products) VALUES
                 ('2026-11-22T10:00Z', 'payload_fetch',   'completed', 10, 4, 8, 10, 100,   0),
                 ('2026-11-22T10:30Z', 'payload_fetch',   'failed',     2, 0, 0,  2,  80,   0),
                 ('2026-11-22T11:00Z', 'product_refresh', 'completed',  5, 5, 5,  5,  10, 700);
               INSERT INTO stats_progress (closed_until) VALUES ('2026-11-22T11:58Z')";
    server.database.raw.batch_execute(sql).await.unwrap();
    server
}

/// Chart of the two hours, by the hour.
async fn chart(server: &Server, query: &str) -> Value {
    let path = format!("/api/stats/series?from=2026-11-22T10:00:00Z&to=2026-11-22T12:00:00Z&step=1h&{query}");
    server.get(&path).await.expect(200)
}

/// Key and points of each series.
fn points(chart: &Value) -> Vec<(String, Value)> {
    let series = chart["series"].as_array().unwrap().iter();
    series.map(|one| (one["key"].as_str().unwrap().to_owned(), one["points"].clone())).collect()
}

/// The key of a series, and its points in two hours.
type Series = (&'static str, [i64; 2]);

fn expected<const N: usize>(series: [Series; N]) -> Vec<(String, Value)> {
    series.into_iter().map(|(key, points)| (key.to_owned(), json!(points))).collect()
}

#[tokio::test]
async fn each_metric_is_charted_by_what_it_was_counted_by() {
    let server = counted().await;
    let cases: [(&str, &[Series]); 11] = [
        ("metric=requests", &[("menu.test", [6, 0]), ("other.test", [0, 4])]),
        ("metric=requests&by=proxy", &[("8", [2, 4]), ("7", [4, 0])]),
        ("metric=requests&by=outcome", &[("ok", [5, 0]), ("challenged", [0, 4]), ("blocked", [1, 0])]),
        ("metric=blocks", &[("other.test", [0, 4]), ("menu.test", [1, 0])]),
        ("metric=blocks&by=proxy", &[("8", [0, 4]), ("7", [1, 0])]),
        ("metric=bytes&by=proxy", &[("7", [1090, 0]), ("8", [520, 240])]),
        ("metric=tasks", &[("payload_fetch", [12, 0]), ("product_refresh", [0, 5])]),
        ("metric=tasks&by=outcome", &[("completed", [10, 5]), ("failed", [2, 0])]),
        ("metric=waits", &[("product_refresh", [0, 5]), ("payload_fetch", [4, 0])]),
        ("metric=runs&by=role", &[("payload_fetch", [12, 0]), ("product_refresh", [0, 5])]),
        ("metric=products", &[("product_refresh", [0, 700])]),
    ];
    for (query, series) in cases {
        println!("{query}");
        let expected: Vec<(String, Value)> =
            series.iter().map(|(key, points)| ((*key).to_owned(), json!(points))).collect();
        assert_eq!(points(&chart(&server, query).await), expected);
    }
}

#[tokio::test]
async fn requests_without_an_answer_are_charted_apart_from_refused_ones() {
    let server = counted().await;
    let sql = "INSERT INTO fetch_minute (minute, process, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
               SELECT '2026-11-22T11:05Z', 1, 'menu.test', 7, outcome, 2, 10, 0, 9
                 FROM unnest('{proxy_down,timeout,unreachable,proxy_outage,http,decode}'::text[]) AS outcome";
    server.database.raw.batch_execute(sql).await.unwrap();
    assert_eq!(points(&chart(&server, "metric=unanswered&by=proxy").await), expected([("7", [0, 8])]));
    assert_eq!(points(&chart(&server, "metric=blocks&by=proxy").await), expected([("8", [0, 4]), ("7", [1, 0])]));
}

#[tokio::test]
async fn a_chart_says_what_it_shows_and_how_long_things_took() {
    let server = counted().await;
    let runs = chart(&server, "metric=runs").await;
    let asked = json!({"metric": "runs", "by": "role", "from": "2026-11-22T10:00:00Z", "to": "2026-11-22T12:00:00Z",
                       "step_seconds": 3600, "closed_until": "2026-11-22T11:58:00Z", "other": null});
    for (name, value) in asked.as_object().unwrap() {
        assert_eq!(&runs[name], value, "{name}");
    }
    let fetches = json!({"key": "payload_fetch", "name": null, "total": 12, "points": [12, 0],
                         "mean_seconds": {"whole": 15.0, "points": [15.0, null]}});
    assert_eq!(runs["series"][0], fetches);
    let bytes = chart(&server, "metric=bytes&by=proxy").await;
    let names: Vec<&Value> = bytes["series"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, [&Value::Null, &json!("203.0.113.8:3128")], "the first one has gone");
    assert_eq!((&bytes["closed_until"], bytes["series"][0].get("mean_seconds")), (&Value::Null, None));
}

#[tokio::test]
async fn percentiles_are_read_from_the_distributions_of_a_point_and_of_all() {
    let server = counted().await;
    // in the first hour 90 runs of about 1 s, 8 of 8 s and 2 of 64 s; in the second 1 run of 64 s
    let sql = r#"INSERT INTO stats_minute (minute, role, outcome, tasks, waits, wait_seconds, runs, run_seconds, products, run_buckets)
                 VALUES ('2026-11-22T10:05Z', 'analytics_refresh', 'completed', 60, 0, 0, 60, 100, 0, '{"40": 60}'),
                        ('2026-11-22T10:06Z', 'analytics_refresh', 'failed', 40, 0, 0, 40, 100, 0, '{"40": 30, "52": 8, "64": 2}'),
                        ('2026-11-22T11:05Z', 'analytics_refresh', 'completed', 1, 0, 0, 1, 64, 0, '{"64": 1}')"#;
    server.database.raw.batch_execute(sql).await.unwrap();
    let runs = chart(&server, "metric=runs").await;
    let series = runs["series"].as_array().unwrap();
    let one = series.iter().find(|one| one["key"] == "analytics_refresh").unwrap();
    let about = |value: &Value, seconds: f64| {
        let found = value.as_f64().unwrap();
        assert!((seconds / 1.2..=seconds * 1.2).contains(&found), "{found} for {seconds}: {one}");
    };
    let percentiles = &one["percentiles"];
    for (name, first, second, whole) in [("p50", 1.0, 64.0, 1.0), ("p95", 8.0, 64.0, 8.0), ("p99", 64.0, 64.0, 64.0)] {
        about(&percentiles[name]["points"][0], first);
        about(&percentiles[name]["points"][1], second);
        about(&percentiles[name]["whole"], whole);
    }
    let older = series.iter().find(|one| one["key"] == "payload_fetch").unwrap();
    assert_eq!(older.get("percentiles"), None, "its minutes have no distribution");
    let requests = chart(&server, "metric=requests").await;
    assert_eq!(requests["series"][0].get("percentiles"), None);
}

#[tokio::test]
async fn a_bounded_number_of_series_is_told_apart_and_the_rest_is_summed() {
    let server = counted().await;
    let two = chart(&server, "metric=requests&by=outcome&series=1").await;
    assert_eq!(points(&two), expected([("ok", [5, 0])]));
    let other =
        json!({"series": 2, "total": 5, "points": [1, 4], "mean_seconds": {"whole": 0.6, "points": [1.0, 0.5]}});
    assert_eq!(two["other"], other);
    let sql = "INSERT INTO fetch_minute SELECT '2026-11-22T10:30Z', 1, 'h' || n, 7, 'ok', 1, 1, 1, 1 FROM generate_series(1, 300) n";
    server.database.raw.batch_execute(sql).await.unwrap();
    let most = chart(&server, "metric=requests&series=100").await;
    assert_eq!((points(&most).len(), &most["other"]["series"]), (100, &json!(202)));
    assert_eq!(points(&chart(&server, "metric=requests").await).len(), 20);
}

/// Two days of 102 stores: the n-th cost n requests of 1 kB on both, the first one more, and 5 were for no
/// store.
async fn counted_by_store() -> Server {
    let server = Server::start().await;
    let sql = "INSERT INTO dispensaries (id, name, platform_dispensary_id, state) VALUES (102, 'Green Leaf', 'p102', 'AZ');
               INSERT INTO fetch_store_day (day, dispensary_id, process, requests, bytes_sent, bytes_received)
               SELECT date '2026-11-21' + day, n, 1, n, 100 * n, 900 * n FROM generate_series(0, 1) day, generate_series(1, 102) n;
               INSERT INTO fetch_store_day VALUES ('2026-11-22', 102, 2, 1, 100, 900), ('2026-11-22', 0, 1, 500, 5000, 7000),
                                                  ('2026-11-20', 3, 1, 9000, 1, 1), ('2026-11-23', 3, 1, 9000, 1, 1)";
    server.database.raw.batch_execute(sql).await.unwrap();
    server
}

#[tokio::test]
async fn stores_are_charted_by_day_and_the_hundred_largest_stand_by_themselves() {
    let server = counted_by_store().await;
    let days = "from=2026-11-21&to=2026-11-22&step=1d";
    let path = |metric: &str| format!("/api/stats/series?metric={metric}&by=store&{days}");
    let requests = server.get(&path("requests")).await.expect(200);
    let series = requests["series"].as_array().unwrap();
    assert_eq!(series[0], json!({"key": "none", "name": null, "total": 500, "points": [0, 500]}));
    assert_eq!(series[1], json!({"key": "102", "name": "Green Leaf", "total": 205, "points": [102, 103]}));
    assert_eq!((&series[2]["key"], series.len()), (&json!("101"), 100));
    assert_eq!(requests["other"], json!({"series": 3, "total": 12, "points": [6, 6]}));
    let bytes = server.get(&path("bytes")).await.expect(200);
    assert_eq!(points(&bytes)[0], ("102".to_owned(), json!([102_000, 103_000])));
    let json = drover()
        .args(["stats", "bytes", "--by", "store", "--since", "2026-11-21", "--until", "2026-11-22", "--json"])
        .env("DATABASE_URL", &server.database.url)
        .output()
        .await
        .unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&json.stdout).unwrap(), bytes, "the API's answer");
}

#[tokio::test]
async fn without_times_a_chart_is_of_the_last_day_by_the_quarter_of_an_hour() {
    let server = Server::start().await;
    let sql = "INSERT INTO stats_minute SELECT date_trunc('minute', now()) - n * interval '20 hours', 'payload_fetch', 'completed', 1, 0, 0, 0, 0, 0
                 FROM generate_series(0, 3) n";
    server.database.raw.batch_execute(sql).await.unwrap();
    let chart = server.get("/api/stats/series?metric=tasks").await.expect(200);
    assert_eq!((&chart["step_seconds"], &chart["closed_until"]), (&json!(900), &Value::Null));
    let points = chart["series"][0]["points"].as_array().unwrap();
    assert!([96, 97].contains(&points.len()), "{} points", points.len());
    // the quarter may have ended between the row and the request
    assert!(points[points.len() - 2..].contains(&json!(1)), "{points:?}");
    assert_eq!(chart["series"][0]["total"], 2);
}

#[tokio::test]
async fn what_makes_no_chart_is_refused_by_name() {
    let server = Server::start().await;
    let cases: [(&str, &str, &str); 14] = [
        ("", "metric", "missing"),
        ("metric=images", "metric", "unknown variant `images`, expected one of `tasks`"),
        ("metric=waits&by=host", "by", "waits are not counted by host, only by role, outcome"),
        ("metric=bytes&by=role", "by", "bytes are not counted by role, only by host"),
        ("metric=blocks&by=store", "by", "blocks are not counted by store, only by host"),
        ("metric=bytes&by=store&step=1h", "step", "store is counted by day, so it must be 1d"),
        ("metric=tasks&step=30s", "step", "whole minutes"),
        ("metric=tasks&step=90s", "step", "whole minutes"),
        ("metric=tasks&step=often", "step", "expected a duration"),
        ("metric=tasks&from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z&step=1m", "step", "the maximum is 1000"),
        ("metric=tasks&from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z", "from", "must be before"),
        ("metric=tasks&series=0", "series", "1 to 100"),
        ("metric=tasks&series=101", "series", "1 to 100"),
        ("metric=tasks&form=2026-11-02T00:00:00Z", "form", "unknown"),
    ];
    for (query, field, detail) in cases {
        println!("{query}");
        let problem = server.get(&format!("/api/stats/series?{query}")).await.problem(400);
        assert_eq!(problem["field"], field, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
    }
}

async fn stats(server: &Server, is_remote: bool, args: &[&str]) -> Output {
    let mut command = drover();
    match is_remote {
        false => command.env("DATABASE_URL", &server.database.url),
        true => command.args(["--url", &format!("http://{}", server.address)]),
    };
    let times = ["--since", "2026-11-22T10:00:00Z", "--until", "2026-11-22T12:00:00Z", "--step", "1h"];
    command.arg("stats").args(args).args(times).output().await.unwrap()
}

#[rstest]
#[case::in_process(false)]
#[case::of_a_server(true)]
#[tokio::test]
async fn the_command_draws_a_line_a_series(#[case] is_remote: bool) {
    let server = counted().await;
    let shown = stats(&server, is_remote, &["bytes", "--by", "proxy"]).await;
    let shown = String::from_utf8(shown.stdout).unwrap();
    let lines: Vec<Vec<&str>> =
        shown.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(
        lines,
        [
            vec!["bytes by proxy from 2026-11-22 10:00:00 UTC to 2026-11-22 12:00:00 UTC"],
            vec!["PROXY", "TOTAL", "PER 1 H"],
            vec!["7", "1.1 kB", "█·"],
            vec!["8 203.0.113.8:3128", "760 B", "█▄"],
            vec!["all", "1.9 kB", "█▂"],
        ]
    );
    let timed = String::from_utf8(stats(&server, is_remote, &["runs"]).await.stdout).unwrap();
    assert!(timed.contains("MEAN S") && timed.contains("15.0"), "{timed}");
    let json = stats(&server, is_remote, &["requests", "--json"]).await.stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json, chart(&server, "metric=requests").await, "the API's answer");
    let refused = stats(&server, is_remote, &["waits", "--by", "host"]).await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--by: waits are not counted by host"));
}
