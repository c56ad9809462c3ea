//! `PageRead`: one page of a menu, normalised, and the facts of it that a crawl needs.
//!
//! In: pages, and a platform's reader of one page. Out: parts of a menu, or the whole one. It must not know how a page is written.

use std::collections::{BTreeMap, HashMap};

use super::{MenuPart, Query};
use domain::menu::{MenuBuilder, NormalMenu, NormalPage, NormaliseError};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageRead {
    pub page: NormalPage,
    /// Items on the page, readable or not.
    pub items: usize,
    pub total_count: Option<usize>,
    /// Whether the total is an estimate.
    pub is_estimate: bool,
    pub total_pages: Option<usize>,
    /// Number of items by facet and value, where the platform counts them.
    pub facets: BTreeMap<String, BTreeMap<String, u64>>,
    /// The stores that its items say they are of, and how many say so.
    pub stores: HashMap<String, usize>,
}

impl PageRead {
    pub fn into_part(self, next: Option<Query>) -> MenuPart {
        MenuPart { page: self.page, total_count: self.total_count, is_estimate: self.is_estimate, next }
    }
}

/// Normalises the pages of one crawl. In: the pages, and a reader that gets the number of a page and the page.
pub fn normalise(
    pages: &[&[u8]],
    read: impl Fn(usize, &[u8]) -> Result<PageRead, NormaliseError>,
) -> Result<NormalMenu, NormaliseError> {
    let mut menu = MenuBuilder::default();
    for (number, body) in pages.iter().enumerate() {
        menu.add(read(number, body)?.page)?;
    }
    Ok(menu.build())
}
