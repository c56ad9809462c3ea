//! Prices by unit: which are written beside an option and into its history, and when they are written again. Bundles likewise.

use domain::menu::bundle::{Bundle, Discount};
use domain::menu::product::{Potency, PotencyUnit, Product, SpecialsJson, Variant};
use domain::task::role::Role;
use serde_json::json;

use super::harness::HandlerHarness;
use super::test_store::{TestStore, at, product, variant};

const CURRENT: &str = "SELECT concat_ws(' ', option_label, rec_per_g, rec_per_ml, rec_per_mg_thc, thc_mg, unit_basis, no_unit_price, no_thc_price)
                         FROM store_product_variants ORDER BY position";
const HISTORY: &str = "SELECT concat_ws(' ', option_label, rec_per_g, unit_basis, gone)
                         FROM store_product_variant_history ORDER BY crawled_at, crawl_id, option_label, nth";

const BUNDLES: &str = "SELECT concat_ws(' ', option_label, bundle_quantity, bundle_total, bundle_per_g, rec_per_g)
                         FROM store_product_variants ORDER BY position";

fn flower(percent: f64, variants: Vec<Variant>) -> Product {
    let thc = Potency { min: Some(percent), max: Some(percent), unit: Some(PotencyUnit::Percentage) };
    Product { thc: Some(thc), variants, ..product("a") }
}

fn eighth(price: i32) -> Variant {
    Variant { size_mg: Some(3500), ..variant("1/8oz", 0, price) }
}

impl TestStore {
    async fn texts(&self, sql: &str) -> Vec<String> {
        self.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

#[tokio::test]
async fn an_option_has_its_prices_by_unit_or_the_reasons_for_which_it_has_none() {
    let store = TestStore::new().await;
    let each = Variant { size_mg: None, ..variant("each", 0, 1500) };
    store.crawl(0, vec![flower(20.0, vec![eighth(3500), each])]).await;
    assert_eq!(
        store.texts(CURRENT).await,
        ["1/8oz 1000000 5000 700 weight", "each no_size no_size"],
        "$10.00 a gram, and 5 cents a milligram of THC"
    );
    assert_eq!(store.texts(HISTORY).await, ["1/8oz 1000000 weight f", "each f"]);
}

#[tokio::test]
async fn another_potency_changes_the_option_and_not_its_history() {
    let store = TestStore::new().await;
    store.crawl(0, vec![flower(20.0, vec![eighth(3500)])]).await;
    store.crawl(1, vec![flower(25.0, vec![eighth(3500)])]).await;
    assert_eq!(store.texts(CURRENT).await, ["1/8oz 1000000 4000 875 weight"]);
    assert_eq!(store.texts(HISTORY).await.len(), 1);
    assert_eq!(store.count("SELECT count(*) FROM product_changes").await, 0);

    store.crawl(2, vec![flower(25.0, vec![eighth(2800)])]).await;
    assert_eq!(store.texts(HISTORY).await[1], "1/8oz 800000 weight f");
}

#[tokio::test]
async fn options_of_a_release_before_get_their_prices_by_the_next_crawl() {
    let store = TestStore::new().await;
    let menu = vec![flower(20.0, vec![eighth(3500)])];
    store.crawl(0, menu.clone()).await;
    let before =
        "UPDATE store_product_variants SET rec_per_g = NULL, rec_per_mg_thc = NULL, thc_mg = NULL, unit_basis = NULL;
                  UPDATE dispensaries SET hashed_payload_id = NULL";
    store.database.raw.batch_execute(before).await.unwrap();
    store.crawl(1, menu).await;
    assert_eq!(store.texts(CURRENT).await, ["1/8oz 1000000 5000 700 weight"]);
}

#[tokio::test]
async fn an_option_that_sells_out_by_misses_keeps_its_prices_by_unit() {
    let store = TestStore::new().await;
    store.crawl(0, vec![flower(20.0, vec![eighth(3500)])]).await;
    for second in 1..=3 {
        store.crawl(second, Vec::new()).await;
    }
    assert_eq!(store.texts(HISTORY).await, ["1/8oz 1000000 weight f"; 2]);
}

#[tokio::test]
async fn a_product_has_the_category_that_covers_its_platforms_word() {
    let store = TestStore::new().await;
    let of = |id: &str, category: Option<&str>| Product { category: category.map(str::to_owned), ..product(id) };
    store.crawl(0, vec![of("a", Some("Pre-Rolls")), of("b", Some("Unheard of")), of("c", None)]).await;
    let categories = "SELECT coalesce(canonical_category, '-') FROM v_products ORDER BY provider_product_id";
    assert_eq!(store.texts(categories).await, ["pre_roll", "-", "-"]);

    store.crawl(1, vec![of("a", Some("Edible"))]).await;
    assert_eq!(store.texts(categories).await, ["edible", "-", "-"]);
}

fn with_specials(name: &str, bundle: Option<Bundle>) -> Product {
    let specials = SpecialsJson::new(json!({ "bogoSpecials": [{ "specialName": name }] }).to_string());
    let bundles = bundle.into_iter().collect();
    Product { specials: Some(specials.with_bundles(bundles)), ..flower(20.0, vec![eighth(3000)]) }
}

#[tokio::test]
async fn an_option_has_its_bundle_while_the_special_lasts_and_nothing_else_changes() {
    let store = TestStore::new().await;
    let half_off = Bundle::with_reward(1, 1, Discount::Percent(5000));
    store.crawl(0, vec![with_specials("none", None)]).await;
    assert_eq!(store.texts(BUNDLES).await, ["1/8oz 857143"]);
    for (second, bundle, expected) in [
        (1, Bundle::for_total(2, 5000), "1/8oz 2 5000 714286 857143"),
        (2, half_off, "1/8oz 2 4500 642857 857143"),
        (3, Bundle::for_total(2, 6001), "1/8oz 857143"),
    ] {
        store.crawl(second, vec![with_specials(&format!("special {second}"), bundle)]).await;
        assert_eq!(store.texts(BUNDLES).await, [expected]);
    }
    assert_eq!(store.count("SELECT count(*) FROM product_changes").await, 0);
    assert_eq!(store.texts(HISTORY).await.len(), 1);
}

#[tokio::test]
async fn a_replay_writes_the_bundles_that_a_release_before_did_not() {
    let harness = HandlerHarness::new().await;
    let special = json!({ "specialName": "Buy 2 get 1 free" });
    let product = json!({ "_id": "a", "Name": "Kush", "type": "Flower", "Options": ["1/8oz"], "Prices": [30],
                          "specialData": { "bogoSpecials": [special] } });
    let page = json!({ "data": { "filteredProducts": { "products": [product], "queryInfo": { "totalCount": 1, "totalPages": 1 } } } });
    harness.payload(at(0), &[&page.to_string()]).await;
    harness.settle(Role::ProductRefresh, json!({})).await;
    let written = harness.store.texts(BUNDLES).await;
    assert_eq!(written, ["1/8oz 3 6000 571429 857143"]);

    let before = "UPDATE store_product_variants SET bundle_quantity = NULL, bundle_total = NULL, bundle_per_g = NULL";
    harness.store.database.raw.batch_execute(before).await.unwrap();
    harness.settle(Role::ProductRefresh, json!({})).await;
    assert_eq!(harness.store.texts(BUNDLES).await, written);
}
