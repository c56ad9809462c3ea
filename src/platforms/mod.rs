//! The interface of a menu platform, and the one driver that crawls any of them.
//!
//! An adapter is pure: it makes requests, reads answers and normalises items. It must not know the database,
//! files or tasks; the session sends, rotates and pauses. In: a store. Out: a [`Menu`] of untouched answers,
//! or found stores.

pub mod categories;
pub mod crawler;
pub mod definition;
pub mod menu_addresses;
pub mod page_key;
pub mod query_hashes;
pub mod registry;

mod answer_errors;
mod found_store;
mod graphql;
mod grid;
mod menu_address;
mod offer;
mod page_read;
mod reading;
mod rest;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use strum::VariantArray;
use url::Url;

use crate::stealth::{FetchError, Request, Response};
use domain::for_each_platform;
use domain::menu::{NormalMenu, NormalPage, NormaliseError};
use domain::payload::{PageQuestion, StoredPage};
use domain::query_hash::QueryHash;
use domain::store::{FoundStore, Platform, Store, StoreId};
use domain::task::kind::PlatformSchedule;
use foundation::memory::MemoryPermit;

pub use crawler::{CrawlLimits, Crawler, MenuProgress};
pub use definition::{BadPlatform, Definition};
pub use menu_addresses::MenuAddresses;
pub use page_key::{Keys, PageKey};
pub use query_hashes::{HashObservation, QueryHashes};
pub use registry::{PlatformEntry, PlatformRegistry, adapter, visitor_request};

macro_rules! folders {
    ($($variant:ident = $folder:ident,)+) => {
        $(pub mod $folder;)+

        /// All that the platform is.
        pub const fn definition(platform: Platform) -> &'static Definition {
            match platform {
                $(Platform::$variant => &$folder::DEFINITION,)+
            }
        }
    };
}

for_each_platform!(folders);

/// A menu platform.
///
/// Fits menus by page number, by cursor and by category: the adapter returns the next query after an answer, and
/// [`Query::cursor`] is its memory.
pub trait Adapter: Send + Sync {
    fn platform(&self) -> Platform;

    /// Hosts of its API, beside the hosts that stores' rows name; none while it may not be asked.
    fn api_hosts(&self) -> Vec<String>;

    /// Its persisted queries, if it has any.
    fn persisted(&self) -> Option<&dyn PersistedQueries> {
        None
    }

    /// Its key, if the pages of its menus show one.
    fn page_key(&self) -> Option<&dyn PageKey> {
        None
    }

    /// Whether it is asked with a key.
    fn takes_key(&self) -> bool {
        self.page_key().is_some()
    }

    /// Whether this platform announces how many items a menu holds. Where it does, a menu without that number
    /// fails as `Unannounced`.
    fn announces_total(&self) -> bool {
        true
    }

    /// Address of a store's API; none = the one that discovery asks. `NotAllowed` when `api_host` is not a valid host.
    fn endpoint(&self, store: Option<&Store>) -> Result<Url, FetchError>;

    /// Address of the pages that show its menus and images; that of its API where it has no others.
    fn page(&self) -> Result<Url, FetchError> {
        self.endpoint(None)
    }

    /// Asks for the store that `store`'s menu address or slug leads to. `NotAddressable` when it has neither.
    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError>;

    /// The field that [`Adapter::resolve_query`] asks by, which a person corrects when it leads nowhere.
    fn leading_field(&self, store: &Store) -> AddressField {
        let in_menu_url = store.menu_url.as_deref().and_then(|menu_url| menu_key(self.platform(), menu_url));
        if in_menu_url.is_some() { AddressField::MenuUrl } else { AddressField::Slug }
    }

    /// Whether it can be asked for the stores around a point; where it cannot, stores come by import.
    fn lists_stores(&self) -> bool {
        true
    }

    /// Asks for the stores around a point. `NotFound` where the platform lists none.
    fn discovery_query(&self, point: &DiscoveryPoint) -> Result<Query, FetchError>;

    /// Begins a store's menu. `NotAddressable` when the store has no platform id.
    fn menu_query(&self, store: &Store) -> Result<Query, FetchError>;

    /// The store with the address that it has if it is not found under its own; none where its address is certain.
    fn elsewhere(&self, _: &Store) -> Option<Store> {
        None
    }

    /// Puts a query into a request, whole. None when the platform can be asked by a hash alone.
    fn request(&self, query: &Query) -> Option<Request>;

    /// Judges and reads an answer to [`Adapter::resolve_query`]: the store that was asked for, or none. An
    /// answer about others only is an error; the only store answered to a slug is taken for it. `NotFound` where the status says
    /// that there is none.
    fn read_store(&self, query: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError>;

    /// Judges and reads an answer to [`Adapter::discovery_query`] or to a query that followed from it.
    fn read_stores(&self, query: &Query, response: &Response) -> Result<StoresPart, FetchError>;

    /// Judges, reads and normalises an answer to [`Adapter::menu_query`] or to a query that followed from it.
    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError>;
}

/// Queries that a platform knows by the hash of their text.
pub trait PersistedQueries: Send + Sync {
    /// The operations that are asked by hash; hashes of others are never sent.
    fn operations(&self) -> &'static [&'static str];

    /// The hashes that this program knows, newest first within an operation.
    fn shipped_hashes(&self) -> &[QueryHash];

    /// Puts the hash in the place of the query's text.
    fn request_by_hash(&self, query: &Query, hash: &str) -> Request;
}

/// Turns the answers of a whole crawl into products; needs nothing of an adapter but its rules. CPU work: run
/// it by `cpu::run`.
pub fn normalise(platform: Platform, pages: &[StoredPage<'_>]) -> Result<NormalMenu, NormaliseError> {
    (definition(platform).normalise)(pages)
}

/// The name or id of the store in the address of a menu; none when it is no such address of the platform.
pub fn menu_key(platform: Platform, menu_url: &str) -> Option<String> {
    (definition(platform).menu_key)(menu_url)
}

/// The default schedules of all platforms.
pub fn default_schedules() -> Vec<PlatformSchedule> {
    let of = |platform: &Platform| {
        let platform = *platform;
        let schedules = definition(platform).default_schedules.iter();
        schedules.map(move |&(role, schedule)| PlatformSchedule { platform, role, schedule })
    };
    Platform::VARIANTS.iter().flat_map(of).collect()
}

/// Reasons for which a store cannot be asked for, of several platforms.
const NO_ADDRESS: &str = "has neither a menu_url of a known form nor a slug: set one of them";
const NO_PLATFORM_ID: &str = "has no platform id: run an entry_point_discovery of it";

/// The error of a store that the platform cannot be asked for.
fn not_addressable(store: &Store, reason: &'static str) -> FetchError {
    FetchError::NotAddressable { store: store.name.clone(), reason }
}

/// A question to a platform; [`Adapter::request`] makes a request of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Name of the question in errors, and of the operation that has a hash.
    pub operation: &'static str,
    /// Address without a key, which only a [`Request`] holds: this one is shown.
    pub endpoint: Url,
    /// The page that a browser would ask from. From one of another origin it sends a preflight, unless the request is a simple
    /// one.
    pub referer: Url,
    /// JSON text: the variables of a GraphQL query, or the body of a request; empty where the address says all.
    pub parameters: String,
    /// Position that the adapter needs to read the answer; kept with the page, read by the adapter only.
    pub cursor: Value,
}

/// Writes JSON, which cannot fail: strings and finite numbers.
fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl Query {
    /// The position that the adapter gave it.
    fn cursor<T: DeserializeOwned>(&self) -> Result<T, FetchError> {
        let why =
            |error: serde_json::Error| format!("a bug of the adapter: its query carries no valid cursor ({error})");
        let host = self.endpoint.host_str().unwrap_or_default().to_owned();
        T::deserialize(&self.cursor).map_err(|error| FetchError::Decode { host, reason: why(error) })
    }
}

/// One answer's part of a menu, and the next query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MenuPart {
    /// Normalised content, as [`normalise`] makes it of the kept answer.
    pub page: NormalPage,
    /// Size of the whole menu, as upstream states it.
    pub total_count: Option<usize>,
    /// Whether that size is an estimate: a crawl that holds less does not fail by it, and counts no misses.
    pub is_estimate: bool,
    /// None = the menu is at its end.
    pub next: Option<Query>,
}

/// One answer's stores around a point, and the next query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoresPart {
    pub found: Vec<FoundStore>,
    /// None = there are no more.
    pub next: Option<Query>,
}

/// A whole crawl of one store: the answers as they came, and their combined content.
#[derive(Clone, Debug)]
pub struct Menu {
    pub platform: Platform,
    pub dispensary_id: StoreId,
    pub platform_dispensary_id: String,
    /// Begin of the fetch: database time, in whole milliseconds.
    pub fetched_at: DateTime<Utc>,
    /// Size as upstream stated it; the number of items received where it stated none.
    pub total_count: usize,
    /// Distinct provider ids over all pages.
    pub product_count: usize,
    /// Normalised content of the pages.
    pub normal: NormalMenu,
    pub pages: Vec<MenuPage>,
    /// Permit that is held while `pages` are.
    pub memory: MemoryPermit,
}

/// An answer in the form in which it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct MenuPage {
    /// Gzip members as received, or the text without any coding.
    pub bytes: Bytes,
    pub is_gzip: bool,
    pub question: PageQuestion,
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

/// A field of a store that leads to its id at the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressField {
    MenuUrl,
    Slug,
    PlatformId,
}

impl AddressField {
    /// Option of `drover stores edit`.
    pub fn flag(self) -> &'static str {
        match self {
            AddressField::MenuUrl => "--menu-url URL",
            AddressField::Slug => "--slug SLUG",
            AddressField::PlatformId => "--platform-id ID",
        }
    }
}

/// A point to find stores around.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveryPoint {
    pub latitude: f64,
    pub longitude: f64,
    pub miles: f64,
}

impl From<&[f64; 3]> for DiscoveryPoint {
    /// Reads one of a state's `points`: latitude, longitude, miles.
    fn from(&[latitude, longitude, miles]: &[f64; 3]) -> Self {
        DiscoveryPoint { latitude, longitude, miles }
    }
}

/// The store that a slug or menu address led to. `slug` is the platform's, which may differ from the one in
/// the address.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreRef {
    pub platform_dispensary_id: String,
    pub slug: Option<String>,
}
