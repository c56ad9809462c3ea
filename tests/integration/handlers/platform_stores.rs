//! Stores of one platform of a simulated world: their harnesses, and what the tables must hold of them.

use std::sync::Arc;
use std::time::Duration;

use db::demo::report;
use db::demo::report::products;
use db::demo::report::products::ProductRecord;
use domain::store::Platform;
use domain::task::role::Role;
use drover::{handlers, simulated};
use queue::{Committed, TaskError};
use serde_json::json;
use settings::Config;
use sim::platforms::jane;
use sim::{OracleProduct, OracleStore, PlatformSettings, ProxyFault, Settings, Simulator, StoreSeed};

use super::harness::HandlerHarness;
use super::simulated::{become_store, simulator};
use super::test_sessions;

/// The settings with which all platforms are the simulated ones.
pub fn config(sim: &Simulator) -> Config {
    let mut config = test_sessions::test_config(sim.base_url());
    simulated::point_at(sim, &mut config);
    config
}

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

/// Number of stores of a world that is as large as an operator's.
const STORES: usize = 60;
/// Products asked for at once: few, so that small menus have several pages.
const PER_PAGE: u32 = 20;
/// Positions of proxies: the first ones get blocked, another one is dead.
const BLOCKED_PROXIES: usize = 2;
const DEAD_PROXY: usize = 5;
/// Maximum number of runs of a fetch: more than there are faults of one.
const MAX_RUNS: usize = 6;

/// Crawls 60 stores of a platform twice, through proxies of which some get blocked and one is dead, and compares the rows with the
/// oracle each time. `disturb` makes the platform fail in a crawl.
pub async fn crawl_sixty_stores_twice(platform: Platform, disturb: fn(&Simulator)) {
    // so low that some menus are above it
    let platforms = PlatformSettings { jane: jane::Settings { ceiling: 40 }, ..PlatformSettings::default() };
    let settings = Settings { stores: STORES, products_per_store: 10..=70, platforms, ..Settings::default() };
    let sim = Simulator::start(Settings { blocked_proxies: BLOCKED_PROXIES, ..settings }).unwrap();
    sim.set_proxy_fault(DEAD_PROXY, ProxyFault::Refuse);
    let mut config = config(&sim);
    config.http.first_byte_timeout = Duration::from_secs(1);
    for settings in [&mut config.platform.jane, &mut config.platform.weedmaps, &mut config.platform.leafly] {
        settings.per_page = PER_PAGE;
    }
    let stores = harnesses(&sim, &config, platform, &sim.stores_of(platform)).await;

    for crawl in 1..=2 {
        sim.set_crawl(crawl);
        disturb(&sim);
        for store in &stores {
            crawl_in_spite_of_faults(store).await;
        }
        let expected = records(&sim.oracle_of(platform, crawl));
        assert_eq!(differences(&stores[0], platform, &expected).await, Vec::<String>::new(), "crawl {crawl}");
    }
    let counts = sim.counts();
    assert_eq!((counts.direct, counts.direct_connections, counts.other), (0, 0, 0));
    assert!(counts.proxies[..BLOCKED_PROXIES].iter().all(|proxy| proxy.blocked > 0), "{:?}", counts.proxies);
    assert_eq!(counts.proxies[DEAD_PROXY].requests, 0);
}

/// Runs a fetch until it succeeds, as the queue does, and its refresh.
async fn crawl_in_spite_of_faults(harness: &HandlerHarness) {
    for _ in 0..MAX_RUNS {
        let task = harness.task(Role::PayloadFetch, json!({})).await;
        match handlers::run(&harness.context(&task), task.role, &task.payload, None).await {
            Ok(outcome) => {
                let fetched = harness.commit(&task, outcome).await;
                let [refresh] = fetched.next.as_slice() else { panic!("not one follow-up: {:?}", fetched.next) };
                harness.settle(refresh.role, refresh.args.clone()).await;
                return;
            }
            Err(TaskError::Retry { .. } | TaskError::Snooze { .. }) => {}
            Err(error) => panic!("it failed for good: {error:?}"),
        }
    }
    panic!("it failed in each of {MAX_RUNS} runs");
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
