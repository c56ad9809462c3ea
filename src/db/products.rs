//! `store_products`: the current row of each product.
//!
//! Every function here needs the store's row locked ([`super::stores::lock`]): then no other transaction writes its products.
//! Nothing here compares: which rows are new or changed is `domain/menu_diff`'s to say.

use chrono::{DateTime, Utc};
use tokio_postgres::types::Type;

use super::arrays::{column, potency_max, potency_min, potency_unit};
use super::copy::{CopyTarget, copy_in};
use super::row::{first_columns, read_all, rows};
use super::{DbError, MAX_BATCH, Tx};
use crate::domain::menu_diff::KnownProduct;
use crate::domain::product::{Product, ProductId, SpecialsJson};
use crate::domain::store::{Platform, StoreId};

/// Whose products: a store's, as one platform (column `provider`) names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductScope {
    pub dispensary_id: StoreId,
    pub platform: Platform,
}

/// A product of a menu on its way into its row.
#[derive(Clone, Copy, Debug)]
pub struct ProductWrite<'a> {
    pub id: ProductId,
    /// None = the row is to be written again at the next refresh.
    pub content_hash: Option<i64>,
    pub product: &'a Product,
}

const NEW: CopyTarget = CopyTarget {
    sql: include_str!("sql/products/copy.sql"),
    types: &[
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::INT2,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::BOOL,
        Type::FLOAT8,
        Type::FLOAT8,
        Type::TEXT,
        Type::FLOAT8,
        Type::FLOAT8,
        Type::TEXT,
        Type::INT4,
        Type::BOOL,
        Type::BOOL,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::TIMESTAMPTZ,
        Type::TIMESTAMPTZ,
    ],
};

/// Every product that the store has.
pub async fn known(tx: &Tx, scope: ProductScope) -> Result<Vec<KnownProduct>, DbError> {
    let sql = include_str!("sql/products/known.sql");
    read_all(&tx.query(sql, &[&scope.dispensary_id, &scope.platform.name()]).await?)
}

/// Ids for that many new products.
pub async fn reserve_ids(tx: &Tx, count: usize) -> Result<Vec<ProductId>, DbError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let count = i64::try_from(count).map_err(|error| DbError::Other(error.to_string()))?;
    first_columns(&tx.query(include_str!("sql/products/reserve_ids.sql"), &[&count]).await?)
}

/// Adds products that have no row yet. `misses` is 0 unless their payload is older than what the store has already.
pub async fn insert(
    tx: &Tx,
    scope: ProductScope,
    fetched_at: DateTime<Utc>,
    misses: i16,
    new: &[ProductWrite<'_>],
) -> Result<(), DbError> {
    copy_in(tx, &NEW, new, |encoder, ProductWrite { id, content_hash, product: p }| {
        encoder.row(&[
            id,
            &scope.dispensary_id,
            &scope.platform.name(),
            &p.provider_product_id,
            &misses,
            &fetched_at,
            &fetched_at,
            content_hash,
            &p.enterprise_product_id,
            &p.name_raw,
            &p.brand_name_raw,
            &p.category,
            &p.subcategory,
            &p.strain_type,
            &p.price_rec,
            &p.price_med,
            &p.special_price_rec,
            &p.special_price_med,
            &p.is_on_special,
            &potency_min(&p.thc),
            &potency_max(&p.thc),
            &potency_unit(&p.thc),
            &potency_min(&p.cbd),
            &potency_max(&p.cbd),
            &potency_unit(&p.cbd),
            &p.quantity,
            &p.quantity_censored,
            &p.is_in_stock,
            &p.stock_status.name(),
            &p.upstream_status.map(|status| status.name()),
            &p.image_url,
            &p.brand_image_url,
            &p.specials.as_ref().map(SpecialsJson::hash),
            &p.upstream_created_at,
            &p.upstream_updated_at,
        ])
    })
    .await?;
    Ok(())
}

/// Writes products of the menu over their rows, which have no miss any more.
pub async fn update(tx: &Tx, fetched_at: DateTime<Utc>, changed: &[ProductWrite<'_>]) -> Result<(), DbError> {
    for batch in changed.chunks(MAX_BATCH) {
        update_batch(tx, fetched_at, batch).await?;
    }
    Ok(())
}

async fn update_batch(tx: &Tx, fetched_at: DateTime<Utc>, changed: &[ProductWrite<'_>]) -> Result<(), DbError> {
    tx.execute(
        include_str!("sql/products/update.sql"),
        &[
            &fetched_at,
            &column(changed, |w| w.id),
            &column(changed, |w| w.content_hash),
            &column(changed, |w| w.product.enterprise_product_id.as_deref()),
            &column(changed, |w| w.product.name_raw.as_str()),
            &column(changed, |w| w.product.brand_name_raw.as_deref()),
            &column(changed, |w| w.product.category.as_deref()),
            &column(changed, |w| w.product.subcategory.as_deref()),
            &column(changed, |w| w.product.strain_type.as_deref()),
            &column(changed, |w| w.product.price_rec),
            &column(changed, |w| w.product.price_med),
            &column(changed, |w| w.product.special_price_rec),
            &column(changed, |w| w.product.special_price_med),
            &column(changed, |w| w.product.is_on_special),
            &column(changed, |w| potency_min(&w.product.thc)),
            &column(changed, |w| potency_max(&w.product.thc)),
            &column(changed, |w| potency_unit(&w.product.thc)),
            &column(changed, |w| potency_min(&w.product.cbd)),
            &column(changed, |w| potency_max(&w.product.cbd)),
            &column(changed, |w| potency_unit(&w.product.cbd)),
            &column(changed, |w| w.product.quantity),
            &column(changed, |w| w.product.quantity_censored),
            &column(changed, |w| w.product.is_in_stock),
            &column(changed, |w| w.product.stock_status.name()),
            &column(changed, |w| w.product.upstream_status.map(|status| status.name())),
            &column(changed, |w| w.product.image_url.as_deref()),
            &column(changed, |w| w.product.brand_image_url.as_deref()),
            &column(changed, |w| w.product.specials.as_ref().map(SpecialsJson::hash)),
            &column(changed, |w| w.product.upstream_created_at),
            &column(changed, |w| w.product.upstream_updated_at),
        ],
    )
    .await?;
    Ok(())
}

/// Widens `first_seen_at` and `last_seen_at` of these products to `fetched_at`: an older payload had them.
pub async fn widen_seen(tx: &Tx, ids: &[ProductId], fetched_at: DateTime<Utc>) -> Result<(), DbError> {
    for batch in ids.chunks(MAX_BATCH) {
        tx.execute(include_str!("sql/products/widen_seen.sql"), &[&batch, &fetched_at]).await?;
    }
    Ok(())
}

/// Counts a miss for each of these products. `previous` = when the last complete crawl before this one was fetched, which is when a
/// product at its first miss was last seen.
pub async fn record_misses(tx: &Tx, ids: &[ProductId], previous: Option<DateTime<Utc>>) -> Result<(), DbError> {
    for batch in ids.chunks(MAX_BATCH) {
        tx.execute(include_str!("sql/products/record_misses.sql"), &[&batch, &previous]).await?;
    }
    Ok(())
}

rows! {
    KnownProduct { id, provider_product_id, content_hash, is_in_stock, misses: "consecutive_misses" }
}
