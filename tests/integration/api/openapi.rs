//! The description of the API: what is served is what stands in `docs/openapi.json`, and each operation asks for what it says.

use std::collections::BTreeMap;

use drover::api::openapi;
use http::Method;
use serde_json::Value;

use super::server::Server;

const ROLES: [&str; 4] = ["consumer", "viewer", "operator", "admin"];

pub struct Operation {
    pub method: Method,
    pub path: String,
    pub description: Value,
}

/// In the order of the document.
pub fn operations() -> Vec<Operation> {
    let document = openapi::document();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, description) in item.as_object().unwrap() {
            let method = method.to_uppercase().parse().unwrap();
            all.push(Operation { method, path: path.clone(), description: description.clone() });
        }
    }
    all
}

#[test]
fn the_committed_description_is_the_served_one() {
    let committed = include_str!("../../../docs/openapi.json");
    let served = serde_json::to_string_pretty(&openapi::document()).unwrap();
    assert!(committed.trim() == served, "renew it: cargo run -- openapi > docs/openapi.json");
}

/// They change nothing that a person would look for in the audit.
const UNAUDITED: [&str; 2] = ["/api/session", "/api/worker-registry/heartbeat"];

#[test]
fn every_operation_says_what_it_does_and_refuses() {
    for Operation { method, path, description } in operations() {
        let name = format!("{method} {path}");
        assert!(description["summary"].as_str().is_some_and(|text| text.ends_with('.')), "{name} has no summary");
        assert!(description["tags"][0].is_string(), "{name} has no tag");
        assert_eq!(description["security"].is_array(), description["x-access-role"] != "none", "{name}");
        let changes = method != Method::GET && !UNAUDITED.contains(&path.as_str());
        assert_eq!(description["x-audited"], changes, "{name}: what changes something is in the audit");
    }
}

#[tokio::test]
async fn an_operation_is_open_to_its_access_role_and_those_above() {
    let server = Server::with(|config| config.requests_per_minute = 0).await;
    let mut tokens = BTreeMap::new();
    for role in ROLES {
        tokens.insert(role, server.token(role).await);
    }
    for Operation { method, path, description } in operations() {
        let target = path.replace("{id}", "4711");
        let needed = description["x-access-role"].as_str().unwrap();
        let without = server.status(&method, &target, None).await;
        assert_eq!(without == 401, needed != "none", "{method} {path} without a token: {without}");
        let rank = ROLES.iter().position(|role| *role == needed);
        for (index, role) in ROLES.iter().enumerate() {
            let status = server.status(&method, &target, Some(&tokens[role])).await;
            let refused = [401, 403].contains(&status);
            assert_eq!(refused, rank.is_some_and(|rank| index < rank), "{method} {path} as {role}: {status}");
        }
    }
}
