//! The move from the older schema.

use serde_json::{Value, json};

use super::server::Server;

async fn with_old_tables() -> Server {
    let server = Server::start().await;
    let sql = "CREATE TABLE job_schedules (id serial PRIMARY KEY, job_name text, enabled boolean);
               CREATE TABLE dispensary_crawl_jobs (id serial PRIMARY KEY, status varchar(20), completed_at timestamptz);
               CREATE TABLE job_run_logs (id serial PRIMARY KEY, status text CHECK (status IN ('running', 'success', 'error')), error_message text);
               INSERT INTO job_schedules (job_name, enabled) VALUES ('a', true), ('b', true), ('c', false);
               INSERT INTO dispensary_crawl_jobs (status) VALUES ('pending'), ('pending'), ('running'), ('completed');
               INSERT INTO job_run_logs (status) VALUES ('running'), ('success')";
    server.database.raw.batch_execute(sql).await.unwrap();
    server.add_store("one").await;
    server.add_store("two").await;
    server.database.raw.batch_execute("UPDATE dispensaries SET state = 'AZ' WHERE slug = 'two'").await.unwrap();
    server
}

async fn post(server: &Server, step: &str) -> Value {
    server.post(&format!("/api/tasks/migration/{step}"), json!({})).await.expect(200)
}

async fn status(server: &Server) -> Value {
    server.get("/api/tasks/migration/status").await.expect(200)
}

#[tokio::test]
async fn each_step_moves_its_part() {
    let server = with_old_tables().await;
    assert_eq!(post(&server, "disable-old-schedules").await, json!({"legacy": "present", "count": 2}));
    assert_eq!(post(&server, "cancel-pending-crawl-jobs").await, json!({"legacy": "present", "count": 2}));
    let state = server.post("/api/tasks/migration/create-resync-tasks", json!({"state_code": "AZ"})).await.expect(200);
    assert_eq!(state, json!({"legacy": "present", "count": 1}));
    assert_eq!(post(&server, "create-resync-tasks").await["count"], 1, "the other store");

    let status = status(&server).await;
    assert_eq!(status["job_schedules"], json!({"false": 3}));
    assert_eq!(status["dispensary_crawl_jobs"], json!({"cancelled": 2, "running": 1, "completed": 1}));
    assert_eq!(status["queue"]["pending"], 2);
    let bad = server.post("/api/tasks/migration/create-resync-tasks", json!({"state_code": "A1"})).await.problem(400);
    assert_eq!(bad["field"], "state_code");
    let again = server.post("/api/tasks/migration/create-resync-tasks", json!({"state_code": "az"})).await.expect(200);
    assert_eq!(again["note"], "stores with a crawl that is queued or running already: 1");
}

#[tokio::test]
async fn the_whole_move_is_made_once() {
    let server = with_old_tables().await;
    let report = post(&server, "full-migrate").await;
    let counts = ["schedules_disabled", "crawl_jobs_cancelled", "crawl_tasks_created", "job_runs_closed"];
    assert_eq!(counts.map(|count| report[count].as_i64().unwrap()), [2, 2, 2, 1], "{report}");
    assert!(report["discovery_task"].is_i64() && report["analytics_task"].is_i64(), "{report}");
    let run = "SELECT status || ': ' || error_message FROM job_run_logs WHERE id = 1";
    let run: String = server.database.raw.query_one(run, &[]).await.unwrap().get(0);
    assert_eq!(run, "error: its process has ended", "the table's own word");

    let before = status(&server).await;
    let again = post(&server, "full-migrate").await;
    assert_eq!(counts.map(|count| again[count].as_i64().unwrap()), [0; 4], "{again}");
    assert_eq!((&again["discovery_task"], &again["crawl_tasks_skipped"]), (&Value::Null, &json!(2)));
    assert_eq!(status(&server).await, before);
}

#[tokio::test]
async fn without_old_tables_tasks_are_made_all_the_same() {
    let server = Server::start().await;
    server.add_store("one").await;
    for step in ["disable-old-schedules", "cancel-pending-crawl-jobs"] {
        let answer = post(&server, step).await;
        assert_eq!((&answer["legacy"], &answer["count"]), (&json!("absent"), &json!(0)), "{step}");
        assert!(answer["note"].as_str().unwrap().contains("older schema"), "{answer}");
    }
    assert_eq!(post(&server, "create-resync-tasks").await, json!({"legacy": "absent", "count": 1}));
    let report = post(&server, "full-migrate").await;
    assert_eq!((&report["legacy"], &report["crawl_tasks_skipped"]), (&json!("absent"), &json!(1)));
    assert!(report["discovery_task"].is_i64() && report["analytics_task"].is_i64(), "{report}");
    assert_eq!(report["notes"].as_array().unwrap().len(), 2, "no tables, and the crawl that is queued: {report}");
    let status = status(&server).await;
    assert_eq!((&status["job_schedules"], &status["queue"]["pending"]), (&Value::Null, &json!(3)));
}

#[tokio::test]
async fn old_tables_with_enumerated_words_and_other_names_are_moved() {
    let server = Server::start().await;
    let sql = "CREATE TYPE job_status AS ENUM ('PENDING', 'running', 'canceled', 'done', 'error');
               CREATE TABLE job_schedules (id serial PRIMARY KEY, is_active boolean);
               CREATE TABLE dispensary_crawl_jobs (id serial PRIMARY KEY, status job_status, finished_at timestamptz);
               CREATE TABLE job_run_logs (id serial PRIMARY KEY, status job_status);
               INSERT INTO job_schedules (is_active) VALUES (true), (false);
               INSERT INTO dispensary_crawl_jobs (status) VALUES ('PENDING'), ('done');
               INSERT INTO job_run_logs (status) VALUES ('running')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let report = post(&server, "full-migrate").await;
    let counts = ["schedules_disabled", "crawl_jobs_cancelled", "job_runs_closed"];
    assert_eq!(counts.map(|count| report[count].as_i64().unwrap()), [1, 1, 1], "{report}");
    let status = status(&server).await;
    assert_eq!(status["job_schedules"], json!({"false": 2}));
    assert_eq!(status["dispensary_crawl_jobs"], json!({"canceled": 1, "done": 1}));
    assert_eq!(status["job_run_logs"], json!({"error": 1}));
}

#[tokio::test]
async fn an_old_table_that_cannot_be_moved_is_named_with_its_column() {
    let server = Server::start().await;
    let sql = "CREATE TABLE job_schedules (id serial PRIMARY KEY, job_name text);
               CREATE TABLE dispensary_crawl_jobs (id serial PRIMARY KEY, status text CHECK (status IN ('pending', 'done')));
               INSERT INTO dispensary_crawl_jobs (status) VALUES ('pending')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let path = |step| format!("/api/tasks/migration/{step}");
    let refused = async |step| server.post(&path(step), json!({})).await.problem(409)["detail"].to_string();
    for step in ["disable-old-schedules", "full-migrate"] {
        assert!(refused(step).await.contains("the table job_schedules has no column enabled"), "{step}");
    }
    let cancelled = refused("cancel-pending-crawl-jobs").await;
    assert!(cancelled.contains("the column status of the table dispensary_crawl_jobs takes none of"), "{cancelled}");
    server.get(&path("status")).await.problem(409);
}
