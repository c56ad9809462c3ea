//! Tasks for many stores by HTTP, a discovery, and recovery by request: as old clients ask for them.

use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;

impl Server {
    /// Crawlable stores in Arizona.
    async fn stores_in_arizona(&self, count: usize) {
        for n in 0..count {
            self.add_store(&format!("store-{n}")).await;
        }
        self.database.raw.batch_execute("UPDATE dispensaries SET state = 'AZ', crawl_enabled = true").await.unwrap();
    }

    /// Audited changes, oldest first.
    async fn audited(&self) -> Vec<String> {
        let rows = self.database.raw.query("SELECT action FROM audit_log ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}

#[rstest]
#[case::of_old_clients(json!({"threshold_minutes": 10}), 1)]
#[case::more_patience(json!({"threshold_minutes": 30}), 0)]
#[case::the_default(json!({}), 1)]
#[tokio::test]
async fn silent_tasks_are_recovered_and_counted(#[case] body: Value, #[case] requeued: i64) {
    let server = Server::start().await;
    let sql = "SET xmlbinary = hex;
               INSERT INTO worker_tasks (role, status, fence, worker_id, claimed_at, last_heartbeat_at, lease_expires_at)
               VALUES ('analytics_refresh', 'running', 1, 'w', now(), now() - interval '20 minutes', now() + interval '1 hour')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let counts = server.post("/api/tasks/recover-stale", body).await.expect(200);
    assert_eq!(counts, json!({"requeued": requeued, "failed": 0, "waiting": 0, "waiting_until": null}));
    assert_eq!(server.audited().await, ["tasks.recover"]);
}

#[rstest]
#[case::batches(Some(json!({"batches_per_day": 6})), 4)]
#[case::a_state(Some(json!({"state_code": "AZ"})), 4)]
#[case::another_state(Some(json!({"state_code": "NV"})), 0)]
#[case::no_body(None, 4)]
#[tokio::test]
async fn a_days_crawls_are_made_once(#[case] body: Option<Value>, #[case] count: i64) {
    let server = Server::start().await;
    server.stores_in_arizona(4).await;
    let ask = async || {
        let body = body.clone().map_or_else(String::new, |body| body.to_string());
        let request = server.request(http::Method::POST, "/api/tasks/generate/resync");
        server.send(request.body(body.into()).unwrap()).await.expect(200)
    };
    let made = ask().await;
    assert_eq!((&made["count"], &made["skipped"]), (&json!(count), &json!(0)));
    assert_eq!(made["first_slot"].is_string() && made["last_slot"].is_string(), count > 0, "{made}");
    let again = ask().await;
    assert_eq!((&again["count"], &again["skipped"]), (&json!(0), &json!(count)));
}

#[tokio::test]
async fn crawls_that_another_session_makes_just_now_are_a_conflict() {
    let server = Server::start().await;
    server.stores_in_arizona(1).await;
    let other = testkit::connect(&server.database.url).await;
    other.batch_execute("BEGIN; SELECT generate_resync_tasks(6, current_date)").await.unwrap();
    let refused = server.post("/api/tasks/generate/resync", json!({})).await.problem(409);
    assert!(refused["detail"].as_str().unwrap().contains("try again"), "{refused}");
    other.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(server.post("/api/tasks/generate/resync", json!({})).await.expect(200)["count"], 1);
}

#[tokio::test]
async fn a_discovery_is_one_urgent_task() {
    let server = Server::start().await;
    let body = json!({"platform": "dutchie", "state_code": "AZ"});
    let answer = server.post("/api/tasks/generate/discovery", body.clone()).await;
    let task = answer.expect(201);
    assert_eq!(answer.headers["location"], format!("/api/tasks/{}", task["id"]).as_str());
    assert_eq!((&task["role"], &task["priority"]), (&json!("store_discovery"), &json!(10)));
    assert_eq!(task["payload"], json!({"state_code": "AZ"}));
    assert_eq!(server.post("/api/tasks/generate/discovery", body).await.problem(409)["task_id"], task["id"]);
}
