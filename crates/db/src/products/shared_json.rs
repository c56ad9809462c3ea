//! `store_specials` and `store_attributes`: JSON of a store's products, each text kept once. The functions `product_specials` and
//! `product_attributes` read a product's.
//!
//! Every function here requires the store's row locked.

use std::collections::HashMap;

use super::ProductWrite;
use crate::statements::{column, sql};
use crate::{DbError, Tx};
use domain::menu::hashed_json::HashedJson;
use domain::menu::product::Product;
use domain::store::StoreId;

/// Maximum number of texts in one statement: each may have 64 KiB.
const MAX_BATCH: usize = 100;

/// A table of such texts.
pub struct SharedJson {
    of: fn(&Product) -> Option<&HashedJson>,
    add: &'static str,
    forget_unused: &'static str,
}

pub const SPECIALS: SharedJson = SharedJson {
    of: |product| product.specials.as_ref().map(|specials| specials.json()),
    add: sql!("products/specials/add.sql"),
    forget_unused: sql!("products/specials/forget_unused.sql"),
};

pub const ATTRIBUTES: SharedJson = SharedJson {
    of: |product| product.attributes.as_ref().map(|attributes| attributes.json()),
    add: sql!("products/attributes/add.sql"),
    forget_unused: sql!("products/attributes/forget_unused.sql"),
};

impl SharedJson {
    /// Stores the texts of these products. If one is new, deletes the texts that no product of the store has.
    pub async fn write(
        &self,
        tx: &Tx,
        store: StoreId,
        new: &[ProductWrite<'_>],
        changed: &[ProductWrite<'_>],
    ) -> Result<(), DbError> {
        let added = self.add(tx, store, new).await? + self.add(tx, store, changed).await?;
        if added > 0 && !changed.is_empty() {
            tx.execute(self.forget_unused, &[&store]).await?;
        }
        Ok(())
    }

    /// Returns the number of texts that the store lacked.
    async fn add(&self, tx: &Tx, store: StoreId, products: &[ProductWrite<'_>]) -> Result<u64, DbError> {
        let texts = products.iter().filter_map(|write| (self.of)(write.product));
        let distinct: HashMap<i64, &str> = texts.map(|json| (json.hash(), json.as_str())).collect();
        let distinct: Vec<(i64, &str)> = distinct.into_iter().collect();
        let mut added = 0;
        for batch in distinct.chunks(MAX_BATCH) {
            let (hashes, texts) = (column(batch, |(hash, _)| *hash), column(batch, |(_, text)| *text));
            added += tx.execute(self.add, &[&store, &hashes, &texts]).await?;
        }
        Ok(added)
    }
}
