//! `MonitoredFarm`: two drover processes that have crawled, and a real Prometheus that scrapes them by the configuration of
//! `deploy/prometheus`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use domain::task::role::Role;
use http_body_util::{BodyExt, Full};
use nix::sys::signal::Signal;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use sim::Settings;
use tempfile::TempDir;

use super::text_of;
use crate::api::server::open;
use testkit::{Child, Farm, PATIENCE, root, until};

const STORES: usize = 5;

/// Each holds once Prometheus has scraped the last crawl of [`MonitoredFarm::start`] and the chores after it.
const SIGNS_OF_A_CRAWL: [&str; 3] = [
    "sum(rate(drover_tasks_finished_total{role=\"product_refresh\"}[1m])) > 0",
    "sum(rate(drover_http_requests_total[1m])) > 0",
    "count(drover_quality_findings) > 0",
];

pub struct MonitoredFarm {
    pub prometheus: Prometheus,
    _processes: [Child; 2],
    _farm: Farm,
}

impl MonitoredFarm {
    /// One crawl before the first scrape, so that counters begin, and one after it, so that they grow. One proxy is blocked.
    pub async fn start() -> MonitoredFarm {
        let farm = Farm::changed(STORES, |world| Settings { blocked_proxies: 1, block_after: 1, ..world }).await;
        let processes = ["up", "worker"]
            .map(|service| Child::spawn(farm.drover(&[service]).env("DROVER__IMAGES__DOWNLOAD", "true")));
        let targets = [processes[0].probes().await, processes[1].probes().await];
        use_everything(&farm, &processes, 1).await;
        let prometheus = Prometheus::start(&targets).await;
        prometheus.until_scraped(targets.len()).await;
        use_everything(&farm, &processes, 2).await;
        for sign in SIGNS_OF_A_CRAWL {
            prometheus.until_holds(sign).await;
        }
        MonitoredFarm { prometheus, _processes: processes, _farm: farm }
    }
}

/// A crawl of each store, an answer of every resource of the API, and a reload of the settings.
async fn use_everything(farm: &Farm, processes: &[Child; 2], crawl: u32) {
    farm.sim.set_crawl(crawl);
    farm.enqueue(Role::PayloadFetch).await;
    let open =
        "SELECT count(*) FROM worker_tasks WHERE status IN ('pending', 'claimed', 'running') AND schedule_id IS NULL";
    farm.until_counted("every store was crawled", open, 0).await;
    let stored = "SELECT least(count(local_image_path), 1) FROM store_products";
    farm.until_counted("an image was stored", stored, 1).await;
    read_everything(&processes[0]).await;
    for process in processes {
        process.signal(Signal::SIGHUP);
    }
}

/// Asks every resource of the API once, so that each has series.
async fn read_everything(api: &Child) {
    let line: Value = serde_json::from_str(&api.logged("Listening on http", PATIENCE).await).unwrap();
    let address: SocketAddr = line["address"].as_str().unwrap().parse().unwrap();
    let described: Value = serde_json::from_str(&text_of("docs/openapi.json")).unwrap();
    let paths = described["paths"].as_object().unwrap().iter();
    let readable = paths.filter(|(path, methods)| methods.get("get").is_some() && *path != "/api/events");
    for (path, _) in readable {
        get(address, &with_ids(path)).await;
    }
}

/// The path with 1 in place of each parameter.
pub fn with_ids(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// A running Prometheus with the configuration of `deploy/`.
pub struct Prometheus {
    address: SocketAddr,
    _process: Child,
    _dir: TempDir,
}

impl Prometheus {
    async fn start(targets: &[SocketAddr]) -> Prometheus {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("prometheus.yml");
        std::fs::write(&config, config_for(targets)).unwrap();
        let mut command = tokio::process::Command::new("prometheus");
        command.arg(format!("--config.file={}", config.display()));
        command.arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()));
        command.arg("--web.listen-address=127.0.0.1:0").current_dir(dir.path()).kill_on_drop(true);
        let process = Child::spawn(&mut command);
        let line = process.logged("msg=\"Listening on\"", PATIENCE).await;
        let address = line.rsplit_once("address=").unwrap().1.parse().unwrap();
        process.logged("Server is ready", PATIENCE).await;
        Prometheus { address, _process: process, _dir: dir }
    }

    async fn until_scraped(&self, targets: usize) {
        until("Prometheus scraped every process", PATIENCE, async || {
            self.samples("up{job=\"drover\"} == 1").await.len() == targets
        })
        .await;
    }

    async fn until_holds(&self, expression: &str) {
        let what = format!("Prometheus finds {expression}");
        until(&what, PATIENCE, async || !self.samples(expression).await.is_empty()).await;
    }

    /// Expressions by the names of their alerts. Prometheus has evaluated each without an error.
    pub async fn rules(&self) -> BTreeMap<String, String> {
        until("every rule was evaluated", PATIENCE, async || {
            let groups = self.get("/api/v1/rules").await;
            all_rules(&groups).all(|rule| rule["health"] != "unknown")
        })
        .await;
        let groups = self.get("/api/v1/rules").await;
        let named = |rule: &Value| {
            assert_eq!(rule["health"], "ok", "{rule}");
            (rule["name"].as_str().unwrap().to_owned(), rule["query"].as_str().unwrap().to_owned())
        };
        all_rules(&groups).map(named).collect()
    }

    /// Metrics in the expression that Prometheus does not know.
    pub async fn unknown_metrics(&self, expression: &str) -> Vec<String> {
        let names = self.get("/api/v1/label/__name__/values").await;
        let known: BTreeSet<&str> = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        metrics_in(expression).filter(|name| !known.contains(name)).map(str::to_owned).collect()
    }

    /// The values of an expression that are numbers. Any error fails the test.
    pub async fn samples(&self, expression: &str) -> Vec<f64> {
        let answer = self.query(expression).await;
        let values = answer["result"].as_array().unwrap().iter().map(|series| &series["value"][1]);
        values.map(|value| value.as_str().unwrap().parse().unwrap()).filter(|value: &f64| !value.is_nan()).collect()
    }

    pub async fn query(&self, expression: &str) -> Value {
        self.get(&format!("/api/v1/query?query={}", utf8_percent_encode(expression, NON_ALPHANUMERIC))).await
    }

    /// The data of an answer without an error.
    async fn get(&self, path: &str) -> Value {
        let body = get(self.address, path).await;
        let answer: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(answer["status"], "success", "{path}: {answer}");
        answer["data"].clone()
    }
}

fn all_rules(groups: &Value) -> impl Iterator<Item = &Value> {
    groups["groups"].as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap())
}

/// The example, with these targets, and a second in place of each of its times.
fn config_for(targets: &[SocketAddr]) -> String {
    let targets = targets.iter().map(|target| format!("\"{target}\"")).collect::<Vec<_>>().join(", ");
    let alerts = root().join("deploy/prometheus/alerts.yaml");
    let example = text_of("deploy/prometheus/prometheus.yml");
    let quick = example.replace("[127.0.0.1:9100]", &format!("[{targets}]")).replace("15s", "1s");
    quick.replace("[alerts.yaml]", &format!("[\"{}\"]", alerts.display()))
}

async fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    let request = http::Request::get(path).header("host", address.to_string()).body(Full::default()).unwrap();
    open(address, request).await.into_body().collect().await.unwrap().to_bytes().into()
}

/// The names of metrics in an expression.
pub fn metrics_in(expression: &str) -> impl Iterator<Item = &str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("drover_") || *word == "up")
}
