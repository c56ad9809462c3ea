//! Requests of an attacker who wants to break the API, or to read foreign data: each attack with the status
//! that answers it.
//!
//! The tables go over every operation of the description, so that a new one is attacked too.

mod authentication;
mod browsers;
mod json;
pub mod leaks;
mod limits;
mod parameters;
mod protocol;
mod races;
mod sockets;
pub mod wire;

use std::time::Duration;

use geo::Geo;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;

use super::openapi::{Operation, operations, resolved};
use super::server::{Answer, Server, open, send};
use testkit::until;

const SOON: Duration = Duration::from_secs(60);
/// Number of concurrent requests, which a test sends in no order: more than the pool has connections, and few enough that
/// none waits for one too long on a busy machine.
const AT_ONCE: usize = 3;

/// A server that asks for tokens, and the token of an admin.
struct Target {
    server: Server,
    admin: String,
}

impl Target {
    async fn start() -> Target {
        Target::with_geo(Geo::default()).await
    }

    async fn with_geo(geo: Geo) -> Target {
        let server = Server::start_with(
            |config| {
                config.requests_per_minute = 0;
                config.max_body_bytes = 1 << 20;
            },
            geo,
        )
        .await;
        // an attack on a token by its number must not hit the admin's
        let numbers = "ALTER TABLE api_tokens ALTER COLUMN id RESTART WITH 1000000";
        server.database.raw.batch_execute(numbers).await.unwrap();
        let admin = server.token("admin").await;
        until("the server asks for a token", SOON, async || server.get("/api/tasks").await.status == 401).await;
        Target { server, admin }
    }

    /// A request of the admin.
    fn request(&self, method: &Method, target: &str) -> http::request::Builder {
        self.server.request(method.clone(), target).header("authorization", format!("Bearer {}", self.admin))
    }

    async fn json(&self, method: &Method, target: &str, body: impl Into<Bytes>) -> Answer {
        let request = self.request(method, target).header("content-type", "application/json");
        self.send(request.body(Full::from(body.into())).unwrap()).await
    }

    async fn get(&self, target: &str) -> Answer {
        self.send(self.request(&Method::GET, target).body(Full::default()).unwrap()).await
    }

    /// Sends a request; the body of an endless answer is not read.
    async fn send(&self, request: http::Request<Full<Bytes>>) -> Answer {
        if request.uri().path() != "/api/events" {
            return send(self.server.address, request).await;
        }
        let (head, body) = open(self.server.address, request).await.into_parts();
        let body = if head.status == 200 { Bytes::new() } else { body.collect().await.unwrap().to_bytes() };
        Answer { status: head.status, headers: head.headers, body }
    }

    async fn count(&self, table: &str) -> i64 {
        self.server.database.raw.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0)
    }
}

/// Keeps browsers from misusing an answer.
#[track_caller]
fn assert_safe_headers(what: &str, headers: &HeaderMap) {
    for (name, wanted) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ] {
        assert_eq!(headers.get(name).map(|value| value.to_str().unwrap()), Some(wanted), "{what}: {name}");
    }
    let cached = headers.get("cache-control").expect(what).to_str().unwrap();
    assert!(cached.contains("no-store") || cached.contains("immutable"), "{what}: {cached}");
    assert_eq!(headers.get("x-request-id").expect(what).len(), 16, "{what}");
    let closed = headers.keys().all(|name| !name.as_str().starts_with("access-control-"));
    assert!(closed && !headers.contains_key("server") && !headers.contains_key("x-powered-by"), "{what}: {headers:?}");
}
