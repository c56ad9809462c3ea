//! Requests that are too large or of the wrong kind: 413, 414, 415, 431, each as a problem document that the
//! client gets to see, unless the HTTP library refuses a head that it cannot hold.

use http::Method;
use http_body_util::Full;

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

#[tokio::test]
async fn a_body_is_refused_by_its_announced_length_before_it_is_sent() {
    let server = Server::start().await;
    let cases: [(&str, usize); 3] = [
        ("one byte more than allowed", MAX_BODY + 1),
        ("far more", 64 * MIB),
        ("nearly all that a number holds", usize::MAX / 4),
    ];
    for (case, bytes) in cases {
        println!("{case}");
        let request =
            format!("{}content-length: {bytes}\r\nexpect: 100-continue\r\n\r\n", head(&server, "POST /api/tasks"));
        let answer = Wire::with(server.address, request).await.answer().await.unwrap();
        assert_problem(&answer, 413);
    }
}

#[tokio::test]
async fn a_client_that_sends_all_of_a_large_body_first_gets_its_answer() {
    let server = Server::start().await;
    let cases: [(&str, &str, u16); 4] = [
        ("too large", "POST /api/tasks", 413),
        ("of a batch", "POST /api/job-queue/enqueue-batch", 413),
        ("for nothing", "POST /api/nothing", 404),
        ("where none belongs", "DELETE /livez", 405),
    ];
    for (case, line, status) in cases {
        println!("{case}");
        let mut wire = Wire::connect(server.address).await;
        let body = vec![b' '; 32 * MIB];
        wire.send(format!("{}content-length: {}\r\n\r\n", head(&server, line), body.len())).await.unwrap();
        wire.send(body).await.expect("the server takes what it does not read");
        assert_problem(&wire.answer().await.unwrap(), status);
    }
}

#[tokio::test]
async fn a_body_in_chunks_is_counted_as_it_comes() {
    let server = Server::start().await;
    let chunk = format!("{:x}\r\n{}\r\n", MAX_BODY, " ".repeat(MAX_BODY));
    let request = format!("{}transfer-encoding: chunked\r\n\r\n{chunk}{chunk}", head(&server, "POST /api/tasks"));
    assert_problem(&Wire::with(server.address, request).await.answer().await.unwrap(), 413);
}

#[tokio::test]
async fn a_target_that_is_too_long_is_414() {
    let target = Target::start().await;
    let cases: [(&str, &str, usize); 4] = [
        ("a long path", "/", 9_000),
        ("a long id", "/api/tasks/", 9_000),
        ("a long query", "/api/tasks?q=", 20_000),
        ("nearly all that a target may have", "/api/tasks?q=", 65_000),
    ];
    for (case, begin, bytes) in cases {
        println!("{case}");
        let answer = target.get(&format!("{begin}{}", "a".repeat(bytes))).await;
        answer.problem(414);
        assert_safe_headers("a long target", &answer.headers);
    }
}

#[tokio::test]
async fn what_no_buffer_holds_is_refused_too() {
    let server = Server::start().await;
    let cases: [(&str, &str, usize, &[u16]); 3] = [
        ("more than a target may have", "GET /api/tasks?q=LONG", 70_000, &[414]),
        ("more than a head may have", "GET /api/tasks?q=LONG", 1_000_000, &[414, 431]),
        ("a long method", "LONG /api/tasks", 200_000, &[400, 405, 431]),
    ];
    for (case, line, bytes, statuses) in cases {
        println!("{case}");
        let request = format!("{}\r\n", head(&server, &line.replace("LONG", &"A".repeat(bytes))));
        let status = Wire::with(server.address, request).await.status().await.unwrap();
        assert!(statuses.contains(&status), "{status}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_431() {
    let server = Server::start().await;
    let cases: [(&str, usize, usize, bool); 5] = [
        ("one field", 1, 70_000, true),
        ("many fields", 90, 1_000, true),
        ("what no buffer holds", 1, 300_000, false),
        ("more fields than are counted", 200, 10, false),
        ("fields without end", 100_000, 10, false),
    ];
    for (case, fields, bytes, has_reason) in cases {
        println!("{case}");
        let mut request = head(&server, "GET /livez");
        for n in 0..fields {
            request += &format!("x-{n}: {}\r\n", "x".repeat(bytes));
        }
        let answer = Wire::with(server.address, request + "\r\n").await.answer().await.unwrap();
        match has_reason {
            true => assert_problem(&answer, 431),
            false => assert!(answer.status == 431 && answer.is_bare(), "{}", answer.head),
        }
    }
}

#[tokio::test]
async fn a_body_of_another_type_is_415() {
    let target = Target::start().await;
    let cases: [(&str, &str); 12] = [
        ("text", "text/plain"),
        ("xml", "application/xml"),
        ("html", "text/html"),
        ("form with files", "multipart/form-data; boundary=x"),
        ("bytes", "application/octet-stream"),
        ("a beginning", "application/jsonx"),
        ("json as a parameter", "text/plain; charset=application/json"),
        ("text json", "text/json"),
        ("nothing", ""),
        ("no type", "json"),
        ("many", "*/*"),
        ("no utf 8", "application/\u{e9}"),
    ];
    for (case, kind) in cases {
        println!("{case}");
        let send = async |kinds: &[&str]| {
            let mut request = target.request(&Method::POST, "/api/tasks");
            for kind in kinds {
                request = request.header("content-type", kind.as_bytes());
            }
            target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await
        };
        send(&[kind]).await.problem(415);
        send(&["application/json", kind]).await.problem(415);
    }
    assert_eq!(target.count("worker_tasks").await, 0);
}

#[tokio::test]
async fn a_coded_body_is_415() {
    let target = Target::start().await;
    let cases: [(&str, &str); 3] = [("gzip", "gzip"), ("brotli", "br"), ("several", "identity, gzip")];
    for (case, coding) in cases {
        println!("{case}");
        let request = target.request(&Method::POST, "/api/tasks").header("content-encoding", coding);
        target.send(request.body(Full::from(r#"{"role":"analytics_refresh"}"#)).unwrap()).await.problem(415);
    }
}

#[tokio::test]
async fn json_by_any_of_its_names_is_read() {
    let target = Target::start().await;
    let cases: [(&str, &str); 4] = [
        ("json", "application/json"),
        ("with a charset", "application/json; charset=utf-8"),
        ("in capitals", "APPLICATION/JSON"),
        ("a kind of json", "application/merge-patch+json"),
    ];
    for (case, kind) in cases {
        println!("{case}");
        let request = target.request(&Method::POST, "/api/tasks").header("content-type", kind);
        let body = format!(r#"{{"role":"analytics_refresh","dedup_key":"{case}"}}"#);
        target.send(request.body(Full::from(body)).unwrap()).await.expect(201);
    }
}
