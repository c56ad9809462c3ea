//! `/livez`, `/readyz` and `/metrics`, with everything well and with parts of it away.

use std::time::Duration;

use api::{Actors, Bounds, Scrape};
use axum::Router;
use axum::routing::get;
use domain::proxy::PoolState;
use http_body_util::Full;
use rstest::rstest;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::server::{Server, open, send};
use testkit::{Child, Farm, PATIENCE, WORK_CONNECTIONS};

#[tokio::test]
async fn a_process_with_all_its_parts_is_ready() {
    let server = Server::start().await;
    assert_eq!(server.get("/livez").await.expect(200)["status"], "ok");
    let ready = server.get("/readyz").await.expect(200);
    assert_eq!(ready["status"], "ready");
    for part in ["database", "migrations", "proxies", "actors"] {
        assert_eq!(ready["parts"][part]["state"], "ok", "{ready}");
    }
    assert_eq!(ready["parts"]["proxies"]["benched"], 1);
}

#[tokio::test]
async fn without_an_active_proxy_a_process_is_degraded_until_one_is() {
    let server = Server::start().await;
    server.proxies.send_replace(PoolState::default());
    let ready = server.get("/readyz").await.expect(503);
    assert_eq!((&ready["status"], &ready["parts"]["proxies"]["state"]), (&"degraded".into(), &"degraded".into()));
    assert_eq!(ready["parts"]["database"]["state"], "ok");

    server.proxies.send_replace(PoolState { usable: 1, ..PoolState::default() });
    server.get("/readyz").await.expect(200);
}

#[tokio::test]
async fn failed_actors_are_told_with_their_cause_and_the_process_still_lives() {
    let server = Server::start().await;
    server.actors.send_replace(Actors::Failed { cause: "claimer hung".to_owned() });
    let ready = server.get("/readyz").await.expect(503);
    assert_eq!(ready["parts"]["actors"]["detail"], "claimer hung");
    server.get("/livez").await.expect(200);
}

#[tokio::test]
async fn a_schema_that_lacks_something_is_not_ready() {
    let server = Server::start().await;
    server.database.raw.batch_execute("DROP VIEW v_worker_capacity; DELETE FROM schema_objects").await.unwrap();
    let ready = server.get("/readyz").await.expect(503);
    assert_eq!(ready["parts"]["migrations"]["state"], "degraded");
    assert_eq!(ready["parts"]["database"]["state"], "ok");
}

#[tokio::test]
async fn a_probe_needs_one_connection_of_the_api_and_none_of_the_work() {
    let server = Server::start().await;
    let mut held = vec![server.database.db.api_client().await.unwrap()];
    for _ in 0..WORK_CONNECTIONS {
        held.push(server.database.db.client().await.unwrap());
    }
    server.get("/readyz").await.expect(200);
}

#[tokio::test]
async fn requests_are_counted_by_resource_and_never_by_address() {
    let server = Server::start().await;
    for path in ["/api/tasks/987001", "/api/tasks/987002", "/of-no-route-987003"] {
        server.get(path).await.expect(404);
    }
    let text = server.get("/metrics").await.text();
    for series in [
        "drover_http_requests_total{route=\"/api/tasks\",status=\"404\"} ",
        "drover_http_requests_total{route=\"none\",status=\"404\"} ",
        "drover_http_route_seconds_total{route=\"/api/tasks\"} ",
    ] {
        assert!(text.contains(series), "{series}\n{text}");
    }
    // a measured value may have these digits by chance
    let mut series =
        text.lines().map(|line| if line.starts_with('#') { line } else { line.rsplit_once(' ').unwrap().0 });
    assert!(!series.any(|line| line.contains("98700")), "{text}");
}

#[tokio::test]
async fn metrics_tell_of_the_process_and_of_the_service() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_tasks (role, created_at) VALUES ('analytics_refresh', now() - interval '90 seconds');
               SELECT sweep_all();
               INSERT INTO worker_tasks (role, status, completed_at) VALUES ('payload_fetch', 'failed', now());
               INSERT INTO proxies (host, port) VALUES ('192.0.2.1', 80);
               INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
               VALUES ('w', 'Xylos-1', 'Xylos', 'any', '{}', 'paused', 3)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let answer = server.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    let text = answer.text();
    for line in [
        "drover_build_info{version=",
        "drover_database_up 1",
        "drover_tasks{role=\"analytics_refresh\",status=\"pending\"} 1",
        "drover_tasks{role=\"payload_fetch\",status=\"failed\"} 1",
        "drover_ready_tasks{role=\"analytics_refresh\"} 1",
        "drover_oldest_ready_seconds{role=\"payload_fetch\"} 0",
        "drover_oldest_ready_seconds{role=\"analytics_refresh\"} 9",
        "drover_registered_workers{status=\"paused\"} 1",
        "drover_known_proxies{state=\"untested\"} 1",
        "drover_known_proxies{state=\"healthy\"} 0",
    ] {
        assert!(text.contains(line), "{line} is missing in:\n{text}");
    }
    assert_each_series_once(&text);
}

#[tokio::test]
async fn stores_hosts_and_late_schedules_are_counted_by_state() {
    let server = Server::start().await;
    let sql = "INSERT INTO dispensaries (name, platform_dispensary_id, crawl_enabled) VALUES ('a', NULL, true), ('b', 'b', true), ('c', 'c', false);
               INSERT INTO hosts (host, breaker) VALUES ('a.test', 'open'), ('b.test', 'closed'), ('c.test', 'closed');
               DELETE FROM task_schedules;
               INSERT INTO task_schedules (name, role, interval_hours, next_run_at, enabled)
               VALUES ('late', 'payload_fetch', 1, now() - interval '10 minutes', true),
                      ('later', 'payload_fetch', 1, now() - interval '5 minutes', true),
                      ('off', 'payload_fetch', 1, now() - interval '1 day', false)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let text = server.get("/metrics").await.text();
    for line in [
        "drover_stores{crawl_status=\"needs_menu_id\"} 1",
        "drover_stores{crawl_status=\"never_crawled\"} 1",
        "drover_stores{crawl_status=\"fresh\"} 0",
        "drover_hosts{breaker=\"open\"} 1",
        "drover_hosts{breaker=\"closed\"} 2",
        "drover_hosts{breaker=\"half_open\"} 0",
    ] {
        assert!(text.lines().any(|sample| sample == line), "{line} is missing in:\n{text}");
    }
    assert!((600.0..660.0).contains(&sample(&text, "drover_schedule_late_seconds")), "{text}");

    let sql = "UPDATE task_schedules SET next_run_at = now() + interval '1 hour' WHERE enabled";
    server.database.raw.batch_execute(sql).await.unwrap();
    assert_eq!(sample(&server.get("/metrics").await.text(), "drover_schedule_late_seconds"), 0.0);
}

#[tokio::test]
async fn clients_that_listen_to_events_are_counted_until_they_go() {
    let server = Server::start().await;
    let clients = async || sample(&server.get("/metrics").await.text(), "drover_event_clients");
    assert_eq!(clients().await, 0.0);
    let request = server.request(http::Method::GET, "/api/events").body(Full::default()).unwrap();
    let listening = open(server.address, request).await;
    assert_eq!(clients().await, 1.0);
    drop(listening);
    testkit::until("the client's place is free", PATIENCE, async || clients().await == 0.0).await;
}

#[tokio::test]
async fn free_space_is_that_of_the_storage_root() {
    let server = Server::start().await;
    let free = sample(&server.get("/metrics").await.text(), "drover_storage_free_bytes");
    let disk = nix::sys::statvfs::statvfs(server.storage.path()).unwrap();
    let size = disk.blocks() * disk.fragment_size();
    assert!(free > 0.0 && free <= size as f64, "{free} bytes of {size}");
}

#[tokio::test]
async fn a_wait_for_a_connection_is_measured_by_its_pool() {
    let server = Server::start().await;
    let mut held = Vec::new();
    for _ in 0..WORK_CONNECTIONS {
        held.push(server.database.db.client().await.unwrap());
    }
    // other tests of this process wait for connections, too
    let long_waits = async || {
        let text = server.get("/metrics").await.text();
        let all = sample(&text, "drover_db_pool_wait_seconds_count{pool=\"work\"}");
        all - sample(&text, "drover_db_pool_wait_seconds_bucket{pool=\"work\",le=\"1\"}")
    };
    let before = long_waits().await;
    assert!(server.database.db.client().await.is_err(), "every connection is in use");
    assert!(long_waits().await > before);
}

#[tokio::test]
async fn a_database_that_is_away_takes_only_its_half_of_a_scrape() {
    let server = Server::start().await;
    assert!(server.get("/metrics").await.text().contains("drover_database_up 1"));
    server.database.shut().await;

    let text = server.get("/metrics").await.text();
    assert!(text.contains("drover_database_up 0") && text.contains("drover_build_info"), "{text}");
    assert!(!text.contains("drover_ready_tasks"), "{text}");

    let ready = server.get("/readyz").await.expect(503);
    assert_eq!(ready["parts"]["database"]["state"], "degraded");
    server.get("/api/tasks").await.problem(503);
}

#[tokio::test]
async fn probes_answer_any_host_and_nothing_else_is_there() {
    let server = Server::start().await;
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(api::serve_probes(listener, server.state.clone(), Scrape::Process));
    let get = async |path: &str| {
        // as a kubelet asks: by the pod's address
        let request =
            http::Request::get(path).header("host", format!("10.1.2.3:{port}")).body(Full::default()).unwrap();
        send(([127, 0, 0, 1], port).into(), request).await
    };
    get("/livez").await.expect(200);
    assert_eq!(get("/readyz").await.expect(200)["parts"]["database"]["state"], "ok");
    let metrics = get("/metrics").await.text();
    assert!(metrics.contains("drover_build_info") && !metrics.contains("drover_database_up"), "{metrics}");
    get("/api/tasks").await.problem(404);
    server.stop.cancel();
    tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap();
}

#[rstest]
#[case::up(&["up"])]
#[case::api(&["api"])]
#[case::worker(&["worker"])]
#[case::scheduler(&["scheduler"])]
#[tokio::test]
async fn every_service_has_probes(#[case] service: &[&str]) {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let service = Child::spawn(&mut farm.drover(service));
    let address = service.probes().await;
    testkit::until("the service is ready", PATIENCE, async || {
        let request = http::Request::get("/readyz").header("host", "pod").body(Full::default()).unwrap();
        send(address, request).await.status == 200
    })
    .await;
}

#[rstest]
#[case::up("up")]
#[case::api("api")]
#[tokio::test]
async fn a_service_says_where_its_dashboard_is_and_who_may_open_it(#[case] service: &str) {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("its schedules run, and it is stopped at once");
    let service = Child::spawn(&mut farm.drover(&[service]));
    service.probes().await;
    let says = |text: &str| service.stdout().iter().chain(&service.stderr()).any(|line| line.contains(text));
    testkit::until("it names its dashboard", PATIENCE, async || says("Dashboard: http://127.0.0.1:")).await;
    assert!(says("/admin, open to this machine until the first token exists"));
}

#[tokio::test]
async fn clients_that_do_not_read_lose_their_places() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router =
        Router::new().route("/large", get(|| async { vec![b'x'; 64 << 20] })).route("/small", get(|| async { "{}" }));
    let bounds = Bounds { connections: 2, connections_per_address: 0, write_idle: Duration::from_millis(300) };
    let serving = tokio::spawn(api::server::serve(listener, router, bounds, CancellationToken::new()));
    let mut clients = Vec::new();
    for _ in 0..bounds.connections {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        client.readable().await.unwrap(); // the answer has begun
        clients.push(client);
    }
    let request = http::Request::get("/small").header("host", "localhost").body(Full::default()).unwrap();
    let answer = tokio::time::timeout(PATIENCE, send(address, request)).await;
    answer.expect("a place became free").expect(200);
    serving.abort();
}

#[tokio::test]
async fn told_to_stop_it_answers_what_is_under_way_and_ends() {
    let mut server = Server::start().await;
    let lock = "BEGIN; LOCK TABLE worker_registry IN ACCESS EXCLUSIVE MODE";
    server.database.raw.batch_execute(lock).await.unwrap();
    let address = server.address;
    let request = server.request(http::Method::GET, "/api/worker-registry").body(Full::default()).unwrap();
    let waiting = tokio::spawn(send(address, request));
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
    let watcher = testkit::connect(&server.database.url).await;
    let name = server.database.name.clone();
    testkit::until("the request waits for the lock", Duration::from_secs(60), async || {
        watcher.query_one(blocked, &[&name]).await.unwrap().get::<_, i64>(0) == 1
    })
    .await;

    server.stop.cancel();
    testkit::until("the port is closed", Duration::from_secs(60), async || {
        tokio::net::TcpStream::connect(address).await.is_err()
    })
    .await;
    server.database.raw.batch_execute("COMMIT").await.unwrap();
    waiting.await.unwrap().expect(200);
    tokio::time::timeout(PATIENCE, &mut server.serving).await.unwrap().unwrap();
}

fn sample(text: &str, series: &str) -> f64 {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(series)?.trim().parse().ok());
    values.next().unwrap_or_else(|| panic!("{series} is missing in:\n{text}"))
}

fn assert_each_series_once(text: &str) {
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, _) = line.rsplit_once(' ').unwrap();
        assert!(seen.insert(series), "{series} stands there twice");
    }
    // the routes that other tests of this process ask have series of their own
    let others = seen.iter().filter(|series| !series.contains("route=")).count();
    assert!(others <= 600, "{others} series");
}
