//! Leafly: menus by its public REST interface, and stores by its search, without a key.
//!
//! A store's slug is its id: the interface takes nothing else. A menu comes by the number of products to skip and to take.

mod found_store;
pub mod menu_url;
pub mod normalize;
mod requests;

use std::sync::Arc;

use url::Url;

use super::answer_errors::{other_store, wrong_store};
use super::definition::bodies;
use super::reading::value;
use super::rest::{Position, StoresCursor};
use super::{
    Adapter, BadPlatform, Definition, DiscoveryPoint, MenuPart, NO_ADDRESS, Query, StoresPart, menu_address,
    not_addressable, rest,
};
use crate::stealth::{FetchError, Request, Response};
use domain::store::{FoundStore, Platform, Store};
use requests::{Addresses, MenuCursor};
use settings::PlatformSettings;

pub const DEFINITION: Definition = Definition {
    adapter: |settings, _| Ok(Arc::new(Leafly::new(settings)?)),
    normalise: |pages| normalize::normalise(&bodies(pages)),
    default_schedules: &[],
    menu_key: menu_url::key,
    menu_url_fault: |settings, menu_url, _| menu_url::fault(menu_url, &settings.page_url),
};

/// Maximum number of products that it lets a client take at once.
const MAX_TAKE: u32 = 50;

pub struct Leafly(Addresses);

impl Leafly {
    pub fn new(settings: &PlatformSettings) -> Result<Self, BadPlatform> {
        Ok(Leafly(Addresses {
            api: settings.parse_base_url().map_err(BadPlatform::BaseUrl)?,
            api_path: settings.api_path.clone(),
            finder: settings.parse_stores_url().map_err(BadPlatform::BaseUrl)?,
            finder_path: settings.stores_path.clone(),
            page: settings.parse_page_url().map_err(BadPlatform::BaseUrl)?,
            per_page: settings.per_page.min(MAX_TAKE),
        }))
    }
}

impl Adapter for Leafly {
    fn platform(&self) -> Platform {
        Platform::Leafly
    }

    fn api_hosts(&self) -> Vec<String> {
        [&self.0.api, &self.0.finder].into_iter().filter_map(Url::host_str).map(str::to_owned).collect()
    }

    fn endpoint(&self, _: Option<&Store>) -> Result<Url, FetchError> {
        Ok(rest::address(&self.0.api, &self.0.api_path, ""))
    }

    fn page(&self) -> Result<Url, FetchError> {
        Ok(self.0.page.clone())
    }

    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError> {
        let in_menu_url = store.menu_url.as_deref().and_then(menu_url::key);
        let slug = in_menu_url.or_else(|| store.slug.clone().filter(|slug| menu_address::is_name(slug)));
        Ok(self.0.store(&slug.ok_or_else(|| not_addressable(store, NO_ADDRESS))?))
    }

    fn discovery_query(&self, point: &DiscoveryPoint) -> Result<Query, FetchError> {
        Ok(self.0.stores(&StoresCursor::first(point)))
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        let reason = "has no platform id that is a slug: run an entry_point_discovery of it";
        let slug = store.platform_dispensary_id.clone().filter(|id| menu_address::is_name(id));
        let slug = slug.ok_or_else(|| not_addressable(store, reason))?;
        Ok(self.0.menu(&MenuCursor { slug, position: Position::FIRST }))
    }

    fn request(&self, query: &Query) -> Option<Request> {
        Some(rest::get(query))
    }

    fn read_store(&self, query: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError> {
        if rest::is_not_found(response) {
            return Ok(None);
        }
        let asked: String = query.cursor()?;
        let document = rest::document(query.operation, response)?;
        let items = rest::list(&document["data"], "products", response)?;
        let store_field = |field| items.first().and_then(|item| value::key(&item[field]));
        let slug = store_field("dispensarySlug").unwrap_or_else(|| asked.clone());
        if !slug.eq_ignore_ascii_case(&asked) {
            return Err(wrong_store(response, &asked, &slug));
        }
        let name = store_field("dispensaryName").unwrap_or_else(|| slug.clone());
        Ok(Some(found_store::named(&slug, name, &self.0)))
    }

    fn read_stores(&self, query: &Query, response: &Response) -> Result<StoresPart, FetchError> {
        let cursor: StoresCursor = query.cursor()?;
        let document = rest::document(query.operation, response)?;
        let stores = rest::list(&document["stores"], "stores", response)?;
        let next = cursor.after(stores.len(), &document["metadata"]["totalCount"]);
        Ok(StoresPart {
            found: stores.iter().filter_map(|store| found_store::read(store, &self.0)).collect(),
            next: next.map(|cursor| self.0.stores(&cursor)),
        })
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let MenuCursor { slug, position } = query.cursor()?;
        if rest::is_not_found(response) {
            return Err(rest::no_menu(query));
        }
        let read = rest::menu_page(query, response, |body| normalize::read_page(position.page as usize, body))?;
        if let Some(other) = other_store(&read.stores, &slug.to_ascii_lowercase()) {
            return Err(wrong_store(response, &slug, other));
        }
        let next = position.after(read.items, read.total_count);
        Ok(read.into_part(next.map(|position| self.0.menu(&MenuCursor { slug, position }))))
    }
}

#[cfg(test)]
mod tests;
