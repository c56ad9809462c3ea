//! Fields of a small object that was parsed whole, such as a store. A field of a wrong type is absent.

use serde_json::Value;

use super::reader;
use domain::store::us_states;

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

/// The code of a US state that is written as its code or its name.
pub fn state(value: &Value) -> Option<String> {
    text(value).and_then(|state| us_states::code(&state)).map(str::to_owned)
}

/// The lines of an address in one line; none where all of them are blank.
pub fn lines(fields: [&Value; 2]) -> Option<String> {
    let lines: Vec<String> = fields.into_iter().filter_map(text).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

/// A latitude or longitude, at most `limit` from zero.
pub fn degrees(value: &Value, limit: f64) -> Option<f64> {
    value.as_f64().filter(|degrees| degrees.abs() <= limit)
}
