//! The same change, requested by many clients at once: one request has the effect, the others learn so, and
//! none fails.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

use super::super::server::Server;

/// Number of clients: more than the API has connections, and few enough that on a busy machine none waits too long for one.
const CLIENTS: usize = 20;

impl Server {
    /// How often each status was answered.
    async fn at_once(&self, method: Method, path: &str, body: Value) -> BTreeMap<u16, usize> {
        counted(join_all((0..CLIENTS).map(|_| self.ask(&method, path, &body))).await)
    }

    async fn ask(&self, method: &Method, path: &str, body: &Value) -> u16 {
        let request = self.request(method.clone(), path).body(body.to_string().into()).unwrap();
        self.send(request).await.status.as_u16()
    }

    /// Keeps every change of a task's status from here on.
    async fn record_transitions(&self) {
        let sql = "CREATE TABLE seen_transitions (task_id bigint, before text, after text);
                   CREATE FUNCTION record_transition() RETURNS trigger LANGUAGE plpgsql AS
                     $$ BEGIN INSERT INTO seen_transitions VALUES (OLD.id, OLD.status, NEW.status); RETURN NULL; END $$;
                   CREATE TRIGGER record_transition AFTER UPDATE ON worker_tasks FOR EACH ROW
                     WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION record_transition()";
        self.database.raw.batch_execute(sql).await.unwrap();
    }

    async fn transitions(&self) -> BTreeSet<String> {
        let sql = "SELECT DISTINCT before || ' to ' || after FROM seen_transitions";
        self.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    async fn number(&self, sql: &str) -> i64 {
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }
}

fn counted(statuses: Vec<u16>) -> BTreeMap<u16, usize> {
    let mut counted = BTreeMap::new();
    for status in statuses {
        *counted.entry(status).or_default() += 1;
    }
    counted
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
    assert_eq!(cancelled, BTreeMap::from([(200, CLIENTS)]), "it is cancelled, by one of them");
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

#[tokio::test]
async fn of_different_changes_at_once_each_finds_a_task_as_another_left_it() {
    let server = Server::start().await;
    server.record_transitions().await;
    let store = server.add_store("a-shop").await;
    let task = server.post("/api/tasks", json!({"role": "payload_fetch", "dispensary_id": store})).await.expect(201);
    let path = format!("/api/tasks/{}", task["id"]);
    let (cancel, retry) = (format!("{path}/cancel"), format!("{path}/retry"));
    let changes = [
        (Method::POST, cancel.as_str(), json!({})),
        (Method::POST, retry.as_str(), json!({})),
        (Method::PUT, path.as_str(), json!({"priority": 7})),
        (Method::POST, "/api/tasks/bulk", json!({"action": "cancel", "ids": [task["id"]]})),
        (Method::POST, "/api/tasks/bulk", json!({"action": "retry", "ids": [task["id"]]})),
    ];
    let asked = (0..CLIENTS).map(|n| {
        let (method, path, body) = &changes[n % changes.len()];
        server.ask(method, path, body)
    });
    let answers = counted(join_all(asked).await);
    assert!(answers.keys().all(|status| [200, 409].contains(status)), "{answers:?}");
    let legal = BTreeSet::from(["pending to cancelled".to_owned(), "cancelled to pending".to_owned()]);
    let seen = server.transitions().await;
    assert!(!seen.is_empty() && seen.is_subset(&legal), "{seen:?}");
}

#[tokio::test]
async fn a_task_that_is_claimed_while_it_is_cancelled_and_removed_is_never_lost_halfway() {
    let server = Server::start().await;
    server.record_transitions().await;
    let mut ids = Vec::new();
    for n in 0..10 {
        let store = server.add_store(&format!("store-{n}")).await;
        let body = json!({"role": "payload_fetch", "dispensary_id": store});
        ids.push(server.post("/api/tasks", body).await.expect(201)["id"].as_i64().unwrap());
    }
    let paths: Vec<String> = ids.iter().map(|id| format!("/api/tasks/{id}")).collect();
    let cancels: Vec<String> = paths.iter().map(|path| format!("{path}/cancel")).collect();
    let nothing = json!({});
    let removed = join_all(paths.iter().map(|path| server.ask(&Method::DELETE, path, &nothing)));
    let cancelled = join_all(cancels.iter().map(|path| server.ask(&Method::POST, path, &nothing)));
    let claims = join_all((0..10).map(|_| async {
        let claim = "SELECT count(*) FROM claim_task('payload_fetch', 'w')";
        server.database.raw.query_one(claim, &[]).await.unwrap().get::<_, i64>(0)
    }));
    let (removed, cancelled, claims) = tokio::join!(removed, cancelled, claims);
    assert!(removed.iter().all(|status| [204, 409].contains(status)), "{removed:?}");
    assert!(cancelled.iter().all(|status| [200, 404, 409].contains(status)), "{cancelled:?}");
    let kept = removed.iter().filter(|status| **status == 409).count() as i64;
    assert_eq!(server.number("SELECT count(*) FROM worker_tasks").await, kept);
    let legal = ["pending to claimed", "pending to cancelled", "claimed to cancelled", "cancelled to pending"];
    let seen = server.transitions().await;
    assert!(seen.iter().all(|change| legal.contains(&change.as_str())), "{seen:?}");
    let active = "SELECT count(*) FROM worker_tasks WHERE status IN ('claimed', 'running')";
    assert!(server.number(active).await <= claims.iter().sum(), "more run than were claimed");
}

#[tokio::test]
async fn a_proxy_and_a_job_are_added_and_removed_once() {
    let server = Server::start().await;
    let proxy = json!({"host": "proxy.example", "port": 3128});
    assert_eq!(server.at_once(Method::POST, "/api/proxies", proxy).await, one_of(201, 409));
    let path = format!("/api/proxies/{}", server.number("SELECT id FROM proxies").await);
    assert_eq!(server.at_once(Method::DELETE, &path, json!({})).await, one_of(204, 404));
    let list = json!({"proxies": ["a.example:1", "b.example:1"]});
    let answers = server.at_once(Method::POST, "/api/proxies/import", list).await;
    assert_eq!((answers.len(), server.number("SELECT count(*) FROM proxies").await), (1, 2), "{answers:?}");
}

#[tokio::test]
async fn a_token_of_a_name_is_made_and_revoked_once() {
    let server = Server::with(|config| config.requests_per_minute = 0).await;
    let admin = server.token("admin").await;
    let call = async |method: &Method, path: &str| {
        let body = (*method == Method::POST).then(|| json!({"name": "ci", "role": "viewer"}));
        server.call(method.clone(), path, &admin, body).await.status.as_u16()
    };
    let made = counted(join_all((0..CLIENTS).map(|_| call(&Method::POST, "/api/tokens"))).await);
    assert_eq!(made, one_of(201, 409));
    let path = format!("/api/tokens/{}", server.number("SELECT id FROM api_tokens WHERE name = 'ci'").await);
    let revoked = counted(join_all((0..CLIENTS).map(|_| call(&Method::DELETE, &path))).await);
    assert_eq!(revoked, one_of(204, 404));
}

#[tokio::test]
async fn a_version_is_changed_by_one_of_those_who_read_it() {
    let server = Server::start().await;
    let body = json!({"name": "rivals", "role": "payload_fetch", "interval_hours": 4});
    let made = server.post("/api/schedules", body).await;
    let path = format!("/api/schedules/{}", made.expect(201)["id"]);
    let tag = made.headers["etag"].to_str().unwrap().to_owned();
    let put = async |priority: usize| {
        let request = server.request(Method::PUT, &path).header("if-match", &tag);
        let body = json!({ "priority": priority + 1 }).to_string();
        server.send(request.body(body.into()).unwrap()).await.status.as_u16()
    };
    assert_eq!(counted(join_all((0..CLIENTS).map(put)).await), one_of(200, 412));
    assert_eq!(server.get(&path).await.expect(200)["version"], 2);
}
