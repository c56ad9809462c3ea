//! Stores for display: their places, the state of their crawls, and their sales. Reads only.
//!
//! [`crate::products::views`] has their products.

pub(crate) mod filter;

use self::filter::FilterValues;
use crate::statements::{FromRow, document, named, page, read_all, rows, word};
use crate::{Client, DbError};
use contract::stores::{StoreCursor, StoreFilter, StoreView};
use domain::store::StoreId;

/// Stores of one page, and how many match.
#[derive(Debug)]
pub struct StoreViews {
    pub stores: Vec<StoreView>,
    pub total: i64,
    /// Begin of the next page; none after the last one.
    pub next: Option<StoreCursor>,
}

/// Lists at most `limit` stores, in the order of the filter's sort.
pub async fn list(client: &Client, filter: &StoreFilter, limit: i64) -> Result<StoreViews, DbError> {
    let (sort, is_backwards) = filter.sort.key();
    let after = filter.after.as_ref();
    let rows = named!(client.query_planned(
        "stores/views/list.sql",
        id = filter.id,
        sort,
        is_backwards,
        after_number = after.map(|cursor| cursor.number),
        after_text = after.map(|cursor| cursor.text.as_str()),
        after_id = after.map(|cursor| cursor.id),
        limit = limit.saturating_add(1),
        ..FilterValues::of(filter)
    ))
    .await?;
    let total = rows.first().map(|row| row.try_get("total")).transpose()?.unwrap_or_default();
    // the one row of an empty page holds the total alone
    let is_empty = rows.first().map(|row| row.try_get::<_, Option<StoreId>>("id")).transpose()?.flatten().is_none();
    let (shown, last) = if is_empty { (&rows[..0], None) } else { page(&rows, limit) };
    Ok(StoreViews { stores: read_all(shown)?, total, next: last.map(StoreCursor::from_row).transpose()? })
}

pub async fn get(client: &Client, id: StoreId) -> Result<Option<StoreView>, DbError> {
    let filter = StoreFilter { id: Some(id), ..StoreFilter::default() };
    Ok(list(client, &filter, 1).await?.stores.pop())
}

rows! {
    StoreCursor { number: "sort_number", text: "sort_text", id }

    StoreView {
        id, name, slug,
        platform: word,
        platform_dispensary_id, menu_url, address, city, state, zip, latitude, longitude, phone,
        timezone, is_recreational, is_medical, licences, website, email, former_menus: document, retailer_id, groups, crawl_enabled,
        crawl_status: word,
        empty_menus,
        suspicious: document,
        disabled_reason, lookup_task_id, lookup_error, lookup_next_at,
        last_fetch_at, last_crawl_at, last_payload_id, last_payload_at, last_complete_at,
        last_coverage, products, in_stock, on_special,
    }
}
