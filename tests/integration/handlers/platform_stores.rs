//! Stores of one platform of a simulated world: their harnesses, and what the tables must hold of them.

use std::sync::Arc;

use db::demo::report;
use db::demo::report::products;
use db::demo::report::products::ProductRecord;
use domain::store::Platform;
use domain::task::role::Role;
use drover::{handlers, simulated};
use queue::Committed;
use serde_json::json;
use settings::Config;
use sim::{OracleProduct, OracleStore, Settings, Simulator, StoreSeed};

use super::harness::HandlerHarness;
use super::simulated::{become_store, simulator};
use super::test_sessions;

/// A world with one store.
pub fn one_store(products: usize) -> Simulator {
    simulator(Settings { stores: 1, products_per_store: products..=products, ..Settings::default() })
}

/// Harnesses of one service, one for each of the platform's stores.
pub async fn harnesses(
    sim: &Simulator,
    config: &Config,
    platform: Platform,
    seeds: &[StoreSeed],
) -> Vec<HandlerHarness> {
    let first = HandlerHarness::configured(config, test_sessions::proxies(sim)).await;
    let mut others = Vec::new();
    for number in 1..seeds.len() {
        others.push(HandlerHarness {
            store: first.store.beside(&format!("Store {number}")).await,
            storage: tempfile::tempdir().unwrap(),
            services: Arc::clone(&first.services),
        });
    }
    change(&first, &format!("platform = '{platform}'")).await;
    let all: Vec<HandlerHarness> = std::iter::once(first).chain(others).collect();
    for (harness, seed) in all.iter().zip(seeds) {
        become_store(harness, seed, Some(&seed.platform_dispensary_id)).await;
    }
    all
}

/// Changes the rows of all stores.
pub async fn change(harness: &HandlerHarness, set: &str) {
    harness.store.database.raw.batch_execute(&format!("UPDATE dispensaries SET {set}")).await.unwrap();
}

/// Why a fetch fails, for good or not.
pub async fn failure(harness: &HandlerHarness) -> String {
    format!("{:?}", harness.run(Role::PayloadFetch, json!({})).await.err().expect("it fails"))
}

/// Discovers the platform's stores in a state.
pub async fn discover(harness: &HandlerHarness, platform: Platform, state: &str) -> Committed {
    let mut task = harness.task(Role::StoreDiscovery, json!({ "state_code": state })).await;
    task.platform = Some(platform.name().to_owned());
    let outcome = handlers::run(&harness.context(&task), task.role, &task.payload, None).await.unwrap();
    harness.commit(&task, outcome).await
}

/// Differences between the tables and what they must hold.
pub async fn differences(harness: &HandlerHarness, platform: Platform, expected: &[ProductRecord]) -> Vec<String> {
    let client = harness.services.db.client().await.unwrap();
    let found = products::all(&client, platform).await.unwrap();
    report::differences("product", &found, expected)
}

/// The rows that the oracle's stores have.
pub fn records(stores: &[OracleStore]) -> Vec<ProductRecord> {
    let of_store = |store: &OracleStore| -> Vec<ProductRecord> {
        let record = |truth: &OracleProduct| simulated::product_record(&store.platform_dispensary_id, truth);
        store.products.iter().map(record).collect()
    };
    stores.iter().flat_map(of_store).collect()
}
