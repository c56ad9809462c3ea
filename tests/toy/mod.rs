//! Toy: the smallest menu platform that can be crawled, to show that a platform is a folder and a line.
//!
//! `./dev platform-test` copies this folder to `src/platforms/` of a copy of the project, and crawls it there. A store is known by
//! its number, and its menu comes page by page.

mod normalize;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::answer_errors::unreadable;
use super::definition::bodies;
use super::rest::Position;
use super::{
    Adapter, AddressField, BadPlatform, Definition, DiscoveryPoint, MenuPart, Query, StoresPart, menu_address,
    not_addressable, rest,
};
use crate::stealth::{FetchError, Request, Response};
use domain::store::{FoundStore, Platform, Store};
use settings::PlatformSettings;

pub const DEFINITION: Definition = Definition {
    adapter: |settings, _| Ok(Arc::new(Toy::new(settings)?)),
    normalise: |pages| normalize::normalise(&bodies(pages)),
    default_schedules: &[],
    menu_key: |_| None,
    menu_url_fault: |_, _, _| None,
};

struct Toy {
    base: Url,
    path: String,
    per_page: u32,
}

/// Position of a crawl in a menu.
#[derive(Serialize, Deserialize)]
struct MenuCursor {
    store: String,
    position: Position,
}

impl Toy {
    fn new(settings: &PlatformSettings) -> Result<Self, BadPlatform> {
        let base = settings.parse_base_url().map_err(BadPlatform::BaseUrl)?;
        Ok(Toy { base, path: settings.api_path.clone(), per_page: settings.per_page })
    }

    fn menu(&self, cursor: &MenuCursor) -> Query {
        let path = format!("{}/{}", self.path, cursor.store);
        let page = format!("page={}&per_page={}", cursor.position.page, self.per_page);
        rest::query("menu", rest::address(&self.base, &path, &page), self.base.clone(), json!(cursor))
    }
}

impl Adapter for Toy {
    fn platform(&self) -> Platform {
        Platform::Toy
    }

    fn api_hosts(&self) -> Vec<String> {
        self.base.host_str().map(str::to_owned).into_iter().collect()
    }

    fn endpoint(&self, _: Option<&Store>) -> Result<Url, FetchError> {
        Ok(rest::address(&self.base, &self.path, ""))
    }

    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError> {
        Err(not_addressable(store, "has no number: import it again with its number as platform_dispensary_id"))
    }

    fn leading_field(&self, _: &Store) -> AddressField {
        AddressField::PlatformId
    }

    fn lists_stores(&self) -> bool {
        false
    }

    fn discovery_query(&self, _: &DiscoveryPoint) -> Result<Query, FetchError> {
        let what = "Toy lists no stores: import them with `drover stores import`".to_owned();
        Err(FetchError::NotFound { what })
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        match store.platform_dispensary_id.clone().filter(|id| menu_address::is_name(id)) {
            Some(store) => Ok(self.menu(&MenuCursor { store, position: Position::FIRST })),
            None => self.resolve_query(store),
        }
    }

    fn request(&self, query: &Query) -> Option<Request> {
        Some(rest::get(query))
    }

    fn read_store(&self, _: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError> {
        Err(unreadable(response, "Toy was asked for no store".to_owned()))
    }

    fn read_stores(&self, _: &Query, response: &Response) -> Result<StoresPart, FetchError> {
        Err(unreadable(response, "Toy was asked for no stores".to_owned()))
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let MenuCursor { store, position } = query.cursor()?;
        if rest::is_not_found(response) {
            return Err(rest::no_menu(query));
        }
        let read = rest::menu_page(query, response, |body| normalize::read_page(position.page as usize, body))?;
        let next = position.after(read.items, read.total_count);
        Ok(read.into_part(next.map(|position| self.menu(&MenuCursor { store, position }))))
    }
}
