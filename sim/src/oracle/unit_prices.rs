//! The oracle of prices by unit: what each option costs by gram, millilitre and milligram of THC, or why that is unknown.
//!
//! Computed from the generator's goods: the mass and volume of a label, the strength of a batch.

use super::{OraclePotency, OracleVariant, potency, variants};
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
    /// Reason for a missing amount.
    pub no_unit_price: Option<&'static str>,
    pub no_thc_price: Option<&'static str>,
}

/// The prices of the options that products were last seen with, up to that crawl.
pub(crate) fn of_store(world: &World, store: &StoreSeed, crawl: u32) -> Vec<OracleUnitPrices> {
    let of_product = |index| {
        let last_seen = presence::last_seen(world.seed, store.index, index, crawl)?;
        let truth = world.product(store, index, last_seen);
        let options = variants(&truth, false).into_iter();
        Some(options.map(|option| of_option(&store.platform_dispensary_id, &truth, &option)).collect::<Vec<_>>())
    };
    (0..store.size).filter_map(of_product).flatten().collect()
}

/// 100 % as a strength.
const PERCENT_100: i64 = 200_000;

fn of_option(store: &str, truth: &Product<'_>, option: &OracleVariant) -> OracleUnitPrices {
    let is_measured = truth.category.potency != Potency::Nothing;
    let is_dosed = matches!(truth.category.potency, Potency::Milligrams | Potency::MilligramsPerGram);
    // the milligrams in a dosed good's label are its THC
    let mg = option.size_mg.filter(|_| is_measured && !is_dosed);
    let stated = potency(truth.thc, truth.category);
    let thc_ug = match truth.category.potency {
        Potency::Nothing => Err("not_measured"),
        Potency::Milligrams | Potency::MilligramsPerGram => dose_ug(&stated, option.size_mg),
        Potency::Percentage => share_ug(&stated, mg),
    };
    OracleUnitPrices {
        platform_dispensary_id: store.to_owned(),
        provider_product_id: truth.id.clone(),
        label: option.label,
        nth: option.nth,
        per_g: by(option, mg),
        per_ml: by(option, option.size_ml.map(|ml| (ml * 1000.0) as i64)),
        per_mg_thc: by(option, thc_ug.ok()),
        thc_mg: thc_ug.ok().map(|ug| ug as f64 / 1000.0),
        basis: match (option.size_ml, thc_ug, mg) {
            (Some(_), ..) => Some("volume"),
            (_, Ok(_), _) if is_dosed => Some("stated_thc"),
            (_, _, Some(_)) => Some("weight"),
            _ => None,
        },
        no_unit_price: match (mg, option.size_ml) {
            _ if !is_measured => Some("not_measured"),
            (None, None) => Some("no_size"),
            _ => None,
        },
        no_thc_price: thc_ug.err(),
    }
}

/// The prices that are paid, for a thousand of an amount.
fn by(option: &OracleVariant, amount: Option<i64>) -> [Option<i64>; 2] {
    option.paid().map(|cents| Some(half_up(i64::from(cents?) * 1_000_000, amount?)))
}

/// Micrograms of THC in a package of a dosed good. `label_mg`: the milligrams that its label states.
fn dose_ug(stated: &OraclePotency, label_mg: Option<i64>) -> Result<i64, &'static str> {
    match (strength(stated), stated.unit) {
        (Some(mg), Some("MILLIGRAMS")) => Ok(half_up(mg, 2)),
        (Some(percent), Some("PERCENTAGE")) if percent > PERCENT_100 => Err("percent_above100"),
        _ => label_mg.map(|mg| mg * 1000).ok_or("no_thc"),
    }
}

/// The same in goods that are weighed.
fn share_ug(stated: &OraclePotency, mg: Option<i64>) -> Result<i64, &'static str> {
    let percent = strength(stated).filter(|_| stated.unit == Some("PERCENTAGE")).ok_or("no_thc")?;
    if percent > PERCENT_100 {
        return Err("percent_above100");
    }
    mg.map(|mg| half_up(mg * percent, 200)).ok_or("no_size")
}

/// Two thousandths of the stated unit: the sum of a range's ends, which have three decimals.
fn strength(stated: &OraclePotency) -> Option<i64> {
    let thousandths = |value: f64| (value * 1000.0).round() as i64;
    Some(thousandths(stated.min?) + thousandths(stated.max?))
}

fn half_up(dividend: i64, divisor: i64) -> i64 {
    (2 * dividend + divisor) / (2 * divisor)
}
