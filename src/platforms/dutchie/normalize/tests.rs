//! One case for each oddity of the feed.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use domain::menu::UnknownKeys;
use domain::menu::product::{Potency, PotencyUnit, StockStatus, UpstreamStatus};

/// An ordinary product; each case lays its trap over it.
fn item(trap: Value) -> Value {
    let mut item = json!({
        "_id": "p1", "id": "p1", "Name": "Animal Mntz", "brand": {"name": "Bud Bros", "imageUrl": "https://i/b"},
        "type": "Flower", "subcategory": "premium", "strainType": "Hybrid", "Options": ["1/8oz"], "Prices": [34],
        "recPrices": [34], "medicalPrices": [30], "recSpecialPrices": [], "medicalSpecialPrices": [], "special": null,
        "specialData": null, "POSMetaData": null, "manualInventory": [{"option": "1/8oz", "inventory": 64}],
        "THCContent": {"unit": "PERCENTAGE", "range": [24.4]}, "CBDContent": null, "measurements": null,
        "Image": "https://i/p", "images": [], "createdAt": "1758030118081", "updatedAt": "2025-10-05T14:47:48.127Z",
        "Status": "Active", "enterpriseProductId": null, "weight": 9_999_999, "pastCNames": [null, "x"], "rawOptions": [],
        "effects": {"Calm": 1, "calm": 2}, "__typename": "Products",
    });
    for (key, value) in trap.as_object().unwrap() {
        item[key] = value.clone();
    }
    item
}

fn page(items: &[Value]) -> Vec<u8> {
    let menu = json!({"products": items, "queryInfo": {"totalCount": items.len(), "totalPages": 1}});
    json!({"data": {"filteredProducts": menu}}).to_string().into_bytes()
}

fn menu(items: &[Value]) -> NormalMenu {
    normalise(&[&page(items)]).unwrap()
}

fn product(trap: Value) -> Product {
    let NormalMenu { mut products, .. } = menu(&[item(trap)]);
    products.pop().unwrap()
}

fn keys_of(counts: &[(&str, u32)]) -> UnknownKeys {
    let mut keys = UnknownKeys::default();
    counts.iter().for_each(|(key, count)| keys.add(key, *count));
    keys
}

fn kinds(menu: &NormalMenu) -> Vec<&'static str> {
    menu.warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn an_ordinary_item_becomes_a_product_without_warnings() {
    let menu = menu(&[item(json!({}))]);
    let product = &menu.products[0];
    assert_eq!(kinds(&menu), Vec::<&str>::new());
    assert!(menu.unknown_keys.is_empty(), "{:?}", menu.unknown_keys);
    assert_eq!((product.price_rec, product.price_med, product.is_on_special), (Some(3400), Some(3000), false));
    assert_eq!((product.quantity, product.quantity_censored, product.is_in_stock), (Some(64), false, true));
    assert_eq!(product.upstream_created_at.unwrap().timestamp_millis(), 1_758_030_118_081);
    assert_eq!(product.upstream_updated_at.unwrap().timestamp_millis(), 1_759_675_668_127);
    assert_eq!(product.variants[0].size_mg, Some(3500));
}

#[rstest]
#[case::by_name(json!({}), Some("Bud Bros"))]
#[case::null_then_brand_name(json!({"brand": null, "brandName": "Bud Bros  "}), Some("Bud Bros"))]
#[case::blank_then_brand_name(json!({"brand": {"name": " "}, "brandName": "B"}), Some("B"))]
#[case::old_bare_name(json!({"brand": "Old Bros"}), Some("Old Bros"))]
#[case::then_the_pos(json!({"brand": null, "POSMetaData": {"canonicalBrandName": "POS"}}), Some("POS"))]
#[case::none(json!({"brand": null, "brandName": ""}), None)]
fn a_brand_is_found_where_it_is(#[case] trap: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(trap).brand_name_raw.as_deref(), expected);
}

#[rstest]
#[case::given("premium", Some("premium"))]
#[case::blank("", None)]
fn a_blank_subcategory_is_none(#[case] given: &str, #[case] expected: Option<&str>) {
    assert_eq!(product(json!({"subcategory": given})).subcategory.as_deref(), expected);
}

#[rstest]
#[case::not_applicable(json!("N/A"), None)]
#[case::not_applicable_in_small_letters(json!("n/a"), None)]
#[case::null(json!(null), None)]
#[case::cross(json!("Indica-Hybrid"), Some("Indica-Hybrid"))]
#[case::ratio(json!("1 to 1"), Some("1 to 1"))]
fn strains_are_kept_as_said(#[case] strain: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(json!({"strainType": strain})).strain_type.as_deref(), expected);
}

#[rstest]
#[case::falls_back_to_prices(json!({"recPrices": []}), Some(3400), Some(3000))]
#[case::null_list_falls_back(json!({"recPrices": null, "Prices": ["34.50"]}), Some(3450), Some(3000))]
#[case::lowest_over_options(json!({"Options": ["1g", "2g"], "recPrices": [20, 12.5], "medicalPrices": [9, 18]}), Some(1250), Some(900))]
#[case::one_of_a_wrong_type(json!({"Options": ["1g", "2g"], "recPrices": [{}, 12.5]}), Some(1250), Some(3000))]
#[case::half_up(json!({"recPrices": [10.005]}), Some(1001), Some(3000))]
#[case::no_options_but_a_price(json!({"Options": []}), Some(3400), Some(3000))]
#[case::only_nulls_fall_back(json!({"recPrices": [null]}), Some(3400), Some(3000))]
#[case::medical_only_has_no_price_for_all(json!({"recPrices": [], "medicalOnly": true}), None, Some(3000))]
#[case::nothing_is_no_price(json!({"Options": ["1g", "2g"], "recPrices": [0, 12.5]}), Some(1250), Some(3000))]
fn a_price_is_the_lowest_over_the_options(#[case] trap: Value, #[case] rec: Option<i32>, #[case] med: Option<i32>) {
    let product = product(trap);
    assert_eq!((product.price_rec, product.price_med), (rec, med));
}

#[rstest]
#[case::lower(json!({"recSpecialPrices": [27.95]}), Some(2795), None, true)]
#[case::zero_is_none(json!({"recSpecialPrices": [0]}), None, None, false)]
#[case::not_lower(json!({"recSpecialPrices": [34]}), None, None, false)]
#[case::higher(json!({"recSpecialPrices": [40]}), None, None, false)]
#[case::medical_only(json!({"medicalSpecialPrices": ["25"]}), None, Some(2500), true)]
#[case::flag_without_price(json!({"special": true}), None, None, false)]
#[case::of_the_option_that_costs_least(json!({"Options": ["1g", "2g"], "recPrices": [20, 10], "recSpecialPrices": [5, 0]}), Some(500), None, true)]
#[case::of_another_option_than_the_lowest(json!({"Options": ["1g", "28g"], "recPrices": [10, 200], "recSpecialPrices": [0, 150]}), None, None, true)]
fn a_sale_is_a_lower_price(#[case] trap: Value, #[case] rec: Option<i32>, #[case] med: Option<i32>, #[case] on: bool) {
    let product = product(trap);
    assert_eq!((product.special_price_rec, product.special_price_med, product.is_on_special), (rec, med, on));
}

fn pos(children: Value) -> Value {
    json!({"Options": ["1g", "2g"], "POSMetaData": {"children": children}, "manualInventory": null})
}

#[rstest]
#[case::by_option(pos(json!([{"option": "2g", "quantity": 7}, {"option": "1g", "quantity": 3}])), [Some(3), Some(7)], Some(10), false)]
#[case::available_before_quantity(pos(json!([{"option": "1g", "quantity": 9, "quantityAvailable": 4}])), [Some(4), None], Some(4), false)]
#[case::null_available(pos(json!([{"option": "1g", "quantity": 9, "quantityAvailable": null}])), [Some(9), None], Some(9), false)]
#[case::the_cap_censors(pos(json!([{"option": "1g", "quantity": 25}, {"option": "2g", "quantity": 1}])), [Some(25), Some(1)], Some(26), true)]
#[case::index_as_fallback(pos(json!([{"option": "x", "quantity": 3}, {"option": null, "quantity": 7}])), [Some(3), Some(7)], Some(10), false)]
#[case::nothing_left_of_one_and_another_unknown(pos(json!([{"option": "1g", "quantity": 0}])), [Some(0), None], None, false)]
#[case::a_named_row_is_no_fallback(pos(json!([{"option": "2g", "quantity": 3}])), [None, Some(3)], Some(3), false)]
#[case::oversold_is_zero(pos(json!([{"option": "1g", "quantity": -2}, {"option": "2g", "quantity": 0}])), [Some(0), Some(0)], Some(0), false)]
#[case::children_null_is_unknown(pos(json!(null)), [None, None], None, false)]
#[case::a_broken_row_keeps_its_place(pos(json!([7, {"option": "x", "quantity": 5}])), [None, Some(5)], Some(5), false)]
#[case::manual_is_not_capped(json!({"Options": ["1g", "2g"], "manualInventory": [{"option": "1g", "inventory": 169}]}), [Some(169), None], Some(169), false)]
#[case::manual_beside_an_empty_pos(json!({"Options": ["1g", "2g"], "POSMetaData": {"children": null}, "manualInventory": [{"option": "2g", "inventory": 2}]}), [None, Some(2)], Some(2), false)]
#[case::the_pos_before_the_manual_inventory(json!({"Options": ["1g", "2g"], "POSMetaData": {"children": [{"option": "1g", "quantity": 1}]}, "manualInventory": [{"option": "1g", "inventory": 50}]}), [Some(1), None], Some(1), false)]
fn stock_is_joined_by_option(
    #[case] trap: Value,
    #[case] variants: [Option<i32>; 2],
    #[case] total: Option<i32>,
    #[case] censored: bool,
) {
    let product = product(trap);
    let quantities: Vec<_> = product.variants.iter().map(|variant| variant.quantity).collect();
    assert_eq!(quantities, variants);
    assert_eq!((product.quantity, product.quantity_censored), (total, censored));
}

#[test]
fn stock_is_joined_by_options_of_any_length() {
    let [first, second] = ["1", "2"].map(|start| start.to_owned() + &"g".repeat(300));
    let stock = json!([{"option": second, "quantity": 7}, {"option": first, "quantity": 3}]);
    let product = product(json!({"Options": [first, second], "POSMetaData": {"children": stock}}));
    let quantities: Vec<_> = product.variants.iter().map(|variant| variant.quantity).collect();
    assert_eq!(quantities, [Some(3), Some(7)]);
}

#[rstest]
#[case::some(json!({}), true, StockStatus::InStock)]
#[case::none_left(json!({"manualInventory": [{"option": "1/8oz", "inventory": 0}]}), false, StockStatus::Oos)]
#[case::unknown_is_not_zero(json!({"manualInventory": null}), true, StockStatus::Unknown)]
#[case::inactive(json!({"Status": "Inactive"}), false, StockStatus::Oos)]
#[case::inactive_and_unknown(json!({"Status": "Inactive", "manualInventory": null}), false, StockStatus::Oos)]
#[case::no_status(json!({"Status": null}), true, StockStatus::InStock)]
fn in_stock_is_active_and_not_zero(#[case] trap: Value, #[case] in_stock: bool, #[case] status: StockStatus) {
    let product = product(trap);
    assert_eq!((product.is_in_stock, product.stock_status), (in_stock, status));
    assert_eq!(product.variants[0].is_in_stock, in_stock);
}

#[test]
fn a_product_is_in_stock_as_long_as_one_option_may_be() {
    let product = product(pos(json!([{"option": "1g", "quantity": 0}])));
    assert_eq!((product.is_in_stock, product.stock_status), (true, StockStatus::Unknown));
    let in_stock: Vec<bool> = product.variants.iter().map(|variant| variant.is_in_stock).collect();
    assert_eq!(in_stock, [false, true]);
}

#[rstest]
#[case::active(json!("Active"), Some(UpstreamStatus::Active), &[])]
#[case::inactive(json!("Inactive"), Some(UpstreamStatus::Inactive), &[])]
#[case::unsaid(json!(null), None, &[])]
#[case::unknown(json!("Retired"), None, &["unknown_status"])]
fn a_product_is_listed_as_the_platform_says(
    #[case] status: Value,
    #[case] expected: Option<UpstreamStatus>,
    #[case] warned: &[&str],
) {
    let menu = menu(&[item(json!({"Status": status}))]);
    assert_eq!(menu.products[0].upstream_status, expected);
    assert_eq!(kinds(&menu), warned);
}

#[test]
fn variants_stand_in_the_order_of_the_menu() {
    let product = product(json!({"Options": ["28g", "1g", "N/A", "3.5g"], "recPrices": [9, 1, 5, 3]}));
    let labels: Vec<_> = product.variants.iter().map(|variant| variant.option_label.as_str()).collect();
    assert_eq!(labels, ["28g", "1g", "N/A", "3.5g"]);
}

fn potency_of(min: Option<f64>, max: Option<f64>, unit: Option<PotencyUnit>) -> Option<Potency> {
    Some(Potency { min, max, unit })
}

#[rstest]
#[case::absent(json!(null), None)]
#[case::empty_null(json!({"unit": "PERCENTAGE", "range": null}), potency_of(None, None, Some(PotencyUnit::Percentage)))]
#[case::empty_list(json!({"unit": "MILLIGRAMS", "range": []}), potency_of(None, None, Some(PotencyUnit::Milligrams)))]
#[case::one(json!({"unit": "MILLIGRAMS_PER_GRAM", "range": [5]}), potency_of(Some(5.0), Some(5.0), Some(PotencyUnit::MilligramsPerGram)))]
#[case::range(json!({"unit": "PERCENTAGE", "range": [18, 22.5]}), potency_of(Some(18.0), Some(22.5), Some(PotencyUnit::Percentage)))]
#[case::reversed(json!({"unit": "PERCENTAGE", "range": ["22", 18]}), potency_of(Some(18.0), Some(22.0), Some(PotencyUnit::Percentage)))]
#[case::above_fifty(json!({"unit": "PERCENTAGE", "range": [89.744]}), potency_of(Some(89.744), Some(89.744), Some(PotencyUnit::Percentage)))]
#[case::old_number(json!(21.5), potency_of(Some(21.5), Some(21.5), None))]
#[case::old_percent(json!("21.5%"), potency_of(Some(21.5), Some(21.5), Some(PotencyUnit::Percentage)))]
#[case::old_range(json!("18 - 22 %"), potency_of(Some(18.0), Some(22.0), Some(PotencyUnit::Percentage)))]
#[case::old_range_of_two_percentages(json!("18% - 22%"), potency_of(Some(18.0), Some(22.0), Some(PotencyUnit::Percentage)))]
#[case::old_milligrams(json!("100mg"), potency_of(Some(100.0), Some(100.0), Some(PotencyUnit::Milligrams)))]
#[case::old_blank(json!(""), None)]
#[case::unknown_unit(json!({"unit": "DROPS", "range": [3]}), potency_of(Some(3.0), Some(3.0), None))]
fn potency_has_three_states(#[case] content: Value, #[case] expected: Option<Potency>) {
    assert_eq!(product(json!({"THCContent": content})).thc, expected);
}

#[rstest]
#[case::its_own(json!({"Image": "https://i/a"}), Some("https://i/a"))]
#[case::blank_falls_back(json!({"Image": "", "images": [{"url": "https://i/b", "active": true}]}), Some("https://i/b"))]
#[case::inactive_is_skipped(json!({"Image": null, "images": [{"url": "https://i/x", "active": false}, {"url": "https://i/c", "active": true}]}), Some("https://i/c"))]
#[case::a_blank_one_is_skipped(json!({"Image": "", "images": [{"url": ""}, {"url": "https://i/d"}]}), Some("https://i/d"))]
#[case::without_a_scheme(json!({"Image": "//images.example/a.png"}), Some("https://images.example/a.png"))]
#[case::one_of_a_list_without_a_scheme(json!({"Image": "", "images": [{"url": "//i/b"}]}), Some("https://i/b"))]
#[case::none(json!({"Image": "", "images": null}), None)]
fn an_image_is_the_first_live_one(#[case] trap: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(trap).image_url.as_deref(), expected);
}

/// The specials of a product whose `specialData` is this text.
fn specials(special_data: &str) -> (Option<String>, Vec<&'static str>) {
    let page = String::from_utf8(page(&[item(json!({"specialData": "HERE"}))])).unwrap();
    let menu = normalise(&[page.replace("\"HERE\"", special_data).as_bytes()]).unwrap();
    (menu.products[0].specials.as_ref().map(|specials| specials.json().as_str().to_owned()), kinds(&menu))
}

#[rstest]
#[case::as_it_stands(
    r#"{"saleSpecials":[{"specialName":"35% off","n":[1,-2,3.5,true,null,{}]}]}"#,
    r#"{"saleSpecials":[{"specialName":"35% off","n":[1,-2,3.5,true,null,{}]}]}"#
)]
#[case::without_white_space(r#"{ "saleSpecials" : [ 1 , 2 ] , "x" : { } }"#, r#"{"saleSpecials":[1,2],"x":{}}"#)]
#[case::in_its_own_order(r#"{"z":1,"saleSpecials":[1],"a":2}"#, r#"{"z":1,"saleSpecials":[1],"a":2}"#)]
#[case::less_the_staff_id(
    r#"{"createdBy":"5f5a","bogoSpecials":[{"a":{"value":5,"createdBy":{"id":[1]}}}],"saleSpecials":null}"#,
    r#"{"bogoSpecials":[{"a":{"value":5}}],"saleSpecials":null}"#
)]
#[case::with_an_escaped_staff_id(r#"{"saleSpecials":[{"created\u0042y":"5f5a"}]}"#, r#"{"saleSpecials":[{}]}"#)]
#[case::without_a_nul(r#"{"saleSpecials":["a\u0000b"],"a\u0000":1}"#, r#"{"saleSpecials":["ab"]}"#)]
#[case::escaped_as_needed(r#"{"saleSpecials":["\u00e9\ud83d\ude00\"\/\n"]}"#, "{\"saleSpecials\":[\"é😀\\\"/\\n\"]}")]
#[case::with_opaque_keys(
    r#"{"saleSpecials":[{"specialRestrictions":{"690a":{"discountType":"x"}}}]}"#,
    r#"{"saleSpecials":[{"specialRestrictions":{"690a":{"discountType":"x"}}}]}"#
)]
fn specials_are_kept_as_written_without_staff_ids(#[case] given: &str, #[case] expected: &str) {
    assert_eq!(specials(given), (Some(expected.to_owned()), vec![]));
}

#[rstest]
#[case::a_lone_surrogate(r#"{"saleSpecials":["\ud800"]}"#)]
#[case::a_number_out_of_range(r#"{"saleSpecials":[1e999]}"#)]
#[case::a_list(r#"[[1],[2]]"#)]
#[case::too_deep(&format!(r#"{{"saleSpecials":{}{}}}"#, "[".repeat(2000), "]".repeat(2000)))]
fn specials_that_a_database_refuses_are_left_out(#[case] given: &str) {
    assert_eq!(specials(given), (None, vec!["bad_field"]));
}

#[test]
fn of_lists_given_twice_the_last_one_counts() {
    assert_eq!(specials(r#"{"saleSpecials":[1],"saleSpecials":[]}"#), (None, vec![]));
}

#[rstest]
#[case::null(json!(null))]
#[case::nothing_in_it(json!({"bogoSpecials": null, "saleSpecials": []}))]
fn no_specials_are_none(#[case] special_data: Value) {
    assert_eq!(product(json!({"specialData": special_data})).specials, None);
}

#[test]
fn equal_labels_are_counted() {
    let product = product(json!({"Options": ["1g", "2g", "1g", null]}));
    let keys: Vec<_> = product.variants.iter().map(|variant| (variant.option_label.as_str(), variant.nth)).collect();
    assert_eq!(keys, [("1g", 0), ("2g", 0), ("1g", 1), ("N/A", 0)]);
}

#[rstest]
#[case::stated_mass(json!({"unit": "MILLIGRAMS", "values": [3500]}), Some(3500))]
#[case::another_unit(json!({"unit": "OUNCES", "values": [3500]}), None)]
#[case::not_for_every_option(json!({"unit": "MILLIGRAMS", "values": [1, 2]}), None)]
fn the_net_weight_is_the_size_of_a_label_without_one(#[case] net_weight: Value, #[case] expected: Option<i64>) {
    let product = product(json!({"Options": ["N/A"], "measurements": {"netWeight": net_weight}}));
    assert_eq!(product.variants[0].size_mg, expected);
}

#[test]
fn of_equal_ids_the_last_page_wins_at_the_first_place() {
    let first = page(&[item(json!({"Name": "old"})), item(json!({"_id": "p2"}))]);
    let second = page(&[item(json!({"Name": "new"})), item(json!({"_id": "p3"}))]);
    let menu = normalise(&[&first, &second]).unwrap();
    let seen: Vec<_> = menu.products.iter().map(|p| (p.provider_product_id.as_str(), p.name_raw.as_str())).collect();
    assert_eq!(seen, [("p1", "new"), ("p2", "Animal Mntz"), ("p3", "Animal Mntz")]);
}

#[test]
fn a_bad_item_costs_one_warning_and_nothing_else() {
    let menu =
        menu(&[item(json!({})), json!(7), json!([1, {"a": 2}]), json!({"Name": "no id"}), item(json!({"_id": "p2"}))]);
    assert_eq!(menu.products.len(), 2);
    assert_eq!(kinds(&menu), ["unreadable_item"; 2], "one for those that are no objects, one for that without an id");
}

#[test]
fn a_field_of_a_wrong_type_is_absent_with_a_warning() {
    let menu = menu(&[item(json!({"subcategory": {"x": 1}, "images": "none", "brand": [1]}))]);
    assert_eq!(menu.products[0].subcategory, None);
    assert_eq!(kinds(&menu), ["bad_field"; 2], "{:?}", menu.warnings);
}

/// Names between the braces after `field`, without the ones inside their own braces.
fn asked_for<'a>(document: &'a str, field: &str) -> BTreeSet<&'a str> {
    let (_, fields) = document.split_once(&format!("{field} {{")).unwrap();
    let mut depth = 0;
    let mut names = BTreeSet::new();
    for word in fields.split_whitespace() {
        match word {
            "{" => depth += 1,
            "}" if depth == 0 => return names,
            "}" => depth -= 1,
            name if depth == 0 => drop(names.insert(name)),
            _ => {}
        }
    }
    panic!("{field} has no end");
}

#[test]
fn the_full_text_asks_for_every_field_that_is_read_and_no_other() {
    let shipped = include_str!("../data.toml");
    let (_, document) = shipped.split_once("query FilteredProducts(").unwrap();
    assert_eq!(asked_for(document, "products"), WireProduct::KEYS.into_iter().collect());
}

#[test]
fn a_long_unknown_key_is_counted_too() {
    let keys = ["novelty".repeat(20), "novelty".repeat(21)];
    let novel = |id: &str, key: &str| item(json!({"_id": id, key: 1}));
    let menu = menu(&[novel("p1", &keys[0]), novel("p2", &keys[0]), novel("p3", &keys[1])]);
    assert_eq!(menu.unknown_keys, keys_of(&[(&keys[0][..64], 3)]));
}

#[test]
fn unknown_keys_are_counted() {
    let menu = menu(&[item(json!({"novelty": [1]})), item(json!({"_id": "p2", "novelty": null, "other": {}}))]);
    assert_eq!(menu.unknown_keys, keys_of(&[("novelty", 2), ("other", 1)]));
}

#[test]
fn text_that_a_database_refuses_is_cleaned() {
    let product = product(json!({
        "Name": "a\u{0}b", "Options": ["x".repeat(5000)], "specialData": {"saleSpecials": [{"specialName": "a\u{0}b"}]},
    }));
    assert_eq!(product.name_raw, "ab");
    let only_what_is_refused = item(json!({"Name": "\u{0} \u{0}", "cName": "animal-mntz"}));
    assert_eq!(menu(&[only_what_is_refused]).products[0].name_raw, "animal-mntz");
    assert_eq!(product.variants[0].option_label.len(), 200);
    assert_eq!(product.specials.unwrap().json().as_str(), r#"{"saleSpecials":[{"specialName":"ab"}]}"#);
}

#[rstest]
#[case::legacy(json!({"_id": "aBcDeFgHiJkLmNoPq"}), "aBcDeFgHiJkLmNoPq")]
#[case::only_id(json!({"_id": null, "id": "p9"}), "p9")]
fn ids_are_opaque(#[case] trap: Value, #[case] expected: &str) {
    assert_eq!(product(trap).provider_product_id, expected);
}

#[rstest]
#[case::html("<html>")]
#[case::no_data(r#"{"data": null}"#)]
#[case::errors_without_data(r#"{"errors": [{"message": "x"}]}"#)]
#[case::errors_beside_data(r#"{"errors": [{"message": "x"}], "data": {"filteredProducts": {"products": []}}}"#)]
#[case::truncated(r#"{"data": {"filteredProducts": {"products": [{"_id": "#)]
#[case::empty("")]
fn what_is_no_menu_page_is_an_error(#[case] body: &str) {
    assert!(normalise(&[body.as_bytes()]).is_err());
    assert!(read_page(0, body.as_bytes(), 400).is_err());
}

#[test]
fn an_error_of_one_product_costs_it_alone() {
    let body = |errors: Value, ids: &[Option<&str>]| {
        let products: Vec<Value> = ids.iter().map(|id| id.map_or(Value::Null, |id| json!({ "_id": id }))).collect();
        json!({ "errors": errors, "data": { "filteredProducts": { "products": products } } }).to_string()
    };
    let error = |index: usize| json!({ "message": "boom", "path": ["filteredProducts", "products", index, "brand"] });
    let read = |body: String| {
        let menu = normalise(&[body.as_bytes()])?;
        let ids: Vec<String> = menu.products.iter().map(|product| product.provider_product_id.clone()).collect();
        Ok::<_, NormaliseError>(ids)
    };
    let three = [Some("a"), None, Some("b"), Some("c")];
    assert_eq!(read(body(json!([error(2)]), &three)).unwrap(), ["a", "c"]);
    assert_eq!(read(body(json!([error(1)]), &three)).unwrap(), ["a", "b", "c"], "the element is null already");
    assert_eq!(read(body(json!([error(9)]), &three)).unwrap(), ["a", "b", "c"]);
    assert_eq!(read(body(json!([]), &three)).unwrap(), ["a", "b", "c"]);
    assert!(read(body(json!([error(0), error(2), error(3)]), &three)).is_err(), "more than half");
}

#[rstest]
#[case::between_characters(42)]
#[case::inside_a_character(43)]
fn a_page_that_ends_in_the_middle_is_truncated(#[case] bytes: usize) {
    let body = r#"{"data": {"filteredProducts": {"products é"#.as_bytes();
    assert_eq!(body.len(), 43);
    assert_eq!(read_page(7, &body[..bytes - 1], 400), Err(NormaliseError::Truncated { page: 7 }));
}

#[test]
fn a_byte_that_is_no_utf8_costs_its_character_alone() {
    let text = r#"{"data":{"filteredProducts":{"products":[{"_id":"a","Name":"Caf@"},{"_id":"b","Name":"Tea"}]}}}"#;
    let body: Vec<u8> = text.bytes().map(|byte| if byte == b'@' { 0xe9 } else { byte }).collect();
    let menu = normalise(&[&body]).unwrap();
    let names: Vec<&str> = menu.products.iter().map(|product| product.name_raw.as_str()).collect();
    assert_eq!(names, ["Caf\u{fffd}", "Tea"]);
}

#[test]
fn a_page_is_read_with_its_totals_and_repetitions() {
    let body = page(&[item(json!({})), json!(null), item(json!({"_id": "p2"})), item(json!({"_id": "p2"}))]);
    let read = read_page(0, &body, 400).unwrap();
    let ids: Vec<_> = read.page.products().iter().map(|product| product.provider_product_id.as_str()).collect();
    assert_eq!(ids, ["p1", "p2", "p2"]);
    assert_eq!((read.items, read.total_count, read.total_pages), (4, Some(4), Some(1)));
}

#[rstest]
#[case::none_announced(json!({"totalCount": null}), &[])]
#[case::below_zero(json!({"totalCount": -1}), &["odd_total"])]
#[case::no_number(json!({"totalCount": 1, "totalPages": "many"}), &["odd_total"])]
fn a_total_that_is_no_count_leaves_a_warning(#[case] totals: Value, #[case] warned: &[&str]) {
    let body = json!({"data": {"filteredProducts": {"products": [item(json!({}))], "queryInfo": totals}}});
    let menu = normalise(&[body.to_string().as_bytes()]).unwrap();
    assert_eq!(kinds(&menu), warned);
}

#[test]
fn a_page_of_more_than_was_asked_for_is_refused() {
    let body = page(&vec![json!(0); 401]);
    assert!(
        matches!(read_page(0, &body, 400), Err(NormaliseError::NotAMenu { why, .. }) if why.contains("401 products"))
    );
    let body = page(&vec![json!(0); wire::MAX_ITEMS + 1]);
    assert!(matches!(normalise(&[&body]), Err(NormaliseError::NotAMenu { .. })));
}

#[test]
fn a_product_has_at_most_two_hundred_options() {
    let menu = menu(&[item(json!({"Options": vec!["1g"; 40_000]}))]);
    assert_eq!(menu.products[0].variants.len(), 200);
    assert_eq!(menu.products[0].variants[199].nth, 199);
    assert_eq!(kinds(&menu), ["too_many"]);
}

#[test]
fn a_menu_of_more_options_than_any_store_has_is_refused() {
    let items =
        |count: usize| -> Vec<Value> { (0..count).map(|n| json!({"_id": n, "Options": vec!["1g"; 200]})).collect() };
    assert_eq!(menu(&items(500)).products.len(), 500);
    let refused = normalise(&[&page(&items(501))]);
    assert_eq!(refused, Err(NormaliseError::TooLarge));
}

#[test]
fn specials_too_large_to_be_real_are_left_out() {
    let menu = menu(&[item(json!({"specialData": {"saleSpecials": vec![0; 40_000]}}))]);
    assert_eq!(menu.products[0].specials, None);
    assert_eq!(kinds(&menu), ["too_large"]);
}

#[rstest]
#[case::milliseconds(json!("1758030118081"), "2025-09-16T13:41:58.081Z", false)]
#[case::iso(json!("2025-10-05T07:47:48-07:00"), "2025-10-05T14:47:48Z", false)]
#[case::without_an_offset(json!("2025-10-05T14:47:48.127"), "2025-10-05T14:47:48.127Z", false)]
#[case::long_before(json!("-300000000000000"), "1970-01-01T00:00:00Z", true)]
#[case::far_off(json!("9999-12-31T00:00:00Z"), "2100-01-01T00:00:00Z", true)]
fn times_are_within_two_centuries(#[case] given: Value, #[case] expected: &str, #[case] odd: bool) {
    let menu = menu(&[item(json!({"createdAt": given}))]);
    assert_eq!(menu.products[0].upstream_created_at, Some(expected.parse().unwrap()));
    assert_eq!(kinds(&menu), if odd { vec!["odd_time"] } else { vec![] });
}

#[test]
fn the_real_captured_page_is_read_whole() {
    let Some(body) = fixture("dutchie/filtered_products_page.json") else { return };
    let menu = normalise(&[&body]).unwrap();
    assert_eq!(menu.products.len(), 25);
    assert_eq!(kinds(&menu), Vec::<&str>::new());
    assert!(menu.unknown_keys.is_empty(), "{:?}", menu.unknown_keys);
    assert_eq!(menu.products.iter().filter(|product| product.is_on_special).count(), 7);
    assert!(menu.products.iter().all(|product| product.price_rec.is_some() && product.is_in_stock));
    assert!(menu.products.iter().all(|product| product.image_url.is_some() && product.thc.is_some()));

    let forza = &menu.products[0];
    assert_eq!(forza.name_raw, "Forza | Live Sugar | 1g");
    assert_eq!((forza.price_rec, forza.special_price_rec, forza.quantity), (Some(4300), Some(2795), Some(3)));
    assert_eq!((forza.variants[0].option_label.as_str(), forza.variants[0].size_mg), ("1gC", Some(1000)));
    assert_eq!(read_page(0, &body, 400).unwrap().total_count, Some(814));
}

#[path = "../../../../tests/testkit/fixture.rs"]
mod fixture;

fn fixture(path: &str) -> Option<Vec<u8>> {
    fixture::fixture(path).map(|file| std::fs::read(file).unwrap())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Keys that are read, now and then one that is not.
fn any_key() -> impl Strategy<Value = String> {
    const READ: [&str; 11] = [
        "option",
        "quantity",
        "children",
        "unit",
        "range",
        "name",
        "url",
        "active",
        "values",
        "netWeight",
        "inventory",
    ];
    prop_oneof![9 => prop::sample::select(&READ[..]).prop_map(str::to_owned), 1 => ".{0,4}".prop_map(String::from)]
}

proptest! {
    #[test]
    fn no_value_in_any_field_loses_a_product(field in any::<prop::sample::Index>(), value in any_json()) {
        let ordinary = item(json!({}));
        let mut fields: Vec<&String> = ordinary.as_object().unwrap().keys().collect();
        fields.retain(|field| !["_id", "id"].contains(&field.as_str()));
        let field = *field.get(&fields);
        let menu = menu(&[item(json!({field: value}))]);
        prop_assert_eq!(menu.products.len(), 1);
    }

    #[test]
    fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = normalise(&[&body]);
    }

    #[test]
    fn no_items_panic(items in prop::collection::vec(any_json(), 0..4)) {
        prop_assert!(normalise(&[&page(&items)]).is_ok());
    }
}

#[test]
fn half_a_character_costs_no_name() {
    let whole = page(&[item(
        json!({"Name": "Half @", "brand": {"name": "Bros @"}, "_id": "id@", "id": "id@", "Options": ["1@"]}),
    )]);
    let cut = String::from_utf8(whole).unwrap().replace('@', "\\ud83c");
    let product = normalise(&[cut.as_bytes()]).unwrap().products.remove(0);
    assert_eq!(
        (product.name_raw.as_str(), product.brand_name_raw.as_deref()),
        ("Half \u{fffd}", Some("Bros \u{fffd}"))
    );
    assert_eq!(
        (product.provider_product_id.as_str(), product.variants[0].option_label.as_str()),
        ("id\u{fffd}", "1\u{fffd}")
    );
}
