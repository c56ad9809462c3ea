//! One case for each oddity of the index.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

/// An ordinary hit; each case lays its trap over it.
fn hit(trap: Value) -> Value {
    let mut hit = json!({
        "objectID": "prod_400100_store_5876", "product_id": 400_100, "store_id": 5876, "name": "Sunday Biscuit", "brand": "Tin Lantern",
        "kind": "flower", "kind_subtype": "Bud", "root_subtype": "Premium Flower", "category": "hybrid", "strain": "Sunday Biscuit",
        "percent_thc": 24.1, "percent_cbd": null, "inventory_potencies": null, "amount": null, "dosage": null, "net_weight_grams": 0,
        "available_weights": ["eighth ounce"], "price_each": null, "price_gram": null, "price_eighth_ounce": "40.0",
        "special_price_eighth_ounce": null, "discounted_price_eighth_ounce": null, "special_id": null, "special_title": null,
        "applicable_special_ids": [], "applicable_bundle_special_ids": [], "max_cart_quantity": 9, "store_types": ["recreational"],
        "image_urls": ["https://i/1"], "product_photos": [], "brand_logo_url": "https://i/b", "indexed_at": "2026-11-27T08:00:00Z",
    });
    for (key, value) in trap.as_object().unwrap() {
        hit[key] = value.clone();
    }
    hit
}

fn answer(hits: &[Value]) -> Vec<u8> {
    json!({"hits": hits, "nbHits": hits.len(), "page": 0, "nbPages": 1}).to_string().into_bytes()
}

fn read(trap: Value) -> (Product, Vec<&'static str>) {
    let mut menu = normalise(&[&answer(&[hit(trap)])]).unwrap();
    (menu.products.pop().unwrap(), menu.warnings.iter().map(|warning| warning.kind).collect())
}

fn product(trap: Value) -> Product {
    read(trap).0
}

#[test]
fn an_ordinary_hit_becomes_a_product_without_warnings() {
    let (product, warnings) = read(json!({}));
    assert_eq!(warnings, [""; 0]);
    assert_eq!(
        (product.provider_product_id.as_str(), product.enterprise_product_id.as_deref()),
        ("400100", Some("400100"))
    );
    assert_eq!((product.name_raw.as_str(), product.brand_name_raw.as_deref()), ("Sunday Biscuit", Some("Tin Lantern")));
    assert_eq!((product.category.as_deref(), product.subcategory.as_deref()), (Some("flower"), Some("Premium Flower")));
    assert_eq!(
        (product.strain_type.as_deref(), product.price_rec, product.price_med),
        (Some("hybrid"), Some(4000), None)
    );
    assert_eq!((product.quantity, product.is_in_stock, product.stock_status.name()), (None, true, "unknown"));
    assert_eq!((product.upstream_updated_at, product.specials), (None, None));
    assert_eq!((product.variants[0].option_label.as_str(), product.variants[0].size_mg), ("eighth ounce", Some(3500)));
}

#[rstest]
#[case::a_number(json!({"price_eighth_ounce": 40}), Some(4000))]
#[case::a_text(json!({"price_eighth_ounce": "40.0"}), Some(4000))]
#[case::null(json!({"price_eighth_ounce": null}), None)]
#[case::nothing(json!({"price_eighth_ounce": 0}), None)]
#[case::nothing_as_text(json!({"price_eighth_ounce": "0.0"}), None)]
fn a_weight_is_sold_where_it_has_a_price(#[case] trap: Value, #[case] price: Option<i32>) {
    let product = product(trap);
    assert_eq!((product.price_rec, product.variants.len()), (price, usize::from(price.is_some())));
}

#[rstest]
#[case::an_object(json!({"special_price_eighth_ounce": {"price": "40.0", "discount_price": "32.0", "discount_amount": 8}}), Some(3200))]
#[case::a_number(json!({"special_price_eighth_ounce": 32.5}), Some(3250))]
#[case::discounted_alone(json!({"discounted_price_eighth_ounce": "31.00"}), Some(3100))]
#[case::discounted_where_the_object_has_none(json!({"special_price_eighth_ounce": {}, "discounted_price_eighth_ounce": 31}), Some(3100))]
#[case::equal(json!({"discounted_price_eighth_ounce": 40}), None)]
#[case::higher(json!({"special_price_eighth_ounce": 44}), None)]
#[case::nothing(json!({"special_price_eighth_ounce": {"discount_price": "0"}}), None)]
fn a_special_is_a_lower_price(#[case] trap: Value, #[case] special: Option<i32>) {
    let product = product(trap);
    assert_eq!((product.special_price_rec, product.is_on_special), (special, special.is_some()));
}

#[test]
fn weights_come_in_their_order_with_blanks_in_their_names() {
    let prices = json!({"price_each": 5, "price_ounce": 150, "price_half_gram": 8, "price_two_gram": "20", "price_half_ounce": 90});
    let options: Vec<_> =
        product(prices).variants.into_iter().map(|option| (option.option_label, option.size_mg)).collect();
    let expected = [
        ("half gram", Some(500)),
        ("two gram", Some(2000)),
        ("eighth ounce", Some(3500)),
        ("half ounce", Some(14_000)),
        ("ounce", Some(28_000)),
        ("each", None),
    ];
    assert_eq!(options, expected.map(|(label, mg)| (label.to_owned(), mg)));
}

#[rstest]
#[case::by_its_amount(json!({"kind": "vape", "amount": "500mg", "net_weight_grams": 9}), Some(500))]
#[case::by_its_net_weight(json!({"kind": "pre-roll", "amount": "5pk", "net_weight_grams": 2.5}), Some(2500))]
#[case::a_dose_is_no_weight(json!({"kind": "edible", "amount": "100mg"}), None)]
#[case::the_weight_of_what_is_dosed(json!({"kind": "edible", "amount": "100mg", "net_weight_grams": "40"}), Some(40_000))]
#[case::unknown(json!({"kind": "pre_roll", "amount": "1 each", "net_weight_grams": 0}), None)]
#[case::absurd(json!({"kind": "gear", "net_weight_grams": 1e300}), None)]
fn a_piece_has_the_weight_that_is_stated(#[case] trap: Value, #[case] mg: Option<i64>) {
    let mut trap = trap;
    trap["price_eighth_ounce"] = Value::Null;
    trap["price_each"] = json!(5);
    assert_eq!(product(trap).variants[0].size_mg, mg);
}

#[rstest]
#[case::recreational(json!(["recreational"]), Some(4000), None)]
#[case::medical(json!(["medical"]), None, Some(4000))]
#[case::both(json!(["Medical", "recreational"]), Some(4000), Some(4000))]
#[case::none(json!([]), Some(4000), None)]
#[case::null(json!(null), Some(4000), None)]
fn a_price_is_that_of_the_menus_that_are_named(
    #[case] types: Value,
    #[case] rec: Option<i32>,
    #[case] med: Option<i32>,
) {
    let product = product(json!({"store_types": types}));
    assert_eq!((product.price_rec, product.price_med), (rec, med));
}

#[rstest]
#[case::percent(json!({}), Some((24.1, 24.1, "PERCENTAGE")))]
#[case::percent_as_text(json!({"percent_thc": "24.5"}), Some((24.5, 24.5, "PERCENTAGE")))]
#[case::of_the_product(json!({"percent_thc": null, "product_percent_thc": 20}), Some((20.0, 20.0, "PERCENTAGE")))]
#[case::of_the_options(json!({"percent_thc": null, "inventory_potencies": [{"thc_potency": 20.5}, {"thc_potency": null}, {"thc_potency": 18}]}), Some((18.0, 20.5, "PERCENTAGE")))]
#[case::unknown(json!({"percent_thc": null}), None)]
#[case::a_dose(json!({"kind": "edible", "percent_thc": 100, "dosage": "100mg THC"}), Some((100.0, 100.0, "MILLIGRAMS")))]
#[case::a_dose_of_two(json!({"kind": "tincture", "dosage": "50mg CBD/100 mg THC"}), Some((100.0, 100.0, "MILLIGRAMS")))]
#[case::a_dose_of_another(json!({"kind": "edible", "dosage": "50mg CBD"}), None)]
#[case::a_dose_of_no_substance(json!({"kind": "edible", "dosage": "100mg"}), None)]
#[case::a_blank_dose(json!({"kind": "topical", "dosage": ""}), None)]
#[case::no_kind(json!({"kind": null}), None)]
fn potency_depends_on_the_kind(#[case] trap: Value, #[case] expected: Option<(f64, f64, &str)>) {
    let thc = product(trap).thc.map(|thc| (thc.min.unwrap(), thc.max.unwrap(), thc.unit.unwrap().name()));
    assert_eq!(thc, expected);
}

#[rstest]
#[case::the_first_address(json!({"image_urls": ["//i/2", "https://i/3"]}), Some("https://i/2"))]
#[case::the_photo_of_the_lowest_position(json!({"image_urls": [], "product_photos": [
    {"id": "a", "position": 1, "urls": {"original": "https://i/4"}}, {"id": 2, "position": 0, "urls": {"original": "https://i/5"}}]}), Some("https://i/5"))]
#[case::in_old_data(json!({"image_urls": null, "product_photos": null, "photos": [{"urls": {"original": "https://i/6"}}]}), Some("https://i/6"))]
#[case::none(json!({"image_urls": null, "product_photos": [{"urls": null}]}), None)]
fn an_image_is_found_where_it_is(#[case] trap: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(trap).image_url.as_deref(), expected);
}

#[rstest]
#[case::a_blank_brand(json!({"brand": ""}), "400100", None, Some("Premium Flower"))]
#[case::another_subtype(json!({"root_subtype": " "}), "400100", Some("Tin Lantern"), Some("Bud"))]
#[case::without_a_product_id(json!({"product_id": null}), "prod_400100_store_5876", Some("Tin Lantern"), Some("Premium Flower"))]
fn blanks_are_none(
    #[case] trap: Value,
    #[case] id: &str,
    #[case] brand: Option<&str>,
    #[case] subcategory: Option<&str>,
) {
    let product = product(trap);
    let read =
        (product.provider_product_id.as_str(), product.brand_name_raw.as_deref(), product.subcategory.as_deref());
    assert_eq!(read, (id, brand, subcategory));
}

#[rstest]
#[case::with_its_own_names(json!({"special_id": 77, "special_title": "20% off", "applicable_special_ids": [77]}), Some(r#"{"special_id":77,"special_title":"20% off","applicable_special_ids":[77]}"#))]
#[case::without_a_nul(json!({"special_title": "a\u{0}b", "applicable_bundle_special_ids": {"qualify": [1]}}), Some(r#"{"special_title":"ab","applicable_bundle_special_ids":{"qualify":[1]}}"#))]
#[case::nothing_said(json!({"special_title": "", "applicable_bundle_special_ids": {}}), None)]
#[case::far_too_long(json!({"special_title": "x".repeat(9000)}), None)]
fn specials_are_kept_as_a_database_takes_them(#[case] trap: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(trap).specials.as_ref().map(|specials| specials.json().as_str()), expected);
}

#[test]
fn a_hit_that_is_no_product_costs_itself_alone() {
    let hits =
        [json!(null), json!([1]), json!({"name": "x"}), hit(json!({"price_eighth_ounce": [], "store_types": 1}))];
    let menu = normalise(&[&answer(&hits)]).unwrap();
    assert_eq!(menu.products.len(), 1);
    assert_eq!(menu.warnings.by_kind().into_iter().collect::<Vec<_>>(), [("bad_field", 2), ("unreadable_item", 3)]);
}

#[rstest]
#[case::a_count(r#"{"hits":[],"nbHits":0,"nbPages":0,"exhaustiveNbHits":true,"facets":{"kind":{"gear":1}}}"#, Some((Some(0), Some(0), false, 1)))]
#[case::an_estimate(r#"{"hits":[],"nbHits":"9","nbPages":1,"exhaustiveNbHits":false}"#, Some((Some(9), Some(1), true, 0)))]
#[case::facets_of_another_form(r#"{"hits":[],"facets":[1],"exhaustiveNbHits":"no"}"#, Some((None, None, false, 0)))]
#[case::no_hits(r#"{"nbHits":0}"#, None)]
#[case::hits_of_another_form(r#"{"hits":{}}"#, None)]
#[case::cut_off(r#"{"hits":[{"product_id":1"#, None)]
fn an_answer_says_how_much_there_is(
    #[case] body: &str,
    #[case] expected: Option<(Option<usize>, Option<usize>, bool, usize)>,
) {
    let read = read_page(0, body.as_bytes()).ok();
    assert_eq!(read.map(|read| (read.total_count, read.total_pages, read.is_estimate, read.facets.len())), expected);
}

#[rstest]
#[case::nothing(json!({"strain": "No Strain"}), None)]
#[case::all(
    json!({
        "terpenes": ["Myrcene", "Pinene"], "effects": ["Calm"], "feelings": ["Happy", "Calm"], "aggregate_rating": 4.7, "review_count": 12,
        "lab_results": [{"price_id": "gram", "lab_results": []}, {"price_id": "eighth_ounce", "lab_results": [
            {"compound_name": "THC", "value": 24.1, "unit": "%"}, {"compound_name": "Myrcene", "value": 0.4, "unit": "%"},
            {"compound_name": "Pinene", "value": 3, "unit": "mg"},
        ]}],
        "url_slug": "sunday-biscuit", "product_brand_id": 901, "available_for_pickup": true, "available_for_delivery": false,
    }),
    Some(json!({
        "strain_name": "Sunday Biscuit", "terpenes": [{"name": "Myrcene", "percent": 0.4}, {"name": "Pinene"}], "tags": ["Calm", "Happy"],
        "rating": 4.7, "reviews": 12, "item_url": "https://www.iheartjane.com/products/400100/sunday-biscuit", "brand_id": "901",
        "pickup": true, "delivery": false,
    }))
)]
#[case::odd(
    json!({
        "strain": 7, "terpenes": "Myrcene", "effects": {}, "aggregate_rating": "many", "review_count": null, "url_slug": "a/../b",
        "available_for_pickup": "yes", "lab_results": 3,
    }),
    Some(json!({"strain_name": "7"}))
)]
fn attributes_are_what_the_hit_states(#[case] trap: Value, #[case] expected: Option<Value>) {
    let attributes = product(trap).attributes;
    assert_eq!(attributes.map(|json| serde_json::from_str::<Value>(json.json().as_str()).unwrap()), expected);
}

proptest! {
    #[test]
    fn no_mutated_answer_panics(at in 0..2000_usize, with in r#"(\\|"|\{|\[|\]|\}|,|:|null|[0-9]|u0000|ud8|-|e9|ü){0,12}"#, length in 0..40_usize) {
        let body = answer(&[hit(json!({"special_title": "x", "dosage": "10mg THC", "special_price_eighth_ounce": {"discount_price": "3"}})), hit(json!({}))]);
        let mut text = String::from_utf8(body).unwrap();
        let start = text.floor_char_boundary(at.min(text.len()));
        let end = text.floor_char_boundary((start + length).min(text.len()));
        text.replace_range(start..end, &with);
        let _ = normalise(&[text.as_bytes()]);
    }
}
