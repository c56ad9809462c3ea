//! The addresses that are asked, and the positions of crawls in lists.
//!
//! In: a slug, a position. Out: a [`Query`]. It must not know answers, sessions or tasks.

use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use crate::platforms::Query;
use crate::platforms::rest::{self, Position, StoresCursor};

const MENU_OPERATION: &str = "menu_items";
const STORES_OPERATION: &str = "dispensaries";
/// Stores requested per page.
const STORES_PER_PAGE: u32 = 100;

/// Addresses of the platform.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub api: Url,
    pub api_path: String,
    pub finder: Url,
    pub finder_path: String,
    pub page: Url,
    pub per_page: u32,
}

/// Position of a crawl in a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuCursor {
    pub slug: String,
    pub position: Position,
}

impl Addresses {
    /// The page of a store's menu, as people visit it.
    pub fn page_of(&self, slug: &str) -> Url {
        rest::address(&self.page, &format!("/dispensary-info/{slug}/menu"), "")
    }

    pub fn menu(&self, cursor: &MenuCursor) -> Query {
        self.menu_items(&cursor.slug, cursor.position.skip, self.per_page, json!(cursor))
    }

    /// Asks for one product of the store, which names the store: there is no question about a store alone.
    pub fn store(&self, slug: &str) -> Query {
        self.menu_items(slug, 0, 1, json!(slug))
    }

    pub fn stores(&self, cursor: &StoresCursor) -> Query {
        let [latitude, longitude, miles] = cursor.around;
        let around = format!("geo_query_type=point&lat={latitude}&lon={longitude}&radius={miles}mi");
        let page = format!("limit={STORES_PER_PAGE}&page={}", cursor.position.page);
        let query = format!("filter[]=dispensary&{around}&{page}&sort=default&return_facets=true");
        let endpoint = rest::address(&self.finder, &self.finder_path, &query);
        rest::query(STORES_OPERATION, endpoint, self.page.clone(), json!(cursor))
    }

    fn menu_items(&self, slug: &str, skip: usize, take: u32, cursor: serde_json::Value) -> Query {
        let path = format!("{}/{slug}/menu_items", self.api_path);
        let endpoint = rest::address(&self.api, &path, &format!("skip={skip}&take={take}"));
        rest::query(MENU_OPERATION, endpoint, self.page_of(slug), cursor)
    }
}
