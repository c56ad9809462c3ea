//! Answers that browsers read though they are not written as they should be: of origins, and of proxies to CONNECT and SOCKS5.

use std::net::SocketAddr;

use drover::stealth::{FetchError, Proxy, ProxyOutcome, ProxyProtocol, Request, RequestKind, Response, SessionAsk};
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::support::{Ca, ForwardProxy, Manner, Origin, Pool, Setup, content, document, pool_of, read_head, request};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/// Answers each request with these bytes, and closes.
async fn raw_origin(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if read_head(&mut stream).await.is_some() {
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            }
        }
    });
    address
}

async fn fetch(answer: Vec<u8>) -> Result<Response, FetchError> {
    let proxy = ForwardProxy::socks5(raw_origin(answer).await, Manner::Willing).await;
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.map(|(response, ())| response)
}

fn answer(lines: &[u8]) -> Vec<u8> {
    [HEAD.as_bytes(), lines, b"\r\n{}"].concat()
}

#[rstest]
#[case::a_blank_before_the_colon(b"Content-Length: 2\r\nAccess-Control-Allow-Credentials : true\r\n")]
#[case::a_blank_before_the_colon_of_the_length(b"Content-Length\t : 2\r\n")]
#[case::no_colon(b"PHP Warning - startup\r\nContent-Length: 2\r\n")]
#[case::words(b"Warning: a, b\r\nnot a header at all\r\nContent-Length: 2\r\n")]
#[case::first_in_the_head_with_a_blank(b" X-Odd: 1\r\nContent-Length: 2\r\n")]
#[case::no_name(b": value\r\nContent-Length: 2\r\n")]
#[case::odd_bytes_in_a_name(b"X-\xfc\x01: 1\r\nContent-Length: 2\r\n")]
#[case::odd_bytes_in_a_value(b"X-Odd: a\x01\x7fb\xfc\r\nContent-Length: 2\r\n")]
#[case::folded(b"X-Long: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n")]
#[case::a_folded_length(b"Content-Length:\r\n 2\r\n")]
#[case::line_feeds_alone(b"X-Odd : 1\nPHP Warning\nContent-Length: 2\n")]
#[tokio::test]
async fn a_header_line_that_browsers_skip_is_skipped(#[case] lines: &[u8]) {
    assert_eq!(fetch(answer(lines)).await.unwrap().body.as_ref(), b"{}");
}

/// Answers each request with these bytes, and hands on the `Cookie` of each.
async fn origin_of_cookies(answer: Vec<u8>) -> (SocketAddr, mpsc::UnboundedReceiver<Option<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, cookies) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            let cookie = lines.filter_map(|line| line.strip_prefix(b"Cookie: ")).next();
            let _ = sender.send(cookie.map(<[u8]>::to_vec));
            let _ = stream.write_all(&answer).await;
        }
    });
    (address, cookies)
}

#[rstest]
#[case::utf8("city=Z\u{fc}rich".as_bytes())]
#[case::latin_1(b"city=Z\xfcrich")]
#[tokio::test]
async fn a_cookie_goes_back_with_the_bytes_that_it_came_with(#[case] cookie: &[u8]) {
    let set = [b"Set-Cookie: ", cookie, b"; Path=/\r\nConnection: close\r\nContent-Length: 2\r\n"].concat();
    let (origin, mut cookies) = origin_of_cookies(answer(&set)).await;
    let proxy = ForwardProxy::socks5(origin, Manner::Willing).await;
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    for _ in 0..2 {
        session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    }
    assert_eq!(cookies.recv().await.unwrap(), None);
    assert_eq!(cookies.recv().await.unwrap().as_deref(), Some(cookie));
}

/// Answers by TLS with these bytes, and closes without the farewell of TLS.
async fn abrupt_origin(ca: &Ca, answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, tls) = (listener.local_addr().unwrap(), ca.acceptor(&["http/1.1"]));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = tls.accept(stream).await else { continue };
            if read_head(&mut stream).await.is_some() {
                let _ = stream.write_all(&answer).await;
                let _ = stream.flush().await;
            }
        }
    });
    address
}

#[rstest]
#[case::up_to_the_end(b"\r\n{}", true)]
#[case::a_whole_length(b"Content-Length: 2\r\n\r\n{}", true)]
#[case::whole_chunks(b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", true)]
#[case::less_than_its_length(b"Content-Length: 3\r\n\r\n{}", false)]
#[case::chunks_without_an_end(b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", false)]
#[case::in_the_head(b"X-Odd", false)]
#[tokio::test]
async fn an_answer_is_whole_by_its_length_however_tls_ends(#[case] rest: &[u8], #[case] is_read: bool) {
    let ca = Ca::new();
    let origin = abrupt_origin(&ca, [HEAD.as_bytes(), rest].concat()).await;
    let proxy = ForwardProxy::http(origin, Manner::Willing).await;
    let mut session = Setup::default().trusting(&ca).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    let sent = session.send(&request(RequestKind::Fetch, "https"), &content).await;
    assert_eq!(sent.is_ok(), is_read, "{:?}", sent.err());
}

#[tokio::test]
async fn folded_lines_are_joined() {
    let response = fetch(answer(b"X-Long: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n")).await.unwrap();
    assert_eq!(response.headers["x-long"].to_str().unwrap().split_ascii_whitespace().collect::<String>(), "abc");
}

#[tokio::test]
async fn many_header_lines_are_read() {
    let lines: String = (0..300).map(|n| format!("X-Policy-{n}: 1\r\n")).collect();
    assert_eq!(fetch(answer(format!("{lines}Content-Length: 2\r\n").as_bytes())).await.unwrap().body.as_ref(), b"{}");
}

#[rstest]
#[case::no_number(b"Content-Length: two\r\n")]
#[case::negative(b"Content-Length: -2\r\n")]
#[case::two_lengths(b"Content-Length: 2\r\nContent-Length: 3\r\n")]
#[case::no_colon(b"Content-Length 2\r\n")]
#[case::odd_bytes_in_the_length(b"Content-Length: 2\x01\r\n")]
#[case::odd_bytes_in_its_name(b"Content-Length\x01: 2\r\n")]
#[case::odd_bytes_in_the_encoding(b"Transfer-Encoding: chunked\x0b\r\n")]
#[case::an_encoding_without_a_colon(b"Transfer-Encoding chunked\r\n")]
#[case::a_number_in_two_lines(b"Content-Length: 2\r\n 3\r\n")]
#[tokio::test]
async fn a_malformed_length_or_encoding_stays_an_error(#[case] lines: &[u8]) {
    let error = fetch(answer(lines)).await.unwrap_err();
    assert!(matches!(error, FetchError::Http { .. } | FetchError::ProxyOutage { .. }), "{error:?}");
}

/// A proxy that answers CONNECT with these bytes, and then leads to the origin.
async fn raw_connect_proxy(origin: SocketAddr, answer: &'static [u8]) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            read_head(&mut client).await.unwrap();
            client.write_all(answer).await.unwrap();
            let mut origin = TcpStream::connect(origin).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut origin).await;
        }
    });
    row(ProxyProtocol::Http, address, None)
}

/// A SOCKS5 proxy with this byte where a reply has the reserved one.
async fn raw_socks_proxy(origin: SocketAddr, reserved: u8, login: Option<(&str, &str)>) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let wants_password = login.is_some();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut count = [0; 2];
            client.read_exact(&mut count).await.unwrap();
            client.read_exact(&mut vec![0; count[1].into()]).await.unwrap();
            client.write_all(&[5, if wants_password { 2 } else { 0 }]).await.unwrap();
            if wants_password {
                client.read_u8().await.unwrap();
                for _ in 0..2 {
                    let length = client.read_u8().await.unwrap();
                    client.read_exact(&mut vec![0; length.into()]).await.unwrap();
                }
                client.write_all(&[1, 0]).await.unwrap();
            }
            let mut head = [0; 5];
            client.read_exact(&mut head).await.unwrap();
            client.read_exact(&mut vec![0; usize::from(head[4]) + 2]).await.unwrap();
            client.write_all(&[5, 0, reserved, 1, 9, 9, 9, 9, 9, 9]).await.unwrap();
            let mut origin = TcpStream::connect(origin).await.unwrap();
            let _ = copy_bidirectional(&mut client, &mut origin).await;
        }
    });
    row(ProxyProtocol::Socks5, address, login)
}

fn row(protocol: ProxyProtocol, address: SocketAddr, login: Option<(&str, &str)>) -> Proxy {
    let (username, password) = login.map(|(user, word)| (user.to_owned(), word.to_owned())).unzip();
    Proxy { id: 1, protocol, host: address.ip().to_string(), port: address.port(), username, password }
}

#[rstest]
#[case::a_reason_in_latin_1(b"HTTP/1.1 200 Verbindung hergestellt, f\xfcr Sie\r\n\r\n")]
#[case::no_reason(b"HTTP/1.1 200\r\n\r\n")]
#[case::a_blank_for_a_reason(b"HTTP/1.1 200 \r\n\r\n")]
#[case::two_blanks(b"HTTP/1.1  200 Connection established\r\n\r\n")]
#[case::line_feeds_alone(b"HTTP/1.0 200 Connection established\n\n")]
#[case::line_feeds_of_both_kinds(b"HTTP/1.1 200 OK\r\nVia: 1.1 x\n\r\n")]
#[case::an_empty_line_before(b"\r\nHTTP/1.1 200 OK\r\n\r\n")]
#[case::odd_headers(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nProxy-Agent : \xfc\r\nno header\r\n\r\n")]
#[case::an_interim_answer(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")]
#[tokio::test]
async fn an_answer_to_connect_is_read_as_leniently_as_any_other(#[case] answer: &'static [u8]) {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["h2"]).await;
    let pool = Pool::new(vec![raw_connect_proxy(origin.address, answer).await]);
    let mut session = Setup::default().trusting(&ca).sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
}

#[tokio::test]
async fn an_endless_answer_to_connect_is_the_proxys_fault() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["h2"]).await;
    let pool = Pool::new(vec![raw_connect_proxy(origin.address, &[b'\n'; 100_000]).await]);
    let mut session = Setup::default().trusting(&ca).sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap_err();
    let reports = pool.reports();
    let (1, ProxyOutcome::Failed { reason, .. }) = &reports[0] else { panic!("{reports:?}") };
    assert!(reason.contains("endless"), "{reason}");
}

#[rstest]
#[case::without_a_password(None)]
#[case::with_a_password(Some(("user", "word")))]
#[tokio::test]
async fn the_reserved_byte_of_a_socks_reply_may_be_anything(
    #[case] login: Option<(&str, &str)>,
    #[values(0, 1, 255)] byte: u8,
) {
    let origin = Origin::plain().await;
    let pool = Pool::new(vec![raw_socks_proxy(origin.address, byte, login).await]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn formats_that_are_not_wanted_leave_the_accept_header_and_nothing_else_changes(
    #[values("chrome-131-windows", "safari-18.4-macos")] fingerprint: &str,
) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().only(fingerprint).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    let usual = document(RequestKind::Image, "http");
    let plain = Request { unwanted_formats: &["image/avif"], ..usual.clone() };
    for request in [&usual, &plain] {
        session.send(request, &content).await.unwrap();
    }
    let [usual, plain] = origin.seen().try_into().unwrap();
    let names = |fields: &[(String, String)]| fields.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&usual.fields), names(&plain.fields));
    let [usual, plain] = [&usual, &plain].map(|request| request.field("accept").unwrap().to_owned());
    assert_eq!(plain, usual.replace("image/avif,", ""));
    assert!(!plain.contains("avif") && plain.contains("image/"), "{plain}");
}
