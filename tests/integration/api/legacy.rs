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
    let bad = server.post("/api/tasks/migration/create-resync-tasks", json!({"state_code": "az"})).await.problem(400);
    assert_eq!(bad["field"], "state_code");
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
async fn without_old_tables_nothing_is_changed() {
    let server = Server::start().await;
    server.add_store("one").await;
    for step in ["disable-old-schedules", "cancel-pending-crawl-jobs", "create-resync-tasks"] {
        assert_eq!(post(&server, step).await, json!({"legacy": "absent", "count": 0}), "{step}");
    }
    assert_eq!(post(&server, "full-migrate").await["legacy"], "absent");
    let status = status(&server).await;
    assert_eq!(
        (&status["legacy"], &status["job_schedules"], &status["queue"]["pending"]),
        (&json!("absent"), &Value::Null, &json!(0))
    );
}
