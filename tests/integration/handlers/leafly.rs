//! Stores of Leafly, the whole way: menus part by part, through the proxies, to rows with their stock; single stores and those
//! around a point.

use std::collections::BTreeSet;

use db::demo::report::products::ProductRecord;
use domain::store::Platform;
use domain::task::role::Role;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use settings::Config;
use sim::platforms::leafly::Fault;
use sim::{Settings, Simulator};

use super::harness::HandlerHarness;
use super::platform_stores::{self, change, config, discover, failure, one_store};
use super::simulated::{crawl, simulator};
use super::test_sessions;

async fn harnesses(sim: &Simulator, config: &Config) -> Vec<HandlerHarness> {
    platform_stores::harnesses(sim, config, Platform::Leafly, &sim.stores_of(Platform::Leafly)).await
}

/// The harness of a world with one store.
async fn harness(sim: &Simulator, config: &Config) -> HandlerHarness {
    harnesses(sim, config).await.remove(0)
}

/// Differences between the tables and what they must hold after that crawl.
async fn differences(harness: &HandlerHarness, sim: &Simulator, crawl: u32) -> Vec<String> {
    platform_stores::differences(harness, Platform::Leafly, &expected(sim, crawl)).await
}

fn expected(sim: &Simulator, crawl: u32) -> Vec<ProductRecord> {
    platform_stores::records(&sim.oracle_of(Platform::Leafly, crawl))
}

#[tokio::test]
async fn crawl_after_crawl_the_tables_of_several_stores_equal_the_oracle() {
    const CRAWLS: u32 = 6;
    let sim = simulator(Settings { stores: 4, products_per_store: 90..=160, ..Settings::default() });
    let stores = harnesses(&sim, &config(&sim)).await;
    for crawl_number in 1..=CRAWLS {
        sim.set_crawl(crawl_number);
        for store in &stores {
            crawl(store).await;
        }
        assert_eq!(differences(&stores[0], &sim, crawl_number).await, Vec::<String>::new(), "crawl {crawl_number}");
    }
    let records = expected(&sim, CRAWLS);
    let count = |is: &dyn Fn(&ProductRecord) -> bool| records.iter().filter(|record| is(record)).count();
    let stock = |record: &ProductRecord| (record.offer.stock_status.clone(), record.offer.quantity.is_some());
    let has_stock = |status: &str, is_counted: bool| count(&|record| stock(record) == (status.to_owned(), is_counted));
    let kinds = [
        ("out of stock by misses", count(&|record| record.consecutive_misses == 3)),
        ("for everyone", count(&|record| record.offer.price_rec.is_some())),
        ("for patients", count(&|record| record.offer.price_med.is_some())),
        ("on special", count(&|record| record.offer.is_on_special)),
        ("counted", has_stock("in_stock", true)),
        ("there, by a word alone", has_stock("in_stock", false)),
        ("sold out, by their number", has_stock("oos", true)),
        ("sold out, by a word alone", has_stock("oos", false)),
        ("of unknown stock", has_stock("unknown", false)),
        ("of several sizes", count(&|record| record.variants.len() > 1)),
        ("of sizes of unknown stock", count(&|record| record.variants.iter().any(|size| size.quantity.is_none()))),
        ("without a brand", count(&|record| record.brand.is_none())),
        ("without a picture", count(&|record| record.image_url.is_none())),
        ("in milligrams", count(&|record| record.offer.thc.unit.as_deref() == Some("MILLIGRAMS"))),
    ];
    assert!(kinds.iter().all(|(_, count)| *count > 0), "the crawls were too tame to tell: {kinds:?}");
    let specials = "SELECT count(*) FROM store_specials WHERE specials::jsonb->>'title' = 'Weekend sale'";
    assert!(stores[0].store.count(specials).await > 0);
    let counts = sim.counts();
    assert_eq!((counts.direct, counts.direct_connections, counts.blocked, counts.other), (0, 0, 0, 0));
}

#[tokio::test]
async fn sixty_stores_are_crawled_whole_through_proxies_that_are_blocked_and_dead() {
    let disturb = |sim: &Simulator| {
        sim.break_leafly(Fault::Throttled, 2);
        sim.lose_leafly_product();
    };
    platform_stores::crawl_sixty_stores_twice(Platform::Leafly, disturb).await;
}

#[tokio::test]
async fn more_products_than_it_lets_a_client_take_are_never_asked_for() {
    let sim = one_store(220);
    let mut config = config(&sim);
    config.platform.leafly.per_page = 150;
    let harness = harness(&sim, &config).await;
    crawl(&harness).await;
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
    let parts = expected(&sim, 1).len().div_ceil(50);
    let counts = sim.counts();
    assert_eq!((counts.platforms.leafly.menus, counts.other), (parts as u64, 0));
}

#[tokio::test]
async fn a_product_that_goes_between_two_parts_makes_no_other_one_missing() {
    let sim = one_store(150);
    let harness = harness(&sim, &config(&sim)).await;
    crawl(&harness).await;
    let parts = sim.counts().platforms.leafly.menus;

    sim.set_crawl(2);
    sim.lose_leafly_product();
    crawl(&harness).await;

    assert_eq!(differences(&harness, &sim, 2).await, Vec::<String>::new());
    assert!(sim.counts().platforms.leafly.menus > 2 * parts, "no part was asked for again");
}

#[tokio::test]
async fn a_menu_is_whole_after_a_wait_that_was_asked_for() {
    let sim = one_store(130);
    let harness = harness(&sim, &config(&sim)).await;
    sim.break_leafly(Fault::Throttled, 1);
    crawl(&harness).await;
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
    let counts = sim.counts();
    assert_eq!((counts.faults, counts.direct), (1, 0));
}

#[tokio::test]
async fn no_product_is_lost_to_a_menu_that_is_hidden() {
    let sim = one_store(60);
    let harness = harness(&sim, &config(&sim)).await;
    crawl(&harness).await;

    sim.break_leafly(Fault::NoPublicMenu, 4);
    let reason = failure(&harness).await;

    assert!(reason.contains("empty menu"), "{reason}");
    assert_eq!(harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await, 1);
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_menu_of_an_unknown_slug_is_not_found() {
    let sim = one_store(30);
    let harness = harness(&sim, &config(&sim)).await;
    change(&harness, "platform_dispensary_id = 'renamed', slug = 'renamed'").await;
    let Err(TaskError::Permanent { reason }) = harness.run(Role::PayloadFetch, json!({})).await else {
        panic!("no menu")
    };
    assert!(reason.contains("correct its address with `drover stores edit`"), "{reason}");
    assert_eq!(sim.counts().requests, 1);
}

#[rstest]
#[case::its_menu_url("slug = NULL")]
#[case::its_slug("menu_url = NULL")]
#[tokio::test]
async fn a_store_is_looked_up_by(#[case] without: &str) {
    let sim = one_store(30);
    let harness = harness(&sim, &config(&sim)).await;
    change(&harness, &format!("platform_dispensary_id = NULL, {without}")).await;

    let settled = harness.settle(Role::EntryPointDiscovery, json!({})).await;

    assert_eq!(settled.result["platform_dispensary_id"], sim.stores_of(Platform::Leafly)[0].slug);
    assert_eq!(settled.next[0].role, Role::ProductDiscovery);
    let counts = sim.counts();
    assert_eq!((counts.platforms.leafly.menus, counts.requests, counts.direct), (1, 1, 0));
}

#[tokio::test]
async fn a_discovery_finds_the_stores_around_the_points_of_a_state() {
    let sim = simulator(Settings { stores: 40, products_per_store: 20..=20, ..Settings::default() });
    // the nameless ones and those abroad are in this state, too
    let of_state: Vec<_> = sim.stores_of(Platform::Leafly).into_iter().filter(|seed| seed.state == "AZ").collect();
    assert!(of_state.len() > 2, "they fit on one page");
    let harness = HandlerHarness::configured(&config(&sim), test_sessions::proxies(&sim)).await;
    change(&harness, "platform = 'leafly', platform_dispensary_id = 'other', slug = NULL, menu_url = NULL").await;

    let found = discover(&harness, Platform::Leafly, "AZ").await;

    let sql = "SELECT platform_dispensary_id, menu_url, address IS NOT NULL FROM dispensaries
                WHERE platform = 'leafly' AND platform_dispensary_id <> 'other' AND state = 'AZ'";
    let rows = harness.store.database.raw.query(sql, &[]).await.unwrap();
    let promoted: BTreeSet<(String, String, bool)> =
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let expected = of_state.into_iter().map(|seed| (seed.platform_dispensary_id, seed.menu_url, true));
    assert_eq!(promoted, expected.collect(), "{}", found.result);
    assert_eq!((sim.counts().direct, sim.counts().platforms.leafly.stores > 1), (0, true));
}
