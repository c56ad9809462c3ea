//! Bundles of `specialData`: specials on several pieces together.
//!
//! In: the kept JSON of a product's specials. Out: [`Bundle`]s, from the platform's fields where these state one, else from the
//! name of the special. A field of a wrong type is as good as none: the specials themselves are kept, whatever they say.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::platforms::reading::Raw;
use crate::platforms::reading::decimal;
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::items::raw_object;
use crate::platforms::reading::reader::unquoted;
use domain::menu::bundle::{Bundle, Discount};

/// Maximum number of specials of a product that are read, and of parts of one.
const MAX_SPECIALS: usize = 50;
const MAX_PARTS: usize = 10;

raw_object! {
    #[serde(rename_all = "camelCase")]
    Specials {
        bogo_specials, sale_specials,
    }
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    Special {
        special_name, menu_display_name, description, items_for_a_price, total_quantity, bogo_conditions,
        bogo_rewards,
    }
}

raw_object! {
    /// Goods that are bought, or gained.
    #[serde(rename_all = "camelCase")]
    Part {
        quantity, total_quantity, percent_discount, dollar_discount, target_price, discount, weight, brand_ids,
        brand_names, category_names, subcategory_names, product_ids, brand_name, category_name, product_id,
    }
}

raw_object! {
    /// A number that may be switched off.
    Setting {
        enabled, quantity, value,
    }
}

/// The bundles of a product's specials, each once.
pub fn bundles(specials: &str) -> Vec<Bundle> {
    let Ok(Specials { bogo_specials, sale_specials }) = serde_json::from_str(specials) else { return Vec::new() };
    let all = [bogo_specials, sale_specials].map(list::<Special<'_>, MAX_SPECIALS>);
    let mut bundles: Vec<Bundle> = Vec::new();
    for bundle in all.iter().flatten().filter_map(bundle) {
        if !bundles.contains(&bundle) {
            bundles.push(bundle);
        }
    }
    bundles
}

fn bundle(special: &Special<'_>) -> Option<Bundle> {
    of_fields(special).or_else(|| {
        let texts = [special.special_name, special.menu_display_name, special.description];
        texts.into_iter().find_map(|raw| Bundle::in_words(&unquoted(raw?.get())?))
    })
}

fn of_fields(special: &Special<'_>) -> Option<Bundle> {
    let conditions = list::<Part<'_>, MAX_PARTS>(special.bogo_conditions);
    let rewards = list::<Part<'_>, MAX_PARTS>(special.bogo_rewards);
    if let Some(cents) = setting(special.items_for_a_price).and_then(|price| decimal::cents(price.value?.get())) {
        let of_all = setting(special.total_quantity).and_then(|total| count(total.quantity));
        let pieces = [of_all, only(&conditions).and_then(pieces), only(&rewards).and_then(pieces)];
        return pieces.into_iter().flatten().find_map(|pieces| Bundle::for_total(pieces, cents));
    }
    let (bought, gained) = (only(&conditions)?, only(&rewards)?);
    if !are_same_goods(bought, gained) {
        return None;
    }
    Bundle::with_reward(pieces(bought)?, pieces(gained)?, discount(gained)?)
}

/// Whether the goods that are gained are those that are bought, as far as the platform says.
fn are_same_goods(bought: &Part<'_>, gained: &Part<'_>) -> bool {
    goods(bought).into_iter().zip(goods(gained)).all(|(bought, gained)| gained.is_none() || bought == gained)
}

/// The fields that say which goods a part is about.
fn goods<'a>(part: &Part<'a>) -> [Option<&'a str>; 9] {
    let fields = [
        part.weight,
        part.brand_ids,
        part.brand_names,
        part.category_names,
        part.subcategory_names,
        part.product_ids,
        part.brand_name,
        part.category_name,
        part.product_id,
    ];
    fields.map(|raw| raw.map(RawValue::get).filter(|json| !matches!(*json, "null" | "[]" | "\"\"")))
}

fn pieces(part: &Part<'_>) -> Option<i32> {
    setting(part.total_quantity).and_then(|total| count(total.quantity)).or_else(|| count(part.quantity))
}

/// The discount on a piece: `"percentDiscount": 50`, or `true` beside `"discount": 50`.
fn discount(part: &Part<'_>) -> Option<Discount> {
    let amount = |raw: Raw<'_>| {
        let json = raw.filter(|raw| raw.get() != "true").or(part.discount.filter(|_| raw.is_some()))?;
        decimal::cents(json.get()).filter(|amount| *amount > 0)
    };
    // hundredths of a percent are read like cents
    let percent = amount(part.percent_discount).map(Discount::Percent);
    percent
        .or_else(|| amount(part.target_price).map(Discount::Price))
        .or_else(|| amount(part.dollar_discount).map(Discount::Off))
}

/// The setting, unless it is switched off.
fn setting(raw: Raw<'_>) -> Option<Setting<'_>> {
    object::<Setting<'_>>(raw?.get()).filter(|setting| setting.enabled.is_none_or(|enabled| enabled.get() != "false"))
}

/// A whole number of pieces.
fn count(raw: Raw<'_>) -> Option<i32> {
    let pieces = decimal::cents(raw?.get()).filter(|hundredths| *hundredths > 0 && hundredths % 100 == 0)?;
    Some(pieces / 100)
}

fn only<T>(parts: &[T]) -> Option<&T> {
    match parts {
        [part] => Some(part),
        _ => None,
    }
}

/// The objects of a list.
fn list<'a, T: Deserialize<'a>, const MAX: usize>(raw: Raw<'a>) -> Vec<T> {
    let list = raw.and_then(|raw| serde_json::from_str::<FirstOf<'a, MAX>>(raw.get()).ok()).unwrap_or_default();
    list.kept.into_iter().filter_map(|raw| object(raw.get())).collect()
}

/// A list would be read as an object's fields in order.
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    if json.starts_with('{') { serde_json::from_str(json).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const FREE: Discount = Discount::Percent(10_000);

    fn of(special: Value) -> Vec<Bundle> {
        bundles(&json!({ "bogoSpecials": [special], "saleSpecials": null }).to_string())
    }

    fn total(pieces: i32, cents: i32) -> Vec<Bundle> {
        Bundle::for_total(pieces, cents).into_iter().collect()
    }

    fn reward(bought: i32, gained: i32, discount: Discount) -> Vec<Bundle> {
        Bundle::with_reward(bought, gained, discount).into_iter().collect()
    }

    #[rstest]
    #[case::of_a_condition(json!({"bogoConditions": [{"totalQuantity": {"quantity": 3}}], "bogoRewards": [{"totalQuantity": {"quantity": 1}}]}))]
    #[case::of_a_plain_condition(json!({"bogoConditions": [{"quantity": "3"}]}))]
    #[case::of_a_reward(json!({"bogoRewards": [{"totalQuantity": {"quantity": 3}}]}))]
    #[case::of_the_special(json!({"totalQuantity": {"enabled": true, "quantity": 3}, "bogoConditions": [{}, {}]}))]
    #[case::switched_off(json!({"totalQuantity": {"enabled": false, "quantity": 2}, "bogoConditions": [{"quantity": 3}]}))]
    #[case::of_its_name(json!({"specialName": "3 for $45"}))]
    fn several_items_have_a_price(#[case] mut special: Value) {
        special["itemsForAPrice"] = json!({"value": 45});
        assert_eq!(of(special), total(3, 4500));
    }

    #[rstest]
    #[case::half_off(json!({"quantity": 1, "percentDiscount": 50}), reward(2, 1, Discount::Percent(5000)))]
    #[case::half_off_by_a_switch(json!({"quantity": 1, "percentDiscount": true, "discount": 50}), reward(2, 1, Discount::Percent(5000)))]
    #[case::a_third_off(json!({"quantity": 1, "percentDiscount": "33.33"}), reward(2, 1, Discount::Percent(3333)))]
    #[case::two_dollars_off(json!({"quantity": 1, "dollarDiscount": 2}), reward(2, 1, Discount::Off(200)))]
    #[case::for_a_penny(json!({"quantity": 1, "percentDiscount": 0, "targetPrice": 0.01}), reward(2, 1, Discount::Price(1)))]
    #[case::more_than_all_off(json!({"quantity": 1, "percentDiscount": 101}), vec![])]
    #[case::no_discount(json!({"quantity": 1}), vec![])]
    #[case::no_quantity(json!({"percentDiscount": 50}), vec![])]
    #[case::half_a_piece(json!({"quantity": 0.5, "percentDiscount": 50}), vec![])]
    #[case::other_goods(json!({"quantity": 1, "percentDiscount": 50, "categoryNames": ["Edible"]}), vec![])]
    #[case::the_same_goods(json!({"quantity": 1, "percentDiscount": 100, "categoryNames": ["Flower"], "brandIds": []}), reward(2, 1, FREE))]
    #[case::not_an_object(json!([1, 50]), vec![])]
    fn a_reward_is_at_a_discount(#[case] gained: Value, #[case] expected: Vec<Bundle>) {
        let bought = json!({"quantity": 2, "categoryNames": ["Flower"]});
        assert_eq!(of(json!({"bogoConditions": [bought], "bogoRewards": [gained]})), expected);
    }

    #[test]
    fn fields_come_before_words() {
        let special = json!({
            "specialName": "Buy 2 get 1 free",
            "bogoConditions": [{"quantity": 3}],
            "bogoRewards": [{"quantity": 1, "percentDiscount": 100}],
        });
        assert_eq!(of(special), reward(3, 1, FREE));
    }

    #[test]
    fn equal_bundles_are_one() {
        let specials = json!({
            "bogoSpecials": [{"specialName": "2 for $50"}, {"specialName": 7}, null, {"description": "Any 2 for 50"}],
            "saleSpecials": [{"specialName": "2 for $50"}, {"specialName": "25% OFF"}, {"specialName": "BOGO"}],
        });
        assert_eq!(bundles(&specials.to_string()), [total(2, 5000), reward(1, 1, FREE)].concat());
    }

    #[rstest]
    #[case("")]
    #[case("[]")]
    #[case(r#"{"bogoSpecials":7,"saleSpecials":{}}"#)]
    #[case(r#"{"bogoSpecials":[{"itemsForAPrice":[1,2],"bogoConditions":"x","bogoRewards":[[]],"specialName":[]}]}"#)]
    #[case(r#"{"bogoSpecials":[{"itemsForAPrice":{"value":-5},"bogoConditions":[{"quantity":1e99}]}]}"#)]
    fn fields_of_wrong_types_are_no_bundle(#[case] specials: &str) {
        assert_eq!(bundles(specials), []);
    }
}
