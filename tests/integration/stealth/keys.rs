//! Keys of requests: they go to one origin and are shown nowhere, and a refused one counts against no proxy.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drover::app::hosts::SharedHosts;
use drover::app::robots::SharedRobots;
use drover::stealth::{
    DocumentLimits, FetchError, ProxyOutcome, Request, RequestKind, Response, Secrets, Session, SessionAsk,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use testkit::database;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Level};

use super::support::{
    ForwardProxy, HOST, Manner, Origin, Pool, Reply, Setup, content, no_politeness, pool_of, willing,
};

const KEY: &str = "canary+4f/2=";
/// The key as it is written in a query.
const WRITTEN: &str = "canary%2B4f%2F2%3D";
const CANARY: &str = "canary";
/// Answer that repeats its request.
const ECHO: &[u8] = br#"{"message":"no canary+4f/2= at /search?search-key=canary%2B4f%2F2%3D"}"#;
const REFUSAL: &[u8] = br#"{"message":"Invalid Application-ID or API key","status":403}"#;
const LIMITS: DocumentLimits = DocumentLimits { max_bytes: 1024, timeout: Duration::from_secs(20) };

/// Request with a key in its query and in a header.
fn keyed() -> Request {
    let url = format!("http://{HOST}/search?q=a&search-key={WRITTEN}");
    Request {
        script_headers: vec![("accept", "application/json".to_owned()), ("x-search-key", KEY.to_owned())],
        secrets: Secrets { headers: &["x-search-key"], query: &["search-key"], refused_by: &[403] },
        ..Request::new(RequestKind::Fetch, url.parse().unwrap(), format!("http://{HOST}/").parse().unwrap())
    }
}

/// A platform whose errors repeat the answer.
fn repeating(response: &Response) -> Result<(), FetchError> {
    let message = String::from_utf8_lossy(&response.body).into_owned();
    Err(FetchError::Rejected { operation: "Menu".to_owned(), message })
}

/// Lines that this thread logs, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Logs until the guards are dropped.
    fn begin() -> (Log, (DefaultGuard, Dispatch)) {
        let log = Log::default();
        let lines = log.clone();
        let format = tracing_subscriber::fmt().with_ansi(false).with_max_level(Level::TRACE);
        // beside a second one, this one is asked about lines that another thread was the first to reach
        let second = Dispatch::new(NoSubscriber::default());
        let guard = tracing::subscriber::set_default(format.with_writer(move || lines.clone()).finish());
        (log, (guard, second))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[rstest]
#[case::a_refused_key(Reply::status(403).body(ECHO))]
#[case::a_login_wanted(Reply::status(401).body(ECHO))]
#[case::a_block(Reply::status(406).body(ECHO))]
#[case::a_challenge(Reply::html(403).body(b"<html>canary+4f/2=</html>"))]
#[case::a_throttle(Reply::status(429).with("retry-after", "3600").body(ECHO))]
#[case::an_error_of_the_platform(Reply::status(400).body(ECHO))]
#[case::a_failure(Reply::status(500).body(ECHO))]
#[case::a_redirect(Reply::status(302).with("location", "/moved?search-key=canary%2B4f%2F2%3D"))]
#[case::a_redirect_elsewhere(Reply::status(302).with("location", "http://elsewhere.test/?search-key=canary%2B4f%2F2%3D"))]
#[case::a_coding_that_was_not_offered(Reply::json("{}").with("content-encoding", "canary+4f/2="))]
#[case::cut_off(Reply::json("{").truncated())]
#[case::no_answer(Reply::refused())]
#[tokio::test]
async fn no_error_report_log_or_metric_shows_a_key(#[case] reply: Reply) {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 4).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script(std::iter::repeat_n(reply, 8));
    let (log, _guards) = Log::begin();
    let error = session.send(&keyed(), repeating).await.unwrap_err();

    let seen = &origin.seen()[0];
    assert!(seen.target.ends_with(WRITTEN), "{}", seen.target);
    assert_eq!(seen.field("x-search-key"), Some(KEY));
    assert!(log.text().contains("Request to menu.test"), "{}", log.text());
    let (trace, metrics) = (session.trace().read(), telemetry::metrics::render().unwrap());
    let shown = [
        format!("{error} {error:?}"),
        format!("{:?} {:?}", pool.reports(), pool.asks()),
        format!("{trace:?}"),
        log.text(),
        metrics,
    ];
    for text in shown {
        assert!(!text.contains(CANARY), "{text}");
    }
}

#[tokio::test]
async fn a_platforms_message_is_shown_without_its_key() {
    let origin = Origin::plain().await;
    let mut session = Setup::default().sessions(&willing(&origin, 1).await).open(SessionAsk::default());
    origin.script([Reply::status(400).body(ECHO)]);
    let error = session.send(&keyed(), repeating).await.unwrap_err();
    let message = r#"{"message":"no *** at /search?search-key=***"}"#.to_owned();
    assert_eq!(error, FetchError::Rejected { operation: "Menu".to_owned(), message });
}

#[tokio::test]
async fn tables_of_hosts_hold_no_key_and_robots_txt_is_asked_for_without_it() {
    let database = database().await;
    let origin = Origin::plain().await;
    let politeness = settings::Politeness {
        breaker_share: 0.5,
        breaker_requests: 1,
        robots: "report".to_owned(),
        ..no_politeness()
    };
    let setup = Setup {
        host_table: Some(Arc::new(SharedHosts::new(&database.db, politeness.clone(), Duration::from_secs(20)))),
        robots_table: Some(Arc::new(SharedRobots::new(&database.db))),
        politeness,
        ..Setup::default()
    };
    let mut session = setup.sessions(&willing(&origin, 1).await).open(SessionAsk::default());
    origin.script([Reply::json("User-agent: *\nDisallow: /"), Reply::status(500).body(ECHO)]);
    session.send(&keyed(), repeating).await.unwrap_err();

    let seen = origin.seen();
    assert!(seen[0].target.ends_with("/robots.txt") && seen[1].target.ends_with(WRITTEN), "{seen:?}");
    assert!(!format!("{:?}", seen[0]).contains(CANARY), "{:?}", seen[0]);
    for table in ["hosts", "robots", "robots_breaches"] {
        let rows = format!("SELECT coalesce(string_agg(r::text, ' '), '') FROM {table} r");
        let rows: String = database.raw.query_one(&rows, &[]).await.unwrap().get(0);
        assert!(rows.contains(HOST) && !rows.contains(CANARY), "{table}: {rows}");
    }
}

#[rstest]
#[case::elsewhere("http://elsewhere.test/search?b=2&search-key=canary%2B4f%2F2%3D", "/search?b=2")]
#[case::to_a_login_that_leads_back(
    "http://elsewhere.test/login?from=%2F%3Fsearch-key%3Dcanary%252B4f%252F2%253D",
    "/login"
)]
#[case::to_another_port("http://menu.test:8080/search?search-key=canary%2B4f%2F2%3D", "/search")]
#[case::within_the_origin("/moved?search-key=canary%2B4f%2F2%3D", "/moved?search-key=canary%2B4f%2F2%3D")]
#[tokio::test]
async fn a_followed_redirect_takes_a_key_no_further_than_its_origin(#[case] location: &str, #[case] target: &str) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let setup = Setup { hosts: vec![HOST.to_owned(), "elsewhere.test".to_owned()], ..Setup::default() };
    let mut session = setup.sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    origin.script([Reply::status(302).with("location", location)]);
    let first = session.document(&keyed(), LIMITS).await.unwrap();
    let next = keyed().redirected_to(first.redirect.clone().unwrap());
    session.document(&next, LIMITS).await.unwrap();

    let seen = origin.seen().pop().unwrap();
    assert_eq!(seen.target, target);
    let is_within = location.starts_with('/');
    assert_eq!(seen.field("x-search-key").is_some(), is_within, "{seen:?}");
    assert_eq!(format!("{seen:?}").contains(CANARY), is_within, "{seen:?}");
    assert!(!format!("{first:?} {next:?}").contains(CANARY), "{first:?} {next:?}");
}

#[tokio::test]
async fn a_follow_up_names_its_page_without_the_key() {
    let origin = Origin::plain().await;
    let mut session = Setup::default().sessions(&willing(&origin, 1).await).open(SessionAsk::default());
    let follow_up = Request { referer: keyed().url, ..keyed() };
    session.send(&follow_up, &content).await.unwrap();
    assert_eq!(origin.seen()[0].field("referer"), Some("http://menu.test/search?q=a"));
}

fn gzipped(body: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(body).unwrap();
    gzip.finish().unwrap()
}

/// One proxy, and a breaker that opens by one refusal.
async fn touchy_session(origin: &Origin) -> (Arc<Pool>, Session) {
    let pool = willing(origin, 1).await;
    let politeness = settings::Politeness { breaker_share: 0.5, breaker_requests: 1, ..no_politeness() };
    let session = Setup { politeness, ..Setup::default() }.sessions(&pool).open(SessionAsk::default());
    (pool, session)
}

#[rstest]
#[case::by_json(Reply::status(403).body(REFUSAL))]
#[case::by_json_with_a_coding(Reply::status(403).with("content-encoding", "gzip").body(&gzipped(REFUSAL)))]
#[case::by_401(Reply::status(401).body(b"no"))]
#[tokio::test]
async fn a_refused_key_ends_its_request_counts_against_no_proxy_and_opens_no_breaker(#[case] refusal: Reply) {
    let origin = Origin::plain().await;
    let (pool, mut session) = touchy_session(&origin).await;
    origin.script([refusal]);
    let error = session.send(&keyed(), &content).await.unwrap_err();
    assert_eq!(error, FetchError::KeyRefused { host: HOST.to_owned() });
    assert_eq!(pool.reports(), [(1, ProxyOutcome::Answered { host: HOST.to_owned() })]);
    assert_eq!((session.trace().read().requests, session.trace().read().blocks), (1, 0));

    session.send(&keyed(), &content).await.unwrap();
    assert_eq!((pool.asks().len(), origin.seen().len()), (1, 2), "the same session goes on");
}

#[rstest]
#[case::a_page(Reply::html(403).body(b"<html>no</html>"), keyed())]
#[case::a_text(Reply::status(403).body(b"Forbidden"), keyed())]
#[case::json_that_is_cut_off(Reply::status(403).body(b"{\"message\":"), keyed())]
#[case::json_that_never_ends(Reply::status(403).body(REFUSAL).stalled(), keyed())]
#[case::json_at_another_status(Reply::status(406).body(REFUSAL), keyed())]
#[case::json_to_a_request_without_a_key(
    Reply::status(403).body(REFUSAL),
    Request { script_headers: Vec::new(), url: "http://menu.test/search?q=a".parse().unwrap(), ..keyed() }
)]
#[case::json_of_a_platform_that_does_not_refuse_so(
    Reply::status(403).body(REFUSAL),
    Request { secrets: Secrets { refused_by: &[], ..keyed().secrets }, ..keyed() }
)]
#[tokio::test]
async fn any_other_refusal_is_a_block_whatever_the_key(#[case] refusal: Reply, #[case] request: Request) {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([refusal]);
    session.send(&request, &content).await.unwrap();
    let trace = session.trace().read();
    assert_eq!((trace.proxy_ids, trace.blocks), (vec![1, 2], 1));
    assert_eq!(pool.reports()[0], (1, ProxyOutcome::Blocked { host: HOST.to_owned() }));
}
