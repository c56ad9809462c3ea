//! The meaning of Dutchie's answers about stores: data, a stale hash, errors (with or without data), or nothing to be
//! read. Statuses, challenge pages and proxies have been judged before.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::platforms::answer_errors::{truncated, unreadable};
use crate::platforms::graphql;
use crate::platforms::reading::errors::{self, Cost};
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::text::text;
use crate::stealth::{FetchError, Response};
use domain::store::FoundStore;

/// Maximum number of stores in one answer: a state has hundreds.
const MAX_STORES: usize = 5000;

/// Reads the stores of an answer by `read`; there may be none. A store of which a field failed is read without it.
pub fn read_stores(
    operation: &str,
    response: &Response,
    read: impl Fn(&Value) -> Option<FoundStore>,
) -> Result<Vec<FoundStore>, FetchError> {
    let Some(text) = text(&response.body) else { return Err(truncated(response)) };
    let answer: StoresAnswer<'_> = match serde_json::from_str(&text) {
        Ok(answer) => answer,
        Err(error) if error.is_eof() => return Err(truncated(response)),
        Err(error) => return response.require_success().and(Err(unreadable(response, error.to_string()))),
    };
    let cost = errors::cost(answer.errors, &["filteredDispensaries"]);
    if cost == Cost::Answer {
        return Err(graphql::errors(operation, response, false));
    }
    response.require_success()?;
    let found = answer.data.and_then(|data| data.filtered_dispensaries);
    let FirstOf { kept, dropped } =
        found.ok_or_else(|| unreadable(response, "no filteredDispensaries in it".to_owned()))?;
    if dropped > 0 {
        return Err(unreadable(response, format!("more than {MAX_STORES} stores")));
    }
    let stores: Vec<Option<FoundStore>> = kept.into_iter().map(|store| read(&graphql::small_value(store)?)).collect();
    // a store that is left out would be taken for one that has vanished
    if let Cost::Elements(indices) = cost
        && !indices.into_iter().all(|index| stores.get(index).is_some_and(Option::is_some))
    {
        return Err(graphql::errors(operation, response, false));
    }
    Ok(stores.into_iter().flatten().collect())
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct StoresAnswer<'a> {
    data: Option<StoresData<'a>>,
    errors: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoresData<'a> {
    #[serde(borrow)]
    filtered_dispensaries: Option<FirstOf<'a, MAX_STORES>>,
}
