//! Products as Dutchie Plus describes them, and their oddities.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use domain::menu::product::{Potency, PotencyUnit, StockStatus};

fn menu(products: Value) -> NormalMenu {
    let body = json!({ "data": { "menu": { "products": products } } }).to_string();
    normalise(&[body.as_bytes()]).unwrap()
}

fn product(change: Value) -> Product {
    let mut product = json!({
        "id": "p1", "name": " Animal Mntz ", "brand": { "name": "Bud Bros", "imageUrl": "https://i/b" },
        "category": "PRE_ROLLS", "subcategory": "WHOLE_FLOWER", "strainType": "HIGH_CBD", "image": "https://i/p",
        "potencyThc": { "range": [18, 22.5], "unit": "PERCENTAGE" }, "potencyCbd": null,
        "variants": [
            { "id": "p1~1/8oz", "option": "1/8oz", "priceRec": 34, "priceMed": 30.5, "specialPriceRec": 27.95, "quantity": 3 },
            { "id": "p1~1g", "option": "1g", "priceRec": "12.00", "specialPriceRec": 12, "quantity": null },
        ],
    });
    for (key, value) in change.as_object().unwrap() {
        product[key] = value.clone();
    }
    menu(json!([product])).products.remove(0)
}

fn kinds(menu: &NormalMenu) -> Vec<&'static str> {
    menu.warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_product_is_read_whole() {
    let product = product(json!({}));
    assert_eq!((product.name_raw.as_str(), product.brand_name_raw.as_deref()), ("Animal Mntz", Some("Bud Bros")));
    let words = (product.category.as_deref(), product.subcategory.as_deref(), product.strain_type.as_deref());
    assert_eq!(words, (Some("Pre-Rolls"), Some("whole-flower"), Some("High CBD")));
    assert_eq!((product.price_rec, product.special_price_rec), (Some(1200), None));
    assert_eq!((product.price_med, product.is_on_special), (Some(3050), true));
    let thc = Potency { min: Some(18.0), max: Some(22.5), unit: Some(PotencyUnit::Percentage) };
    assert_eq!((product.thc, product.cbd), (Some(thc), None));
    assert_eq!((product.quantity, product.stock_status), (Some(3), StockStatus::InStock));
    let eighth = &product.variants[0];
    assert_eq!((eighth.size_mg, eighth.price_rec, eighth.special_price_rec), (Some(3500), Some(3400), Some(2795)));
    assert_eq!(product.variants[1].special_price_rec, None, "a sale that is not lower is none");
}

#[rstest]
#[case::not_applicable(json!({"category": "NOT_APPLICABLE"}), None)]
#[case::not_applicable_in_small_letters(json!({"category": "not_applicable"}), None)]
#[case::small_letters(json!({"category": " flower "}), Some("Flower"))]
#[case::new(json!({"category": "BEVERAGES"}), Some("BEVERAGES"))]
#[case::absent(json!({"category": null}), None)]
fn a_category_that_says_nothing_is_none_and_an_unknown_one_stays(
    #[case] change: Value,
    #[case] expected: Option<&str>,
) {
    assert_eq!(product(change).category.as_deref(), expected);
}

#[rstest]
#[case::by_its_id(json!([{ "id": "p1~2g", "priceRec": 1 }]), "2g")]
#[case::of_nothing(json!([{ "priceRec": 1 }]), "N/A")]
fn an_option_without_a_label_has_that_of_its_id(#[case] variants: Value, #[case] expected: &str) {
    assert_eq!(product(json!({ "variants": variants })).variants[0].option_label, expected);
}

#[test]
fn what_is_sold_out_is_out_of_stock() {
    let variants = json!([{ "option": "1g", "priceRec": 1, "quantity": 0 }]);
    assert_eq!(product(json!({ "variants": variants })).stock_status, StockStatus::Oos);
}

#[test]
fn a_bad_item_is_counted_and_its_neighbours_are_kept() {
    let menu = menu(json!([1, { "name": "no id" }, ["p"], { "id": "a", "brand": 5 }, { "id": "b" }]));
    let ids: Vec<&str> = menu.products.iter().map(|product| product.provider_product_id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    let unreadable = kinds(&menu).into_iter().filter(|kind| *kind == "unreadable_item").count();
    assert_eq!(unreadable, 3);
    assert!(kinds(&menu).contains(&"bad_field"));
}

#[test]
fn an_error_of_one_product_costs_it_alone() {
    let error =
        |index: usize| json!({ "message": "boom", "path": ["menu", "products", index, "variants", 0, "priceRec"] });
    let read = |errors: Value| {
        let products = json!([{ "id": "a" }, { "id": "b" }, { "id": "c" }]);
        let body = json!({ "errors": errors, "data": { "menu": { "products": products } } }).to_string();
        let menu = normalise(&[body.as_bytes()]).ok()?;
        Some(menu.products.iter().map(|product| product.provider_product_id.clone()).collect::<String>())
    };
    assert_eq!(read(json!([error(1)])).as_deref(), Some("ac"));
    assert_eq!(read(json!([error(0), error(1)])), None, "more than half");
}

#[test]
fn a_menu_without_an_end_is_refused() {
    let products: Vec<Value> = (0..=MAX_PRODUCTS).map(|id| json!({ "id": id })).collect();
    let body = json!({ "data": { "menu": { "products": products } } }).to_string();
    let error = normalise(&[body.as_bytes()]).unwrap_err();
    assert!(error.to_string().contains("more than 15000 products"), "{error}");
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        let _ = normalise(&[text.as_bytes()]);
        let _ = normalise(&[format!(r#"{{"data":{{"menu":{{"products":[{text}]}}}}}}"#).as_bytes()]);
    }
}
