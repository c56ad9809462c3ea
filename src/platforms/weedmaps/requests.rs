//! The addresses that are asked, and the positions of crawls in lists.
//!
//! In: a listing, a position. Out: a [`Query`]. It must not know answers, sessions or tasks.

use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::menu_url::Listing;
use crate::platforms::Query;
use crate::platforms::rest::{self, Position, StoresCursor};

const MENU_OPERATION: &str = "menu_items";
const LISTING_OPERATION: &str = "listing";
const LISTINGS_OPERATION: &str = "listings";
/// Listings requested per page: it refuses more.
const LISTINGS_PER_PAGE: u32 = 100;

/// Addresses of the platform.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub api: Url,
    pub listing_path: String,
    pub listings_path: String,
    pub page: Url,
    pub per_page: u32,
}

/// Position of a crawl in a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuCursor {
    pub listing: Listing,
    pub position: Position,
}

impl Addresses {
    /// The page of a listing, as people visit it.
    pub fn page_of(&self, listing: &Listing) -> Url {
        rest::address(&self.page, &listing.path(), "")
    }

    pub fn listing(&self, listing: &Listing) -> Query {
        rest::query(LISTING_OPERATION, self.of_listing(listing, "", ""), self.page_of(listing), json!(listing))
    }

    pub fn menu(&self, cursor: &MenuCursor) -> Query {
        let MenuCursor { listing, position } = cursor;
        // pages overlap less in a stable order
        let query = format!("page={}&page_size={}&sort_by=name&sort_order=asc", position.page, self.per_page);
        let endpoint = self.of_listing(listing, "/menu_items", &query);
        rest::query(MENU_OPERATION, endpoint, self.page_of(listing), json!(cursor))
    }

    pub fn listings(&self, cursor: &StoresCursor) -> Query {
        let [latitude, longitude, miles] = cursor.around;
        let services = "filter[any_retailer_services][]=storefront&filter[any_retailer_services][]=delivery";
        let around = format!(
            "filter[bounding_latlng]={latitude},{longitude}&filter[bounding_radius]={miles}mi&latlng={latitude},{longitude}"
        );
        let page = format!("page_size={LISTINGS_PER_PAGE}&page={}", cursor.position.page);
        let endpoint = rest::address(&self.api, &self.listings_path, &format!("{services}&{around}&{page}"));
        rest::query(LISTINGS_OPERATION, endpoint, self.page.clone(), json!(cursor))
    }

    fn of_listing(&self, listing: &Listing, below: &str, query: &str) -> Url {
        rest::address(&self.api, &format!("{}/{}{below}", self.listing_path, listing.path()), query)
    }
}
