//! A plain client for one request, with a bound.

use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sha2::{Digest, Sha256};
use sim::media::{MediaPlan, MediaSite};
use tokio::net::TcpStream;

use crate::support::PATIENCE;

pub type Headers<'a> = &'a [(&'static str, &'a str)];

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Body as far as it came.
    pub body: Bytes,
    /// Whether it came to its end.
    pub is_whole: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }
}

pub async fn start() -> MediaSite {
    MediaSite::start(MediaPlan::default()).await.unwrap()
}

pub async fn get(site: &MediaSite, path: &str) -> Answer {
    get_with(site, path, &[]).await
}

pub async fn get_with(site: &MediaSite, path: &str, headers: Headers<'_>) -> Answer {
    ask(&site.address(path), Method::GET, headers, Bytes::new()).await.unwrap()
}

pub async fn post(site: &MediaSite, path: &str, headers: Headers<'_>, body: &str) -> Answer {
    ask(&site.address(path), Method::POST, headers, Bytes::from(body.to_owned())).await.unwrap()
}

pub async fn ask(url: &str, method: Method, headers: Headers<'_>, body: Bytes) -> Result<Answer> {
    tokio::time::timeout(PATIENCE, exchange(url, method, headers, body)).await?
}

async fn exchange(url: &str, method: Method, headers: Headers<'_>, body: Bytes) -> Result<Answer> {
    let rest = url.trim_start_matches("http://");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let stream = TcpStream::connect(host).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(format!("/{path}")).header("host", host);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, mut body) = sender.send_request(request.body(Full::new(body))?).await?.into_parts();
    let (mut bytes, mut is_whole) = (BytesMut::new(), true);
    while let Some(frame) = body.frame().await {
        match frame.map(|frame| frame.into_data()) {
            Ok(Ok(data)) => bytes.extend_from_slice(&data),
            Ok(Err(_)) => {}
            Err(_) => {
                is_whole = false;
                break;
            }
        }
    }
    Ok(Answer { status: parts.status, headers: parts.headers, body: bytes.freeze(), is_whole })
}

pub fn basic(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{username}:{password}")))
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
