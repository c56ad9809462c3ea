//! Dashboards: each panel says what it shows, has the thresholds of the alert that it names, and is filled by a real Prometheus
//! after a crawl.

use std::collections::{BTreeMap, BTreeSet};

use rstest::rstest;
use serde_json::{Value, json};

use super::monitored_farm::{MonitoredFarm, metrics_in};
use super::text_of;
use testkit::root;

const DASHBOARDS: [&str; 3] = ["crawl", "queue", "runtime"];

/// Panels that a crawl without trouble leaves empty, and what fills them.
const OF_TROUBLE: [(&str, &str); 6] = [
    ("Failed runs by role", "a run fails"),
    ("Share of failed runs", "a run fails"),
    ("Requests that robots.txt forbids", "a robots.txt forbids a request"),
    ("Back-offs by resource", "memory or CPU are short"),
    ("Server errors by route", "the API answers with a status from 500 on"),
    ("Tries to send notifications", "a media job ends, and an endpoint wants to know"),
];

/// A panel's expression must stand in its alert's, before this comparison.
struct Comparison<'a> {
    operator: &'a str,
    number: f64,
}

#[test]
fn every_dashboard_has_a_file_an_id_and_a_variable_for_its_data_source() {
    let files = std::fs::read_dir(root().join("deploy/grafana/dashboards")).unwrap();
    let files: BTreeSet<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, DASHBOARDS.map(|name| format!("{name}.json")).into());
    for name in DASHBOARDS {
        let dashboard = dashboard(name);
        assert_eq!(dashboard["uid"], format!("drover-{name}"));
        assert_eq!(dashboard["id"], Value::Null, "{name}: an id of one Grafana only");
        assert!(is_text(&dashboard["title"]) && is_text(&dashboard["description"]), "{name}");
        let variable = &dashboard["templating"]["list"][0];
        assert_eq!((&variable["name"], &variable["type"]), (&json!("datasource"), &json!("datasource")), "{name}");
    }
}

#[test]
fn files_have_one_format() {
    for name in DASHBOARDS {
        let formatted = serde_json::to_string_pretty(&sorted(dashboard(name))).unwrap() + "\n";
        let text = text_of(&format!("deploy/grafana/dashboards/{name}.json"));
        assert!(text == formatted, "{name}.json: two spaces, sorted keys, a line for each value");
    }
}

#[test]
fn every_panel_says_what_it_shows() {
    let mut titles = BTreeSet::new();
    for name in DASHBOARDS {
        let mut ids = BTreeSet::new();
        for panel in panels(name) {
            assert_eq!(panel_faults(&panel), Vec::<&str>::new(), "{name}: {}", title(&panel));
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{name}: {} has the id of another panel", title(&panel));
            assert!(titles.insert((name, title(&panel))), "{name} has {} twice", title(&panel));
        }
    }
}

#[rstest]
#[case::without_a_description("description", Value::Null)]
#[case::without_a_title("title", json!(""))]
#[case::with_a_data_source_of_one_grafana("datasource", json!({ "type": "prometheus", "uid": "P1809F7CD0C75ACF3" }))]
#[case::without_an_expression("targets", json!([]))]
#[case::without_a_unit("fieldConfig", json!({}))]
fn a_faulty_panel_is_noticed(#[case] key: &str, #[case] value: Value) {
    let mut panel = panels("queue").remove(0);
    panel[key] = value;
    assert_eq!(panel_faults(&panel).len(), 1);
}

#[test]
fn panels_do_not_overlap() {
    for name in DASHBOARDS {
        let mut cells = BTreeSet::new();
        for panel in dashboard(name)["panels"].as_array().unwrap() {
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
            assert!(x + w <= 24, "{name}: {} is beyond the border", title(panel));
            let all_free = (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))).all(|cell| cells.insert(cell));
            assert!(all_free, "{name}: {} lies on another panel", title(panel));
        }
    }
}

#[test]
fn every_metric_of_panels_and_documents_exists() {
    let panels = expressions().into_iter().map(|(_, expression)| expression);
    let documents = ["docs/monitoring.md", "docs/tuning.md"].map(text_of);
    let made = ["crates/telemetry/src/metrics.rs", "crates/api/src/metrics/gauges.rs"].map(text_of).concat();
    for text in panels.chain(documents) {
        for metric in metrics_in(&text).filter(|metric| *metric != "up") {
            let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|part| metric.strip_suffix(part));
            assert!(made.contains(&format!("\"{}\"", of_histogram.unwrap_or(metric))), "{metric} does not exist");
        }
    }
}

#[test]
fn thresholds_are_those_of_the_alerts() {
    let alerts = alerts();
    let mut shown = BTreeSet::new();
    for panel in DASHBOARDS.into_iter().flat_map(panels) {
        let steps = steps(&panel);
        let Some(alert) = alert_of(&panel) else {
            assert_eq!(steps, [(None, "green".to_owned())], "{}: thresholds without an alert", title(&panel));
            continue;
        };
        let (expression, color) = alerts.get(&alert).unwrap_or_else(|| panic!("there is no alert {alert}"));
        let own = one_line(panel["targets"][0]["expr"].as_str().unwrap());
        let comparison = comparison(expression, &own);
        let comparison = comparison.unwrap_or_else(|| panic!("{alert} does not compare {own}, as {}", title(&panel)));
        assert_eq!(steps, comparison.steps(color), "{}", title(&panel));
        shown.insert(alert);
    }
    assert_eq!(shown, alerts.into_keys().collect(), "every alert has a panel");
}

#[test]
fn panels_that_only_trouble_fills_exist() {
    let titles: BTreeSet<String> = DASHBOARDS.into_iter().flat_map(panels).map(|panel| title(&panel)).collect();
    let gone: Vec<&str> = OF_TROUBLE.iter().map(|(title, _)| *title).filter(|title| !titles.contains(*title)).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn the_data_source_knows_the_interval_of_scrapes() {
    let read = |path: &str| -> Value { serde_saphyr::from_str(&text_of(path)).unwrap() };
    let source = read("deploy/grafana/provisioning/datasources/prometheus.yaml");
    let scraped = read("deploy/prometheus/prometheus.yml");
    assert_eq!(source["datasources"][0]["jsonData"]["timeInterval"], scraped["global"]["scrape_interval"]);
    assert!(source["datasources"][0]["uid"].is_null());
}

#[tokio::test]
#[ignore = "needs prometheus: ./dev ops-test"]
async fn every_panel_is_filled_after_a_crawl() {
    let MonitoredFarm { prometheus, .. } = &MonitoredFarm::start().await;
    let of_trouble: BTreeMap<&str, &str> = OF_TROUBLE.into();
    let mut faults = Vec::new();
    for (panel, expression) in expressions() {
        // any error fails the query
        let samples = prometheus.samples(&expression).await;
        if of_trouble.contains_key(panel.as_str()) {
            continue;
        }
        let unknown = prometheus.unknown_metrics(&expression).await;
        if !unknown.is_empty() || samples.is_empty() {
            faults.push(format!("{panel}: {} values of {expression}; unknown: {unknown:?}", samples.len()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

impl Comparison<'_> {
    /// Colours by the value from which they hold. Grafana's thresholds include their value, so `> 0`, of a count, begins at 1.
    fn steps(&self, bad: &str) -> [(Option<f64>, String); 2] {
        let [good, bad] = ["green", bad].map(str::to_owned);
        match (self.operator, self.number) {
            ("==", 1.0) | (">", 0.0) => [(None, good), (Some(1.0), bad)],
            (">", number) => [(None, good), (Some(number), bad)],
            ("<", number) => [(None, bad), (Some(number), good)],
            ("==", 0.0) => [(None, bad), (Some(1.0), good)],
            (operator, number) => panic!("no threshold says {operator} {number}"),
        }
    }
}

fn comparison<'a>(alert: &'a str, expression: &str) -> Option<Comparison<'a>> {
    let (_, rest) = alert.split_once(expression)?;
    let mut words = rest.split_whitespace();
    let operator = words.next().filter(|word| [">", "<", "=="].contains(word))?;
    Some(Comparison { operator, number: words.next()?.parse().ok()? })
}

/// Expression and colour of each alert.
fn alerts() -> BTreeMap<String, (String, &'static str)> {
    let groups: Value = serde_saphyr::from_str(&text_of("deploy/prometheus/alerts.yaml")).unwrap();
    let rules = groups["groups"].as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap());
    let color = |rule: &Value| match rule["labels"]["severity"].as_str().unwrap() {
        "page" => "red",
        "warn" => "orange",
        _ => "blue",
    };
    let alert = |rule: &Value| (text(&rule["alert"]), (one_line(rule["expr"].as_str().unwrap()), color(rule)));
    rules.map(alert).collect()
}

/// Panels and their expressions, as Grafana would send them.
fn expressions() -> Vec<(String, String)> {
    let mut expressions = Vec::new();
    for panel in DASHBOARDS.into_iter().flat_map(panels) {
        for target in panel["targets"].as_array().unwrap() {
            let expression = text(&target["expr"]).replace("$__rate_interval", "1m");
            assert!(!expression.contains('$'), "{}: an unknown variable", title(&panel));
            expressions.push((title(&panel), expression));
        }
    }
    expressions
}

fn panel_faults(panel: &Value) -> Vec<&'static str> {
    let has_source = |value: &Value| value["datasource"] == json!({ "type": "prometheus", "uid": "${datasource}" });
    let targets = panel["targets"].as_array().unwrap();
    let rules = [
        ("a title", is_text(&panel["title"])),
        ("a description that is a sentence", panel["description"].as_str().is_some_and(|text| text.ends_with('.'))),
        ("a unit", is_text(&panel["fieldConfig"]["defaults"]["unit"])),
        ("expressions", !targets.is_empty() && targets.iter().all(|target| is_text(&target["expr"]))),
        ("the data source of the variable", has_source(panel) && targets.iter().all(has_source)),
        ("one of the two types", ["stat", "timeseries"].map(Value::from).contains(&panel["type"])),
    ];
    rules.into_iter().filter(|(_, is_kept)| !is_kept).map(|(rule, _)| rule).collect()
}

/// The panels that show data.
fn panels(name: &str) -> Vec<Value> {
    let panels = dashboard(name)["panels"].as_array().unwrap().clone();
    panels.into_iter().filter(|panel| panel["type"] != "row").collect()
}

fn dashboard(name: &str) -> Value {
    serde_json::from_str(&text_of(&format!("deploy/grafana/dashboards/{name}.json"))).unwrap()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

fn steps(panel: &Value) -> Vec<(Option<f64>, String)> {
    let steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"].as_array().unwrap();
    steps.iter().map(|step| (step["value"].as_f64(), text(&step["color"]))).collect()
}

fn alert_of(panel: &Value) -> Option<String> {
    let (_, alert) = panel["description"].as_str()?.split_once("Alert: ")?;
    Some(alert.trim_end_matches('.').to_owned())
}

fn title(panel: &Value) -> String {
    text(&panel["title"])
}

fn one_line(expression: &str) -> String {
    expression.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
