//! A number and its unit in fields of their own: as a label, and as a mass.

use super::Raw;
use super::reader::{Reader, fits_a_key};
use domain::menu::size::{Size, size};

/// `3.5 g`, `1/8 ounce`; none when one of them is missing.
pub fn label(number: Raw<'_>, unit: Raw<'_>, read: &mut Reader<'_>) -> Option<String> {
    let (number, unit) = (read.text(number, "quantity")?, read.text(unit, "unit")?);
    Some(format!("{number} {unit}")).filter(|label| fits_a_key(label))
}

pub fn mass_mg(number: Raw<'_>, unit: Raw<'_>, read: &mut Reader<'_>) -> Option<i64> {
    match size(&label(number, unit, read)?)? {
        Size::Mg(mg) => Some(mg),
        Size::Ml(_) => None,
    }
}
