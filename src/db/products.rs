//! `store_products` and `store_product_variants`: the current row of each product and its variants.
//!
//! Every function here needs the store's row locked ([`super::stores::lock`]): then no other transaction writes its products, and an
//! unchanged row is neither written nor locked. In: products in the payload's order. Out: ids in the same order, and counts.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::arrays::{column, potency_max, potency_min, potency_unit};
use super::row::{FromRow, read_all};
use super::{DbError, Tx};
use crate::domain::product::{Product, SpecialsJson, Variant};
use crate::domain::stock::PayloadPosition;
use crate::domain::store::{Platform, StoreId};

pub type ProductId = i64;

/// Whose products: a store's, as one platform (column `provider`) names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductScope {
    pub dispensary_id: StoreId,
    pub platform: Platform,
}

/// What became of one product of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpsertResult {
    pub id: ProductId,
    pub change: Change,
    /// None = it was not known before.
    pub was_in_stock: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    New,
    Changed,
    Unchanged,
}

/// What a complete crawl changed of the products that it did not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissCounts {
    /// Products with one miss more.
    pub missed: i64,
    /// Those of them that went out of stock by it.
    pub out_of_stock: i64,
}

/// Brings the store's rows to what the payload says: one [`UpsertResult`] a product, in the payload's order.
///
/// `misses` is what the rows written get: 0 unless the payload is older than what the store has already.
pub async fn upsert(
    tx: &Tx,
    scope: ProductScope,
    fetched_at: DateTime<Utc>,
    misses: i16,
    products: &[Product],
) -> Result<Vec<UpsertResult>, DbError> {
    let rows = tx
        .query(
            include_str!("sql/products/upsert.sql"),
            &[
                &scope.dispensary_id,
                &scope.platform.name(),
                &fetched_at,
                &misses,
                &column(products, |p| p.provider_product_id.as_str()),
                &column(products, |p| p.enterprise_product_id.as_deref()),
                &column(products, |p| p.name_raw.as_str()),
                &column(products, |p| p.brand_name_raw.as_deref()),
                &column(products, |p| p.category.as_deref()),
                &column(products, |p| p.subcategory.as_deref()),
                &column(products, |p| p.strain_type.as_deref()),
                &column(products, |p| p.price_rec),
                &column(products, |p| p.price_med),
                &column(products, |p| p.special_price_rec),
                &column(products, |p| p.special_price_med),
                &column(products, |p| p.is_on_special),
                &column(products, |p| potency_min(&p.thc)),
                &column(products, |p| potency_max(&p.thc)),
                &column(products, |p| potency_unit(&p.thc)),
                &column(products, |p| potency_min(&p.cbd)),
                &column(products, |p| potency_max(&p.cbd)),
                &column(products, |p| potency_unit(&p.cbd)),
                &column(products, |p| p.quantity),
                &column(products, |p| p.quantity_censored),
                &column(products, |p| p.is_in_stock),
                &column(products, |p| p.stock_status.name()),
                &column(products, |p| p.image_url.as_deref()),
                &column(products, |p| p.brand_image_url.as_deref()),
                &column(products, |p| p.specials.as_ref().map(SpecialsJson::as_str)),
                &column(products, |p| p.upstream_created_at),
                &column(products, |p| p.upstream_updated_at),
            ],
        )
        .await?;
    read_all(&rows)
}

/// The ids of those of `products` that the store has, `None` for those it has not; in the order of `products`.
pub async fn find(tx: &Tx, scope: ProductScope, products: &[Product]) -> Result<Vec<Option<ProductId>>, DbError> {
    let wanted = column(products, |p| p.provider_product_id.as_str());
    let rows = tx
        .query(include_str!("sql/products/find.sql"), &[&scope.dispensary_id, &scope.platform.name(), &wanted])
        .await?;
    let mut known = std::collections::HashMap::with_capacity(rows.len());
    for row in &rows {
        known.insert(row.try_get::<_, &str>(0)?, row.try_get::<_, ProductId>(1)?);
    }
    Ok(wanted.iter().map(|id| known.get(id).copied()).collect())
}

/// Widens `first_seen_at` and `last_seen_at` of these products to `fetched_at`: an older payload had them.
pub async fn widen_seen(tx: &Tx, ids: &[ProductId], fetched_at: DateTime<Utc>) -> Result<(), DbError> {
    tx.execute(include_str!("sql/products/widen_seen.sql"), &[&ids, &fetched_at]).await?;
    Ok(())
}

/// Brings the variants of `products` (whose ids are `ids`) to what `payload` says; vanished variants are deleted. What changes of
/// a variant's prices and stock becomes a row of its history.
pub async fn write_variants(
    tx: &Tx,
    payload: PayloadPosition,
    ids: &[ProductId],
    products: &[Product],
) -> Result<(), DbError> {
    let variants: Vec<(ProductId, &Variant)> = ids
        .iter()
        .zip(products)
        .flat_map(|(id, product)| product.variants.iter().map(|variant| (*id, variant)))
        .collect();
    tx.execute(
        include_str!("sql/products/write_variants.sql"),
        &[
            &ids,
            &payload.id,
            &payload.fetched_at,
            &column(&variants, |(id, _)| *id),
            &column(&variants, |(_, v)| v.option_label.as_str()),
            &column(&variants, |(_, v)| v.nth),
            &column(&variants, |(_, v)| v.size_mg),
            &column(&variants, |(_, v)| v.size_ml),
            &column(&variants, |(_, v)| v.price_rec),
            &column(&variants, |(_, v)| v.price_med),
            &column(&variants, |(_, v)| v.special_price_rec),
            &column(&variants, |(_, v)| v.special_price_med),
            &column(&variants, |(_, v)| v.quantity),
            &column(&variants, |(_, v)| v.quantity_censored),
            &column(&variants, |(_, v)| v.is_in_stock),
        ],
    )
    .await?;
    Ok(())
}

/// Counts a miss for every product in `scope` that is not among `seen`, those of `payload`. `previous` = when the last complete crawl before
/// this one was fetched, which is when a product at its first miss was last seen.
pub async fn record_misses(
    tx: &Tx,
    scope: ProductScope,
    payload: PayloadPosition,
    seen: &[ProductId],
    previous: Option<DateTime<Utc>>,
) -> Result<MissCounts, DbError> {
    let row = tx
        .query_one(
            include_str!("sql/products/record_misses.sql"),
            &[&scope.dispensary_id, &scope.platform.name(), &seen, &previous, &payload.id, &payload.fetched_at],
        )
        .await?;
    Ok(MissCounts { missed: row.try_get("missed")?, out_of_stock: row.try_get("out_of_stock")? })
}

impl FromRow for UpsertResult {
    fn from_row(row: &Row) -> Result<UpsertResult, DbError> {
        let was_in_stock: Option<bool> = row.try_get("was_in_stock")?;
        let change = match (was_in_stock, row.try_get("differs")?) {
            (None, _) => Change::New,
            (Some(_), true) => Change::Changed,
            (Some(_), false) => Change::Unchanged,
        };
        Ok(UpsertResult { id: row.try_get("id")?, change, was_in_stock })
    }
}
