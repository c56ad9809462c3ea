//! Prices by unit as text, such as `$10.00/g` or `2.5¢/mg THC`.

use contract::prices::PriceUnit;
use contract::products::{OptionView, ProductView};
use domain::amounts::money;
use domain::menu::unit_price::UnitBasis;
use domain::vocabulary::Word;

/// `$10.00/g`, `$8.00/ml` or `2.5¢/mg THC`: by the unit in which goods of its kind are compared.
pub fn of_option(option: &OptionView) -> Option<String> {
    let per_g = option.rec_per_g.or(option.med_per_g);
    let per_mg_thc = option.rec_per_mg_thc.or(option.med_per_mg_thc);
    match option.rec_per_ml.or(option.med_per_ml) {
        Some(per_ml) if per_g.is_none() && !is_stated_thc(option.unit_basis.as_ref()) => text(per_ml, "ml"),
        _ => by_unit(option.unit_basis.as_ref(), per_g, per_mg_thc),
    }
}

/// `2 for $50.00: $7.14/g`: the cheapest bundle of the option.
pub fn of_bundle(option: &OptionView) -> Option<String> {
    let bundle = format!("{} for {}", option.bundle_quantity?, money(option.bundle_total?));
    let per_g = option.bundle_per_g.and_then(|per_g| text(per_g, "g"));
    Some(per_g.map_or(bundle.clone(), |per_g| format!("{bundle}: {per_g}")))
}

/// The same of the option that is cheapest by its unit; none where it has a volume alone.
pub fn of_product(product: &ProductView) -> Option<String> {
    let per_g = product.rec_per_g.or(product.med_per_g);
    by_unit(product.unit_basis.as_ref(), per_g, product.rec_per_mg_thc.or(product.med_per_mg_thc))
}

/// A price in millicents by a unit; none of a newer program's unit.
pub fn of_unit(unit: &Word<PriceUnit>, millicents: i64) -> Option<String> {
    match unit {
        Word::Known(PriceUnit::G) => text(millicents, "g"),
        Word::Known(PriceUnit::Ml) => text(millicents, "ml"),
        Word::Known(PriceUnit::MgThc) => Some(of_thc(millicents)),
        Word::Other(_) => None,
    }
}

/// Dollars of a price in millicents.
pub fn dollars(millicents: i64) -> Option<String> {
    i32::try_from((millicents + 500) / 1000).ok().map(money)
}

fn by_unit(basis: Option<&Word<UnitBasis>>, per_g: Option<i64>, per_mg_thc: Option<i64>) -> Option<String> {
    match per_g {
        Some(per_g) if !is_stated_thc(basis) => text(per_g, "g"),
        _ => per_mg_thc.map(of_thc),
    }
}

fn is_stated_thc(basis: Option<&Word<UnitBasis>>) -> bool {
    matches!(basis, Some(Word::Known(UnitBasis::StatedThc)))
}

fn of_thc(millicents: i64) -> String {
    format!("{:.1}¢/mg THC", millicents as f64 / 1000.0)
}

fn text(millicents: i64, unit: &str) -> Option<String> {
    Some(format!("{}/{unit}", dollars(millicents)?))
}
