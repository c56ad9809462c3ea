//! The Dutchie platform: its queries, how its answers are judged, and its menus normalised.
//!
//! Everything it can change without notice (hashes, hosts, the API paths of its shards) is data:
//! `data.toml`, the configuration, and the store's own columns.

mod answers;
mod data;
mod found_store;
pub mod menu_url;
pub mod normalize;
mod requests;

use std::sync::Arc;

use serde_json::json;
use url::Url;

use super::answer_errors::{other_store, wrong_store};
use super::definition::bodies;
use super::{
    Adapter, BadPlatform, Definition, DiscoveryPoint, MenuPart, NO_ADDRESS, NO_PLATFORM_ID, PersistedQueries, Query,
    StoresPart, graphql, not_addressable,
};
use crate::stealth::{FetchError, Request, Response};
use domain::query_hash::QueryHash;
use domain::store::{FoundStore, Platform, Store};
use domain::task::kind::DefaultSchedule;
use domain::task::role::Role;
use menu_url::MenuUrl;
use requests::{MenuCursor, StoreFilter};
use settings::PlatformSettings;

pub use data::{DataError, DutchieData};

pub const DEFINITION: Definition = Definition {
    adapter: |settings, data| {
        let data = DutchieData::load(data).map_err(|bad| BadPlatform::Data(bad.to_string()))?;
        Ok(Arc::new(Dutchie::new(settings, data)?))
    },
    normalise: |pages| normalize::normalise(&bodies(pages)),
    default_schedules: &[(
        Role::StoreDiscovery,
        DefaultSchedule { priority: 5, ..DefaultSchedule::new("store_discovery_dutchie", 24) },
    )],
    menu_key: menu_url::key,
    menu_url_fault: |settings, menu_url, api_host| menu_url::fault(menu_url, &settings.base_url, api_host),
};

const MENU_OPERATION: &str = "FilteredProducts";
const STORES_OPERATION: &str = "ConsumerDispensaries";
/// Operations that are sent.
const OPERATIONS: [&str; 2] = [MENU_OPERATION, STORES_OPERATION];
/// A page may hold at most this many times `per_page`.
const MAX_PAGE_FACTOR: usize = 4;

/// The adapter of dutchie.com and of stores with a Dutchie API of their own.
#[derive(Clone, Debug)]
pub struct Dutchie {
    base_url: Url,
    api_path: String,
    per_page: u32,
    data: DutchieData,
}

impl Dutchie {
    pub fn new(settings: &PlatformSettings, data: DutchieData) -> Result<Self, BadPlatform> {
        let base_url = settings.parse_base_url().map_err(BadPlatform::BaseUrl)?;
        Ok(Dutchie { base_url, api_path: settings.api_path.clone(), per_page: settings.per_page, data })
    }

    fn stores_query(&self, endpoint: Url, referer: Url, filter: StoreFilter<'_>) -> Query {
        let cursor = match filter {
            StoreFilter::ByName { name_or_id } => json!(name_or_id),
            StoreFilter::Around { .. } => serde_json::Value::Null,
        };
        Query { operation: STORES_OPERATION, endpoint, referer, parameters: requests::store_variables(filter), cursor }
    }

    fn read_found(&self, query: &Query, response: &Response) -> Result<Vec<FoundStore>, FetchError> {
        answers::read_stores(query.operation, response, |store| found_store::read(store, &self.base_url))
    }

    fn menu_page_query(&self, endpoint: Url, referer: Url, cursor: &MenuCursor) -> Query {
        let parameters = requests::menu_variables(cursor, self.per_page);
        Query { operation: MENU_OPERATION, endpoint, referer, parameters, cursor: json!(cursor) }
    }
}

impl PersistedQueries for Dutchie {
    fn operations(&self) -> &'static [&'static str] {
        &OPERATIONS
    }

    fn shipped_hashes(&self) -> &[QueryHash] {
        self.data.hashes()
    }

    fn request_by_hash(&self, query: &Query, hash: &str) -> Request {
        requests::by_hash(query, hash)
    }
}

impl Adapter for Dutchie {
    fn platform(&self) -> Platform {
        Platform::Dutchie
    }

    fn api_hosts(&self) -> Vec<String> {
        self.base_url.host_str().map(str::to_owned).into_iter().collect()
    }

    fn persisted(&self) -> Option<&dyn PersistedQueries> {
        Some(self)
    }

    fn endpoint(&self, store: Option<&Store>) -> Result<Url, FetchError> {
        match store {
            Some(store) => requests::endpoint(&self.base_url, &self.api_path, store),
            None => Ok(requests::at(&self.base_url, &self.api_path)),
        }
    }

    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError> {
        // the name in its menu URL goes before its slug
        let named = store.menu_url.as_deref().and_then(menu_url::key).or_else(|| store.slug.clone());
        let name_or_id = named.ok_or_else(|| not_addressable(store, NO_ADDRESS))?;
        let endpoint = self.endpoint(Some(store))?;
        let referer = requests::menu_referer(&endpoint, store);
        Ok(self.stores_query(endpoint, referer, StoreFilter::ByName { name_or_id: &name_or_id }))
    }

    fn discovery_query(&self, point: &DiscoveryPoint) -> Result<Query, FetchError> {
        let endpoint = self.endpoint(None)?;
        let referer = requests::at(&self.base_url, "/dispensaries");
        let DiscoveryPoint { latitude: near_lat, longitude: near_lng, miles: distance, .. } = *point;
        let filter = StoreFilter::Around { near_lat, near_lng, distance };
        Ok(self.stores_query(endpoint, referer, filter))
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        let id = store.platform_dispensary_id.clone().ok_or_else(|| not_addressable(store, NO_PLATFORM_ID))?;
        let endpoint = self.endpoint(Some(store))?;
        let referer = requests::menu_referer(&endpoint, store);
        Ok(self.menu_page_query(endpoint, referer, &MenuCursor::first(id)))
    }

    fn request(&self, query: &Query) -> Option<Request> {
        Some(requests::by_text(query, self.data.document(query.operation)?))
    }

    fn read_store(&self, query: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError> {
        let found = self.read_found(query, response)?;
        let asked: String = query.cursor()?;
        let is_asked = |store: &&FoundStore| {
            let names = [Some(&store.platform_dispensary_id), store.slug.as_ref()];
            names.into_iter().flatten().any(|name| name.eq_ignore_ascii_case(&asked))
        };
        match found.as_slice() {
            [] => Ok(None),
            // the only store that is answered to a slug is taken for it: a vanity slug is neither its id nor
            // its own slug
            [only] if !is_id(&asked) => Ok(Some(only.clone())),
            [other, ..] => {
                let other_id = &other.platform_dispensary_id;
                let asked_for = found.iter().find(is_asked).cloned();
                asked_for.map(Some).ok_or_else(|| wrong_store(response, &asked, other_id))
            }
        }
    }

    fn read_stores(&self, query: &Query, response: &Response) -> Result<StoresPart, FetchError> {
        // one answer has all stores around a point
        Ok(StoresPart { found: self.read_found(query, response)?, next: None })
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let cursor: MenuCursor = query.cursor()?;
        let max_items = MAX_PAGE_FACTOR * self.per_page as usize;
        let read = normalize::read_page(cursor.page as usize, &response.body, max_items);
        let read = graphql::menu_page(query.operation, response, read, false)?;
        if let Some(other) = other_store(&read.stores, &cursor.dispensary_id) {
            return Err(wrong_store(response, &cursor.dispensary_id, other));
        }
        let next = cursor.after(&read, self.per_page);
        let next = next.map(|cursor| self.menu_page_query(query.endpoint.clone(), query.referer.clone(), &cursor));
        Ok(read.into_part(next))
    }
}

/// 24 hex digits; another form may be a slug.
fn is_id(name: &str) -> bool {
    name.len() == 24 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
