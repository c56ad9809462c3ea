//! https proxies: all traffic to them is inside TLS, and only with a server that can prove to be the proxy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drover::stealth::{ProxyOutcome, RequestKind, SessionAsk};
use rstest::rstest;

use sim::{ProxyProtocol, Settings};

use super::support::{Ca, Certificate, ForwardProxy, HOST, Manner, Origin, Pool, Setup, TlsFront, content, request};
use testkit::{Child, Farm};

#[rstest]
#[tokio::test]
async fn a_request_goes_through_with_its_credentials(#[values("http", "https")] scheme: &str) {
    let ca = Ca::new();
    let origin = if scheme == "https" { Origin::tls(&ca, &["h2"]).await } else { Origin::plain().await };
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await.with_login("user", "word");
    let front = TlsFront::before(&proxy, ca.acceptor_of(Certificate::Good)).await;
    let setup = Setup::default().trusting(&ca).trusting_proxies_of(&ca);
    let mut session = setup.sessions(&Pool::new(vec![front.as_row(&proxy, 1)])).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, scheme), &content).await.unwrap();

    let due = format!("Basic {}", STANDARD.encode("user:word"));
    assert!(proxy.heard_text().concat().contains(&due));
    assert_eq!(origin.seen()[0].field("proxy-authorization"), None);
}

#[rstest]
#[case::expired(Certificate::Expired, "expired")]
#[case::of_another_name(Certificate::OfAnotherName, "not valid for name")]
#[case::self_signed(Certificate::SelfSigned, "UnknownIssuer")]
#[tokio::test]
async fn a_proxy_with_a_wrong_certificate_is_blamed_and_told_nothing(
    #[case] certificate: Certificate,
    #[case] reason: &str,
) {
    let ca = Ca::new();
    let origin = Origin::plain().await;
    let wrong = ForwardProxy::http(origin.address, Manner::Willing).await.with_login("user", "word");
    let front = TlsFront::before(&wrong, ca.acceptor_of(certificate)).await;
    let other = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = Pool::new(vec![front.as_row(&wrong, 1), other.as_row(2)]);
    let mut session = Setup::default().trusting_proxies_of(&ca).sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();

    let reports = pool.reports();
    let (1, ProxyOutcome::Failed { reason: given, at_once: true, host }) = &reports[0] else { panic!("{reports:?}") };
    assert!(given.starts_with("its certificate is refused: ") && given.contains(reason), "{given}");
    assert_eq!(host, HOST);
    assert!(wrong.heard().is_empty(), "no byte inside TLS, and so no credentials");
    assert!(matches!(&reports[1], (2, ProxyOutcome::Success { .. })), "{reports:?}");
}

#[tokio::test]
async fn a_farm_finds_fetches_and_refreshes_all_stores_through_https_proxies_alone() {
    let ca = Ca::new();
    let tls = ca.acceptor_of(Certificate::Good).config().clone();
    let farm = Farm::changed(6, |small| Settings { proxies: 6, proxy_tls: Some(tls), ..small }).await;
    farm.execute("DELETE FROM dispensaries").await;
    farm.execute("DELETE FROM proxies WHERE protocol <> 'https'").await;
    let mut command = farm.drover(&["worker", "--workers", "2", "--slots", "2"]);
    let _worker = Child::spawn(command.env("DROVER__PROXIES__EXTRA_CA_FILE", ca.file()));
    farm.discover().await;
    farm.until_crawled().await;

    assert_eq!(farm.products().await, farm.expected_products(1));
    let (counts, proxies) = (farm.sim.counts(), farm.sim.proxies());
    assert_eq!((counts.direct_connections, counts.credentials_astray), (0, 0));
    let used = |nth: &usize| counts.proxies[*nth].requests > 0;
    let of_https = |nth: &usize| proxies[*nth].protocol == ProxyProtocol::Https;
    assert!((0..6).filter(used).all(|nth| of_https(&nth)), "{counts:?}");
    let with_login = (0..6).filter(used).filter(|nth| proxies[*nth].username.is_some()).count();
    // a proxy refuses requests outside TLS, and other credentials than its own
    let refused: u64 = counts.proxies.iter().map(|proxy| proxy.refused).sum();
    assert_eq!((with_login, refused), (2, 0), "{counts:?}");
}
