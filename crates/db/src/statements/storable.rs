//! Texts and documents of strangers as the database can keep them. Pure.

use serde_json::Value;

/// Maximum bytes of a reason that is kept in a row.
const MAX_REASON: usize = 2_000;

/// Upstream's answers may hold zero bytes, in keys too; jsonb cannot.
pub(crate) fn storable(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "")),
        Value::Array(items) => items.iter().map(storable).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.replace('\0', ""), storable(value))).collect(),
        other => other.clone(),
    }
}

/// A reason for people, which may repeat what a stranger's server said.
pub(crate) fn reason(text: &str) -> String {
    let mut text = text.replace('\0', "");
    text.truncate(text.floor_char_boundary(MAX_REASON));
    text
}
