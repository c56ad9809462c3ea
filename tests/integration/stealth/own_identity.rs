//! drover under its own name: few headers, in one order, and none that only browsers send.

use std::sync::Arc;

use bytes::Bytes;
use drover::app::robots::SharedRobots;
use drover::stealth::{FetchError, IdentityKind, Protocol, Request, RequestKind, SessionAsk};
use rstest::rstest;
use testkit::database;

use super::support::{
    Ca, ForwardProxy, HOST, Manner, Origin, ReceivedRequest, Reply, Setup, content, http, no_politeness, pool_of,
    willing,
};

const NAME: &str = "Example/1.0 (+https://example.com/crawler)";

fn setup() -> Setup {
    let (own_name, own_contact) = ("Example/1.0".to_owned(), "https://example.com/crawler".to_owned());
    Setup { http: settings::Http { own_name, own_contact, ..http() }, ..Setup::default() }
}

fn own() -> SessionAsk {
    SessionAsk { state: Some("AZ".to_owned()), identity: IdentityKind::Own, ..SessionAsk::default() }
}

fn get(url: &str, referer: &str) -> Request {
    let script_headers = vec![("accept", "application/json".to_owned())];
    Request { script_headers, ..Request::new(RequestKind::Fetch, url.parse().unwrap(), referer.parse().unwrap()) }
}

fn post(url: &str, referer: &str) -> Request {
    let mut request = get(url, referer);
    request.kind = RequestKind::FetchWithBody;
    request.script_headers.push(("content-type", "application/json".to_owned()));
    request.body = Some(Bytes::from_static(b"{\"q\":1}"));
    request
}

/// Names in lower case: the HTTP library spells all of HTTP/1.1 in title case.
fn lower(seen: &ReceivedRequest) -> Vec<(String, &str)> {
    seen.fields.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str())).collect()
}

fn expected<'a>(protocol: Protocol, rest: &[(&str, &'a str)]) -> Vec<(String, &'a str)> {
    let host = (protocol == Protocol::Http1).then_some(("host", HOST));
    let common = [
        ("user-agent", NAME),
        ("accept", "application/json"),
        ("accept-language", "en-US,en;q=0.9"),
        ("accept-encoding", "gzip, deflate, br, zstd"),
    ];
    host.into_iter().chain(common).chain(rest.iter().copied()).map(|(name, value)| (name.to_owned(), value)).collect()
}

#[rstest]
#[tokio::test]
async fn a_request_has_these_headers_and_no_others(#[values(Protocol::Http1, Protocol::Http2)] protocol: Protocol) {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, if protocol == Protocol::Http2 { &["h2"] } else { &["http/1.1"] }).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = setup().trusting(&ca).sessions(&pool_of(&[&proxy])).open(own());
    let (url, page) = ("https://menu.test/v1/menu?page=1", "https://menu.test/stores/1?x=1#top");
    let referer = ("referer", "https://menu.test/stores/1?x=1");
    origin.script([Reply::json("{}").with("set-cookie", "a=1; Path=/").with("set-cookie", "b=2; Path=/")]);

    session.send(&get(url, page), &content).await.unwrap();
    session.send(&get(url, page), &content).await.unwrap();
    session.send(&post(url, page), &content).await.unwrap();
    let seen = origin.seen();
    let cookie = ("cookie", "a=1; b=2");
    let of_a_body = [
        ("content-type", "application/json"),
        ("content-length", "7"),
        ("origin", "https://menu.test"),
        referer,
        cookie,
    ];
    assert_eq!(lower(&seen[0]), expected(protocol, &[referer]));
    assert_eq!(lower(&seen[1]), expected(protocol, &[referer, cookie]));
    assert_eq!(lower(&seen[2]), expected(protocol, &of_a_body));
    assert_eq!((seen[2].method.as_str(), seen[2].body.as_slice()), ("POST", &b"{\"q\":1}"[..]));
}

#[rstest]
#[case::a_get(get, &[("x-store", "7"), ("origin", "http://shop.test"), ("referer", "http://shop.test/")])]
#[case::a_post(
    post,
    &[
        ("content-type", "application/json"), ("x-store", "7"), ("content-length", "7"), ("origin", "http://shop.test"),
        ("referer", "http://shop.test/"),
    ]
)]
#[tokio::test]
async fn an_api_of_another_origin_is_asked_without_a_preflight(
    #[case] request: fn(&str, &str) -> Request,
    #[case] rest: &[(&str, &str)],
) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let mut session = setup().sessions(&pool_of(&[&proxy])).open(own());
    let mut request = request("http://menu.test/v1/menu", "http://shop.test/menu?x=1");
    request.script_headers.push(("x-store", "7".to_owned()));
    session.send(&request, &content).await.unwrap();
    let seen = origin.seen();
    assert_eq!((seen.len(), lower(&seen[0])), (1, expected(Protocol::Http1, rest)));
}

#[tokio::test]
async fn a_block_changes_the_proxy_and_never_the_name() {
    let origin = Origin::plain().await;
    let mut session = setup().sessions(&willing(&origin, 2).await).open(own());
    origin.script([Reply::status(406)]);
    let request = get("http://menu.test/v1/menu", "http://menu.test/");
    session.send(&request, &content).await.unwrap();
    let trace = session.trace().read();
    assert_eq!((trace.proxy_ids, trace.fingerprints), (vec![1, 2], vec!["own".to_owned()]));
    assert!(origin.seen().iter().all(|seen| seen.field("user-agent") == Some(NAME)), "{:?}", origin.seen());
}

#[tokio::test]
async fn a_rule_for_drover_holds_under_any_name() {
    let database = database().await;
    let origin = Origin::plain().await;
    let politeness = settings::Politeness { robots: "obey".to_owned(), ..no_politeness() };
    let setup = Setup { politeness, robots_table: Some(Arc::new(SharedRobots::new(&database.db))), ..setup() };
    let mut session = setup.sessions(&willing(&origin, 1).await).open(own());
    origin.script([Reply::json("User-agent: *\nAllow: /\n\nUser-agent: drover\nDisallow: /v1/")]);
    let request = get("http://menu.test/v1/menu", "http://menu.test/");
    let error = session.send(&request, &content).await.unwrap_err();
    assert!(matches!(error, FetchError::RobotsForbid { .. }), "{error}");
    assert_eq!((origin.seen().len(), origin.seen()[0].field("user-agent")), (1, Some(NAME)));
}
