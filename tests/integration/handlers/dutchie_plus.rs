//! Stores by Dutchie Plus, the whole way: one call behind a key, through the proxies, to rows.

use std::collections::BTreeMap;

use db::demo::report::products;
use db::demo::report::products::ProductRecord;
use domain::store::{NewStore, Platform};
use domain::task::role::Role;
use queue::TaskError;
use serde_json::json;
use settings::Config;
use sim::platforms::dutchie_plus::KEY;
use sim::{OracleProduct, Settings, Simulator};

use super::harness::HandlerHarness;
use super::test_sessions;
use super::test_store::new_store;
use contract::stores::StoreChange;
use drover::platforms::MenuAddresses;

fn simulator() -> Simulator {
    let settings = Settings { stores: 1, products_per_store: 250..=250, ..Settings::default() };
    Simulator::start(Settings { proxies: 3, blocked_proxies: 0, ..settings }).unwrap()
}

fn config(sim: &Simulator, key: &str) -> Config {
    let mut config = test_sessions::test_config("https://dutchie.com");
    config.platform.dutchie_plus.base_url = sim.base_url().to_owned();
    config.platform.dutchie_plus.key = key.into();
    config
}

/// Its store is the simulator's, by the id of its retailer.
async fn harness(sim: &Simulator, key: &str) -> HandlerHarness {
    let harness = HandlerHarness::configured(&config(sim, key), test_sessions::proxies(sim)).await;
    let sql = "UPDATE dispensaries SET platform = 'dutchie_plus', platform_dispensary_id = $1, slug = NULL, api_host = 'elsewhere.example'";
    harness.store.database.raw.execute(sql, &[&sim.stores()[0].platform_dispensary_id]).await.unwrap();
    harness
}

async fn records(harness: &HandlerHarness) -> BTreeMap<String, ProductRecord> {
    let client = harness.services.db.client().await.unwrap();
    let records = products::all(&client, Platform::DutchiePlus).await.unwrap();
    records.into_iter().map(|record| (record.provider_product_id.clone(), record)).collect()
}

/// Compares a product read in both ways of one platform.
fn compare(record: &ProductRecord, truth: &OracleProduct) {
    let id = &truth.provider_product_id;
    assert_eq!((&record.name, record.category.as_deref()), (&truth.name, truth.category), "{id}");
    assert_eq!(record.subcategory.as_deref(), truth.subcategory, "{id}");
    let offer = &record.offer;
    assert_eq!((offer.price_rec, offer.special_price_rec), (truth.price_rec, truth.special_price_rec), "{id}");
    assert_eq!((offer.price_med, offer.special_price_med), (truth.price_med, truth.special_price_med), "{id}");
    assert_eq!((offer.stock_status.as_str(), offer.is_in_stock), (truth.stock_status, truth.is_in_stock), "{id}");
    for variant in &truth.variants {
        let of_label = |row: &&domain::menu::product::Variant| {
            (row.option_label.as_str(), row.nth) == (variant.label, variant.nth)
        };
        let row = record.variants.iter().find(of_label).unwrap_or_else(|| panic!("{id}: {}", variant.label));
        assert_eq!((row.price_rec, row.special_price_rec), (variant.price_rec, variant.special_price_rec), "{id}");
        assert_eq!((row.price_med, row.special_price_med), (variant.price_med, variant.special_price_med), "{id}");
        assert!(variant.quantity_censored || row.quantity == variant.quantity, "{id}: {row:?}");
    }
}

/// Why a fetch fails for good.
async fn refusal(harness: &HandlerHarness) -> String {
    match harness.run(Role::PayloadFetch, json!({})).await {
        Err(TaskError::Permanent { reason }) => reason,
        other => panic!("{:?}", other.err()),
    }
}

#[tokio::test]
async fn one_call_behind_the_key_is_a_whole_crawl() {
    let sim = simulator();
    let harness = harness(&sim, KEY).await;
    for crawl in 1..=3 {
        sim.set_crawl(crawl);
        let fetched = harness.settle(Role::PayloadFetch, json!({})).await;
        let refresh = &fetched.next[0];
        harness.settle(refresh.role, refresh.args.clone()).await;

        let records = records(&harness).await;
        let truths = sim.oracle(crawl).remove(0).products;
        // the inactive ones are not on this menu
        let listed: Vec<_> = truths.iter().filter(|truth| truth.is_present).collect();
        let found: Vec<_> =
            listed.iter().filter_map(|truth| Some((records.get(&truth.provider_product_id)?, truth))).collect();
        assert!(found.len() * 100 > listed.len() * 90, "{} of {}", found.len(), listed.len());
        let active = found.iter().filter(|(record, _)| record.consecutive_misses == 0);
        active.for_each(|(record, truth)| compare(record, truth));
    }
    let counts = sim.counts();
    assert_eq!((counts.platforms.dutchie_plus.menus, counts.direct, counts.key_refused), (3, 0, 0));
}

#[tokio::test]
async fn a_key_that_is_refused_fails_for_good_and_blames_no_proxy() {
    let sim = simulator();
    let harness = harness(&sim, "another-key").await;
    let reason = refusal(&harness).await;
    assert_eq!(reason, "127.0.0.1 refuses the configured key: ask the platform for a valid one, then set it");
    let counts = sim.counts();
    assert_eq!((counts.requests, counts.key_refused), (1, 1));
}

#[tokio::test]
async fn without_a_key_nothing_is_sent() {
    let sim = simulator();
    let harness = harness(&sim, "").await;
    let reason = refusal(&harness).await;
    assert!(reason.contains("platform.dutchie_plus.key is not set"), "{reason}");
    assert_eq!(sim.counts().requests, 0);
}

#[tokio::test]
async fn a_discovery_fails_for_good_and_says_where_its_stores_come_from() {
    let sim = simulator();
    let harness = harness(&sim, KEY).await;
    let mut task = harness.task(Role::StoreDiscovery, json!({})).await;
    task.platform = Some(Platform::DutchiePlus.name().to_owned());
    let failed = drover::handlers::run(&harness.context(&task), Role::StoreDiscovery, &task.payload, None).await;
    let Some(TaskError::Permanent { reason }) = failed.err() else { panic!("it is no permanent failure") };
    assert_eq!(reason, "dutchie_plus lists no stores: import them with `drover stores import`");
    assert_eq!(sim.counts().requests, 0);
}

#[tokio::test]
async fn a_store_that_moves_to_another_platform_keeps_its_history() {
    let sim = simulator();
    let id = sim.stores()[0].platform_dispensary_id.clone();
    let mut config = config(&sim, KEY);
    config.platform.dutchie.base_url = sim.base_url().to_owned();
    let harness = HandlerHarness::configured(&config, test_sessions::proxies(&sim)).await;
    let raw = &harness.store.database.raw;
    let before = "UPDATE dispensaries SET platform = 'dutchie_plus', platform_dispensary_id = $1, slug = NULL, api_host = 'menus.example'";
    raw.execute(before, &[&id]).await.unwrap();
    crawl(&harness).await;
    let history = count(&harness, "store_product_variant_history").await;

    let urls = MenuAddresses::of(&config);
    let moved = StoreChange {
        platform: Some(Platform::Dutchie),
        platform_dispensary_id: Some(Some(id.clone())),
        ..StoreChange::default()
    };
    let tx = harness.services.db.begin().await.unwrap();
    db::stores::requests::change(&tx, harness.store.id, &moved, &urls).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(count(&harness, "store_products WHERE is_in_stock").await, 0, "what the former menu had is sold out");
    sim.set_crawl(2);
    crawl(&harness).await;

    assert!(count(&harness, "store_product_variant_history").await > history);
    assert!(count(&harness, "store_products WHERE provider = 'dutchie' AND is_in_stock").await > 0);
    assert_eq!(count(&harness, "store_products WHERE provider = 'dutchie_plus' AND is_in_stock").await, 0);
    assert_eq!(count(&harness, "product_changes").await, 0, "a move is no change of prices or stock");
    let known = NewStore { platform: Platform::DutchiePlus, platform_dispensary_id: Some(id), ..new_store("Again") };
    let tx = harness.services.db.begin().await.unwrap();
    let added = db::stores::add_unless_known(&tx, &[known], &drover::platforms::menu_key).await.unwrap();
    assert_eq!((added[0].id, added[0].is_known), (harness.store.id, true), "its former id is its own");
}

/// One fetch with its refresh.
async fn crawl(harness: &HandlerHarness) {
    let fetched = harness.settle(Role::PayloadFetch, json!({})).await;
    let refresh = &fetched.next[0];
    harness.settle(refresh.role, refresh.args.clone()).await;
}

async fn count(harness: &HandlerHarness, rows: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {rows}");
    harness.store.database.raw.query_one(&sql, &[]).await.unwrap().get(0)
}
