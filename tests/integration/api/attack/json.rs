//! Bodies that no reader of JSON should take, or that readers take in different ways: 400 or 422 from every
//! operation that reads one. All operations read bodies by the same code, so that each attack goes to a few of them;
//! schemathesis tries every field of each.

use api::openapi;
use futures_util::{StreamExt, stream};
use http::Method;
use serde_json::{Value, json};

use super::{AT_ONCE, Answer, ID, Operation, Target, operations, resolved};

/// Depth of nesting that no stack has.
const DEPTH: usize = 20_000;
const FIELDS: usize = 20_000;
/// Maximum number of times that a request is sent.
const MAX_TRIES: usize = 3;

/// None of them is the body of any operation.
fn broken_documents() -> Vec<Vec<u8>> {
    let texts = [
        "{",
        "}",
        "{}}",
        "{} {}",
        "[]",
        "[{}]",
        "\"text\"",
        "17",
        "-0",
        "1e400",
        "true",
        "nul",
        "undefined",
        "NaN",
        "Infinity",
        "{\"a\":NaN}",
        "{\"a\":-Infinity}",
        "{\"a\":1e999}",
        "{\"a\":-1e999}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":0x10}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":'b'}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\udc00\\ud800\"}",
        "{\"\\udfff\":1}",
        "{\"a\":\"\\x41\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\u{0}\":1}",
        "{\"a\":\"open}",
        "/* */ {}",
        "{} // x",
        "\u{feff}{}",
        "{\"__proto__\":{\"role\":\"admin\"}}",
        "{\"constructor\":{}}",
        "{\"\":1}",
        "{\"$where\":\"1\"}",
        "<xml/>",
        "a=b",
        "--x\r\n\r\n{}",
        "{\"a\":1}{\"a\":1}",
        "\u{1e}{}",
    ];
    let mut documents: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    documents.extend([
        b"{\"a\":\"\xff\xfe\"}".to_vec(),
        b"{\"\xc0\xaf\":1}".to_vec(),
        b"{\"a\":\"\xed\xa0\x80\"}".to_vec(),
        b"\xff\xfe{\0}\0".to_vec(),
        "{\"a\":".repeat(DEPTH).into_bytes(),
        "[".repeat(DEPTH).into_bytes(),
        format!("{{\"a\":{}{}}}", "[".repeat(DEPTH), "]".repeat(DEPTH)).into_bytes(),
        format!("{{\"a\":{}}}", "9".repeat(DEPTH)).into_bytes(),
        format!("{{{}}}", (0..FIELDS).map(|n| format!("\"f{n}\":0")).collect::<Vec<_>>().join(",")).into_bytes(),
        format!("{{\"{}\":1}}", "k".repeat(DEPTH)).into_bytes(),
    ]);
    documents
}

/// Values in place of a field that may be anything.
fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(""),
        json!("'; DROP TABLE worker_tasks; --"),
        json!("../../etc/passwd"),
        json!("x".repeat(5_000)),
        json!("\u{202e}\u{1f600}\u{fffd}"),
        json!("9999-12-31T23:59:59.999999999Z"),
        json!("0000-01-01T00:00:00Z"),
        json!([]),
        json!([[[]]]),
        json!([null, 1, "a"]),
        json!({}),
        json!({"$ne": null}),
    ]
}

fn reading_operations(document: &Value) -> Vec<(Operation, Value)> {
    let with_schema = |operation: Operation| operation.body_schema(document).map(|schema| (operation, schema));
    operations().into_iter().filter_map(with_schema).collect()
}

/// Usual values of fields with these names, so that a body is accepted except for the attacked field.
fn usual_values() -> [(&'static str, Value); 14] {
    [
        ("role", json!("payload_fetch")),
        ("dispensary_id", json!(ID)),
        ("platform", json!("dutchie")),
        ("state_code", json!("AZ")),
        ("interval_hours", json!(4)),
        ("host", json!("proxy.example")),
        ("base_url", json!("https://forum.example/")),
        ("ids", json!([ID])),
        ("tasks", json!([{"role": "payload_fetch", "dispensary_id": ID}])),
        ("worker_id", json!(ID.to_string())),
        ("crawl_enabled", json!(true)),
        ("enabled", json!(true)),
        ("priority", json!(3)),
        ("username", json!("someone")),
    ]
}

fn body(document: &Value, schema: &Value) -> Value {
    let mut body = sample(document, schema);
    for (name, value) in usual_values() {
        let described = resolved(document, &schema["properties"][name]);
        if !described.is_null() && described.get("enum").is_none() {
            body[name] = value;
        }
    }
    body
}

/// A target where things of the number that requests name are there.
async fn with_things() -> Target {
    let target = Target::start().await;
    let sql = format!(
        "INSERT INTO dispensaries (id, name, slug, platform_dispensary_id, state, crawl_enabled) VALUES ({ID}, 'a', 'a', 'a', 'AZ', true);
         INSERT INTO worker_tasks (id, role) VALUES ({ID}, 'analytics_refresh');
         INSERT INTO task_schedules (id, name, role, interval_hours) VALUES ({ID}, 'b', 'payload_fetch', 4);
         INSERT INTO proxies (id, host, port) OVERRIDING SYSTEM VALUE VALUES ({ID}, '192.0.2.1', 80);
         INSERT INTO task_schedules (name, role, cron, group_name) VALUES ('of a group', 'payload_fetch', '0 0 6 * * *', 'group-{ID}');
         INSERT INTO watched_channels (id, channel_id) VALUES ({ID}, 'UCzzzzzzzzzzzzzzzzzzzzzz');
         INSERT INTO media_accounts (id, platform, username, kind) VALUES ({ID}, 'site', 'ann', 'public');
         INSERT INTO people (id, tmdb_id, name) VALUES ({ID}, {ID}, 'c');
         INSERT INTO hosts (host) VALUES ('menu.example');
         INSERT INTO forums (id, name, kind, base_url) VALUES ({ID}, 'f', 'phpbb', 'https://forum.example');
         INSERT INTO watched_threads (id, forum_id, external_id) VALUES ({ID}, {ID}, '1');
         INSERT INTO saved_searches (id, query) VALUES ({ID}, 'd');
         INSERT INTO credentials (id, name, platform, kind) VALUES ({ID}, 'e', 'site', 'token');
         INSERT INTO notification_endpoints (id, name, kind, target) VALUES (1, 'f', 'ntfy', 'https://ntfy.example/a'), ({ID}, 'g', 'ntfy', 'https://ntfy.example/a');
         SELECT setval('notification_endpoints_id_seq', 1);
         INSERT INTO notification_rules (id, endpoint_id, events) VALUES ({ID}, {ID}, '{{job.failed}}');
         INSERT INTO notifications (id, endpoint_id, event, subject, body) VALUES ({ID}, {ID}, 'job.failed', '1:1', '{{}}');
         INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
         VALUES ('{ID}', 'Xylos-1', 'Xylos', 'any', '{{}}', 'active', 3)"
    );
    target.server.database.raw.batch_execute(&sql).await.unwrap();
    target
}

/// An object of its required fields, each with a value that its schema allows.
fn sample(document: &Value, schema: &Value) -> Value {
    let schema = resolved(document, schema);
    if let Some(value) = [&schema["example"], &schema["default"], &schema["enum"][0]].into_iter().find(|v| !v.is_null())
    {
        return value.clone();
    }
    let kinds = [&schema["type"], &schema["type"][0]];
    match kinds.iter().find_map(|kind| kind.as_str()) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") if schema["minItems"].as_u64() > Some(0) => json!([sample(document, &schema["items"])]),
        Some("array") => json!([]),
        Some("string") if schema["format"] == "date-time" => json!("2025-11-17T08:00:00Z"),
        Some("string") => json!("a"),
        _ => {
            let required = schema["required"].as_array().into_iter().flatten();
            let field = |name: &Value| {
                let name = name.as_str().unwrap();
                (name.to_owned(), sample(document, &schema["properties"][name]))
            };
            Value::Object(required.map(field).collect())
        }
    }
}

#[tokio::test]
async fn no_operation_takes_a_broken_document() {
    let target = &Target::start().await;
    let documents = &broken_documents();
    let operations = reading_operations(&openapi::document());
    assert!(operations.len() >= 20, "{}", operations.len());
    let all = documents.iter().cycle().zip(operations.iter().cycle()).take(documents.len().max(operations.len()));
    stream::iter(all)
        .for_each_concurrent(AT_ONCE, async |(document, (operation, _))| {
            let answer = target.json(&operation.method, &operation.target(), document.clone()).await;
            let shown: String = String::from_utf8_lossy(document).chars().take(60).collect();
            let status = answer.status.as_u16();
            assert!([400, 422].contains(&status), "{} {shown:?}: {status} {}", operation.name(), answer.text());
            answer.problem(status);
        })
        .await;
    assert_eq!((target.count("audit_log").await, target.count("worker_tasks").await), (0, 0));
}

#[tokio::test]
async fn most_bodies_are_accepted_before_they_are_attacked() {
    let target = with_things().await;
    let document = &openapi::document();
    let mut refused = Vec::new();
    for (operation, schema) in reading_operations(document) {
        let body = body(document, &schema);
        let answer = target.json(&operation.method, &operation.target(), body.to_string()).await;
        if !answer.status.is_success() {
            refused.push(format!("{} {body}: {}", operation.name(), answer.text()));
        }
    }
    assert!(refused.len() <= 10, "too few attacks reach the database:\n{}", refused.join("\n"));
}

#[tokio::test]
async fn a_field_that_holds_something_else_is_never_a_fault_of_the_server() {
    let target = &with_things().await;
    let document = &openapi::document();
    let mut bodies = Vec::new();
    let odd_values = odd_values();
    let mut odd = odd_values.iter().cycle();
    for (operation, schema) in reading_operations(document) {
        let names: Vec<&String> = schema["properties"].as_object().into_iter().flat_map(|all| all.keys()).collect();
        assert!(!names.is_empty(), "{} has no fields", operation.name());
        for name in names {
            let mut body = body(document, &schema);
            body[name] = odd.next().unwrap().clone();
            bodies.push((operation.method.clone(), operation.target(), body));
        }
    }
    stream::iter(bodies)
        .for_each_concurrent(AT_ONCE, async |(method, path, body)| {
            let answer = sent_until_free(target, &method, &path, &body).await;
            let status = answer.status.as_u16();
            // a login with a wrong token gets 401
            let is_refused = [400, 401, 404, 409, 412, 413, 422].contains(&status);
            assert!(is_refused || answer.status.is_success(), "{method} {path} {body}: {status} {}", answer.text());
            if is_refused {
                answer.problem(status);
            }
        })
        .await;
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(target.server.database.raw.query_one(deadlocks, &[]).await.unwrap().get::<_, i64>(0), 0);
}

/// The requests change the same rows at once: on a busy machine one may wait for a lock until it has to be sent again.
async fn sent_until_free(target: &Target, method: &Method, path: &str, body: &Value) -> Answer {
    for _ in 1..MAX_TRIES {
        let answer = target.json(method, path, body.to_string()).await;
        if answer.status != 503 || !answer.headers.contains_key("retry-after") {
            return answer;
        }
    }
    target.json(method, path, body.to_string()).await
}

#[tokio::test]
async fn a_doubled_field_is_refused_by_every_operation() {
    let target = &Target::start().await;
    let document = &openapi::document();
    for (operation, schema) in reading_operations(document) {
        for name in schema["properties"].as_object().unwrap().keys() {
            let value = sample(document, &schema["properties"][name]);
            let body = format!("{{\"{name}\":{value},\"{name}\":{value}}}");
            target.json(&operation.method, &operation.target(), body).await.problem(400);
        }
    }
}

#[tokio::test]
async fn a_doubled_field_is_refused_however_deep_or_written() {
    let target = Target::start().await;
    let cases: [(&str, &'static str); 3] = [
        (
            "in args",
            r#"{"role":"store_discovery","platform":"dutchie","payload":{"state_code":"AZ","state_code":"CA"}}"#,
        ),
        ("written otherwise", r#"{"role":"analytics_refresh","r\u006fle":"payload_fetch"}"#),
        (
            "with the same value",
            r#"{"role":"store_discovery","platform":"dutchie","payload":{"state_code":"AZ","state_code":"AZ"}}"#,
        ),
    ];
    for (case, body) in cases {
        println!("{case}");
        target.json(&Method::POST, "/api/tasks", body).await.problem(400);
        assert_eq!(target.count("worker_tasks").await, 0);
    }
}
