//! Hosts that must never be contacted, and answers that are believed.

use drover::stealth::{FetchError, ProxyOutcome, RequestKind, Response, SessionAsk};
use rstest::rstest;

use super::support::{Ca, Certificate, ForwardProxy, Manner, Origin, Reply, Setup, content, pool_of, request};

#[rstest]
#[case::another_host("http://elsewhere.test/graphql", "http://elsewhere.test/")]
#[case::a_preflight_to_another_host("http://menu.test/graphql", "http://elsewhere.test/")]
#[case::a_preflight_to_another_scheme("http://menu.test/graphql", "https://menu.test/")]
#[tokio::test]
async fn what_must_not_be_contacted_is_refused_before_a_proxy_is_asked(#[case] url: &str, #[case] referer: &str) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&proxy]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    let mut request = request(RequestKind::Fetch, "http");
    request.url = url.parse().unwrap();
    request.referer = referer.parse().unwrap();
    let error = session.send(&request, &content).await.unwrap_err();
    assert!(matches!(error, FetchError::NotAllowed { .. }), "{error}");
    assert_eq!((pool.asks().len(), origin.seen().len()), (0, 0));
}

#[tokio::test]
async fn a_stores_own_host_may_be_contacted_for_that_store() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let sessions = Setup::default().sessions(&pool_of(&[&proxy]));
    let mut request = request(RequestKind::Fetch, "http");
    request.url = "http://shop.test:8080/graphql".parse().unwrap();
    request.referer = "http://shop.test:8080/menu".parse().unwrap();
    let ask = SessionAsk { hosts: vec!["shop.test:8080".to_owned()], ..SessionAsk::default() };
    sessions.open(ask).send(&request, &content).await.unwrap();
    assert_eq!(origin.seen()[0].field("host"), Some("shop.test:8080"));
    assert!(sessions.open(SessionAsk::default()).send(&request, &content).await.is_err());
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_not_believed() {
    let (known, unknown) = (Ca::new(), Ca::new());
    let origin = Origin::tls(&unknown, &["h2"]).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().trusting(&known).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    let error = session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap_err();
    assert!(matches!(&error, FetchError::ProxyOutage { reason, .. } if reason.contains("certificate")), "{error}");
    assert_eq!(origin.seen(), []);
}

#[rstest]
#[case::expired(Certificate::Expired, "expired")]
#[case::not_valid_yet(Certificate::NotYetValid, "not valid yet")]
#[case::of_another_host(Certificate::OfAnotherName, "not valid for name")]
#[case::self_signed(Certificate::SelfSigned, "invalid peer certificate")]
#[tokio::test]
async fn a_certificate_that_is_not_the_hosts_own_is_not_believed(#[case] kind: Certificate, #[case] says: &str) {
    let ca = Ca::new();
    let (false_origin, origin) = (Origin::with_certificate(&ca, kind).await, Origin::tls(&ca, &["h2"]).await);
    let misled = ForwardProxy::http(false_origin.address, Manner::Willing).await;
    let honest = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&misled, &honest]);
    let mut session = Setup::default().trusting(&ca).sessions(&pool).open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
    assert_eq!((false_origin.seen().len(), origin.seen().len()), (0, 1), "nothing is told to a stranger");
    let (1, ProxyOutcome::Suspicion { reason, .. }) = &pool.reports()[0] else { panic!("{:?}", pool.reports()) };
    assert!(reason.contains(says), "{reason}");
}

#[rstest]
#[case::an_object("{\"data\":{}}", true)]
#[case::a_list(" []", true)]
#[case::a_page("<html>no</html>", false)]
#[case::a_text("Request unsuccessful", false)]
#[case::nothing("", false)]
#[tokio::test]
async fn a_success_that_is_called_html_is_judged_by_its_body(#[case] body: &'static str, #[case] is_read: bool) {
    let origin = Origin::plain().await;
    let proxies = [
        ForwardProxy::http(origin.address, Manner::Willing).await,
        ForwardProxy::http(origin.address, Manner::Willing).await,
    ];
    let mut session = Setup::default().sessions(&pool_of(&[&proxies[0], &proxies[1]])).open(SessionAsk::default());
    origin.script([Reply::html(200).body(body.as_bytes())]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    let trace = session.trace().read();
    assert_eq!((trace.requests, trace.blocks), if is_read { (1, 0) } else { (2, 1) });
}

/// A platform that reads from the body that it does not know the query.
fn stale(response: &Response) -> Result<(), FetchError> {
    match response.body.starts_with(br#"{"errors":[{"message":"PersistedQueryNotFound""#) {
        true => Err(FetchError::UnknownQuery { operation: "FilteredProducts".to_owned(), host: response.host.clone() }),
        false => Err(FetchError::Decode { host: response.host.clone(), reason: "no menu".to_owned() }),
    }
}

#[rstest]
#[case::of_500(500, r#"{"errors":[{"message":"PersistedQueryNotFound"}]}"#, true)]
#[case::of_502(502, r#"{"errors":[{"message":"PersistedQueryNotFound"}]}"#, true)]
#[case::another_failure(500, r#"{"errors":[{"message":"Internal server error"}]}"#, false)]
#[case::no_json(500, "oops", false)]
#[tokio::test]
async fn a_failure_of_a_server_that_does_not_know_a_query_is_judged_by_its_body(
    #[case] status: u16,
    #[case] body: &str,
    #[case] is_stale: bool,
) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    origin.script(std::iter::repeat_n(Reply::status(status).body(body.as_bytes()), 4));
    let error = session.send(&request(RequestKind::Fetch, "http"), &stale).await.unwrap_err();
    assert_eq!(matches!(error, FetchError::UnknownQuery { .. }), is_stale, "{error:?}");
    let is_failure = matches!(error, FetchError::ServerError { .. } | FetchError::HostTrouble { .. });
    assert_eq!(is_failure, !is_stale, "{error:?}");
}

#[tokio::test]
async fn an_answer_without_success_is_an_error_though_the_platform_accepts_it() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    origin.script(std::iter::repeat_n(Reply::status(404), 4));
    let error = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    assert!(matches!(&error, FetchError::Http { reason, .. } if reason == "status 404"), "{error}");
}

#[rstest]
#[case::another_site("http://api.other.test/graphql", "cross-site")]
#[case::the_same_site("http://api.menu.test/graphql", "same-site")]
#[tokio::test]
async fn an_api_of_another_host_is_asked_as_a_browser_asks_it(
    #[case] url: &str,
    #[case] site: &str,
    #[values("chrome-131-windows", "firefox-133-windows", "safari-18.4-macos")] fingerprint: &str,
) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let setup = Setup { hosts: vec!["api.other.test".to_owned(), "api.menu.test".to_owned()], ..Setup::default() }
        .only(fingerprint);
    let mut session = setup.sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    let mut request = request(RequestKind::Fetch, "http");
    request.url = url.parse().unwrap();
    request.script_headers = vec![("accept", "application/json".to_owned())];
    origin.script([Reply::json("{}").with("set-cookie", "a=1; Path=/")]);
    for _ in 0..2 {
        session.send(&request, &content).await.unwrap();
    }
    let seen = &origin.seen()[1];
    assert_eq!(seen.field("sec-fetch-site"), Some(site));
    assert_eq!(seen.field("origin"), Some("http://menu.test"));
    assert_eq!(seen.field("referer"), Some("http://menu.test/"));
    assert_eq!(seen.field("cookie"), None, "fetch() leaves cookies of other origins alone");
    assert_eq!(seen.field("apollographql-client-name"), None);
}
