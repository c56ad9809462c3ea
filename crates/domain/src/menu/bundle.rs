//! `Bundle`: a special on several pieces of a product together, such as "2 for $50" or "buy 2 get 1 free". Pure.
//!
//! In: quantities and discounts, or the [`words`] of a special, and the options of a product. Out: the number of pieces
//! and the price of all of them. It must not know how a platform writes specials, and it changes no price.

mod words;

use serde::Serialize;

use super::product::Variant;

/// Maximum number of pieces that is believed.
const MAX_PIECES: i32 = 100;
/// Maximum price of a bundle that is believed, in cents.
const MAX_TOTAL: i32 = 10_000_000;
/// 100 % in hundredths.
const WHOLE: i64 = 10_000;

/// Several pieces that cost less together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle {
    pieces: i32,
    cost: Cost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    /// Cents for all pieces.
    Total(i32),
    /// Some of the pieces are at a discount, and the others cost what they cost alone.
    Discounted { pieces: i32, discount: Discount },
}

/// The discount on a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discount {
    /// Hundredths of a percent off.
    Percent(i32),
    /// Cents off.
    Off(i32),
    /// Cents that it costs.
    Price(i32),
}

/// A bundle of an option, as it is stored beside it; the default is that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoredBundle {
    /// Number of pieces.
    pub bundle_quantity: Option<i32>,
    /// Cents for all pieces.
    pub bundle_total: Option<i32>,
    /// Millicents a gram; none where the mass of the option is not known.
    pub bundle_per_g: Option<i64>,
}

/// The price of a bundle of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundlePrice {
    /// Number of pieces.
    pub quantity: i32,
    /// Cents for all pieces.
    pub total: i32,
}

impl Bundle {
    /// A number of pieces at one price.
    pub fn for_total(pieces: i32, cents: i32) -> Option<Bundle> {
        let is_believed = (2..=MAX_PIECES).contains(&pieces) && (1..=MAX_TOTAL).contains(&cents);
        is_believed.then_some(Bundle { pieces, cost: Cost::Total(cents) })
    }

    /// Pieces at a discount for those who buy others.
    pub fn with_reward(bought: i32, rewarded: i32, discount: Discount) -> Option<Bundle> {
        let is_number = |pieces: i32| (1..=MAX_PIECES).contains(&pieces);
        let is_discount = match discount {
            Discount::Percent(hundredths) => (1..=WHOLE).contains(&i64::from(hundredths)),
            Discount::Off(cents) | Discount::Price(cents) => (1..=MAX_TOTAL).contains(&cents),
        };
        let is_believed = is_number(bought) && is_number(rewarded) && bought + rewarded <= MAX_PIECES && is_discount;
        let cost = Cost::Discounted { pieces: rewarded, discount };
        is_believed.then(|| Bundle { pieces: bought + rewarded, cost })
    }

    /// The bundle that the name or description of a special states.
    pub fn in_words(text: &str) -> Option<Bundle> {
        words::bundle(text)
    }

    /// The price of the bundle for one of the options of a product; none if it costs more than the pieces one by one at their
    /// regular price.
    fn price(self, option: &Variant, options: &[Variant]) -> Option<BundlePrice> {
        let regular = regular_price(option)?;
        let total = match self.cost {
            // the smallest of several sizes for which it is no loss: no store sells two ounces for the price of two grams
            Cost::Total(cents) => {
                let is_of_smaller = |other: i32| other < regular && self.is_no_loss(cents, other);
                (!options.iter().filter_map(regular_price).any(is_of_smaller)).then_some(cents)?
            }
            Cost::Discounted { pieces, discount } => self.discounted(paid_price(option)?, pieces, discount)?,
        };
        (total > 0 && self.is_no_loss(total, regular)).then_some(BundlePrice { quantity: self.pieces, total })
    }

    fn discounted(self, paid: i32, pieces: i32, discount: Discount) -> Option<i32> {
        let (paid, pieces) = (i64::from(paid), i64::from(pieces));
        let of_discounted = match discount {
            Discount::Percent(hundredths) => half_up(pieces * paid * (WHOLE - i64::from(hundredths)), WHOLE),
            Discount::Off(cents) => pieces * (paid - i64::from(cents)),
            Discount::Price(cents) => pieces * i64::from(cents),
        };
        let total = (i64::from(self.pieces) - pieces) * paid + of_discounted;
        (of_discounted >= 0).then(|| i32::try_from(total).ok())?
    }

    /// Whether the pieces cost as much one by one.
    fn is_no_loss(self, total: i32, price: i32) -> bool {
        i64::from(total) <= i64::from(price) * i64::from(self.pieces)
    }
}

/// The cheapest bundle for one of the options of a product; among equal ones the smallest.
pub fn cheapest(bundles: &[Bundle], option: &Variant, options: &[Variant]) -> Option<BundlePrice> {
    let prices = bundles.iter().filter_map(|bundle| bundle.price(option, options));
    prices.min_by(|one, other| {
        let by_piece = |one: &BundlePrice, other: &BundlePrice| i64::from(one.total) * i64::from(other.quantity);
        by_piece(one, other).cmp(&by_piece(other, one)).then(one.quantity.cmp(&other.quantity))
    })
}

/// The recreational price that is paid for one piece, or the medical one where there is no other.
fn paid_price(option: &Variant) -> Option<i32> {
    let [rec, med] = option.paid_prices();
    rec.or(med)
}

/// The same without a special, unless that is the only price.
fn regular_price(option: &Variant) -> Option<i32> {
    option.price_rec.or(option.special_price_rec).or(option.price_med).or(option.special_price_med)
}

fn half_up(dividend: i64, divisor: i64) -> i64 {
    (2 * dividend + divisor).div_euclid(2 * divisor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const FREE: Discount = Discount::Percent(10_000);

    fn option(label: &str, price: i32) -> Variant {
        Variant { option_label: label.to_owned(), price_rec: Some(price), ..Variant::default() }
    }

    fn on_sale(price: i32, special: i32) -> Variant {
        Variant { special_price_rec: Some(special), ..option("1/8oz", price) }
    }

    fn price(bundle: Option<Bundle>, option: &Variant) -> Option<(i32, i32)> {
        let price = cheapest(&[bundle?], option, std::slice::from_ref(option))?;
        Some((price.quantity, price.total))
    }

    #[rstest]
    #[case::two_for_50(Bundle::for_total(2, 5000), Some((2, 5000)))]
    #[case::no_gain(Bundle::for_total(2, 6000), Some((2, 6000)))]
    #[case::a_loss(Bundle::for_total(2, 6001), None)]
    #[case::for_nothing(Bundle::for_total(2, 0), None)]
    #[case::of_one(Bundle::for_total(1, 2000), None)]
    #[case::of_none(Bundle::for_total(0, 2000), None)]
    #[case::of_a_thousand(Bundle::for_total(1000, 2000), None)]
    #[case::three_for_two(Bundle::with_reward(2, 1, FREE), Some((3, 6000)))]
    #[case::half_off(Bundle::with_reward(1, 1, Discount::Percent(5000)), Some((2, 4500)))]
    #[case::a_third_off(Bundle::with_reward(1, 1, Discount::Percent(3333)), Some((2, 5000)))]
    #[case::a_dollar_off(Bundle::with_reward(1, 2, Discount::Off(100)), Some((3, 8800)))]
    #[case::more_off_than_it_costs(Bundle::with_reward(1, 1, Discount::Off(3001)), None)]
    #[case::for_a_penny(Bundle::with_reward(1, 1, Discount::Price(1)), Some((2, 3001)))]
    #[case::dearer_than_alone(Bundle::with_reward(1, 1, Discount::Price(3001)), None)]
    #[case::more_than_all_off(Bundle::with_reward(1, 1, Discount::Percent(10_001)), None)]
    #[case::nothing_off(Bundle::with_reward(1, 1, Discount::Percent(0)), None)]
    #[case::nothing_bought(Bundle::with_reward(0, 1, FREE), None)]
    #[case::nothing_gained(Bundle::with_reward(1, 0, FREE), None)]
    fn a_bundle_has_a_number_and_a_total(#[case] bundle: Option<Bundle>, #[case] expected: Option<(i32, i32)>) {
        assert_eq!(price(bundle, &option("1/8oz", 3000)), expected);
    }

    #[test]
    fn a_reward_is_off_the_price_that_is_paid_and_a_total_is_no_loss_at_the_regular_one() {
        assert_eq!(price(Bundle::with_reward(2, 1, FREE), &on_sale(3000, 2500)), Some((3, 5000)));
        assert_eq!(price(Bundle::for_total(2, 5500), &on_sale(3000, 2500)), Some((2, 5500)));
    }

    #[test]
    fn half_a_cent_is_rounded_up() {
        assert_eq!(price(Bundle::with_reward(1, 1, Discount::Percent(5000)), &option("1g", 1001)), Some((2, 1502)));
    }

    #[test]
    fn where_only_patients_buy_their_price_counts() {
        let medical = Variant { price_med: Some(2000), ..Variant::default() };
        assert_eq!(price(Bundle::with_reward(1, 1, FREE), &medical), Some((2, 2000)));
        assert_eq!(price(Bundle::with_reward(1, 1, FREE), &Variant::default()), None);
    }

    #[rstest]
    #[case::two_for_20(2000, [true, false, false])]
    #[case::two_for_50(5000, [false, true, false])]
    #[case::two_for_300(30_000, [false, false, true])]
    #[case::two_for_500(50_000, [false, false, false])]
    fn a_total_is_for_the_smallest_option_for_which_it_is_no_loss(#[case] cents: i32, #[case] expected: [bool; 3]) {
        let options = [option("1g", 1200), option("1/8oz", 3500), option("1oz", 20_000)];
        let bundles: Vec<Bundle> = Bundle::for_total(2, cents).into_iter().collect();
        assert_eq!([0, 1, 2].map(|at| cheapest(&bundles, &options[at], &options).is_some()), expected);
    }

    #[test]
    fn of_several_bundles_the_cheapest_counts() {
        let three = Bundle::for_total(3, 6000).unwrap();
        let (two, four) = (Bundle::for_total(2, 5000).unwrap(), Bundle::for_total(4, 8000).unwrap());
        let option = option("1g", 3000);
        let found = cheapest(&[two, four, three], &option, std::slice::from_ref(&option));
        assert_eq!(found, Some(BundlePrice { quantity: 3, total: 6000 }));
    }

    proptest! {
        #[test]
        fn no_bundle_costs_more_than_its_pieces(
            bought in any::<i32>(), rewarded in any::<i32>(), amount in any::<i32>(), small in (0..9, 0..9, 0..12_000),
            regular in any::<Option<i32>>(), special in any::<Option<i32>>(),
        ) {
            let option = Variant { price_rec: regular, special_price_rec: special, ..Variant::default() };
            for (bought, rewarded, amount) in [(bought, rewarded, amount), small] {
                let rewards = [Discount::Percent(amount), Discount::Off(amount), Discount::Price(amount)]
                    .map(|discount| Bundle::with_reward(bought, rewarded, discount));
                let bundles: Vec<Bundle> = rewards.into_iter().chain([Bundle::for_total(bought, amount)]).flatten().collect();
                if let Some(BundlePrice { quantity, total }) = cheapest(&bundles, &option, std::slice::from_ref(&option)) {
                    prop_assert!((2..=MAX_PIECES).contains(&quantity) && total > 0);
                    let alone = i64::from(regular.or(special).unwrap_or_default()) * i64::from(quantity);
                    prop_assert!(i64::from(total) <= alone);
                }
            }
        }
    }
}
