//! Bytes that are not HTTP, or contradict themselves: 400 or an end of the connection, and never a second
//! request hidden in the first.

use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::super::server::Server;
use super::wire::Wire;

/// A request that creates a task, except for its body's length, which `framing` states.
fn post(server: &Server, framing: &str) -> String {
    format!("POST /api/tasks HTTP/1.1\r\nhost: {}\r\n{framing}", server.address)
}

async fn tasks(server: &Server) -> i64 {
    server.database.raw.query_one("SELECT count(*) FROM worker_tasks", &[]).await.unwrap().get(0)
}

/// `HOST` is replaced by the right one.
#[tokio::test]
async fn what_is_no_request_is_400_or_the_end() {
    let server = Server::start().await;
    let cases: [(&str, &str); 29] = [
        ("no request", "\r\n\r\nhello\r\n\r\n"),
        ("binary", "\0\u{1}\u{2}\u{3}\r\n\r\n"),
        ("tls client hello", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\r\n\r\n"),
        ("of HTTP 2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("no version", "GET /livez\r\n\r\n"),
        ("another version", "GET /livez HTTP/9.9\r\nhost: HOST\r\n\r\n"),
        ("lower case version", "GET /livez http/1.1\r\nhost: HOST\r\n\r\n"),
        ("no method", "/livez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("no such method name", "G@T /livez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("method of many bytes", "GET\u{7f} /livez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("space in the target", "GET /li vez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("tab in the target", "GET /livez\tx HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("nul in the target", "GET /li\0vez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("space before the line", " GET /livez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("no host", "GET /livez HTTP/1.1\r\n\r\n"),
        ("no host in HTTP 1.0", "GET /livez HTTP/1.0\r\n\r\n"),
        ("two hosts", "GET /livez HTTP/1.1\r\nhost: HOST\r\nhost: HOST\r\n\r\n"),
        ("empty host", "GET /livez HTTP/1.1\r\nhost:\r\n\r\n"),
        ("another host in the target", "GET http://evil.example/livez HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("a tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("space before the colon", "GET /livez HTTP/1.1\r\nhost : HOST\r\n\r\n"),
        ("no colon", "GET /livez HTTP/1.1\r\nhost: HOST\r\nx\r\n\r\n"),
        ("no name", "GET /livez HTTP/1.1\r\nhost: HOST\r\n: x\r\n\r\n"),
        ("a name with a slash", "GET /livez HTTP/1.1\r\nhost: HOST\r\na/b: x\r\n\r\n"),
        ("folded", "GET /livez HTTP/1.1\r\nhost: HOST\r\nx: a\r\n b\r\n\r\n"),
        ("folded first", "GET /livez HTTP/1.1\r\n host: HOST\r\n\r\n"),
        ("nul in a field", "GET /livez HTTP/1.1\r\nhost: HOST\r\nx: a\0b\r\n\r\n"),
        ("bare carriage return", "GET /livez HTTP/1.1\r\nhost: HOST\r\nx: a\rb: c\r\n\r\n"),
        ("escape in a field", "GET /livez HTTP/1.1\r\nhost: HOST\r\nx: \u{1b}[2J\r\n\r\n"),
    ];
    for (case, bytes) in cases {
        println!("{case}");
        let mut wire = Wire::with(server.address, bytes.replace("HOST", &server.address.to_string())).await;
        // a request that can be read and is refused leaves the connection open
        let status = wire.status().await;
        assert!(matches!(status, None | Some(400)), "{status:?}");
        server.get("/livez").await.expect(200);
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_400_and_the_end_of_the_connection() {
    let server = Server::start().await;
    let good = format!("GET /livez HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let long = good.replace("/livez", "/api/openapi.json");
    let cases: [(&str, String, &[u16]); 5] = [
        ("alone", "GET /li\0vez HTTP/1.1\r\n\r\n".to_owned(), &[400]),
        ("after a request", format!("{good}G@T /livez\r\n\r\n"), &[200, 400]),
        ("after many", good.repeat(50) + "\u{1}\r\n\r\n", &[&[200; 50][..], &[400]].concat()),
        ("after more than is sent unread", long.repeat(8) + "\u{1}\r\n\r\n", &[&[200; 8][..], &[400]].concat()),
        ("with more behind it", format!("GET /livez\tx HTTP/1.1\r\n\r\n{good}"), &[400]),
    ];
    for (case, bytes, statuses) in cases {
        println!("{case}");
        let mut wire = Wire::with(server.address, bytes).await;
        for status in statuses {
            let answer = wire.answer().await.unwrap();
            assert_eq!(answer.status, *status, "{}", answer.body);
            assert_eq!(answer.is_bare(), *status == 400, "{}", answer.head);
            assert_eq!(answer.field("connection"), (*status == 400).then_some("close"));
            assert!(answer.field("date").is_some());
        }
        assert!(wire.is_closed().await);
    }
}

/// `Wire` looks at each answer.
#[tokio::test]
async fn whatever_one_byte_of_a_request_is_changed_to_its_answer_is_whole() {
    let server = Server::start().await;
    let good = format!("GET /livez HTTP/1.1\r\nhost: {}\r\naccept: */*\r\n\r\n", server.address);
    let mut refused = 0;
    for at in 0..good.len() {
        for byte in [0, b'\t', b'\n', b'\r', b' ', b'/', b':', 0x7f, 0xff] {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = byte;
            // the end of the head, where that was changed
            bytes.extend(b"\r\n\r\n");
            let answer = Wire::with(server.address, &bytes).await.answer().await;
            refused += usize::from(answer.is_some_and(|answer| answer.status == 400));
        }
    }
    assert!(refused > good.len(), "{refused} were refused");
    server.get("/livez").await.expect(200);
}

#[tokio::test]
async fn a_body_whose_length_is_a_lie_is_400_and_makes_nothing() {
    let server = Server::start().await;
    let cases: [(&str, &str); 19] = [
        ("unequal lengths", "content-length: 4\r\ncontent-length: 40\r\n\r\n{}  "),
        ("lengths in a list", "content-length: 2, 2\r\n\r\n{}"),
        ("negative", "content-length: -2\r\n\r\n{}"),
        ("signed", "content-length: +2\r\n\r\n{}"),
        ("hexadecimal", "content-length: 0x2\r\n\r\n{}"),
        ("fractional", "content-length: 2.0\r\n\r\n{}"),
        ("empty", "content-length: \r\n\r\n{}"),
        ("no number", "content-length: two\r\n\r\n{}"),
        ("more than a number holds", "content-length: 99999999999999999999999\r\n\r\n{}"),
        ("unknown coding", "transfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("coding that is not last", "transfer-encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("coding taken back", "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("coding with a space before the colon", "transfer-encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("chunk of no size", "transfer-encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n"),
        ("chunk of a word", "transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        ("chunk of 0x", "transfer-encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n"),
        ("chunk of a negative size", "transfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n"),
        ("chunk of more than a number holds", "transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
        ("chunk that is longer than it says", "transfer-encoding: chunked\r\n\r\n2\r\n{}{}{}\r\n0\r\n\r\n"),
    ];
    for (case, framing) in cases {
        println!("{case}");
        let mut wire = Wire::with(server.address, post(&server, framing)).await;
        let status = wire.status().await;
        assert!(matches!(status, None | Some(400)), "{status:?}");
        assert!(wire.is_closed().await, "what follows could be read as another request");
    }
    assert_eq!(tasks(&server).await, 0);
}

/// A request that a body could hide which is shorter than it says, or has a length twice.
const HIDDEN: &str = r#"POST /api/tasks HTTP/1.1
host: HOST
content-length: 28

{"role":"analytics_refresh"}"#;

#[tokio::test]
async fn a_request_with_two_lengths_ends_its_connection() {
    let server = Server::start().await;
    let cases: [(&str, &str); 3] = [
        ("length first", "content-length: COUNT\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nHIDDEN"),
        ("coding first", "transfer-encoding: chunked\r\ncontent-length: COUNT\r\n\r\n0\r\n\r\nHIDDEN"),
        ("coding in other letters", "content-length: COUNT\r\nTRANSFER-ENCODING: Chunked\r\n\r\n0\r\n\r\nHIDDEN"),
    ];
    for (case, framing) in cases {
        println!("{case}");
        let hidden = HIDDEN.replace('\n', "\r\n").replace("HOST", &server.address.to_string());
        let framing = framing.replace("COUNT", &(hidden.len() + 5).to_string()).replace("HIDDEN", &hidden);
        let mut wire = Wire::with(server.address, post(&server, &framing)).await;
        let status = wire.status().await;
        assert!(matches!(status, None | Some(400)), "{status:?}");
        assert!(wire.is_closed().await, "the hidden request is answered");
    }
    assert_eq!(tasks(&server).await, 0);
}

#[tokio::test]
async fn a_body_that_ends_early_makes_nothing() {
    let server = Server::start().await;
    let cases: [(&str, &str); 3] = [
        ("cut off", "content-length: 40\r\n\r\n{\"role\":"),
        ("chunk cut off", "transfer-encoding: chunked\r\n\r\n20\r\n{\"role\":"),
        ("last chunk missing", "transfer-encoding: chunked\r\n\r\n1c\r\n{\"role\":\"analytics_refresh\"}\r\n"),
    ];
    for (case, framing) in cases {
        println!("{case}");
        let mut wire = Wire::with(server.address, post(&server, framing)).await;
        wire.finish().await;
        let status = wire.status().await;
        assert!(matches!(status, None | Some(400)), "{status:?}");
    }
    assert_eq!(tasks(&server).await, 0);
}

/// HTTP/1.1 allows them.
#[tokio::test]
async fn what_is_unusual_has_a_plain_answer() {
    let server = Server::start().await;
    let cases: [(&str, &str, u16); 9] = [
        ("blank lines before", "\r\n\r\nGET /livez HTTP/1.1\r\nhost: HOST\r\n\r\n", 200),
        ("the whole address", "GET http://HOST/livez HTTP/1.1\r\nhost: HOST\r\n\r\n", 200),
        ("HTTP 1.0", "GET /livez HTTP/1.0\r\nhost: HOST\r\n\r\n", 200),
        ("a method that is nobodys", "BREW /livez HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
        ("a method in lower case", "get /livez HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
        ("trace", "TRACE /api/tasks HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
        ("the server as a whole", "OPTIONS * HTTP/1.1\r\nhost: HOST\r\n\r\n", 404),
        ("a tunnel to itself", "CONNECT HOST HTTP/1.1\r\nhost: HOST\r\n\r\n", 404),
        ("an upgrade", "GET /livez HTTP/1.1\r\nhost: HOST\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n", 200),
    ];
    for (case, request, status) in cases {
        println!("{case}");
        let mut wire = Wire::with(server.address, request.replace("HOST", &server.address.to_string())).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(!answer.body.contains("TRACE /api/tasks HTTP"), "a request is not sent back: {}", answer.body);
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let server = Server::start().await;
    let get = |path| format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let mut wire = Wire::with(server.address, [get("/livez"), get("/api/nothing"), get("/livez")].concat()).await;
    for expected in [200, 404, 200] {
        assert_eq!(wire.status().await, Some(expected));
    }
}

#[tokio::test]
async fn no_line_of_a_request_becomes_one_of_the_answer() {
    let server = Server::start().await;
    let cases: [(&str, &str); 3] = [
        ("in a query", "/api/tasks?worker_id=a%0d%0aX-Injected:%201&limit=1"),
        ("in a path", "/api/worker-registry/a%0d%0aX-Injected:%201"),
        ("in a parameters name", "/api/tasks?a%0d%0aX-Injected:%201=b"),
    ];
    for (case, target) in cases {
        println!("{case}");
        let tasks = "INSERT INTO worker_tasks (role, worker_id) SELECT 'payload_fetch', E'a\r\nX-Injected: 1' FROM generate_series(1, 3)";
        server.database.raw.batch_execute(tasks).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
        let answer = Wire::with(server.address, request).await.answer().await.unwrap();
        assert_eq!(answer.field("x-injected"), None, "{}", answer.head);
        assert!(!answer.head.contains("X-Injected: 1"), "{}", answer.head);
    }
}

#[tokio::test]
async fn a_head_that_does_not_come_is_408_or_the_end() {
    let server = Server::start().await;
    let mut wire = Wire::with(server.address, format!("GET /livez HTTP/1.1\r\nhost: {}\r\nx: ", server.address)).await;
    // a byte now and then moves the end of the wait not at all
    let begun = std::time::Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    while begun.elapsed() < Duration::from_secs(25) && wire.send("x").await.is_ok() {
        ticks.tick().await;
    }
    assert!(matches!(wire.status().await, None | Some(408)));
    assert!(begun.elapsed() < Duration::from_secs(25), "it may take 10 seconds");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_with_408() {
    let server = Server::with_timeout(Duration::from_millis(600)).await;
    let mut wire = Wire::with(server.address, post(&server, "content-length: 40\r\n\r\n{")).await;
    assert_eq!(wire.status().await, Some(408));
}

#[tokio::test]
async fn answers_that_nobody_reads_are_cut() {
    let server = Server::with_timeout(Duration::from_millis(500)).await;
    let request = format!("GET /api/openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let mut wire = Wire::connect(server.address).await;
    let requests = request.repeat(100);
    // once its answers fill the buffers, the server reads nothing more, until it ends the connection
    while wire.send(&requests).await.is_ok() {}
    server.get("/livez").await.expect(200);
}

/// Number of bytes of consecutive answers.
const LONG: usize = 1 << 20;

#[tokio::test]
async fn an_answer_may_be_read_slowly() {
    let server = Server::with_timeout(Duration::from_secs(4)).await;
    let received = read(&server, 50_000).await;
    assert!(received >= LONG, "a slow line is cut after {received} bytes");
}

/// Number of bytes of a long answer that a client gets at this rate. The system buffers little for it.
async fn read(server: &Server, bytes_a_second: usize) -> usize {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    // as on the Internet: with larger segments, both systems would keep more
    SockRef::from(&socket).set_tcp_mss(1_400).unwrap();
    let mut stream = socket.connect(server.address).await.unwrap();
    let request = format!("GET /api/openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    stream.write_all(request.repeat(20).as_bytes()).await.unwrap();
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    let (mut received, mut bytes) = (0, vec![0; bytes_a_second / 50]);
    while received < LONG {
        ticks.tick().await;
        match stream.read(&mut bytes).await {
            Ok(more) if more > 0 => received += more,
            _ => break,
        }
    }
    received
}
