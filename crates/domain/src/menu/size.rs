//! `Size`: the canonical size that the label of an option states. Pure.
//!
//! In: a label (`1/8oz`, `.5g`, `2gC`, `N/A`). Out: milligrams or millilitres, if it states any. It must not know products.

/// The trade rounds the ounce to 28 g: an eighth of it is sold as 3.5 g.
pub(crate) const MG_PER_OUNCE: f64 = 28_000.0;
pub(crate) const ML_PER_FLUID_OUNCE: f64 = 29.5735;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    Mg(i64),
    Ml(f64),
}

/// The size that a label states; none for `N/A`, pack counts and words.
pub fn size(label: &str) -> Option<Size> {
    let label = label.trim().to_ascii_lowercase();
    let unit_at = label.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '/'))?;
    let (number, unit) = label.split_at(unit_at);
    let amount = amount(number)?;
    let unit = unit.trim();
    // `2gC`: grams of concentrate
    in_unit(amount, unit).or_else(|| in_unit(amount, unit.strip_suffix('c')?))
}

/// A number above 0, such as `.5` or `1/8`.
pub(super) fn amount(number: &str) -> Option<f64> {
    let amount = match number.split_once('/') {
        Some((part, whole)) => part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?,
        None => number.parse().ok()?,
    };
    (amount.is_finite() && amount > 0.0 && amount < 1e9).then_some(amount)
}

fn in_unit(amount: f64, unit: &str) -> Option<Size> {
    if let Some(mg) = mg_per(unit) {
        return Some(Size::Mg((amount * mg).round() as i64));
    }
    match unit {
        "ml" => Some(Size::Ml(amount)),
        "l" => Some(Size::Ml(amount * 1000.0)),
        "fl oz" | "floz" | "fl.oz" | "fl. oz" => Some(Size::Ml(amount * ML_PER_FLUID_OUNCE)),
        _ => None,
    }
}

/// Milligrams of one unit of mass.
pub(crate) fn mg_per(unit: &str) -> Option<f64> {
    match unit {
        "mg" => Some(1.0),
        "g" | "gram" | "grams" => Some(1000.0),
        "kg" => Some(1_000_000.0),
        "oz" | "ounce" | "ounces" => Some(MG_PER_OUNCE),
        "lb" => Some(16.0 * MG_PER_OUNCE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::eighth("1/8oz", Some(Size::Mg(3500)))]
    #[case::quarter("1/4oz", Some(Size::Mg(7000)))]
    #[case::ounce("1oz", Some(Size::Mg(28_000)))]
    #[case::gram("1g", Some(Size::Mg(1000)))]
    #[case::half_a_gram(".5g", Some(Size::Mg(500)))]
    #[case::float_noise("28.3g", Some(Size::Mg(28_300)))]
    #[case::concentrate("2gC", Some(Size::Mg(2000)))]
    #[case::milligrams("100mg", Some(Size::Mg(100)))]
    #[case::blank_between("3.5 g", Some(Size::Mg(3500)))]
    #[case::millilitres("30ml", Some(Size::Ml(30.0)))]
    #[case::litre("1L", Some(Size::Ml(1000.0)))]
    #[case::not_applicable("N/A", None)]
    #[case::pack("10 pack", None)]
    #[case::multiple("2x0.5g", None)]
    #[case::bare_number("5", None)]
    #[case::nothing("", None)]
    #[case::zero("0g", None)]
    #[case::by_zero("1/0oz", None)]
    #[case::two_slashes("1/2/3g", None)]
    #[case::not_ascii("½ g", None)]
    fn a_label_states_its_size(#[case] label: &str, #[case] expected: Option<Size>) {
        assert_eq!(size(label), expected);
    }
}
