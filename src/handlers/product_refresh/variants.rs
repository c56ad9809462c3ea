//! `VariantWrites`: the variants of products that a payload adds or changes, and the part of them that
//! belongs to their history.
//!
//! In: those products with their ids. It reads the variants of changed products, and the history of those that are on a
//! menu again, and writes the differences.

use std::collections::HashMap;

use db::products::ProductWrite;
use db::products::variant_history::VariantChange;
use db::products::variants::VariantWrite;
use db::{DbError, Tx, pipeline, products};
use domain::menu::product::{ProductId, SpecialsJson, Variant};
use domain::menu::stock::PayloadPosition;
use domain::menu::unit_price::{Measure, Measured, UnitPrices};
use domain::menu::variant_diff::{PlacedVariant, VariantDiff, placed};

#[derive(Default)]
pub struct VariantWrites<'a> {
    added: Vec<VariantWrite<'a>>,
    updated: Vec<VariantWrite<'a>>,
    /// Variants of `updated` whose price or stock differs, before and after.
    pub repriced: Vec<(ProductId, Variant, PlacedVariant<'a>)>,
    /// Variants of `added` that their product had before it was on the menu without them, then and now.
    pub returned: Vec<(ProductId, Variant, &'a Variant)>,
    pub removed: Vec<(ProductId, Variant)>,
}

impl<'a> VariantWrites<'a> {
    pub async fn find(
        tx: &Tx,
        new: &[ProductWrite<'a>],
        changed: &[ProductWrite<'a>],
    ) -> Result<VariantWrites<'a>, DbError> {
        let mut writes = VariantWrites::default();
        for write in new {
            writes.added.extend(with_unit_prices(write).map(|placed| variant_write(write.id, placed)));
        }
        let of_new = writes.added.len();
        let ids: Vec<ProductId> = changed.iter().map(|write| write.id).collect();
        let mut stored = products::variants::of_products(tx, &ids).await?;
        for write in changed {
            let rows = stored.remove(&write.id).unwrap_or_default();
            writes.add(write.id, VariantDiff::new(rows, with_unit_prices(write)));
        }
        writes.returned = returned(tx, &writes.added[of_new..]).await?;
        Ok(writes)
    }

    fn add(&mut self, id: ProductId, diff: VariantDiff<'a>) {
        self.added.extend(diff.added.into_iter().map(|placed| variant_write(id, placed)));
        self.updated.extend(diff.updated.into_iter().map(|placed| variant_write(id, placed)));
        self.repriced.extend(diff.repriced.into_iter().map(|(before, after)| (id, before, after)));
        self.removed.extend(diff.removed.into_iter().map(|variant| (id, variant)));
    }

    /// `may_be_written` = the payload may have written history before, which this corrects.
    pub async fn write(&self, tx: &Tx, payload: PayloadPosition, may_be_written: bool) -> Result<(), DbError> {
        pipeline(self.write_current(tx), self.write_history(tx, payload, may_be_written)).await?;
        Ok(())
    }

    async fn write_current(&self, tx: &Tx) -> Result<(), DbError> {
        products::variants::delete(tx, &self.removed).await?;
        products::variants::update(tx, &self.updated).await?;
        products::variants::insert(tx, &self.added).await
    }

    async fn write_history(&self, tx: &Tx, payload: PayloadPosition, may_be_written: bool) -> Result<(), DbError> {
        let history = self.history();
        if may_be_written {
            products::variant_history::forget(tx, payload, &history).await?;
        }
        products::variant_history::insert(tx, payload, &history).await
    }

    fn history(&self) -> Vec<VariantChange<'_>> {
        let added = self.added.iter().map(|VariantWrite { product_id, variant, unit_prices, .. }| VariantChange {
            product_id: *product_id,
            variant,
            unit_prices: Some(unit_prices),
        });
        let repriced = self.repriced.iter().map(|(product_id, _, PlacedVariant { variant, unit_prices, .. })| {
            VariantChange { product_id: *product_id, variant, unit_prices: Some(unit_prices) }
        });
        let removed =
            self.removed.iter().map(|(id, variant)| VariantChange { product_id: *id, variant, unit_prices: None });
        added.chain(repriced).chain(removed).collect()
    }
}

/// The variants of a product with their prices by unit, of which a product without a category has none.
fn with_unit_prices<'a>(write: &ProductWrite<'a>) -> impl Iterator<Item = PlacedVariant<'a>> {
    let product = write.product;
    let measured = Measured {
        measure: write.category.map_or(Measure::Nothing, |(_, category)| category.measure),
        name: &product.name_raw,
        thc: product.thc.as_ref(),
        bundles: product.specials.as_ref().map(SpecialsJson::bundles).unwrap_or_default(),
        options: &product.variants,
    };
    placed(&product.variants, move |variant| UnitPrices::of(measured, variant).into())
}

fn variant_write(product_id: ProductId, placed: PlacedVariant<'_>) -> VariantWrite<'_> {
    let PlacedVariant { position, variant, unit_prices } = placed;
    VariantWrite { product_id, position, variant, unit_prices }
}

/// The variants among these that their products had before, then and now.
async fn returned<'a>(tx: &Tx, added: &[VariantWrite<'a>]) -> Result<Vec<(ProductId, Variant, &'a Variant)>, DbError> {
    let key = |write: &VariantWrite<'a>| (write.product_id, write.variant.option_label.as_str(), write.variant.nth);
    let keys: Vec<_> = added.iter().map(key).collect();
    let now: HashMap<_, &'a Variant> = added.iter().map(|write| (key(write), write.variant)).collect();
    let gone = products::variant_history::last_of_gone(tx, &keys).await?;
    let on_menu = gone.into_iter().filter_map(|(id, before)| {
        let after = *now.get(&(id, before.option_label.as_str(), before.nth))?;
        Some((id, before, after))
    });
    Ok(on_menu.collect())
}
