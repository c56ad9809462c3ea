//! The common part of GraphQL servers' answers: errors beside or in place of data, an unknown query, a
//! truncated answer.
//!
//! In: an answer that the session accepted. Out: the [`FetchError`] that it means. It must not know a
//! platform's data.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer_errors::{MAX_MESSAGE_CHARS, truncated, unreadable};
use super::reading::first_of::FirstOf;
use super::reading::half_character::with_whole_characters;
use crate::stealth::{FetchError, Response};
use domain::menu::NormaliseError;

/// How a server says that it does not know a hash, as a code or as a message.
const STALE: [&str; 4] = [
    "PERSISTED_QUERY_NOT_FOUND",
    "PersistedQueryNotFound",
    "PERSISTED_QUERY_NOT_SUPPORTED",
    "PersistedQueryNotSupported",
];
const UNAUTHENTICATED: [&str; 2] = ["UNAUTHENTICATED", "FORBIDDEN"];
/// Maximum number of errors of one answer that are looked at.
const MAX_ERRORS: usize = 20;
/// An error or another small object takes a few kilobytes; parsed it takes many times its text.
const MAX_VALUE_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
struct Errors<'a> {
    #[serde(borrow)]
    errors: FirstOf<'a, MAX_ERRORS>,
}

/// The error of an answer that carries `errors`. `has_key`: the request had a key, which the server may refuse; without one,
/// such words refuse this request alone.
pub fn errors(operation: &str, response: &Response, has_key: bool) -> FetchError {
    let errors = serde_json::from_slice(&response.body).map_or(Vec::new(), |answer: Errors<'_>| answer.errors.kept);
    let errors: Vec<Value> = errors.into_iter().filter_map(small_value).collect();
    let operation = operation.to_owned();
    if errors.iter().any(|error| says(error, &STALE)) {
        return FetchError::UnknownQuery { operation, host: response.host.clone() };
    }
    if has_key && errors.iter().any(|error| says(error, &UNAUTHENTICATED)) {
        return FetchError::KeyRefused { host: response.host.clone() };
    }
    let message = errors.iter().find_map(|error| error["message"].as_str()).unwrap_or("no message");
    FetchError::Rejected { operation, message: message.chars().take(MAX_MESSAGE_CHARS).collect() }
}

/// The error of an answer that is not a menu; `has_key` as in [`errors`].
pub fn menu_error(operation: &str, response: &Response, error: NormaliseError, has_key: bool) -> FetchError {
    match error {
        NormaliseError::HasErrors { .. } => errors(operation, response, has_key),
        NormaliseError::Truncated { .. } => truncated(response),
        NormaliseError::NotAMenu { why, .. } => {
            response.require_success().err().unwrap_or_else(|| unreadable(response, why))
        }
        error @ NormaliseError::TooLarge => unreadable(response, error.to_string()),
    }
}

fn says(error: &Value, words: &[&str]) -> bool {
    let said = [&error["extensions"]["code"], &error["message"]];
    said.into_iter().filter_map(Value::as_str).any(|word| words.contains(&word))
}

/// None when it is too large to be the expected value.
pub fn small_value(raw: &RawValue) -> Option<Value> {
    if raw.get().len() > MAX_VALUE_BYTES {
        return None;
    }
    serde_json::from_str(raw.get()).or_else(|_| serde_json::from_str(&with_whole_characters(raw.get()))).ok()
}
