//! `Product`: one item of a menu after normalisation, whatever platform it came from.
//!
//! Money is integer cents, sizes are canonical, missing values are `None`.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;
use strum::IntoStaticStr;

use super::attributes::AttributesJson;
use super::bundle::Bundle;
use super::hashed_json::HashedJson;
use crate::switches::word;

/// Id of a row of `store_products`.
pub type ProductId = i64;

/// The default is the product of which nothing is known: a platform's code names the fields that it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Product {
    pub provider_product_id: String,
    pub enterprise_product_id: Option<String>,
    pub name_raw: String,
    pub brand_name_raw: Option<String>,
    pub category: Option<String>,
    pub subcategory: Option<String>,
    pub strain_type: Option<String>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub thc: Option<Potency>,
    pub cbd: Option<Potency>,
    pub quantity: Option<i32>,
    /// `quantity` is upstream's cap: the real number may be higher.
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    pub stock_status: StockStatus,
    /// Status at the platform; none if the platform does not say: the last known one holds.
    pub upstream_status: Option<UpstreamStatus>,
    /// The platform gives a value without a unit, or with one that is unknown: the last known unit holds.
    pub has_unknown_unit: bool,
    pub image_url: Option<String>,
    pub brand_image_url: Option<String>,
    pub specials: Option<SpecialsJson>,
    pub attributes: Option<AttributesJson>,
    pub upstream_created_at: Option<DateTime<Utc>>,
    pub upstream_updated_at: Option<DateTime<Utc>>,
    /// Variants in the order of the menu: the index is the position.
    pub variants: Vec<Variant>,
}

impl Product {
    /// Returns the product with this status at the platform; one that is not listed is not sold.
    #[must_use]
    pub fn listed(mut self, is_listed: bool) -> Product {
        if is_listed {
            return Product { upstream_status: Some(UpstreamStatus::Active), ..self };
        }
        self.variants.iter_mut().for_each(|variant| variant.is_in_stock = false);
        let upstream_status = Some(UpstreamStatus::Inactive);
        Product { upstream_status, is_in_stock: false, stock_status: StockStatus::Oos, ..self }
    }

    /// Whether it, or one of its variants, has a price.
    pub fn has_price(&self) -> bool {
        self.price_rec.or(self.price_med).is_some()
            || self.variants.iter().any(|variant| variant.price_rec.or(variant.price_med).is_some())
    }
}

/// One option of a product. Its key within the product is (label, nth). The default is the option of which nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Variant {
    pub option_label: String,
    /// The n-th variant of that label, from 0: labels repeat.
    pub nth: i16,
    /// Ounces are the trade's 28 g, so that an eighth is 3500.
    pub size_mg: Option<i64>,
    pub size_ml: Option<f64>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub quantity: Option<i32>,
    /// `quantity` is upstream's cap: the real number may be higher.
    pub quantity_censored: bool,
    pub is_in_stock: bool,
}

impl Variant {
    /// The recreational and the medical price that is paid: the special if it is lower, or the only price.
    pub fn paid_prices(&self) -> [Option<i32>; 2] {
        let [rec, med] = self.lower_specials();
        [rec.or(self.price_rec), med.or(self.price_med)]
    }

    /// The recreational and the medical special, if it is lower than the price, or the only price.
    pub fn lower_specials(&self) -> [Option<i32>; 2] {
        let is_lower = |price: Option<i32>, special: &i32| price.is_none_or(|price| *special < price);
        [
            self.special_price_rec.filter(|special| is_lower(self.price_rec, special)),
            self.special_price_med.filter(|special| is_lower(self.price_med, special)),
        ]
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Potency {
    /// None = the platform knows the unit but no value, which is not the same as saying nothing (no `Potency`
    /// at all).
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// None in old data that is a bare number.
    pub unit: Option<PotencyUnit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum PotencyUnit {
    Percentage,
    Milligrams,
    MilligramsPerGram,
}

impl PotencyUnit {
    pub const ALL: [PotencyUnit; 3] =
        [PotencyUnit::Percentage, PotencyUnit::Milligrams, PotencyUnit::MilligramsPerGram];

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// None: the word is unknown.
    pub fn read(name: &str) -> Option<PotencyUnit> {
        word(name, &PotencyUnit::ALL.map(|unit| (unit.name(), unit)))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StockStatus {
    InStock,
    Oos,
    #[default]
    Unknown,
}

impl StockStatus {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// A product of unknown stock counts as sellable: the store lists it.
    pub fn is_sellable(self) -> bool {
        self != StockStatus::Oos
    }
}

/// Whether the platform lists the product: one that is delisted is not sold out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum UpstreamStatus {
    Active,
    Inactive,
}

impl UpstreamStatus {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A product's specials as JSON, and the bundles that they state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialsJson {
    json: HashedJson,
    bundles: Arc<[Bundle]>,
}

impl SpecialsJson {
    /// `json` is JSON that `jsonb` takes.
    pub fn new(json: String) -> Self {
        SpecialsJson { json: HashedJson::new(json), bundles: Arc::default() }
    }

    /// The same with the bundles that the platform's fields state.
    #[must_use]
    pub fn with_bundles(self, bundles: Vec<Bundle>) -> Self {
        SpecialsJson { bundles: bundles.into(), ..self }
    }

    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    pub fn json(&self) -> &HashedJson {
        &self.json
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn variant(price_rec: Option<i32>, price_med: Option<i32>) -> Variant {
        Variant { price_rec, price_med, ..Variant::default() }
    }

    #[rstest]
    #[case::nothing(None, vec![], false)]
    #[case::of_its_own(Some(100), vec![], true)]
    #[case::of_one_variant(None, vec![variant(None, None), variant(None, Some(100))], true)]
    #[case::of_no_variant(None, vec![variant(None, None)], false)]
    fn a_product_or_one_of_its_variants_has_a_price(
        #[case] price: Option<i32>,
        #[case] variants: Vec<Variant>,
        #[case] has_price: bool,
    ) {
        let recreational = Product { price_rec: price, variants: variants.clone(), ..Product::default() };
        let medical = Product { price_med: price, variants, ..Product::default() };
        assert_eq!([recreational.has_price(), medical.has_price()], [has_price; 2]);
    }

    #[rstest]
    #[case(StockStatus::InStock, "in_stock", true)]
    #[case(StockStatus::Unknown, "unknown", true)]
    #[case(StockStatus::Oos, "oos", false)]
    fn only_a_product_out_of_stock_is_not_sellable(
        #[case] status: StockStatus,
        #[case] name: &str,
        #[case] is_sellable: bool,
    ) {
        assert_eq!((status.name(), status.is_sellable()), (name, is_sellable));
    }

    #[test]
    fn words_of_units_and_statuses_are_as_the_table_has_them() {
        assert_eq!(PotencyUnit::MilligramsPerGram.name(), "MILLIGRAMS_PER_GRAM");
        assert_eq!(
            [UpstreamStatus::Active, UpstreamStatus::Inactive].map(UpstreamStatus::name),
            ["active", "inactive"]
        );
    }
}
