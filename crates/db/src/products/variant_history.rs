//! `store_product_variant_history`: each change of a variant's price or stock. Append-only; only the crawl
//! that wrote a row corrects it.

use super::variants::read_with_products;
use crate::connection::copy::copy_in;
use crate::statements::{column, columns, named, sql};
use crate::{DbError, MAX_BATCH, Tx};
use domain::menu::product::{ProductId, Variant};
use domain::menu::stock::PayloadPosition;
use domain::menu::unit_price::{StoredUnitPrices, UnitBasis};

/// A variant's state in a crawl.
#[derive(Clone, Copy, Debug)]
pub struct VariantChange<'a> {
    pub product_id: ProductId,
    pub variant: &'a Variant,
    /// None: the product is on the menu without it.
    pub unit_prices: Option<&'a StoredUnitPrices>,
}

columns! {
    "store_product_variant_history", change: VariantChange<'_>, payload: PayloadPosition;
    new {
        store_product_id: INT8 = change.product_id,
        option_label: TEXT = &change.variant.option_label,
        nth: INT2 = change.variant.nth,
        crawl_id: INT8 = payload.id,
        crawled_at: TIMESTAMPTZ = payload.fetched_at,
        size_mg: INT8 = change.variant.size_mg,
        size_ml: FLOAT8 = change.variant.size_ml,
        price_rec: INT4 = change.variant.price_rec,
        price_med: INT4 = change.variant.price_med,
        special_price_rec: INT4 = change.variant.special_price_rec,
        special_price_med: INT4 = change.variant.special_price_med,
        quantity: INT4 = change.variant.quantity,
        quantity_censored: BOOL = change.variant.quantity_censored,
        is_in_stock: BOOL = change.variant.is_in_stock && change.unit_prices.is_some(),
        gone: BOOL = change.unit_prices.is_none(),
        rec_per_g: INT8 = change.unit_prices.and_then(|prices| prices.rec_per_g),
        med_per_g: INT8 = change.unit_prices.and_then(|prices| prices.med_per_g),
        rec_per_ml: INT8 = change.unit_prices.and_then(|prices| prices.rec_per_ml),
        med_per_ml: INT8 = change.unit_prices.and_then(|prices| prices.med_per_ml),
        rec_per_mg_thc: INT8 = change.unit_prices.and_then(|prices| prices.rec_per_mg_thc),
        med_per_mg_thc: INT8 = change.unit_prices.and_then(|prices| prices.med_per_mg_thc),
        unit_basis: TEXT = change.unit_prices.and_then(|prices| prices.unit_basis).map(UnitBasis::name),
    }
}

/// Adds the changes of a payload, which has written nothing about these variants before.
pub async fn insert(tx: &Tx, payload: PayloadPosition, changes: &[VariantChange<'_>]) -> Result<(), DbError> {
    copy_in(tx, &payload, changes).await?;
    Ok(())
}

/// The last state of those of these variants that had left their product's menu, each with its product. `keys`: product,
/// label, number.
pub async fn last_of_gone(tx: &Tx, keys: &[(ProductId, &str, i16)]) -> Result<Vec<(ProductId, Variant)>, DbError> {
    let mut gone = Vec::new();
    for batch in keys.chunks(MAX_BATCH) {
        let ids = column(batch, |(id, _, _)| *id);
        let labels = column(batch, |(_, label, _)| *label);
        let numbers = column(batch, |(_, _, nth)| *nth);
        let rows = tx.query(sql!("products/variant_history/last_of_gone.sql"), &[&ids, &labels, &numbers]).await?;
        gone.extend(read_with_products(&rows)?);
    }
    Ok(gone)
}

/// Deletes the payload's earlier rows of the variants in `changes`: another version of the program writes
/// them again.
pub async fn forget(tx: &Tx, payload: PayloadPosition, changes: &[VariantChange<'_>]) -> Result<(), DbError> {
    let PayloadPosition { id, fetched_at } = payload;
    for batch in changes.chunks(MAX_BATCH) {
        let products = column(batch, |change| change.product_id);
        let labels = column(batch, |change| change.variant.option_label.as_str());
        let numbers = column(batch, |change| change.variant.nth);
        named!(tx.execute("products/variant_history/forget.sql", products, labels, numbers, id, fetched_at)).await?;
    }
    Ok(())
}
