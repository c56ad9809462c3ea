//! The requests: questions to the two indexes, and the position of a crawl in a menu that is larger than an index answers.
//!
//! In: a store, a point or an answer. Out: bodies and cursors. It must not know sessions or tasks.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use url::Url;

use super::menu_url;
use crate::platforms::page_read::PageRead;
use crate::platforms::{DiscoveryPoint, json_text};
use domain::store::{FoundStore, Store};

const METRES_PER_MILE: f64 = 1609.344;
/// Stores requested per page.
pub const STORES_PER_PAGE: u32 = 100;
/// Maximum number of values of a facet that cut a menu: as many as the index names.
const MAX_PARTS: usize = 100;
const MAX_VALUE_BYTES: usize = 200;
/// Maximum number of times that a part is begun again because products went while its pages were read.
const MAX_RESTARTS: u8 = 2;

/// Position of a crawl in a menu. A menu of more products than the index lets pass is asked for in parts: by kind, and a kind that
/// is too large by subtype.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuCursor {
    pub store: String,
    part: Part,
    /// Number of the page of the part, from 0.
    pub page: u32,
    /// Number of products of the part, as its first page announced it.
    total: Option<usize>,
    /// Number of times that the part was begun again.
    restarts: u8,
    /// Parts that are still to be asked for.
    left: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    /// Condition beside the store; empty for the whole menu.
    filter: String,
    /// Facet by which it is cut where it is too large.
    facet: Option<Facet>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
enum Facet {
    Kind,
    RootSubtype,
}

impl Facet {
    /// The facet that cuts a part of this one.
    fn below(self) -> Option<Facet> {
        match self {
            Facet::Kind => Some(Facet::RootSubtype),
            Facet::RootSubtype => None,
        }
    }
}

impl Part {
    /// The parts that make this one: one for each value of its facet, and one for the other products. None when it fits
    /// into its pages, or cannot be cut.
    fn cut(&self, answer: &PageRead, per_page: u32) -> Option<Vec<Part>> {
        let (facet, total) = (self.facet?, answer.total_count?);
        if total <= answer.total_pages? * per_page as usize {
            return None;
        }
        let name = <&str>::from(facet);
        let values = answer.facets.get(name)?.iter();
        let values: Vec<(String, u64)> = values
            .filter(|(value, _)| (1..=MAX_VALUE_BYTES).contains(&value.len()))
            .map(|(value, count)| (format!("{name}:{}", quoted(value)), *count))
            .take(MAX_PARTS)
            .collect();
        if values.is_empty() {
            return None;
        }
        let mut parts: Vec<Part> = values.iter().map(|(condition, _)| self.and(condition, facet)).collect();
        let counted: u64 = values.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count));
        if counted < total as u64 {
            let others: Vec<String> = values.iter().map(|(condition, _)| format!("NOT {condition}")).collect();
            parts.push(self.and(&others.join(" AND "), facet));
        }
        Some(parts)
    }

    /// The part of these products alone, made by a cut by `facet`.
    fn and(&self, condition: &str, facet: Facet) -> Part {
        let filter =
            if self.filter.is_empty() { condition.to_owned() } else { format!("{} AND {condition}", self.filter) };
        Part { filter, facet: facet.below() }
    }
}

/// A value of a facet as filters have it.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

impl MenuCursor {
    pub fn first(store: String) -> MenuCursor {
        let whole = Part { filter: String::new(), facet: Some(Facet::Kind) };
        MenuCursor::of(store, whole, Vec::new())
    }

    /// The beginning of a part.
    fn of(store: String, part: Part, left: Vec<Part>) -> MenuCursor {
        MenuCursor { store, part, page: 0, total: None, restarts: 0, left }
    }

    /// Whether the answer's total is that of the whole menu.
    pub fn is_whole(&self) -> bool {
        self.part.filter.is_empty()
    }

    /// The next position, unless `answer` was the last one.
    pub fn after(&self, answer: &PageRead, per_page: u32) -> Option<MenuCursor> {
        if self.page == 0
            && let Some(parts) = self.part.cut(answer, per_page)
        {
            return self.next_part(parts);
        }
        if self.has_shrunk(answer) {
            return Some(MenuCursor { page: 0, total: None, restarts: self.restarts + 1, ..self.clone() });
        }
        let is_last = answer.items == 0 || answer.total_pages.is_none_or(|pages| self.page as usize + 1 >= pages);
        match is_last {
            true => self.next_part(Vec::new()),
            false => Some(MenuCursor { page: self.page + 1, total: self.total.or(answer.total_count), ..self.clone() }),
        }
    }

    /// Whether products went while the pages were read: those behind them moved up, past the pages that are still to be read.
    fn has_shrunk(&self, answer: &PageRead) -> bool {
        let totals = answer.total_count.zip(self.total).filter(|_| self.restarts < MAX_RESTARTS && !answer.is_estimate);
        totals.is_some_and(|(now, at_first)| now < at_first)
    }

    /// The beginning of the next part, which are first those that this one was cut into.
    fn next_part(&self, cut: Vec<Part>) -> Option<MenuCursor> {
        let mut left = cut.into_iter().chain(self.left.iter().cloned());
        let part = left.next()?;
        Some(MenuCursor::of(self.store.clone(), part, left.collect()))
    }

    /// Body of the question, in the order of the platform's own client.
    pub fn body(&self, per_page: u32) -> String {
        let store = format!("store_id:{}", self.store);
        json_text(&MenuBody {
            query: "",
            filters: if self.is_whole() { store } else { format!("{store} AND {}", self.part.filter) },
            hits_per_page: per_page,
            page: self.page,
            facets: self.part.facet.into_iter().collect(),
            attributes_to_highlight: [],
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MenuBody {
    query: &'static str,
    filters: String,
    hits_per_page: u32,
    page: u32,
    facets: Vec<Facet>,
    attributes_to_highlight: [&'static str; 0],
}

/// Name by which a single store is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreName {
    Id(String),
    Slug(String),
}

impl StoreName {
    /// The number in its menu's address goes before its slug.
    pub fn of(store: &Store) -> Option<StoreName> {
        let id = store.menu_url.as_deref().and_then(menu_url::key).map(StoreName::Id);
        id.or_else(|| store.slug.clone().map(StoreName::Slug))
    }

    pub fn text(&self) -> &str {
        match self {
            StoreName::Id(text) | StoreName::Slug(text) => text,
        }
    }

    pub fn names(&self, store: &FoundStore) -> bool {
        match self {
            StoreName::Id(id) => store.platform_dispensary_id == *id,
            StoreName::Slug(slug) => store.slug.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(slug)),
        }
    }

    /// The address that answers for it, at the host of the pages.
    pub fn address(&self, pages: &Url) -> Url {
        let mut url = pages.clone();
        match self {
            StoreName::Id(id) => url.set_path(&format!("/api/v1/stores/{id}")),
            StoreName::Slug(slug) => {
                url.set_path("/api/v1/stores");
                url.query_pairs_mut().append_pair("slug", slug);
            }
        }
        url
    }
}

/// Position in the stores around a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoresCursor {
    latitude: f64,
    longitude: f64,
    miles: f64,
    page: u32,
}

impl StoresCursor {
    pub fn first(point: &DiscoveryPoint) -> StoresCursor {
        let &DiscoveryPoint { latitude, longitude, miles } = point;
        StoresCursor { latitude, longitude, miles, page: 0 }
    }

    /// The next page of `pages`.
    pub fn after(&self, pages: u64) -> Option<StoresCursor> {
        let page = self.page + 1;
        (u64::from(page) < pages).then(|| StoresCursor { page, ..self.clone() })
    }

    pub fn body(&self) -> String {
        json_text(&StoresBody {
            query: "",
            around_lat_lng: format!("{},{}", self.latitude, self.longitude),
            around_radius: (self.miles * METRES_PER_MILE).ceil() as u32,
            hits_per_page: STORES_PER_PAGE,
            page: self.page,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoresBody {
    query: &'static str,
    around_lat_lng: String,
    around_radius: u32,
    hits_per_page: u32,
    page: u32,
}
