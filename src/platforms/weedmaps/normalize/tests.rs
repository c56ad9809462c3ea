//! One case for each oddity of the menu.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use domain::menu::product::{PotencyUnit, StockStatus, Variant};

fn page(items: Value) -> Vec<u8> {
    json!({ "meta": { "total_menu_items": 3, "has_live_menu": true }, "data": { "menu_items": items } })
        .to_string()
        .into_bytes()
}

fn item(change: Value) -> Value {
    let mut item = json!({
        "id": 70010, "name": " Tin Lantern - Sunday Biscuit ", "slug": "sunday-biscuit", "menu_id": 3100, "license_type": "recreational",
        "category": { "id": 1, "name": "Hybrid", "slug": "hybrid" },
        "edge_category": { "name": "Big Buds", "ancestors": [{ "name": "Flower", "slug": "flower" }] },
        "genetics_tag": { "name": "Sativa" }, "tags": [{ "name": "Relaxed", "tag_group": { "name": "Effects" } }],
        "brand_endorsement": { "brand_name": "Tin Lantern", "brand_avatar_image_url": "https://i/brand.jpg", "product_id": 880 },
        "price": { "unit": "ounce", "quantity": "1/8", "label": "1/8 oz", "price": 32, "on_sale": true, "original_price": 40.0,
                   "discount_label": "20% off", "compliance_net_mg": 3500 },
        "prices": { "grams_per_eighth": 3.5, "ounce": [
            { "label": "1/8 oz", "price": 32, "on_sale": true, "original_price": 40.0, "weight": { "value": 0.125, "unit": "oz" } },
            { "label": "1/4 oz", "price": 75.0, "on_sale": false, "original_price": 75.0, "weight": { "value": 0.25, "unit": "oz" } },
        ] },
        "metrics": { "aggregates": { "thc": 24.1, "cbd": 0, "thc_unit": "%", "cbd_unit": "%" } },
        "avatar_image": { "small_url": "https://i/s.jpg", "original_url": "https://i/o.jpg" },
        "current_deal_title": "Tin Lantern 20%", "deal_ids": [502, 501],
        "created_at": "2026-05-01T10:00:00.000Z", "updated_at": "2026-11-27T18:00:00.000Z",
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
    assert_eq!(
        (product.provider_product_id.as_str(), product.name_raw.as_str()),
        ("70010", "Tin Lantern - Sunday Biscuit")
    );
    assert_eq!(
        (product.brand_name_raw.as_deref(), product.enterprise_product_id.as_deref()),
        (Some("Tin Lantern"), Some("880"))
    );
    let words = [product.category.as_deref(), product.subcategory.as_deref(), product.strain_type.as_deref()];
    assert_eq!(words, [Some("Flower"), Some("Big Buds"), Some("Sativa")]);
    assert_eq!((product.price_rec, product.special_price_rec, product.price_med), (Some(4000), Some(3200), None));
    let thc = Potency { min: Some(24.1), max: Some(24.1), unit: Some(PotencyUnit::Percentage) };
    assert_eq!((product.thc, product.cbd, product.has_unknown_unit), (Some(thc), None, false));
    assert_eq!((product.stock_status, product.is_in_stock, product.quantity), (StockStatus::Unknown, true, None));
    assert_eq!(product.image_url.as_deref(), Some("https://i/o.jpg"));
    assert_eq!(product.brand_image_url.as_deref(), Some("https://i/brand.jpg"));
    let specials = product.specials.as_ref().map(|specials| specials.json().as_str());
    assert_eq!(
        specials,
        Some(r#"{"current_deal_title":"Tin Lantern 20%","deal_ids":["501","502"],"discount_label":"20% off"}"#)
    );
    let times = [product.upstream_created_at, product.upstream_updated_at].map(|time| time.unwrap().timestamp());
    assert_eq!(times, [1_777_629_600, 1_795_802_400]);
}

fn tier(label: Value, price: Value) -> Value {
    json!({ "label": label, "price": price })
}

/// Label, size in milligrams, price, special.
type OptionOffer<'a> = (&'a str, Option<i64>, Option<i32>, Option<i32>);

fn offers(product: &Product) -> Vec<OptionOffer<'_>> {
    let offer = |of: &'_ Variant| (of.size_mg, of.price_rec, of.special_price_rec);
    product
        .variants
        .iter()
        .map(|variant| {
            let (size, price, special) = offer(variant);
            (variant.option_label.as_str(), size, price, special)
        })
        .collect()
}

#[rstest]
#[case::lists_in_the_order_of_sizes(
    json!({ "gram": [tier(json!("1 g"), json!(12))], "ounce": [tier(json!("1/8 oz"), json!("30.50"))], "grams_per_eighth": 3.5 }),
    &[("1/8 oz", Some(3500), Some(3050), None), ("1 g", Some(1000), Some(1200), None)]
)]
#[case::one_tier_of_a_size(json!({ "unit": { "label": "each", "price": 18.0 } }), &[("each", Some(3500), Some(1800), None)])]
#[case::tiers_by_name(
    json!({ "half_gram": { "price": 10 }, "eighth": { "price": 30 }, "quarter": null, "half_ounce": { "label": "half", "price": 90 } }),
    &[("1/2 g", Some(500), Some(1000), None), ("1/8 oz", Some(3500), Some(3000), None), ("half", None, Some(9000), None)]
)]
#[case::tiers_by_name_of_a_size(
    json!({ "ounce": { "eighth": { "price": 30 }, "ounce": { "price": 200 } } }),
    &[("1 oz", Some(28_000), Some(20_000), None), ("1/8 oz", Some(3500), Some(3000), None)]
)]
#[case::a_plain_list(json!([tier(json!("1 g"), json!(9))]), &[("1 g", Some(1000), Some(900), None)])]
#[case::the_same_twice(
    json!({ "gram": [tier(json!("1 g"), json!(9)), tier(json!("1 g"), json!(9.0)), tier(json!("1 g"), json!(8))] }),
    &[("1 g", Some(1000), Some(900), None), ("1 g", Some(1000), Some(800), None)]
)]
#[case::no_label(json!({ "unit": [{ "price": 5, "weight": { "value": 0.5, "unit": "g" } }] }), &[("N/A", Some(500), Some(500), None)])]
#[case::the_main_price_for_an_empty_list(json!([]), &[("1/8 oz", Some(3500), Some(4000), Some(3200))])]
#[case::the_main_price_for_null(json!(null), &[("1/8 oz", Some(3500), Some(4000), Some(3200))])]
#[case::the_main_price_for_none(json!({ "grams_per_eighth": 3.5 }), &[("1/8 oz", Some(3500), Some(4000), Some(3200))])]
#[case::hidden_ones(json!({ "gram": [{ "label": "1 g", "price": null }] }), &[("1/8 oz", Some(3500), Some(4000), Some(3200))])]
#[case::of_no_known_shape(json!({ "gram": 7 }), &[("1/8 oz", Some(3500), Some(4000), Some(3200))])]
fn prices_come_in_several_shapes(#[case] prices: Value, #[case] expected: &[OptionOffer<'_>]) {
    assert_eq!(offers(&product(json!({ "prices": prices }))), expected);
}

#[rstest]
#[case::on_sale(json!({ "price": 8, "on_sale": true, "original_price": 10 }), Some(1000), Some(800))]
#[case::not_on_sale(json!({ "price": 8, "on_sale": false, "original_price": 10 }), Some(800), None)]
#[case::no_original_price(json!({ "price": 8, "on_sale": true, "original_price": null }), Some(800), None)]
#[case::the_same_price(json!({ "price": 8, "on_sale": true, "original_price": 8.0 }), Some(800), None)]
#[case::texts(json!({ "price": "8.00", "on_sale": true, "original_price": "10.00" }), Some(1000), Some(800))]
#[case::a_sample(json!({ "price": 0.01 }), Some(1), None)]
fn a_sale_has_a_price_below_the_original_one(
    #[case] tier: Value,
    #[case] price: Option<i32>,
    #[case] special: Option<i32>,
) {
    let product = product(json!({ "prices": { "gram": [tier] } }));
    assert_eq!((product.price_rec, product.special_price_rec), (price, special));
    assert_eq!(product.is_on_special, special.is_some());
}

#[rstest]
#[case::by_quantity_and_unit(json!({ "price": 5, "quantity": "1/8", "unit": "ounce" }), "1/8 ounce", Some(3500))]
#[case::by_its_mass(json!({ "price": 5, "label": "each", "compliance_net_mg": 1000 }), "each", Some(1000))]
#[case::of_no_size(json!({ "price": 5, "label": "each", "compliance_net_mg": 0 }), "each", None)]
fn the_main_price_names_its_size(#[case] price: Value, #[case] label: &str, #[case] size_mg: Option<i64>) {
    let product = product(json!({ "prices": null, "price": price }));
    assert_eq!(offers(&product), [(label, size_mg, Some(500), None)]);
}

#[rstest]
#[case::recreational(json!("recreational"), [true, false])]
#[case::medical(json!("medical"), [false, true])]
#[case::both(json!("hybrid"), [true, true])]
#[case::unnamed(json!(null), [true, true])]
#[case::unknown(json!("other"), [true, true])]
fn an_items_license_decides_for_whom_its_prices_are(#[case] license: Value, #[case] expected: [bool; 2]) {
    let product = product(json!({ "license_type": license }));
    assert_eq!([product.price_rec.is_some(), product.price_med.is_some()], expected);
    assert_eq!([product.special_price_rec.is_some(), product.special_price_med.is_some()], expected);
}

#[rstest]
#[case::a_top_category(json!({ "edge_category": { "name": "Gear", "ancestors": [] } }), [Some("Gear"), None, Some("Sativa")])]
#[case::the_top_one_of_many(
    json!({ "edge_category": { "name": "Wax", "ancestors": [{ "name": "Concentrates" }, { "name": "Solvent" }] } }),
    [Some("Concentrates"), Some("Wax"), Some("Sativa")]
)]
#[case::the_old_one(
    json!({ "edge_category": null, "category": { "name": "Edible" } }),
    [Some("Edible"), None, Some("Sativa")]
)]
#[case::the_old_one_is_a_lineage(json!({ "edge_category": null }), [None, None, Some("Sativa")])]
#[case::a_lineage_among_the_tags(
    json!({ "genetics_tag": null, "tags": [{ "name": "Indica", "tag_group": { "name": "Genetics" } }] }),
    [Some("Flower"), Some("Big Buds"), Some("Indica")]
)]
#[case::a_lineage_by_the_old_category(json!({ "genetics_tag": null }), [Some("Flower"), Some("Big Buds"), Some("Hybrid")])]
#[case::no_lineage(
    json!({ "genetics_tag": null, "category": { "name": "Edible" } }),
    [Some("Flower"), Some("Big Buds"), None]
)]
fn kinds_and_lineages_are_told_apart(#[case] change: Value, #[case] expected: [Option<&str>; 3]) {
    let product = product(change);
    let words = [product.category.as_deref(), product.subcategory.as_deref(), product.strain_type.as_deref()];
    assert_eq!(words, expected);
}

#[rstest]
#[case::in_milligrams(json!({ "thc": "100", "thc_unit": "mg" }), Some((100.0, PotencyUnit::Milligrams)), false)]
#[case::unknown(json!({ "thc": 0, "thc_unit": "%" }), None, false)]
#[case::unknown_without_a_unit(json!({ "thc": 0.0 }), None, false)]
#[case::absent(json!(null), None, false)]
#[case::not_a_number(json!({ "thc": "high", "thc_unit": "%" }), None, false)]
fn a_potency_of_nothing_is_none(
    #[case] aggregates: Value,
    #[case] expected: Option<(f64, PotencyUnit)>,
    #[case] has_unknown_unit: bool,
) {
    let product = product(json!({ "metrics": { "aggregates": aggregates } }));
    let thc = product.thc.map(|thc| (thc.max.unwrap(), thc.unit.unwrap()));
    assert_eq!((thc, product.has_unknown_unit), (expected, has_unknown_unit));
}

#[test]
fn a_potency_of_an_unknown_unit_is_known_to_be_one() {
    let product = product(json!({ "metrics": { "aggregates": { "thc": 5, "thc_unit": "drops" } } }));
    assert_eq!((product.thc.unwrap().unit, product.has_unknown_unit), (None, true));
}

#[rstest]
#[case::of_all_sizes(json!({ "original_url": "https://i/x/image_missing.jpg?w=1", "small_url": "//i/image_missing.jpg" }), None)]
#[case::of_the_original(json!({ "original_url": "https://i/image_missing.jpg", "large_url": "//i/l.jpg" }), Some("https://i/l.jpg"))]
#[case::none(json!(null), None)]
fn a_picture_that_stands_for_none_is_none(#[case] image: Value, #[case] expected: Option<&str>) {
    assert_eq!(product(json!({ "avatar_image": image })).image_url.as_deref(), expected);
}

#[test]
fn an_item_of_no_brand_and_without_deals_has_neither() {
    let product = product(json!({
        "brand_endorsement": null, "current_deal_title": null, "deal_ids": [], "price": null,
    }));
    assert_eq!((product.brand_name_raw, product.brand_image_url, product.specials), (None, None, None));
}

#[test]
fn of_an_item_on_two_pages_the_later_one_counts() {
    let pages =
        [page(json!([item(json!({})), item(json!({ "id": 2 }))])), page(json!([item(json!({ "name": "New" }))]))];
    let menu = normalise(&[&pages[0], &pages[1]]).unwrap();
    let names: Vec<&str> = menu.products.iter().map(|product| product.name_raw.as_str()).collect();
    assert_eq!(names, ["New", "Tin Lantern - Sunday Biscuit"]);
}

#[test]
fn a_bad_item_is_counted_and_its_neighbours_are_kept() {
    let read =
        read_page(0, &page(json!([1, { "name": "no id" }, ["x"], item(json!({ "price": 5, "tags": "x" }))]))).unwrap();
    assert_eq!((read.items, read.page.products().len(), read.total_count), (4, 1, Some(3)));
    let kinds = read.page.warnings.by_kind();
    assert_eq!((kinds["unreadable_item"], kinds["bad_field"] >= 2), (3, true));
}

#[rstest]
#[case::no_menu(r#"{"errors":[{"detail":"no"}]}"#, "not a menu page")]
#[case::no_items(r#"{"data":{}}"#, "not a menu page")]
#[case::a_list(r#"[1]"#, "not a menu page")]
#[case::cut_off(r#"{"data":{"menu_items":[{"id":1"#, "cut off")]
fn other_answers_are_refused(#[case] body: &str, #[case] expected: &str) {
    let error = read_page(0, body.as_bytes()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_page_without_an_end_is_refused() {
    let items: Vec<Value> = (0..=wire::MAX_ITEMS).map(|id| json!({ "id": id })).collect();
    let error = read_page(0, &page(json!(items))).unwrap_err();
    assert!(error.to_string().contains("more than 1000 products"), "{error}");
}

#[rstest]
#[case::nothing(json!({ "tags": [] }), None)]
#[case::all(
    json!({
        "tags": [
            { "name": "Relaxed", "tag_group": { "name": "Effects" } }, { "name": "Hybrid", "tag_group": { "name": "Genetics" } },
            { "name": "Sunday Biscuit", "tag_group": { "name": "Strains" } }, { "name": "Loose" },
        ],
        "metrics": { "terpenes": [{ "code": "beta_myrcene", "value": 0.4, "unit": "%" }, { "code": "pinene", "value": 0, "unit": "%" }] },
        "brand_endorsement": { "brand_id": 44, "brand_slug": "tin-lantern", "product_slug": "sunday-biscuit" },
        "rating": 4.5, "reviews_count": 3,
    }),
    Some(json!({
        "strain_name": "Sunday Biscuit", "terpenes": [{ "name": "Beta myrcene", "percent": 0.4 }, { "name": "Pinene" }],
        "tags": ["Relaxed", "Loose"], "rating": 4.5, "reviews": 3, "brand_id": "44",
        "item_url": "https://weedmaps.com/brands/tin-lantern/products/sunday-biscuit",
    }))
)]
#[case::odd(
    json!({
        "tags": [[], 3, { "name": {} }], "metrics": { "terpenes": [{ "value": 1 }, "myrcene"] },
        "brand_endorsement": { "brand_id": [], "brand_slug": "tin lantern", "product_slug": "x" }, "rating": "-", "reviews_count": 0,
    }),
    None
)]
fn attributes_are_what_the_item_states(#[case] change: Value, #[case] expected: Option<Value>) {
    let attributes = product(change).attributes;
    assert_eq!(attributes.map(|json| serde_json::from_str::<Value>(json.json().as_str()).unwrap()), expected);
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        let _ = normalise(&[text.as_bytes()]);
        let _ = normalise(&[format!(r#"{{"data":{{"menu_items":[{text}]}}}}"#).as_bytes()]);
    }

    #[test]
    fn no_mutated_answer_panics(at in any::<prop::sample::Index>(), removed in 0_usize..9, put in r#"[\[\]{}":,0-9a\\-]{0,4}"#) {
        let mut bytes = page(json!([item(json!({})), item(json!({ "prices": [] }))]));
        let at = at.index(bytes.len());
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, put.bytes());
        let _ = normalise(&[&bytes]);
    }
}
