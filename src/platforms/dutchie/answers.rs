//! What Dutchie's answers mean: data, a stale hash, errors (with or without data), or nothing to be read. Statuses, challenge pages
//! and proxies have been judged before.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::normalize::{self, PageSummary};
use crate::domain::product::NormaliseError;
use crate::stealth::{FetchError, Response};

/// How the platform says that it does not know a hash, as a code or as a message.
const STALE: [&str; 4] = [
    "PERSISTED_QUERY_NOT_FOUND",
    "PersistedQueryNotFound",
    "PERSISTED_QUERY_NOT_SUPPORTED",
    "PersistedQueryNotSupported",
];
const MAX_MESSAGE_CHARS: usize = 200;

/// Reads one page of a menu.
pub fn menu_page(operation: &str, response: &Response) -> Result<PageSummary, FetchError> {
    match normalize::summarise(&response.body) {
        Ok(page) => success(response).map(|()| page),
        Err(NormaliseError::HasErrors { .. }) => Err(of_errors(operation, response)),
        Err(NormaliseError::Truncated { .. }) => Err(truncated(response)),
        Err(NormaliseError::NotAMenu { why, .. }) => success(response).and(Err(unreadable(response, why))),
    }
}

/// Reads the stores of an answer; there may be none.
pub fn stores(operation: &str, response: &Response) -> Result<Vec<Value>, FetchError> {
    let answer: StoresAnswer = match serde_json::from_slice(&response.body) {
        Ok(answer) => answer,
        Err(error) if error.is_eof() => return Err(truncated(response)),
        Err(error) => return success(response).and(Err(unreadable(response, error.to_string()))),
    };
    if answer.errors.as_ref().is_some_and(|errors| errors.as_array().is_none_or(|errors| !errors.is_empty())) {
        return Err(of_errors(operation, response));
    }
    success(response)?;
    let found = answer.data.and_then(|data| data.filtered_dispensaries);
    found.ok_or_else(|| unreadable(response, "no filteredDispensaries in it".to_owned()))
}

#[derive(Deserialize)]
struct StoresAnswer {
    data: Option<StoresData>,
    errors: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoresData {
    filtered_dispensaries: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Errors {
    #[serde(default, rename = "data")]
    _data: IgnoredAny,
    errors: Value,
}

fn of_errors(operation: &str, response: &Response) -> FetchError {
    let errors = serde_json::from_slice(&response.body).map_or(Value::Null, |answer: Errors| answer.errors);
    let all = errors.as_array().map(Vec::as_slice).unwrap_or_default();
    let operation = operation.to_owned();
    if all.iter().any(is_stale) {
        return FetchError::HashStale { operation, host: response.host.clone() };
    }
    let message = all.iter().find_map(|error| error["message"].as_str()).unwrap_or("no message");
    FetchError::GraphQl { operation, message: message.chars().take(MAX_MESSAGE_CHARS).collect() }
}

fn is_stale(error: &Value) -> bool {
    let says = [&error["extensions"]["code"], &error["message"]];
    says.into_iter().filter_map(Value::as_str).any(|word| STALE.contains(&word))
}

fn success(response: &Response) -> Result<(), FetchError> {
    if response.status.is_success() {
        return Ok(());
    }
    Err(FetchError::Http { host: response.host.clone(), why: format!("status {}", response.status.as_u16()) })
}

/// Nobody's fault, and gone at the next try.
fn truncated(response: &Response) -> FetchError {
    FetchError::Http { host: response.host.clone(), why: "its answer ends in the middle".to_owned() }
}

fn unreadable(response: &Response, why: String) -> FetchError {
    FetchError::Decode { host: response.host.clone(), why }
}
