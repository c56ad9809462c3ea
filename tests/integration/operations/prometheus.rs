//! Alerts: each has tests that promtool runs, and an entry in the runbook; a real Prometheus knows every metric
//! that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;

use super::monitored_farm::MonitoredFarm;
use super::text_of;
use testkit::root;

const SEVERITIES: [&str; 3] = ["page", "warn", "info"];
const MAX_SERIES: f64 = 600.0;

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
    let MonitoredFarm { prometheus, .. } = &MonitoredFarm::start().await;
    let rules = prometheus.rules().await;
    assert_eq!(rules.keys().collect::<Vec<_>>(), alerts().keys().collect::<Vec<_>>());
    for (alert, expression) in &rules {
        // any error fails the query
        prometheus.query(expression).await;
        let unknown = prometheus.unknown_metrics(expression).await;
        assert!(unknown.is_empty(), "{alert} asks for metrics that do not exist: {unknown:?}");
    }
    let most = prometheus.samples("max(scrape_samples_scraped)").await[0];
    let largest = "topk(10, count by (instance, __name__) ({__name__=~\"drover_.*\"}))";
    assert!(most <= MAX_SERIES, "a process has {most} series; the most have {:#}", prometheus.query(largest).await);
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
