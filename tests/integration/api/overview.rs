//! The overview by HTTP: the longest waits, failures and their reasons, and the age of the stores' menus.

use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;

/// Failures of four reasons, one of which differs in its numbers, and one of yesterday.
const FAILURES: &str = "
    INSERT INTO worker_tasks (id, role, status, error_message, dispensary_id, completed_at) VALUES
      (11, 'payload_fetch', 'failed', 'dutchie.com refused the request: 403', $STORE, now() - interval '50 minutes'),
      (12, 'payload_fetch', 'failed', 'the crawl holds 611 of 1,172 products', $STORE, now() - interval '40 minutes'),
      (13, 'payload_fetch', 'failed', 'the crawl holds 600 of 1,200 products', NULL, now() - interval '30 minutes'),
      (14, 'product_refresh', 'failed', 'the crawl holds 600 of 1,200 products', NULL, now() - interval '20 minutes'),
      (15, 'payload_fetch', 'failed', NULL, NULL, now() - interval '10 minutes'),
      (16, 'payload_fetch', 'completed', NULL, NULL, now() - interval '10 minutes'),
      (17, 'payload_fetch', 'failed', 'long ago', NULL, now() - interval '25 hours')";

#[tokio::test]
async fn failures_are_counted_by_reason_and_numbers_in_them_make_no_other_reason() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    server.database.raw.batch_execute(&FAILURES.replace("$STORE", &store.to_string())).await.unwrap();
    let failures = server.get("/api/overview").await.expect(200)["failures"].clone();
    assert_eq!((&failures["hours"], &failures["tasks"]), (&json!(1), &json!(5)));
    let told = |reason: &Value| {
        let fields = ["role", "error_message", "tasks", "stores", "last_task_id", "store_name"];
        json!(fields.map(|field| reason[field].clone()))
    };
    let reasons: Vec<Value> = failures["reasons"].as_array().unwrap().iter().map(told).collect();
    let expected = json!([
        ["payload_fetch", "the crawl holds 600 of 1,200 products", 2, 1, 13, null],
        ["payload_fetch", "", 1, 0, 15, null],
        ["product_refresh", "the crawl holds 600 of 1,200 products", 1, 0, 14, null],
        ["payload_fetch", "dutchie.com refused the request: 403", 1, 1, 11, "a-shop"],
    ]);
    assert_eq!(json!(reasons), expected);
    assert_eq!(server.get("/api/overview?hours=24").await.expect(200)["failures"]["tasks"], 5);
}

#[tokio::test]
async fn a_failure_is_mended_when_its_store_was_crawled_since() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    server.database.raw.batch_execute(&FAILURES.replace("$STORE", &store.to_string())).await.unwrap();
    for (minutes_ago, mended) in [(55, 0), (45, 1), (5, 2)] {
        let crawled = format!("UPDATE dispensaries SET last_complete_at = now() - interval '{minutes_ago} minutes'");
        server.database.raw.batch_execute(&crawled).await.unwrap();
        let failures = server.get("/api/overview").await.expect(200)["failures"].clone();
        assert_eq!((&failures["tasks"], &failures["mended"]), (&json!(5 - mended), &json!(mended)), "{minutes_ago}");
    }
}

/// Look-ups and crawls that failed: of store 1 three, of stores 2 to 4 one each, of no store one.
const FAILED: &str = "
    INSERT INTO dispensaries (id, name) SELECT n, 'Store ' || n FROM generate_series(1, 4) n;
    INSERT INTO worker_tasks (role, status, error_message, dispensary_id, completed_at) VALUES
      ('entry_point_discovery', 'failed', 'no store at wrong', 1, now() - interval '50 minutes'),
      ('entry_point_discovery', 'failed', 'no store at wrong', 1, now() - interval '40 minutes'),
      ('payload_fetch', 'failed', 'refused', 1, now() - interval '40 minutes'),
      ('entry_point_discovery', 'failed', 'no store at gone', 2, now() - interval '40 minutes'),
      ('payload_fetch', 'failed', 'refused', 3, now() - interval '40 minutes'),
      ('payload_fetch', 'failed', 'refused', 4, now() - interval '40 minutes'),
      ('store_discovery', 'failed', 'no answer', NULL, now() - interval '40 minutes')";

#[rstest]
#[case::as_it_was("SELECT", 7, 0, &[("payload_fetch", 3), ("entry_point_discovery", 2), ("entry_point_discovery", 1), ("store_discovery", 1)])]
#[case::its_store_was_deleted("DELETE FROM dispensaries WHERE id = 2", 6, 1, &[("payload_fetch", 3), ("entry_point_discovery", 2), ("store_discovery", 1)])]
#[case::a_later_task_of_the_role_completed(
    "INSERT INTO worker_tasks (role, status, dispensary_id, completed_at) VALUES
       ('entry_point_discovery', 'completed', 1, now() - interval '45 minutes'), ('payload_fetch', 'completed', 3, now())",
    5, 2, &[("payload_fetch", 2), ("entry_point_discovery", 1), ("entry_point_discovery", 1), ("store_discovery", 1)]
)]
#[case::its_store_was_crawled("UPDATE dispensaries SET last_complete_at = now() WHERE id = 1", 4, 3, &[("payload_fetch", 2), ("entry_point_discovery", 1), ("store_discovery", 1)])]
#[case::all_of_them("DELETE FROM dispensaries; DELETE FROM worker_tasks WHERE dispensary_id IS NULL", 0, 6, &[])]
#[tokio::test]
async fn a_mended_failure_is_no_reason(
    #[case] mend: &str,
    #[case] tasks: i64,
    #[case] mended: i64,
    #[case] reasons: &[(&str, i64)],
) {
    let server = Server::start().await;
    server.database.raw.batch_execute(&format!("{FAILED}; {mend}")).await.unwrap();
    let failures = server.get("/api/overview").await.expect(200)["failures"].clone();
    assert_eq!((&failures["tasks"], &failures["mended"]), (&json!(tasks), &json!(mended)), "{failures}");
    let mut shown: Vec<(i64, String)> = failures["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| (-reason["tasks"].as_i64().unwrap(), reason["role"].as_str().unwrap().to_owned()))
        .collect();
    shown.sort();
    let mut expected: Vec<(i64, String)> = reasons.iter().map(|(role, tasks)| (-tasks, (*role).to_owned())).collect();
    expected.sort();
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn each_enabled_store_is_counted_by_the_one_state_of_its_crawls() {
    let server = Server::start().await;
    let stores = "
        INSERT INTO task_schedules (name, role, interval_hours, enabled, state_code) VALUES
          ('often', 'payload_fetch', 4, true, 'AZ'), ('seldom', 'payload_fetch', 24, true, 'AZ'), ('off', 'payload_fetch', 1, false, 'AZ');
        INSERT INTO dispensaries (id, name, state, platform_dispensary_id, crawl_enabled, last_complete_at) VALUES
          (1, 'fresh', 'AZ', 'a', true, now() - interval '4 hours 55 minutes'),
          (2, 'old', 'AZ', 'b', true, now() - interval '5 hours 5 minutes'),
          (3, 'never', 'AZ', 'c', true, NULL),
          (4, 'in no schedule', 'NV', 'd', true, NULL),
          (5, 'switched off', 'AZ', 'e', false, NULL),
          (6, 'old, in no schedule', 'NV', 'f', true, now() - interval '9 days'),
          (7, 'without an id', 'AZ', NULL, true, NULL),
          (8, 'empty', 'AZ', 'h', true, now() - interval '9 days'),
          (9, 'empty twice', 'AZ', 'i', true, now() - interval '8 days'),
          (10, 'waits for its host', 'AZ', 'j', true, now() - interval '7 days');
        INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count)
        SELECT store, now() - hours * interval '1 hour', 0 FROM (VALUES (8, 1), (8, 5), (8, 9), (9, 1), (9, 5)) AS look(store, hours);
        INSERT INTO worker_tasks (role, dispensary_id, scheduled_for, waits_for_host)
        VALUES ('payload_fetch', 10, now() + interval '1 hour', 'menu.test');
        INSERT INTO raw_crawl_payloads (id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
        VALUES (7, 1, 'dutchie', 'payloads/2026/11/23/store_1_20261123T203139248Z.json.gz', repeat('a', 64), 1, 95, 100, 0.95, now());
        UPDATE dispensaries SET last_payload_id = 7 WHERE id = 1";
    server.database.raw.batch_execute(stores).await.unwrap();
    let stores = server.get("/api/overview").await.expect(200)["stores"].clone();
    let number = |name: &str| stores[name].as_i64().unwrap();
    let states = ["fresh", "late", "never_crawled", "needs_menu_id", "empty_menu", "held"].map(number);
    assert_eq!(states, [2, 2, 2, 1, 1, 1]);
    assert_eq!(states.iter().sum::<i64>(), number("enabled"));
    assert_eq!(["unscheduled", "products", "announced"].map(number), [2, 95, 100]);
    let troubled: Vec<Value> =
        stores["troubled"].as_array().unwrap().iter().map(|store| store["name"].clone()).collect();
    assert_eq!(json!(troubled), json!(["empty", "without an id", "never", "empty twice", "waits for its host", "old"]));
    assert_eq!(
        (&stores["troubled"][5]["interval_hours"], &stores["troubled"][5]["crawl_status"]),
        (&json!(4.0), &json!("late"))
    );

    let counted = server.get("/api/overview/navigation").await.expect(200);
    let counted =
        ["stores", "stores_in_need", "stores_delayed", "products"].map(|name| counted[name].as_i64().unwrap());
    assert_eq!(counted, [9, 2, 3, 95], "the same numbers beside the pages' names");

    let empty = |id: i64| format!("/api/stores/{id}");
    for (store, menus) in [(1, 0), (8, 3), (9, 2)] {
        assert_eq!(server.get(&empty(store)).await.expect(200)["empty_menus"], menus, "store {store}");
    }

    let late = server.get("/api/stores?crawl_status=late").await.expect(200);
    let names: Vec<&Value> = late["stores"].as_array().unwrap().iter().map(|store| &store["name"]).collect();
    assert_eq!(names, ["old", "empty twice"]);
    assert_eq!(server.get("/api/stores?crawl_status=early").await.problem(400)["field"], "crawl_status");
}

#[tokio::test]
async fn an_empty_menu_is_accepted_only_where_one_was_found() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let path = format!("/api/stores/{store}/accept-empty");
    server.post(&path, json!({})).await.problem(409);
    let empty = "INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count)
                 SELECT id, now() - hours * interval '1 hour', 0 FROM dispensaries, generate_series(1, 9, 4) hours";
    server.database.raw.batch_execute(empty).await.unwrap();
    assert_eq!(server.get(&format!("/api/stores/{store}")).await.expect(200)["crawl_status"], "empty_menu");
    for _ in 0..2 {
        assert_eq!(server.post(&path, json!({})).await.expect(200)["crawl_status"], "never_crawled");
    }
}

#[tokio::test]
async fn a_mass_change_that_is_accepted_is_shown_as_such_in_the_answer() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let suspicious = format!(
        "INSERT INTO suspicious_switches (kind, scope, covered, switched, dispensary_ids) VALUES ('products', 'dutchie/{store}', 12, 9, '{{{store}}}')"
    );
    server.database.raw.batch_execute(&suspicious).await.unwrap();
    let accepted = server.post(&format!("/api/stores/{store}/accept"), json!({})).await.expect(200);
    assert_eq!(accepted["suspicious"][0]["is_accepted"], true, "{accepted}");
}

#[tokio::test]
async fn what_is_ready_is_told_by_role_with_the_time_it_has_waited() {
    let server = Server::start().await;
    assert_eq!(server.get("/api/overview").await.expect(200)["ready"], json!([]));
    server.post("/api/tasks", json!({"role": "analytics_refresh"})).await.expect(201);
    let aged = "UPDATE worker_tasks SET created_at = created_at - interval '90 seconds'";
    server.database.raw.execute(aged, &[]).await.unwrap();
    let ready = server.get("/api/overview").await.expect(200)["ready"].clone();
    assert_eq!((&ready[0]["role"], &ready[0]["tasks"]), (&json!("analytics_refresh"), &json!(1)));
    let seconds = ready[0]["oldest_seconds"].as_f64().unwrap();
    assert!((90.0..150.0).contains(&seconds), "{seconds}");
}

/// Two workers of one process, of which the second was killed; their tasks, one of them past its lease.
pub const BUSY: &str = "
    INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, current_task_ids, active_task_count) VALUES
      ('a', 'Xylos-1', 'Xylos', 'any', '{payload_fetch}', 'active', 3, '{21}', 1),
      ('b', 'Xylos-2', 'Xylos', 'any', '{payload_fetch}', 'offline', 3, '{}', 0);
    INSERT INTO worker_tasks (id, role, status, worker_id, claimed_at, started_at, lease_expires_at, last_heartbeat_at, fence) VALUES
      (21, 'payload_fetch', 'running', 'a', now(), now() - interval '1 minute', now() + interval '1 hour', now(), 1),
      (22, 'payload_fetch', 'claimed', 'a', now(), NULL, now() + interval '1 hour', now(), 1),
      (23, 'product_refresh', 'running', 'a', now(), now() - interval '2 minutes', now() + interval '1 hour', now(), 1),
      (24, 'product_refresh', 'running', 'b', now(), now() - interval '3 minutes', now() + interval '1 hour', now(), 1),
      (25, 'product_refresh', 'running', 'b', now(), now() - interval '9 minutes', now() - interval '1 minute', now(), 1)";

#[tokio::test]
async fn the_same_number_of_tasks_runs_in_every_part_of_one_answer() {
    let server = Server::start().await;
    server.database.raw.batch_execute(BUSY).await.unwrap();
    let overview = server.get("/api/overview").await.expect(200);
    let queue = server.get("/api/job-queue/pods").await.expect(200);
    for (counts, answer) in [(&overview["counts"], &overview), (&queue["queue"], &queue)] {
        let running = counts["running"].as_i64().unwrap() + counts["claimed"].as_i64().unwrap();
        assert_eq!((running, &counts["stale"]), (4, &json!(1)));
        let ids: Vec<&Value> = answer["running"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
        assert_eq!(ids, [24, 23, 21, 22], "longest first, what has not begun last");
    }
    let held = json!([[21, 22, 23], 3, 21]);
    for worker in [&overview["workers"][0], &queue["pods"][0]["workers"][0]] {
        assert_eq!(
            json!(["current_task_ids", "active_task_count", "current_task_id"].map(|field| &worker[field])),
            held
        );
    }
}

#[tokio::test]
async fn failed_tasks_are_the_same_number_in_every_part_of_one_answer() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    server.database.raw.batch_execute(&FAILURES.replace("$STORE", &store.to_string())).await.unwrap();
    let overview = server.get("/api/overview").await.expect(200);
    let by_role: i64 =
        overview["capacity"].as_array().unwrap().iter().map(|role| role["failed_last_hour"].as_i64().unwrap()).sum();
    assert_eq!((by_role, &overview["failures"]["tasks"]), (5, &json!(5)));
    server.database.raw.batch_execute("DELETE FROM dispensaries").await.unwrap();
    let failures = server.get("/api/overview").await.expect(200)["failures"].clone();
    assert_eq!((&failures["tasks"], &failures["mended"]), (&json!(3), &json!(2)), "the mended ones are counted apart");
}

#[tokio::test]
async fn proxies_and_hosts_in_trouble_are_counted_for_the_navigation() {
    let server = Server::start().await;
    let rows = "
        INSERT INTO proxies (host, port, last_error, consecutive_failure_count, recent_requests, recent_failed)
        VALUES ('198.51.100.1', 1, 'no answer', 1, 1, 1), ('198.51.100.1', 2, NULL, 0, 0, 0);
        INSERT INTO hosts (host, breaker) VALUES ('a.test', 'closed'), ('b.test', 'open'), ('c.test', 'half_open')";
    server.database.raw.batch_execute(rows).await.unwrap();
    let counted = server.get("/api/overview/navigation").await.expect(200);
    assert_eq!((&counted["hosts_on_hold"], &counted["proxies"]["failing"]), (&json!(2), &json!(1)), "{counted}");
    let share = server.get("/api/overview").await.expect(200)["breaker_share"].clone();
    assert_eq!(share, server.state.politeness.current().breaker_share);
}
