//! One GET to the site, with secrets or without.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use public_http::{Get, Http, Secrets};
use sim::media::{MediaPlan, MediaSite};
use url::Url;

const MAX_BODY: usize = 1 << 20;

pub async fn start() -> MediaSite {
    MediaSite::start(MediaPlan::default()).await.unwrap()
}

pub fn base(site: &MediaSite) -> Url {
    site.url().parse().unwrap()
}

/// Headers for the origin of that address.
pub fn secrets(url: &Url, headers: &[(&'static str, &str)]) -> Secrets {
    let header =
        |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    Secrets { origin: url.origin(), headers: headers.iter().map(header).collect::<HeaderMap>() }
}

pub fn member() -> String {
    format!("Basic {}", BASE64_STANDARD.encode("member:easynews-password"))
}

/// Status, headers and body.
pub async fn ask(url: Url, secrets: Option<Secrets>) -> (StatusCode, HeaderMap, Vec<u8>) {
    let answer = Http::new(true).unwrap().get(&Get { secrets, ..Get::of(url) }).await.unwrap();
    let (status, headers) = (answer.status, answer.headers.clone());
    (status, headers, answer.bytes(MAX_BODY).await.unwrap().to_vec())
}

/// The body of a good answer.
pub async fn body(url: Url, secrets: Option<Secrets>) -> Vec<u8> {
    let (status, _, body) = ask(url, secrets).await;
    assert_eq!(status, StatusCode::OK);
    body
}
