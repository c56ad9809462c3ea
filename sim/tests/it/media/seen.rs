//! Requests that the site saw, and the secrets in them.

use bytes::Bytes;
use http::Method;
use sim::media::{Occurrence, Origin};

use super::client::{ask, basic, get, get_with, post, start};

#[tokio::test]
async fn requests_are_seen_without_the_values_of_their_secrets() {
    let site = start().await;
    get_with(&site, "/3/person/42/combined_credits?api_key=canary&x=1", &[("cookie", "canary")]).await;
    let [seen] = site.requests().try_into().unwrap();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/3/person/42/combined_credits?api_key=…&x=1"));
    assert_eq!((seen.secrets["cookie"], seen.secrets["authorization"]), (true, false));
    assert_eq!(format!("http://{}", seen.host), site.url());
    assert!(!format!("{seen:?}").contains("canary"));
}

#[tokio::test]
async fn a_text_is_found_wherever_it_was_and_however_it_was_written() {
    let site = start().await;
    let parts = |text: &str| site.occurrences(text).into_iter().map(|seen| seen.part).collect::<Vec<_>>();
    get_with(&site, "/a?b=can%61ry%201", &[]).await;
    get_with(&site, "/a", &[("authorization", &basic("ann", "canary 2"))]).await;
    get_with(&site, "/a", &[("x-key", "canary 3")]).await;
    post(&site, "/hooks/a", &[], "{\"a\":\"canary 4\"}").await;
    assert_eq!(parts("canary 1"), ["path"]);
    assert_eq!(parts("canary 2"), ["authorization"]);
    assert_eq!(parts("canary 3"), ["x-key"]);
    assert_eq!(parts("canary 4"), ["body"]);
    assert!(parts("canary 5").is_empty());
}

#[tokio::test]
async fn an_occurrence_names_the_host_that_it_was_sent_to() {
    let site = start().await;
    let host = site.elsewhere().trim_start_matches("http://");
    let address = format!("{}/files/x", site.elsewhere());
    ask(&address, Method::GET, &[("cookie", "a=canary")], Bytes::new()).await.unwrap();
    let expected = Occurrence {
        origin: Origin::Elsewhere,
        host: host.to_owned(),
        method: Method::GET,
        path: "/files/x".to_owned(),
        part: "cookie".to_owned(),
    };
    assert_eq!(site.occurrences("canary"), [expected]);
}

#[tokio::test]
async fn the_oldest_of_thousands_of_requests_are_dropped() {
    let site = start().await;
    let body = "x".repeat(1 << 20);
    get(&site, "/first").await;
    for _ in 0..32 {
        post(&site, "/hooks/a", &[], &body).await;
    }
    assert!(site.dropped_requests() > 0);
    assert!(!site.requests().iter().any(|seen| seen.path == "/first"));
}
