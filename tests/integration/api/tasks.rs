//! Tasks by HTTP: made, listed page by page, shown with their timeline, counted.

use contract::cursor::Cursor;
use contract::health::Readiness;
use contract::tasks::{TaskCounts, TaskDetail, TaskPage};
use contract::workers::{Registry, RoleView};
use domain::task::RecordedOutcome;
use domain::task::role::Role;
use domain::task::shown_status::ShownStatus;
use domain::vocabulary::Word;
use serde_json::{Value, json};

use super::server::Server;
use testkit::drover;

fn ids(page: &Value) -> Vec<i64> {
    page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_task_is_made_as_old_clients_ask_for_it() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let body = json!({"role": "product_resync", "dispensary_id": store, "platform": "dutchie", "priority": 20});
    let answer = server.post("/api/tasks", body).await;
    let task = answer.expect(201);
    assert_eq!(answer.headers["location"], format!("/api/tasks/{}", task["id"]).as_str());
    assert_eq!(
        (&task["role"], &task["status"], &task["priority"]),
        (&"payload_fetch".into(), &"pending".into(), &20.into())
    );
    assert_eq!((&task["dispensary_name"], &task["ready"]), (&"a-shop".into(), &true.into()));
    for field in [
        "id",
        "role",
        "dispensary_id",
        "dispensary_name",
        "platform",
        "status",
        "priority",
        "scheduled_for",
        "payload",
        "result",
        "worker_id",
        "worker_name",
        "retry_count",
        "max_retries",
        "error_message",
        "created_at",
        "updated_at",
        "claimed_at",
        "started_at",
        "completed_at",
        "last_heartbeat_at",
        "parent_task_id",
        "schedule_id",
        "progress_percent",
        "progress_message",
    ] {
        assert!(task.as_object().unwrap().contains_key(field), "{field} is missing");
    }
}

#[tokio::test]
async fn the_same_task_twice_is_a_conflict_that_names_the_open_one() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let body = json!({"role": "payload_fetch", "dispensary_id": store});
    let first = server.post("/api/tasks", body.clone()).await.expect(201);
    let refused = server.post("/api/tasks", body.clone()).await.problem(409);
    assert_eq!(refused["task_id"], first["id"]);
    assert!(refused["detail"].as_str().unwrap().contains(&first["id"].to_string()), "{refused}");

    let mut own = body.clone();
    own["dedup_key"] = "once more".into();
    server.post("/api/tasks", own).await.expect(201);
    server.post("/api/tasks", body.clone()).await.problem(409);
    server.database.raw.execute("UPDATE worker_tasks SET status = 'cancelled'", &[]).await.unwrap();
    server.post("/api/tasks", body).await.expect(201);
}

#[tokio::test]
async fn what_a_task_names_must_exist() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let missing = json!({"role": "payload_fetch", "dispensary_id": store + 1});
    assert_eq!(server.post("/api/tasks", missing).await.problem(404)["field"], "dispensary_id");
    let dangling = json!({"role": "analytics_refresh", "depends_on": [4711]});
    let refused = server.post("/api/tasks", dangling).await.problem(404);
    assert_eq!(refused["field"], "depends_on");
    assert!(refused["detail"].as_str().unwrap().contains("4711"), "{refused}");
    let first = server.post("/api/tasks", json!({"role": "analytics_refresh"})).await.expect(201);
    let second = json!({"role": "payload_fetch", "dispensary_id": store, "depends_on": [first["id"]]});
    assert_eq!(server.post("/api/tasks", second).await.expect(201)["ready"], false);
}

#[tokio::test]
async fn pages_follow_each_other_while_new_tasks_come() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_tasks (role) SELECT 'payload_fetch' FROM generate_series(1, 7)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let (mut seen, mut path) = (Vec::new(), "/api/tasks?role=payload_fetch&limit=3".to_owned());
    loop {
        let answer = server.get(&path).await;
        let page = answer.expect(200);
        seen.extend(ids(&page));
        server.database.raw.batch_execute("INSERT INTO worker_tasks (role) VALUES ('payload_fetch')").await.unwrap();
        let Some(next) = page["next_cursor"].as_str() else { break };
        path = format!("/api/tasks?role=payload_fetch&limit=3&cursor={next}");
        assert_eq!(answer.headers["link"], format!("<{path}>; rel=\"next\""));
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn a_list_is_filtered_by_everything_it_offers() {
    let server = Server::start().await;
    let (one, two) = (server.add_store("green-leaf").await, server.add_store("blue-sky").await);
    let sql = format!(
        "INSERT INTO worker_tasks (id, role, dispensary_id, platform, status, worker_id, lease_expires_at, created_at) VALUES
         (101, 'payload_fetch', {one}, 'dutchie', 'pending', NULL, NULL, '2025-01-01T00:00:00Z'),
         (102, 'product_refresh', {one}, 'dutchie', 'running', 'worker-a', now() + interval '1 minute', '2025-01-02T00:00:00Z'),
         (103, 'product_discovery', {two}, 'dutchie', 'claimed', 'worker-b', now() - interval '1 minute', '2025-01-03T00:00:00Z'),
         (204, 'analytics_refresh', NULL, NULL, 'failed', 'worker-b', now() - interval '1 hour', '2025-01-04T00:00:00Z')"
    );
    server.database.raw.batch_execute(&sql).await.unwrap();
    let more = "UPDATE worker_tasks SET parent_task_id = 101, schedule_id = 7 WHERE id = 102;
                UPDATE worker_tasks SET retry_count = 2, error_message = 'HTTP 503 at menus.example' WHERE id = 204";
    server.database.raw.batch_execute(more).await.unwrap();
    for (query, expected) in [
        ("", vec![204, 103, 102, 101]),
        ("status=pending", vec![101]),
        ("status=running", vec![102]),
        ("status=claimed", vec![]),
        ("status=stale", vec![103]),
        ("status=failed", vec![204]),
        ("role=product_refresh", vec![102]),
        ("role=product_resync", vec![103, 102, 101]),
        (&format!("dispensary_id={two}"), vec![103]),
        ("platform=dutchie&status=running", vec![102]),
        ("worker_id=worker-b", vec![204, 103]),
        ("q=10", vec![103, 102, 101]),
        ("q=worker-", vec![204, 103, 102]),
        ("q=green", vec![102, 101]),
        ("q=%25", vec![]),
        ("parent_task_id=101", vec![102]),
        ("schedule_id=7", vec![102]),
        ("schedule_id=8", vec![]),
        ("error=http%20503", vec![204]),
        ("error=http%25503", vec![]),
        ("error=http_503", vec![]),
        ("error=%5C", vec![]),
        ("min_retries=2", vec![204]),
        ("min_retries=3", vec![]),
        ("created_after=2025-01-02T00:00:00Z&created_before=2025-01-04T00:00:00Z", vec![103, 102]),
    ] {
        assert_eq!(ids(&server.get(&format!("/api/tasks?{query}")).await.expect(200)), expected, "{query}");
    }
    let stale = server.get("/api/tasks/103").await.expect(200);
    assert_eq!(stale["status"], "stale");
}

#[tokio::test]
async fn a_task_is_shown_with_its_runs_its_children_and_its_workers_name() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
               VALUES ('w', 'Aethelgard-3', 'Aethelgard', 'any', '{payload_fetch}', 'active', 3);
               INSERT INTO worker_tasks (id, role) VALUES (1, 'analytics_refresh');
               SELECT sweep_all(); SELECT claim_task('analytics_refresh', 'w');
               UPDATE worker_tasks SET status = 'pending' WHERE id = 1;
               SELECT sweep_all(); SELECT claim_task('analytics_refresh', 'w');
               INSERT INTO worker_tasks (id, role, parent_task_id) VALUES (2, 'payload_fetch', 1), (3, 'payload_fetch', 1)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let task = server.get("/api/tasks/1").await.expect(200);
    assert_eq!((&task["status"], &task["worker_name"]), (&"claimed".into(), &"Aethelgard-3".into()));
    assert_eq!(task["children"], json!([2, 3]));
    let runs = task["attempts"].as_array().unwrap();
    let outcomes: Vec<_> = runs.iter().map(|run| (run["fence"].clone(), run["outcome"].clone())).collect();
    assert_eq!(outcomes, [(json!(1), json!("lost")), (json!(2), Value::Null)]);

    let registry = server.get("/api/worker-registry").await.expect(200);
    let worker = &registry["workers"][0];
    assert_eq!(
        (&worker["friendly_name"], &worker["pod"], &worker["status"]),
        (&"Aethelgard-3".into(), &"Aethelgard".into(), &"active".into())
    );
    server.database.raw.batch_execute("DELETE FROM worker_registry").await.unwrap();
    let later = server.get("/api/tasks/1").await.expect(200);
    assert_eq!(later["worker_name"], "Aethelgard-3", "its worker has left");
    for run in later["attempts"].as_array().unwrap() {
        assert_eq!((&run["worker_id"], &run["worker_name"]), (&json!("w"), &json!("Aethelgard-3")));
    }
}

#[tokio::test]
async fn counts_are_exact_for_open_tasks_and_as_last_counted_for_ended_ones() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_tasks (role, status, worker_id, lease_expires_at, depends_on) VALUES
               ('payload_fetch', 'pending', NULL, NULL, NULL), ('payload_fetch', 'pending', NULL, NULL, '{1}'),
               ('payload_fetch', 'running', 'w', now() + interval '1 minute', NULL),
               ('payload_fetch', 'running', 'w', now() - interval '1 minute', NULL),
               ('product_refresh', 'completed', 'w', NULL, NULL), ('product_refresh', 'completed', 'w', NULL, NULL)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let counts = server.get("/api/tasks/counts").await.expect(200);
    let shown = ["pending", "claimed", "running", "completed", "failed", "cancelled", "stale"]
        .map(|name| counts[name].as_i64().unwrap());
    assert_eq!(shown, [2, 0, 1, 2, 0, 0, 1]);
    assert_eq!(counts["by_role"]["payload_fetch"]["pending"], 2);
    assert_eq!(counts["by_role"]["store_discovery"]["pending"], 0);

    let client = server.database.db.client().await.unwrap();
    db::tasks::refresh_totals(&client).await.unwrap();
    let more = "UPDATE task_totals SET as_of = '2025-01-01T00:00:00Z';
                INSERT INTO worker_tasks (role, status) VALUES ('product_refresh', 'completed'), ('product_refresh', 'pending')";
    server.database.raw.batch_execute(more).await.unwrap();
    let counts = server.get("/api/tasks/counts").await.expect(200);
    assert_eq!((&counts["completed"], &counts["pending"]), (&2.into(), &3.into()));
    assert_eq!(counts["as_of"], "2025-01-01T00:00:00Z");
}

#[tokio::test]
async fn a_task_says_whether_it_is_tried_again_and_why_not() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_tasks (id, role, status, retry_count, error_message, scheduled_for) VALUES
               (1, 'payload_fetch', 'failed', 0, 'no store at x', NULL), (2, 'payload_fetch', 'failed', 3, '503', NULL),
               (3, 'payload_fetch', 'pending', 0, 'no proxy', '2100-01-10T08:00:00Z'), (4, 'payload_fetch', 'pending', 0, NULL, NULL)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let page = server.get("/api/tasks").await.expect(200);
    let states: Vec<&Value> = page["tasks"].as_array().unwrap().iter().map(|task| &task["retry_state"]).collect();
    assert_eq!(states, [&Value::Null, &json!("waits"), &json!("used_up"), &json!("permanent")]);
    for (id, says) in [
        ("1", "0 of 3; not retried, because the failure is permanent"),
        ("2", "3 of 3; all are used"),
        ("3", "0 of 3; next try 2100-01-10 08:00:00 UTC"),
    ] {
        let shown =
            drover().env("DATABASE_URL", &server.database.url).args(["tasks", "show", id]).output().await.unwrap();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(text.contains(says), "{text}");
    }
}

#[tokio::test]
async fn a_task_parked_by_hand_for_ever_does_not_spoil_the_list() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_tasks (role, scheduled_for) VALUES ('payload_fetch', 'infinity')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let page = server.get("/api/tasks").await.expect(200);
    assert_eq!(page["tasks"][0]["scheduled_for"], "9999-12-31T23:59:59Z");
}

#[tokio::test]
async fn a_task_of_an_unknown_platform_or_role_is_shown_with_its_words() {
    let server = Server::start().await;
    let sql = "INSERT INTO task_kinds (name, family, notifies) VALUES ('of_a_newer_program', 'crawl', true);
               INSERT INTO worker_tasks (id, role, platform) VALUES (1, 'of_a_newer_program', 'moon')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let page = server.get("/api/tasks").await.expect(200);
    let task = &page["tasks"][0];
    assert_eq!((&task["role"], &task["platform"]), (&"of_a_newer_program".into(), &"moon".into()));

    let page: TaskPage = serde_json::from_value(page).unwrap();
    assert_eq!(page.tasks[0].platform, Some(Word::Other("moon".to_owned())));
    let counts: TaskCounts = serde_json::from_value(server.get("/api/tasks/counts").await.expect(200)).unwrap();
    assert_eq!(counts.by_role[&Word::Other("of_a_newer_program".to_owned())].pending, 1);
    assert_eq!(counts.by_role[&Word::Known(Role::PayloadFetch)].pending, 0);
}

#[tokio::test]
async fn answers_can_be_read_back_by_a_client_in_rust() {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_tasks (id, role, status) VALUES (1, 'analytics_refresh', 'failed'), (2, 'payload_fetch', 'pending');
               INSERT INTO task_attempts (task_id, fence, worker_id, outcome, error, claimed_at, finished_at)
               VALUES (1, 1, 'worker-a', 'failed', 'no answer', '2025-01-10T08:00:00Z', '2025-01-10T08:00:01.5Z')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let page: TaskPage = serde_json::from_value(server.get("/api/tasks?limit=1").await.expect(200)).unwrap();
    assert_eq!(page.tasks[0].role, Word::Known(Role::PayloadFetch));
    assert_eq!(page.next_cursor, Some(Cursor(2)));
    let detail: TaskDetail = serde_json::from_value(server.get("/api/tasks/1").await.expect(200)).unwrap();
    assert_eq!(detail.task.status, Word::Known(ShownStatus::Failed));
    assert_eq!(detail.attempts[0].outcome, Some(Word::Known(RecordedOutcome::Failed)));
    let _: TaskCounts = serde_json::from_value(server.get("/api/tasks/counts").await.expect(200)).unwrap();
    let _: Readiness = serde_json::from_value(server.get("/readyz").await.expect(200)).unwrap();
    let _: Registry = serde_json::from_value(server.get("/api/worker-registry").await.expect(200)).unwrap();
    let roles: Vec<RoleView> =
        serde_json::from_value(server.get("/api/worker-registry/roles").await.expect(200)).unwrap();
    let handlers: Vec<_> = roles.iter().map(|role| (role.role, role.handler.as_str())).collect();
    assert!(handlers.contains(&(Role::ProductDiscovery, "payload_fetch")), "{handlers:?}");
    assert!(handlers.contains(&(Role::ForumScrape, "forum_scrape")), "{handlers:?}");
}

#[tokio::test]
async fn a_payload_id_of_null_is_none() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let of_a_schedule = format!(
        "INSERT INTO worker_tasks (role, dispensary_id, platform) VALUES ('product_refresh', {store}, 'dutchie')"
    );
    server.database.raw.batch_execute(&of_a_schedule).await.unwrap();
    let body = json!({"role": "product_refresh", "dispensary_id": store, "payload": {"payload_id": null}});
    server.post("/api/tasks", body).await.expect(409);
}

#[tokio::test]
async fn an_urgent_request_raises_the_waiting_task_that_does_the_same() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let body = |priority: i64| json!({"role": "product_resync", "dispensary_id": store, "priority": priority});
    let made = server.post("/api/tasks", body(0)).await.expect(201);
    assert_eq!(made["raised"], false);
    for (path, priority) in [("/api/tasks", 20), ("/api/job-queue/enqueue", 30)] {
        let raised = server.post(path, body(priority)).await.expect(200);
        let seen = (&raised["id"], &raised["raised"], &raised["priority"]);
        assert_eq!(seen, (&made["id"], &json!(true), &json!(priority)), "{path}");
        let refused = server.post(path, body(priority)).await.problem(409);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("task {}", made["id"])) && detail.contains("dedup_key"), "{detail}");
    }
    let batch = json!({"tasks": [body(40), body(40)]});
    let batch = server.post("/api/job-queue/enqueue-batch", batch).await.expect(200);
    assert_eq!((&batch["made"], &batch["raised"], &batch["refused"]), (&json!(0), &json!(1), &json!(1)));
    assert_eq!(batch["tasks"][0], json!({"id": made["id"], "raised": true}));
    let audit = server.get("/api/audit?action=tasks.raise").await.expect(200);
    assert_eq!(audit["audit"].as_array().unwrap().len(), 2, "{audit}");
}
