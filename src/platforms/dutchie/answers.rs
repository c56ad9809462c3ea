//! What Dutchie's answers mean: data, a stale hash, errors (with or without data), or nothing to be read. Statuses, challenge pages
//! and proxies have been judged before.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::normalize::first_of::FirstOf;
use super::normalize::{self, PageRead};
use crate::domain::menu::NormaliseError;
use crate::domain::store::FoundStore;
use crate::stealth::{FetchError, Response};

/// How the platform says that it does not know a hash, as a code or as a message.
const STALE: [&str; 4] = [
    "PERSISTED_QUERY_NOT_FOUND",
    "PersistedQueryNotFound",
    "PERSISTED_QUERY_NOT_SUPPORTED",
    "PersistedQueryNotSupported",
];
const MAX_MESSAGE_CHARS: usize = 200;
/// Errors of one answer that are looked at.
const MAX_ERRORS: usize = 20;
/// Stores of one answer: a state has hundreds.
const MAX_STORES: usize = 5000;
/// A store or an error takes a few kilobytes; parsed it takes many times its text.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Reads the page of that number of a menu.
pub fn read_menu_page(
    operation: &str,
    response: &Response,
    number: usize,
    max_items: usize,
) -> Result<PageRead, FetchError> {
    match normalize::read_page(number, &response.body, max_items) {
        Ok(page) => response.require_success().map(|()| page),
        Err(NormaliseError::HasErrors { .. }) => Err(graphql_error(operation, response)),
        Err(NormaliseError::Truncated { .. }) => Err(truncated(response)),
        Err(NormaliseError::NotAMenu { why, .. }) => response.require_success().and(Err(unreadable(response, why))),
        Err(error @ NormaliseError::TooLarge) => Err(unreadable(response, error.to_string())),
    }
}

/// Reads the stores of an answer by `read`; there may be none.
pub fn read_stores(
    operation: &str,
    response: &Response,
    read: impl Fn(&Value) -> Option<FoundStore>,
) -> Result<Vec<FoundStore>, FetchError> {
    let answer: StoresAnswer<'_> = match serde_json::from_slice(&response.body) {
        Ok(answer) => answer,
        Err(error) if error.is_eof() => return Err(truncated(response)),
        Err(error) => return response.require_success().and(Err(unreadable(response, error.to_string()))),
    };
    if normalize::has_errors(answer.errors) {
        return Err(graphql_error(operation, response));
    }
    response.require_success()?;
    let found = answer.data.and_then(|data| data.filtered_dispensaries);
    let FirstOf { kept, dropped } =
        found.ok_or_else(|| unreadable(response, "no filteredDispensaries in it".to_owned()))?;
    if dropped > 0 {
        return Err(unreadable(response, format!("more than {MAX_STORES} stores")));
    }
    Ok(kept.into_iter().filter_map(|store| read(&small_value(store)?)).collect())
}

/// None when it is too large to be what is expected.
fn small_value(raw: &RawValue) -> Option<Value> {
    if raw.get().len() > MAX_VALUE_BYTES {
        return None;
    }
    serde_json::from_str(raw.get()).ok()
}

#[derive(Deserialize)]
struct StoresAnswer<'a> {
    #[serde(borrow)]
    data: Option<StoresData<'a>>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoresData<'a> {
    #[serde(borrow)]
    filtered_dispensaries: Option<FirstOf<'a, MAX_STORES>>,
}

#[derive(Deserialize)]
struct Errors<'a> {
    #[serde(borrow)]
    errors: FirstOf<'a, MAX_ERRORS>,
}

fn graphql_error(operation: &str, response: &Response) -> FetchError {
    let errors = serde_json::from_slice(&response.body).map_or(Vec::new(), |answer: Errors<'_>| answer.errors.kept);
    let errors: Vec<Value> = errors.into_iter().filter_map(small_value).collect();
    let operation = operation.to_owned();
    if errors.iter().any(is_stale) {
        return FetchError::UnknownQuery { operation, host: response.host.clone() };
    }
    let message = errors.iter().find_map(|error| error["message"].as_str()).unwrap_or("no message");
    FetchError::Rejected { operation, message: message.chars().take(MAX_MESSAGE_CHARS).collect() }
}

fn is_stale(error: &Value) -> bool {
    let says = [&error["extensions"]["code"], &error["message"]];
    says.into_iter().filter_map(Value::as_str).any(|word| STALE.contains(&word))
}

/// Counted against no proxy and tried again.
fn truncated(response: &Response) -> FetchError {
    FetchError::Http { host: response.host.clone(), reason: "the answer is cut off".to_owned() }
}

/// Counted against no proxy, tried again, never kept: another store's answer, from a cache or a filter that was ignored.
pub fn wrong_store_error(response: &Response, asked: &str, answered: &str) -> FetchError {
    let reason = format!("wrong_store: it was asked for {asked} and answered about {answered}");
    FetchError::Http { host: response.host.clone(), reason }
}

fn unreadable(response: &Response, why: String) -> FetchError {
    FetchError::Decode { host: response.host.clone(), reason: why }
}
