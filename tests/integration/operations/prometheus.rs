//! Alerts: each has tests that promtool runs, and an entry in the runbook; a real Prometheus knows every metric
//! that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;

use domain::role::Role;
use http_body_util::{BodyExt, Full};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tempfile::TempDir;

use crate::api::server::open;
use testkit::{Child, Farm, PATIENCE, until};

const SEVERITIES: [&str; 3] = ["page", "warn", "info"];
const MAX_SERIES: f64 = 600.0;
const STORES: usize = 5;

/// Numbers of an alert's tests that expect it, and that expect silence.
#[derive(Default)]
struct AlertTests {
    firing: usize,
    silent: usize,
}

#[test]
fn every_alert_has_a_severity_an_entry_in_the_runbook_and_tests_that_fire_and_stay_silent() {
    let runbook = text_of("docs/runbook.md");
    let entries: BTreeSet<&str> = runbook.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let overview = text_of("docs/monitoring.md");
    let tests = tests_by_alert();
    let alerts = alerts();
    assert!(!alerts.is_empty());
    for (name, rule) in &alerts {
        let severity = rule.lines().find_map(|line| line.trim().strip_prefix("labels: {severity: ")).unwrap();
        assert!(SEVERITIES.contains(&severity.trim_end_matches('}')), "{name} is a {severity}");
        let anchor = format!("runbook: docs/runbook.md#{}", name.to_lowercase());
        assert!(rule.contains(&anchor) && entries.contains(name.as_str()), "{name} has no entry in the runbook");
        let row = format!("| [{name}](runbook.md#{}) |", name.to_lowercase());
        assert!(overview.contains(&row), "{name} is not in the table of monitoring.md");
        let tests = tests.get(name).unwrap_or_else(|| panic!("{name} has no tests"));
        assert!(tests.firing > 0 && tests.silent > 0, "{name} has tests of one kind only");
    }
    let unknown: Vec<&String> = tests.keys().filter(|name| !alerts.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "tests of alerts that do not exist: {unknown:?}");
}

#[test]
#[ignore = "needs prometheus: ./dev ops-test"]
fn promtool_finds_no_fault_in_configuration_and_rules() {
    let prometheus = root().join("deploy/prometheus");
    for args in [["check", "config", "prometheus.yml"], ["check", "rules", "alerts.yaml"]] {
        let checked = promtool(&prometheus, &args);
        assert!(checked.status.success(), "{checked:?}");
    }
}

#[test]
#[ignore = "needs prometheus: ./dev ops-test"]
fn every_alert_fires_and_stays_silent_as_its_tests_say() {
    let tested = test_rules(&root().join("deploy/prometheus"));
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
}

#[test]
#[ignore = "needs prometheus: ./dev ops-test"]
fn tests_of_alerts_notice_a_wrong_threshold() {
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("tests")).unwrap();
    for file in test_files() {
        std::fs::copy(&file, copy.path().join("tests").join(file.file_name().unwrap())).unwrap();
    }
    let alerts = text_of("deploy/prometheus/alerts.yaml");
    std::fs::write(copy.path().join("alerts.yaml"), alerts.replace("> 0.25", "> 0.75")).unwrap();
    let tested = test_rules(copy.path());
    assert!(!tested.status.success() && String::from_utf8_lossy(&tested.stderr).contains("FailureRatio"), "{tested:?}");
}

#[tokio::test]
#[ignore = "needs prometheus: ./dev ops-test"]
async fn prometheus_knows_every_metric_of_the_alerts_and_few_series_a_process() {
    let farm = Farm::with_stores(STORES).await;
    let processes = [Child::spawn(&mut farm.drover(&["up"])), Child::spawn(&mut farm.drover(&["worker"]))];
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    read_everything(&processes[0]).await;
    let targets = [processes[0].probes().await, processes[1].probes().await];
    let prometheus = Prometheus::start(&targets).await;
    prometheus.until_scraped(targets.len()).await;

    let rules = prometheus.rules().await;
    assert_eq!(rules.keys().collect::<Vec<_>>(), alerts().keys().collect::<Vec<_>>());
    let known = prometheus.metric_names().await;
    for (alert, expression) in &rules {
        // any error fails the query
        prometheus.query(expression).await;
        let unknown: Vec<&str> = metrics_in(expression).filter(|name| !known.contains(*name)).collect();
        assert!(unknown.is_empty(), "{alert} asks for metrics that do not exist: {unknown:?}");
    }
    let most = prometheus.value("max(scrape_samples_scraped)").await;
    let largest = "topk(10, count by (instance, __name__) ({__name__=~\"drover_.*\"}))";
    assert!(most <= MAX_SERIES, "a process has {most} series; the most have {:#}", prometheus.query(largest).await);
}

/// A running Prometheus with the configuration of `deploy/`.
struct Prometheus {
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
            let up = self.query("up{job=\"drover\"} == 1").await;
            up["result"].as_array().unwrap().len() == targets
        })
        .await;
    }

    /// Expressions by the names of their alerts. Prometheus has evaluated each without an error.
    async fn rules(&self) -> BTreeMap<String, String> {
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

    async fn metric_names(&self) -> BTreeSet<String> {
        let names = self.get("/api/v1/label/__name__/values").await;
        names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    async fn value(&self, expression: &str) -> f64 {
        let answer = self.query(expression).await;
        answer["result"][0]["value"][1].as_str().unwrap().parse().unwrap()
    }

    async fn query(&self, expression: &str) -> Value {
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
fn with_ids(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

async fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    let request = http::Request::get(path).header("host", address.to_string()).body(Full::default()).unwrap();
    open(address, request).await.into_body().collect().await.unwrap().to_bytes().into()
}

/// The names of metrics in an expression.
fn metrics_in(expression: &str) -> impl Iterator<Item = &str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("drover_") || *word == "up")
}

/// The text of each rule by its name.
fn alerts() -> BTreeMap<String, String> {
    let text = text_of("deploy/prometheus/alerts.yaml");
    let rules = text.split("- alert: ").skip(1);
    rules.map(|rule| (rule.lines().next().unwrap().to_owned(), rule.to_owned())).collect()
}

fn tests_by_alert() -> BTreeMap<String, AlertTests> {
    let mut tests = BTreeMap::<String, AlertTests>::new();
    for file in test_files() {
        let text = std::fs::read_to_string(file).unwrap();
        for test in text.split("alertname: ").skip(1) {
            let name = test.lines().next().unwrap();
            let expected = test.lines().nth(1).unwrap().trim();
            let of_alert = tests.entry(name.to_owned()).or_default();
            match expected {
                "exp_alerts: []" => of_alert.silent += 1,
                "exp_alerts:" => of_alert.firing += 1,
                other => panic!("a test of {name} expects {other}"),
            }
        }
    }
    tests
}

fn test_files() -> Vec<PathBuf> {
    let files = std::fs::read_dir(root().join("deploy/prometheus/tests")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// Runs the tests of alerts that lie in this directory.
fn test_rules(prometheus: &Path) -> Output {
    let names = test_files().into_iter().map(|file| format!("tests/{}", file.file_name().unwrap().display()));
    let names: Vec<String> = names.collect();
    let mut args = vec!["test", "rules"];
    args.extend(names.iter().map(String::as_str));
    promtool(prometheus, &args)
}

fn promtool(dir: &Path, args: &[&str]) -> Output {
    let mut command = std::process::Command::new("promtool");
    command.args(args).current_dir(dir).output().expect("promtool is missing: ./dev ops-test installs it")
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
