//! What one generation of tasks has come to: how far it is, what it left, and the shelves it describes.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Client, DbError};
use crate::domain::dispensary::Platform;

/// Tasks made since the generation began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub open: i64,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    pub stores_crawled: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Rows of the product table, whenever they came.
    pub products: i64,
    pub snapshots: i64,
    pub payloads: i64,
    /// The lowest of its payloads, 0…1.
    pub coverage: f64,
    pub blocks: i64,
    /// Proxies benched now, as a whole or at a host.
    pub benched: i64,
    pub seconds: f64,
}

/// A product as its row says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shelf {
    pub platform_dispensary_id: String,
    pub provider_product_id: String,
    pub name: String,
    pub brand: Option<String>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    pub stock_status: String,
    pub consecutive_misses: i32,
    pub variants: i64,
}

/// When that slot of a schedule was made, if it was.
pub async fn begun(client: &Client, schedule: &str, slot: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = client.query_opt(include_str!("sql/crawls/begun.sql"), &[&schedule, &slot]).await?;
    Ok(row.map(|row| row.get(0)))
}

pub async fn progress(client: &Client, since: DateTime<Utc>) -> Result<Progress, DbError> {
    let row = client.query_one(include_str!("sql/crawls/progress.sql"), &[&since]).await?;
    Ok(Progress {
        open: row.get("open"),
        completed: row.get("completed"),
        failed: row.get("failed"),
        cancelled: row.get("cancelled"),
        stores_crawled: row.get("stores_crawled"),
    })
}

pub async fn totals(client: &Client, since: DateTime<Utc>, blocks_to_bench: u32) -> Result<Totals, DbError> {
    let row = client.query_one(include_str!("sql/crawls/totals.sql"), &[&since, &i64::from(blocks_to_bench)]).await?;
    Ok(Totals {
        products: row.get("products"),
        snapshots: row.get("snapshots"),
        payloads: row.get("payloads"),
        coverage: row.get("coverage"),
        blocks: row.get("blocks"),
        benched: row.get("benched"),
        seconds: row.get("seconds"),
    })
}

/// Every product of a platform, as the table has it.
pub async fn shelves(client: &Client, platform: Platform) -> Result<Vec<Shelf>, DbError> {
    let rows = client.query(include_str!("sql/crawls/stock.sql"), &[&platform.name()]).await?;
    Ok(rows
        .iter()
        .map(|row| Shelf {
            platform_dispensary_id: row.get("platform_dispensary_id"),
            provider_product_id: row.get("provider_product_id"),
            name: row.get("name_raw"),
            brand: row.get("brand_name_raw"),
            price_rec: row.get("price_rec"),
            price_med: row.get("price_med"),
            special_price_rec: row.get("special_price_rec"),
            special_price_med: row.get("special_price_med"),
            is_on_special: row.get("is_on_special"),
            quantity: row.get("quantity"),
            quantity_censored: row.get("quantity_censored"),
            is_in_stock: row.get("is_in_stock"),
            stock_status: row.get("stock_status"),
            consecutive_misses: row.get("consecutive_misses"),
            variants: row.get("variants"),
        })
        .collect())
}
