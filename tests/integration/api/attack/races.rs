//! The same change asked for by many at once: one of them has the effect, the others are told so, and none fails by it.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

use super::server::Server;

const CLIENTS: usize = 50;

impl Server {
    /// How often each status was answered.
    async fn at_once(&self, method: Method, path: &str, body: Value) -> BTreeMap<u16, usize> {
        let ask = || async {
            let request = self.request(method.clone(), path).body(body.to_string().into()).unwrap();
            self.send(request).await.status.as_u16()
        };
        let mut counted = BTreeMap::new();
        for status in join_all((0..CLIENTS).map(|_| ask())).await {
            *counted.entry(status).or_default() += 1;
        }
        counted
    }

    async fn number(&self, sql: &str) -> i64 {
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }
}

fn one_of(done: u16, refused: u16) -> BTreeMap<u16, usize> {
    BTreeMap::from([(done, 1), (refused, CLIENTS - 1)])
}

#[tokio::test]
async fn a_task_is_enqueued_once() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let body = json!({"role": "payload_fetch", "dispensary_id": store});
    assert_eq!(server.at_once(Method::POST, "/api/tasks", body).await, one_of(201, 409));
    let storeless = json!({"role": "store_discovery", "platform": "dutchie"});
    let answers = server.at_once(Method::POST, "/api/job-queue/enqueue", storeless).await;
    assert_eq!((answers, server.number("SELECT count(*) FROM worker_tasks").await), (one_of(201, 409), 2));
}

#[tokio::test]
async fn batches_of_the_same_tasks_make_each_once() {
    let server = Server::start().await;
    let mut tasks = Vec::new();
    for n in 0..10 {
        let store = server.add_store(&format!("store-{n}")).await;
        tasks.push(json!({"role": "payload_fetch", "dispensary_id": store}));
    }
    let answers = server.at_once(Method::POST, "/api/job-queue/enqueue-batch", json!({ "tasks": tasks })).await;
    assert_eq!(answers, BTreeMap::from([(200, CLIENTS)]));
    assert_eq!(server.number("SELECT count(*) FROM worker_tasks").await, 10);
}

#[tokio::test]
async fn a_task_is_cancelled_retried_and_removed_once() {
    let server = Server::start().await;
    let store = server.add_store("a-shop").await;
    let task = server.post("/api/tasks", json!({"role": "payload_fetch", "dispensary_id": store})).await.expect(201);
    let path = format!("/api/tasks/{}", task["id"]);
    let cancelled = server.at_once(Method::POST, &format!("{path}/cancel"), json!({})).await;
    assert_eq!(cancelled, BTreeMap::from([(200, CLIENTS)]), "it is cancelled, whoever did it");
    assert_eq!(server.at_once(Method::POST, &format!("{path}/retry"), json!({})).await, one_of(200, 409));
    assert_eq!(server.get(&path).await.expect(200)["status"], "pending");
    assert_eq!(server.at_once(Method::DELETE, &path, json!({})).await, one_of(204, 404));
    assert_eq!(server.number("SELECT count(*) FROM worker_tasks").await, 0);
}

#[tokio::test]
async fn a_schedule_is_added_and_removed_once() {
    let server = Server::start().await;
    let body = json!({"name": "rivals", "role": "payload_fetch", "interval_hours": 4});
    assert_eq!(server.at_once(Method::POST, "/api/schedules", body).await, one_of(201, 409));
    let id = server.number("SELECT id FROM task_schedules").await;
    let path = format!("/api/schedules/{id}");
    assert_eq!(server.at_once(Method::DELETE, &path, json!({})).await, one_of(204, 404));
}

#[tokio::test]
async fn a_states_tasks_are_made_once() {
    let server = Server::start().await;
    server.add_store("a-shop").await;
    server.database.raw.batch_execute("UPDATE dispensaries SET state = 'AZ', crawl_enabled = true").await.unwrap();
    let answers = server.at_once(Method::POST, "/api/job-queue/enqueue-state", json!({"state_code": "AZ"})).await;
    assert!(answers.keys().all(|status| [200, 409].contains(status)) && answers[&200] > 0, "{answers:?}");
    assert_eq!(server.number("SELECT count(*) FROM worker_tasks").await, 1);
}
