//! Fields of a small object that was parsed whole, such as a store. A field of a wrong type is absent.

use serde_json::Value;

use super::reader;

/// A string, or a number as its text. Trimmed; blank is absent.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => reader::clean(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// None when it is too long: part of an id or slug is another one.
pub fn key(value: &Value) -> Option<String> {
    text(value).filter(|text| reader::fits_a_key(text))
}

/// A latitude or longitude, at most `limit` from zero.
pub fn degrees(value: &Value, limit: f64) -> Option<f64> {
    value.as_f64().filter(|degrees| degrees.abs() <= limit)
}
