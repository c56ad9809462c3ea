//! `store_product_snapshots`: a product's price and stock in one crawl. Appended to, never changed.
//!
//! The table has no key to refuse a second snapshot of a product and crawl: those who write hold the lock of the store's row, and a
//! payload that may have been written before asks first ([`of_crawl`]).

use std::collections::HashSet;

use tokio_postgres::types::Type;

use super::arrays::{potency_max, potency_min, potency_unit};
use super::copy::{CopyTarget, copy_in};
use super::row::first_column;
use super::{Client, DbError, Tx};
use domain::product::{Product, ProductId};
use domain::stock::PayloadPosition;

const SNAPSHOTS: CopyTarget = CopyTarget {
    sql: include_str!("sql/snapshots/copy.sql"),
    types: &[
        Type::INT8,
        Type::INT8,
        Type::TIMESTAMPTZ,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::BOOL,
        Type::INT4,
        Type::BOOL,
        Type::BOOL,
        Type::TEXT,
        Type::FLOAT8,
        Type::FLOAT8,
        Type::TEXT,
        Type::FLOAT8,
        Type::FLOAT8,
        Type::TEXT,
    ],
};

/// The products that have a snapshot of this payload (column `crawl_id`).
pub async fn of_crawl(tx: &Tx, payload: PayloadPosition) -> Result<HashSet<ProductId>, DbError> {
    let sql = include_str!("sql/snapshots/of_crawl.sql");
    tx.query(sql, &[&payload.id, &payload.fetched_at]).await?.iter().map(first_column).collect()
}

/// Adds snapshots of a payload, which has none of these products yet; returns how many.
pub async fn insert(tx: &Tx, payload: PayloadPosition, products: &[(ProductId, &Product)]) -> Result<u64, DbError> {
    copy_in(tx, &SNAPSHOTS, products, |encoder, (id, p)| {
        encoder.row(&[
            id,
            &payload.id,
            &payload.fetched_at,
            &p.price_rec,
            &p.price_med,
            &p.special_price_rec,
            &p.special_price_med,
            &p.is_on_special,
            &p.quantity,
            &p.quantity_censored,
            &p.is_in_stock,
            &p.stock_status.name(),
            &potency_min(&p.thc),
            &potency_max(&p.thc),
            &potency_unit(&p.thc),
            &potency_min(&p.cbd),
            &potency_max(&p.cbd),
            &potency_unit(&p.cbd),
        ])
    })
    .await
}

/// Makes the partitions of this month and the next where they are missing; returns how many. For a tick, and cheap when there
/// is nothing to make.
pub async fn ensure_partitions(client: &Client) -> Result<i32, DbError> {
    let row = client.query_one(include_str!("sql/snapshots/ensure_partitions.sql"), &[]).await?;
    Ok(row.try_get(0)?)
}
