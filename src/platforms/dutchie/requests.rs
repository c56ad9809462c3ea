//! The requests: where they go, what they ask, and what a page's script would put into their headers.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::menu_url::MenuUrl;
use super::normalize::PageSummary;
use crate::domain::dispensary::Dispensary;
use crate::platforms::Query;
use crate::stealth::{FetchError, Kind, Request};

/// Where a crawl of a menu stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuCursor {
    dispensary_id: String,
    /// From 0.
    page: u32,
    /// What page 0 said.
    total_pages: Option<u32>,
}

impl MenuCursor {
    pub fn first(dispensary_id: String) -> Self {
        MenuCursor { dispensary_id, page: 0, total_pages: None }
    }

    /// The next page, unless `answer` was the last one, or empty.
    pub fn after(&self, answer: &PageSummary, per_page: u32) -> Option<MenuCursor> {
        let announced = || {
            let by_count = answer.total_count.map(|count| count.div_ceil(per_page.max(1) as usize) as u32);
            answer.total_pages.or(by_count)
        };
        let total_pages = self.total_pages.or_else(announced);
        let page = self.page + 1;
        let is_last = answer.items == 0 || total_pages.is_some_and(|pages| page >= pages);
        (!is_last).then(|| MenuCursor { dispensary_id: self.dispensary_id.clone(), page, total_pages })
    }
}

pub fn cursor<T: for<'de> Deserialize<'de>>(query: &Query) -> Result<T, FetchError> {
    let why = |error: serde_json::Error| format!("the cursor of its question was lost: {error}");
    let host = query.endpoint.host_str().unwrap_or_default().to_owned();
    T::deserialize(&query.cursor).map_err(|error| FetchError::Decode { host, why: why(error) })
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
    // strings and numbers alone cannot fail to be written
    serde_json::to_string(&variables).unwrap_or_default()
}

/// Where the store's API is: the platform's address, with the store's own host and path where it has them.
pub fn endpoint(base: &Url, api_path: &str, store: &Dispensary) -> Result<Url, FetchError> {
    let mut url = base.clone();
    if let Some(host) = &store.api_host {
        replace_host(&mut url, host)
            .ok_or_else(|| FetchError::Refused { what: host.clone(), why: "it is no host".to_owned() })?;
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

/// The store's menu page at the host of its API: a browser would ask leave first for any other.
pub fn menu_page(endpoint: &Url, store: &Dispensary) -> Url {
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

/// A GET that names its query by hash.
pub fn by_hash(query: &Query, hash: &str) -> Request {
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } }).to_string();
    let mut url = query.endpoint.clone();
    url.query_pairs_mut()
        .append_pair("operationName", query.operation)
        .append_pair("variables", &query.variables)
        .append_pair("extensions", &extensions);
    request(Kind::GraphqlGet, url, query, None)
}

/// A POST of the query's whole text.
pub fn by_text(query: &Query, document: &str) -> Request {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let body = format!(
        r#"{{"operationName":{},"variables":{},"query":{}}}"#,
        text(query.operation),
        query.variables,
        text(document)
    );
    request(Kind::GraphqlPost, query.endpoint.clone(), query, Some(Bytes::from(body)))
}

/// The headers have the order in which Dutchie's client sets them; one that is not simple keeps the answer from being refused.
fn request(kind: Kind, url: Url, query: &Query, body: Option<Bytes>) -> Request {
    let script_headers = [
        ("accept", "*/*"),
        ("content-type", "application/json"),
        ("apollographql-client-name", "Marketplace (production)"),
        ("apollo-require-preflight", "true"),
        ("x-apollo-operation-name", query.operation),
    ];
    let script_headers = script_headers.map(|(name, value)| (name, value.to_owned())).to_vec();
    Request { kind, url, referer: query.referer.clone(), script_headers, body }
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
