//! The oracle of prices by unit: what each option costs by gram, millilitre and milligram of THC, or why that is unknown.
//!
//! Computed from the generator's goods: the mass and volume of a label, the strength of a batch.

use super::{OraclePotency, OracleVariant, potency, variant};
use crate::catalogue::StoreSeed;
use crate::category::Potency;
use crate::presence;
use crate::product::Product;
use crate::world::World;

/// Prices by unit of an option, in thousandths of a cent, half of one up.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleUnitPrices {
    pub platform_dispensary_id: String,
    pub provider_product_id: String,
    pub label: &'static str,
    pub nth: i16,
    pub per_g: [Option<i64>; 2],
    pub per_ml: [Option<i64>; 2],
    pub per_mg_thc: [Option<i64>; 2],
    pub thc_mg: Option<f64>,
    pub basis: Option<&'static str>,
    /// Why there is no amount to divide by.
    pub no_unit_price: Option<&'static str>,
    pub no_thc_price: Option<&'static str>,
}

/// The prices of the options that products were last seen with, up to that crawl.
pub(crate) fn of_store(world: &World, store: &StoreSeed, crawl: u32) -> Vec<OracleUnitPrices> {
    let of_product = |index| {
        let last_seen = presence::last_seen(world.seed, store.index, index, crawl)?;
        let truth = world.product(store, index, last_seen);
        Some((0..truth.offers.len()).map(|at| of_option(&store.platform_dispensary_id, &truth, at)).collect::<Vec<_>>())
    };
    (0..store.size).filter_map(of_product).flatten().collect()
}

fn of_option(store: &str, truth: &Product<'_>, at: usize) -> OracleUnitPrices {
    let option = variant(truth, at, false);
    let dosed = matches!(truth.category.potency, Potency::Milligrams | Potency::MilligramsPerGram);
    // the milligrams in a dosed good's label are its THC
    let grams = option.size_mg.filter(|_| !dosed).map(|mg| mg as f64 / 1000.0);
    let thc_mg = match truth.category.potency {
        Potency::Nothing => Err("not_measured"),
        _ if dosed => dose_mg(&potency(truth.thc, truth.category), option.size_mg),
        _ => share_mg(&potency(truth.thc, truth.category), grams),
    };
    let no_unit_price = match (truth.category.potency, grams, option.size_ml) {
        (Potency::Nothing, ..) => Some("not_measured"),
        (_, None, None) => Some("no_size"),
        _ => None,
    };
    let measured = no_unit_price.is_none();
    OracleUnitPrices {
        platform_dispensary_id: store.to_owned(),
        provider_product_id: truth.id.clone(),
        label: option.label,
        nth: option.nth,
        per_g: by(&option, grams.filter(|_| measured)),
        per_ml: by(&option, option.size_ml),
        per_mg_thc: by(&option, thc_mg.ok()),
        thc_mg: thc_mg.ok(),
        basis: match (option.size_ml, thc_mg, grams) {
            (Some(_), ..) => Some("volume"),
            (_, Ok(_), _) if dosed => Some("stated_thc"),
            (_, _, Some(_)) if measured => Some("weight"),
            _ => None,
        },
        no_unit_price,
        no_thc_price: thc_mg.err(),
    }
}

/// The prices that are paid, for one of an amount.
fn by(option: &OracleVariant, amount: Option<f64>) -> [Option<i64>; 2] {
    let paid = [option.special_price_rec.or(option.price_rec), option.special_price_med.or(option.price_med)];
    paid.map(|cents| Some((f64::from(cents?) * 1000.0 / amount? + 0.5).floor() as i64))
}

/// THC in a package of a dosed good, to the microgram. `label_mg`: the milligrams that its label states.
fn dose_mg(stated: &OraclePotency, label_mg: Option<i64>) -> Result<f64, &'static str> {
    match (strength(stated), stated.unit) {
        (Some(mg), Some("MILLIGRAMS")) => Ok(to_the_microgram(mg)),
        (Some(percent), Some("PERCENTAGE")) if percent > 100.0 => Err("percent_above100"),
        _ => label_mg.map(|mg| mg as f64).ok_or("no_thc"),
    }
}

/// THC in goods that are weighed, to the microgram.
fn share_mg(stated: &OraclePotency, grams: Option<f64>) -> Result<f64, &'static str> {
    let percent = strength(stated).filter(|_| stated.unit == Some("PERCENTAGE")).ok_or("no_thc")?;
    if percent > 100.0 {
        return Err("percent_above100");
    }
    grams.map(|grams| to_the_microgram(grams * 10.0 * percent)).ok_or("no_size")
}

fn strength(stated: &OraclePotency) -> Option<f64> {
    stated.min.zip(stated.max).map(|(min, max)| f64::midpoint(min, max))
}

fn to_the_microgram(mg: f64) -> f64 {
    (mg * 1000.0).round() / 1000.0
}
