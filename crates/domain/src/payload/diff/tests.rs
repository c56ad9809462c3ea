//! Tables and properties of the comparison of two menus.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::store::Platform;

fn prices(rec: i32) -> Prices {
    Prices { price_rec: Some(rec), ..Prices::default() }
}

fn stock(quantity: i32) -> StockLevel {
    StockLevel { is_in_stock: quantity > 0, quantity: Some(quantity), quantity_censored: false }
}

fn option(label: &str, rec: i32, quantity: i32) -> OptionOffer {
    OptionOffer { label: label.to_owned(), nth: 0, prices: prices(rec), stock: stock(quantity) }
}

fn product(id: &str, options: Vec<OptionOffer>) -> ProductOffer {
    ProductOffer {
        id: id.to_owned(),
        name: format!("Product {id}"),
        brand: None,
        category: None,
        prices: prices(1000),
        stock: stock(5),
        options,
    }
}

fn payload(id: PayloadId) -> Payload {
    Payload {
        id,
        task_id: None,
        dispensary_id: 7,
        platform: Platform::Dutchie,
        storage_path: String::new(),
        sha256: String::new(),
        bytes: 0,
        product_count: 3,
        total_count: 3,
        coverage: 1.0,
        fetched_at: "2025-11-17T13:54:00Z".parse().unwrap(),
    }
}

/// Added, removed, price changes, stock changes, option changes, same.
fn counts(from: Vec<ProductOffer>, to: Vec<ProductOffer>) -> [usize; 6] {
    let counts = compare(from, to).0;
    let DiffCounts { added, removed, price_changes, stock_changes, option_changes, same, .. } = counts;
    [added, removed, price_changes, stock_changes, option_changes, same]
}

#[rstest]
#[case::nothing(vec![], vec![], [0, 0, 0, 0, 0, 0])]
#[case::the_same(vec![product("a", vec![])], vec![product("a", vec![])], [0, 0, 0, 0, 0, 1])]
#[case::added(vec![], vec![product("a", vec![])], [1, 0, 0, 0, 0, 0])]
#[case::removed(vec![product("a", vec![])], vec![], [0, 1, 0, 0, 0, 0])]
#[case::exchanged(vec![product("a", vec![])], vec![product("b", vec![])], [1, 1, 0, 0, 0, 0])]
#[case::its_own_price(
    vec![product("a", vec![])],
    vec![ProductOffer { prices: prices(900), ..product("a", vec![]) }],
    [0, 0, 1, 0, 0, 0]
)]
#[case::a_special_begins(
    vec![product("a", vec![])],
    vec![ProductOffer { prices: Prices { special_price_med: Some(1), ..prices(1000) }, ..product("a", vec![]) }],
    [0, 0, 1, 0, 0, 0]
)]
#[case::its_own_stock(
    vec![product("a", vec![])],
    vec![ProductOffer { stock: stock(0), ..product("a", vec![]) }],
    [0, 0, 0, 1, 0, 0]
)]
#[case::a_quantity_that_is_now_capped(
    vec![product("a", vec![])],
    vec![ProductOffer { stock: StockLevel { quantity_censored: true, ..stock(5) }, ..product("a", vec![]) }],
    [0, 0, 0, 1, 0, 0]
)]
#[case::an_options_price(
    vec![product("a", vec![option("1g", 10, 1)])],
    vec![product("a", vec![option("1g", 11, 1)])],
    [0, 0, 1, 0, 0, 0]
)]
#[case::an_options_stock(
    vec![product("a", vec![option("1g", 10, 1)])],
    vec![product("a", vec![option("1g", 10, 0)])],
    [0, 0, 0, 1, 0, 0]
)]
#[case::price_and_stock_of_two_options_are_one_product_each(
    vec![product("a", vec![option("1g", 10, 1), option("2g", 20, 1)])],
    vec![product("a", vec![option("1g", 11, 2), option("2g", 21, 2)])],
    [0, 0, 1, 1, 0, 0]
)]
#[case::an_option_more(
    vec![product("a", vec![])],
    vec![product("a", vec![option("1g", 10, 1)])],
    [0, 0, 0, 0, 1, 0]
)]
#[case::another_label(
    vec![product("a", vec![option("1g", 10, 1)])],
    vec![product("a", vec![option("2g", 10, 1)])],
    [0, 0, 0, 0, 1, 0]
)]
#[case::another_order_of_options(
    vec![product("a", vec![option("1g", 10, 1), option("2g", 20, 1)])],
    vec![product("a", vec![option("2g", 20, 1), option("1g", 10, 1)])],
    [0, 0, 0, 0, 0, 1]
)]
#[case::another_name(
    vec![product("a", vec![])],
    vec![ProductOffer { name: "Another".to_owned(), ..product("a", vec![]) }],
    [0, 0, 0, 0, 0, 1]
)]
fn each_difference_is_counted_once_a_product(
    #[case] from: Vec<ProductOffer>,
    #[case] to: Vec<ProductOffer>,
    #[case] expected: [usize; 6],
) {
    assert_eq!(counts(from, to), expected);
}

#[test]
fn options_of_one_label_are_told_apart_by_their_number() {
    let twice = |first, second| {
        let options = vec![option("1g", first, 1), OptionOffer { nth: 1, ..option("1g", second, 1) }];
        vec![product("a", options)]
    };
    let (counts, details) = compare(twice(10, 20), twice(10, 25));
    assert_eq!(counts.options_with_price_changes, 1);
    let changed = &details.price_changes[0].options[0];
    assert_eq!((changed.nth, changed.from.price_rec, changed.to.price_rec), (1, Some(20), Some(25)));
}

#[test]
fn each_option_with_another_price_or_stock_counts() {
    let of = |rec, quantity| vec![product("a", ["1g", "2g", "3g"].map(|label| option(label, rec, quantity)).into())];
    let counts = compare(of(10, 1), of(11, 2)).0;
    assert_eq!((counts.options_with_price_changes, counts.options_with_stock_changes), (3, 3));
}

#[test]
fn the_largest_changes_of_prices_and_stock_come_first() {
    let at =
        |id: &str, rec, quantity| ProductOffer { prices: prices(rec), stock: stock(quantity), ..product(id, vec![]) };
    let with_option = |rec| product("d", vec![option("1g", rec, 1)]);
    let from = vec![at("a", 1000, 20), at("b", 1000, 10), at("c", 1000, 10), with_option(1000)];
    let to = vec![at("a", 990, 19), at("b", 400, 14), at("c", 1440, 0), with_option(1500)];
    let details = compare(from, to).1;
    let prices: Vec<&str> = details.price_changes.iter().map(|change| change.id.as_str()).collect();
    let stock: Vec<&str> = details.stock_changes.iter().map(|change| change.id.as_str()).collect();
    assert_eq!((&prices[..], &stock[..]), (&["b", "d", "c", "a"][..], &["c", "b", "a"][..]));
}

#[test]
fn an_offer_is_made_of_each_product_of_a_menu() {
    let named = |id: &str| Product { provider_product_id: id.to_owned(), price_rec: Some(1000), ..Product::default() };
    let menu = NormalMenu { products: vec![named("b"), named("a")], ..NormalMenu::default() };
    let found: Vec<_> = offers(menu).into_iter().map(|offer| (offer.id, offer.prices)).collect();
    assert_eq!(found, [("b".to_owned(), prices(1000)), ("a".to_owned(), prices(1000))]);
}

#[test]
fn the_document_has_the_fields_of_its_contract() {
    let from = vec![product("gone", vec![]), product("a", vec![option("1g", 10, 1), option("2g", 20, 1)])];
    let to = vec![
        ProductOffer { stock: stock(0), ..product("a", vec![option("1g", 9, 1), option("3g", 30, 1)]) },
        product("new", vec![]),
    ];
    let diff = PayloadDiff::new((&payload(1), from), (&payload(2), to));
    let offer = |id: &str| {
        json!({"id": id, "name": format!("Product {id}"), "brand": null, "category": null, "priceRec": 1000, "priceMed": null,
               "specialPriceRec": null, "specialPriceMed": null, "isInStock": true, "quantity": 5, "quantityCensored": false,
               "options": []})
    };
    let option = |label: &str, rec: i32| {
        json!({"label": label, "nth": 0, "priceRec": rec, "priceMed": null, "specialPriceRec": null, "specialPriceMed": null,
               "isInStock": true, "quantity": 1, "quantityCensored": false})
    };
    let price = |rec: i32| json!({"priceRec": rec, "priceMed": null, "specialPriceRec": null, "specialPriceMed": null});
    let level = |quantity: i32| json!({"isInStock": quantity > 0, "quantity": quantity, "quantityCensored": false});
    let expected = json!({
        "success": true,
        "from": {"id": 1, "fetchedAt": "2025-11-17T13:54:00Z", "productCount": 3},
        "to": {"id": 2, "fetchedAt": "2025-11-17T13:54:00Z", "productCount": 3},
        "diff": {"added": 1, "removed": 1, "priceChanges": 1, "stockChanges": 1, "optionChanges": 1, "same": 0,
                 "optionsWithPriceChanges": 1, "optionsWithStockChanges": 0},
        "details": {
            "added": [offer("new")],
            "removed": [offer("gone")],
            "priceChanges": [{"id": "a", "name": "Product a", "brand": null, "from": price(1000), "to": price(1000),
                              "options": [{"label": "1g", "nth": 0, "from": price(10), "to": price(9)}]}],
            "stockChanges": [{"id": "a", "name": "Product a", "brand": null, "from": level(5), "to": level(0), "options": []}],
            "optionChanges": [{"id": "a", "name": "Product a", "brand": null, "added": [option("3g", 30)],
                               "removed": [option("2g", 20)]}],
            "truncated": false,
        },
    });
    assert_eq!(serde_json::to_value(&diff).unwrap(), expected);
    assert_eq!(serde_json::from_value::<PayloadDiff>(expected).unwrap(), diff);
}

#[test]
fn details_are_bounded_and_counts_are_not() {
    let to: Vec<_> = (0..=MAX_DETAILS).map(|n| product(&n.to_string(), vec![])).collect();
    let (counts, details) = compare(vec![], to.clone());
    assert_eq!((counts.added, details.added.len(), details.truncated), (MAX_DETAILS + 1, MAX_DETAILS, true));
    let (_, details) = compare(vec![], to[1..].to_vec());
    assert!(!details.truncated);
}

/// A menu of a few products that often coincide with another such menu's.
fn any_menu() -> impl Strategy<Value = Vec<ProductOffer>> {
    let option =
        (0..3_i16, 0..3_i32, 0..2_i32).prop_map(|(nth, rec, left)| OptionOffer { nth, ..option("1g", rec, left) });
    let options = prop::collection::vec(option, 0..4).prop_map(|mut options| {
        options.sort_by_key(|option| option.nth);
        options.dedup_by_key(|option| option.nth);
        options
    });
    let product = (0..3_i32, 0..2_i32, options).prop_map(|(rec, left, options)| ProductOffer {
        prices: prices(rec),
        stock: stock(left),
        ..product("", options)
    });
    prop::collection::btree_map("[a-f]", product, 0..6)
        .prop_map(|menu| menu.into_iter().map(|(id, product)| ProductOffer { id, ..product }).collect())
}

proptest! {
    #[test]
    fn a_menu_is_the_same_as_itself(menu in any_menu()) {
        prop_assert_eq!(counts(menu.clone(), menu.clone()), [0, 0, 0, 0, 0, menu.len()]);
    }

    #[test]
    fn backwards_the_same_products_and_options_change(from in any_menu(), to in any_menu()) {
        let (there, _) = compare(from.clone(), to.clone());
        let (back, _) = compare(to, from);
        prop_assert_eq!(back, DiffCounts { added: there.removed, removed: there.added, ..there });
    }

    #[test]
    fn every_product_of_both_menus_is_accounted_for(from in any_menu(), to in any_menu()) {
        let (counts, details) = compare(from.clone(), to.clone());
        let changes = details.price_changes.iter().map(|change| &change.id);
        let changes = changes.chain(details.stock_changes.iter().map(|change| &change.id));
        let changed: HashSet<_> = changes.chain(details.option_changes.iter().map(|change| &change.id)).collect();
        prop_assert_eq!(counts.added + changed.len() + counts.same, to.len());
        prop_assert_eq!(counts.removed + changed.len() + counts.same, from.len());
    }

    #[test]
    fn the_details_lead_from_one_menu_to_the_other(from in any_menu(), to in any_menu()) {
        let details = compare(from.clone(), to.clone()).1;
        let mut made: Vec<_> = from.into_iter().filter(|product| !details.removed.contains(product)).collect();
        for product in &mut made {
            details.apply(product);
        }
        made.extend(details.added.clone());
        made.sort_by(|one, other| one.id.cmp(&other.id));
        prop_assert_eq!(made, to);
    }
}

impl DiffDetails {
    /// Makes the newer offer of the older one.
    fn apply(&self, product: &mut ProductOffer) {
        let id = product.id.clone();
        for change in self.price_changes.iter().filter(|change| change.id == id) {
            product.prices = change.to;
            change.options.iter().for_each(|option| product.of(&option.label, option.nth).prices = option.to);
        }
        for change in self.stock_changes.iter().filter(|change| change.id == id) {
            product.stock = change.to;
            change.options.iter().for_each(|option| product.of(&option.label, option.nth).stock = option.to);
        }
        for change in self.option_changes.iter().filter(|change| change.id == id) {
            product.options.retain(|option| change.removed.iter().all(|gone| gone.nth != option.nth));
            product.options.extend(change.added.clone());
            product.options.sort_by_key(|option| option.nth);
        }
    }
}

impl ProductOffer {
    fn of(&mut self, label: &str, nth: i16) -> &mut OptionOffer {
        self.options.iter_mut().find(|option| option.label == label && option.nth == nth).unwrap()
    }
}
