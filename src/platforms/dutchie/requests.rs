//! The requests: their addresses, their content, and the headers that a page's script would set.
//!
//! In: a store or a query. Out: variables, addresses and a [`Request`]. It must not know answers, sessions or
//! tasks.

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize, Serializer};
use url::Url;

use super::menu_url::MenuUrl;
use crate::platforms::page_read::PageRead;
use crate::platforms::{Query, graphql, json_text};
use crate::stealth::{FetchError, Request, RequestKind};
use domain::store::Store;

/// Position of a crawl in a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuCursor {
    pub dispensary_id: String,
    /// Number of the page, from 0.
    pub page: u32,
    /// Page count, as page 0 stated it.
    total_pages: Option<u32>,
}

impl MenuCursor {
    pub fn first(dispensary_id: String) -> Self {
        MenuCursor { dispensary_id, page: 0, total_pages: None }
    }

    /// The next page, unless `answer` was the last one, or empty.
    pub fn after(&self, answer: &PageRead, per_page: u32) -> Option<MenuCursor> {
        let announced = || {
            let by_count = answer.total_count.map(|count| count.div_ceil(per_page as usize));
            answer.total_pages.or(by_count).map(|pages| u32::try_from(pages).unwrap_or(u32::MAX))
        };
        let total_pages = self.total_pages.or_else(announced);
        let page = self.page + 1;
        let is_last = answer.items == 0 || total_pages.is_some_and(|pages| page >= pages);
        (!is_last).then(|| MenuCursor { dispensary_id: self.dispensary_id.clone(), page, total_pages })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MenuVariables<'a> {
    include_enterprise_specials: bool,
    include_cannabinoids: bool,
    products_filter: ProductsFilter<'a>,
    page: u32,
    per_page: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProductsFilter<'a> {
    dispensary_id: &'a str,
    /// `rec` answers with both kinds of prices.
    pricing_type: &'static str,
    /// `All` is everything; null is nothing.
    #[serde(rename = "Status")]
    status: &'static str,
    types: [&'static str; 0],
    use_cache: bool,
    is_default_sort: bool,
    sort_by: &'static str,
    sort_direction: u8,
    bypass_online_thresholds: bool,
    is_kiosk_menu: bool,
    remove_products_below_option_thresholds: bool,
}

/// The variables of one menu page, in the order of the platform's own client.
pub fn menu_variables(cursor: &MenuCursor, per_page: u32) -> String {
    let variables = MenuVariables {
        include_enterprise_specials: false,
        include_cannabinoids: true,
        products_filter: ProductsFilter {
            dispensary_id: &cursor.dispensary_id,
            pricing_type: "rec",
            status: "All",
            types: [],
            use_cache: false,
            is_default_sort: true,
            sort_by: "popularSortIdx",
            sort_direction: 1,
            bypass_online_thresholds: true,
            is_kiosk_menu: false,
            remove_products_below_option_thresholds: false,
        },
        page: cursor.page,
        per_page,
    };
    json_text(&variables)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoreVariables<'a> {
    dispensary_filter: StoreFilter<'a>,
}

/// Filter of the stores to look up.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum StoreFilter<'a> {
    ByName {
        #[serde(rename = "cNameOrID")]
        name_or_id: &'a str,
    },
    /// Distance in miles.
    Around {
        #[serde(serialize_with = "as_javascript")]
        near_lat: f64,
        #[serde(serialize_with = "as_javascript")]
        near_lng: f64,
        #[serde(serialize_with = "as_javascript")]
        distance: f64,
    },
}

pub fn store_variables(filter: StoreFilter<'_>) -> String {
    json_text(&StoreVariables { dispensary_filter: filter })
}

/// JavaScript writes 150 where Rust writes 150.0.
fn as_javascript<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return serializer.serialize_i64(*number as i64);
    }
    serializer.serialize_f64(*number)
}

/// Extensions in the order of the platform's own client.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Extensions<'a> {
    persisted_query: PersistedQuery<'a>,
}

#[derive(Serialize)]
struct PersistedQuery<'a> {
    version: u8,
    #[serde(rename = "sha256Hash")]
    hash: &'a str,
}

const BAD_HOST: &str = "it is not a host such as menu.example.com:8443";

/// Address of the store's API: the platform's address, with the store's own host and path where it has them.
pub fn endpoint(base: &Url, api_path: &str, store: &Store) -> Result<Url, FetchError> {
    let mut url = base.clone();
    if let Some(host) = &store.api_host {
        replace_host(&mut url, host).ok_or_else(|| FetchError::NotAllowed {
            what: format!("api_host '{host}'"),
            reason: BAD_HOST.to_owned(),
        })?;
    }
    Ok(at(&url, store.api_path.as_deref().unwrap_or(api_path)))
}

/// `path` at the origin of `base`.
pub fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// The store's menu page at the host of its API: from a page of another origin a browser would send a CORS
/// preflight first.
pub fn menu_referer(endpoint: &Url, store: &Store) -> Url {
    if let Some(MenuUrl { url: mut page, .. }) = store.menu_url.as_deref().and_then(MenuUrl::parse) {
        page.set_fragment(None);
        if page.origin() == endpoint.origin() {
            return page;
        }
        return at(endpoint, page.path());
    }
    match (&store.slug, &store.platform_dispensary_id) {
        (Some(slug), _) => at(endpoint, &format!("/dispensary/{slug}")),
        (None, Some(id)) => at(endpoint, &format!("/embedded-menu/{id}")),
        (None, None) => at(endpoint, "/"),
    }
}

/// Characters that JavaScript's `encodeURIComponent` leaves unescaped.
const URI_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// A GET that names its query by hash.
pub fn by_hash(query: &Query, hash: &str) -> Request {
    let extensions = json_text(&Extensions { persisted_query: PersistedQuery { version: 1, hash } });
    let encoded = |text| utf8_percent_encode(text, URI_COMPONENT);
    let mut url = query.endpoint.clone();
    url.set_query(Some(&format!(
        "operationName={}&variables={}&extensions={}",
        encoded(query.operation),
        encoded(&query.parameters),
        encoded(&extensions)
    )));
    request(RequestKind::Fetch, url, query, None)
}

/// A POST of the query's whole text.
pub fn by_text(query: &Query, document: &str) -> Request {
    request(RequestKind::FetchWithBody, query.endpoint.clone(), query, Some(graphql::body(query, document)))
}

/// The headers have the order in which Dutchie's client sets them. Apollo refuses a GET without a non-simple
/// header (CSRF prevention): `apollo-require-preflight` is that header.
fn request(kind: RequestKind, url: Url, query: &Query, body: Option<Bytes>) -> Request {
    let script_headers = [
        ("accept", "*/*"),
        ("content-type", "application/json"),
        ("apollographql-client-name", "Marketplace (production)"),
        ("apollo-require-preflight", "true"),
        ("x-apollo-operation-name", query.operation),
    ];
    let script_headers = script_headers.map(|(name, value)| (name, value.to_owned())).to_vec();
    Request { script_headers, body, ..Request::new(kind, url, query.referer.clone()) }
}

/// Host, and port where it is given; the scheme stays.
fn replace_host(url: &mut Url, host: &str) -> Option<()> {
    let given = Url::parse(&format!("{}://{host}", url.scheme())).ok()?;
    let is_only_a_host = given.path() == "/" && given.query().is_none() && given.username().is_empty();
    if !is_only_a_host || host.contains(['/', '#', '@']) {
        return None;
    }
    url.set_host(given.host_str()).ok()?;
    url.set_port(given.port()).ok()
}
