//! `store_product_snapshots`: a product's price and stock in one crawl. Append-only.
//!
//! No key of the table refuses a second snapshot of a product and crawl: writers hold the lock of the store's
//! row, and check first whether a payload was written before ([`of_crawl`]).

use std::collections::HashSet;

use crate::connection::copy::copy_in;
use crate::statements::{columns, first_column, potency_max, potency_min, potency_unit, sql};
use crate::{Client, DbError, Tx};
use domain::menu::product::{Product, ProductId};
use domain::menu::stock::PayloadPosition;

columns! {
    "store_product_snapshots", (id, product): (ProductId, &Product), payload: PayloadPosition;
    new {
        store_product_id: INT8 = id,
        crawl_id: INT8 = payload.id,
        crawled_at: TIMESTAMPTZ = payload.fetched_at,
        price_rec: INT4 = product.price_rec,
        price_med: INT4 = product.price_med,
        special_price_rec: INT4 = product.special_price_rec,
        special_price_med: INT4 = product.special_price_med,
        is_on_special: BOOL = product.is_on_special,
        quantity: INT4 = product.quantity,
        quantity_censored: BOOL = product.quantity_censored,
        is_in_stock: BOOL = product.is_in_stock,
        stock_status: TEXT = product.stock_status.name(),
        thc_min: FLOAT8 = potency_min(&product.thc),
        thc_max: FLOAT8 = potency_max(&product.thc),
        thc_unit: TEXT = potency_unit(&product.thc),
        cbd_min: FLOAT8 = potency_min(&product.cbd),
        cbd_max: FLOAT8 = potency_max(&product.cbd),
        cbd_unit: TEXT = potency_unit(&product.cbd),
    }
}

/// Products that have a snapshot of this payload (column `crawl_id`).
pub async fn of_crawl(tx: &Tx, payload: PayloadPosition) -> Result<HashSet<ProductId>, DbError> {
    let sql = sql!("products/snapshots/of_crawl.sql");
    tx.query(sql, &[&payload.id, &payload.fetched_at]).await?.iter().map(first_column).collect()
}

/// Adds snapshots of a payload that has none of these products yet; returns their number.
pub async fn insert(tx: &Tx, payload: PayloadPosition, products: &[(ProductId, &Product)]) -> Result<u64, DbError> {
    copy_in(tx, &payload, products).await
}

/// Creates missing partitions of this month and the next; returns their number. For a tick: cheap when
/// nothing is missing.
pub async fn ensure_partitions(client: &Client) -> Result<i32, DbError> {
    let row = client.query_one(sql!("products/snapshots/ensure_partitions.sql"), &[]).await?;
    Ok(row.try_get(0)?)
}
