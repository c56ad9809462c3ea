//! Weedmaps: listings and their menus by its public REST interface, without a key.
//!
//! A listing is a storefront or a courier; its menu comes in pages. It is asked under drover's own name, and is switched off
//! until an operator switches it on.

mod found_store;
mod license;
pub mod menu_url;
pub mod normalize;
mod requests;

use std::sync::Arc;

use url::Url;

use super::answer_errors::{unreadable, wrong_store};
use super::definition::bodies;
use super::reading::value;
use super::rest::{Position, StoresCursor};
use super::{
    Adapter, BadPlatform, Definition, DiscoveryPoint, MenuPart, NO_ADDRESS, NO_PLATFORM_ID, Query, StoresPart,
    menu_address, not_addressable, rest,
};
use crate::stealth::{FetchError, Request, Response};
use domain::store::{FoundStore, Platform, Store};
use menu_url::{Listing, ListingKind};
use requests::{Addresses, MenuCursor};
use settings::PlatformSettings;

pub const DEFINITION: Definition = Definition {
    adapter: |settings, _| Ok(Arc::new(Weedmaps::new(settings)?)),
    normalise: |pages| normalize::normalise(&bodies(pages)),
    default_schedules: &[],
    menu_key: menu_url::key,
    menu_url_fault: |settings, menu_url, _| menu_url::fault(menu_url, &settings.page_url),
};

pub struct Weedmaps(Addresses);

impl Weedmaps {
    pub fn new(settings: &PlatformSettings) -> Result<Self, BadPlatform> {
        Ok(Weedmaps(Addresses {
            api: settings.parse_base_url().map_err(BadPlatform::BaseUrl)?,
            listing_path: settings.api_path.clone(),
            listings_path: settings.stores_path.clone(),
            page: settings.parse_page_url().map_err(BadPlatform::BaseUrl)?,
            per_page: settings.per_page,
        }))
    }
}

impl Adapter for Weedmaps {
    fn platform(&self) -> Platform {
        Platform::Weedmaps
    }

    fn api_hosts(&self) -> Vec<String> {
        self.0.api.host_str().map(str::to_owned).into_iter().collect()
    }

    fn endpoint(&self, _: Option<&Store>) -> Result<Url, FetchError> {
        Ok(rest::address(&self.0.api, &self.0.listing_path, ""))
    }

    fn page(&self) -> Result<Url, FetchError> {
        Ok(self.0.page.clone())
    }

    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError> {
        Ok(self.0.listing(&listing(store)?))
    }

    fn discovery_query(&self, point: &DiscoveryPoint) -> Result<Query, FetchError> {
        Ok(self.0.listings(&StoresCursor::first(point)))
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        if store.platform_dispensary_id.is_none() {
            return Err(not_addressable(store, NO_PLATFORM_ID));
        }
        Ok(self.0.menu(&MenuCursor { listing: listing(store)?, position: Position::FIRST }))
    }

    /// A slug alone may be a courier's.
    fn elsewhere(&self, store: &Store) -> Option<Store> {
        if store.menu_url.as_deref().is_some_and(|menu_url| Listing::of_url(menu_url).is_some()) {
            return None;
        }
        let courier = Listing { kind: ListingKind::Deliveries, ..listing(store).ok()? };
        Some(Store { menu_url: Some(self.0.page_of(&courier).into()), ..store.clone() })
    }

    fn request(&self, query: &Query) -> Option<Request> {
        Some(rest::get(query))
    }

    fn read_store(&self, query: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError> {
        if rest::is_not_found(response) {
            return Ok(None);
        }
        let asked: Listing = query.cursor()?;
        let document = rest::document(query.operation, response)?;
        let listing = &document["data"]["listing"];
        match value::key(&listing["slug"]) {
            Some(other) if !other.eq_ignore_ascii_case(&asked.slug) => Err(wrong_store(response, &asked.slug, &other)),
            _ => found_store::read(listing, &self.0)
                .map(Some)
                .ok_or_else(|| unreadable(response, "no listing with an id in it".to_owned())),
        }
    }

    fn read_stores(&self, query: &Query, response: &Response) -> Result<StoresPart, FetchError> {
        let cursor: StoresCursor = query.cursor()?;
        let document = rest::document(query.operation, response)?;
        let listings = rest::list(&document["data"]["listings"], "listings", response)?;
        let next = cursor.after(listings.len(), &document["meta"]["total_listings"]);
        Ok(StoresPart {
            found: listings.iter().filter_map(|listing| found_store::read(listing, &self.0)).collect(),
            next: next.map(|cursor| self.0.listings(&cursor)),
        })
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let MenuCursor { listing, position } = query.cursor()?;
        if rest::is_not_found(response) {
            return Err(rest::no_menu(query));
        }
        let read = rest::menu_page(query, response, |body| normalize::read_page(position.page as usize, body))?;
        let next = position.after(read.items, read.total_count);
        Ok(read.into_part(next.map(|position| self.0.menu(&MenuCursor { listing, position }))))
    }
}

/// The listing by which the store is asked for: that of its menu URL, otherwise the storefront of its slug.
fn listing(store: &Store) -> Result<Listing, FetchError> {
    let of_slug = || {
        let slug = store.slug.clone().filter(|slug| menu_address::is_name(slug))?;
        Some(Listing { kind: ListingKind::Dispensaries, slug })
    };
    let listing = store.menu_url.as_deref().and_then(Listing::of_url).or_else(of_slug);
    listing.ok_or_else(|| not_addressable(store, NO_ADDRESS))
}

#[cfg(test)]
mod tests;
