//! The Jane platform: menus and stores in the indexes of a search, which is asked with the key of its public menu pages.
//!
//! The key goes to the search alone, in the query, as browsers send it: a simple request, before which no other is due. A page is
//! read where no known key is taken. Single stores are answered by the host of the pages, without a key.

mod found_store;
pub mod menu_url;
pub mod normalize;
pub mod page;
mod requests;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use url::{Url, form_urlencoded};

use super::answer_errors::{other_store, unreadable, wrong_store};
use super::definition::bodies;
use super::{
    Adapter, BadPlatform, Definition, DiscoveryPoint, MenuPart, PageKey, Query, StoresPart, not_addressable, rest,
};
use crate::stealth::{FetchError, Request, RequestKind, Response, Secrets};
use domain::store::{FoundStore, Platform, Store};
use menu_url::{MenuUrl, is_id};
use requests::{MenuCursor, STORES_PER_PAGE, StoreName, StoresCursor};
use settings::{PlatformSettings, Secret};

pub const DEFINITION: Definition = Definition {
    adapter: |settings, _| Ok(Arc::new(Jane::new(settings)?)),
    normalise: |pages| normalize::normalise(&bodies(pages)),
    // stores come from the operator's list: discovery asks for thousands of them
    default_schedules: &[],
    menu_key: menu_url::key,
    menu_url_fault: |settings, menu_url, _| menu_url::fault(menu_url, &settings.page_url),
};

const MENU: &str = "menu";
const STORES: &str = "stores";
const STORE: &str = "store";
/// The platform's client as it names itself, encoded.
const AGENT: &str = "Algolia%20for%20JavaScript%20(4.24.0)%3B%20Browser%20(lite)";
/// A 403 with a JSON body refuses the key.
const SECRETS: Secrets = Secrets { headers: &[], query: &["x-algolia-api-key"], refused_by: &[403] };

pub struct Jane {
    menus: Url,
    stores: Url,
    /// Origin of the menus' pages.
    pages: Url,
    application_id: String,
    key: Secret,
    per_page: u32,
}

impl Jane {
    pub fn new(settings: &PlatformSettings) -> Result<Jane, BadPlatform> {
        let base_url = settings.parse_base_url().map_err(BadPlatform::BaseUrl)?;
        let at = |path: &str| base_url.join(path).map_err(|error| BadPlatform::BaseUrl(error.to_string()));
        Ok(Jane {
            menus: at(&settings.api_path)?,
            stores: at(&settings.stores_path)?,
            pages: settings.parse_page_url().map_err(BadPlatform::BaseUrl)?,
            application_id: settings.application_id.clone(),
            key: settings.key.clone(),
            per_page: settings.per_page,
        })
    }

    fn page_of(&self, store: &Store, id: &str) -> Url {
        let named = store.menu_url.as_deref().and_then(MenuUrl::parse).and_then(|menu| menu.slug);
        found_store::menu_url(id, named.as_deref().or(store.slug.as_deref()), &self.pages)
    }

    fn menu_page(&self, referer: Url, cursor: &MenuCursor) -> Query {
        let parameters = cursor.body(self.per_page);
        Query { operation: MENU, endpoint: self.menus.clone(), referer, parameters, cursor: json!(cursor) }
    }

    fn stores_page(&self, cursor: &StoresCursor) -> Query {
        let (endpoint, referer) = (self.stores.clone(), self.pages.clone());
        Query { operation: STORES, endpoint, referer, parameters: cursor.body(), cursor: json!(cursor) }
    }
}

impl Adapter for Jane {
    fn platform(&self) -> Platform {
        Platform::Jane
    }

    fn api_hosts(&self) -> Vec<String> {
        [&self.menus, &self.pages].into_iter().filter_map(|url| url.host_str()).map(str::to_owned).collect()
    }

    fn page_key(&self) -> Option<&dyn PageKey> {
        Some(self)
    }

    fn endpoint(&self, _: Option<&Store>) -> Result<Url, FetchError> {
        Ok(self.menus.clone())
    }

    fn page(&self) -> Result<Url, FetchError> {
        Ok(self.pages.clone())
    }

    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError> {
        let reason = "has neither a menu_url with its number nor a slug: set one of them";
        let name = StoreName::of(store).ok_or_else(|| not_addressable(store, reason))?;
        let referer = match &name {
            StoreName::Id(id) => self.page_of(store, id),
            StoreName::Slug(_) => self.pages.clone(),
        };
        Ok(rest::query(STORE, name.address(&self.pages), referer, json!(name)))
    }

    fn discovery_query(&self, point: &DiscoveryPoint) -> Result<Query, FetchError> {
        Ok(self.stores_page(&StoresCursor::first(point)))
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        let reason = "has no number as its platform id: run an entry_point_discovery of it";
        let id = store.platform_dispensary_id.clone().filter(|id| is_id(id));
        let id = id.ok_or_else(|| not_addressable(store, reason))?;
        Ok(self.menu_page(self.page_of(store, &id), &MenuCursor::first(id)))
    }

    fn request(&self, query: &Query) -> Option<Request> {
        if !self.needs_key(query) {
            return Some(Request::new(RequestKind::Fetch, query.endpoint.clone(), query.referer.clone()));
        }
        Some(self.request_with_key(query, &self.key))
    }

    fn read_store(&self, query: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError> {
        let asked: StoreName = query.cursor()?;
        if rest::is_not_found(response) {
            return Err(FetchError::NotFound { what: format!("no store {}", asked.text()) });
        }
        let document = rest::document(query.operation, response)?;
        let stores = document["stores"].as_array().into_iter().flatten().chain([&document["store"]]);
        let found: Vec<FoundStore> = stores.filter_map(|store| found_store::read(store, &self.pages)).collect();
        match (found.iter().find(|store| asked.names(store)), found.as_slice(), &asked) {
            (Some(store), ..) => Ok(Some(store.clone())),
            (None, [], _) => Ok(None),
            // the only store that is answered to a slug is taken for it
            (None, [only], StoreName::Slug(_)) => Ok(Some(only.clone())),
            (None, [other, ..], _) => Err(wrong_store(response, asked.text(), &other.platform_dispensary_id)),
        }
    }

    fn read_stores(&self, query: &Query, response: &Response) -> Result<StoresPart, FetchError> {
        let document = rest::document(query.operation, response)?;
        let hits = rest::list(&document["hits"], "hits", response)?;
        let [pages, total] = ["nbPages", "nbHits"].map(|count| document[count].as_u64().unwrap_or_default());
        // those that are left out would be taken for vanished ones
        if total > pages.saturating_mul(u64::from(STORES_PER_PAGE)) {
            return Err(unreadable(response, format!("it lets fewer of the {total} stores pass")));
        }
        let cursor: StoresCursor = query.cursor()?;
        Ok(StoresPart {
            found: hits.iter().filter_map(|hit| found_store::read(hit, &self.pages)).collect(),
            next: cursor.after(pages).map(|cursor| self.stores_page(&cursor)),
        })
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let cursor: MenuCursor = query.cursor()?;
        let read = rest::menu_page(query, response, |body| normalize::read_page(cursor.page as usize, body))?;
        if let Some(other) = other_store(&read.stores, &cursor.store) {
            return Err(wrong_store(response, &cursor.store, other));
        }
        let next = cursor.after(&read, self.per_page).map(|next| self.menu_page(query.referer.clone(), &next));
        let total_count = read.total_count.filter(|_| cursor.is_whole());
        Ok(MenuPart { total_count, ..read.into_part(next) })
    }
}

impl PageKey for Jane {
    fn needs_key(&self, query: &Query) -> bool {
        query.operation != STORE
    }

    fn request_with_key(&self, query: &Query, key: &Secret) -> Request {
        let key: String = form_urlencoded::byte_serialize(key.reveal().as_bytes()).collect();
        let mut url = query.endpoint.clone();
        let id = &self.application_id;
        url.set_query(Some(&format!("x-algolia-agent={AGENT}&x-algolia-api-key={key}&x-algolia-application-id={id}")));
        Request {
            // a content type of forms, so that a browser sends no preflight
            script_headers: vec![("content-type", "application/x-www-form-urlencoded".to_owned())],
            secrets: SECRETS,
            body: Some(Bytes::from(query.parameters.clone())),
            ..Request::new(RequestKind::FetchWithBody, url, query.referer.clone())
        }
    }

    fn key_page(&self, query: &Query) -> Option<Request> {
        let page = || Request::new(RequestKind::Fetch, query.referer.clone(), self.pages.clone());
        (query.operation == MENU).then(page)
    }

    fn read_key(&self, page: &[u8]) -> Option<Secret> {
        page::key(page, &self.application_id)
    }
}

#[cfg(test)]
mod tests;
