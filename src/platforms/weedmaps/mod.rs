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

use serde_json::Value;
use url::Url;

use super::answer_errors::{unreadable, wrong_store};
use super::definition::bodies;
use super::reading::value;
use super::rest::Position;
use super::{
    Adapter, AddressField, BadPlatform, Definition, DiscoveryPoint, MenuPart, Query, StoresPart, menu_address, rest,
};
use crate::stealth::{FetchError, Request, Response};
use domain::store::{FoundStore, Platform, Store};
use menu_url::{Listing, ListingKind};
use requests::{Addresses, ListingsCursor, MenuCursor};
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

    fn announces_total(&self) -> bool {
        true
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

    fn leading_field(&self, store: &Store) -> AddressField {
        if in_menu_url(store).is_some() { AddressField::MenuUrl } else { AddressField::Slug }
    }

    fn lists_stores(&self) -> bool {
        true
    }

    fn discovery_query(&self, point: &DiscoveryPoint) -> Result<Query, FetchError> {
        Ok(self.0.listings(&ListingsCursor::first(point)))
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        if store.platform_dispensary_id.is_none() {
            let reason = "has no platform id: run an entry_point_discovery of it";
            return Err(FetchError::NotAddressable { store: store.name.clone(), reason });
        }
        Ok(self.0.menu(&MenuCursor { listing: listing(store)?, position: Position::FIRST }))
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
        let cursor: ListingsCursor = query.cursor()?;
        let document = rest::document(query.operation, response)?;
        let Value::Array(listings) = &document["data"]["listings"] else {
            return Err(unreadable(response, "no listings in it".to_owned()));
        };
        let total = document["meta"]["total_listings"].as_u64().map(|total| total as usize);
        let next = cursor.position.after(listings.len(), total);
        let next = next.map(|position| self.0.listings(&ListingsCursor { position, ..cursor }));
        let found = listings.iter().filter_map(|listing| found_store::read(listing, &self.0)).collect();
        Ok(StoresPart { found, next })
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let MenuCursor { listing, position } = query.cursor()?;
        if rest::is_not_found(response) {
            return Err(rest::no_menu(query));
        }
        let read = normalize::read_page(position.page as usize, &response.body)
            .map_err(|error| rest::menu_error(query.operation, response, error))?;
        rest::require_success(query.operation, response)?;
        let next = position.after(read.items, read.total_count);
        Ok(MenuPart {
            page: read.page,
            total_count: read.total_count,
            next: next.map(|position| self.0.menu(&MenuCursor { listing, position })),
            ..MenuPart::default()
        })
    }
}

/// The listing by which the store is asked for: that of its menu URL, otherwise the storefront of its slug.
fn listing(store: &Store) -> Result<Listing, FetchError> {
    let of_slug = || {
        let slug = store.slug.clone().filter(|slug| menu_address::is_name(slug))?;
        Some(Listing { kind: ListingKind::Dispensaries, slug })
    };
    in_menu_url(store).or_else(of_slug).ok_or_else(|| {
        let reason = "has neither a menu_url of a known form nor a slug: set one of them";
        FetchError::NotAddressable { store: store.name.clone(), reason }
    })
}

fn in_menu_url(store: &Store) -> Option<Listing> {
    store.menu_url.as_deref().and_then(Listing::of_url)
}

#[cfg(test)]
mod tests;
