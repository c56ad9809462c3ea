//! The common part of REST servers: requests whose address says all, lists that come page by page, and their answers: a refused
//! question, a truncated answer, a small document.
//!
//! In: an answer that the session accepted. Out: its document, or the [`FetchError`] that it means. It must not know a platform's
//! data.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::answer_errors::{MAX_MESSAGE_CHARS, truncated, unreadable};
use super::page_read::PageRead;
use super::reading::text::text;
use super::{DiscoveryPoint, Query};
use crate::stealth::{FetchError, Request, RequestKind, Response};
use domain::menu::NormaliseError;

/// Statuses of a question that the server does not take.
const REFUSALS: [u16; 2] = [400, 422];
/// Maximum size of a document other than a menu: a hundred stores take less than a megabyte.
const MAX_DOCUMENT_BYTES: usize = 4 << 20;

/// Maximum number of times that a list is begun again because elements went while its pages were read.
const MAX_RESTARTS: u32 = 2;

/// Position in a list that comes page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Number of the page, from 1.
    pub page: u32,
    /// Number of the elements on the pages before.
    pub skip: usize,
    /// Number of elements that the first page announced.
    total: Option<usize>,
    /// Number of times that the list was begun again.
    restarts: u32,
}

impl Position {
    pub const FIRST: Position = Position { page: 1, skip: 0, total: None, restarts: 0 };

    /// The next page; none behind an empty one, and where as many have come as were announced: a server may send fewer per page
    /// than it was asked for. The first page again where elements went meanwhile.
    pub fn after(self, received: usize, total: Option<usize>) -> Option<Position> {
        if self.has_shrunk(total) {
            return Some(Position { restarts: self.restarts + 1, ..Position::FIRST });
        }
        let skip = self.skip + received;
        let is_last = received == 0 || total.is_some_and(|total| skip >= total);
        (!is_last).then_some(Position { page: self.page + 1, skip, total: self.total.or(total), ..self })
    }

    /// Whether elements went while the pages were read: those behind them moved up, past the pages that are still to be read.
    fn has_shrunk(self, total: Option<usize>) -> bool {
        self.restarts < MAX_RESTARTS && total.zip(self.total).is_some_and(|(now, at_first)| now < at_first)
    }
}

/// Position of a search for the stores around a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoresCursor {
    /// Latitude, longitude, miles.
    pub around: [f64; 3],
    pub position: Position,
}

impl StoresCursor {
    pub fn first(point: &DiscoveryPoint) -> StoresCursor {
        StoresCursor { around: [point.latitude, point.longitude, point.miles], position: Position::FIRST }
    }

    /// The next page; `total`: the number of stores, as the answer states it.
    pub fn after(self, received: usize, total: &Value) -> Option<StoresCursor> {
        let total = total.as_u64().map(|total| total as usize);
        self.position.after(received, total).map(|position| StoresCursor { position, ..self })
    }
}

/// An address of the server.
pub fn address(base: &Url, path: &str, query: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(Some(query).filter(|query| !query.is_empty()));
    url.set_fragment(None);
    url
}

/// A question whose address says all.
pub fn query(operation: &'static str, endpoint: Url, referer: Url, cursor: Value) -> Query {
    Query { operation, endpoint, referer, parameters: String::new(), cursor }
}

/// A GET of the query's address, with headers for which no browser sends a preflight.
pub fn get(query: &Query) -> Request {
    let script_headers = vec![("accept", "application/json".to_owned())];
    Request { script_headers, ..Request::new(RequestKind::Fetch, query.endpoint.clone(), query.referer.clone()) }
}

/// The error of a menu that is not there: its store was renamed or closed.
pub fn no_menu(query: &Query) -> FetchError {
    let what = format!("no store at {}: correct its address with `drover stores edit`", query.referer);
    FetchError::NotFound { what }
}

/// Whether the server has nothing at that address.
pub fn is_not_found(response: &Response) -> bool {
    response.status == StatusCode::NOT_FOUND
}

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

/// A list of a document; `name` is its name in errors.
pub fn list<'d>(list: &'d Value, name: &str, response: &Response) -> Result<&'d [Value], FetchError> {
    list.as_array().map(Vec::as_slice).ok_or_else(|| unreadable(response, format!("no {name} in it")))
}

/// The page of a menu in an answer, as `read` reads it.
pub fn menu_page(
    query: &Query,
    response: &Response,
    read: impl FnOnce(&[u8]) -> Result<PageRead, NormaliseError>,
) -> Result<PageRead, FetchError> {
    require_success(query.operation, response)?;
    read(&response.body).map_err(|error| match error {
        NormaliseError::Truncated { .. } => truncated(response),
        other => unreadable(response, other.to_string()),
    })
}

fn require_success(operation: &str, response: &Response) -> Result<(), FetchError> {
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::whole_pages(&[(50, 120), (50, 120), (20, 120)], &[(1, 0), (2, 50), (3, 100)])]
    #[case::smaller_than_asked_for(&[(40, 70), (30, 70)], &[(1, 0), (2, 40)])]
    #[case::an_empty_one(&[(50, 120), (0, 120)], &[(1, 0), (2, 50)])]
    #[case::a_list_that_grows(&[(50, 90), (50, 101), (1, 101)], &[(1, 0), (2, 50), (3, 100)])]
    #[case::a_list_that_shrinks(&[(50, 80), (29, 79), (50, 79), (29, 79)], &[(1, 0), (2, 50), (1, 0), (2, 50)])]
    #[case::a_list_that_shrinks_on_and_on(
        &[(5, 9), (4, 8), (5, 8), (3, 7), (5, 7), (2, 6)],
        &[(1, 0), (2, 5), (1, 0), (2, 5), (1, 0), (2, 5)]
    )]
    fn pages_are_followed(#[case] answers: &[(usize, usize)], #[case] asked: &[(u32, usize)]) {
        let mut next = Some(Position::FIRST);
        let mut positions = Vec::new();
        for (received, total) in answers {
            let position = next.unwrap();
            positions.push((position.page, position.skip));
            next = position.after(*received, Some(*total));
        }
        assert_eq!((positions.as_slice(), next), (asked, None));
    }
}
