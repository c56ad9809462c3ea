//! The API's answers, checked against its description by schemathesis: thousands of requests, good and bad,
//! over every operation.
//!
//! `./dev ci` installs it and runs this test; its configuration is `schemathesis.toml`.

use std::net::SocketAddr;
use std::time::Duration;

use domain::task::role::Role;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::process::Command;

use super::server::send;
use testkit::geo_files::{located, mmdb};
use testkit::{Child, FakeCluster, Farm, PATIENCE};

/// Maximum time of the whole run.
const MAX_TIME: Duration = Duration::from_secs(600);

/// Paths of half of the operations: two programs share them, since each asks with one processor.
const HALF: &str = "^/api/(media|stores|tasks)";

/// Makes a token, and returns its text.
async fn token(farm: &Farm, name: &str) -> String {
    let made = farm.drover(&["token", "create", "--role", "admin", "--name", name, "--json"]).output().await.unwrap();
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    made["token"].as_str().unwrap().to_owned()
}

async fn post(address: SocketAddr, token: &str, path: &str, body: Value) -> Value {
    let request = Request::builder().method(Method::POST).uri(path).header("host", address.to_string());
    let request = request.header("authorization", format!("Bearer {token}"));
    let answer = send(address, request.body(Full::from(body.to_string())).unwrap()).await;
    assert!(answer.status.is_success(), "{path}: {}", answer.text());
    answer.json()
}

#[tokio::test]
#[ignore = "needs the program that the variable SCHEMATHESIS names: ./dev ci installs it"]
async fn what_is_answered_is_what_is_described() {
    let program = std::env::var("SCHEMATHESIS").expect("the variable SCHEMATHESIS names no program");
    let farm = Farm::with_stores(3).await;
    farm.leaves_open_tasks("requests make tasks, and no worker runs");
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    farm.enqueue(Role::PayloadFetch).await;
    let again = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
    farm.until_counted("every store was crawled again", again, 2 * farm.stores.len() as i64).await;
    drop(worker);
    farm.execute(
        "INSERT INTO worker_tasks (role, platform) SELECT 'store_discovery', 'dutchie' FROM generate_series(1, 1100)",
    )
    .await;

    let geo = tempfile::NamedTempFile::with_suffix(".mmdb").unwrap();
    std::fs::write(geo.path(), mmdb(&located())).unwrap();
    let tokens = [token(&farm, "schemathesis").await, token(&farm, "revoked").await];
    let cluster = FakeCluster::start().await;
    let mut api = farm.drover(&["api"]);
    api.env("DROVER__KUBERNETES__KUBECONFIG", cluster.kubeconfig()).env("DROVER__KUBERNETES__MIN_REPLICAS", "0");
    api.env("DROVER__API__REQUESTS_PER_MINUTE", "0").env("DROVER__GEO__DATABASE", geo.path());
    let api = Child::spawn(&mut api);
    let line = api.logged("Listening on ", PATIENCE).await;
    let line: Value = serde_json::from_str(&line).unwrap();
    let address: SocketAddr = line["address"].as_str().unwrap().parse().unwrap();

    let job = post(address, &tokens[0], "/api/jobs", json!({"job_type": "youtube_monitor"})).await;
    post(address, &tokens[0], "/api/worker-registry/register", json!({"worker_id": "elsewhere-1"})).await;
    let all = json!({"action": "reprioritize", "priority": 1, "filter": {"role": "store_discovery"}, "dry_run": false});
    post(address, &tokens[0], "/api/tasks/bulk", all).await;

    // it keeps a cache where it runs
    let folder = tempfile::tempdir().unwrap();
    let settings = include_str!("schemathesis.toml").replace("JOB_ID", &job["id"].to_string());
    std::fs::write(folder.path().join("schemathesis.toml"), settings).unwrap();
    let half = |choice: &str| {
        let mut run = Command::new(&program);
        run.current_dir(folder.path()).args(["run", "--no-color", "--url", &format!("http://{address}"), choice, HALF]);
        run.arg(testkit::root().join("docs/openapi.json")).env("DROVER_TOKEN", &tokens[0]).kill_on_drop(true).output()
    };
    let halves = async { tokio::join!(half("--include-path-regex"), half("--exclude-path-regex")) };
    let (first, second) = tokio::time::timeout(MAX_TIME, halves).await.expect("schemathesis takes too long");
    for half in [first.unwrap(), second.unwrap()] {
        println!("{}", String::from_utf8_lossy(&half.stdout));
        assert!(half.status.success(), "{}", String::from_utf8_lossy(&half.stderr));
    }
}
