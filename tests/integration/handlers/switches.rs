//! Words of upstream that would switch stores and products off: an unknown one changes nothing, and a mass change is
//! believed only once several answers agree, or an operator accepts it.

use db::stores;
use domain::task::role::Role;
use queue::Committed;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rstest::rstest;
use serde_json::{Value, json};
use sim::{Settings, Simulator};

use super::harness::HandlerHarness;
use super::simulated::{harness, simulator};
use super::test_store::at;

const PRODUCTS: usize = 12;
const IN_STOCK: &str = "SELECT count(*) FROM store_products WHERE is_in_stock";
const ENABLED: &str = "SELECT count(*) FROM dispensaries WHERE crawl_enabled AND slug IS NOT NULL";

/// A menu whose first products have this status, and the others are active.
fn menu(changed: usize, status: &Value) -> String {
    menu_of((0..PRODUCTS).map(|nth| product(nth, if nth < changed { status.clone() } else { json!("Active") })))
}

fn product(nth: usize, status: Value) -> Value {
    json!({ "_id": format!("p{nth}"), "Name": format!("Product {nth}"), "type": "Flower", "Options": ["1g"],
            "Prices": [10], "recPrices": [10], "Status": status,
            "POSMetaData": { "children": [{ "option": "1g", "quantity": 9 }] } })
}

fn menu_of(products: impl Iterator<Item = Value>) -> String {
    let products: Vec<Value> = products.collect();
    let info = json!({ "totalCount": products.len(), "totalPages": 1 });
    json!({ "data": { "filteredProducts": { "products": products, "queryInfo": info } } }).to_string()
}

/// A store whose whole menu is in stock.
async fn stocked() -> HandlerHarness {
    let harness = HandlerHarness::new().await;
    crawl(&harness, 0, &menu(0, &Value::Null)).await;
    assert_eq!(harness.store.count(IN_STOCK).await, PRODUCTS as i64);
    harness
}

async fn crawl(harness: &HandlerHarness, second: i64, menu: &str) -> Committed {
    let payload = harness.payload(at(second), &[menu]).await;
    harness.settle(Role::ProductRefresh, json!({ "payload_id": payload.id })).await
}

async fn hours_pass(harness: &HandlerHarness) {
    let sql = "UPDATE suspicious_switches SET seen_at = seen_at - interval '3 hours'";
    harness.store.database.raw.batch_execute(sql).await.unwrap();
}

async fn accept(harness: &HandlerHarness, store: i64) -> bool {
    let tx = harness.services.db.begin().await.unwrap();
    let accepted = db::stores::switches::accept(&tx, store).await.unwrap();
    tx.commit().await.unwrap();
    accepted
}

/// Kinds of the faults that stores have now, each once.
async fn faults(harness: &HandlerHarness) -> Vec<String> {
    stores::quality::look(&harness.services.db.client().await.unwrap()).await.unwrap();
    let sql = "SELECT coalesce(array_agg(DISTINCT kind ORDER BY kind), '{}') FROM quality_findings WHERE kind <> 'blind_store'";
    harness.store.database.raw.query_one(sql, &[]).await.unwrap().get(0)
}

#[rstest]
#[case::capitals(json!("ACTIVE"))]
#[case::blanks(json!(" active\t"))]
#[case::null(Value::Null)]
#[case::an_empty_text(json!(""))]
#[case::another_word(json!("Available"))]
#[case::another_type(json!({ "is": "Active" }))]
#[tokio::test]
async fn a_word_for_the_status_that_is_not_inactive_sells_no_menu_out(#[case] status: Value) {
    let harness = stocked().await;
    crawl(&harness, 1, &menu(PRODUCTS, &status)).await;
    assert_eq!(harness.store.count(IN_STOCK).await, PRODUCTS as i64);
}

#[tokio::test]
async fn a_delisted_product_whose_status_is_unknown_stays_delisted() {
    let harness = stocked().await;
    crawl(&harness, 1, &menu(2, &json!("INACTIVE"))).await;
    assert_eq!(harness.store.count(IN_STOCK).await, 10);
    for (second, status) in [(2, json!("Retired")), (3, Value::Null)] {
        crawl(&harness, second, &menu(PRODUCTS, &status)).await;
        assert_eq!(harness.store.count(IN_STOCK).await, 10, "{status}");
    }
}

#[rstest]
#[case::half(6, 6)]
#[case::more_than_half(7, 12)]
#[case::all(12, 12)]
#[tokio::test]
async fn a_menu_that_sells_out_more_than_half_at_once_is_not_believed(#[case] inactive: usize, #[case] in_stock: i64) {
    let harness = stocked().await;
    let refreshed = crawl(&harness, 1, &menu(inactive, &json!("Inactive"))).await;
    assert_eq!(harness.store.count(IN_STOCK).await, in_stock);
    let is_suspicious = in_stock == PRODUCTS as i64;
    assert_eq!(refreshed.result.get("suspicious").is_some(), is_suspicious, "{:?}", refreshed.result);
    assert_eq!(accept(&harness, harness.store.id).await, is_suspicious);
}

#[tokio::test]
async fn the_third_such_menu_is_believed_hours_apart() {
    let harness = stocked().await;
    let sold_out = menu(PRODUCTS, &json!("Inactive"));
    let mut in_stock = Vec::new();
    for second in 1..=4 {
        crawl(&harness, second, &sold_out).await;
        in_stock.push(harness.store.count(IN_STOCK).await);
        // the second one comes at once, and does not count
        if second > 1 {
            hours_pass(&harness).await;
        }
        if second == 1 {
            crawl(&harness, 100 + second, &sold_out).await;
            hours_pass(&harness).await;
        }
    }
    assert_eq!(in_stock, [12, 12, 0, 0]);
    assert_eq!(harness.store.count("SELECT count(*) FROM suspicious_switches").await, 0);
}

#[tokio::test]
async fn a_menu_as_before_ends_the_suspicion_and_an_accepted_one_is_written() {
    let harness = stocked().await;
    let sold_out = menu(PRODUCTS, &json!("Inactive"));
    crawl(&harness, 1, &sold_out).await;
    crawl(&harness, 2, &menu(0, &Value::Null)).await;
    assert!(!accept(&harness, harness.store.id).await, "nothing is suspicious any more");
    crawl(&harness, 3, &sold_out).await;
    assert!(accept(&harness, harness.store.id).await);
    crawl(&harness, 4, &sold_out).await;
    assert_eq!(harness.store.count(IN_STOCK).await, 0);
}

/// The same menu, whose products all have other ids: they are the same products.
#[tokio::test]
async fn a_menu_that_names_all_products_by_other_ids_is_not_believed_at_once() {
    let harness = stocked().await;
    let renamed = menu_of((100..100 + PRODUCTS).map(|nth| product(nth, json!("Active"))));
    let rows = "SELECT count(*) FROM store_products";
    for (second, known) in [(1, 12), (2, 12), (3, 24)] {
        crawl(&harness, second, &renamed).await;
        assert_eq!((harness.store.count(IN_STOCK).await, harness.store.count(rows).await), (known, known));
        let expected = if known == 12 { vec!["suspicious_switch"] } else { vec![] };
        assert_eq!(faults(&harness).await, expected);
        hours_pass(&harness).await;
    }
}

/// Menus that follow each other within hours, each with words of its own for every product.
#[tokio::test]
async fn no_sequence_of_menus_takes_more_than_half_of_the_stock_in_silence() {
    let words = [json!("Active"), json!("Inactive"), json!("INACTIVE "), Value::Null, json!("gone"), json!(7)];
    let harness = stocked().await;
    let mut rng = StdRng::seed_from_u64(47);
    let (mut refused, mut second) = (0, 0);
    for _ in 0..40 {
        second += 1;
        let before = harness.store.count(IN_STOCK).await;
        let inactive = rng.random_range(0.0..1.0);
        let status = |rng: &mut StdRng| {
            let nth = if rng.random_bool(inactive) { rng.random_range(1..3) } else { rng.random_range(0..words.len()) };
            words[nth].clone()
        };
        let products: Vec<Value> = (0..PRODUCTS).map(|nth| product(nth, status(&mut rng))).collect();
        crawl(&harness, second, &menu_of(products.into_iter())).await;
        let after = harness.store.count(IN_STOCK).await;
        assert!(before < 10 || 2 * after >= before, "menu {second}: {before} in stock, then {after}");
        let is_refused = faults(&harness).await.contains(&"suspicious_switch".to_owned());
        refused += usize::from(is_refused);
        if !is_refused && before < 10 {
            second += 1;
            crawl(&harness, second, &menu(0, &Value::Null)).await;
        }
    }
    assert!(refused > 0, "no menu was refused");
}

#[tokio::test]
async fn an_unknown_unit_keeps_the_last_known_unit_and_size() {
    let harness = HandlerHarness::new().await;
    let with_units = |potency: Value, weight: Value| {
        let mut product = product(0, json!("Active"));
        product["Options"] = json!(["N/A"]);
        product["THCContent"] = json!({ "unit": potency, "range": [20, 22] });
        product["measurements"] = json!({ "netWeight": { "unit": weight, "values": [3500] } });
        menu_of(std::iter::once(product))
    };
    let row = async || {
        let sql = "SELECT p.thc_unit, v.size_mg FROM store_products p JOIN store_product_variants v ON v.store_product_id = p.id";
        let row = harness.store.database.raw.query_one(sql, &[]).await.unwrap();
        (row.get::<_, Option<String>>(0), row.get::<_, Option<i64>>(1))
    };
    let known = (Some("PERCENTAGE".to_owned()), Some(3500));
    let words = [("PERCENTAGE", "MILLIGRAMS"), ("percentage", " milligrams"), ("PCT", "GRAINS"), ("", "")];
    for (nth, (potency, weight)) in words.into_iter().enumerate() {
        let second = i64::try_from(nth).unwrap();
        crawl(&harness, second, &with_units(json!(potency), json!(weight))).await;
        assert_eq!(row().await, known, "{potency:?}, {weight:?}");
    }
    crawl(&harness, 9, &with_units(json!("MILLIGRAMS"), json!("MILLIGRAMS"))).await;
    assert_eq!(row().await.0.as_deref(), Some("MILLIGRAMS"), "a unit that is known is taken");
}

/// Twelve stores that discovery has found.
async fn discovered() -> (Simulator, HandlerHarness) {
    let sim = simulator(Settings { stores: 12, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    // the harness's own store is not among them
    harness.store.database.raw.batch_execute("UPDATE dispensaries SET slug = NULL").await.unwrap();
    harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!(harness.store.count(ENABLED).await, 12);
    (sim, harness)
}

#[rstest]
#[case::null(Value::Null)]
#[case::capitals(json!(" OPEN "))]
#[case::another_word(json!("ouvert"))]
#[case::an_empty_text(json!(""))]
#[tokio::test]
async fn a_word_for_the_status_that_is_not_closed_closes_no_store(#[case] status: Value) {
    let (sim, harness) = discovered().await;
    let is_known = status == json!(" OPEN ");
    sim.set_store_status(Some(status));
    let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;
    // a closed one that is said to be open is crawled, too
    assert!(harness.store.count(ENABLED).await >= 12 && discovery.result["closed"] == 0, "{:?}", discovery.result);
    assert_eq!(faults(&harness).await, if is_known { vec![] } else { vec!["unknown_words".to_owned()] });
}

#[tokio::test]
async fn an_answer_that_closes_every_store_of_a_state_is_not_believed_until_it_is_accepted() {
    let (sim, harness) = discovered().await;
    sim.set_store_status(Some(json!("closed")));
    let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!((&discovery.result["closed"], harness.store.count(ENABLED).await), (&json!(0), 12));
    assert!(
        discovery.result["suspicious"].as_object().is_some_and(|states| !states.is_empty()),
        "{:?}",
        discovery.result
    );
    assert_eq!(faults(&harness).await, ["suspicious_switch"]);

    let stores = "SELECT array_agg(id) FROM dispensaries WHERE slug IS NOT NULL";
    let stores: Vec<i64> = harness.store.database.raw.query_one(stores, &[]).await.unwrap().get(0);
    for store in stores {
        assert!(accept(&harness, store).await);
    }
    let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!((&discovery.result["closed"], harness.store.count(ENABLED).await), (&json!(12), 0));
}

#[tokio::test]
async fn the_third_answer_that_closes_every_store_is_believed_hours_apart() {
    let (sim, harness) = discovered().await;
    sim.set_store_status(Some(json!("closed")));
    let mut enabled = Vec::new();
    for _ in 0..3 {
        harness.settle(Role::StoreDiscovery, json!({})).await;
        enabled.push(harness.store.count(ENABLED).await);
        hours_pass(&harness).await;
    }
    assert_eq!(enabled, [12, 12, 0]);
}

/// Whatever an earlier answer, or an import, left of the stores.
#[rstest]
#[case::imported_and_never_discovered("DELETE FROM found_stores")]
#[case::seen_without_a_state("UPDATE found_stores SET reason = 'no_us_state'")]
#[case::seen_closed_before_they_were_imported("UPDATE found_stores SET reason = 'not_open'")]
#[case::imported_after_they_had_vanished("UPDATE found_stores SET vanished_at = now()")]
#[tokio::test]
async fn an_answer_that_closes_every_store_is_not_believed_whatever_was_known_of_them(#[case] known: &str) {
    let (sim, harness) = discovered().await;
    harness.store.database.raw.batch_execute(known).await.unwrap();
    sim.set_store_status(Some(json!("closed")));
    let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!((&discovery.result["closed"], harness.store.count(ENABLED).await), (&json!(0), 12));
    assert_eq!(faults(&harness).await, ["suspicious_switch"]);
}

/// The stores as if they had been found under ids in other letters.
const OTHER_IDS: &str = "UPDATE found_stores SET platform_dispensary_id = upper(platform_dispensary_id);
                         UPDATE dispensaries SET platform_dispensary_id = upper(platform_dispensary_id) WHERE slug IS NOT NULL";

#[tokio::test]
async fn stores_whose_ids_all_change_are_neither_closed_nor_doubled() {
    let (sim, harness) = discovered().await;
    let stores = harness.store.count("SELECT count(*) FROM dispensaries").await;
    harness.store.database.raw.batch_execute(OTHER_IDS).await.unwrap();
    for look in 0..3 {
        let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;
        let known = discovery.result["known_under_another_id"].as_array().map_or(0, Vec::len);
        assert_eq!((&discovery.result["newStoreIds"], known), (&json!([]), if look < 2 { 12 } else { 0 }));
        assert_eq!(harness.store.count(ENABLED).await, 12);
        hours_pass(&harness).await;
    }
    let ids = "SELECT count(*) FROM dispensaries WHERE platform_dispensary_id = ANY ($1)";
    let wanted: Vec<String> = sim.stores().iter().map(|seed| seed.platform_dispensary_id.clone()).collect();
    let known: i64 = harness.store.database.raw.query_one(ids, &[&wanted]).await.unwrap().get(0);
    assert_eq!((known, harness.store.count("SELECT count(*) FROM dispensaries").await), (12, stores));
}

#[tokio::test]
async fn a_store_that_is_listed_under_a_new_id_keeps_its_row_and_is_crawled_by_the_new_id() {
    let (sim, harness) = discovered().await;
    let seed = sim.stores()[0].clone();
    let raw = &harness.store.database.raw;
    for table in ["dispensaries", "found_stores"] {
        let sql =
            format!("UPDATE {table} SET platform_dispensary_id = 'an older id' WHERE platform_dispensary_id = $1");
        raw.execute(&sql, &[&seed.platform_dispensary_id]).await.unwrap();
    }
    let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!((&discovery.result["newStoreIds"], &discovery.result["closed"]), (&json!([]), &json!(0)));
    let row = "SELECT crawl_enabled FROM dispensaries WHERE platform_dispensary_id = $1";
    assert!(raw.query_one(row, &[&seed.platform_dispensary_id]).await.unwrap().get::<_, bool>(0));
    assert_eq!(
        harness.store.count("SELECT count(*) FROM dispensaries WHERE platform_dispensary_id = 'an older id'").await,
        0
    );
}
