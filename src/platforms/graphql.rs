//! The common part of GraphQL servers: the body of a question, and their answers: errors beside or in place of data, an
//! unknown query, a truncated answer.
//!
//! In: a query, or an answer that the session accepted. Out: a body, or the [`FetchError`] that the answer means. It must not know
//! a platform's data.

use bytes::Bytes;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Query;
use super::answer_errors::{MAX_MESSAGE_CHARS, truncated, unreadable};
use super::page_read::PageRead;
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

/// The body of a question with the whole text of its query, in the order of GraphQL clients.
pub fn body(query: &Query, text: &str) -> Bytes {
    let body = Body { operation_name: query.operation, variables: &query.parameters, query: text };
    // strings and JSON that an adapter wrote: there is nothing that cannot be written
    Bytes::from(serde_json::to_vec(&body).unwrap_or_default())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    operation_name: &'a str,
    #[serde(serialize_with = "as_raw_json")]
    variables: &'a str,
    query: &'a str,
}

fn as_raw_json<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::from_str::<&RawValue>(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

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

/// The page of a menu that was read from an answer; `has_key` as in [`errors`].
pub fn menu_page(
    operation: &str,
    response: &Response,
    read: Result<PageRead, NormaliseError>,
    has_key: bool,
) -> Result<PageRead, FetchError> {
    match read {
        Ok(page) => response.require_success().map(|()| page),
        Err(NormaliseError::HasErrors { .. }) => Err(errors(operation, response, has_key)),
        Err(NormaliseError::Truncated { .. }) => Err(truncated(response)),
        Err(NormaliseError::NotAMenu { why, .. }) => response.require_success().and(Err(unreadable(response, why))),
        Err(error @ NormaliseError::TooLarge) => Err(unreadable(response, error.to_string())),
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
