//! `UnitPrices`: the prices of an option per gram, per millilitre and per milligram of THC. Pure.
//!
//! In: an option, and the facts of its product. Out: comparable prices in millicents (thousandths of a cent), rounded half
//! up, and for each that is missing the reason; beside them the cheapest bundle. It must not know categories of platforms.

use serde::{Deserialize, Serialize};

use super::bundle::{self, Bundle, StoredBundle};
use super::product::{Potency, PotencyUnit, Variant};
use super::size::size;
use super::stated_mass::{StatedMass, stated_mass};
use crate::vocabulary::vocabulary;

vocabulary! {
    /// How the amount behind a unit price is known.
    pub enum UnitBasis {
        /// The size of the option, or its net weight.
        Weight,
        /// The product's name, since the option has no size.
        FromName,
        /// The THC of the package, as stated.
        StatedThc,
        /// The volume of the option.
        Volume,
    }
}

vocabulary! {
    /// Why an option has no price per unit.
    pub enum NoUnitPrice {
        /// The category is not known, or has things that are not weighed.
        NotMeasured,
        NoSize,
        SizeZero,
        /// A pack whose number of pieces is not stated.
        PackOfUnknownCount,
        NoThc,
        PercentAbove100,
        /// More THC than the option weighs.
        ThcAboveMass,
    }
}

/// The measure by which the options of a category are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Mass: flower, cartridges, concentrates.
    Mass,
    /// THC of a package: edibles, drinks, tinctures, topicals, capsules.
    Thc,
    /// None: accessories.
    Nothing,
}

/// A product as far as unit prices depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    pub measure: Measure,
    pub name: &'a str,
    pub thc: Option<&'a Potency>,
    pub bundles: &'a [Bundle],
    /// All options of the product.
    pub options: &'a [Variant],
}

/// Prices in millicents; each group has a reason where it has no price.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitPrices {
    pub basis: Option<UnitBasis>,
    pub per_g: Result<Prices, NoUnitPrice>,
    pub per_ml: Result<Prices, NoUnitPrice>,
    pub per_mg_thc: Result<Prices, NoUnitPrice>,
    /// Milligrams of THC in the package.
    pub thc_mg: Option<f64>,
    pub bundle: StoredBundle,
}

/// Recreational and medical price; none where the option has no such price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    pub rec: Option<i64>,
    pub med: Option<i64>,
}

/// Unit prices as they are stored beside an option; the default is that nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StoredUnitPrices {
    pub rec_per_g: Option<i64>,
    pub med_per_g: Option<i64>,
    pub rec_per_ml: Option<i64>,
    pub med_per_ml: Option<i64>,
    pub rec_per_mg_thc: Option<i64>,
    pub med_per_mg_thc: Option<i64>,
    pub thc_mg: Option<f64>,
    pub unit_basis: Option<UnitBasis>,
    /// Reason for a missing price by gram or millilitre; none if the amount is known, and only the option has no price.
    pub no_unit_price: Option<NoUnitPrice>,
    /// The same of THC.
    pub no_thc_price: Option<NoUnitPrice>,
    #[serde(flatten)]
    pub bundle: StoredBundle,
}

impl From<UnitPrices> for StoredUnitPrices {
    fn from(UnitPrices { basis, per_g, per_ml, per_mg_thc, thc_mg, bundle }: UnitPrices) -> StoredUnitPrices {
        let (g, ml, thc) = (per_g.unwrap_or_default(), per_ml.unwrap_or_default(), per_mg_thc.unwrap_or_default());
        StoredUnitPrices {
            rec_per_g: g.rec,
            med_per_g: g.med,
            rec_per_ml: ml.rec,
            med_per_ml: ml.med,
            rec_per_mg_thc: thc.rec,
            med_per_mg_thc: thc.med,
            thc_mg,
            unit_basis: basis,
            no_unit_price: per_g.err().filter(|_| per_ml.is_err()),
            no_thc_price: per_mg_thc.err(),
            bundle,
        }
    }
}

/// The amount of an option, in micrograms or microlitres, so that all of them are whole numbers.
enum Amount {
    Mass { ug: i64, basis: UnitBasis },
    Volume { ul: i64 },
    Unknown(NoUnitPrice),
}

impl UnitPrices {
    pub fn of(product: Measured<'_>, option: &Variant) -> UnitPrices {
        let amount = amount(product, option);
        let thc_ug = thc_ug(product, option, &amount);
        let [rec, med] = option.paid_prices().map(|cents| cents.map(i64::from));
        let paid = Prices { rec, med };
        let (per_g, per_ml) = match amount {
            Amount::Mass { ug, .. } => (Ok(paid.per(ug, 1_000_000)), Err(NoUnitPrice::NoSize)),
            Amount::Volume { ul } => (Err(NoUnitPrice::NoSize), Ok(paid.per(ul, 1000))),
            Amount::Unknown(reason) => (Err(reason), Err(reason)),
        };
        let basis = match amount {
            Amount::Volume { .. } => Some(UnitBasis::Volume),
            _ if product.measure == Measure::Thc && thc_ug.is_ok() => Some(UnitBasis::StatedThc),
            Amount::Mass { basis, .. } => Some(basis),
            Amount::Unknown(_) => None,
        };
        let thc_mg = thc_ug.ok().map(|ug| ug as f64 / 1000.0);
        let bundle = bundle_of(product, option, &amount);
        UnitPrices { basis, per_g, per_ml, per_mg_thc: thc_ug.map(|ug| paid.per(ug, 1000)), thc_mg, bundle }
    }
}

/// The cheapest bundle of the option.
fn bundle_of(product: Measured<'_>, option: &Variant, amount: &Amount) -> StoredBundle {
    let Some(price) = bundle::cheapest(product.bundles, option, product.options) else {
        return StoredBundle::default();
    };
    let per_g = match amount {
        Amount::Mass { ug, .. } => per(i64::from(price.total), ug.saturating_mul(i64::from(price.quantity)), 1_000_000),
        _ => None,
    };
    StoredBundle { bundle_quantity: Some(price.quantity), bundle_total: Some(price.total), bundle_per_g: per_g }
}

impl Prices {
    fn per(self, amount: i64, unit: i64) -> Prices {
        let per = |cents: i64| per(cents, amount, unit);
        Prices { rec: self.rec.and_then(per), med: self.med.and_then(per) }
    }
}

/// Cents for an amount as millicents for a `unit` of it.
fn per(cents: i64, amount: i64, unit: i64) -> Option<i64> {
    half_up(i128::from(cents) * 1000 * i128::from(unit), i128::from(amount))
}

fn half_up(dividend: i128, divisor: i128) -> Option<i64> {
    i64::try_from((2 * dividend + divisor).div_euclid(2 * divisor)).ok()
}

fn amount(product: Measured<'_>, option: &Variant) -> Amount {
    match (product.measure, option.size_mg, option.size_ml) {
        (Measure::Nothing, ..) => Amount::Unknown(NoUnitPrice::NotMeasured),
        // `100mg` of an edible is its THC; a net weight beside `10pk 5mg` is its mass
        (Measure::Thc, Some(_), _)
            if is_in_milligrams(&option.option_label) && size(&option.option_label).is_some() =>
        {
            Amount::Unknown(NoUnitPrice::NoSize)
        }
        (_, Some(..=0), _) => Amount::Unknown(NoUnitPrice::SizeZero),
        (_, Some(mg), _) => mass(mg, UnitBasis::Weight),
        (_, None, Some(ml)) if (0.001..1e9).contains(&ml) => Amount::Volume { ul: (ml * 1000.0).round() as i64 },
        (_, None, Some(_)) => Amount::Unknown(NoUnitPrice::SizeZero),
        (Measure::Thc, None, None) => Amount::Unknown(NoUnitPrice::NoSize),
        (Measure::Mass, None, None) => match stated_mass(product.name) {
            StatedMass::Mg(mg) => mass(mg, UnitBasis::FromName),
            StatedMass::PackOfUnknownCount => Amount::Unknown(NoUnitPrice::PackOfUnknownCount),
            StatedMass::Nothing => Amount::Unknown(NoUnitPrice::NoSize),
        },
    }
}

fn mass(mg: i64, basis: UnitBasis) -> Amount {
    Amount::Mass { ug: mg.saturating_mul(1000), basis }
}

fn is_in_milligrams(label: &str) -> bool {
    label.trim_end().to_ascii_lowercase().ends_with("mg")
}

/// Micrograms of THC in the package.
fn thc_ug(product: Measured<'_>, option: &Variant, amount: &Amount) -> Result<i64, NoUnitPrice> {
    if product.measure == Measure::Nothing {
        return Err(NoUnitPrice::NotMeasured);
    }
    let mass_ug = match amount {
        Amount::Mass { ug, .. } => Some(*ug),
        _ => None,
    };
    let stated = product.thc.and_then(|thc| Some((middle(thc)?, thc.unit?)));
    let ug = match (stated, mass_ug) {
        (Some((value, PotencyUnit::Milligrams)), _) => part(1000, value, 1),
        (Some((percent, PotencyUnit::Percentage)), _) if percent > 100.0 => return Err(NoUnitPrice::PercentAbove100),
        (Some((percent, PotencyUnit::Percentage)), Some(mass)) => part(mass, percent, 100),
        (Some((value, PotencyUnit::MilligramsPerGram)), Some(mass)) => part(mass, value, 1000),
        // the share of an unknown mass
        (Some(_), None) if product.measure == Measure::Mass => return Err(no_mass(amount)),
        _ if product.measure == Measure::Thc && is_in_milligrams(&option.option_label) => {
            match stated_mass(&option.option_label) {
                StatedMass::Mg(mg) => Some(mg.saturating_mul(1000)),
                _ => None,
            }
        }
        _ => None,
    };
    // less than a microgram is none
    let ug = ug.filter(|ug| *ug > 0).ok_or(NoUnitPrice::NoThc)?;
    if mass_ug.is_some_and(|mass| ug > mass) { Err(NoUnitPrice::ThcAboveMass) } else { Ok(ug) }
}

/// `count` of the `parts` equal parts of a whole, in whole numbers throughout: potencies are decimals, which binary fractions
/// would round the wrong way.
fn part(whole: i64, count: f64, parts: i64) -> Option<i64> {
    const MILLIONTHS: f64 = 1e6;
    let count = (0.0..1e9).contains(&count).then(|| (count * MILLIONTHS).round() as i128)?;
    half_up(i128::from(whole) * count, i128::from(parts) * MILLIONTHS as i128)
}

fn no_mass(amount: &Amount) -> NoUnitPrice {
    match amount {
        Amount::Unknown(reason) => *reason,
        _ => NoUnitPrice::NoSize,
    }
}

/// The midpoint of a range.
fn middle(thc: &Potency) -> Option<f64> {
    match (thc.min, thc.max) {
        (Some(min), Some(max)) => Some(f64::midpoint(min, max)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn option(label: &str, size_mg: Option<i64>, cents: i32) -> Variant {
        Variant { option_label: label.to_owned(), size_mg, price_rec: Some(cents), ..Variant::default() }
    }

    fn thc(min: f64, max: f64, unit: PotencyUnit) -> Potency {
        Potency { min: Some(min), max: Some(max), unit: Some(unit) }
    }

    fn percent(value: f64) -> Option<Potency> {
        Some(thc(value, value, PotencyUnit::Percentage))
    }

    fn prices(measure: Measure, name: &str, thc: Option<&Potency>, option: &Variant) -> UnitPrices {
        UnitPrices::of(Measured { measure, name, thc, bundles: &[], options: &[] }, option)
    }

    #[rstest]
    #[case::an_eighth(option("1/8oz", Some(3500), 3500), Ok(1_000_000))]
    #[case::half_up(option("3g", Some(3000), 1000), Ok(333_333))]
    #[case::half_a_millicent_up(option("16g", Some(16_000), 1), Ok(63))]
    #[case::by_its_name(option("N/A", None, 2500), Ok(1_000_000))]
    #[case::of_size_0(option("0g", Some(0), 2500), Err(NoUnitPrice::SizeZero))]
    fn a_price_per_gram_is_in_millicents(#[case] option: Variant, #[case] expected: Result<i64, NoUnitPrice>) {
        let unit = prices(Measure::Mass, "Pre-rolls 5pk 0.5g", None, &option);
        assert_eq!(unit.per_g.map(|prices| prices.rec.unwrap_or_default()), expected);
    }

    #[rstest]
    #[case::a_percentage(percent(20.0), Ok(700.0))]
    #[case::a_range(Some(thc(18.0, 22.0, PotencyUnit::Percentage)), Ok(700.0))]
    #[case::per_gram(Some(thc(200.0, 200.0, PotencyUnit::MilligramsPerGram)), Ok(700.0))]
    #[case::of_the_package(Some(thc(700.0, 700.0, PotencyUnit::Milligrams)), Ok(700.0))]
    #[case::above_100(percent(101.0), Err(NoUnitPrice::PercentAbove100))]
    #[case::above_the_mass(Some(thc(3600.0, 3600.0, PotencyUnit::Milligrams)), Err(NoUnitPrice::ThcAboveMass))]
    #[case::nothing(percent(0.0), Err(NoUnitPrice::NoThc))]
    #[case::without_a_value(Some(Potency { min: None, max: None, unit: Some(PotencyUnit::Percentage) }), Err(NoUnitPrice::NoThc))]
    #[case::without_a_unit(Some(Potency { min: Some(20.0), max: None, unit: None }), Err(NoUnitPrice::NoThc))]
    #[case::unknown(None, Err(NoUnitPrice::NoThc))]
    fn the_thc_of_an_eighth_is_computed(#[case] thc: Option<Potency>, #[case] expected: Result<f64, NoUnitPrice>) {
        let unit = prices(Measure::Mass, "", thc.as_ref(), &option("1/8oz", Some(3500), 3500));
        match expected {
            Ok(mg) => assert_eq!((unit.thc_mg, unit.per_mg_thc), (Some(mg), Ok(Prices { rec: Some(5000), med: None }))),
            Err(reason) => assert_eq!((unit.thc_mg, unit.per_mg_thc), (None, Err(reason))),
        }
    }

    #[test]
    fn half_a_microgram_of_thc_is_rounded_up() {
        let unit = prices(Measure::Mass, "", percent(36.1955).as_ref(), &option("28.3g", Some(28_300), 2525));
        assert_eq!(unit.thc_mg, Some(10_243.327));
    }

    #[rstest]
    #[case::as_stated("N/A", None, Some(thc(100.0, 100.0, PotencyUnit::Milligrams)), Err(NoUnitPrice::NoSize))]
    #[case::by_its_label("100mg", Some(100), None, Err(NoUnitPrice::NoSize))]
    #[case::by_a_pack("10pk 10mg", None, None, Err(NoUnitPrice::NoSize))]
    #[case::by_a_pack_of_known_mass("10pk 10mg", Some(50_000), None, Ok(40_000))]
    #[case::with_a_mass("50g", Some(50_000), Some(thc(100.0, 100.0, PotencyUnit::Milligrams)), Ok(40_000))]
    fn an_edible_is_compared_by_its_thc(
        #[case] label: &str,
        #[case] size_mg: Option<i64>,
        #[case] thc: Option<Potency>,
        #[case] per_g: Result<i64, NoUnitPrice>,
    ) {
        let unit = prices(Measure::Thc, "Gummies 10pk 20g", thc.as_ref(), &option(label, size_mg, 2000));
        assert_eq!((unit.basis, unit.thc_mg), (Some(UnitBasis::StatedThc), Some(100.0)));
        assert_eq!(unit.per_mg_thc.unwrap().rec, Some(20_000));
        assert_eq!(unit.per_g.map(|prices| prices.rec.unwrap_or_default()), per_g);
    }

    #[test]
    fn stored_prices_have_a_reason_where_there_is_no_amount() {
        let stored = |option: &Variant| {
            let product = Measured { measure: Measure::Mass, name: "Kush", thc: None, bundles: &[], options: &[] };
            StoredUnitPrices::from(UnitPrices::of(product, option))
        };
        let by_weight = stored(&option("1g", Some(1000), 1500));
        assert_eq!((by_weight.rec_per_g, by_weight.no_unit_price), (Some(1_500_000), None));
        assert_eq!(by_weight.no_thc_price, Some(NoUnitPrice::NoThc));
        let unknown = stored(&option("each", None, 1500));
        assert_eq!((unknown.rec_per_g, unknown.no_unit_price), (None, Some(NoUnitPrice::NoSize)));
        let by_volume = stored(&Variant { size_ml: Some(1.0), ..option("1ml", None, 1500) });
        assert_eq!((by_volume.rec_per_ml, by_volume.rec_per_g, by_volume.no_unit_price), (Some(1_500_000), None, None));
    }

    #[test]
    fn an_edible_of_known_mass_and_unknown_thc_is_compared_by_its_mass() {
        let unit = prices(Measure::Thc, "", None, &option("50g", Some(50_000), 2000));
        assert_eq!((unit.basis, unit.thc_mg), (Some(UnitBasis::Weight), None));
    }

    #[test]
    fn a_drink_has_a_price_per_millilitre() {
        let drink = Variant { size_ml: Some(355.0), ..option("355ml", None, 710) };
        let unit = prices(Measure::Thc, "", Some(&thc(10.0, 10.0, PotencyUnit::Milligrams)), &drink);
        assert_eq!((unit.basis, unit.per_ml.unwrap().rec), (Some(UnitBasis::Volume), Some(2000)));
        assert_eq!(unit.per_mg_thc.unwrap().rec, Some(71_000));
    }

    #[rstest]
    #[case::an_accessory(Measure::Nothing, "Grinder 63mm", NoUnitPrice::NotMeasured)]
    #[case::no_size(Measure::Mass, "Animal Mntz", NoUnitPrice::NoSize)]
    #[case::a_pack(Measure::Mass, "Pre-rolls Multipack 0.5g", NoUnitPrice::PackOfUnknownCount)]
    fn a_missing_price_has_its_reason(#[case] measure: Measure, #[case] name: &str, #[case] reason: NoUnitPrice) {
        let unit = prices(measure, name, percent(20.0).as_ref(), &option("N/A", None, 2000));
        assert_eq!((unit.per_g, unit.per_mg_thc, unit.basis), (Err(reason), Err(reason), None));
    }

    #[test]
    fn the_price_that_is_paid_counts() {
        let sale = Variant { special_price_rec: Some(1750), price_med: Some(700), ..option("1/8oz", Some(3500), 3500) };
        let expected = Prices { rec: Some(500_000), med: Some(200_000) };
        assert_eq!(prices(Measure::Mass, "", None, &sale).per_g, Ok(expected));
    }

    #[rstest]
    #[case::two_eighths(Measure::Mass, option("1/8oz", Some(3500), 3000), "", Some(714_286))]
    #[case::by_its_name(Measure::Mass, option("N/A", None, 3000), "Kush 1g", Some(2_500_000))]
    #[case::of_unknown_mass(Measure::Mass, option("each", None, 3000), "Kush", None)]
    #[case::of_size_0(Measure::Mass, option("0g", Some(0), 3000), "", None)]
    #[case::an_accessory(Measure::Nothing, option("1g", Some(1000), 3000), "", None)]
    #[case::an_edible_of_100_mg_of_thc(Measure::Thc, option("100mg", Some(100), 3000), "", None)]
    fn a_bundle_has_a_price_per_gram_where_the_mass_is_known(
        #[case] measure: Measure,
        #[case] option: Variant,
        #[case] name: &str,
        #[case] per_g: Option<i64>,
    ) {
        let bundles = [Bundle::for_total(2, 5000).unwrap()];
        let options = std::slice::from_ref(&option);
        let product = Measured { measure, name, thc: None, bundles: &bundles, options };
        let with = StoredUnitPrices::from(UnitPrices::of(product, &option));
        let expected = StoredBundle { bundle_quantity: Some(2), bundle_total: Some(5000), bundle_per_g: per_g };
        assert_eq!(with.bundle, expected);
        let without = StoredUnitPrices::from(UnitPrices::of(Measured { bundles: &[], ..product }, &option));
        assert_eq!(StoredUnitPrices { bundle: StoredBundle::default(), ..with }, without, "it changes no price");
    }

    proptest! {
        #[test]
        fn no_size_or_potency_breaks_a_price(
            cents in any::<i32>(), size_mg in any::<Option<i64>>(), size_ml in any::<Option<f64>>(),
            min in any::<Option<f64>>(), max in any::<Option<f64>>(), unit in 0..3usize, name in ".{0,40}",
        ) {
            let potency = Potency { min, max, unit: Some(PotencyUnit::ALL[unit]) };
            let option = Variant { size_ml, ..option("1g", size_mg, cents) };
            for measure in [Measure::Mass, Measure::Thc, Measure::Nothing] {
                let unit = prices(measure, &name, Some(&potency), &option);
                prop_assert_eq!(unit.thc_mg.is_some(), unit.per_mg_thc.is_ok());
            }
        }
    }
}
