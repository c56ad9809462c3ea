//! Errors of answers that mean the same on every platform.

use std::collections::HashMap;

use crate::stealth::{FetchError, Response};

/// Maximum length of a server's message in an error.
pub const MAX_MESSAGE_CHARS: usize = 200;

/// Counted against no proxy and tried again.
pub fn truncated(response: &Response) -> FetchError {
    FetchError::Http { host: response.host.clone(), reason: "the answer is cut off".to_owned() }
}

pub fn unreadable(response: &Response, why: String) -> FetchError {
    FetchError::Decode { host: response.host.clone(), reason: why }
}

/// Counted against no proxy, tried again, never kept: another store's answer, from a cache or a filter that
/// was ignored.
pub fn wrong_store(response: &Response, asked: &str, answered: &str) -> FetchError {
    let reason = format!("wrong_store: it was asked for {asked} and answered about {answered}");
    FetchError::Http { host: response.host.clone(), reason }
}

/// The store that most of the others are of, where fewer than half of the products that name a store name the one that was
/// asked for.
pub fn other_store<'s>(stores: &'s HashMap<String, usize>, asked: &str) -> Option<&'s str> {
    let ours = stores.get(asked).copied().unwrap_or_default();
    if ours * 2 >= stores.values().sum() {
        return None;
    }
    let others = stores.iter().filter(|(store, _)| *store != asked);
    others.max_by_key(|(_, count)| **count).map(|(store, _)| store.as_str())
}
