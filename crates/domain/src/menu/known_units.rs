//! `KnownUnits`: the units of a product as its row has them, which hold while the menu's words for them are unknown.
//!
//! In: a product of a menu and its row. Out: the product with the units that the menu does not say. Pure.

use std::collections::HashMap;

use super::product::{Potency, PotencyUnit, Product};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownUnits {
    pub provider_product_id: String,
    pub thc_unit: Option<PotencyUnit>,
    pub cbd_unit: Option<PotencyUnit>,
    /// Milligrams of the options, by label and number.
    pub sizes: HashMap<(String, i16), i64>,
}

impl Product {
    /// The units and sizes that the menu says stay.
    #[must_use]
    pub fn with_known_units(mut self, known: &KnownUnits) -> Product {
        self.thc = self.thc.map(|potency| with_unit(potency, known.thc_unit));
        self.cbd = self.cbd.map(|potency| with_unit(potency, known.cbd_unit));
        for variant in self.variants.iter_mut().filter(|variant| variant.size_mg.is_none() && variant.size_ml.is_none())
        {
            variant.size_mg = known.sizes.get(&(variant.option_label.clone(), variant.nth)).copied();
        }
        self
    }
}

fn with_unit(potency: Potency, known: Option<PotencyUnit>) -> Potency {
    Potency { unit: potency.unit.or(known), ..potency }
}

/// The products with the units of their rows, where the menu's are unknown.
pub fn with_known_units(products: &[Product], known: &[KnownUnits]) -> Vec<Product> {
    let by_id: HashMap<&str, &KnownUnits> =
        known.iter().map(|units| (units.provider_product_id.as_str(), units)).collect();
    let settled = |product: &Product| match by_id.get(product.provider_product_id.as_str()) {
        Some(known) if product.has_unknown_unit => product.clone().with_known_units(known),
        _ => product.clone(),
    };
    products.iter().map(settled).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use PotencyUnit::{Milligrams, Percentage};

    #[rstest]
    #[case::unknown(None, Some(Percentage), Some(Percentage))]
    #[case::the_menus_own(Some(Milligrams), Some(Percentage), Some(Milligrams))]
    #[case::never_known(None, None, None)]
    fn an_unknown_unit_keeps_the_last_known_one(
        #[case] unit: Option<PotencyUnit>,
        #[case] thc_unit: Option<PotencyUnit>,
        #[case] expected: Option<PotencyUnit>,
    ) {
        let thc = Some(Potency { min: Some(20.0), max: Some(22.0), unit });
        let product = Product { thc, has_unknown_unit: true, ..Product::default() };
        let known = KnownUnits { thc_unit, ..KnownUnits::default() };
        let settled = with_known_units(&[product], &[known]);
        assert_eq!(settled[0].thc.as_ref().and_then(|thc| thc.unit), expected);
    }
}
