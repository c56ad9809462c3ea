//! Proxies: the requests to them, the names of their failures, and that nothing is sent without one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drover::stealth::{FetchError, ProxyAsk, ProxyOutcome, RequestKind, Session, SessionAsk};
use queue::TaskError;
use rstest::rstest;

use super::support::{Ca, ForwardProxy, HOST, Manner, Origin, Pool, Setup, content, pool_of, request, willing};

#[tokio::test]
async fn a_tunnel_is_asked_for_with_no_header_of_the_browser() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["http/1.1"]).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().trusting(&ca).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
    assert_eq!(proxy.heard_text(), [format!("CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n")]);
}

#[rstest]
#[case::plain("user", "word")]
#[case::percent_signs_are_not_decoded("us%40er", "p%3Aw")]
#[case::colons_and_umlauts("user", "pä:ss/@?")]
#[tokio::test]
async fn credentials_go_to_the_proxy_whole_and_never_to_the_origin(
    #[case] user: &str,
    #[case] password: &str,
    #[values("http", "https")] scheme: &str,
) {
    let ca = Ca::new();
    let origin = if scheme == "https" { Origin::tls(&ca, &["h2"]).await } else { Origin::plain().await };
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await.with_login(user, password);
    let mut session = Setup::default().trusting(&ca).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, scheme), &content).await.unwrap();

    let due = format!("proxy-authorization: Basic {}\r\n", STANDARD.encode(format!("{user}:{password}")));
    let heard = proxy.heard_text().concat();
    assert!(heard.replace("Proxy-Authorization", "proxy-authorization").contains(&due), "{heard}");
    assert_eq!(origin.seen()[0].field("proxy-authorization"), None);
}

#[tokio::test]
async fn plain_http_names_the_whole_address_to_the_proxy() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    let heard = proxy.heard_text().concat();
    assert!(
        heard.starts_with("GET http://menu.test/api-3/graphql?operationName=FilteredProducts HTTP/1.1\r\n"),
        "{heard}"
    );
}

#[rstest]
#[case::without_login(None)]
#[case::with_login(Some(("user", "pä:ss")))]
#[tokio::test]
async fn socks_carries_the_name_and_no_header_of_the_browser(#[case] login: Option<(&str, &str)>) {
    let origin = Origin::plain().await;
    let mut proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    if let Some((user, password)) = login {
        proxy = proxy.with_login(user, password);
    }
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();

    let ask = [&[5, 1, 0, 3, HOST.len() as u8], HOST.as_bytes(), &[0, 80]].concat();
    let mut heard = proxy.heard();
    assert_eq!(heard.pop(), Some(ask));
    let spoken = login
        .map(|(user, word)| [&[1, user.len() as u8], user.as_bytes(), &[word.len() as u8], word.as_bytes()].concat());
    heard.remove(0);
    assert_eq!(heard, spoken.into_iter().collect::<Vec<_>>());
}

/// The first proxy's fault, as its owner learns it, and whether that benches it at once.
#[rstest]
#[case::tunnel_407("https", true, Manner::Refusing(407), "credentials", true)]
#[case::not_http("https", true, Manner::Garbage, "is not HTTP", false)]
#[case::forwarded_407("http", true, Manner::Refusing(407), "credentials", true)]
#[case::socks_login("http", false, Manner::Refusing(407), "credentials", true)]
#[case::no_listener("http", true, Manner::Absent, "cannot be reached", true)]
#[tokio::test]
async fn a_bad_proxy_is_blamed_and_another_takes_over(
    #[case] scheme: &str,
    #[case] is_http: bool,
    #[case] manner: Manner,
    #[case] reason: &str,
    #[case] at_once: bool,
) {
    let (pool, session, _) = fetch_past(scheme, is_http, manner).await;
    let reports = pool.reports();
    let (id, ProxyOutcome::Failed { reason: given, at_once: is_at_once, host }) = &reports[0] else {
        panic!("{reports:?}");
    };
    assert_eq!((*id, host.as_str(), *is_at_once), (1, HOST, at_once), "{given}");
    assert!(given.contains(reason), "{given}");
    assert!(matches!(&reports[1], (2, ProxyOutcome::Success { .. })), "{reports:?}");
    assert_eq!(session.trace().read().proxy_ids, [1, 2]);
}

/// The proxy works and cannot reach the origin, or says nothing about it: either may have failed.
#[rstest]
#[case::tunnel_403("https", true, Manner::Refusing(403), "403")]
#[case::tunnel_502("https", true, Manner::Refusing(502), "502")]
#[case::tunnel_503("https", true, Manner::Refusing(503), "503")]
#[case::tunnel_504("https", true, Manner::Refusing(504), "504")]
#[case::tunnel_hangs("https", true, Manner::Hanging, "no connection within")]
#[case::captive_portal("https", true, Manner::Portal, "TLS")]
#[case::closed_after_connect("https", true, Manner::Closing, "TLS")]
#[case::socks_hangs("http", false, Manner::Hanging, "no connection within")]
#[case::socks_by_the_rules("http", false, Manner::Refusing(2), "refuses the connection")]
#[case::socks_host_unreachable("http", false, Manner::Refusing(4), "refuses the connection")]
#[case::socks_refused("http", false, Manner::Refusing(5), "refuses the connection")]
#[case::socks_ttl("http", false, Manner::Refusing(6), "refuses the connection")]
#[case::forwarded_502("http", true, Manner::Refusing(502), "status 502")]
#[case::forwarded_silence("http", true, Manner::Hanging, "first byte")]
#[tokio::test]
async fn a_proxy_that_does_not_reach_the_origin_is_a_suspicion(
    #[case] scheme: &str,
    #[case] is_http: bool,
    #[case] manner: Manner,
    #[case] expected: &str,
) {
    let (pool, _, asks) = fetch_past(scheme, is_http, manner).await;
    let reports = pool.reports();
    let (1, ProxyOutcome::Suspicion { host, reason }) = &reports[0] else { panic!("{reports:?}") };
    assert!(host == HOST && reason.contains(HOST) && reason.contains(expected), "{reason}");
    assert_eq!(asks[1].avoid, [1]);
}

/// Fetches with a proxy of this `manner` before a good one.
async fn fetch_past(scheme: &str, is_http: bool, manner: Manner) -> (Arc<Pool>, Session, Vec<ProxyAsk>) {
    let ca = Ca::new();
    let origin = if scheme == "https" { Origin::tls(&ca, &["h2"]).await } else { Origin::plain().await };
    let bad = match is_http {
        true => ForwardProxy::http(origin.address, manner).await,
        false => ForwardProxy::socks5(origin.address, manner).await.with_login("user", "secret"),
    };
    let good = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&bad, &good]);
    let mut setup = Setup::default().trusting(&ca);
    if manner == Manner::Hanging {
        // the test waits them out; the good proxy and the origin answer on the same thread within them
        setup.http.connect_timeout = Duration::from_secs(1);
        setup.http.first_byte_timeout = Duration::from_secs(1);
    }
    let mut session = setup.sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, scheme), &content).await.unwrap();
    assert_eq!(origin.seen().len(), 1);
    let asks = pool.asks();
    (pool, session, asks)
}

#[rstest]
#[case::refused_tunnels(Manner::Refusing(502))]
#[case::captive_portals(Manner::Portal)]
#[case::closed_connections(Manner::Closing)]
#[case::garbage(Manner::Garbage)]
#[case::no_credentials(Manner::Refusing(407))]
#[tokio::test]
async fn an_outage_of_all_proxies_costs_the_task_no_retry(#[case] manner: Manner) {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["h2"]).await;
    let (first, second) =
        (ForwardProxy::http(origin.address, manner).await, ForwardProxy::http(origin.address, manner).await);
    let mut session = Setup::default().trusting(&ca).sessions(&pool_of(&[&first, &second])).open(SessionAsk::default());
    let error = session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap_err();
    assert!(matches!(TaskError::from(error), TaskError::Snooze { .. }));
}

#[tokio::test]
async fn a_store_whose_host_is_dead_is_named_and_pays_while_other_hosts_answer() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["h2"]).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Unreachable("dead.test")).await;
    let pool = pool_of(&[&proxy]);
    let setup = Setup { hosts: vec![HOST.to_owned(), "dead.test".to_owned()], ..Setup::default() };
    let sessions = setup.trusting(&ca).sessions(&pool);
    let mut dead = request(RequestKind::Fetch, "https");
    dead.url = "https://dead.test/graphql".parse().unwrap();
    dead.referer = dead.url.clone();

    let mut other = sessions.open(SessionAsk::default());
    let others_are_answered = async {
        loop {
            other.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
        }
    };
    let mut session = sessions.open(SessionAsk::default());
    let error = tokio::select! {
        result = session.send(&dead, &content) => result.unwrap_err(),
        () = others_are_answered => unreachable!(),
    };
    assert!(matches!(&error, FetchError::Unreachable { host, .. } if host == "dead.test"), "{error}");
    assert!(matches!(TaskError::from(error), TaskError::Retry { .. }));
    assert!(!pool.reports().iter().any(|(_, outcome)| matches!(outcome, ProxyOutcome::Failed { .. })));
}

#[tokio::test]
async fn without_a_proxy_nothing_is_sent() {
    let origin = Origin::plain().await;
    let mut session = Setup::default().sessions(&Pool::new(Vec::new())).open(SessionAsk::default());
    let error = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    assert_eq!(error, FetchError::NoProxy { host: HOST.to_owned() });
    assert_eq!(origin.seen(), []);
}

/// One place opens outbound connections for crawling, and it connects to proxies. The modules that are left
/// out talk to Postgres or to this program's own API.
#[test]
fn only_the_connection_to_a_proxy_opens_sockets() {
    let src = testkit::root().join("src");
    let others =
        ["db", "db.rs", "api", "api.rs", "private_server", "private_server.rs", "cli/http.rs", "cli/remote.rs"];
    let others = others.map(|path| src.join(path));
    let opens = |file: &Path| {
        let text = std::fs::read_to_string(file).unwrap();
        ["TcpStream::connect", "TcpSocket", "UdpSocket", "HttpConnector", "lookup_host", "ToSocketAddrs"]
            .iter()
            .any(|word| text.contains(word))
    };
    let files = rust_files(&src).into_iter().filter(|file| !others.iter().any(|other| file.starts_with(other)));
    let opening: Vec<_> = files.filter(|file| opens(file)).collect();
    assert_eq!(opening, [src.join("stealth/proxy_connect.rs")]);
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[tokio::test]
async fn a_session_leaves_a_proxy_whose_lease_was_revoked() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    pool.revoke(1);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    let used: Vec<_> = pool.reports().into_iter().map(|(id, _)| id).collect();
    assert_eq!(used, [1, 2]);
    assert_eq!(pool.out(), 1, "the revoked lease was given back");
}

#[tokio::test]
async fn secrets_of_a_proxy_are_in_no_error() {
    let origin = Origin::plain().await;
    let bad = ForwardProxy::http(origin.address, Manner::Refusing(407)).await.with_login("anna", "hunter2");
    let pool = pool_of(&[&bad]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    let error = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    let shown = format!("{error} {error:?} {:?} {:?}", pool.reports(), bad.as_row(1));
    assert!(!shown.contains("hunter2") && !shown.contains(&STANDARD.encode("anna:hunter2")), "{shown}");
}
