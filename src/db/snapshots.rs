//! `store_product_snapshots`: a product's price and stock in one crawl. Appended to, never changed.

use chrono::{DateTime, Utc};

use super::arrays::{column, potency_max, potency_min, potency_unit};
use super::products::ProductId;
use super::{Client, DbError, Tx};
use crate::domain::payload::PayloadId;
use crate::domain::product::Product;

/// Inserts those snapshots of a payload (column `crawl_id`) that the table lacks; returns how many. `ids` are those of `products`.
pub async fn insert(
    tx: &Tx,
    crawl: PayloadId,
    crawled_at: DateTime<Utc>,
    ids: &[ProductId],
    products: &[Product],
) -> Result<u64, DbError> {
    tx.execute(
        include_str!("sql/snapshots/insert.sql"),
        &[
            &crawl,
            &crawled_at,
            &ids,
            &column(products, |p| p.price_rec),
            &column(products, |p| p.price_med),
            &column(products, |p| p.special_price_rec),
            &column(products, |p| p.special_price_med),
            &column(products, |p| p.is_on_special),
            &column(products, |p| p.quantity),
            &column(products, |p| p.quantity_censored),
            &column(products, |p| p.is_in_stock),
            &column(products, |p| p.stock_status.name()),
            &column(products, |p| potency_min(&p.thc)),
            &column(products, |p| potency_max(&p.thc)),
            &column(products, |p| potency_unit(&p.thc)),
            &column(products, |p| potency_min(&p.cbd)),
            &column(products, |p| potency_max(&p.cbd)),
            &column(products, |p| potency_unit(&p.cbd)),
        ],
    )
    .await
}

/// Makes the partitions of this month and the next where they are missing; returns how many. For a tick, and cheap when there
/// is nothing to make.
pub async fn ensure_partitions(client: &Client) -> Result<i32, DbError> {
    let row = client.query_one(include_str!("sql/snapshots/ensure_partitions.sql"), &[]).await?;
    Ok(row.try_get(0)?)
}
