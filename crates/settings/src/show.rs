//! The effective configuration as a list for people and programs: key, value, origin, with secrets masked.

use config::{Value, ValueKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::DatabaseUrl;

/// One key of the effective configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Setting {
    pub key: String,
    pub value: serde_json::Value,
    /// The file, variable or flag that set it.
    pub origin: String,
}

/// Keys of type [`Secret`](super::Secret), beside the platforms' keys.
const SECRETS: [&str; 7] = [
    "client.token",
    "images.signing_key",
    "secrets.key",
    "secrets.previous_keys",
    "storage.access_key_id",
    "storage.account_key",
    "storage.secret_access_key",
];

pub fn is_secret(key: &str) -> bool {
    SECRETS.contains(&key) || (key.starts_with("platform.") && key.ends_with(".key"))
}

impl Setting {
    /// Whether a file has set it, and no variable or flag.
    pub fn is_of_a_file(&self) -> bool {
        self.origin.trim_end_matches(" (built in)").ends_with(".toml")
    }
}

/// Every leaf of the merged configuration, sorted by key.
pub fn settings(merged: &config::Config) -> Vec<Setting> {
    let mut found = Vec::new();
    walk("", &merged.cache, &mut found);
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found
}

fn walk(key: &str, value: &Value, found: &mut Vec<Setting>) {
    if let ValueKind::Table(table) = &value.kind {
        for (name, inner) in table {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            walk(&key, inner, found);
        }
        return;
    }
    let origin = value.origin().unwrap_or_default().to_owned();
    found.push(Setting { key: key.to_owned(), value: shown(key, value), origin });
}

fn shown(key: &str, value: &Value) -> serde_json::Value {
    match &value.kind {
        ValueKind::String(url) if key == "database.url" => DatabaseUrl::masked(url).into(),
        ValueKind::String(text) if text.is_empty() => "".into(),
        ValueKind::String(_) if is_secret(key) => "***".into(),
        ValueKind::String(text) => text.clone().into(),
        ValueKind::I64(number) => (*number).into(),
        ValueKind::Float(number) => (*number).into(),
        ValueKind::Boolean(flag) => (*flag).into(),
        ValueKind::Array(items) => items.iter().map(|item| shown(key, item)).collect(),
        _ => serde_json::Value::Null,
    }
}
