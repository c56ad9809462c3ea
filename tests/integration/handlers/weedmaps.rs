//! Stores of Weedmaps, the whole way: menus page by page under drover's own name, through the proxies, to rows; single listings and
//! those around a point.

use std::collections::BTreeSet;
use std::time::Duration;

use db::demo::report::products::ProductRecord;
use domain::store::Platform;
use domain::task::role::Role;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use settings::Config;
use sim::platforms::weedmaps::Fault;
use sim::{Settings, Simulator};

use super::harness::HandlerHarness;
use super::platform_stores::{self, change, config, discover, failure, one_store};
use super::simulated::{crawl, simulator};
use super::test_sessions;

async fn harnesses(sim: &Simulator, config: &Config) -> Vec<HandlerHarness> {
    platform_stores::harnesses(sim, config, Platform::Weedmaps, &sim.stores_of(Platform::Weedmaps)).await
}

/// The harness of a world with one store.
async fn harness(sim: &Simulator, config: &Config) -> HandlerHarness {
    harnesses(sim, config).await.remove(0)
}

/// Differences between the tables and what they must hold after that crawl.
async fn differences(harness: &HandlerHarness, sim: &Simulator, crawl: u32) -> Vec<String> {
    platform_stores::differences(harness, Platform::Weedmaps, &expected(sim, crawl)).await
}

fn expected(sim: &Simulator, crawl: u32) -> Vec<ProductRecord> {
    platform_stores::records(&sim.oracle_of(Platform::Weedmaps, crawl))
}

async fn payloads(harness: &HandlerHarness) -> i64 {
    harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await
}

#[tokio::test]
async fn crawl_after_crawl_the_tables_of_several_stores_equal_the_oracle() {
    const CRAWLS: u32 = 5;
    let sim = simulator(Settings { stores: 4, products_per_store: 140..=240, ..Settings::default() });
    let stores = harnesses(&sim, &config(&sim)).await;
    for crawl_number in 1..=CRAWLS {
        sim.set_crawl(crawl_number);
        for store in &stores {
            crawl(store).await;
        }
        assert_eq!(differences(&stores[0], &sim, crawl_number).await, Vec::<String>::new(), "crawl {crawl_number}");
    }
    let records = expected(&sim, CRAWLS);
    let is_of = |unit: &'static str| move |record: &&ProductRecord| record.offer.thc.unit.as_deref() == Some(unit);
    let is_for = |rec: bool, med: bool| {
        move |record: &&ProductRecord| {
            (record.offer.price_rec.is_some(), record.offer.price_med.is_some()) == (rec, med)
        }
    };
    let kinds = [
        ("out of stock by misses", records.iter().filter(|record| record.consecutive_misses == 3).count()),
        ("for everyone alone", records.iter().filter(is_for(true, false)).count()),
        ("for patients alone", records.iter().filter(is_for(false, true)).count()),
        ("for both", records.iter().filter(is_for(true, true)).count()),
        ("on special", records.iter().filter(|record| record.offer.is_on_special).count()),
        ("without a picture", records.iter().filter(|record| record.image_url.is_none()).count()),
        ("without a brand", records.iter().filter(|record| record.brand.is_none()).count()),
        ("in per cent", records.iter().filter(is_of("PERCENTAGE")).count()),
        ("in milligrams", records.iter().filter(is_of("MILLIGRAMS")).count()),
    ];
    assert!(kinds.iter().all(|(_, count)| *count > 0), "the crawls were too tame to tell: {kinds:?}");
    let specials = "SELECT count(*) FROM store_specials WHERE specials::jsonb->>'current_deal_title' = 'Weekend sale'";
    assert!(stores[0].store.count(specials).await > 0);
    let counts = sim.counts();
    assert_eq!((counts.direct, counts.direct_connections, counts.blocked, counts.other), (0, 0, 0, 0));
}

#[tokio::test]
async fn sixty_stores_are_crawled_whole_through_proxies_that_are_blocked_and_dead() {
    let disturb = |sim: &Simulator| {
        let faults = [Fault::Silent, Fault::SoftBlock, Fault::NoLiveMenu, Fault::Unprocessable];
        faults.into_iter().for_each(|fault| sim.break_weedmaps(fault, 1));
    };
    platform_stores::crawl_sixty_stores_twice(Platform::Weedmaps, disturb).await;
}

#[tokio::test]
async fn a_page_that_holds_fewer_than_were_asked_for_does_not_end_the_menu() {
    let sim = one_store(420);
    let mut config = config(&sim);
    config.platform.weedmaps.per_page = 150;
    let harness = harness(&sim, &config).await;
    crawl(&harness).await;
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
    let pages = expected(&sim, 1).len().div_ceil(100);
    assert_eq!(sim.counts().platforms.weedmaps.menus, pages as u64);
}

#[tokio::test]
async fn as_a_browser_it_is_refused() {
    let sim = one_store(30);
    let mut config = config(&sim);
    config.platform.weedmaps.identity = "browser".to_owned();
    let harness = harness(&sim, &config).await;
    let reason = failure(&harness).await;
    assert!(reason.contains("refused the request: 406"), "{reason}");
    let counts = sim.counts();
    assert_eq!((counts.platforms.weedmaps.menus, counts.blocked > 0, counts.direct), (0, true, 0));
}

#[rstest]
#[case::while_it_is_switched_off(|config: &mut Config| config.platform.weedmaps.enabled = false, "platform.weedmaps.enabled is false")]
#[case::without_a_contact(|config: &mut Config| config.http.own_contact.clear(), "http.own_contact is not set")]
#[tokio::test]
async fn nothing_is_sent(#[case] change: fn(&mut Config), #[case] expected: &str) {
    let sim = one_store(30);
    let mut config = config(&sim);
    change(&mut config);
    let harness = harness(&sim, &config).await;
    for role in [Role::PayloadFetch, Role::EntryPointDiscovery] {
        let Err(TaskError::Permanent { reason }) = harness.run(role, json!({})).await else { panic!("{role}") };
        assert!(reason.contains(expected), "{reason}");
    }
    let mut task = harness.task(Role::StoreDiscovery, json!({})).await;
    task.platform = Some(Platform::Weedmaps.name().to_owned());
    let ended = drover::handlers::run(&harness.context(&task), task.role, &task.payload, None).await;
    let Err(TaskError::Permanent { reason }) = ended else { panic!("a discovery") };
    assert!(reason.contains(expected), "{reason}");
    assert_eq!(sim.counts().requests, 0);
}

#[rstest]
#[case::a_socket_that_is_silent(Fault::Silent)]
#[case::an_empty_page(Fault::SoftBlock)]
#[case::a_menu_that_is_not_live(Fault::NoLiveMenu)]
#[tokio::test]
async fn a_menu_is_whole_in_spite_of(#[case] fault: Fault) {
    let sim = one_store(230);
    let mut config = config(&sim);
    config.http.first_byte_timeout = Duration::from_secs(1);
    let harness = harness(&sim, &config).await;
    sim.break_weedmaps(fault, 1);
    crawl(&harness).await;
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
    let counts = sim.counts();
    assert_eq!((counts.faults, counts.direct), (1, 0));
    assert!(counts.proxies.iter().filter(|proxy| proxy.requests > 0).count() > 1, "{:?}", counts.proxies);
}

#[rstest]
#[case::empty_pages(Fault::SoftBlock, "the menu came back empty")]
#[case::menus_that_are_not_live(Fault::NoLiveMenu, "empty menu")]
#[case::refused_questions(Fault::Unprocessable, "page_size is too large")]
#[tokio::test]
async fn no_product_is_lost_to(#[case] fault: Fault, #[case] expected: &str) {
    let sim = one_store(130);
    let harness = harness(&sim, &config(&sim)).await;
    crawl(&harness).await;

    sim.break_weedmaps(fault, 20);
    let reason = failure(&harness).await;

    assert!(reason.contains(expected), "{reason}");
    assert_eq!(payloads(&harness).await, 1);
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_menu_of_the_other_kind_of_listing_is_not_found() {
    let sim = one_store(30);
    let harness = harness(&sim, &config(&sim)).await;
    change(&harness, "menu_url = replace(menu_url, 'dispensaries', 'deliveries')").await;
    let Err(TaskError::Permanent { reason }) = harness.run(Role::PayloadFetch, json!({})).await else {
        panic!("no menu")
    };
    assert!(reason.contains("correct its address with `drover stores edit`"), "{reason}");
    assert_eq!(sim.counts().requests, 1);
}

#[tokio::test]
async fn the_slug_of_no_storefront_is_a_couriers() {
    let sim = simulator(Settings { stores: 2, products_per_store: 30..=30, ..Settings::default() });
    let courier = sim.stores_of(Platform::Weedmaps).remove(1);
    let harness = platform_stores::harnesses(&sim, &config(&sim), Platform::Weedmaps, std::slice::from_ref(&courier))
        .await
        .remove(0);
    change(&harness, &format!("menu_url = NULL, slug = '{}'", courier.slug)).await;
    sim.break_weedmaps(Fault::NotFound, 1);

    crawl(&harness).await;

    assert!(harness.store.count("SELECT count(*) FROM store_products").await > 0);
    let counts = sim.counts();
    assert_eq!((counts.platforms.weedmaps.menus, counts.platforms.weedmaps.stores, counts.direct), (2, 1, 0));
    change(&harness, "platform_dispensary_id = 'another'").await;
    sim.break_weedmaps(Fault::NotFound, 1);
    assert!(failure(&harness).await.contains("no store at"), "the courier of that slug is another store");
}

#[rstest]
#[case::a_storefront_by_its_menu_url(0, "slug = NULL")]
#[case::a_storefront_by_its_slug(0, "menu_url = NULL")]
#[case::a_courier_of_the_same_slug(1, "name = name")]
#[tokio::test]
async fn a_store_without_an_id_is_looked_up(#[case] store: usize, #[case] without: &str) {
    let sim = simulator(Settings { stores: 2, products_per_store: 30..=30, ..Settings::default() });
    let all = harnesses(&sim, &config(&sim)).await;
    change(&all[0], &format!("platform_dispensary_id = NULL, {without}")).await;

    let settled = all[store].settle(Role::EntryPointDiscovery, json!({})).await;

    let seed = sim.stores_of(Platform::Weedmaps).remove(store);
    assert_eq!(settled.result["platform_dispensary_id"], seed.platform_dispensary_id);
    assert_eq!(settled.next[0].role, Role::ProductDiscovery);
    let counts = sim.counts();
    assert_eq!((counts.platforms.weedmaps.stores, counts.requests, counts.direct), (1, 1, 0));
}

#[tokio::test]
async fn a_discovery_finds_the_open_stores_around_the_points_of_a_state() {
    let sim = simulator(Settings { stores: 40, products_per_store: 20..=20, ..Settings::default() });
    let of_state: Vec<_> = sim.stores_of(Platform::Weedmaps).into_iter().filter(|seed| seed.state == "AZ").collect();
    assert!(of_state.len() > 2, "they fit on one page");
    let harness = HandlerHarness::configured(&config(&sim), test_sessions::proxies(&sim)).await;
    change(&harness, "platform = 'weedmaps', platform_dispensary_id = 'other', slug = NULL, menu_url = NULL").await;

    let found = discover(&harness, Platform::Weedmaps, "AZ").await;

    let sql =
        "SELECT platform_dispensary_id, menu_url, slug, address IS NOT NULL AND timezone IS NOT NULL FROM dispensaries
                WHERE platform = 'weedmaps' AND platform_dispensary_id <> 'other' AND state = 'AZ'";
    let rows = harness.store.database.raw.query(sql, &[]).await.unwrap();
    let path = |menu_url: &str| menu_url.split('/').skip(3).collect::<Vec<_>>().join("/");
    let promoted: BTreeSet<(String, String, Option<String>, bool)> =
        rows.iter().map(|row| (row.get(0), path(row.get(1)), row.get(2), row.get(3))).collect();
    let expected = of_state.into_iter().map(|seed| {
        let path = path(&seed.menu_url);
        let slug = (!path.starts_with("deliveries")).then_some(seed.slug);
        (seed.platform_dispensary_id, path, slug, true)
    });
    assert_eq!(promoted, expected.collect(), "{}", found.result);
    assert_eq!(sim.counts().direct, 0);
}
