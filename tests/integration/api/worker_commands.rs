//! Commands that people give to workers.

use domain::task::role::Role;
use http::Method;
use serde_json::{Value, json};

use super::server::Server;
use testkit::{Child, Farm, PATIENCE, until};

async fn with_worker(id: &str) -> Server {
    let server = Server::start().await;
    let sql = "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
               VALUES ($1, 'Xylos-1', 'Xylos', 'any', '{}', 'active', 3)";
    server.database.raw.execute(sql, &[&id]).await.unwrap();
    server
}

#[tokio::test]
async fn an_order_waits_for_its_worker() {
    let server = with_worker("worker any/1").await;
    for command in ["pause", "resume", "decommission"] {
        let answer = server.post(&format!("/api/worker-registry/worker%20any%2F1/{command}"), json!({})).await;
        assert_eq!(answer.expect(202), json!({"worker_id": "worker any/1", "command": command}));
    }
    let sql = "SELECT string_agg(command, ' ' ORDER BY id) FROM worker_commands WHERE worker_id = 'worker any/1' AND taken_at IS NULL";
    let orders: String = server.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(orders, "pause resume decommission");
    let audit = server.get("/api/audit").await.expect(200);
    let audited: Vec<Value> =
        audit["audit"].as_array().unwrap().iter().map(|row| json!([row["action"], row["target"]])).collect();
    let expected = [
        json!(["workers.order", "worker any/1"]),
        json!(["pauses.delete", "worker Xylos-1"]),
        json!(["pauses.create", "worker Xylos-1"]),
    ];
    assert_eq!(audited, expected);
}

#[tokio::test]
async fn a_worker_that_is_not_registered_gets_no_order() {
    let server = with_worker("worker-1").await;
    server.post("/api/worker-registry/worker-2/pause", json!({})).await.problem(404);
    assert_eq!(server.post("/api/worker-registry/a%00b/pause", json!({})).await.problem(400)["field"], "path");
    let operator = server.token("operator").await;
    let path = "/api/worker-registry/worker-1/decommission";
    server.call(Method::POST, path, &operator, None).await.problem(403);
}

/// The API in a process of its own.
struct Api<'a> {
    farm: &'a Farm,
    url: String,
    token: String,
    _process: Child,
}

impl<'a> Api<'a> {
    async fn start(farm: &'a Farm) -> Api<'a> {
        let args = ["token", "create", "--role", "admin", "--name", "operations", "--json"];
        let made: Value = serde_json::from_slice(&farm.drover(&args).output().await.unwrap().stdout).unwrap();
        let process = Child::spawn(&mut farm.drover(&["api"]));
        let line: Value = serde_json::from_str(&process.logged("Listening on ", PATIENCE).await).unwrap();
        let (url, token) = (format!("http://{}", line["address"].as_str().unwrap()), made["token"].as_str().unwrap());
        Api { farm, url, token: token.to_owned(), _process: process }
    }

    /// Output of a command that asks this server alone.
    async fn ask(&self, args: &[&str]) -> Value {
        let mut command = self.farm.drover(args);
        command.args(["--json", "--url", &self.url]).env("DROVER_TOKEN", &self.token).env_remove("DATABASE_URL");
        let run = command.output().await.unwrap();
        assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice(&run.stdout).unwrap()
    }

    async fn worker(&self) -> Option<Value> {
        self.ask(&["workers", "list"]).await["workers"].as_array().unwrap().first().cloned()
    }

    async fn until_status(&self, status: &str) {
        let is_it = async || self.worker().await.is_some_and(|worker| worker["status"] == status);
        until(&format!("the worker is {status}"), PATIENCE, is_it).await;
    }
}

#[tokio::test]
async fn a_worker_of_another_process_is_listed_and_obeys() {
    let farm = Farm::with_stores(2).await.without_schedules().await;
    let api = Api::start(&farm).await;
    let mut pod = Child::spawn(farm.drover(&["worker", "--workers", "1"]).env("WORKER_ID", "elsewhere"));
    api.until_status("active").await;
    let worker = api.worker().await.unwrap();
    assert_eq!((&worker["worker_id"], &worker["max_concurrent_tasks"]), (&json!("elsewhere"), &json!(2)));
    assert!(worker["pod"].is_string() && worker["last_heartbeat_at"].is_string(), "{worker}");

    api.ask(&["workers", "pause", "elsewhere"]).await;
    api.until_status("paused").await;
    farm.enqueue(Role::PayloadFetch).await;
    let heartbeat = async || api.worker().await.unwrap()["last_heartbeat_at"].clone();
    for _ in 0..2 {
        let before = heartbeat().await;
        until("another heartbeat", PATIENCE, async || heartbeat().await != before).await;
    }
    let waiting = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND role = 'payload_fetch'";
    assert_eq!(farm.count(waiting).await, 2, "it claims nothing");

    api.ask(&["workers", "resume", "elsewhere"]).await;
    farm.until_crawled().await;
    api.ask(&["workers", "decommission", "elsewhere"]).await;
    assert_eq!(pod.ended(PATIENCE).await.code(), Some(0));
    until("it is no longer listed", PATIENCE, async || api.worker().await.is_none()).await;
}
