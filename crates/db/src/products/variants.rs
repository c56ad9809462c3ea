//! `store_product_variants`: the options of each product, as on its current menu.
//!
//! Every function here requires the store's row locked. `domain/menu/variant_diff` decides what differs.

use std::collections::HashMap;
use std::sync::LazyLock;

use strum::VariantArray;
use tokio_postgres::Row;

use crate::connection::copy::copy_in;
use crate::statements::{FromRow, column, columns, rows, sql, update_rows, update_statement};
use crate::{DbError, MAX_BATCH, Tx};
use domain::menu::bundle::StoredBundle;
use domain::menu::product::{ProductId, Variant};
use domain::menu::stock::PayloadPosition;
use domain::menu::unit_price::{NoUnitPrice, StoredUnitPrices, UnitBasis};
use domain::menu::variant_diff::StoredVariant;
use domain::vocabulary;

/// A variant of a menu, to be written into its row.
#[derive(Clone, Debug)]
pub struct VariantWrite<'a> {
    pub product_id: ProductId,
    pub position: i16,
    pub variant: &'a Variant,
    pub unit_prices: StoredUnitPrices,
}

columns! {
    "store_product_variants", w: VariantWrite<'_>, _: ();
    key {
        store_product_id: INT8 = w.product_id,
        option_label: TEXT = &w.variant.option_label,
        nth: INT2 = w.variant.nth,
    }
    set {
        position: INT2 = w.position,
        size_mg: INT8 = w.variant.size_mg,
        size_ml: FLOAT8 = w.variant.size_ml,
        price_rec: INT4 = w.variant.price_rec,
        price_med: INT4 = w.variant.price_med,
        special_price_rec: INT4 = w.variant.special_price_rec,
        special_price_med: INT4 = w.variant.special_price_med,
        quantity: INT4 = w.variant.quantity,
        quantity_censored: BOOL = w.variant.quantity_censored,
        is_in_stock: BOOL = w.variant.is_in_stock,
        rec_per_g: INT8 = w.unit_prices.rec_per_g,
        med_per_g: INT8 = w.unit_prices.med_per_g,
        rec_per_ml: INT8 = w.unit_prices.rec_per_ml,
        med_per_ml: INT8 = w.unit_prices.med_per_ml,
        rec_per_mg_thc: INT8 = w.unit_prices.rec_per_mg_thc,
        med_per_mg_thc: INT8 = w.unit_prices.med_per_mg_thc,
        thc_mg: FLOAT8 = w.unit_prices.thc_mg,
        unit_basis: TEXT = w.unit_prices.unit_basis.map(UnitBasis::name),
        no_unit_price: TEXT = w.unit_prices.no_unit_price.map(NoUnitPrice::name),
        no_thc_price: TEXT = w.unit_prices.no_thc_price.map(NoUnitPrice::name),
        bundle_quantity: INT4 = w.unit_prices.bundle.bundle_quantity,
        bundle_total: INT4 = w.unit_prices.bundle.bundle_total,
        bundle_per_g: INT8 = w.unit_prices.bundle.bundle_per_g,
    }
}

pub(crate) static UPDATE: LazyLock<String> =
    LazyLock::new(|| update_statement::<VariantWrite<'_>>(sql!("products/variants/update.sql")));

/// The variants of these products.
pub async fn of_products(tx: &Tx, ids: &[ProductId]) -> Result<HashMap<ProductId, Vec<StoredVariant>>, DbError> {
    let mut variants: HashMap<ProductId, Vec<StoredVariant>> = HashMap::new();
    for batch in ids.chunks(MAX_BATCH) {
        for row in tx.query(sql!("products/variants/of_products.sql"), &[&batch]).await? {
            let id = row.try_get("store_product_id")?;
            variants.entry(id).or_default().push(StoredVariant::from_row(&row)?);
        }
    }
    Ok(variants)
}

pub async fn insert(tx: &Tx, new: &[VariantWrite<'_>]) -> Result<(), DbError> {
    copy_in(tx, &(), new).await?;
    Ok(())
}

pub async fn update(tx: &Tx, changed: &[VariantWrite<'_>]) -> Result<(), DbError> {
    update_rows(tx, &UPDATE, &[], changed).await
}

pub async fn delete(tx: &Tx, gone: &[(ProductId, Variant)]) -> Result<(), DbError> {
    for batch in gone.chunks(MAX_BATCH) {
        let ids = column(batch, |(id, _)| *id);
        let labels = column(batch, |(_, v)| v.option_label.as_str());
        let numbers = column(batch, |(_, v)| v.nth);
        tx.execute(sql!("products/variants/delete.sql"), &[&ids, &labels, &numbers]).await?;
    }
    Ok(())
}

/// Puts the variants of products that `payload` puts out of stock out of stock too, and adds that to their
/// history; returns those that were in stock, as they were, with their products.
pub async fn put_out_of_stock(
    tx: &Tx,
    ids: &[ProductId],
    payload: PayloadPosition,
) -> Result<Vec<(ProductId, Variant)>, DbError> {
    let mut sold_out = Vec::new();
    for batch in ids.chunks(MAX_BATCH) {
        let sql = sql!("products/variants/put_out_of_stock.sql");
        let rows = tx.query(sql, &[&batch, &payload.id, &payload.fetched_at]).await?;
        sold_out.extend(read_with_products(&rows)?);
    }
    Ok(sold_out)
}

/// A word of this program; one of a newer program is written over.
fn known_or_none<T: VariantArray + Copy + Into<&'static str>>(row: &Row, column: &str) -> Result<Option<T>, DbError> {
    Ok(row.try_get::<_, Option<&str>>(column)?.and_then(vocabulary::find))
}

/// Reads variants with their products' ids.
pub(super) fn read_with_products(rows: &[Row]) -> Result<Vec<(ProductId, Variant)>, DbError> {
    rows.iter().map(|row| Ok((row.try_get("store_product_id")?, Variant::from_row(row)?))).collect()
}

rows! {
    StoredVariant { position, variant: row, unit_prices: row }

    StoredUnitPrices {
        rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc, med_per_mg_thc, thc_mg,
        unit_basis: known_or_none,
        no_unit_price: known_or_none,
        no_thc_price: known_or_none,
        bundle: row,
    }

    StoredBundle { bundle_quantity, bundle_total, bundle_per_g }

    Variant {
        option_label, nth, size_mg, size_ml, price_rec, price_med, special_price_rec,
        special_price_med, quantity, quantity_censored, is_in_stock,
    }
}
