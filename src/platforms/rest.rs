//! The common part of REST servers' answers: a refused question, a truncated answer, a small document.
//!
//! In: an answer that the session accepted. Out: its document, or the [`FetchError`] that it means. It must not know a platform's
//! data.

use serde_json::Value;

use super::answer_errors::{MAX_MESSAGE_CHARS, truncated, unreadable};
use super::reading::text::text;
use crate::stealth::{FetchError, Response};
use domain::menu::NormaliseError;

/// Statuses of a question that the server does not take.
const REFUSALS: [u16; 2] = [400, 422];
/// Maximum size of a document other than a menu: a hundred stores take less than a megabyte.
const MAX_DOCUMENT_BYTES: usize = 4 << 20;

/// The document of an answer that is not a menu. `Rejected` with the server's words when it takes the question for a wrong one.
pub fn document(operation: &str, response: &Response) -> Result<Value, FetchError> {
    require_success(operation, response)?;
    if response.body.len() > MAX_DOCUMENT_BYTES {
        return Err(unreadable(response, format!("more than {MAX_DOCUMENT_BYTES} bytes")));
    }
    let Some(text) = text(&response.body) else { return Err(truncated(response)) };
    serde_json::from_str(&text).map_err(|error| match error.is_eof() {
        true => truncated(response),
        false => unreadable(response, error.to_string()),
    })
}

/// The error of an answer that is not a menu.
pub fn menu_error(operation: &str, response: &Response, error: NormaliseError) -> FetchError {
    let refused = require_success(operation, response).err();
    refused.unwrap_or_else(|| match error {
        NormaliseError::Truncated { .. } => truncated(response),
        other => unreadable(response, other.to_string()),
    })
}

pub fn require_success(operation: &str, response: &Response) -> Result<(), FetchError> {
    match REFUSALS.contains(&response.status.as_u16()) {
        true => Err(FetchError::Rejected { operation: operation.to_owned(), message: message(response) }),
        false => response.require_success(),
    }
}

/// `message`, or the `detail` of the first of `errors`.
fn message(response: &Response) -> String {
    let body = response.body.get(..response.body.len().min(MAX_DOCUMENT_BYTES)).unwrap_or_default();
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = said["message"].as_str().or_else(|| said["errors"][0]["detail"].as_str()).unwrap_or("no message");
    message.chars().take(MAX_MESSAGE_CHARS).collect()
}
