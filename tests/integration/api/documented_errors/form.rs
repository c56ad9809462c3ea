//! Whether an answer has the form that its description gives it.

use serde_json::Value;

use super::super::openapi::resolved;

/// Asserts that a document has the form of its schema, as far as the schemas of errors go.
#[track_caller]
pub fn assert_form(what: &str, document: &Value, schema: &Value, value: &Value) {
    let schema = resolved(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        assert_form(what, document, part, value);
    }
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    assert!(kinds.iter().any(|kind| is_of(kind, value)), "{what}: {value} is not of {kinds:?}");
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{what} lacks {name}: {value}");
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(field) = value.get(name) {
            assert_form(&format!("{what}, {name}"), document, schema, field);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        assert_form(what, document, &schema["items"], item);
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some(other) => panic!("no schema of an error has {other}"),
    }
}
