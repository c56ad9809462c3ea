//! Bodies that no reader of JSON should take, or that readers take in different ways: 400 or 422 from every
//! operation that reads one. All operations read bodies by the same code, so that each attack goes to a few of them;
//! schemathesis tries every field of each.

use futures_util::{StreamExt, stream};
use http::Method;

use super::{AT_ONCE, Operation, Target, operations};

/// Depth of nesting that no stack has.
const DEPTH: usize = 20_000;
const FIELDS: usize = 20_000;

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

#[tokio::test]
async fn no_operation_takes_a_broken_document() {
    let target = &Target::start().await;
    let documents = &broken_documents();
    let operations: Vec<Operation> = operations().into_iter().filter(Operation::takes_body).collect();
    assert!(operations.len() >= 20, "{}", operations.len());
    let all = documents.iter().cycle().zip(operations.iter().cycle()).take(documents.len().max(operations.len()));
    stream::iter(all)
        .for_each_concurrent(AT_ONCE, async |(document, operation)| {
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
async fn a_doubled_field_is_refused_however_deep_or_written() {
    let target = Target::start().await;
    let cases: [&str; 3] = [
        r#"{"role":"store_discovery","platform":"dutchie","payload":{"state_code":"AZ","state_code":"CA"}}"#,
        r#"{"role":"analytics_refresh","r\u006fle":"payload_fetch"}"#,
        r#"{"role":"store_discovery","platform":"dutchie","payload":{"state_code":"AZ","state_code":"AZ"}}"#,
    ];
    for body in cases {
        println!("{body}");
        target.json(&Method::POST, "/api/tasks", body).await.problem(400);
        assert_eq!(target.count("worker_tasks").await, 0);
    }
}
