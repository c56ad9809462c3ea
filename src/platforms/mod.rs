//! What a menu platform must offer, and the one driver that crawls any of them.
//!
//! An adapter is pure: it makes requests, reads answers and normalises items. It must not know the database, files or tasks;
//! sending, rotating and pausing are the session's. In: a store. Out: a [`Menu`] of untouched answers, or found stores.

pub mod crawler;
pub mod dutchie;
pub mod hashes;

mod us_states;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;
use url::Url;

use crate::domain::dispensary::{Dispensary, DispensaryId, FoundStore, Platform};
use crate::domain::product::NormalMenu;
use crate::stealth::{FetchError, Request, Response};

pub use crate::domain::product::NormaliseError;
pub use crawler::{Crawler, Limits};
pub use dutchie::Dutchie;
pub use hashes::{HashBook, HashNote, KnownHash};

/// A menu platform.
///
/// It fits menus by page number, by cursor, by category, and stubs that are hydrated later: what comes after an answer is the
/// adapter's to say, and [`Query::cursor`] is its memory.
pub trait Adapter: Send + Sync {
    fn platform(&self) -> Platform;

    /// Asks for the store that `store`'s menu address or slug leads to. `Refused` when it has neither.
    fn entry(&self, store: &Dispensary) -> Result<Query, FetchError>;

    /// Asks for the stores around a point.
    fn around(&self, point: &DiscoveryPoint) -> Result<Query, FetchError>;

    /// Begins a store's menu. `Refused` when the store has no platform id.
    fn menu(&self, store: &Dispensary) -> Result<Query, FetchError>;

    /// Puts a query into a request. None when the platform cannot be asked that way.
    fn request(&self, query: &Query, key: Key<'_>) -> Option<Request>;

    /// Judges and reads an answer to [`Adapter::entry`] or [`Adapter::around`].
    fn read_stores(&self, query: &Query, response: &Response) -> Result<Vec<FoundStore>, FetchError>;

    /// Judges and reads an answer to [`Adapter::menu`] or to what followed from it.
    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError>;
}

/// Turns the answers of a whole crawl into products; needs nothing of an adapter but its rules. CPU work: run it by `cpu::run`.
pub fn normalise(platform: Platform, pages: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    match platform {
        Platform::Dutchie => dutchie::normalize::normalise(pages),
    }
}

/// One question to a platform, before it is known by which key it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub operation: &'static str,
    pub endpoint: Url,
    /// The page that a browser would ask from; same origin as `endpoint`.
    pub referer: Url,
    /// JSON text.
    pub variables: String,
    /// What the adapter must remember until the answer; nobody else reads it.
    pub cursor: Value,
}

/// How a query is named to the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// The hash of a persisted query.
    Hash(&'a str),
    /// By itself, whole.
    FullText,
}

/// What one answer holds of a menu, and what to ask next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MenuPart {
    /// The provider ids of its items, repetitions included. Stubs are not items yet.
    pub ids: Vec<String>,
    /// Items, readable or not.
    pub items: usize,
    /// What upstream says the whole menu holds.
    pub total_count: Option<usize>,
    /// None = the menu is at its end.
    pub next: Option<Query>,
}

/// A whole crawl of one store: the answers as they came, and what they hold together.
#[derive(Clone, Debug)]
pub struct Menu {
    pub platform: Platform,
    pub dispensary_id: DispensaryId,
    pub platform_dispensary_id: String,
    /// When the last page had come, in whole milliseconds.
    pub fetched_at: DateTime<Utc>,
    /// What upstream said there is.
    pub total_count: usize,
    /// Distinct provider ids over all pages.
    pub product_count: usize,
    pub pages: Vec<MenuPage>,
}

/// An answer in the form in which it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuPage {
    /// Gzip members as received, or the text without any coding.
    pub bytes: Bytes,
    pub is_gzip: bool,
}

impl Menu {
    /// Distinct ids per announced item, at most 1; an empty menu is whole.
    pub fn coverage(&self) -> f64 {
        if self.total_count == 0 {
            return 1.0;
        }
        (self.product_count as f64 / self.total_count as f64).min(1.0)
    }
}

/// A point to look for stores around.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveryPoint {
    pub state: String,
    pub latitude: f64,
    pub longitude: f64,
    pub miles: f64,
}

/// Where a store without a platform id leads. The slug is the platform's own; the address keeps the one it was found by.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreRef {
    pub platform_dispensary_id: String,
    pub slug: Option<String>,
    pub name: String,
}
