//! Stores of Jane, the whole way: menus behind a key, through the proxies, to rows; single stores and those around a point.

use std::collections::BTreeSet;
use std::sync::Arc;

use db::demo::report::products::ProductRecord;
use db::tasks::{self, NewTask};
use domain::store::Platform;
use domain::task::role::Role;
use drover::app;
use foundation::clock::Clock;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use settings::{Config, LiveConfig};
use sim::platforms::jane::FIRST_KEY;
use sim::{Settings, Simulator};
use testkit::{Child, Farm, PATIENCE, until};

use super::harness::HandlerHarness;
use super::platform_stores::{self, change, discover, one_store};
use super::simulated::{crawl, simulator};
use super::test_sessions;
use super::test_store::TestStore;
use crate::api::canaries::{Canaries, rows};

fn config(sim: &Simulator, key: &str, per_page: u32) -> Config {
    let mut config = platform_stores::config(sim);
    config.platform.jane.key = key.into();
    config.platform.jane.per_page = per_page;
    config
}

async fn harnesses(sim: &Simulator, config: &Config) -> Vec<HandlerHarness> {
    platform_stores::harnesses(sim, config, Platform::Jane, &sim.stores_of(Platform::Jane)).await
}

/// The harness of a world with one store.
async fn harness(sim: &Simulator, config: &Config) -> HandlerHarness {
    harnesses(sim, config).await.remove(0)
}

/// Differences between the tables and what they must hold after that crawl.
async fn differences(harness: &HandlerHarness, sim: &Simulator, crawl: u32) -> Vec<String> {
    platform_stores::differences(harness, Platform::Jane, &expected(sim, crawl)).await
}

fn expected(sim: &Simulator, crawl: u32) -> Vec<ProductRecord> {
    platform_stores::records(&sim.oracle_of(Platform::Jane, crawl))
}

/// Why a task fails for good.
async fn refusal(harness: &HandlerHarness) -> String {
    match harness.run(Role::PayloadFetch, json!({})).await {
        Err(TaskError::Permanent { reason }) => reason,
        other => panic!("{:?}", other.err()),
    }
}

#[tokio::test]
async fn crawl_after_crawl_the_tables_of_several_stores_equal_the_oracle() {
    const CRAWLS: u32 = 6;
    let sim = simulator(Settings { stores: 6, products_per_store: 70..=90, ..Settings::default() });
    let stores = harnesses(&sim, &config(&sim, FIRST_KEY, 30)).await;
    for crawl_number in 1..=CRAWLS {
        sim.set_crawl(crawl_number);
        for store in &stores {
            crawl(store).await;
        }
        assert_eq!(differences(&stores[0], &sim, crawl_number).await, Vec::<String>::new(), "crawl {crawl_number}");
    }
    let records = expected(&sim, CRAWLS);
    let is_of = |unit: &'static str| move |record: &&ProductRecord| record.offer.thc.unit.as_deref() == Some(unit);
    let kinds = [
        ("out of stock by misses", records.iter().filter(|record| record.consecutive_misses == 3).count()),
        ("without a kind", records.iter().filter(|record| record.category.is_none()).count()),
        ("without a price", records.iter().filter(|record| record.variants.is_empty()).count()),
        (
            "for patients alone",
            records.iter().filter(|r| r.offer.price_med.is_some() && r.offer.price_rec.is_none()).count(),
        ),
        ("on special", records.iter().filter(|record| record.offer.special_price_rec.is_some()).count()),
        ("by the id of the hit", records.iter().filter(|r| r.provider_product_id.starts_with("prod_")).count()),
        ("in per cent", records.iter().filter(is_of("PERCENTAGE")).count()),
        ("in milligrams", records.iter().filter(is_of("MILLIGRAMS")).count()),
    ];
    assert!(kinds.iter().all(|(_, count)| *count > 0), "the crawls were too tame to tell: {kinds:?}");
    let specials = "SELECT count(*) FROM store_specials WHERE specials::jsonb->>'special_title' = 'Weekend sale'";
    assert!(stores[0].store.count(specials).await > 0);
    let counts = sim.counts();
    assert_eq!((counts.direct, counts.direct_connections, counts.key_refused, counts.other), (0, 0, 0, 0));
}

#[tokio::test]
async fn sixty_stores_are_crawled_whole_through_proxies_that_are_blocked_and_dead() {
    platform_stores::crawl_sixty_stores_twice(Platform::Jane, Simulator::lose_jane_product).await;
}

#[tokio::test]
async fn a_menu_above_the_ceiling_is_crawled_whole() {
    let sim = one_store(3900);
    let listed = expected(&sim, 1).len();
    assert!(listed > 2400, "{listed} products are too few to tell");
    let harness = harness(&sim, &config(&sim, FIRST_KEY, 1000)).await;
    crawl(&harness).await;
    assert_eq!(differences(&harness, &sim, 1).await, Vec::<String>::new());
    let covered = format!("SELECT count(*) FROM raw_crawl_payloads WHERE coverage >= 0.999 AND total_count = {listed}");
    assert_eq!(harness.store.count(&covered).await, 1);
    let asked = sim.counts().platforms.jane.menus;
    assert!((4..30).contains(&asked), "{asked} requests");
}

#[tokio::test]
async fn a_product_that_goes_between_two_pages_makes_no_other_one_missing() {
    let sim = one_store(130);
    let harness = harness(&sim, &config(&sim, FIRST_KEY, 40)).await;
    crawl(&harness).await;
    let pages = sim.counts().platforms.jane.menus;

    sim.set_crawl(2);
    sim.lose_jane_product();
    crawl(&harness).await;

    assert_eq!(differences(&harness, &sim, 2).await, Vec::<String>::new());
    assert!(sim.counts().platforms.jane.menus > 2 * pages, "no page was asked for again");
}

/// A key that the platform takes after the first one.
const NEXT_KEY: &str = "ffeeddccbbaa99887766554433221100";
const SECRETS_KEY: &str = "a7";
const READS: &str =
    "SELECT count(*) FROM audit_log WHERE action = 'platforms.read_key' AND target = 'jane' AND who = 'a crawl'";

fn world(stores: usize) -> Simulator {
    simulator(Settings { stores, products_per_store: 70..=80, ..Settings::default() })
}

/// The same settings in a process that keeps its keys in the database.
fn sealing(config: Config) -> Config {
    let mut config = config;
    config.secrets.key = SECRETS_KEY.repeat(32).as_str().into();
    config
}

/// The harness in another process.
fn in_another_process(harness: &HandlerHarness, sim: &Simulator, config: &Config) -> HandlerHarness {
    let proxies = Arc::new(test_sessions::RoundRobinProxies::new(test_sessions::proxies(sim)));
    let (db, payloads) = (&harness.store.database.db, harness.services.payloads.clone());
    let services = app::services(&LiveConfig::fixed(config.clone()), db, payloads, &Clock::system(), proxies).unwrap();
    HandlerHarness {
        store: TestStore { database: Arc::clone(&harness.store.database), id: harness.store.id },
        storage: tempfile::tempdir().unwrap(),
        services: Arc::new(services),
    }
}

#[tokio::test]
async fn without_a_configured_key_one_page_is_read_for_all_stores() {
    let sim = world(4);
    let stores = harnesses(&sim, &config(&sim, "", 30)).await;
    for store in &stores {
        crawl(store).await;
    }
    assert_eq!(differences(&stores[0], &sim, 1).await, Vec::<String>::new());
    let counts = sim.counts();
    assert_eq!(
        (counts.platforms.jane.pages, counts.key_refused, counts.direct, counts.direct_connections),
        (1, 0, 0, 0)
    );
    assert_eq!(stores[0].store.count(READS).await, 1);
}

#[rstest]
#[case::a_configured_key(FIRST_KEY, 1)]
#[case::a_read_key("", 2)]
#[tokio::test]
async fn stores_are_crawled_though_the_key_rotates_in_their_midst(#[case] key: &str, #[case] reads: u64) {
    let sim = world(5);
    let stores = harnesses(&sim, &config(&sim, key, 20)).await;
    crawl(&stores[0]).await;
    // an hour has passed
    stores[0].store.database.raw.batch_execute("UPDATE key_reads SET next_read_at = now()").await.unwrap();
    sim.rotate_jane_key(5, NEXT_KEY);

    let mut tasks = Vec::new();
    for store in &stores {
        tasks.push(store.task(Role::PayloadFetch, json!({})).await);
    }
    let runs = stores.iter().zip(&tasks).map(|(store, task)| async move {
        drover::handlers::run(&store.context(task), task.role, &task.payload, None).await
    });
    for ended in futures_util::future::join_all(runs).await {
        assert!(ended.is_ok(), "{:?}", ended.err());
    }

    let counts = sim.counts();
    assert_eq!((counts.platforms.jane.pages, counts.direct, counts.blocked), (reads, 0, 0));
    assert!(counts.key_refused > 0, "the key did not rotate");
    assert_eq!(stores[0].store.count(READS).await as u64, reads);
}

#[tokio::test]
async fn a_configured_key_goes_before_a_read_one_until_it_is_refused() {
    let sim = world(2);
    let stores = harnesses(&sim, &sealing(config(&sim, NEXT_KEY, 100))).await;
    crawl(&stores[0]).await;
    crawl(&stores[1]).await;
    let counts = sim.counts();
    assert_eq!(
        (counts.key_refused, counts.platforms.jane.pages),
        (1, 1),
        "a refused key is not tried before one that works"
    );

    let other = in_another_process(&stores[1], &sim, &sealing(config(&sim, FIRST_KEY, 100)));
    crawl(&other).await;
    assert_eq!((sim.counts().key_refused, sim.counts().platforms.jane.pages), (1, 1));
}

#[tokio::test]
async fn a_page_without_a_key_is_not_read_again_within_the_hour() {
    let sim = world(2);
    let stores = harnesses(&sim, &config(&sim, "", 100)).await;
    sim.hide_jane_key();
    let first = refusal(&stores[0]).await;
    let id = stores[0].store.id;
    let says = format!("no key for 127.0.0.1 works: the page of store {id}, read at ");
    assert!(first.starts_with(&says) && first.contains("gave none: the page shows none"), "{first}");
    assert!(first.contains("a page is read again after ") && first.contains("or set platform.jane.key"), "{first}");

    let second = refusal(&stores[1]).await;
    assert_eq!(second, first);
    let counts = sim.counts();
    assert_eq!(
        (counts.platforms.jane.pages, counts.platforms.jane.menus, counts.requests, counts.direct),
        (1, 0, 1, 0)
    );
    let failed = format!("{READS} AND detail->>'failure' = 'the page shows none' AND detail->>'store' = '{id}'");
    assert_eq!(stores[0].store.count(&failed).await, 1);
}

#[tokio::test]
async fn a_refused_key_ends_the_task_where_the_page_shows_none() {
    let sim = world(1);
    let harness = harness(&sim, &config(&sim, FIRST_KEY, 20)).await;
    sim.rotate_jane_key(1, "no-key-of-32-digits");
    let reason = refusal(&harness).await;
    assert!(reason.starts_with("no key for 127.0.0.1 works: ") && reason.contains("the page shows none"), "{reason}");
    let counts = sim.counts();
    assert_eq!(
        (counts.platforms.jane.menus, counts.key_refused, counts.platforms.jane.pages, counts.blocked),
        (1, 1, 1, 0)
    );
    assert_eq!(harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await, 0);
}

#[rstest]
#[case::sealed(true)]
#[case::in_memory_alone(false)]
#[tokio::test]
async fn a_read_key_outlives_its_process_where_it_is_sealed(#[case] is_sealed: bool) {
    let sim = world(2);
    let config = if is_sealed { sealing(config(&sim, "", 100)) } else { config(&sim, "", 100) };
    let stores = harnesses(&sim, &config).await;
    crawl(&stores[0]).await;
    let other = in_another_process(&stores[1], &sim, &config);
    match is_sealed {
        true => _ = crawl(&other).await,
        false => {
            let reason = refusal(&other).await;
            assert!(reason.contains("a page is read again after "), "{reason}");
        }
    }
    assert_eq!(sim.counts().platforms.jane.pages, 1);
    let kept =
        "SELECT count(*) FROM rotating_values WHERE platform = 'jane' AND name = 'key' AND sealed LIKE '$drover$1$%'";
    assert_eq!(stores[0].store.count(kept).await, i64::from(is_sealed));
}

#[tokio::test]
async fn a_task_waits_for_the_key_that_another_process_reads() {
    let sim = world(1);
    let harness = harness(&sim, &sealing(config(&sim, "", 100))).await;
    let begun =
        "INSERT INTO key_reads (platform, begun_at, next_read_at) VALUES ('jane', now(), now() + interval '1 hour')";
    harness.store.database.raw.batch_execute(begun).await.unwrap();
    let ended = harness.run(Role::PayloadFetch, json!({})).await;
    assert!(matches!(ended, Err(TaskError::Snooze { .. })), "{:?}", ended.err());
    assert_eq!(sim.counts().requests, 0);
}

#[tokio::test]
async fn a_read_for_which_no_proxy_is_free_is_due_again() {
    let sim = world(1);
    let config = config(&sim, "", 100);
    let harness = harness(&sim, &config).await;
    let without = Arc::new(test_sessions::RoundRobinProxies::default());
    let (db, payloads) = (&harness.store.database.db, harness.services.payloads.clone());
    let services = app::services(&LiveConfig::fixed(config), db, payloads, &Clock::system(), without).unwrap();
    let alone = HandlerHarness { services: Arc::new(services), ..harness };
    let ended = alone.run(Role::PayloadFetch, json!({})).await;
    assert!(matches!(ended, Err(TaskError::Snooze { .. })), "{:?}", ended.err());
    assert_eq!(sim.counts().requests, 0);
    assert_eq!(alone.store.count("SELECT count(*) FROM key_reads WHERE next_read_at <= now()").await, 1);
}

#[rstest]
#[case::its_menu_url("slug = NULL")]
#[case::its_slug("menu_url = NULL")]
#[tokio::test]
async fn a_store_is_looked_up_by(#[case] without: &str) {
    let sim = one_store(30);
    let harness = harness(&sim, &config(&sim, FIRST_KEY, 100)).await;
    change(&harness, &format!("platform_dispensary_id = NULL, {without}")).await;

    let settled = harness.settle(Role::EntryPointDiscovery, json!({})).await;

    let seed = sim.stores_of(Platform::Jane).remove(0);
    assert_eq!(settled.result["platform_dispensary_id"], seed.platform_dispensary_id);
    assert_eq!(settled.result["slug"], seed.slug);
    assert_eq!(settled.next[0].role, Role::ProductDiscovery);
    let counts = sim.counts();
    assert_eq!((counts.platforms.jane.stores, counts.requests, counts.direct), (1, 1, 0));
}

#[tokio::test]
async fn a_menu_url_that_leads_nowhere_fails_for_good_and_says_what_to_correct() {
    let sim = one_store(30);
    let harness = harness(&sim, &config(&sim, FIRST_KEY, 100)).await;
    change(&harness, "platform_dispensary_id = NULL, menu_url = 'https://www.iheartjane.com/stores/1/gone/menu'").await;
    let ended = harness.run(Role::EntryPointDiscovery, json!({})).await;
    let Err(TaskError::Permanent { reason }) = ended else { panic!("{:?}", ended.err()) };
    assert!(reason.contains("/stores/1/gone/menu: correct it with `drover stores edit"), "{reason}");
}

#[tokio::test]
async fn a_discovery_finds_the_open_stores_around_the_points_of_a_state() {
    let sim = simulator(Settings { stores: 12, products_per_store: 20..=20, ..Settings::default() });
    // decoys are in the first place's state
    let of_state =
        |state: &str| sim.stores_of(Platform::Jane).into_iter().filter(|seed| seed.state == state).collect::<Vec<_>>();
    let state = if of_state("AZ").is_empty() { sim.stores()[0].state.clone() } else { "AZ".to_owned() };
    let harness = harness(&sim, &config(&sim, FIRST_KEY, 100)).await;
    change(&harness, "platform_dispensary_id = 'other ' || id, slug = NULL, menu_url = NULL").await;

    let found = discover(&harness, Platform::Jane, &state).await;

    let sql = "SELECT platform_dispensary_id, slug, menu_url, state, address IS NOT NULL AND timezone IS NOT NULL FROM dispensaries
                WHERE platform = 'jane' AND platform_dispensary_id NOT LIKE 'other %' AND state = $1";
    let rows = harness.store.database.raw.query(sql, &[&state]).await.unwrap();
    let promoted: BTreeSet<(String, String, String, bool)> =
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(4))).collect();
    let expected =
        of_state(&state).into_iter().map(|seed| (seed.platform_dispensary_id, seed.slug, seed.menu_url, true));
    assert_eq!(promoted, expected.collect(), "{}", found.result);
    assert_eq!((sim.counts().direct, sim.counts().key_refused), (0, 0));
}

const IS_READ: &str = "SELECT count(*) FROM rotating_values JOIN key_reads USING (platform) WHERE name = 'key' AND first_success_at > ended_at";
const IS_REFUSED: &str =
    "SELECT count(*) FROM worker_tasks WHERE status = 'failed' AND error_message LIKE 'no key for % works: %'";

#[rstest]
#[case::configured_and_read(FIRST_KEY, "", IS_READ)]
#[case::read_and_refused("", &SECRETS_KEY.repeat(32), IS_REFUSED)]
#[tokio::test]
async fn the_key_stands_in_no_log_error_or_row(
    #[case] configured: &str,
    #[case] secrets_key: &str,
    #[case] refused: &str,
) {
    let small = |settings| Settings { products_per_store: 60..=60, ..settings };
    let farm = Farm::changed(3, small).await.without_schedules().await;
    farm.leaves_open_tasks("the key is refused in the midst of them");
    for (id, seed) in farm.stores.iter().zip(farm.sim.stores_of(Platform::Jane)) {
        let set = format!("platform_dispensary_id = '{}', menu_url = '{}'", seed.platform_dispensary_id, seed.menu_url);
        farm.execute(&format!("UPDATE dispensaries SET platform = 'jane', api_path = NULL, {set} WHERE id = {id}"))
            .await;
    }
    farm.sim.rotate_jane_key(4, NEXT_KEY);
    let mut command = farm.drover(&["up"]);
    let settings = [
        ("DROVER__PLATFORM__JANE__BASE_URL", farm.sim.base_url()),
        ("DROVER__PLATFORM__JANE__PAGE_URL", farm.sim.base_url()),
        ("DROVER__PLATFORM__JANE__KEY", configured),
        ("DROVER__SECRETS__KEY", secrets_key),
        ("DROVER__PLATFORM__JANE__PER_PAGE", "20"),
        ("DROVER__LOG__LEVEL", "debug"),
    ];
    let child = Child::spawn(command.envs(settings)).allow_errors(&["failed for good"]);
    let fetch = |store: &i64| NewTask {
        dispensary_id: Some(*store),
        platform: Some(Platform::Jane.name().to_owned()),
        ..NewTask::new(Role::PayloadFetch)
    };
    let fetches: Vec<NewTask> = farm.stores.iter().map(fetch).collect();
    tasks::enqueue(&farm.db.client().await.unwrap(), &fetches).await.unwrap();
    until("a key was refused", PATIENCE, async || farm.count(refused).await > 0).await;

    let canaries = Canaries([FIRST_KEY, NEXT_KEY].map(str::to_owned).to_vec());
    for (table, rows) in rows(farm.url()).await {
        canaries.assert_absent(&table, &rows);
    }
    let log = [child.stderr(), child.stdout()].concat().join("\n");
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is read at its fullest");
    canaries.assert_absent("the log", &log);
    assert_eq!(farm.sim.counts().direct, 0);
}
