//! The own downloader against a real server on loopback that cuts, changes, lies and refuses.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foundation::digest::sha256_hex;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use media::download::{Download, DownloadError, WholeFile, download, forget};
use public_http::{Http, HttpError, Secrets};
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use rstest::rstest;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

const SIZE: usize = 300_000;
const OFFSETS: usize = 20;
const DATE: &str = "Sun, 01 Nov 2026 10:00:00 GMT";
const LATER: &str = "Sun, 01 Nov 2026 10:00:02 GMT";

/// How the server treats a request for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    StrongEtag,
    WeakEtag,
    DateOnly,
    NoProof,
    /// Answers every request with the whole file.
    IgnoresRanges,
    /// The file is another one at the second request, and If-Range is obeyed.
    Changed,
    /// The same, and If-Range is ignored.
    ChangedUnderARange,
    /// Its Content-Range begins a byte late.
    LyingStart,
    /// Its Content-Range has another size.
    LyingTotal,
    /// Refuses each range, and names the right size.
    Refusing,
    /// Its first answer is in chunks and names no size.
    Chunked,
    /// Its Content-Range has no size.
    NoTotal,
    /// Its parts have no ETag, and it ignores If-Range: the file is another one.
    ChangedWithoutProof,
    /// Sends less than the rest.
    SubRange,
    /// The file changed in the second of the answer, and its date is all that it says.
    FreshDate,
}

struct Site {
    kind: Server,
    files: [Vec<u8>; 2],
    /// Bytes of the first body that are sent before the connection is cut; none: all.
    cut: Option<usize>,
    requests: Mutex<Vec<String>>,
    sent: AtomicU64,
    /// Behind a log-in: it answers every request with a page.
    is_away: AtomicBool,
}

impl Site {
    async fn start(kind: Server, cut: Option<usize>) -> (Arc<Site>, u16) {
        let mut random = StdRng::seed_from_u64(7);
        let mut file = || {
            let mut bytes = vec![0; SIZE];
            random.fill_bytes(&mut bytes);
            bytes
        };
        let site = Site {
            kind,
            files: [file(), file()],
            cut,
            requests: Mutex::default(),
            sent: AtomicU64::new(0),
            is_away: AtomicBool::new(false),
        };
        let site = Arc::new(site);
        let serving = site.clone();
        let port = listen(move |request| serving.serve(&request)).await;
        (site, port)
    }

    fn serve(&self, request: &str) -> Vec<u8> {
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.to_owned());
            requests.len()
        };
        if self.is_away.load(Ordering::SeqCst) {
            let page = "<!doctype html><title>Log in</title>";
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}", page.len());
            return format!("{head}\r\nconnection: close\r\n\r\n{page}").into_bytes();
        }
        let (head, body) = self.answer(request, number);
        let end = if number == 1 { self.cut.unwrap_or(body.len()).min(body.len()) } else { body.len() };
        self.sent.fetch_add(end as u64, Ordering::SeqCst);
        [head.as_bytes(), b"connection: close\r\n\r\n", &body[..end]].concat()
    }

    fn answer(&self, request: &str, number: usize) -> (String, Vec<u8>) {
        let has_changed = self.changes() && number > 1;
        let file = &self.files[usize::from(has_changed)];
        let proof = match self.kind {
            Server::WeakEtag => format!("etag: W/\"v\"\r\nlast-modified: {DATE}\r\n"),
            Server::DateOnly => format!("last-modified: {DATE}\r\ndate: {LATER}\r\n"),
            Server::FreshDate => format!("last-modified: {DATE}\r\ndate: {DATE}\r\n"),
            Server::NoProof => String::new(),
            _ => format!("etag: \"v{}\"\r\nlast-modified: {DATE}\r\n", u8::from(has_changed)),
        };
        let (length, body) = match self.kind == Server::Chunked && number == 1 {
            true => ("transfer-encoding: chunked".to_owned(), chunks(file)),
            false => (format!("content-length: {SIZE}"), file.clone()),
        };
        let whole = (format!("HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\n{length}\r\n{proof}"), body);
        let from = request
            .lines()
            .find_map(|line| line.strip_prefix("range: bytes=")?.trim_end_matches('-').parse::<usize>().ok());
        let proven = request.lines().find_map(|line| line.strip_prefix("if-range: "));
        let is_proven = proven.is_some_and(|known| proof.to_ascii_lowercase().contains(known));
        let Some(from) = from else { return whole };
        let ignores_proof = matches!(self.kind, Server::ChangedUnderARange | Server::ChangedWithoutProof);
        if self.kind == Server::IgnoresRanges || !is_proven && !ignores_proof {
            return whole;
        }
        if from >= SIZE || self.kind == Server::Refusing {
            return (
                format!("HTTP/1.1 416 No\r\ncontent-range: bytes */{SIZE}\r\ncontent-length: 0\r\n{proof}"),
                Vec::new(),
            );
        }
        let range = match self.kind {
            Server::LyingStart => format!("{}-{}/{SIZE}", from + 1, SIZE - 1),
            Server::LyingTotal => format!("{from}-{}/{}", SIZE + 8, SIZE + 9),
            Server::NoTotal => format!("{from}-{}/*", SIZE - 1),
            Server::SubRange => format!("{from}-{from}/{SIZE}"),
            _ => format!("{from}-{}/{SIZE}", SIZE - 1),
        };
        let proof = if self.kind == Server::ChangedWithoutProof { String::new() } else { proof };
        let end = if self.kind == Server::SubRange { from + 1 } else { SIZE };
        let head = format!(
            "HTTP/1.1 206 Part\r\ncontent-type: video/mp4\r\ncontent-range: bytes {range}\r\ncontent-length: {}\r\n{proof}",
            end - from
        );
        (head, file[from..end].to_vec())
    }

    fn changes(&self) -> bool {
        use Server::{Changed, ChangedUnderARange, ChangedWithoutProof, FreshDate};
        matches!(self.kind, Changed | ChangedUnderARange | ChangedWithoutProof | FreshDate)
    }

    fn latest(&self) -> &[u8] {
        &self.files[usize::from(self.changes())]
    }
}

/// The file in chunks of a thousand bytes.
fn chunks(file: &[u8]) -> Vec<u8> {
    let mut body: Vec<u8> = file.chunks(1_000).flat_map(|part| [b"3e8\r\n", part, b"\r\n"].concat()).collect();
    body.extend(b"0\r\n\r\n");
    body
}

fn ask(port: u16, part: &Path) -> Download {
    Download {
        url: format!("http://127.0.0.1:{port}/a.mp4").parse().unwrap(),
        referer: Some("https://forum.example/t/1".to_owned()),
        secrets: None,
        min_interval: Duration::ZERO,
        part: part.to_owned(),
        max_bytes: 1 << 20,
    }
}

async fn get(ask: &Download) -> Result<WholeFile, DownloadError> {
    download(&Http::new(true).unwrap(), ask, |_, _| {}).await
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("a.part");
    (dir, part)
}

/// A server with one request a connection, which is given in lower case; returns its port.
async fn listen(answer: impl Fn(String) -> Vec<u8> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut request = String::new();
                while !request.ends_with("\r\n\r\n") {
                    if stream.read_line(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                let _ = stream.write_all(&answer(request.to_ascii_lowercase())).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    port
}

/// A server with the same answer to each request, and the requests.
async fn answering(answer: String) -> (u16, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    let answer = move |request| {
        seen.lock().unwrap().push(request);
        answer.clone().into_bytes()
    };
    (listen(answer).await, requests)
}

#[rstest]
#[case(Server::StrongEtag)]
#[case(Server::WeakEtag)]
#[case(Server::DateOnly)]
#[case(Server::NoProof)]
#[case(Server::IgnoresRanges)]
#[case(Server::Changed)]
#[case(Server::ChangedUnderARange)]
#[case(Server::LyingStart)]
#[case(Server::LyingTotal)]
#[case(Server::Refusing)]
#[case(Server::Chunked)]
#[case(Server::NoTotal)]
#[case(Server::ChangedWithoutProof)]
#[case(Server::SubRange)]
#[case(Server::FreshDate)]
#[tokio::test]
async fn a_download_cut_anywhere_ends_with_the_bytes_of_the_server(#[case] kind: Server) {
    let mut random = StdRng::seed_from_u64(42);
    for _ in 0..OFFSETS {
        let cut = random.random_range(0..SIZE);
        let (site, port) = Site::start(kind, Some(cut)).await;
        let (_dir, part) = place();
        let first = get(&ask(port, &part)).await.unwrap_err();
        assert!(matches!(first, DownloadError::Cut { bytes, .. } if bytes <= cut as u64), "{first}");
        let whole = get(&ask(port, &part)).await.unwrap();
        assert_eq!((whole.bytes, &whole.sha256), (SIZE as u64, &sha256_hex(site.latest())), "cut at {cut}");
        assert_eq!(std::fs::read(&part).unwrap(), site.latest(), "cut at {cut}");
        let sent = site.sent.load(Ordering::SeqCst);
        if kind == Server::StrongEtag {
            assert!(sent <= (SIZE + SIZE / 10) as u64, "{sent} bytes for {SIZE}, cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_part_that_is_whole_already_is_not_sent_again() {
    let (site, port) = Site::start(Server::StrongEtag, None).await;
    let (_dir, part) = place();
    let ask = ask(port, &part);
    get(&ask).await.unwrap();
    // as after a kill between the end of the run and the place where the file is stored
    let again = get(&ask).await.unwrap();
    assert_eq!((again.received, again.bytes, again.media_type.as_deref()), (0, SIZE as u64, Some("video/mp4")));
    assert_eq!(site.sent.load(Ordering::SeqCst), SIZE as u64);
}

#[tokio::test]
async fn a_part_of_another_address_is_begun_again() {
    let (site, port) = Site::start(Server::StrongEtag, Some(1_000)).await;
    let (_dir, part) = place();
    get(&ask(port, &part)).await.unwrap_err();
    let other = Download { url: format!("http://127.0.0.1:{port}/b.mp4").parse().unwrap(), ..ask(port, &part) };
    assert_eq!(get(&other).await.unwrap().sha256, sha256_hex(&site.files[0]));
    assert!(!site.requests.lock().unwrap()[1].contains("range:"));
}

#[tokio::test]
async fn a_file_that_is_larger_than_permitted_leaves_nothing() {
    let (_site, port) = Site::start(Server::StrongEtag, None).await;
    let (_dir, part) = place();
    let error = get(&Download { max_bytes: 1_000, ..ask(port, &part) }).await.unwrap_err();
    assert!(matches!(error, DownloadError::TooLarge { max: 1_000 }), "{error}");
    assert!(!part.exists());
    // without its size in the head
    let chunk =
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n{}\r\n0\r\n\r\n", "x".repeat(5_000));
    let (port, _) = answering(chunk).await;
    let error = get(&Download { max_bytes: 1_000, ..ask(port, &part) }).await.unwrap_err();
    assert!(matches!(error, DownloadError::TooLarge { max: 1_000 }), "{error}");
    assert!(!part.exists());
}

#[rstest]
#[case::gone("404 Not Found", "", "the file is gone")]
#[case::refused("403 Forbidden", "", "the server refuses the file")]
#[case::busy("429 Too Many", "retry-after: 30\r\n", "asks to wait")]
#[case::broken("500 Oops", "", "the server failed")]
#[case::a_page("200 OK", "content-type: text/html; charset=utf-8\r\n", "a page instead of the file")]
#[case::compressed("200 OK", "content-type: video/mp4\r\ncontent-encoding: gzip\r\n", "compressed the file")]
#[case::compressed_by_an_old_name("200 OK", "content-encoding: identity, x-gzip\r\n", "compressed the file")]
#[case::no_whole_file("416 No", "content-range: bytes */9\r\n", "refuses a request for the whole file")]
#[case::no_end("200 OK", "content-type: video/mp4\r\nno-length: 1\r\n", "does not say where the file ends")]
#[tokio::test]
async fn an_answer_that_is_not_the_file_is_named(
    #[case] status: &'static str,
    #[case] headers: &'static str,
    #[case] says: &str,
) {
    let length = if headers.contains("no-length") { "" } else { "content-length: 0\r\n" };
    let answer = format!("HTTP/1.1 {status}\r\n{headers}{length}connection: close\r\n\r\n");
    let (port, _) = answering(answer).await;
    let (_dir, part) = place();
    let error = get(&ask(port, &part)).await.unwrap_err().to_string();
    assert!(error.contains(says), "{error}");
}

#[rstest]
#[case::a_file("ok", true)]
#[case::a_file_that_starts_with_blanks("\n \u{1}\u{2}", true)]
#[case::a_page("<!doctype html><p>Log in</p>", false)]
#[case::a_page_behind_blanks("\r\n <html>", false)]
#[case::blanks(" \n", false)]
#[tokio::test]
async fn a_file_that_its_server_calls_a_page_is_judged_by_its_bytes(
    #[case] body: &str,
    #[case] is_file: bool,
    #[values("text/html", "Application/XHTML+xml; charset=utf-8")] media_type: &str,
) {
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}");
    let (port, _) = answering(answer).await;
    let (_dir, part) = place();
    match get(&ask(port, &part)).await {
        Ok(whole) => assert_eq!((is_file, whole.sha256), (true, sha256_hex(body))),
        Err(error) => assert!(!is_file && matches!(error, DownloadError::Page), "{error}"),
    }
}

#[tokio::test]
async fn a_page_in_place_of_the_rest_costs_no_byte_of_the_part() {
    let (site, port) = Site::start(Server::StrongEtag, Some(1_000)).await;
    let (_dir, part) = place();
    get(&ask(port, &part)).await.unwrap_err();
    site.is_away.store(true, Ordering::SeqCst);
    let error = get(&ask(port, &part)).await.unwrap_err();
    assert!(matches!(error, DownloadError::Page), "{error}");
    site.is_away.store(false, Ordering::SeqCst);
    let whole = get(&ask(port, &part)).await.unwrap();
    assert_eq!(whole.sha256, sha256_hex(&site.files[0]));
    assert!(whole.received < SIZE as u64, "{} of {SIZE} bytes", whole.received);
}

#[rstest]
#[tokio::test]
async fn a_name_that_is_no_coding_costs_no_file(
    #[values("none", "", "identity", "identity, none", "utf-8", "binary", "None\r\ncontent-encoding: identity")] coding: &str,
) {
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    let (port, _) = answering(answer).await;
    let (_dir, part) = place();
    assert_eq!(get(&ask(port, &part)).await.unwrap().bytes, 2);
}

#[tokio::test]
async fn secrets_stay_with_their_origin_when_it_redirects() {
    let (other, seen_there) =
        answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".to_owned()).await;
    let location = format!("http://127.0.0.1:{other}/file");
    let (port, seen) = answering(format!(
        "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    ))
    .await;
    let (_dir, part) = place();
    let ask = ask(port, &part);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Basic canary"))]);
    let whole = get(&Download { secrets: Some(Secrets { origin: ask.url.origin(), headers }), ..ask }).await.unwrap();
    assert_eq!((whole.bytes, whole.url.port()), (2, Some(other)));
    assert!(seen.lock().unwrap()[0].contains("canary") && !seen_there.lock().unwrap()[0].contains("canary"));
    assert!(seen_there.lock().unwrap()[0].contains("referer: https://forum.example/t/1"));
}

#[tokio::test]
async fn redirects_are_limited_and_lead_to_the_web_only() {
    let (_dir, part) = place();
    let (port, seen) = answering(
        "HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
    )
    .await;
    let error = get(&ask(port, &part)).await.unwrap_err();
    assert!(matches!(error, DownloadError::Http(HttpError::Redirects(_))), "{error}");
    assert_eq!(seen.lock().unwrap().len(), 6);
    let (port, _) = answering(
        "HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            .to_owned(),
    )
    .await;
    let error = get(&ask(port, &part)).await.unwrap_err();
    assert!(matches!(error, DownloadError::Http(HttpError::NotWeb(_))), "{error}");
}

#[rstest]
#[case::an_address("127.0.0.1")]
#[case::another_notation("2130706433")]
#[case::of_version_six("[::1]")]
#[case::a_name("localhost")]
#[tokio::test]
async fn private_addresses_are_refused_also_behind_a_name(#[case] host: &str) {
    let (site, port) = Site::start(Server::StrongEtag, None).await;
    let (_dir, part) = place();
    let ask = Download { url: format!("http://{host}:{port}/a").parse().unwrap(), ..ask(port, &part) };
    let error = download(&Http::new(false).unwrap(), &ask, |_, _| {}).await.unwrap_err();
    assert!(matches!(error, DownloadError::Http(HttpError::Private { .. })), "{error}");
    assert!(site.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_run_that_was_dropped_in_the_middle_is_resumed() {
    let (site, port) = Site::start(Server::StrongEtag, None).await;
    let (_dir, part) = place();
    let (ask, http) = (ask(port, &part), Http::new(true).unwrap());
    let (tell, half) = tokio::sync::oneshot::channel();
    let mut tell = Some(tell);
    let progress = move |bytes, _| {
        if bytes > SIZE as u64 / 2
            && let Some(tell) = tell.take()
        {
            let _ = tell.send(());
        }
    };
    tokio::select! {
        biased;
        _ = half => {}
        _ = download(&http, &ask, progress) => panic!("it was to be dropped before its end"),
    }
    let whole = get(&ask).await.unwrap();
    assert_eq!((whole.bytes, &whole.sha256), (SIZE as u64, &sha256_hex(&site.files[0])));
    assert_eq!(std::fs::read(&part).unwrap(), site.files[0]);
}

#[tokio::test]
async fn an_address_with_a_log_in_is_refused_and_not_shown() {
    let (_dir, part) = place();
    let ask = Download { url: "http://ann:canary@127.0.0.1:1/a?key=canary".parse().unwrap(), ..ask(1, &part) };
    let error = get(&ask).await.unwrap_err();
    assert!(
        matches!(error, DownloadError::Http(HttpError::LogIn(_))) && !error.to_string().contains("canary"),
        "{error}"
    );
}

#[tokio::test]
async fn a_forgotten_part_leaves_nothing_behind() {
    let (_site, port) = Site::start(Server::StrongEtag, Some(1_000)).await;
    let (dir, part) = place();
    get(&ask(port, &part)).await.unwrap_err();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    forget(&part).await.unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    forget(&part).await.unwrap();
}

#[tokio::test]
async fn progress_counts_to_the_whole_size() {
    let (_site, port) = Site::start(Server::StrongEtag, None).await;
    let (_dir, part) = place();
    let mut seen = Vec::new();
    download(&Http::new(true).unwrap(), &ask(port, &part), |bytes, total| seen.push((bytes, total))).await.unwrap();
    assert!(seen.is_sorted() && seen.first() == Some(&(0, Some(SIZE as u64))));
    assert_eq!(seen.last(), Some(&(SIZE as u64, Some(SIZE as u64))));
}
