//! What a menu platform must offer, and the one loop that crawls any of them.
//!
//! An adapter is pure: it makes requests, reads answers and normalises items. It must not know the database, files or tasks;
//! sending, rotating and pausing are the session's. In: a store. Out: a [`Menu`] of untouched answers, or found stores.

use chrono::{DateTime, Utc};

use crate::domain::dispensary::{Dispensary, FoundStore, Platform};
use crate::domain::product::NormalMenu;
use crate::stealth::Response;

pub mod dutchie;

pub use dutchie::normalize::NormaliseError;

/// A whole crawl of one store: the answers as they came, and what they hold together.
#[derive(Clone, Debug)]
pub struct Menu {
    pub platform: Platform,
    pub dispensary_id: i64,
    pub platform_dispensary_id: String,
    pub fetched_at: DateTime<Utc>,
    /// What upstream said there is.
    pub total_count: usize,
    /// Distinct provider ids over all pages.
    pub product_count: usize,
    pub pages: Vec<Response>,
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

/// A point to look for stores around.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveryPoint {
    pub state: String,
    pub latitude: f64,
    pub longitude: f64,
    pub miles: f64,
}

/// Where a store without a platform id leads: its id, and the name the platform uses for it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreRef {
    pub platform_dispensary_id: String,
    pub slug: Option<String>,
    pub name: Option<String>,
}

/// Turns the pages of one crawl into products.
pub fn normalise(platform: Platform, pages: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    match platform {
        Platform::Dutchie => dutchie::normalize::normalise(pages),
    }
}

#[allow(unused)]
fn shapes(_: &Dispensary, _: &FoundStore) {}
