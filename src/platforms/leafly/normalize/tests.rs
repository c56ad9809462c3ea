//! One case for each oddity of the menu.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use domain::menu::product::{Potency, PotencyUnit, Variant};

fn page(items: Value) -> Vec<u8> {
    json!({ "data": items, "metadata": { "totalCount": 830 } }).to_string().into_bytes()
}

fn item(change: Value) -> Value {
    let mut item = json!({
        "id": 610001, "menuItemId": 610001, "dispensarySlug": "copper-fern", "name": " Sunday Biscuit ", "brandName": "Tin Lantern",
        "brand": { "id": 5, "name": "Another" }, "productCategory": "Flower", "subCategory": null, "strainType": "hybrid",
        "strain": { "category": "Sativa" }, "thcContent": 24.1, "thcUnit": "percent", "cbdContent": null, "cbdUnit": null,
        "price": 40, "sortPrice": 32, "quantity": 3.5, "unit": "g", "displayQuantity": "3.5g", "normalizedQuantityLabel": "1/8 oz",
        "stockQuantity": 14, "inStock": true, "medical": false, "imageUrl": "https://i/o.jpg", "thumbnailUrl": "https://i/t.jpg",
        "deal": { "id": 7, "title": "20% off", "discountedPrice": 3150, "discountAmount": 850, "discountType": "cent", "startDate": null },
        "updatedAt": "2026-11-27T18:00:00Z",
        "variants": [{ "id": 610001, "price": 40, "quantity": 3.5, "unit": "g", "displayQuantity": "3.5g", "deal": null }],
    });
    for (key, value) in change.as_object().unwrap() {
        item[key] = value.clone();
    }
    item
}

fn product(change: Value) -> Product {
    normalise(&[&page(json!([item(change)]))]).unwrap().products.remove(0)
}

#[test]
fn an_item_is_read_whole() {
    let product = product(json!({}));
    assert_eq!((product.provider_product_id.as_str(), product.name_raw.as_str()), ("610001", "Sunday Biscuit"));
    assert_eq!((product.brand_name_raw.as_deref(), product.enterprise_product_id), (Some("Tin Lantern"), None));
    let words = [product.category.as_deref(), product.subcategory.as_deref(), product.strain_type.as_deref()];
    assert_eq!(words, [Some("Flower"), None, Some("hybrid")]);
    assert_eq!((product.price_rec, product.special_price_rec, product.price_med), (Some(4000), Some(3150), None));
    let thc = Potency { min: Some(24.1), max: Some(24.1), unit: Some(PotencyUnit::Percentage) };
    assert_eq!((product.thc, product.cbd, product.has_unknown_unit), (Some(thc), None, false));
    assert_eq!((product.quantity, product.stock_status), (Some(14), StockStatus::InStock));
    assert_eq!(product.image_url.as_deref(), Some("https://i/o.jpg"));
    assert_eq!(product.upstream_updated_at.unwrap().timestamp(), 1_795_802_400);
    let specials: Value = serde_json::from_str(product.specials.as_ref().unwrap().json().as_str()).unwrap();
    let title = json!("20% off");
    assert_eq!(
        (&specials["title"], &specials["discountedPrice"], specials.get("startDate")),
        (&title, &json!("3150"), None)
    );
    let [Variant { option_label, size_mg, .. }] = product.variants.as_slice() else { panic!("one option") };
    assert_eq!((option_label.as_str(), *size_mg), ("3.5g", Some(3500)));
}

#[rstest]
#[case::of_patients(json!(true), [None, Some(4000)], [None, Some(3150)])]
#[case::of_everyone(json!(false), [Some(4000), None], [Some(3150), None])]
#[case::of_no_menu_that_it_names(json!(null), [Some(4000), None], [Some(3150), None])]
fn the_menu_of_a_row_decides_for_whom_its_prices_are(
    #[case] medical: Value,
    #[case] prices: [Option<i32>; 2],
    #[case] specials: [Option<i32>; 2],
) {
    let product = product(json!({ "medical": medical }));
    assert_eq!([product.price_rec, product.price_med], prices);
    assert_eq!([product.special_price_rec, product.special_price_med], specials);
}

#[test]
fn the_rows_of_both_menus_are_two_products() {
    let rows = json!([item(json!({})), item(json!({ "id": 610002, "medical": true, "price": 36, "variants": [] }))]);
    let menu = normalise(&[&page(rows)]).unwrap();
    let prices: Vec<_> = menu.products.iter().map(|product| (product.price_rec, product.price_med)).collect();
    assert_eq!(prices, [(Some(4000), None), (None, Some(3600))]);
}

/// Label, size in milligrams, price, special.
type OptionOffer<'a> = (&'a str, Option<i64>, Option<i32>, Option<i32>);

fn offers(product: &Product) -> Vec<OptionOffer<'_>> {
    let offer = |of: &Variant| (of.size_mg, of.price_rec, of.special_price_rec);
    let variants = product.variants.iter().map(|variant| (variant.option_label.as_str(), offer(variant)));
    variants.map(|(label, (size, price, special))| (label, size, price, special)).collect()
}

fn variant(quantity: &str, price: Value, deal: Value) -> Value {
    json!({ "displayQuantity": quantity, "price": price, "deal": deal })
}

#[rstest]
#[case::none(json!([]), &[("3.5g", Some(3500), Some(4000), Some(3150))])]
#[case::null(json!(null), &[("3.5g", Some(3500), Some(4000), Some(3150))])]
#[case::several(
    json!([variant("3.5g", json!(40), json!(null)), variant("7g", json!("75.50"), json!(null))]),
    &[("3.5g", Some(3500), Some(4000), Some(3150)), ("7g", Some(7000), Some(7550), None)]
)]
#[case::in_cents(
    json!([variant("3.5g", json!(4000), json!(null)), variant("7g", json!(7500), json!(null))]),
    &[("3.5g", Some(3500), Some(4000), Some(3150)), ("7g", Some(7000), Some(7500), None)]
)]
#[case::a_hundredfold_of_another_size(
    json!([variant("56g", json!(4000), json!(null)), variant("3.5g", json!(40), json!(null))]),
    &[("56g", Some(56_000), Some(400_000), None), ("3.5g", Some(3500), Some(4000), Some(3150))]
)]
#[case::a_deal_of_their_own(
    json!([variant("7g", json!(75), json!({ "discountedPrice": 7000, "discountType": "cent" })), variant("1g", json!(9), json!(null))]),
    &[("7g", Some(7000), Some(7500), Some(7000)), ("1g", Some(1000), Some(900), None)]
)]
#[case::without_a_label(
    json!([{ "price": 40, "quantity": 3.5, "unit": "g" }]),
    &[("3.5 g", Some(3500), Some(4000), Some(3150))]
)]
#[case::of_a_label_without_a_size(
    json!([{ "price": 5, "displayQuantity": "each", "quantity": 100, "unit": "mg" }]),
    &[("each", Some(100), Some(500), None)]
)]
#[case::with_nothing(json!([{ "price": 40 }, { "price": null }]), &[("N/A", None, Some(4000), None), ("N/A", None, None, None)])]
fn an_item_has_its_variants_as_options(#[case] variants: Value, #[case] expected: &[OptionOffer<'_>]) {
    assert_eq!(offers(&product(json!({ "variants": variants }))), expected);
}

#[rstest]
#[case::in_cents(json!({ "discountedPrice": 3000, "discountType": "cent" }), json!(40), Some(3000))]
#[case::of_another_type(json!({ "discountedPrice": 30, "discountType": "percent" }), json!(32), Some(3200))]
#[case::that_is_not_lower(json!({ "discountedPrice": 4000, "discountType": "cent" }), json!(32), None)]
#[case::of_nothing(json!({ "discountedPrice": 0, "discountType": "cent" }), json!(32), Some(3200))]
#[case::none(json!(null), json!(32.5), Some(3250))]
#[case::none_at_the_regular_price(json!(null), json!(40), None)]
#[case::none_at_all(json!(null), json!(null), None)]
fn a_deal_is_in_cents_and_a_paid_price_in_dollars(
    #[case] deal: Value,
    #[case] paid: Value,
    #[case] expected: Option<i32>,
) {
    let product = product(json!({ "deal": deal, "sortPrice": paid }));
    assert_eq!((product.price_rec, product.special_price_rec), (Some(4000), expected));
}

#[rstest]
#[case::some(json!(14), json!(true), Some(14), StockStatus::InStock)]
#[case::none(json!(0), json!(true), Some(0), StockStatus::Oos)]
#[case::some_against_the_word(json!(3), json!(false), Some(3), StockStatus::InStock)]
#[case::unknown(json!(null), json!(null), None, StockStatus::Unknown)]
#[case::by_the_word(json!(null), json!(true), None, StockStatus::InStock)]
#[case::none_by_the_word(json!(null), json!(false), None, StockStatus::Oos)]
fn an_unknown_quantity_is_not_zero(
    #[case] quantity: Value,
    #[case] in_stock: Value,
    #[case] expected: Option<i32>,
    #[case] status: StockStatus,
) {
    let product = product(json!({ "stockQuantity": quantity, "inStock": in_stock }));
    assert_eq!((product.quantity, product.stock_status), (expected, status));
    assert_eq!((product.quantity_censored, product.is_in_stock), (false, status != StockStatus::Oos));
}

#[test]
fn the_quantity_of_an_item_is_that_of_its_own_size() {
    let variants = json!([variant("3.5g", json!(40), json!(null)), variant("7g", json!(75), json!(null))]);
    let quantities = |stock: Value| -> Vec<Option<i32>> {
        let product = product(json!({ "variants": variants, "stockQuantity": stock }));
        product.variants.iter().map(|variant| variant.quantity).collect()
    };
    assert_eq!(quantities(json!(14)), [Some(14), None]);
    assert_eq!(quantities(json!(0)), [Some(0), Some(0)]);
}

#[rstest]
#[case::by_its_strain(json!({ "strainType": null }), Some("Sativa"))]
#[case::unnamed(json!({ "strainType": null, "strain": null }), None)]
fn a_lineage_is_that_of_the_strain(#[case] change: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(change).strain_type.as_deref(), expected);
}

#[rstest]
#[case::percent(json!("%"), Some(PotencyUnit::Percentage), false)]
#[case::milligrams(json!("mg"), Some(PotencyUnit::Milligrams), false)]
#[case::none(json!(null), None, true)]
fn a_potency_has_its_unit_beside_it(
    #[case] unit: Value,
    #[case] expected: Option<PotencyUnit>,
    #[case] has_unknown_unit: bool,
) {
    let product = product(json!({ "thcUnit": unit }));
    assert_eq!((product.thc.unwrap().unit, product.has_unknown_unit), (expected, has_unknown_unit));
}

#[rstest]
#[case::the_brand(json!({ "brandName": null }), Some("Another"))]
#[case::none(json!({ "brandName": "", "brand": null }), None)]
fn a_brand_is_named_by_either_field(#[case] change: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(change).brand_name_raw.as_deref(), expected);
}

#[test]
fn an_item_is_known_by_either_of_its_ids_and_shown_by_its_smaller_picture() {
    let product = product(json!({ "id": null, "menuItemId": "610009", "imageUrl": null }));
    assert_eq!(product.provider_product_id, "610009");
    assert_eq!(product.image_url.as_deref(), Some("https://i/t.jpg"));
}

#[test]
fn a_bad_item_is_counted_and_its_neighbours_are_kept() {
    let read = read_page(0, &page(json!([1, { "name": "no id" }, item(json!({ "price": [], "deal": 5 }))]))).unwrap();
    assert_eq!((read.items, read.page.products().len(), read.total_count), (3, 1, Some(830)));
    assert_eq!(read.stores, [("copper-fern".to_owned(), 1)].into());
    let kinds = read.page.warnings.by_kind();
    assert_eq!((kinds["unreadable_item"], kinds["bad_field"] >= 2), (2, true));
}

#[rstest]
#[case::no_menu(r#"{"message":"no"}"#, "not a menu page")]
#[case::a_text(r#"{"data":"x"}"#, "not a menu page")]
#[case::cut_off(r#"{"data":[{"id":1"#, "cut off")]
fn other_answers_are_refused(#[case] body: &str, #[case] expected: &str) {
    let error = read_page(0, body.as_bytes()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[rstest]
#[case::all(
    json!({ "strainName": "Sunday Biscuit", "pickupEnabled": true, "deliveryEnabled": false }),
    Some(json!({ "strain_name": "Sunday Biscuit", "brand_id": "5", "pickup": true, "delivery": false }))
)]
#[case::a_brand_that_is_a_text(json!({ "brand": "Tin Lantern" }), None)]
#[case::odd(json!({ "strainName": [], "brand": { "id": {} }, "pickupEnabled": "yes" }), None)]
fn attributes_are_what_the_item_states(#[case] change: Value, #[case] expected: Option<Value>) {
    let attributes = product(change).attributes;
    assert_eq!(attributes.map(|json| serde_json::from_str::<Value>(json.json().as_str()).unwrap()), expected);
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        let _ = normalise(&[text.as_bytes()]);
        let _ = normalise(&[format!(r#"{{"data":[{text}]}}"#).as_bytes()]);
    }

    #[test]
    fn no_mutated_answer_panics(at in any::<prop::sample::Index>(), removed in 0_usize..9, put in r#"[\[\]{}":,0-9a\\-]{0,4}"#) {
        let mut bytes = page(json!([item(json!({})), item(json!({ "variants": [] }))]));
        let at = at.index(bytes.len());
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, put.bytes());
        let _ = normalise(&[&bytes]);
    }
}
