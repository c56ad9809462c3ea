//! `VariantDiff`: a menu's changes to the variants of a product's row.
//!
//! In: the rows of one product and its variants on the menu. Out: variants that are added, updated and
//! removed, and the part of them that belongs to the history, which keeps each change of price or stock.

use super::product::Variant;
use super::unit_price::StoredUnitPrices;

/// A row of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVariant {
    /// Its place on the menu; None in rows that an earlier release wrote.
    pub position: Option<i16>,
    pub variant: Variant,
    pub unit_prices: StoredUnitPrices,
}

/// A variant of a menu.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedVariant<'a> {
    /// Its place on the menu.
    pub position: i16,
    pub variant: &'a Variant,
    pub unit_prices: StoredUnitPrices,
}

#[derive(Debug, Default, PartialEq)]
pub struct VariantDiff<'a> {
    pub added: Vec<PlacedVariant<'a>>,
    pub updated: Vec<PlacedVariant<'a>>,
    /// Variants of `updated` whose price or stock differs, before and after.
    pub repriced: Vec<(Variant, PlacedVariant<'a>)>,
    pub removed: Vec<Variant>,
}

impl<'a> VariantDiff<'a> {
    /// Variants are distinguished by label and number, which are distinct on either side. A product has few:
    /// each is compared with each.
    pub fn new(mut stored: Vec<StoredVariant>, listed: impl Iterator<Item = PlacedVariant<'a>>) -> VariantDiff<'a> {
        let mut diff = VariantDiff::default();
        for placed in listed {
            let Some(at) = stored.iter().position(|row| has_same_key(&row.variant, placed.variant)) else {
                diff.added.push(placed);
                continue;
            };
            let row = stored.swap_remove(at);
            let is_same = row.position == Some(placed.position)
                && row.variant == *placed.variant
                && row.unit_prices == placed.unit_prices;
            if is_repriced(&row.variant, placed.variant) {
                diff.repriced.push((row.variant, placed.clone()));
            }
            if !is_same {
                diff.updated.push(placed);
            }
        }
        diff.removed = stored.into_iter().map(|row| row.variant).collect();
        diff
    }
}

/// Each variant with its place and its unit prices; beyond the smallint's range, which no menu reaches, places are the last
/// one.
pub fn placed<'a>(
    listed: &'a [Variant],
    unit_prices: impl Fn(&Variant) -> StoredUnitPrices,
) -> impl Iterator<Item = PlacedVariant<'a>> {
    listed.iter().enumerate().map(move |(index, variant)| PlacedVariant {
        position: i16::try_from(index).unwrap_or(i16::MAX),
        variant,
        unit_prices: unit_prices(variant),
    })
}

fn has_same_key(one: &Variant, other: &Variant) -> bool {
    one.nth == other.nth && one.option_label == other.option_label
}

/// A changed size is not history: it corrects an earlier reading.
fn is_repriced(before: &Variant, after: &Variant) -> bool {
    let offer = |variant: &Variant| {
        let prices = [variant.price_rec, variant.price_med, variant.special_price_rec, variant.special_price_med];
        (prices, variant.quantity, variant.quantity_censored, variant.is_in_stock)
    };
    offer(before) != offer(after)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn variant(label: &str, price: i32) -> Variant {
        Variant {
            option_label: label.to_owned(),
            size_mg: Some(1000),
            price_rec: Some(price),
            quantity: Some(4),
            is_in_stock: true,
            ..Variant::default()
        }
    }

    fn stored(position: i16, variant: Variant) -> StoredVariant {
        StoredVariant { position: Some(position), variant, unit_prices: StoredUnitPrices::default() }
    }

    /// The variants with their places, and unit prices of which nothing is known.
    fn plain(listed: &[Variant]) -> impl Iterator<Item = PlacedVariant<'_>> {
        placed(listed, |_| StoredUnitPrices::default())
    }

    /// Numbers of variants added, updated, repriced and removed.
    fn counts(rows: Vec<StoredVariant>, listed: &[Variant]) -> [usize; 4] {
        let diff = VariantDiff::new(rows, plain(listed));
        [diff.added.len(), diff.updated.len(), diff.repriced.len(), diff.removed.len()]
    }

    #[rstest]
    #[case::as_it_was(variant("1g", 10), [0, 0, 0, 0])]
    #[case::dearer(variant("1g", 11), [0, 1, 1, 0])]
    #[case::sold_out(Variant { is_in_stock: false, ..variant("1g", 10) }, [0, 1, 1, 0])]
    #[case::fewer_left(Variant { quantity: Some(3), ..variant("1g", 10) }, [0, 1, 1, 0])]
    #[case::of_another_size(Variant { size_mg: Some(999), ..variant("1g", 10) }, [0, 1, 0, 0])]
    #[case::another_label(variant("2g", 10), [1, 0, 0, 1])]
    #[case::another_number(Variant { nth: 1, ..variant("1g", 10) }, [1, 0, 0, 1])]
    fn one_variant_is_compared(#[case] listed: Variant, #[case] expected: [usize; 4]) {
        assert_eq!(counts(vec![stored(0, variant("1g", 10))], &[listed]), expected);
    }

    #[test]
    fn a_new_place_on_the_menu_is_an_update_and_no_history() {
        let rows = vec![stored(0, variant("1g", 10)), stored(1, variant("2g", 20))];
        assert_eq!(counts(rows, &[variant("2g", 20), variant("1g", 10)]), [0, 2, 0, 0]);
        let unplaced = StoredVariant { position: None, ..stored(0, variant("1g", 10)) };
        assert_eq!(counts(vec![unplaced], &[variant("1g", 10)]), [0, 1, 0, 0]);
    }

    #[test]
    fn another_unit_price_is_an_update_and_no_history() {
        let rows = vec![stored(0, variant("1g", 10))];
        let listed = [variant("1g", 10)];
        let known = |_: &Variant| StoredUnitPrices { rec_per_g: Some(10_000), ..StoredUnitPrices::default() };
        let diff = VariantDiff::new(rows, placed(&listed, known));
        assert_eq!((diff.updated.len(), diff.repriced.len()), (1, 0));
    }

    fn any_variants() -> impl Strategy<Value = Vec<Variant>> {
        let rows = prop::collection::btree_map((0..4u8, 0..2i16), (0..3i32, any::<bool>()), 0..8);
        let rows = rows.prop_map(|rows: BTreeMap<_, _>| {
            let read = |((label, nth), (price, is_in_stock)): ((u8, i16), (i32, bool))| Variant {
                nth,
                is_in_stock,
                ..variant(&label.to_string(), price)
            };
            rows.into_iter().map(read).collect::<Vec<_>>()
        });
        rows.prop_shuffle()
    }

    proptest! {
        #[test]
        fn applied_to_the_rows_it_makes_the_menu(before in any_variants(), after in any_variants()) {
            let rows: Vec<StoredVariant> =
                plain(&before).map(|placed| stored(placed.position, placed.variant.clone())).collect();
            let diff = VariantDiff::new(rows.clone(), plain(&after));

            let untouched = |row: &&StoredVariant| {
                let is = |other: &Variant| has_same_key(&row.variant, other);
                !diff.removed.iter().any(is) && !diff.updated.iter().any(|placed| is(placed.variant))
            };
            let kept = rows.iter().filter(untouched).map(|row| (row.position.unwrap_or(-1), row.variant.clone()));
            let written = diff.added.iter().chain(&diff.updated).map(|placed| (placed.position, placed.variant.clone()));
            let mut result: Vec<(i16, Variant)> = kept.chain(written).collect();
            result.sort_by_key(|(place, _)| *place);
            let menu: Vec<(i16, Variant)> = plain(&after).map(|placed| (placed.position, placed.variant.clone())).collect();
            prop_assert_eq!(result, menu);
        }
    }
}
