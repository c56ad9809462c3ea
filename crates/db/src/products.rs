//! `store_products`: the current row of each product.
//!
//! Every function here requires the store's row locked ([`super::stores::lock`]): then no other transaction
//! writes its products. Nothing here compares: `domain/menu/diff` decides which rows are new or changed.

pub mod brands;
pub mod images;
pub mod search;
pub mod series;
pub mod shared_json;
pub mod snapshots;
pub mod variant_history;
pub mod variants;
pub mod views;

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::connection::copy::copy_in;
use super::{DbError, MAX_BATCH, Tx};
use crate::statements::{
    FromRow, columns, first_column, potency_max, potency_min, potency_unit, read_all, rows, sql, update_rows,
    update_statement,
};
use domain::menu::category::Category;
use domain::menu::diff::{KnownProduct, RowHashes};
use domain::menu::known_units::KnownUnits;
use domain::menu::product::{PotencyUnit, Product, ProductId};
use domain::store::{Platform, StoreId};

/// The products of a store, as one platform (column `provider`) names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductScope {
    pub dispensary_id: StoreId,
    pub platform: Platform,
}

/// A product of a menu, to be written into its row.
#[derive(Clone, Copy, Debug)]
pub struct ProductWrite<'a> {
    pub id: ProductId,
    /// None: the next refresh writes the row again.
    pub content_hash: Option<i64>,
    /// Its category among those by which prices are compared, with its name.
    pub category: Option<(&'a str, &'a Category)>,
    pub product: &'a Product,
}

/// Values that all products added at once share.
#[derive(Clone, Copy, Debug)]
pub struct NewProducts {
    scope: ProductScope,
    fetched_at: DateTime<Utc>,
    misses: i16,
}

columns! {
    "store_products", w: ProductWrite<'_>, all: NewProducts;
    key {
        id: INT8 = w.id,
    }
    new {
        dispensary_id: INT8 = all.scope.dispensary_id,
        provider: TEXT = all.scope.platform.name(),
        provider_product_id: TEXT = &w.product.provider_product_id,
        consecutive_misses: INT2 = all.misses,
        first_seen_at: TIMESTAMPTZ = all.fetched_at,
        last_seen_at: TIMESTAMPTZ = all.fetched_at,
    }
    set {
        content_hash: INT8 = w.content_hash,
        enterprise_product_id: TEXT = &w.product.enterprise_product_id,
        name_raw: TEXT = &w.product.name_raw,
        brand_name_raw: TEXT = &w.product.brand_name_raw,
        category: TEXT = &w.product.category,
        subcategory: TEXT = &w.product.subcategory,
        canonical_category: TEXT = w.category.map(|(name, _)| name),
        strain_type: TEXT = &w.product.strain_type,
        price_rec: INT4 = w.product.price_rec,
        price_med: INT4 = w.product.price_med,
        special_price_rec: INT4 = w.product.special_price_rec,
        special_price_med: INT4 = w.product.special_price_med,
        is_on_special: BOOL = w.product.is_on_special,
        thc_min: FLOAT8 = potency_min(&w.product.thc),
        thc_max: FLOAT8 = potency_max(&w.product.thc),
        thc_unit: TEXT = potency_unit(&w.product.thc),
        cbd_min: FLOAT8 = potency_min(&w.product.cbd),
        cbd_max: FLOAT8 = potency_max(&w.product.cbd),
        cbd_unit: TEXT = potency_unit(&w.product.cbd),
        quantity: INT4 = w.product.quantity,
        quantity_censored: BOOL = w.product.quantity_censored,
        is_in_stock: BOOL = w.product.is_in_stock,
        stock_status: TEXT = w.product.stock_status.name(),
        upstream_status: TEXT = w.product.upstream_status.map(|status| status.name()),
        image_url: TEXT = &w.product.image_url,
        brand_image_url: TEXT = &w.product.brand_image_url,
        specials_hash: INT8 = w.product.specials.as_ref().map(|specials| specials.json().hash()),
        attributes_hash: INT8 = w.product.attributes.as_ref().map(|attributes| attributes.json().hash()),
        upstream_created_at: TIMESTAMPTZ = w.product.upstream_created_at,
        upstream_updated_at: TIMESTAMPTZ = w.product.upstream_updated_at,
    }
}

pub(super) static UPDATE: LazyLock<String> =
    LazyLock::new(|| update_statement::<ProductWrite<'_>>(sql!("products/update.sql")));

/// The content hashes of the store's products.
pub async fn row_hashes(tx: &Tx, scope: ProductScope) -> Result<RowHashes, DbError> {
    let sql = sql!("products/row_hashes.sql");
    let row = tx.query_one(sql, &[&scope.dispensary_id, &scope.platform.name()]).await?;
    let (hashes, ids): (Vec<i64>, Vec<ProductId>) = (row.try_get("hashes")?, row.try_get("ids")?);
    Ok(RowHashes { ids: hashes.into_iter().zip(ids).collect(), others: row.try_get("others")? })
}

/// The products with these ids.
pub async fn known(tx: &Tx, ids: &[ProductId]) -> Result<Vec<KnownProduct>, DbError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    read_all(&tx.query(sql!("products/known.sql"), &[&ids]).await?)
}

/// Units and sizes of the products with these ids of the platform.
pub async fn known_units(tx: &Tx, scope: ProductScope, ids: &[&str]) -> Result<Vec<KnownUnits>, DbError> {
    let sql = sql!("products/known_units.sql");
    read_all(&tx.query(sql, &[&scope.dispensary_id, &scope.platform.name(), &ids]).await?)
}

impl FromRow for KnownUnits {
    fn from_row(row: &Row) -> Result<KnownUnits, DbError> {
        let unit = |column| Ok::<_, DbError>(row.try_get::<_, Option<&str>>(column)?.and_then(PotencyUnit::read));
        let (labels, nths): (Vec<String>, Vec<i16>) = (row.try_get("labels")?, row.try_get("nths")?);
        let sizes: Vec<i64> = row.try_get("sizes")?;
        Ok(KnownUnits {
            provider_product_id: row.try_get("provider_product_id")?,
            thc_unit: unit("thc_unit")?,
            cbd_unit: unit("cbd_unit")?,
            sizes: labels.into_iter().zip(nths).zip(sizes).collect(),
        })
    }
}

/// Reserves `count` ids for new products.
pub async fn reserve_ids(tx: &Tx, count: usize) -> Result<Vec<ProductId>, DbError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let count = i64::try_from(count).map_err(|error| DbError::Other(error.to_string()))?;
    first_column(&tx.query_one(sql!("products/reserve_ids.sql"), &[&count]).await?)
}

/// Adds products that have no row yet. `misses` is 0 unless their payload is older than the store's newest.
pub async fn insert(
    tx: &Tx,
    scope: ProductScope,
    fetched_at: DateTime<Utc>,
    misses: i16,
    new: &[ProductWrite<'_>],
) -> Result<(), DbError> {
    copy_in(tx, &NewProducts { scope, fetched_at, misses }, new).await?;
    Ok(())
}

/// Writes products of the menu over their rows, and resets their misses.
pub async fn update(tx: &Tx, fetched_at: DateTime<Utc>, changed: &[ProductWrite<'_>]) -> Result<(), DbError> {
    update_rows(tx, &UPDATE, &[&fetched_at], changed).await
}

/// Widens `first_seen_at` and `last_seen_at` of these products to `fetched_at`: an older payload contains
/// them.
pub async fn widen_seen(tx: &Tx, ids: &[ProductId], fetched_at: DateTime<Utc>) -> Result<(), DbError> {
    for batch in ids.chunks(MAX_BATCH) {
        tx.execute(sql!("products/widen_seen.sql"), &[&batch, &fetched_at]).await?;
    }
    Ok(())
}

/// Counts a miss for each of these products. `previous` is the fetch time of the previous complete crawl,
/// which last saw a product that now has its first miss.
pub async fn record_misses(tx: &Tx, ids: &[ProductId], previous: Option<DateTime<Utc>>) -> Result<(), DbError> {
    for batch in ids.chunks(MAX_BATCH) {
        tx.execute(sql!("products/record_misses.sql"), &[&batch, &previous]).await?;
    }
    Ok(())
}

rows! {
    KnownProduct { id, provider_product_id, content_hash, is_in_stock, misses: "consecutive_misses", is_listed }
}
