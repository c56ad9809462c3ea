//! `store_product_variant_history`: each change of a variant's price or stock. Appended to; only the crawl that wrote a row corrects it.

use tokio_postgres::types::Type;

use super::arrays::column;
use super::copy::{CopyTarget, copy_in};
use super::{DbError, MAX_BATCH, Tx};
use domain::product::{ProductId, Variant};
use domain::stock::PayloadPosition;

/// What a crawl says of a variant.
#[derive(Clone, Copy, Debug)]
pub struct VariantChange<'a> {
    pub product_id: ProductId,
    pub variant: &'a Variant,
    /// The product is on the menu without it.
    pub is_gone: bool,
}

const HISTORY: CopyTarget = CopyTarget {
    sql: include_str!("sql/variant_history/copy.sql"),
    types: &[
        Type::INT8,
        Type::TEXT,
        Type::INT2,
        Type::INT8,
        Type::TIMESTAMPTZ,
        Type::INT8,
        Type::FLOAT8,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::INT4,
        Type::BOOL,
        Type::BOOL,
        Type::BOOL,
    ],
};

/// Adds what a payload changed; it has said nothing of these variants before.
pub async fn insert(tx: &Tx, payload: PayloadPosition, changes: &[VariantChange<'_>]) -> Result<(), DbError> {
    copy_in(tx, &HISTORY, changes, |encoder, VariantChange { product_id, variant: v, is_gone }| {
        encoder.row(&[
            product_id,
            &v.option_label,
            &v.nth,
            &payload.id,
            &payload.fetched_at,
            &v.size_mg,
            &v.size_ml,
            &v.price_rec,
            &v.price_med,
            &v.special_price_rec,
            &v.special_price_med,
            &v.quantity,
            &v.quantity_censored,
            &(v.is_in_stock && !is_gone),
            is_gone,
        ])
    })
    .await?;
    Ok(())
}

/// Deletes what the payload said before of the variants in `changes`: it is written again, by another version of the program.
pub async fn forget(tx: &Tx, payload: PayloadPosition, changes: &[VariantChange<'_>]) -> Result<(), DbError> {
    for batch in changes.chunks(MAX_BATCH) {
        let ids = column(batch, |change| change.product_id);
        let labels = column(batch, |change| change.variant.option_label.as_str());
        let numbers = column(batch, |change| change.variant.nth);
        let sql = include_str!("sql/variant_history/forget.sql");
        tx.execute(sql, &[&ids, &labels, &numbers, &payload.id, &payload.fetched_at]).await?;
    }
    Ok(())
}
