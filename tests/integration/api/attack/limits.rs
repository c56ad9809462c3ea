//! What is too large or of the wrong kind: 413, 414, 415, 431, each as a problem document that the client gets to see.

use http::Method;
use http_body_util::Full;
use rstest::rstest;

use super::super::server::{MAX_BODY, Server};
use super::wire::{Wire, WireAnswer};
use super::{Target, assert_safe_headers};

const MIB: usize = 1 << 20;

fn head(server: &Server, line: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: {}\r\n", server.address)
}

#[track_caller]
fn assert_problem(answer: &WireAnswer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(answer.field("content-type"), Some("application/problem+json"));
    assert!(answer.body.contains(&format!("\"status\":{status}")), "{}", answer.body);
}

#[rstest]
#[case::one_byte_more_than_allowed(MAX_BODY + 1)]
#[case::far_more(64 * MIB)]
#[case::nearly_all_that_a_number_holds(usize::MAX / 4)]
#[tokio::test]
async fn a_body_is_refused_by_its_announced_length_before_it_is_sent(#[case] bytes: usize) {
    let server = Server::start().await;
    let request =
        format!("{}content-length: {bytes}\r\nexpect: 100-continue\r\n\r\n", head(&server, "POST /api/tasks"));
    let answer = Wire::with(server.address, request).await.answer().await.unwrap();
    assert_problem(&answer, 413);
}

#[rstest]
#[case::too_large("POST /api/tasks", 413)]
#[case::of_a_batch("POST /api/job-queue/enqueue-batch", 413)]
#[case::for_nothing("POST /api/nothing", 404)]
#[case::where_none_belongs("DELETE /livez", 405)]
#[tokio::test]
async fn a_client_that_sends_all_of_a_large_body_first_gets_its_answer(#[case] line: &str, #[case] status: u16) {
    let server = Server::start().await;
    let mut wire = Wire::connect(server.address).await;
    let body = vec![b' '; 32 * MIB];
    wire.send(format!("{}content-length: {}\r\n\r\n", head(&server, line), body.len())).await.unwrap();
    wire.send(body).await.expect("the server takes what it does not read");
    assert_problem(&wire.answer().await.unwrap(), status);
}

#[tokio::test]
async fn a_body_in_chunks_is_counted_as_it_comes() {
    let server = Server::start().await;
    let chunk = format!("{:x}\r\n{}\r\n", MAX_BODY, " ".repeat(MAX_BODY));
    let request = format!("{}transfer-encoding: chunked\r\n\r\n{chunk}{chunk}", head(&server, "POST /api/tasks"));
    assert_problem(&Wire::with(server.address, request).await.answer().await.unwrap(), 413);
}

#[rstest]
#[case::a_long_path("/", 9_000)]
#[case::a_long_id("/api/tasks/", 9_000)]
#[case::a_long_query("/api/tasks?q=", 20_000)]
#[case::nearly_all_that_a_target_may_have("/api/tasks?q=", 65_000)]
#[tokio::test]
async fn a_target_that_is_too_long_is_414(#[case] begin: &str, #[case] bytes: usize) {
    let target = Target::start().await;
    let answer = target.get(&format!("{begin}{}", "a".repeat(bytes))).await;
    answer.problem(414);
    assert_safe_headers("a long target", &answer.headers);
}

#[rstest]
#[case::more_than_a_target_may_have("GET /api/tasks?q=LONG", 70_000, &[414])]
#[case::more_than_a_head_may_have("GET /api/tasks?q=LONG", 1_000_000, &[414, 431])]
#[case::a_long_method("LONG /api/tasks", 200_000, &[400, 405, 431])]
#[tokio::test]
async fn what_no_buffer_holds_is_refused_too(#[case] line: &str, #[case] bytes: usize, #[case] statuses: &[u16]) {
    let server = Server::start().await;
    let request = format!("{}\r\n", head(&server, &line.replace("LONG", &"A".repeat(bytes))));
    let status = Wire::with(server.address, request).await.status().await.unwrap();
    assert!(statuses.contains(&status), "{status}");
}

#[rstest]
#[case::one_field(1, 70_000, true)]
#[case::many_fields(90, 1_000, true)]
#[case::what_no_buffer_holds(1, 300_000, false)]
#[case::more_fields_than_are_counted(200, 10, false)]
#[case::fields_without_end(100_000, 10, false)]
#[tokio::test]
async fn a_head_that_is_too_large_is_431(#[case] fields: usize, #[case] bytes: usize, #[case] has_reason: bool) {
    let server = Server::start().await;
    let mut request = head(&server, "GET /livez");
    for n in 0..fields {
        request += &format!("x-{n}: {}\r\n", "x".repeat(bytes));
    }
    let mut wire = Wire::with(server.address, request + "\r\n").await;
    let answer = wire.answer().await.unwrap();
    assert_eq!(answer.status, 431);
    if has_reason {
        assert_problem(&answer, 431);
    }
}

#[rstest]
#[case::text("text/plain")]
#[case::xml("application/xml")]
#[case::html("text/html")]
#[case::form_with_files("multipart/form-data; boundary=x")]
#[case::bytes("application/octet-stream")]
#[case::a_beginning("application/jsonx")]
#[case::json_as_a_parameter("text/plain; charset=application/json")]
#[case::text_json("text/json")]
#[case::nothing("")]
#[case::no_type("json")]
#[case::many("*/*")]
#[case::no_utf_8("application/\u{e9}")]
#[tokio::test]
async fn a_body_of_another_type_is_415(#[case] kind: &str) {
    let target = Target::start().await;
    let send = async |kinds: &[&str]| {
        let mut request = target.request(&Method::POST, "/api/tasks");
        for kind in kinds {
            request = request.header("content-type", kind.as_bytes());
        }
        target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await
    };
    send(&[kind]).await.problem(415);
    send(&["application/json", kind]).await.problem(415);
    assert_eq!(target.count("worker_tasks").await, 0);
}

#[rstest]
#[case::gzip("gzip")]
#[case::brotli("br")]
#[case::several("identity, gzip")]
#[tokio::test]
async fn a_coded_body_is_415(#[case] coding: &str) {
    let target = Target::start().await;
    let request = target.request(&Method::POST, "/api/tasks").header("content-encoding", coding);
    target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await.problem(415);
}

#[rstest]
#[case::json("application/json")]
#[case::with_a_charset("application/json; charset=utf-8")]
#[case::in_capitals("APPLICATION/JSON")]
#[case::a_kind_of_json("application/merge-patch+json")]
#[tokio::test]
async fn json_by_any_of_its_names_is_read(#[case] kind: &str) {
    let target = Target::start().await;
    let request = target.request(&Method::POST, "/api/tasks").header("content-type", kind);
    target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await.expect(201);
}
