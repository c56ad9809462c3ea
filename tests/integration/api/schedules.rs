//! Schedules by HTTP: added, changed by two people at once, removed, and run once however often a person
//! clicks.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use http::Method;
use rstest::rstest;
use serde_json::{Value, json};

use super::server::{Answer, Server};

impl Server {
    async fn add_schedule(&self, body: Value) -> Answer {
        self.post("/api/schedules", body).await
    }

    async fn put_schedule(&self, path: &str, tag: Option<&str>, body: Value) -> Answer {
        let mut request = self.request(Method::PUT, path);
        if let Some(tag) = tag {
            request = request.header("if-match", tag);
        }
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    async fn delete_schedule(&self, path: &str) -> u16 {
        self.status(&Method::DELETE, path, None).await
    }
}

/// A schedule of fetches, and its path.
async fn server_with_schedule() -> (Server, String) {
    let server = Server::start().await;
    let answer = server.add_schedule(json!({"name": "rivals", "role": "payload_fetch", "interval_hours": 4})).await;
    let path = format!("/api/schedules/{}", answer.expect(201)["id"]);
    (server, path)
}

fn tag(answer: &Answer) -> String {
    answer.headers["etag"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_schedule_is_added_listed_changed_and_removed_and_the_audit_tells() {
    let server = Server::start().await;
    let body =
        json!({"name": "rivals", "role": "product_resync", "interval_hours": 0.5, "state_code": "AZ", "priority": 7});
    let answer = server.add_schedule(body.clone()).await;
    let schedule = answer.expect(201);
    let path = format!("/api/schedules/{}", schedule["id"]);
    assert_eq!(answer.headers["location"], path.as_str());
    for field in [
        "name",
        "role",
        "enabled",
        "interval_hours",
        "cron",
        "time_zone",
        "upcoming",
        "priority",
        "state_code",
        "last_run_at",
        "next_run_at",
        "last_task_count",
        "last_error",
        "version",
    ] {
        assert!(schedule.as_object().unwrap().contains_key(field), "{field} is missing");
    }
    assert_eq!((&schedule["role"], &schedule["enabled"]), (&json!("payload_fetch"), &json!(true)));
    assert_eq!(server.add_schedule(body).await.problem(409)["status"], 409);

    let change = json!({"cron": "0 0 6 * * *", "state_code": null, "enabled": false, "name": "early"});
    let changed = server.put_schedule(&path, None, change).await.expect(200);
    let shown =
        ["name", "cron", "interval_hours", "state_code", "enabled", "priority"].map(|name| changed[name].clone());
    assert_eq!(shown, [json!("early"), json!("0 0 6 * * *"), Value::Null, Value::Null, json!(false), json!(7)]);
    assert!(changed["next_run_at"].as_str().unwrap().contains("T06:00:00"), "{changed}");
    let listed = server.get("/api/schedules").await.expect(200);
    assert_eq!(listed, json!({ "schedules": [changed] }));

    assert_eq!([server.delete_schedule(&path).await, server.delete_schedule(&path).await], [204, 404]);
    let rows = server.database.raw.query("SELECT action FROM audit_log ORDER BY id", &[]).await.unwrap();
    let actions: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(actions, ["schedules.create", "schedules.update", "schedules.delete"]);
}

#[tokio::test]
async fn a_cron_line_has_a_time_zone_that_changes_with_its_next_runs() {
    let server = Server::start().await;
    let body = json!({"name": "early", "role": "payload_fetch", "cron": "0 6 1 * mon", "time_zone": "America/Phoenix"});
    let schedule = server.add_schedule(body).await.expect(201);
    let path = format!("/api/schedules/{}", schedule["id"]);
    let hours = |schedule: &Value| -> Vec<String> {
        let times = schedule["upcoming"].as_array().unwrap();
        times.iter().map(|at| at.as_str().unwrap()[11..16].to_owned()).collect()
    };
    assert_eq!(hours(&schedule), ["13:00"; 3], "{schedule}");
    assert_eq!(schedule["upcoming"][0], schedule["next_run_at"]);
    assert_eq!(server.get(&path).await.expect(200)["upcoming"], schedule["upcoming"]);

    let put = async |change: Value| server.put_schedule(&path, None, change).await;
    let moved = put(json!({"cron": "30 7 * * *"})).await.expect(200);
    assert_eq!((&moved["time_zone"], hours(&moved)), (&json!("America/Phoenix"), vec!["14:30".to_owned(); 3]));
    let tokyo = put(json!({"time_zone": "Asia/Tokyo"})).await.expect(200);
    assert_eq!((&tokyo["cron"], hours(&tokyo)), (&json!("30 7 * * *"), vec!["22:30".to_owned(); 3]));
    let utc = put(json!({"time_zone": null})).await.expect(200);
    assert_eq!((&utc["time_zone"], hours(&utc)), (&Value::Null, vec!["07:30".to_owned(); 3]));
    put(json!({"time_zone": "Asia/Tokyo"})).await.expect(200);
    let hourly = put(json!({"interval_hours": 1})).await.expect(200);
    assert_eq!((&hourly["time_zone"], &hourly["cron"]), (&Value::Null, &Value::Null));
    assert_eq!(put(json!({"time_zone": "Asia/Tokyo"})).await.problem(400)["field"], "time_zone");
}

#[tokio::test]
async fn two_people_cannot_overwrite_each_other() {
    let (server, path) = server_with_schedule().await;
    let read = tag(&server.get(&path).await);
    // a run changes the shown state, but not the settings
    server.post(&format!("{path}/trigger"), json!({})).await.expect(200);
    let first = server.put_schedule(&path, Some(&read), json!({"priority": 5})).await;
    assert_eq!(first.expect(200)["version"], 2);
    let refused = server.put_schedule(&path, Some(&read), json!({"priority": 6})).await.problem(412);
    assert!(refused["detail"].as_str().unwrap().contains("read it again"), "{refused}");
    assert_eq!(server.get(&path).await.expect(200)["priority"], 5);
    server.put_schedule(&path, Some(&tag(&first)), json!({"priority": 6})).await.expect(200);
    server.put_schedule(&path, Some("*"), json!({"priority": 7})).await.expect(200);
    server.put_schedule(&path, Some("\"of-another\""), json!({"priority": 8})).await.problem(412);
    assert_eq!(server.put_schedule(&path, Some("2"), json!({"priority": 8})).await.problem(400)["field"], "If-Match");
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again_until_it_changes() {
    let (server, path) = server_with_schedule().await;
    let read = tag(&server.get(&path).await);
    let again = async || {
        let request = server.request(Method::GET, &path).header("if-none-match", &read);
        server.send(request.body(Default::default()).unwrap()).await
    };
    let unchanged = again().await;
    assert_eq!((unchanged.status.as_u16(), unchanged.body.len(), tag(&unchanged)), (304, 0, read.clone()));
    server.post(&format!("{path}/trigger"), json!({})).await.expect(200);
    assert!(again().await.expect(200)["last_run_at"].is_string(), "a run is news");
}

#[tokio::test]
async fn fifty_clicks_make_one_run() {
    let (server, path) = server_with_schedule().await;
    server.add_store("green-leaf").await;
    server.database.raw.batch_execute("UPDATE dispensaries SET crawl_enabled = true").await.unwrap();
    let trigger = format!("{path}/trigger");
    let answers = join_all((0..50).map(|_| server.post(&trigger, json!({})))).await;
    let runs: Vec<Value> = answers.iter().map(|answer| answer.expect(200)).collect();
    assert_eq!(runs.iter().filter(|run| run["already_made"] == false).count(), 1);
    assert!(runs.iter().all(|run| run["tasks"] == 1 && run["due_at"] == runs[0]["due_at"]));
    let tasks: i64 = server.database.raw.query_one("SELECT count(*) FROM worker_tasks", &[]).await.unwrap().get(0);
    assert_eq!(tasks, 1);
    server.post("/api/schedules/4711/trigger", json!({})).await.problem(404);
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_says_why_and_can_be_switched_off() {
    let (server, path) = server_with_schedule().await;
    let broken = "UPDATE task_schedules SET interval_hours = NULL, cron = 'often'";
    server.database.raw.batch_execute(broken).await.unwrap();
    let refused = server.post(&format!("{path}/trigger"), json!({})).await.problem(409);
    assert!(refused["detail"].as_str().unwrap().contains("'often'"), "{refused}");
    assert_eq!(server.put_schedule(&path, None, json!({"enabled": false})).await.expect(200)["enabled"], false);
}

#[tokio::test]
async fn a_wrong_change_is_refused_by_name() {
    let (server, path) = server_with_schedule().await;
    let before = server.get(&path).await.expect(200);
    let cases: [(Value, &str); 7] = [
        (json!({}), "enabled"),
        (json!({"intervall_hours": 4}), "intervall_hours"),
        (json!({"interval_hours": 4, "cron": "0 0 6 * * *"}), "cron"),
        (json!({"cron": "0 0 0 31 2 *"}), "cron"),
        (json!({"role": "analytics_refresh", "group_name": "rivals"}), "group_name"),
        (json!({"role": "store_discovery"}), "platform"),
        (json!({"args": {"x": 1}}), "args"),
    ];
    for (body, field) in cases {
        println!("{body}");
        assert_eq!(server.put_schedule(&path, None, body).await.problem(400)["field"], field);
        assert_eq!(server.get(&path).await.expect(200), before);
    }
}

#[tokio::test]
async fn past_runs_are_listed_with_the_states_of_their_tasks() {
    let (server, path) = server_with_schedule().await;
    for name in ["one", "two", "three"] {
        server.add_store(name).await;
    }
    assert_eq!(server.get(&format!("{path}/runs")).await.expect(200)["runs"], json!([]));
    server.post(&format!("{path}/trigger"), json!({})).await.expect(200);
    let ends = "
        SET xmlbinary = 'hex';
        UPDATE worker_tasks SET status = 'failed', ready = false, completed_at = created_at + interval '1 minute'
         WHERE id = (SELECT min(id) FROM worker_tasks);
        UPDATE worker_tasks SET status = 'completed', ready = false, completed_at = created_at + interval '2 minutes'
         WHERE id = (SELECT max(id) FROM worker_tasks);
        INSERT INTO schedule_runs (schedule_id, due_at, created_at, skipped)
        SELECT schedule_id, due_at - interval '4 hours', created_at - interval '4 hours', '{\"open_task\": 3}' FROM schedule_runs";
    server.database.raw.batch_execute(ends).await.unwrap();
    let runs = server.get(&format!("{path}/runs")).await.expect(200)["runs"].clone();
    let numbers =
        |run: &Value| json!(["tasks", "completed", "failed", "cancelled", "open"].map(|name| run[name].clone()));
    let numbers: Vec<Value> = runs.as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(json!(numbers), json!([[3, 1, 1, 0, 1], [0, 0, 0, 0, 0]]), "{runs}");
    let time = |name: &str| runs[0][name].as_str().unwrap().parse::<DateTime<Utc>>().unwrap();
    assert_eq!(time("last_end_at") - time("made_at"), TimeDelta::minutes(2));
    assert_eq!((&runs[1]["last_end_at"], &runs[1]["skipped"]["open_task"]), (&Value::Null, &json!(3)));
    server.get("/api/schedules/4711/runs").await.problem(404);
}

#[rstest]
#[case::every_hours("interval_hours = 4, cron = NULL", ["2100-01-01T06:00:00Z", "2100-01-01T10:00:00Z", "2100-01-01T14:00:00Z", "2100-01-01T18:00:00Z", "2100-01-01T22:00:00Z"])]
#[case::by_cron("interval_hours = NULL, cron = '0 0 6 * * *'", ["2100-01-01T06:00:00Z", "2100-01-02T06:00:00Z", "2100-01-03T06:00:00Z", "2100-01-04T06:00:00Z", "2100-01-05T06:00:00Z"])]
#[tokio::test]
async fn the_next_due_times_of_a_schedule_are_listed(#[case] recurrence: &str, #[case] times: [&str; 5]) {
    let (server, path) = server_with_schedule().await;
    let change =
        format!("SET xmlbinary = 'hex'; UPDATE task_schedules SET {recurrence}, next_run_at = '2100-01-01T06:00:00Z'");
    server.database.raw.batch_execute(&change).await.unwrap();
    let listed = async || server.get(&format!("{path}/runs")).await.expect(200)["upcoming"].clone();
    if recurrence.starts_with("interval") {
        server
            .database
            .raw
            .batch_execute("UPDATE task_schedules SET next_run_at = '2100-01-01T06:00:00Z'")
            .await
            .unwrap();
    }
    assert_eq!(listed().await, json!(times));
    server.put_schedule(&path, None, json!({"enabled": false})).await.expect(200);
    assert_eq!(listed().await, json!([]));
}
