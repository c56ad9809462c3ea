//! The hop: what it hears, what its failures are called, and that nothing goes past it.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drover::stealth::{FetchError, Kind, ProxyOutcome, SessionAsk};
use rstest::rstest;

use super::support::{Ca, ForwardProxy, HOST, Manner, Origin, Pool, Setup, content, pool_of, request};

#[tokio::test]
async fn a_tunnel_is_asked_for_with_no_header_of_the_browser() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["http/1.1"]).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().trusting(&ca).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    session.send(&request(Kind::GraphqlGet, "https"), &content).await.unwrap();
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
    session.send(&request(Kind::GraphqlGet, scheme), &content).await.unwrap();

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
    session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap();
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
    session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap();

    let ask = [&[5, 1, 0, 3, HOST.len() as u8], HOST.as_bytes(), &[0, 80]].concat();
    let mut heard = proxy.heard();
    assert_eq!(heard.pop(), Some(ask));
    let spoken = login
        .map(|(user, word)| [&[1, user.len() as u8], user.as_bytes(), &[word.len() as u8], word.as_bytes()].concat());
    heard.remove(0);
    assert_eq!(heard, spoken.into_iter().collect::<Vec<_>>());
}

async fn closed(_: &Origin) -> ForwardProxy {
    ForwardProxy::closed().await
}

/// What is wrong with the first proxy, as its owner hears it, and whether that benches it at once.
#[rstest]
#[case::tunnel_407("https", true, Manner::Refusing(407), "credentials", true)]
#[case::tunnel_403("https", true, Manner::Refusing(403), "403", false)]
#[case::tunnel_502("https", true, Manner::Refusing(502), "502", false)]
#[case::tunnel_hangs("https", true, Manner::Hanging, "no connection within", false)]
#[case::forwarded_407("http", true, Manner::Refusing(407), "credentials", true)]
#[case::socks_login("http", false, Manner::Refusing(407), "credentials", true)]
#[case::socks_hangs("http", false, Manner::Hanging, "no connection within", false)]
#[tokio::test]
async fn a_bad_hop_is_blamed_and_another_takes_over(
    #[case] scheme: &str,
    #[case] is_http: bool,
    #[case] manner: Manner,
    #[case] why: &str,
    #[case] at_once: bool,
) {
    let ca = Ca::new();
    let origin = if scheme == "https" { Origin::tls(&ca, &["h2"]).await } else { Origin::plain().await };
    let bad = match is_http {
        true => ForwardProxy::http(origin.address, manner).await,
        false => ForwardProxy::socks5(origin.address, manner).await.with_login("user", "secret"),
    };
    let good = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&bad, &good]);
    let mut setup = Setup::default().trusting(&ca);
    setup.http.connect_timeout = Duration::from_millis(400);
    let mut session = setup.sessions(&pool).open(SessionAsk::default());
    session.send(&request(Kind::GraphqlGet, scheme), &content).await.unwrap();

    assert_blamed(&pool, why, at_once);
    assert_eq!(session.trace().read().proxy_ids, [1, 2]);
    assert_eq!(origin.seen().len(), 1);
}

#[tokio::test]
async fn a_refused_connect_is_blamed_at_once() {
    let origin = Origin::plain().await;
    let good = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&closed(&origin).await, &good]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap();
    assert_blamed(&pool, "cannot be reached", true);
}

#[rstest]
#[case::by_the_rules(Manner::Refusing(2), "refuses the connection")]
#[case::host_unreachable(Manner::Refusing(4), "refuses the connection")]
#[tokio::test]
async fn a_socks_refusal_is_counted(#[case] manner: Manner, #[case] why: &str) {
    let origin = Origin::plain().await;
    let bad = ForwardProxy::socks5(origin.address, manner).await;
    let good = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&bad, &good]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap();
    assert_blamed(&pool, why, false);
}

/// Over plain http nobody can tell a proxy's 502 or silence from the origin's: a suspicion, and another way.
#[rstest]
#[case::bad_gateway(Manner::Refusing(502))]
#[case::silence(Manner::Hanging)]
#[tokio::test]
async fn a_suspect_hop_is_left_with_a_suspicion(#[case] manner: Manner) {
    let origin = Origin::plain().await;
    let bad = ForwardProxy::http(origin.address, manner).await;
    let good = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&bad, &good]);
    let mut setup = Setup::default();
    setup.http.first_byte_timeout = Duration::from_millis(300);
    let mut session = setup.sessions(&pool).open(SessionAsk::default());
    session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap();
    assert!(matches!(&pool.reports()[0], (1, ProxyOutcome::Suspect { .. })), "{:?}", pool.reports());
    assert_eq!(pool.asks()[1].avoid, [1]);
}

#[tokio::test]
async fn without_a_proxy_nothing_is_sent() {
    let origin = Origin::plain().await;
    let mut session = Setup::default().sessions(&Pool::new(Vec::new())).open(SessionAsk::default());
    let error = session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap_err();
    assert_eq!(error, FetchError::NoProxy { host: HOST.to_owned() });
    assert_eq!(origin.seen(), []);
}

/// One place dials, and it dials proxies.
#[test]
fn only_the_way_to_a_proxy_opens_sockets() {
    let stealth = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stealth");
    let dials = |text: &str| {
        ["TcpStream::connect", "TcpSocket", "UdpSocket", "HttpConnector", "lookup_host"]
            .iter()
            .any(|word| text.contains(word))
    };
    let files = std::fs::read_dir(stealth).unwrap().map(|entry| entry.unwrap().path());
    let dialling: Vec<_> = files.filter(|file| dials(&std::fs::read_to_string(file).unwrap())).collect();
    assert_eq!(dialling.len(), 1, "{dialling:?}");
    assert!(dialling[0].ends_with("proxy_connect.rs"), "{dialling:?}");
}

#[tokio::test]
async fn secrets_of_a_proxy_are_in_no_error() {
    let origin = Origin::plain().await;
    let bad = ForwardProxy::http(origin.address, Manner::Refusing(407)).await.with_login("anna", "hunter2");
    let pool = pool_of(&[&bad]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    let error = session.send(&request(Kind::GraphqlGet, "http"), &content).await.unwrap_err();
    let shown = format!("{error} {error:?} {:?} {:?}", pool.reports(), bad.as_row(1));
    assert!(!shown.contains("hunter2") && !shown.contains(&STANDARD.encode("anna:hunter2")), "{shown}");
}

fn assert_blamed(pool: &Pool, why: &str, at_once: bool) {
    let reports = pool.reports();
    let (id, ProxyOutcome::Failed { why: said, at_once: said_at_once, host }) = &reports[0] else {
        panic!("{reports:?}");
    };
    assert_eq!((*id, host.as_str(), *said_at_once), (1, HOST, at_once), "{said}");
    assert!(said.contains(why), "{said}");
    assert!(matches!(&reports[1], (2, ProxyOutcome::Success { .. })), "{reports:?}");
}
