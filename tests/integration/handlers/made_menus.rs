//! Menus made by proptest, written to a real database: no value fails a refresh, and the rows equal the
//! normaliser's result.
//!
//! 300 menus of up to 40 products in an ordinary run; `DROVER_MADE_MENUS=100000` is the long one.

use std::collections::BTreeMap;

use db::demo::report::products;
use db::products::ProductScope;
use domain::menu::diff::with_known_statuses;
use domain::menu::known_units::with_known_units;
use domain::store::Platform;
use drover::platforms::dutchie::normalize;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::product_fields::FIELDS;
use super::test_store::TestStore;
use crate::platforms::record;

const MENUS: usize = 300;
/// Number of menus that go to one store, one after the other.
const MENUS_PER_STORE: usize = 100;
const MAX_PRODUCTS: usize = 40;
const IDS: usize = 80;

/// Fields that no product has, beside the usual ones.
const NO_FIELDS: [&str; 2] = ["\u{0}", "unheard"];

const INNER: [&str; 16] = [
    "option",
    "quantity",
    "quantityAvailable",
    "children",
    "unit",
    "range",
    "name",
    "imageUrl",
    "url",
    "active",
    "values",
    "netWeight",
    "inventory",
    "saleSpecials",
    "createdBy",
    "canonicalBrandName",
];

const SENSIBLE: [&str; 13] = [
    "1g",
    "1/8oz",
    ".5g",
    "2gC",
    "N/A",
    "100ml",
    "PERCENTAGE",
    "MILLIGRAMS",
    "Active",
    "Inactive",
    "1609459200000",
    "2021-01-01T00:00:00Z",
    "$12.50",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&SENSIBLE[..]).prop_map(str::to_owned),
        2 => any::<String>(),
        1 => "\\PC{0,300}",
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
        1 => Just("\u{0}\u{ffff}\u{202e}".repeat(900)),
    ]
}

fn any_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => any::<f64>().prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        4 => (0.0..500.0_f64).prop_map(Value::from),
        2 => (-1..30_i64).prop_map(Value::from),
        6 => any_text().prop_map(Value::from),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    any_leaf().prop_recursive(3, 16, 5, |inner| {
        let key = prop_oneof![9 => prop::sample::select(&INNER[..]).prop_map(str::to_owned), 1 => any_text()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Values of a field that is as it should be, so that odd ones meet good ones.
fn ordinary(id: usize) -> Value {
    json!({
        "_id": format!("p{id}"), "Name": format!("Product {id}"), "type": "Flower", "Options": ["1g", "1/8oz", "1g"], "Prices": [10, 25.5, 11],
        "recPrices": [10, 25.5, 11], "recSpecialPrices": [8], "POSMetaData": { "children": [{ "option": "1g", "quantity": 25 }] },
        "THCContent": { "unit": "PERCENTAGE", "range": [20.1, 22] }, "Status": "Active",
    })
}

fn any_item() -> impl Strategy<Value = Value> {
    let odd = prop::collection::vec((prop::sample::select([&FIELDS[..], &NO_FIELDS].concat()), any_value()), 0..8);
    (0..IDS, any::<bool>(), odd).prop_map(|(id, is_ordinary, odd)| {
        let mut item = if is_ordinary { ordinary(id) } else { json!({ "_id": format!("p{id}") }) };
        odd.into_iter().for_each(|(field, value)| item[field] = value);
        item
    })
}

fn page(items: &[Value]) -> String {
    json!({ "data": { "filteredProducts": { "products": items, "queryInfo": { "totalCount": items.len(), "totalPages": 1 } } } }).to_string()
}

#[tokio::test]
async fn whatever_a_menu_holds_its_rows_are_what_the_normaliser_said() {
    let menus = std::env::var("DROVER_MADE_MENUS").map_or(MENUS, |text| text.parse().unwrap());
    let mut runner = TestRunner::new(Config::default());
    let made = prop::collection::vec(any_item(), 0..MAX_PRODUCTS);
    let first = TestStore::new().await;
    let mut written = 0;
    for group in 0..menus.div_ceil(MENUS_PER_STORE) {
        let name = format!("Store {group}");
        let store = first.beside(&name).await;
        for second in 0..MENUS_PER_STORE.min(menus - group * MENUS_PER_STORE) {
            let page = page(&made.new_tree(&mut runner).unwrap().current());
            written += write_and_compare(&store, &format!("id of {name}"), second as i64, &page).await;
        }
        let forget = "DELETE FROM dispensaries WHERE id = $1";
        store.database.raw.execute(forget, &[&store.id]).await.unwrap();
        store
            .database
            .raw
            .batch_execute("TRUNCATE store_product_snapshots, store_product_variant_history")
            .await
            .unwrap();
    }
    println!("{menus} menus with {written} products");
}

/// An operator has accepted whatever the next menu switches.
const ACCEPTED: &str = "INSERT INTO suspicious_switches (kind, scope, covered, switched, accepted_at, dispensary_ids)
    VALUES ('products', $1, 0, 0, now(), '{}') ON CONFLICT DO NOTHING";

/// Returns how many products it wrote.
async fn write_and_compare(store: &TestStore, platform_id: &str, second: i64, page: &str) -> usize {
    let menu = normalize::normalise(&[page.as_bytes()]).unwrap();
    let payload = store.payload(second, menu.products.len(), 1.0).await;
    // menus of chance sell out at once now and then
    store.database.raw.execute(ACCEPTED, &[&format!("dutchie/{}", store.id)]).await.unwrap();
    let tx = store.database.db.begin().await.unwrap();
    let scope = ProductScope { dispensary_id: store.id, platform: Platform::Dutchie };
    let (_, ids) = db::products::row_hashes(&tx, scope).await.unwrap().split(&[]);
    let known = db::products::known(&tx, &ids).await.unwrap();
    let ids: Vec<&str> = menu.products.iter().map(|product| product.provider_product_id.as_str()).collect();
    let units = db::products::known_units(&tx, scope, &ids).await.unwrap();
    tx.rollback().await.unwrap();
    let with_units = with_known_units(&menu.products, &units);
    let settled = with_known_statuses(&with_units, &known).unwrap_or(with_units);
    let refreshed = store.try_refresh(&payload, menu.products.clone()).await;
    let counts = refreshed.unwrap_or_else(|error| panic!("{error}, by this menu: {page}"));
    assert_eq!(counts.snapshots as usize, menu.products.len(), "{page}");

    let client = store.database.db.client().await.unwrap();
    let rows = products::all(&client, Platform::Dutchie).await.unwrap();
    let mut rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.provider_product_id.clone(), row)).collect();
    // the database sorts letters in its own order, which nothing uses
    let variants = rows.values_mut().map(|row| &mut row.variants);
    variants.for_each(|all| all.sort_by(|a, b| (&a.option_label, a.nth).cmp(&(&b.option_label, b.nth))));
    for product in &settled {
        let expected = record(platform_id, product);
        assert_eq!(rows.get(&product.provider_product_id), Some(&expected), "{page}");
    }
    menu.products.len()
}
