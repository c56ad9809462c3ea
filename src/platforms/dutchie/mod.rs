//! The Dutchie platform: its queries, how its answers are judged, and its menus normalised.
//!
//! Everything it can change without notice (hashes, hosts, shards) is data: `config/dutchie.toml`, the configuration, and the
//! store's own columns.

mod answers;
mod data;
mod menu_url;
pub mod normalize;
mod requests;
mod stores;

use serde_json::json;
use thiserror::Error;
use url::Url;

use super::{Adapter, DiscoveryPoint, Key, MenuPart, Query};
use crate::config;
use crate::domain::dispensary::{Dispensary, FoundStore, Platform};
use crate::stealth::{FetchError, Request, Response};
use requests::MenuCursor;

pub use data::{DataError, DutchieData};
pub use menu_url::MenuUrl;

const MENU: &str = "FilteredProducts";
const STORES: &str = "ConsumerDispensaries";

/// The adapter.
#[derive(Clone, Debug)]
pub struct Dutchie {
    base_url: Url,
    api_path: String,
    per_page: u32,
    data: DutchieData,
}

#[derive(Debug, Error)]
#[error("platform.dutchie.base_url '{given}' is no address of a web server: {why}")]
pub struct BadBaseUrl {
    given: String,
    why: String,
}

impl Dutchie {
    pub fn new(config: &config::Dutchie, data: DutchieData) -> Result<Self, BadBaseUrl> {
        let bad = |why: String| BadBaseUrl { given: config.base_url.clone(), why };
        let base_url = Url::parse(&config.base_url).map_err(|error| bad(error.to_string()))?;
        if !matches!(base_url.scheme(), "http" | "https") {
            return Err(bad("it is neither http nor https".to_owned()));
        }
        Ok(Dutchie { base_url, api_path: config.api_path.clone(), per_page: config.per_page, data })
    }

    fn stores_query(&self, endpoint: Url, referer: Url, filter: serde_json::Value) -> Query {
        let variables = json!({ "dispensaryFilter": filter }).to_string();
        Query { operation: STORES, endpoint, referer, variables, cursor: serde_json::Value::Null }
    }

    fn menu_page(&self, endpoint: Url, referer: Url, cursor: &MenuCursor) -> Query {
        let variables = requests::menu_variables(cursor, self.per_page);
        Query { operation: MENU, endpoint, referer, variables, cursor: json!(cursor) }
    }
}

impl Adapter for Dutchie {
    fn platform(&self) -> Platform {
        Platform::Dutchie
    }

    fn entry(&self, store: &Dispensary) -> Result<Query, FetchError> {
        let by_address = store.menu_url.as_deref().and_then(MenuUrl::parse).map(|menu| menu.entry);
        let Some(entry) = by_address.or_else(|| store.slug.clone()) else {
            let why = "it has neither a menu address of a known form nor a slug".to_owned();
            return Err(FetchError::Refused { what: store.name.clone(), why });
        };
        let endpoint = requests::endpoint(&self.base_url, &self.api_path, store)?;
        let referer = requests::menu_page(&endpoint, store);
        Ok(self.stores_query(endpoint, referer, json!({ "cNameOrID": entry })))
    }

    fn around(&self, point: &DiscoveryPoint) -> Result<Query, FetchError> {
        let endpoint = requests::at(&self.base_url, &self.api_path);
        let referer = requests::at(&self.base_url, "/dispensaries");
        let filter = json!({ "nearLat": point.latitude, "nearLng": point.longitude, "distance": point.miles });
        Ok(self.stores_query(endpoint, referer, filter))
    }

    fn menu(&self, store: &Dispensary) -> Result<Query, FetchError> {
        let Some(id) = store.platform_dispensary_id.clone() else {
            let why = "it has no platform id yet".to_owned();
            return Err(FetchError::Refused { what: store.name.clone(), why });
        };
        let endpoint = requests::endpoint(&self.base_url, &self.api_path, store)?;
        let referer = requests::menu_page(&endpoint, store);
        Ok(self.menu_page(endpoint, referer, &MenuCursor::first(id)))
    }

    fn request(&self, query: &Query, key: Key<'_>) -> Option<Request> {
        match key {
            Key::Hash(hash) => Some(requests::by_hash(query, hash)),
            Key::FullText => Some(requests::by_text(query, self.data.document(query.operation)?)),
        }
    }

    fn read_stores(&self, query: &Query, response: &Response) -> Result<Vec<FoundStore>, FetchError> {
        let found = answers::stores(query.operation, response)?;
        Ok(found.iter().filter_map(|store| stores::found_store(store, &self.base_url)).collect())
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let page = answers::menu_page(query.operation, response)?;
        let cursor: MenuCursor = requests::cursor(query)?;
        let next = cursor.after(&page, self.per_page);
        Ok(MenuPart {
            ids: page.ids,
            items: page.items,
            total_count: page.total_count,
            next: next.map(|cursor| self.menu_page(query.endpoint.clone(), query.referer.clone(), &cursor)),
        })
    }
}

#[cfg(test)]
mod tests;
