//! `store_specials`: the specials of a store's products, each kept once. The function `product_specials`
//! reads a product's.
//!
//! Every function here requires the store's row locked.

use std::collections::HashMap;

use super::ProductWrite;
use crate::statements::{column, sql};
use crate::{DbError, Tx};
use domain::menu::product::SpecialsJson;
use domain::store::StoreId;

/// Maximum specials in one statement: each may have 64 KiB.
const MAX_BATCH: usize = 100;

/// Stores the specials of these products; returns the number of new ones.
pub async fn add(tx: &Tx, store: StoreId, products: &[ProductWrite<'_>]) -> Result<u64, DbError> {
    let specials = products.iter().filter_map(|write| write.product.specials.as_ref());
    let distinct: HashMap<i64, &SpecialsJson> = specials.map(|specials| (specials.hash(), specials)).collect();
    let distinct: Vec<(i64, &SpecialsJson)> = distinct.into_iter().collect();
    let mut added = 0;
    for batch in distinct.chunks(MAX_BATCH) {
        let (hashes, texts) = (column(batch, |(hash, _)| *hash), column(batch, |(_, specials)| specials.as_str()));
        added += tx.execute(sql!("products/specials/add.sql"), &[&store, &hashes, &texts]).await?;
    }
    Ok(added)
}

/// Deletes specials that no product of the store has.
pub async fn forget_unused(tx: &Tx, store: StoreId) -> Result<(), DbError> {
    tx.execute(sql!("products/specials/forget_unused.sql"), &[&store]).await?;
    Ok(())
}
