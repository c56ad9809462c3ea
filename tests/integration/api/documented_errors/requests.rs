//! Requests of a token's holder with the usual body of each operation, and their answers.

use foundation::digest::sha256_hex;
use http::request::Builder;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;

use super::super::attack::wire::{Wire, WireAnswer};
use super::super::openapi::{Operation, ROLES};
use super::super::server::{Answer, Server, open};
use super::cases::BODIES;

/// One for each access role, named like it.
pub async fn make_tokens(server: &Server) {
    for role in ROLES {
        let make = "INSERT INTO api_tokens (name, role, digest) VALUES ($1, $1, $2)";
        server.database.raw.execute(make, &[&role, &sha256_hex(secret(role))]).await.unwrap();
    }
}

pub fn secret(role: &str) -> String {
    format!("the token of {role}")
}

/// A request of the holder of a token.
pub fn request_by(role: &str, server: &Server, operation: &Operation, target: &str) -> Builder {
    let token = format!("Bearer {}", secret(role));
    server.request(operation.method.clone(), target).header("authorization", token)
}

/// Sends a request with the usual body of its operation.
pub async fn send(server: &Server, operation: &Operation, request: Builder) -> Answer {
    send_with(server, request, usual_body(operation)).await
}

/// Reads the bodies of errors alone: another answer may be endless.
pub async fn send_with(server: &Server, request: Builder, body: &str) -> Answer {
    let request = request.body(Full::from(body.to_owned())).unwrap();
    let (head, body) = open(server.address, request).await.into_parts();
    let is_error = head.status.as_u16() >= 400;
    let body = if is_error { body.collect().await.unwrap().to_bytes() } else { Bytes::new() };
    Answer { status: head.status, headers: head.headers, body }
}

/// The answer to a request of whose body nothing comes but its length.
pub async fn announced(server: &Server, operation: &Operation, bytes: usize) -> Answer {
    let (method, target, address) = (&operation.method, operation.target(), server.address);
    let head = format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {bytes}\r\n\r\n");
    let answer = Wire::with(address, head).await.answer().await.unwrap();
    let mut headers = http::HeaderMap::new();
    headers.insert("content-type", answer.field("content-type").unwrap().parse().unwrap());
    let WireAnswer { status, body, .. } = answer;
    Answer { status: status.try_into().unwrap(), headers, body: body.into() }
}

fn usual_body(operation: &Operation) -> &'static str {
    if !operation.takes_body() {
        return "";
    }
    let name = operation.name();
    BODIES.iter().find(|(of, _)| *of == name).unwrap_or_else(|| panic!("{name} has no body among those of this test")).1
}
