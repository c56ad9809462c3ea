//! Stores for display: their places, the state of their crawls, and their sales. Reads only.
//!
//! [`super::product_views`] has their products.

use tokio_postgres::types::Type;

use super::row::{read_all, rows, word};
use super::{Client, DbError};
use contract::stores::{StoreFilter, StoreView};
use domain::store::{Platform, StoreId, StoreStatus};

/// At most `limit` stores, in the order of their ids.
pub async fn list(client: &Client, filter: &StoreFilter, limit: i64) -> Result<Vec<StoreView>, DbError> {
    let platform = filter.platform.map(Platform::name);
    let crawl_status = filter.crawl_status.map(StoreStatus::name);
    let rows = client
        .query_planned(
            include_str!("sql/store_views/list.sql"),
            &[
                (&filter.state, Type::TEXT),
                (&platform, Type::TEXT),
                (&filter.group, Type::TEXT),
                (&filter.crawl_enabled, Type::BOOL),
                (&crawl_status, Type::TEXT),
                (&filter.q, Type::TEXT),
                (&filter.after, Type::INT8),
                (&filter.id, Type::INT8),
                (&limit, Type::INT8),
            ],
        )
        .await?;
    read_all(&rows)
}

pub async fn get(client: &Client, id: StoreId) -> Result<Option<StoreView>, DbError> {
    let filter = StoreFilter { id: Some(id), ..StoreFilter::default() };
    Ok(list(client, &filter, 1).await?.pop())
}

rows! {
    StoreView {
        id, name, slug,
        platform: word,
        platform_dispensary_id, menu_url, address, city, state, zip, latitude, longitude, phone,
        timezone, is_recreational, is_medical, groups, crawl_enabled,
        crawl_status: word,
        disabled_reason, lookup_task_id, lookup_error, lookup_next_at,
        last_fetch_at, last_crawl_at, last_payload_id, last_payload_at, last_complete_at,
        last_coverage, products, in_stock, on_special,
    }
}
