//! How many products of a simulated market the match finds, and how many of them are right; and products of a real menu.

use std::collections::HashMap;

use domain::product_match::LinkState;
use domain::store::Platform;
use rstest::rstest;
use serde_json::Value;
use sim::market::{Listing, Market, Settings, Truth};
use testkit::market::{Figures, as_told, matched, told};

/// The bench asks for more, of more listings: in a small market those that say too little weigh more.
const MIN_PRECISION: f64 = 0.98;
const MIN_RECALL: f64 = 0.90;
const MIN_BRAND_PRECISION: f64 = 0.995;
const MIN_BRAND_RECALL: f64 = 0.97;

#[rstest]
fn matches_are_right_and_find_nearly_all(#[values(4_711, 90_125)] seed: u64) {
    let settings = Settings { seed, products: 2_000, stores: 60, listings_per_store: 250, ..Settings::default() };
    let listings = told(&Market::new(settings));
    let (brand_of, matches) = matched(&listings);
    let product_of: Vec<usize> = matches.decided().map(|(_, _, found)| found.product).collect();
    let products = Figures::of(&listings, &product_of, |told| told.product);
    let brands = Figures::of(&listings, &brand_of, |told| told.maker);
    assert!(products.precision >= MIN_PRECISION && products.recall >= MIN_RECALL, "products: {products}");
    assert!(brands.precision >= MIN_BRAND_PRECISION && brands.recall >= MIN_BRAND_RECALL, "brands: {brands}");
    for (_, state, found) in matches.decided().filter(|(_, state, _)| *state == LinkState::Linked) {
        assert!(!found.evidence.is_empty(), "{state} without evidence: {found:?}");
    }
}

/// Two stores list the products of a real menu, one of them as it likes.
#[test]
fn products_of_a_real_menu_are_told_apart_and_found_in_another_spelling() {
    let Some(path) = testkit::fixture("dutchie/filtered_products_page.json") else { return };
    let page: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let products = page["data"]["filteredProducts"]["products"].as_array().unwrap();
    let listings = |store: usize| products.iter().enumerate().map(move |(at, product)| listing(store, at, product));
    let listings: Vec<_> = listings(0).chain(listings(1)).zip(1..).map(|(listing, id)| as_told(listing, id)).collect();
    let (_, matches) = matched(&listings);
    let mut found: HashMap<usize, Vec<usize>> = HashMap::new();
    for (told, (_, _, evident)) in listings.iter().zip(matches.decided()) {
        found.entry(evident.product).or_default().push(told.product);
    }
    assert_eq!(found.len(), products.len());
    for listed in found.values() {
        assert!(matches!(listed[..], [one, other] if one == other), "{listed:?}");
    }
}

/// The second store writes small letters, and other separators.
fn listing(store: usize, at: usize, product: &Value) -> Listing {
    let text = |key: &str| product[key].as_str().map(str::to_owned);
    let name = text("Name").unwrap();
    let labels = product["Options"].as_array().unwrap().iter().filter_map(Value::as_str);
    Listing {
        store,
        chain: None,
        platform: Platform::Dutchie,
        truth: Truth { product: at, maker: 0, is_decidable: true },
        name: if store == 0 { name } else { name.to_lowercase().replace(" | ", " - ") },
        brand: text("brandName").map(|brand| if store == 0 { brand } else { brand.to_uppercase() }),
        brand_id: None,
        category: text("type").unwrap(),
        subcategory: text("subcategory"),
        strain_type: text("strainType"),
        enterprise_product_id: None,
        options: labels.map(str::to_owned).collect(),
        thc: None,
    }
}
