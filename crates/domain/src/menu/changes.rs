//! `Changes`: what differs for a price team between a store's rows and its next menu. Pure.
//!
//! In: an option or a product before and after a crawl. Out: its changes, of which each is one line of the feed. It must
//! not know which crawls may make changes, nor how they are kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::product::{Product, UpstreamStatus, Variant};
use crate::vocabulary::vocabulary;

vocabulary! {
    pub enum ChangeKind {
        /// The price that is paid for an option fell: the special where it is lower.
        PriceDrop,
        /// The price that is paid for an option rose.
        PriceRise,
        /// An option has a special that is lower than its price.
        SpecialStart,
        SpecialEnd,
        /// An option went out of stock, or left the menu.
        SoldOut,
        Restocked,
        /// Few of an option are left.
        LowStock,
        /// A product is seen for the first time.
        New,
        /// A product is delisted, or three whole crawls in a row lacked it.
        Gone,
        /// A product that was gone is on the menu again.
        Returned,
    }
}

/// An option's state on one side of a change, as far as the change concerns it. Prices are cents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ChangeSide {
    /// The recreational price: the one that is paid, or at a special the regular one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rec: Option<i32>,
    /// The medical price, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub med: Option<i32>,
    /// The recreational special.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub special_rec: Option<i32>,
    /// The medical special.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub special_med: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<i32>,
    /// The platform caps `quantity`: the real number may be higher.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quantity_censored: bool,
}

/// A change of an option; of a product, where both sides are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub kind: ChangeKind,
    pub old: ChangeSide,
    pub new: ChangeSide,
    /// New minus old price in cents: of the recreational price if it went this way, else of the medical one.
    pub cents: Option<i32>,
    /// `cents` as a percentage of the old price, rounded to hundredths; none if the old price was 0.
    pub percent: Option<f64>,
}

impl Change {
    fn new(kind: ChangeKind, old: ChangeSide, new: ChangeSide) -> Change {
        Change { kind, old, new, cents: None, percent: None }
    }
}

/// A product's presence on its store's menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Never seen: it has no row.
    Unknown,
    Listed,
    /// Delisted, or missed by three whole crawls in a row.
    Gone,
}

impl Presence {
    /// The presence of a product that the menu names.
    pub fn of(product: &Product) -> Presence {
        match product.upstream_status {
            Some(UpstreamStatus::Inactive) => Presence::Gone,
            _ => Presence::Listed,
        }
    }
}

/// The change of a product between two crawls.
pub fn of_product(before: Presence, after: Presence) -> Option<Change> {
    let kind = match (before, after) {
        (Presence::Unknown, Presence::Listed) => ChangeKind::New,
        (Presence::Listed, Presence::Gone) => ChangeKind::Gone,
        (Presence::Gone, Presence::Listed) => ChangeKind::Returned,
        _ => return None,
    };
    Some(Change::new(kind, ChangeSide::default(), ChangeSide::default()))
}

/// The changes of an option between two crawls: of its price, its special, its stock. `low_stock`: the largest quantity
/// that is few.
pub fn of_option(before: &Variant, after: &Variant, low_stock: i32) -> Vec<Change> {
    let prices = of_price(before, after);
    let others = [of_special(before, after), of_stock(before, after), of_quantity(before, after, low_stock)];
    prices.into_iter().chain(others.into_iter().flatten()).collect()
}

/// The change of an option that left the menu of a product which is still there.
pub fn of_removed(before: &Variant) -> Option<Change> {
    before.is_in_stock.then(|| Change::new(ChangeKind::SoldOut, stock(before), ChangeSide::default()))
}

/// One change, or two where the recreational price goes one way and the medical price the other.
fn of_price(before: &Variant, after: &Variant) -> Vec<Change> {
    let (old, new) = (paid(before), paid(after));
    let mut changes: Vec<Change> = Vec::new();
    for (old_price, new_price) in [(old.rec, new.rec), (old.med, new.med)] {
        let (Some(old_price), Some(new_price)) = (old_price, new_price) else { continue };
        let kind = match new_price.cmp(&old_price) {
            std::cmp::Ordering::Less => ChangeKind::PriceDrop,
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Greater => ChangeKind::PriceRise,
        };
        if changes.iter().all(|change| change.kind != kind) {
            let cents = new_price.saturating_sub(old_price);
            let percent = percent(cents, old_price);
            changes.push(Change { cents: Some(cents), percent, ..Change::new(kind, old.clone(), new.clone()) });
        }
    }
    changes
}

/// A special of another height is a change of the price alone.
fn of_special(before: &Variant, after: &Variant) -> Option<Change> {
    let (old, new) = (offered(before), offered(after));
    let has_special = |side: &ChangeSide| side.special_rec.or(side.special_med).is_some();
    match (has_special(&old), has_special(&new)) {
        (false, true) => Some(Change::new(ChangeKind::SpecialStart, old, new)),
        (true, false) => Some(Change::new(ChangeKind::SpecialEnd, old, new)),
        _ => None,
    }
}

fn of_stock(before: &Variant, after: &Variant) -> Option<Change> {
    let kind = match (before.is_in_stock, after.is_in_stock) {
        (true, false) => ChangeKind::SoldOut,
        (false, true) => ChangeKind::Restocked,
        _ => return None,
    };
    Some(Change::new(kind, stock(before), stock(after)))
}

fn of_quantity(before: &Variant, after: &Variant, low_stock: i32) -> Option<Change> {
    let is_low = |variant: &Variant| variant.quantity.is_some_and(|quantity| quantity <= low_stock);
    let was_high = before.quantity.is_some() && !is_low(before);
    let became_low = was_high && is_low(after) && after.is_in_stock;
    became_low.then(|| Change::new(ChangeKind::LowStock, stock(before), stock(after)))
}

fn stock(variant: &Variant) -> ChangeSide {
    let Variant { quantity, quantity_censored, .. } = *variant;
    ChangeSide { quantity, quantity_censored, ..ChangeSide::default() }
}

fn paid(variant: &Variant) -> ChangeSide {
    let [rec, med] = variant.paid_prices();
    ChangeSide { rec, med, ..ChangeSide::default() }
}

/// The regular prices, and the specials below them.
fn offered(variant: &Variant) -> ChangeSide {
    let [special_rec, special_med] = variant.lower_specials();
    ChangeSide { rec: variant.price_rec, med: variant.price_med, special_rec, special_med, ..ChangeSide::default() }
}

/// Half a hundredth is rounded away from zero.
fn percent(cents: i32, old_price: i32) -> Option<f64> {
    (old_price != 0).then(|| (f64::from(cents) * 10_000.0 / f64::from(old_price)).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const LOW: i32 = 5;

    fn option(price: i32) -> Variant {
        Variant {
            option_label: "1g".to_owned(),
            size_mg: Some(1000),
            price_rec: Some(price),
            quantity: Some(20),
            is_in_stock: true,
            ..Variant::default()
        }
    }

    fn special(price: i32, special: i32) -> Variant {
        Variant { special_price_rec: Some(special), ..option(price) }
    }

    fn left(quantity: Option<i32>) -> Variant {
        Variant { quantity, ..option(1000) }
    }

    fn sold_out() -> Variant {
        Variant { is_in_stock: false, ..left(Some(0)) }
    }

    #[rstest]
    #[case::nothing(option(1000), option(1000), &[])]
    #[case::cheaper(option(1000), option(900), &[ChangeKind::PriceDrop])]
    #[case::dearer(option(1000), option(1100), &[ChangeKind::PriceRise])]
    #[case::for_the_first_time_with_a_price(Variant { price_rec: None, ..option(0) }, option(900), &[])]
    #[case::without_a_price_now(option(900), Variant { price_rec: None, ..option(0) }, &[])]
    #[case::a_special_comes(option(1000), special(1000, 800), &[ChangeKind::PriceDrop, ChangeKind::SpecialStart])]
    #[case::a_special_goes(special(1000, 800), option(1000), &[ChangeKind::PriceRise, ChangeKind::SpecialEnd])]
    #[case::a_lower_special(special(1000, 800), special(1000, 700), &[ChangeKind::PriceDrop])]
    #[case::a_price_that_is_not_paid(special(1000, 800), special(1200, 800), &[])]
    #[case::a_special_that_is_higher(option(1000), special(1000, 1200), &[])]
    #[case::a_special_becomes_the_price(special(1000, 800), option(800), &[ChangeKind::SpecialEnd])]
    #[case::sold_out(option(1000), sold_out(), &[ChangeKind::SoldOut])]
    #[case::restocked(sold_out(), option(1000), &[ChangeKind::Restocked])]
    #[case::few_left(left(Some(6)), left(Some(5)), &[ChangeKind::LowStock])]
    #[case::fewer_left(left(Some(5)), left(Some(4)), &[])]
    #[case::an_unknown_quantity_before(left(None), left(Some(2)), &[])]
    #[case::an_unknown_quantity_now(left(Some(9)), left(None), &[])]
    #[case::of_another_size(option(1000), Variant { size_mg: Some(3500), ..option(1000) }, &[])]
    fn an_option_has_the_changes_of_its_price_special_and_stock(
        #[case] before: Variant,
        #[case] after: Variant,
        #[case] expected: &[ChangeKind],
    ) {
        let kinds: Vec<ChangeKind> = of_option(&before, &after, LOW).iter().map(|change| change.kind).collect();
        assert_eq!(kinds, expected);
    }

    #[rstest]
    #[case::a_fall(4000, 3500, -500, Some(-12.5))]
    #[case::a_rise(3500, 4000, 500, Some(14.29))]
    #[case::half_a_hundredth(80_000, 80_004, 4, Some(0.01))]
    #[case::from_nothing(0, 100, 100, None)]
    fn a_change_of_price_says_cents_and_percent(
        #[case] old: i32,
        #[case] new: i32,
        #[case] cents: i32,
        #[case] percent: Option<f64>,
    ) {
        let change = &of_option(&option(old), &option(new), LOW)[0];
        assert_eq!((change.cents, change.percent), (Some(cents), percent));
        assert_eq!((change.old.rec, change.new.rec), (Some(old), Some(new)));
    }

    #[test]
    fn prices_that_move_together_are_one_change_and_apart_are_two() {
        let both = |rec, med| Variant { price_med: Some(med), ..option(rec) };
        let together = of_option(&both(1000, 800), &both(900, 600), LOW);
        assert_eq!(together.len(), 1);
        assert_eq!((together[0].cents, together[0].new.med), (Some(-100), Some(600)));
        let apart = of_option(&both(1000, 800), &both(900, 850), LOW);
        assert_eq!(apart.iter().map(|change| change.cents).collect::<Vec<_>>(), [Some(-100), Some(50)]);
    }

    #[test]
    fn an_option_that_left_the_menu_was_sold_out_if_it_was_there() {
        assert_eq!(of_removed(&option(1000)).map(|change| change.kind), Some(ChangeKind::SoldOut));
        assert_eq!(of_removed(&sold_out()), None);
    }

    #[rstest]
    #[case(Presence::Unknown, Presence::Listed, Some(ChangeKind::New))]
    #[case(Presence::Listed, Presence::Gone, Some(ChangeKind::Gone))]
    #[case(Presence::Gone, Presence::Listed, Some(ChangeKind::Returned))]
    #[case(Presence::Unknown, Presence::Gone, None)]
    #[case(Presence::Listed, Presence::Listed, None)]
    #[case(Presence::Gone, Presence::Gone, None)]
    fn a_product_comes_goes_and_returns(
        #[case] before: Presence,
        #[case] after: Presence,
        #[case] expected: Option<ChangeKind>,
    ) {
        assert_eq!(of_product(before, after).map(|change| change.kind), expected);
    }

    fn any_option() -> impl Strategy<Value = Variant> {
        let price = || prop::option::of(0..4i32);
        let prices = (price(), price(), price(), price());
        (prices, prop::option::of(0..9i32), any::<bool>()).prop_map(|(prices, quantity, is_in_stock)| Variant {
            price_rec: prices.0,
            price_med: prices.1,
            special_price_rec: prices.2,
            special_price_med: prices.3,
            is_in_stock,
            ..left(quantity)
        })
    }

    proptest! {
        #[test]
        fn a_change_and_its_reverse_are_opposites(before in any_option(), after in any_option()) {
            let opposite = |kind| match kind {
                ChangeKind::PriceDrop => ChangeKind::PriceRise,
                ChangeKind::PriceRise => ChangeKind::PriceDrop,
                ChangeKind::SpecialStart => ChangeKind::SpecialEnd,
                ChangeKind::SpecialEnd => ChangeKind::SpecialStart,
                ChangeKind::SoldOut => ChangeKind::Restocked,
                ChangeKind::Restocked => ChangeKind::SoldOut,
                other => other,
            };
            let kinds = |from: &Variant, to: &Variant| {
                let changes = of_option(from, to, LOW).into_iter().map(|change| change.kind);
                let mut kinds: Vec<ChangeKind> = changes.filter(|kind| *kind != ChangeKind::LowStock).collect();
                kinds.sort();
                kinds
            };
            let mut reversed: Vec<ChangeKind> = kinds(&before, &after).into_iter().map(opposite).collect();
            reversed.sort();
            prop_assert_eq!(reversed, kinds(&after, &before));
            prop_assert!(of_option(&before, &before, LOW).is_empty());
        }
    }
}
