//! Every fingerprint, kind and protocol, with and without cookies, as an origin receives them: names, order,
//! values.
//!
//! The expected lists are the tables of the identities' specification, in its own notation: `¹` is sent on
//! HTTP/1.1 only, `²` on HTTP/2 only, `[x]` when there is one. HTTP/2 lower-cases every name and drops `Host`
//! and `Connection`.

use std::time::Duration;

use drover::stealth::{
    DocumentLimits, Identities, Identity, Protocol, Request, RequestKind, Session, SessionAsk, States, headers,
};
use rstest::rstest;

use super::support::{
    Ca, ForwardProxy, HOST, Manner, Origin, ReceivedRequest, Reply, Setup, content, document, pool_of, request,
};

struct Expected {
    id: &'static str,
    order: &'static str,
    user_agent: &'static str,
    /// `sec-ch-ua`, `sec-ch-ua-platform`.
    hints: Option<(&'static str, &'static str)>,
    accept_encoding: &'static str,
    accept_language: &'static str,
    priority: &'static str,
    image_accept: &'static str,
    image_priority: &'static str,
    cookie_crumbs: bool,
}

const A: &str = r#""Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24""#;
const B: &str = r#""Not_A Brand";v="8", "Chromium";v="120", "Google Chrome";v="120""#;
const E: &str = r#""Microsoft Edge";v="131", "Chromium";v="131", "Not_A Brand";v="24""#;
const WITH_ZSTD: &str = "gzip, deflate, br, zstd";
const WITHOUT_ZSTD: &str = "gzip, deflate, br";

const CHROME_131: Expected = Expected {
    id: "chrome-131-windows",
    order: "blink-131",
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    hints: Some((A, "\"Windows\"")),
    accept_encoding: WITH_ZSTD,
    accept_language: "en-US,en;q=0.9",
    priority: "u=1, i",
    image_accept: "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    image_priority: "i",
    cookie_crumbs: true,
};

const CHROME_120: Expected = Expected {
    id: "chrome-120-windows",
    order: "blink-120",
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
    hints: Some((B, "\"Windows\"")),
    accept_encoding: WITHOUT_ZSTD,
    priority: "",
    ..CHROME_131
};

const FIREFOX_133: Expected = Expected {
    id: "firefox-133-windows",
    order: "gecko-133",
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0",
    hints: None,
    accept_encoding: WITH_ZSTD,
    accept_language: "en-US,en;q=0.5",
    priority: "u=4",
    image_accept: "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
    image_priority: "u=5, i",
    cookie_crumbs: true,
};

const SAFARI_17: Expected = Expected {
    id: "safari-17.2-macos",
    order: "webkit-17",
    user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Safari/605.1.15",
    hints: None,
    accept_encoding: WITHOUT_ZSTD,
    accept_language: "en-US,en;q=0.9",
    priority: "",
    image_accept: "image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
    image_priority: "u=5, i",
    cookie_crumbs: false,
};

const TWELVE: [Expected; 12] = [
    CHROME_131,
    Expected {
        id: "chrome-131-macos",
        user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
        hints: Some((A, "\"macOS\"")),
        ..CHROME_131
    },
    Expected {
        id: "chrome-131-linux",
        user_agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
        hints: Some((A, "\"Linux\"")),
        ..CHROME_131
    },
    CHROME_120,
    Expected {
        id: "chrome-120-macos",
        user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
        hints: Some((B, "\"macOS\"")),
        ..CHROME_120
    },
    FIREFOX_133,
    Expected {
        id: "firefox-133-macos",
        user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0",
        ..FIREFOX_133
    },
    Expected {
        id: "firefox-133-linux",
        user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
        ..FIREFOX_133
    },
    SAFARI_17,
    Expected {
        id: "safari-18.4-macos",
        order: "webkit-18",
        user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15",
        priority: "u=3, i",
        ..SAFARI_17
    },
    Expected {
        id: "edge-131-windows",
        user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
        hints: Some((E, "\"Windows\"")),
        ..CHROME_131
    },
    Expected {
        id: "edge-131-macos",
        user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
        hints: Some((E, "\"macOS\"")),
        ..CHROME_131
    },
];

/// (order, kind, protocol) → names. `any` means both kinds or both protocols.
const ORDERS: [(&str, &str, &str, &str); 8] = [
    (
        "blink-131",
        "any",
        "any",
        "Host¹ Connection¹ [Content-Length] sec-ch-ua-platform sec-ch-ua sec-ch-ua-mobile apollo-require-preflight User-Agent accept content-type apollographql-client-name x-apollo-operation-name [Origin] Sec-Fetch-Site Sec-Fetch-Mode Sec-Fetch-Dest Referer Accept-Encoding Accept-Language [Cookie] priority²",
    ),
    (
        "blink-120",
        "any",
        "any",
        "Host¹ Connection¹ [Content-Length] sec-ch-ua apollographql-client-name sec-ch-ua-mobile User-Agent content-type accept apollo-require-preflight x-apollo-operation-name sec-ch-ua-platform [Origin] Sec-Fetch-Site Sec-Fetch-Mode Sec-Fetch-Dest Referer Accept-Encoding Accept-Language [Cookie]",
    ),
    (
        "gecko-133",
        "any",
        "any",
        "Host¹ User-Agent Accept Accept-Language Accept-Encoding Referer content-type apollographql-client-name apollo-require-preflight x-apollo-operation-name [Content-Length] [Origin] Connection¹ [Cookie] Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Priority te²",
    ),
    (
        "webkit-17",
        "get",
        "h2",
        "content-type [cookie] accept sec-fetch-site accept-language accept-encoding sec-fetch-mode user-agent referer apollographql-client-name apollo-require-preflight sec-fetch-dest x-apollo-operation-name",
    ),
    (
        "webkit-17",
        "get",
        "h1",
        "Host [Cookie] Accept Sec-Fetch-Site Accept-Language Accept-Encoding Sec-Fetch-Mode Content-Type User-Agent Referer apollographql-client-name Connection apollo-require-preflight Sec-Fetch-Dest x-apollo-operation-name",
    ),
    (
        "webkit-17",
        "post",
        "h2",
        "content-type [cookie] accept sec-fetch-site accept-language accept-encoding sec-fetch-mode origin user-agent referer apollographql-client-name content-length apollo-require-preflight sec-fetch-dest x-apollo-operation-name",
    ),
    (
        "webkit-17",
        "post",
        "h1",
        "Host [Cookie] Connection Accept Sec-Fetch-Site Accept-Language Accept-Encoding Sec-Fetch-Mode Content-Type Origin User-Agent Referer apollographql-client-name Content-Length apollo-require-preflight Sec-Fetch-Dest x-apollo-operation-name",
    ),
    (
        "webkit-18",
        "any",
        "any",
        "Host¹ Sec-Fetch-Dest User-Agent Accept [Content-Type] [Origin] Referer Sec-Fetch-Site Sec-Fetch-Mode apollographql-client-name apollo-require-preflight x-apollo-operation-name [Content-Length] Accept-Language Priority Accept-Encoding [Cookie] Connection¹",
    ),
];

/// The same of documents and images: no script sets a header.
const DOCUMENT_ORDERS: [(&str, &str, &str, &str); 7] = [
    (
        "blink-131",
        "any",
        "any",
        "Host¹ Connection¹ sec-ch-ua-platform User-Agent sec-ch-ua sec-ch-ua-mobile Accept Sec-Fetch-Site Sec-Fetch-Mode Sec-Fetch-Dest Referer Accept-Encoding Accept-Language [Cookie] priority²",
    ),
    (
        "blink-120",
        "any",
        "any",
        "Host¹ Connection¹ sec-ch-ua sec-ch-ua-mobile User-Agent sec-ch-ua-platform Accept Sec-Fetch-Site Sec-Fetch-Mode Sec-Fetch-Dest Referer Accept-Encoding Accept-Language [Cookie]",
    ),
    (
        "gecko-133",
        "get",
        "any",
        "Host¹ User-Agent Accept Accept-Language Accept-Encoding Referer Connection¹ [Cookie] Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Priority te²",
    ),
    (
        "gecko-133",
        "image",
        "any",
        "Host¹ User-Agent Accept Accept-Language Accept-Encoding Connection¹ Referer [Cookie] Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Priority te²",
    ),
    (
        "webkit-17",
        "any",
        "h1",
        "Host Sec-Fetch-Site Accept-Encoding [Cookie] Connection Sec-Fetch-Mode Accept User-Agent Referer Sec-Fetch-Dest Accept-Language",
    ),
    (
        "webkit-17",
        "any",
        "h2",
        "accept sec-fetch-site accept-encoding [cookie] sec-fetch-mode user-agent referer sec-fetch-dest accept-language",
    ),
    (
        "webkit-18",
        "any",
        "any",
        "Host¹ Sec-Fetch-Dest User-Agent Accept Referer Sec-Fetch-Site Sec-Fetch-Mode Accept-Language Priority Accept-Encoding [Cookie] Connection¹",
    ),
];

#[rstest]
#[tokio::test]
async fn requests_over_tls_equal_the_profile(
    #[values(RequestKind::Fetch, RequestKind::FetchWithBody)] kind: RequestKind,
    #[values(Protocol::Http1, Protocol::Http2)] protocol: Protocol,
) {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, if protocol == Protocol::Http2 { &["h2"] } else { &["http/1.1"] }).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    for expected in &TWELVE {
        let mut session =
            Setup::default().trusting(&ca).only(expected.id).sessions(&pool_of(&[&proxy])).open(arizona());
        assert_profile(&mut session, &origin, expected, kind, protocol, "https").await;
    }
}

/// Test doubles speak plain http; they must see the same as an origin behind TLS.
#[rstest]
#[tokio::test]
async fn requests_over_plain_http_equal_the_profile(
    #[values(RequestKind::Fetch, RequestKind::FetchWithBody)] kind: RequestKind,
) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    for expected in &TWELVE {
        let mut session = Setup::default().only(expected.id).sessions(&pool_of(&[&proxy])).open(arizona());
        assert_profile(&mut session, &origin, expected, kind, Protocol::Http1, "http").await;
    }
}

#[rstest]
#[tokio::test]
async fn documents_and_images_equal_the_profile(
    #[values(RequestKind::Fetch, RequestKind::Image)] kind: RequestKind,
    #[values(Protocol::Http1, Protocol::Http2)] protocol: Protocol,
) {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, if protocol == Protocol::Http2 { &["h2"] } else { &["http/1.1"] }).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let limits = DocumentLimits { max_bytes: 1024, timeout: Duration::from_secs(20) };
    for expected in &TWELVE {
        let mut session =
            Setup::default().trusting(&ca).only(expected.id).sessions(&pool_of(&[&proxy])).open(arizona());
        origin.script([Reply::json("{}").with("set-cookie", "a=1; Path=/").with("set-cookie", "b=2; Path=/")]);
        for cookies in [&[] as &[&str], &["a=1", "b=2"]] {
            session.document(&document(kind, "https"), limits).await.unwrap();
            let seen = origin.seen().pop().unwrap();
            let kind_name = if kind == RequestKind::Image { "image" } else { "get" };
            let fields = expected.fields_of(&DOCUMENT_ORDERS, kind_name, protocol, "https", cookies);
            assert_eq!(comparable(seen, protocol), fields, "{} {kind:?} {protocol} {cookies:?}", expected.id);
        }
    }
}

#[test]
fn an_image_of_another_site_names_the_origin_of_its_page_and_the_widest_site_of_its_redirects() {
    let identities = Identities::load(None).unwrap();
    let identity = Identity::browser(identities.all()[0].clone(), States::load(None).unwrap().of(None));
    let image =
        |url: &str| Request::new(RequestKind::Image, url.parse().unwrap(), "https://menu.test/a?b".parse().unwrap());
    let value = |request: &Request, name: &str| {
        let fields = headers::ordered(&identity, Protocol::Http2, request, &[]).fields;
        fields.into_iter().find(|(field, _)| field == name).map(|(_, value)| value)
    };
    let elsewhere = image("https://images.other.test/1");
    assert_eq!(value(&elsewhere, "sec-fetch-site").as_deref(), Some("cross-site"));
    assert_eq!(value(&elsewhere, "referer").as_deref(), Some("https://menu.test/"));
    assert_eq!(value(&elsewhere, "origin"), None);
    assert_eq!(value(&image("https://images.menu.test/1"), "sec-fetch-site").as_deref(), Some("same-site"));
    let back = elsewhere.redirected_to("https://menu.test/1".parse().unwrap());
    assert_eq!(value(&back, "sec-fetch-site").as_deref(), Some("cross-site"));
}

#[test]
fn the_goldens_cover_every_shipped_fingerprint() {
    let shipped: Vec<_> = Identities::load(None).unwrap().all().iter().map(|entry| entry.id.clone()).collect();
    assert_eq!(shipped, TWELVE.map(|expected| expected.id));
}

fn arizona() -> SessionAsk {
    SessionAsk { state: Some("AZ".to_owned()), ..SessionAsk::default() }
}

/// One request with an empty jar, one with two cookies in it, in the same session.
async fn assert_profile(
    session: &mut Session,
    origin: &Origin,
    expected: &Expected,
    kind: RequestKind,
    protocol: Protocol,
    scheme: &str,
) {
    origin.script([Reply::json("{}").with("set-cookie", "a=1; Path=/").with("set-cookie", "b=2; Path=/")]);
    for cookies in [&[] as &[&str], &["a=1", "b=2"]] {
        session.send(&request(kind, scheme), &content).await.unwrap();
        let seen = origin.seen().pop().unwrap();
        let fields = expected.fields(kind, protocol, scheme, cookies);
        assert_eq!(comparable(seen, protocol), fields, "{} {kind:?} {protocol} {cookies:?}", expected.id);
    }
}

/// HTTP/1.1 names count without regard to case: the HTTP library spells them all in title case.
fn comparable(seen: ReceivedRequest, protocol: Protocol) -> Vec<(String, String)> {
    let name = |name: String| if protocol == Protocol::Http1 { name.to_ascii_lowercase() } else { name };
    seen.fields.into_iter().map(|(field, value)| (name(field), value)).collect()
}

impl Expected {
    fn fields(&self, kind: RequestKind, protocol: Protocol, scheme: &str, cookies: &[&str]) -> Vec<(String, String)> {
        let kind = if kind == RequestKind::FetchWithBody { "post" } else { "get" };
        self.fields_of(&ORDERS, kind, protocol, scheme, cookies)
    }

    fn fields_of(
        &self,
        orders: &[(&str, &str, &str, &str)],
        kind: &str,
        protocol: Protocol,
        scheme: &str,
        cookies: &[&str],
    ) -> Vec<(String, String)> {
        let protocol = protocol.to_string();
        let fits = |(order, of_kind, on, _): &&(&str, &str, &str, &str)| {
            *order == self.order && [kind, "any"].contains(of_kind) && [protocol.as_str(), "any"].contains(on)
        };
        let (.., names) = orders.iter().find(fits).unwrap();
        let mut fields = Vec::new();
        for word in names.split(' ') {
            let only_on = if word.ends_with('¹') {
                "h1"
            } else if word.ends_with('²') {
                "h2"
            } else {
                &*protocol
            };
            if only_on == protocol {
                let name = word.trim_matches(['[', ']', '¹', '²']).to_ascii_lowercase();
                fields.extend(
                    self.values(&name, kind, &protocol, scheme, cookies).into_iter().map(|v| (name.clone(), v)),
                );
            }
        }
        fields
    }

    fn values(&self, name: &str, kind: &str, protocol: &str, scheme: &str, cookies: &[&str]) -> Vec<String> {
        let one = |value: &str| vec![value.to_owned()];
        let when_post = |value: String| if kind == "post" { vec![value] } else { Vec::new() };
        match name {
            "host" => one(HOST),
            "connection" => one("keep-alive"),
            "user-agent" => one(self.user_agent),
            "accept" if kind == "image" => one(self.image_accept),
            "accept" => one("*/*"),
            "accept-encoding" => one(self.accept_encoding),
            "accept-language" => one(self.accept_language),
            "sec-ch-ua" => one(self.hints.unwrap().0),
            "sec-ch-ua-platform" => one(self.hints.unwrap().1),
            "sec-ch-ua-mobile" => one("?0"),
            "sec-fetch-site" => one("same-origin"),
            "sec-fetch-mode" => one(if kind == "image" { "no-cors" } else { "cors" }),
            "sec-fetch-dest" => one(if kind == "image" { "image" } else { "empty" }),
            "priority" => one(if kind == "image" { self.image_priority } else { self.priority }),
            "te" => one("trailers"),
            "referer" => one(&format!("{scheme}://menu.test/dispensary/green-door?x=1")),
            "content-type" => one("application/json"),
            "apollographql-client-name" => one("Marketplace (production)"),
            "apollo-require-preflight" => one("true"),
            "x-apollo-operation-name" => one("FilteredProducts"),
            "content-length" => when_post("15".to_owned()),
            "origin" => when_post(format!("{scheme}://menu.test")),
            "cookie" if protocol == "h2" && self.cookie_crumbs => cookies.iter().map(|&pair| pair.to_owned()).collect(),
            "cookie" if cookies.is_empty() => Vec::new(),
            "cookie" => one(&cookies.join("; ")),
            other => panic!("no expectation for {other}"),
        }
    }
}
