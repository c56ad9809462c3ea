//! The oracle of prices by unit: what each option costs by gram, millilitre and milligram of THC, or why that is unknown.
//!
//! Computed from the generator's goods: the mass and volume of a label, the strength of a batch, the deal that a store means.

use super::{OraclePotency, OracleVariant, potency, variants};
use crate::catalogue::StoreSeed;
use crate::category::Measure;
use crate::deal::Deal;
use crate::presence;
use crate::product::Product;
use crate::size::{self, NamedMass};
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
    /// Pieces of the bundle of a special, and cents for all of them.
    pub bundle_quantity: Option<i32>,
    pub bundle_total: Option<i32>,
    pub bundle_per_g: Option<i64>,
}

/// The prices of the options that products were last seen with, up to that crawl.
pub(crate) fn of_store(world: &World, store: &StoreSeed, crawl: u32) -> Vec<OracleUnitPrices> {
    let of_product = |index| {
        let last_seen = presence::last_seen(world.seed, store.index, index, crawl)?;
        let truth = world.product(store, index, last_seen);
        let options = variants(&truth, false);
        let of_option = |option| of_option(&store.platform_dispensary_id, &truth, option, &options);
        Some(options.iter().map(of_option).collect::<Vec<_>>())
    };
    (0..store.size).filter_map(of_product).flatten().collect()
}

/// 100 % as a strength.
const PERCENT_100: i64 = 200_000;

/// The amount of a package.
enum Amount {
    Mass { mg: i64, basis: &'static str },
    Ul(i64),
    Unknown(&'static str),
}

fn of_option(store: &str, truth: &Product<'_>, option: &OracleVariant, options: &[OracleVariant]) -> OracleUnitPrices {
    let amount = amount(truth, option);
    let (mg, basis) = match amount {
        Amount::Mass { mg, basis } => (Some(mg), Some(basis)),
        _ => (None, None),
    };
    let thc_ug = thc_ug(truth, option, &amount);
    let bundle = bundle(truth.deal, option, options);
    OracleUnitPrices {
        platform_dispensary_id: store.to_owned(),
        provider_product_id: truth.id.clone(),
        label: option.label,
        nth: option.nth,
        per_g: by(option, mg),
        per_ml: by(option, if let Amount::Ul(ul) = amount { Some(ul) } else { None }),
        per_mg_thc: by(option, thc_ug.ok()),
        thc_mg: thc_ug.ok().map(|ug| ug as f64 / 1000.0),
        basis: match (&amount, thc_ug) {
            (Amount::Ul(_), _) => Some("volume"),
            (_, Ok(_)) if truth.category.measure == Measure::Thc => Some("stated_thc"),
            _ => basis,
        },
        no_unit_price: if let Amount::Unknown(reason) = amount { Some(reason) } else { None },
        no_thc_price: thc_ug.err(),
        bundle_quantity: bundle.map(|(pieces, _)| pieces as i32),
        bundle_total: bundle.map(|(_, cents)| cents as i32),
        bundle_per_g: bundle.zip(mg).map(|((pieces, cents), mg)| half_up(cents * 1_000_000, pieces * mg)),
    }
}

fn amount(truth: &Product<'_>, option: &OracleVariant) -> Amount {
    let is_dosed = truth.category.measure == Measure::Thc;
    match (option.size_mg, option.size_ml) {
        _ if truth.category.measure == Measure::Nothing => Amount::Unknown("not_measured"),
        // the milligrams in a dosed good's label are its THC
        (Some(_), _) if is_dosed && size::dose_mg(option.label).is_some() && size::stated(option.label).is_some() => {
            Amount::Unknown("no_size")
        }
        (Some(mg), _) => Amount::Mass { mg, basis: "weight" },
        (_, Some(ml)) => Amount::Ul((ml * 1000.0).round() as i64),
        _ if is_dosed => Amount::Unknown("no_size"),
        _ => match truth.named_size.mass {
            NamedMass::Mg(mg) => Amount::Mass { mg, basis: "from_name" },
            NamedMass::UnknownPack => Amount::Unknown("pack_of_unknown_count"),
            NamedMass::None => Amount::Unknown("no_size"),
        },
    }
}

/// The prices that are paid, for a thousand of an amount.
fn by(option: &OracleVariant, amount: Option<i64>) -> [Option<i64>; 2] {
    option.paid().map(|cents| Some(half_up(i64::from(cents?) * 1_000_000, amount?)))
}

/// Micrograms of THC in a package.
fn thc_ug(truth: &Product<'_>, option: &OracleVariant, amount: &Amount) -> Result<i64, &'static str> {
    let stated = potency(truth.thc, truth.category);
    let strength = strength(&stated).zip(stated.unit);
    let ug = match (truth.category.measure, strength, amount) {
        (Measure::Nothing, ..) => return Err("not_measured"),
        (_, Some((mg, "MILLIGRAMS")), _) => half_up(mg, 2),
        (_, Some((percent, "PERCENTAGE")), _) if percent > PERCENT_100 => return Err("percent_above100"),
        (_, Some((percent, "PERCENTAGE")), Amount::Mass { mg, .. }) => half_up(mg * percent, 200),
        (_, Some((share, _)), Amount::Mass { mg, .. }) => half_up(mg * share, 2000),
        // the share of an unknown mass
        (Measure::Mass, Some(_), Amount::Unknown(reason)) => return Err(reason),
        (Measure::Mass, Some(_), Amount::Ul(_)) => return Err("no_size"),
        (Measure::Thc, ..) => size::dose_mg(option.label).map(|mg| mg * 1000).ok_or("no_thc")?,
        (Measure::Mass, None, _) => return Err("no_thc"),
    };
    match amount {
        _ if ug == 0 => Err("no_thc"),
        Amount::Mass { mg, .. } if ug > mg * 1000 => Err("thc_above_mass"),
        _ => Ok(ug),
    }
}

/// Two thousandths of the stated unit: the sum of a range's ends, which have three decimals.
fn strength(stated: &OraclePotency) -> Option<i64> {
    let thousandths = |value: f64| (value * 1000.0).round() as i64;
    Some(thousandths(stated.min?) + thousandths(stated.max?))
}

/// The pieces and cents of a deal on an option: not more than the pieces cost one by one at the regular price, and of a price
/// in dollars the smallest option for which that holds.
fn bundle(deal: Option<Deal>, option: &OracleVariant, options: &[OracleVariant]) -> Option<(i64, i64)> {
    let regular = |option: &OracleVariant| option.price_rec.map(i64::from);
    let paid = option.paid()[0].map(i64::from)?;
    let (pieces, cents) = match deal? {
        Deal::Total { pieces, cents } => (pieces, cents),
        Deal::Reward { bought, gained, percent } => {
            (bought + gained, bought * paid + half_up(gained * paid * percent, 10_000))
        }
        Deal::RewardAt { bought, gained, cents } => (bought + gained, bought * paid + gained * cents),
    };
    let is_no_loss = |option: &OracleVariant| regular(option).is_some_and(|regular| cents <= pieces * regular);
    let has_smaller = options.iter().any(|other| regular(other) < regular(option) && is_no_loss(other));
    let is_for_another = matches!(deal, Some(Deal::Total { .. })) && has_smaller;
    (is_no_loss(option) && !is_for_another).then_some((pieces, cents))
}

fn half_up(dividend: i64, divisor: i64) -> i64 {
    (2 * dividend + divisor) / (2 * divisor)
}
