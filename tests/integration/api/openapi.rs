//! The description of the API: the served one equals `docs/openapi.json`, and each operation requires the
//! access role that it states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use api::openapi;
use http::Method;
use serde_json::Value;

use super::server::{Answer, Server};

pub const ROLES: [&str; 4] = ["consumer", "viewer", "operator", "admin"];
/// Number in requests that need one.
pub const ID: i64 = 4711;
/// Path of a logo, below `/img/`.
pub const IMAGE: &str = "brands/bud-bros/logo-ae38b1f9.webp";

pub struct Operation {
    pub method: Method,
    pub path: String,
    pub description: Value,
}

impl Operation {
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Its path, with something in place of each parameter.
    pub fn target(&self) -> String {
        self.target_of(ID)
    }

    /// Its path, with this number where it needs one.
    pub fn target_of(&self, id: i64) -> String {
        let path = self.path.replace("{role}", "payload_fetch").replace("{host}", "menu.example");
        let path =
            path.replace("{path}", IMAGE).replace("{brand}", "bud-bros").replace("{group}", &format!("group-{id}"));
        let path = path.replace("{dataset}", "option_history");
        path.replace("{ip}", "192.0.2.1").replace("{id}", &id.to_string())
    }

    pub fn is_changing(&self) -> bool {
        self.method != Method::GET
    }

    pub fn takes_body(&self) -> bool {
        self.description["requestBody"].is_object()
    }

    /// The statuses of the errors that it describes.
    pub fn errors(&self) -> impl Iterator<Item = u16> {
        let statuses = self.description["responses"].as_object().unwrap().keys();
        statuses.map(|status| status.parse().unwrap()).filter(|status| *status >= 400)
    }

    pub fn has_error(&self, status: u16) -> bool {
        self.errors().any(|error| error == status)
    }

    /// Number of literal segments of its path that match this one; None where it is another's.
    fn matches(&self, path: &str) -> Option<usize> {
        let (own, given): (Vec<&str>, Vec<&str>) = (self.path.split('/').collect(), path.split('/').collect());
        let fits =
            own.len() == given.len() && own.iter().zip(&given).all(|(own, given)| own.starts_with('{') || own == given);
        fits.then(|| own.iter().filter(|own| !own.starts_with('{')).count())
    }
}

/// The schema that a `$ref` names, or the schema itself.
pub fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let named = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    named.map_or(schema, |pointer| document.pointer(pointer).unwrap())
}

/// Fails where an operation answers with an error that it does not describe.
#[track_caller]
pub fn assert_described(method: &Method, path: &str, answer: &Answer) {
    static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(operations);
    let status = answer.status.as_u16();
    if status < 400 {
        return;
    }
    let asked = OPERATIONS.iter().filter(|operation| operation.method == *method && operation.matches(path).is_some());
    let Some(operation) = asked.max_by_key(|operation| operation.matches(path)) else { return };
    // a server that lacks some routes, or has all of them below another path
    if status == 404 && answer.json()["detail"].as_str().is_some_and(|detail| detail.starts_with('/')) {
        return;
    }
    assert!(operation.has_error(status), "{} does not describe {status}: {}", operation.name(), answer.text());
}

/// Lists the operations in the order of the document.
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
    let served = serde_json::to_string_pretty(&openapi::document()).unwrap() + "\n";
    if served != include_str!("../../../docs/openapi.json") {
        let now = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi.json");
        std::fs::write(&now, &served).unwrap();
        panic!("if the difference is meant: cp {} docs/openapi.json", now.display());
    }
}

/// Operations that change nothing that a person would look for in the audit.
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

#[test]
fn every_parameter_of_a_path_is_described() {
    for Operation { method, path, description } in operations() {
        let names: BTreeSet<&str> = path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        let parameters = description["parameters"].as_array().into_iter().flatten();
        let described =
            parameters.filter(|parameter| parameter["in"] == "path" && parameter["description"].is_string());
        let described: BTreeSet<&str> = described.filter_map(|parameter| parameter["name"].as_str()).collect();
        assert_eq!(described, names, "{method} {path}");
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
