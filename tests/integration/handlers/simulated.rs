//! Whole chains against the simulated platform, through its proxies: fetch, payload, refresh, and the roles
//! that find stores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use db::demo::report::products::ProductRecord;
use db::demo::report::{self, changes, products, unit_prices};
use domain::menu::changes::ChangeKind;
use domain::menu::product::Variant;
use domain::menu::unit_price::{NoUnitPrice, UnitBasis};
use domain::store::Platform;
use domain::task::role::Role;
use domain::vocabulary::Word;
use drover::simulated;
use drover::stealth::{FetchError, Request, RequestKind, Response, SessionAsk};
use foundation::clock::Clock;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use settings::Overlay;
use sim::{Fault, FaultKind, Goods, OracleProduct, Refusal, Settings, Simulator, StoreSeed};
use strum::VariantArray;

use super::harness::HandlerHarness;
use super::{captured_page, test_sessions};

pub fn simulator(settings: Settings) -> Simulator {
    Simulator::start(Settings { proxies: 3, blocked_proxies: 0, ..settings }).unwrap()
}

pub async fn harness(sim: &Simulator) -> HandlerHarness {
    HandlerHarness::facing(sim.base_url(), test_sessions::proxies(sim)).await
}

/// Makes a harness with `states` over the shipped ones.
async fn harness_with_states(sim: &Simulator, states: String) -> HandlerHarness {
    let mut config = test_sessions::test_config(sim.base_url());
    config.overlays.states = Some(Overlay { path: "states.toml".into(), text: states });
    HandlerHarness::configured(&config, test_sessions::proxies(sim)).await
}

fn discovery_states(harness: &HandlerHarness) -> BTreeSet<String> {
    harness.services.platforms.get(Platform::Dutchie).discovery_points.keys().cloned().collect()
}

/// The harness's store becomes that of the simulator.
pub async fn become_store(harness: &HandlerHarness, seed: &StoreSeed, platform_id: Option<&str>) {
    let sql = "UPDATE dispensaries SET platform_dispensary_id = $2, slug = $3, menu_url = $4, api_path = $5, state = $6 WHERE id = $1";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&harness.store.id, &platform_id, &seed.slug, &seed.menu_url, &seed.api_path, &seed.state];
    assert_eq!(harness.store.database.raw.execute(sql, &values).await.unwrap(), 1);
}

pub async fn crawl(harness: &HandlerHarness) -> queue::Committed {
    let fetched = harness.settle(Role::PayloadFetch, json!({})).await;
    let [refresh] = fetched.next.as_slice() else { panic!("not one follow-up: {:?}", fetched.next) };
    assert_eq!((refresh.role, refresh.priority), (Role::ProductRefresh, None));
    assert_eq!(
        (refresh.dispensary_id, &refresh.args["payload_id"]),
        (Some(harness.store.id), &fetched.result["payload_id"])
    );
    harness.settle(refresh.role, refresh.args.clone()).await
}

#[rstest]
#[case::of_plain_goods(Goods::Plain, 12)]
#[case::of_goods_that_are_hard_to_compare(Goods::Odd, 8)]
#[tokio::test]
async fn crawl_after_crawl_the_tables_and_the_changes_equal_the_oracle_whatever_is_refreshed_again(
    #[case] goods: Goods,
    #[case] crawls: u32,
) {
    let sim = simulator(Settings { stores: 1, products_per_store: 120..=120, goods, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    let mut payloads = Vec::new();

    for crawl_number in 1..=crawls {
        sim.set_crawl(crawl_number);
        let refreshed = crawl(&harness).await;
        assert_eq!(records(&harness).await, expected(&sim, crawl_number), "crawl {crawl_number}");
        assert_eq!(wrong_unit_prices(&harness, &sim, crawl_number).await, Vec::<String>::new(), "crawl {crawl_number}");
        let (_, snapshots) = sim.snapshots_expected(crawl_number).remove(0);
        assert_eq!(refreshed.result["snapshots"], snapshots, "crawl {crawl_number}");
        payloads.push(refreshed.result["payload_id"].clone());
        let again = &payloads[payloads.len() / 2];
        harness.settle(Role::ProductRefresh, json!({ "payload_id": again })).await;
    }

    for (crawl_number, crawled_at) in (1..).zip(times_of_crawls(&harness, crawls).await) {
        assert_eq!(menu_as_of(&harness, crawled_at).await, menu_of(&sim, crawl_number), "crawl {crawl_number}");
    }
    let client = harness.services.db.client().await.unwrap();
    let found = changes::since(&client, Platform::Dutchie, DateTime::UNIX_EPOCH).await.unwrap();
    let expected: Vec<_> = (1..=crawls)
        .flat_map(|crawl| sim.oracle_changes(crawl))
        .map(|truth| simulated::change_record(&truth))
        .collect();
    assert_eq!(report::differences("change", &found, &expected), Vec::<String>::new());
    let missing: Vec<&ChangeKind> = ChangeKind::VARIANTS
        .iter()
        .filter(|kind| found.iter().all(|change| change.kind != Word::Known(**kind)))
        .collect();
    assert_eq!(missing, Vec::<&ChangeKind>::new(), "the crawls were too tame to tell");

    let kinds = [
        ("missed", expected_of(&sim, crawls, |product| product.consecutive_misses > 0)),
        ("out of stock by misses", expected_of(&sim, crawls, |product| product.consecutive_misses == 3)),
        ("without an option they had", vanished_options(&sim, crawls)),
    ];
    assert!(kinds.iter().all(|(_, count)| *count > 0), "the crawls were too tame to tell: {kinds:?}");
    if goods == Goods::Odd {
        assert_eq!(missing_of_odd_goods(&sim, crawls), Vec::<String>::new(), "the goods were too plain to tell");
    }
    assert_eq!(sim.counts().direct_connections, 0);
}

/// Bases, reasons and bundles that no option had in any crawl, and prices that never came back.
fn missing_of_odd_goods(sim: &Simulator, crawls: u32) -> Vec<String> {
    let all: Vec<_> = (1..=crawls).flat_map(|crawl| sim.oracle_unit_prices(crawl)).collect();
    let is_of_basis = |basis: &UnitBasis| all.iter().any(|unit| unit.basis == Some(basis.name()));
    let is_reason = |reason: &NoUnitPrice| {
        let name = Some(reason.name());
        // the platform's net weights of 0 are none
        *reason == NoUnitPrice::SizeZero
            || all.iter().any(|unit| unit.no_unit_price == name || unit.no_thc_price == name)
    };
    let bases = UnitBasis::VARIANTS.iter().filter(|basis| !is_of_basis(basis)).map(|basis| basis.name().to_owned());
    let reasons =
        NoUnitPrice::VARIANTS.iter().filter(|reason| !is_reason(reason)).map(|reason| reason.name().to_owned());
    let of_bundles = [
        ("a bundle by gram", all.iter().any(|unit| unit.bundle_per_g.is_some())),
        ("a bundle of unknown mass", all.iter().any(|unit| unit.bundle_total.is_some() && unit.bundle_per_g.is_none())),
        ("a bundle of many", all.iter().any(|unit| unit.bundle_quantity > Some(3))),
        ("a price that is back two crawls later", flaps(sim, crawls) > 20),
    ];
    let of_bundles = of_bundles.into_iter().filter(|(_, is_there)| !is_there).map(|(what, _)| what.to_owned());
    bases.chain(reasons).chain(of_bundles).collect()
}

/// Number of times that a product had another price for one crawl.
fn flaps(sim: &Simulator, crawls: u32) -> usize {
    let prices = |crawl| -> BTreeMap<String, Option<i32>> {
        let products = sim.oracle(crawl).remove(0).products;
        products.into_iter().map(|product| (product.provider_product_id, product.price_rec)).collect()
    };
    let crawls: Vec<_> = (1..=crawls).map(prices).collect();
    let flaps = |three: &[BTreeMap<String, Option<i32>>]| {
        let is_flap = |(id, price): &(&String, &Option<i32>)| {
            three[2].get(*id) == Some(*price) && three[1].get(*id) != Some(*price)
        };
        three[0].iter().filter(is_flap).count()
    };
    crawls.windows(3).map(flaps).sum()
}

/// The times of the crawls, oldest first.
async fn times_of_crawls(harness: &HandlerHarness, crawls: u32) -> Vec<DateTime<Utc>> {
    let sql = "SELECT crawled_at FROM whole_crawls ORDER BY crawled_at";
    let rows = harness.store.database.raw.query(sql, &[]).await.unwrap();
    assert_eq!(rows.len(), crawls as usize);
    rows.iter().map(|row| row.get(0)).collect()
}

/// The options of the store's menu at that time, by product, label and number.
async fn menu_as_of(harness: &HandlerHarness, time: DateTime<Utc>) -> Vec<(String, f64, Variant)> {
    let sql = "SELECT p.provider_product_id, m.* FROM drover_v1.menu_as_of($1, $2) m JOIN store_products p ON p.id = m.product_id
                ORDER BY p.provider_product_id COLLATE \"C\", m.option_label COLLATE \"C\", m.nth";
    let rows = harness.store.database.raw.query(sql, &[&harness.store.id, &time]).await.unwrap();
    let option = |row: &tokio_postgres::Row| Variant {
        option_label: row.get("option_label"),
        nth: row.get("nth"),
        size_mg: row.get("size_mg"),
        size_ml: row.get("size_ml"),
        price_rec: row.get("price_rec"),
        price_med: row.get("price_med"),
        special_price_rec: row.get("special_price_rec"),
        special_price_med: row.get("special_price_med"),
        quantity: row.get("quantity"),
        quantity_censored: row.get("quantity_censored"),
        is_in_stock: row.get("is_in_stock"),
    };
    let thc = |row: &tokio_postgres::Row| row.get::<_, Option<f64>>("thc_max").unwrap_or_default();
    rows.iter().map(|row| (row.get("provider_product_id"), thc(row), option(row))).collect()
}

/// The same as that crawl showed it.
fn menu_of(sim: &Simulator, crawl: u32) -> Vec<(String, f64, Variant)> {
    let store = sim.oracle(crawl).remove(0);
    let present = store.products.iter().filter(|product| product.is_present);
    let options = |truth: &OracleProduct| {
        let record = simulated::product_record(&store.platform_dispensary_id, truth);
        let (id, thc) = (record.provider_product_id, truth.thc.max.unwrap_or_default());
        record.variants.into_iter().map(move |option| (id.clone(), thc, option))
    };
    let mut menu: Vec<_> = present.flat_map(options).collect();
    menu.sort_by(|one, other| {
        (&one.0, &one.2.option_label, one.2.nth).cmp(&(&other.0, &other.2.option_label, other.2.nth))
    });
    menu
}

async fn wrong_unit_prices(harness: &HandlerHarness, sim: &Simulator, crawl: u32) -> Vec<String> {
    let client = harness.services.db.client().await.unwrap();
    let found = unit_prices::all(&client, Platform::Dutchie).await.unwrap();
    let expected: Vec<_> = sim.oracle_unit_prices(crawl).iter().map(simulated::unit_price_record).collect();
    report::differences("prices by unit", &found, &expected)
}

const DAY: TimeDelta = TimeDelta::days(1);

#[rstest]
#[case::is_ahead([DAY, TimeDelta::zero()])]
#[case::is_behind([TimeDelta::zero(), -DAY])]
#[tokio::test]
async fn a_store_is_not_frozen_by_a_worker_whose_clock(#[case] wrong_by: [TimeDelta; 2]) {
    let sim = simulator(Settings { stores: 1, products_per_store: 60..=60, ..Settings::default() });
    let mut harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    for (crawl_number, wrong_by) in (1..).zip(wrong_by) {
        let clock = Clock::manual(Clock::system().utc() + wrong_by);
        Arc::get_mut(&mut harness.services).unwrap().clock = clock;
        sim.set_crawl(crawl_number);
        assert_eq!(crawl(&harness).await.result["order"], "newest", "crawl {crawl_number}");
        assert_eq!(records(&harness).await, expected(&sim, crawl_number), "crawl {crawl_number}");
    }
}

fn expected_of(sim: &Simulator, crawls: u32, is: impl Fn(&OracleProduct) -> bool) -> usize {
    sim.oracle(crawls)[0].products.iter().filter(|product| is(product)).count()
}

/// Products with fewer options than in the crawl before.
fn vanished_options(sim: &Simulator, crawls: u32) -> usize {
    let options = |crawl| -> BTreeMap<String, usize> {
        let products = sim.oracle(crawl).remove(0).products;
        products.into_iter().map(|product| (product.provider_product_id, product.variants.len())).collect()
    };
    let crawls: Vec<_> = (1..=crawls).map(options).collect();
    crawls.windows(2).map(|pair| pair[0].iter().filter(|(id, count)| pair[1][*id] < **count).count()).sum()
}

pub type Records = BTreeMap<String, ProductRecord>;

/// The products that the tables must hold after that crawl.
pub fn expected(sim: &Simulator, crawl: u32) -> Records {
    let store = sim.oracle(crawl).remove(0);
    let record = |truth: &OracleProduct| simulated::product_record(&store.platform_dispensary_id, truth);
    store.products.iter().map(|truth| (truth.provider_product_id.clone(), record(truth))).collect()
}

pub async fn records(harness: &HandlerHarness) -> Records {
    let client = harness.services.db.client().await.unwrap();
    let all = products::all(&client, Platform::Dutchie).await.unwrap();
    all.into_iter().map(|record| (record.provider_product_id.clone(), record)).collect()
}

#[tokio::test]
async fn the_captured_page_goes_the_whole_way() {
    let Some(path) = testkit::fixture("dutchie/filtered_products_page.json") else { return };
    let sim = simulator(Settings { stores: 0, captured_page: Some(path), ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;

    assert_eq!(crawl(&harness).await.result["new"], 25);
    captured_page::compare_all(&harness).await;
}

#[tokio::test]
async fn a_fetch_notes_its_time_its_hash_and_who_it_went_through() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    let task = harness.task(Role::PayloadFetch, json!({})).await;
    let context = harness.context(&task);

    let outcome = drover::handlers::run(&context, Role::PayloadFetch, &json!({}), None).await.unwrap();
    harness.commit(&task, outcome).await;

    let detail = context.run_trace().detail();
    assert_eq!(detail["proxy_ids"].as_array().unwrap().len(), 1, "{detail}");
    assert!(detail["fingerprint"].is_string() && detail["requests"].as_u64() > Some(0), "{detail}");
    let noted = "SELECT count(*) FROM dispensaries WHERE last_fetch_at IS NOT NULL AND last_crawl_at IS NULL";
    assert_eq!(harness.store.count(noted).await, 1);
    let kept = format!("SELECT count(*) FROM raw_crawl_payloads WHERE task_id = {} AND coverage = 1", task.lease.id);
    assert_eq!(harness.store.count(&kept).await, 1);
    let worked = "SELECT count(*) FROM rotating_values WHERE name = 'FilteredProducts' AND last_success_at IS NOT NULL";
    assert_eq!(harness.store.count(worked).await, 1);
}

#[tokio::test]
async fn people_see_how_much_of_a_slow_menu_has_come() {
    let latency = Duration::from_millis(900);
    let sim = simulator(Settings { stores: 1, products_per_store: 450..=450, latency, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;

    harness.run(Role::PayloadFetch, json!({})).await.unwrap();

    let percent =
        "SELECT progress_percent::bigint FROM worker_tasks WHERE progress_message LIKE '%00 of ___ products fetched'";
    assert!((20..100).contains(&harness.store.count(percent).await));
}

#[tokio::test]
async fn a_menu_that_looks_empty_leaves_neither_payload_nor_misses() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    crawl(&harness).await;
    let before = records(&harness).await;

    for kind in [FaultKind::EmptyPage, FaultKind::EmptyMenu] {
        let fault = sim.add_fault(Fault::new(kind.clone()));
        let ended = harness.run(Role::PayloadFetch, json!({})).await;
        assert!(matches!(ended, Err(TaskError::Retry { .. })), "{kind:?}");
        sim.remove_fault(fault);

        assert_eq!(harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await, 1, "{kind:?}");
        assert_eq!(records(&harness).await, before, "{kind:?}");
    }
}

#[tokio::test]
async fn an_empty_menu_changes_nothing_however_often_it_comes_until_a_person_accepts_it() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    crawl(&harness).await;
    let before = records(&harness).await;
    let present = harness.store.count("SELECT count(*) FROM store_products WHERE consecutive_misses = 0").await;
    let held = harness.store.count("SELECT product_count::bigint FROM raw_crawl_payloads").await;
    let hours_pass = "UPDATE suspicious_menus SET fetched_at = fetched_at - interval '3 hours'";

    sim.add_fault(Fault::new(FaultKind::EmptyMenu));
    for look in 1..=4 {
        // the second within an hour does not count as a look
        for _ in 0..2 {
            assert!(empty_menu(&harness).await.contains(&format!("no product, down from {held};")));
        }
        assert_eq!(harness.store.count("SELECT count(*) FROM suspicious_menus").await, look);
        assert_eq!(has_status(&harness, "empty_menu").await, look >= 3, "after look {look}");
        harness.store.database.raw.batch_execute(hours_pass).await.unwrap();
    }
    assert_eq!(records(&harness).await, before);

    assert!(accept_empty(&harness).await);
    assert_eq!(crawl(&harness).await.result["missed"], present);
    assert_eq!(crawl(&harness).await.result["missed"], present, "it stays the truth");
    assert!(has_status(&harness, "fresh").await);
}

#[tokio::test]
async fn an_empty_menu_is_not_the_first_truth_of_a_store() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    sim.add_fault(Fault::new(FaultKind::EmptyMenu));
    assert!(empty_menu(&harness).await.contains("it holds no product, and the store was never crawled"));
    assert!(has_status(&harness, "never_crawled").await);
}

#[tokio::test]
async fn a_product_ends_what_a_person_accepted() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    assert!(!accept_empty(&harness).await, "no crawl found an empty menu");
    let fault = sim.add_fault(Fault::new(FaultKind::EmptyMenu));
    empty_menu(&harness).await;
    assert!(accept_empty(&harness).await);
    crawl(&harness).await;
    sim.remove_fault(fault);
    crawl(&harness).await;
    sim.add_fault(Fault::new(FaultKind::EmptyMenu));
    empty_menu(&harness).await;
}

/// Fetches an empty menu, and returns why it is not believed.
async fn empty_menu(harness: &HandlerHarness) -> String {
    match harness.run(Role::PayloadFetch, json!({})).await {
        Err(TaskError::Retry { reason, .. }) if reason.starts_with("empty menu: ") => reason,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was believed"),
    }
}

async fn accept_empty(harness: &HandlerHarness) -> bool {
    let tx = harness.store.database.db.begin().await.unwrap();
    let accepted = db::stores::accept_empty(&tx, harness.store.id).await.unwrap();
    tx.commit().await.unwrap();
    accepted
}

async fn has_status(harness: &HandlerHarness, status: &str) -> bool {
    let id = harness.store.id;
    let sql = format!("SELECT count(*) FROM v_store_statuses WHERE dispensary_id = {id} AND crawl_status = '{status}'");
    harness.store.count(&sql).await == 1
}

#[tokio::test]
async fn a_suspicious_menu_is_noted_with_the_proxy_that_brought_it() {
    let settings =
        Settings { stores: 1, products_per_store: 30..=30, proxies: 2, blocked_proxies: 0, ..Settings::default() };
    let sim = Simulator::start(settings).unwrap();
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    crawl(&harness).await;

    // proxy 2 is refused, proxy 1 brings an empty menu, and proxy 2 brings it once more
    sim.add_fault(Fault::new(FaultKind::Blocked(Refusal::Forbidden)).times(1));
    sim.add_fault(Fault::new(FaultKind::EmptyMenu));
    assert!(harness.run(Role::PayloadFetch, json!({})).await.is_err());

    assert_eq!(harness.store.count("SELECT proxy_id FROM suspicious_menus").await, 2);
}

#[tokio::test]
async fn a_host_with_letters_beyond_ascii_may_be_asked() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    let own_host = "UPDATE dispensaries SET api_host = 'M\u{fc}nchen.example'";
    harness.store.database.raw.batch_execute(own_host).await.unwrap();

    let fetched = harness.settle(Role::PayloadFetch, json!({})).await;

    assert!(fetched.result["products"].as_u64() > Some(0));
}

#[tokio::test]
async fn a_menu_address_leads_to_an_id_and_a_first_fetch() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, None).await;

    let settled = harness.settle(Role::EntryPointDiscovery, json!({})).await;

    assert_eq!(settled.result["platform_dispensary_id"], seed.platform_dispensary_id);
    let chained: Vec<_> = settled.next.iter().map(|next| (next.role, next.priority)).collect();
    assert_eq!(chained, [(Role::ProductDiscovery, Some(10))]);
    let client = harness.services.db.client().await.unwrap();
    let store = db::stores::get(&client, harness.store.id).await.unwrap().unwrap();
    assert_eq!(store.platform_dispensary_id.as_ref(), Some(&seed.platform_dispensary_id));
    assert_eq!(store.slug.as_ref(), Some(&seed.cname));
    assert!(harness.settle(Role::ProductDiscovery, json!({})).await.result["products"].as_u64() > Some(0));
}

#[rstest]
#[case::its_slug("slug = 'wrong', menu_url = NULL", "--slug SLUG")]
#[case::its_slug_beside_another_page("slug = 'wrong', menu_url = 'https://dutchie.com/about'", "--slug SLUG")]
#[case::its_address("menu_url = replace(menu_url, slug, 'wrong')", "--menu-url URL")]
#[tokio::test]
async fn an_address_that_leads_nowhere_names_the_field_to_correct(#[case] wrong: &str, #[case] flag: &str) {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    become_store(&harness, &sim.stores()[0], None).await;
    let wrong = format!(
        "UPDATE dispensaries SET menu_url = '{}/dispensary/' || slug; UPDATE dispensaries SET {wrong}",
        sim.base_url()
    );
    harness.store.database.raw.batch_execute(&wrong).await.unwrap();

    let Err(TaskError::Permanent { reason }) = harness.run(Role::EntryPointDiscovery, json!({})).await else {
        panic!("the store was found")
    };
    let remedy = format!("/wrong: correct it with `drover stores edit {} {flag}`", harness.store.id);
    assert!(reason.contains("no store at ") && reason.ends_with(&remedy), "{reason}");
}

#[tokio::test]
async fn an_address_that_leads_to_another_store_changes_no_id() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    become_store(&harness, &sim.stores()[0], None).await;
    let known = "UPDATE dispensaries SET platform_dispensary_id = 'known'";
    harness.store.database.raw.batch_execute(known).await.unwrap();

    let Err(TaskError::Permanent { reason }) = harness.run(Role::EntryPointDiscovery, json!({})).await else {
        panic!("the other store was not noticed")
    };
    assert!(reason.contains("known as known"), "{reason}");
    // nor when it got its id while the address was looked up
    let tx = harness.services.db.begin().await.unwrap();
    let refused = db::stores::resolve(&tx, harness.store.id, "another", None).await;
    assert!(matches!(refused, Err(db::DbError::Conflict { .. })), "{refused:?}");
    db::stores::resolve(&tx, harness.store.id, "known", Some("slug")).await.unwrap();
}

#[tokio::test]
async fn two_addresses_of_one_store_are_told_apart_from_two_stores() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, None).await;
    let twin = harness.store.beside("Twin").await.id;
    let sql = "UPDATE dispensaries SET platform_dispensary_id = $2 WHERE id = $1";
    harness.store.database.raw.execute(sql, &[&twin, &seed.platform_dispensary_id]).await.unwrap();

    let Err(TaskError::Permanent { reason }) = harness.run(Role::EntryPointDiscovery, json!({})).await else {
        panic!("the twin was not noticed")
    };
    assert!(reason.contains(&format!("store {twin}")), "{reason}");
}

#[tokio::test]
async fn discovery_promotes_each_real_store_once() {
    let sim = simulator(Settings { stores: 6, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    // imported by hand before, without its id: the same shop
    let imported = sim.stores()[0].clone();
    let sql = "UPDATE dispensaries SET platform_dispensary_id = NULL, slug = $2, state = $3 WHERE id = $1";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&harness.store.id, &imported.cname, &imported.state];
    harness.store.database.raw.execute(sql, &values).await.unwrap();

    let first = harness.settle(Role::StoreDiscovery, json!({})).await;

    let wanted: BTreeSet<String> = sim.stores().iter().map(|seed| seed.platform_dispensary_id.clone()).collect();
    assert_eq!(promoted(&harness).await, wanted);
    assert_eq!(first.result["newStoreIds"].as_array().unwrap().len(), wanted.len() - 1);
    assert_eq!(first.next.len(), wanted.len() - 1);
    assert!(first.next.iter().all(|next| next.role == Role::ProductDiscovery && next.priority == Some(10)));
    let refused = "SELECT count(*) FROM found_stores WHERE reason IS NOT NULL AND dispensary_id IS NULL";
    assert_eq!(harness.store.count(refused).await, sim.decoys().len() as i64);

    let again = harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!(again.result["newStoreIds"], json!([]));
    assert!(again.next.is_empty());
    assert_eq!(harness.store.count("SELECT count(*) FROM dispensaries").await, wanted.len() as i64);
}

async fn promoted(harness: &HandlerHarness) -> BTreeSet<String> {
    let sql = "SELECT platform_dispensary_id FROM dispensaries";
    harness.store.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn what_is_not_seen_again_is_kept_and_flagged_only_where_was_looked() {
    let sim = simulator(Settings { stores: 6, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    let state = sim.stores()[0].state.clone();
    let gone = "INSERT INTO found_stores (platform_dispensary_id, name, found_in) VALUES ('gone', 'Gone', $1), ('elsewhere', 'Far', 'ZZ')";
    harness.store.database.raw.execute(gone, &[&state]).await.unwrap();

    let settled = harness.settle(Role::StoreDiscovery, json!({ "state_code": state })).await;

    assert_eq!(settled.result["vanished"], 1);
    let flagged = "SELECT count(*) FROM found_stores WHERE vanished_at IS NOT NULL AND platform_dispensary_id = 'gone'";
    assert_eq!(harness.store.count(flagged).await, 1);
}

#[tokio::test]
async fn closed_and_vanished_stores_are_switched_off_and_sell_nothing() {
    let sim = simulator(Settings { stores: 6, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    harness.settle(Role::StoreDiscovery, json!({})).await;
    let seed = sim.stores()[0].clone();
    // the harness's own store is one that discovery knows and sees no more
    become_store(&harness, &seed, Some("gone")).await;
    let known = "INSERT INTO found_stores (platform_dispensary_id, name, found_in) VALUES ('gone', 'Gone', $1)";
    harness.store.database.raw.execute(known, &[&seed.state]).await.unwrap();
    harness.store.crawl(0, vec![super::test_store::product("a")]).await;
    // and another is closed, whatever it was before
    let closed = "UPDATE dispensaries SET platform_dispensary_id = $1 WHERE id <> $2 AND id = (SELECT max(id) FROM dispensaries)";
    let decoy = "SELECT platform_dispensary_id FROM found_stores WHERE reason = 'not_open' LIMIT 1";
    let decoy: String = harness.store.database.raw.query_one(decoy, &[]).await.unwrap().get(0);
    harness.store.database.raw.execute(closed, &[&decoy, &harness.store.id]).await.unwrap();

    let discovery = harness.settle(Role::StoreDiscovery, json!({})).await;

    assert_eq!(discovery.result["closed"], 2);
    let reasons =
        "SELECT string_agg(disabled_reason, ' ' ORDER BY disabled_reason) FROM dispensaries WHERE NOT crawl_enabled";
    let reasons: String = harness.store.database.raw.query_one(reasons, &[]).await.unwrap().get(0);
    assert_eq!(reasons, "not_open vanished");
    assert!(!harness.store.row("a").await.unwrap().stock.is_in_stock);
    assert_eq!(harness.store.options_in_stock("a").await, 0);

    let by_hand = "UPDATE dispensaries SET crawl_enabled = true";
    harness.store.database.raw.batch_execute(by_hand).await.unwrap();
    assert_eq!(harness.settle(Role::StoreDiscovery, json!({})).await.result["closed"], 0, "a person decided otherwise");
}

#[tokio::test]
async fn a_store_that_a_person_disabled_stays_disabled_although_discovery_sees_it() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    harness.settle(Role::StoreDiscovery, json!({})).await;
    let execute = async |sql: &str| harness.store.database.raw.batch_execute(sql).await.unwrap();
    let stores = harness.store.count("SELECT count(*) FROM dispensaries").await;
    // discovery disabled them, a person enabled them, and disabled them later
    execute("UPDATE dispensaries SET crawl_enabled = false, disabled_reason = 'vanished'").await;
    execute("UPDATE dispensaries SET crawl_enabled = true").await;
    execute("UPDATE dispensaries SET crawl_enabled = false").await;
    harness.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!(harness.store.count("SELECT count(*) FROM dispensaries WHERE NOT crawl_enabled").await, stores);
    execute("UPDATE dispensaries SET disabled_reason = 'vanished'").await;
    harness.settle(Role::StoreDiscovery, json!({})).await;
    let on = harness.store.count("SELECT count(*) FROM dispensaries WHERE crawl_enabled").await;
    assert_eq!(on, sim.stores().len() as i64, "discovery enables what it disabled and sees again");
}

#[tokio::test]
async fn equal_ids_of_two_platforms_are_two_stores() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    let other =
        "INSERT INTO found_stores (platform, platform_dispensary_id, name, found_in) VALUES ('other', $1, 'Other', $2)";
    harness.store.database.raw.execute(other, &[&seed.platform_dispensary_id, &seed.state]).await.unwrap();

    harness.settle(Role::StoreDiscovery, json!({})).await;

    let untouched =
        "SELECT count(*) FROM found_stores WHERE platform = 'other' AND name = 'Other' AND vanished_at IS NULL";
    assert_eq!(harness.store.count(untouched).await, 1);
}

#[tokio::test]
async fn what_vanishes_of_one_platform_vanishes_of_no_other() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    // enough stores of the other platform that they would make the state's answer a suspicious one
    let gone = "INSERT INTO found_stores (platform, platform_dispensary_id, name, found_in)
                SELECT 'other', 'gone ' || n, 'Gone', $1::text FROM generate_series(1, 9) n
                UNION ALL SELECT 'dutchie', 'gone 1', 'Gone', $1";
    harness.store.database.raw.execute(gone, &[&sim.stores()[0].state]).await.unwrap();

    harness.settle(Role::StoreDiscovery, json!({})).await;

    let vanished = "SELECT string_agg(platform || ' ' || platform_dispensary_id, ', ')
                      FROM found_stores WHERE vanished_at IS NOT NULL";
    let vanished: Option<String> = harness.store.database.raw.query_one(vanished, &[]).await.unwrap().get(0);
    assert_eq!(vanished.as_deref(), Some("dutchie gone 1"));
}

#[rstest]
#[case::by_its_address_alone(None, Some("https://dutchie.com/embedded-menu/SLUG/?x=1"), str::to_owned)]
#[case::by_its_address_in_capitals(None, Some("https://dutchie.com/dispensary/SLUG"), str::to_uppercase)]
#[case::by_its_slug_alone(Some("SLUG"), None, str::to_owned)]
#[case::by_its_slug_in_capitals(Some("SLUG"), None, str::to_uppercase)]
#[tokio::test]
async fn an_import_without_a_state_is_not_doubled(
    #[case] slug: Option<&str>,
    #[case] address: Option<&str>,
    #[case] spell: fn(&str) -> String,
) {
    let sim = simulator(Settings { stores: 3, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    let name = spell(&sim.stores()[0].cname);
    let of_seed = |text: Option<&str>| text.map(|text| text.replace("SLUG", &name));
    let imported = "UPDATE dispensaries SET platform_dispensary_id = NULL, state = NULL, slug = $1, menu_url = $2";
    harness.store.database.raw.execute(imported, &[&of_seed(slug), &of_seed(address)]).await.unwrap();

    harness.settle(Role::StoreDiscovery, json!({})).await;

    assert_eq!(harness.store.count("SELECT count(*) FROM dispensaries").await, 3);
}

#[tokio::test]
async fn a_platform_that_is_down_makes_no_store_vanish() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    let state = sim.stores()[0].state.clone();
    harness.settle(Role::StoreDiscovery, json!({ "state_code": state })).await;

    sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }));
    assert!(harness.run(Role::StoreDiscovery, json!({ "state_code": state })).await.is_err());
    let vanished = "SELECT count(*) FROM found_stores WHERE vanished_at IS NOT NULL";
    assert_eq!(harness.store.count(vanished).await, 0);
}

#[tokio::test]
async fn states_that_did_not_answer_are_named_and_asked_by_tasks_of_their_own() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness_with_states(&sim, ONE_POINT.to_owned()).await;
    let mut states = discovery_states(&harness);
    sim.add_fault(Fault::new(FaultKind::UnknownDispensary).times(1));
    sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }).times(1));
    sim.add_fault(Fault::new(FaultKind::Throttled { retry_after: Some(Duration::from_secs(600)) }));

    let discovered = harness.settle(Role::StoreDiscovery, json!({})).await;

    states.pop_first();
    let failed = discovered.result["failed_states"].as_object().unwrap();
    assert_eq!(failed.keys().cloned().collect::<BTreeSet<_>>(), states);
    assert!(failed["WY"].as_str().unwrap().contains("not asked"), "{failed:?}");
    assert!(discovered.next.iter().all(|next| next.role == Role::StoreDiscovery));
    let chained = discovered.next.iter().map(|next| next.args["state_code"].as_str().unwrap().to_owned());
    assert_eq!(chained.collect::<BTreeSet<_>>(), states);
}

#[tokio::test]
async fn a_database_that_goes_away_between_two_states_costs_no_answer_of_the_first() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness_with_states(&sim, ONE_POINT.to_owned()).await;
    // a refused hash: the table is asked for hashes again before the next state
    sim.set_shard_stale("/api-3/graphql", true);
    // the first state's answer is noted as one that a hash worked for
    let away_after_an_answer = "
        ALTER TABLE rotating_values RENAME TO kept_hashes;
        CREATE FUNCTION is_there() RETURNS boolean LANGUAGE plpgsql AS $f$
        BEGIN
          IF EXISTS (SELECT FROM kept_hashes WHERE last_success_at < now()) THEN RAISE cannot_connect_now; END IF;
          RETURN true;
        END $f$;
        CREATE VIEW rotating_values AS SELECT * FROM kept_hashes WHERE (SELECT is_there());
        ALTER VIEW rotating_values ALTER endpoint SET DEFAULT '%';
        ALTER VIEW rotating_values ALTER added_at SET DEFAULT now()";
    harness.store.database.raw.batch_execute(away_after_an_answer).await.unwrap();

    let discovered = harness.settle(Role::StoreDiscovery, json!({})).await;

    let states = discovery_states(&harness).len();
    assert_eq!(discovered.result["failed_states"].as_object().unwrap().len(), states - 1);
    assert_eq!(discovered.next.len(), states - 1, "each of them is asked by a task of its own");
}

/// The first state of all has one point.
const ONE_POINT: &str = "[AK]\ntimezone = 'America/Anchorage'\nlocale = 'en-US'\nlanguages = ['en-US']\n\
                         points = [[64.2, -152.5, 1200]]";
const TWO_POINTS: &str = "[AZ]\ntimezone = 'America/Phoenix'\nlocale = 'en-US'\nlanguages = ['en-US']\n\
                          points = [[33.4, -112.0, 50], [35.2, -111.6, 50]]";

#[tokio::test]
async fn a_point_that_fails_costs_no_store_that_was_found_around_another() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let seed = &sim.stores()[0];
    let around_it = format!("{:?}, {:?}", seed.latitude, seed.longitude);
    // the first state of all, whose second point alone is refused of its points
    let two_points = TWO_POINTS.replace("AZ", "AK").replace("33.4, -112.0", &around_it);
    let harness = harness_with_states(&sim, two_points).await;
    sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }).after(1));

    let discovered = harness.settle(Role::StoreDiscovery, json!({})).await;

    assert!(discovered.result["failed_states"]["AK"].is_string(), "{}", discovered.result);
    assert!(promoted(&harness).await.contains(&seed.platform_dispensary_id), "{}", discovered.result);
}

#[tokio::test]
async fn tasks_that_wait_for_the_hashes_to_be_added_hold_no_connection() {
    let sim = simulator(Settings { stores: 2, ..Settings::default() });
    let harness = harness(&sim).await;
    let mut task = harness.task(Role::StoreDiscovery, json!({})).await;
    task.payload = json!({});
    let contexts: Vec<_> = (0..testkit::WORK_CONNECTIONS).map(|_| harness.context(&task)).collect();
    let runs = contexts.iter().map(|context| drover::handlers::run(context, task.role, &task.payload, None));
    harness.store.database.raw.batch_execute("BEGIN; LOCK TABLE rotating_values").await.unwrap();
    let free = async {
        testkit::until("one adds them", testkit::PATIENCE, async || {
            harness.store.count(testkit::WAITING_FOR_LOCKS).await == 1
        })
        .await;
        // well before the lock's own time-out makes room
        tokio::time::timeout(Duration::from_secs(3), harness.services.db.client()).await.is_ok_and(|free| free.is_ok())
    };
    tokio::select! {
        biased;
        _ = futures_util::future::join_all(runs) => panic!("none can end"),
        is_free = free => assert!(is_free, "no connection is left for other work"),
    }
}

#[tokio::test]
async fn of_a_lone_state_just_the_point_that_failed_is_asked_again() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness_with_states(&sim, TWO_POINTS.to_owned()).await;
    sim.add_fault(Fault::new(FaultKind::UnknownDispensary).times(1));
    sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }));
    let discovered = harness.settle(Role::StoreDiscovery, json!({ "state_code": "AZ" })).await;
    let [again] = discovered.next.as_slice() else { panic!("not one follow-up: {:?}", discovered.next) };
    assert_eq!(again.args, json!({ "state_code": "AZ", "points": [1] }));

    let ended = harness.run(Role::StoreDiscovery, again.args.clone()).await;
    assert!(matches!(ended, Err(TaskError::Retry { .. })), "it fails once no point answers: {:?}", ended.err());
}

#[tokio::test]
async fn stores_all_over_a_state_are_found_once_each() {
    let sim = simulator(Settings { stores: 40, products_per_store: 20..=20, spread: true, ..Settings::default() });
    let harness = harness(&sim).await;
    let latitudes = |state: &str| {
        let of_state = sim.stores().iter().filter(|seed| seed.state == state).map(|seed| seed.latitude);
        of_state.fold((f64::MAX, f64::MIN), |(least, most), at| (least.min(at), most.max(at)))
    };
    let miles = |(south, north): (f64, f64)| (north - south) * 69.0;
    let height = sim.stores().iter().map(|seed| miles(latitudes(&seed.state))).fold(0.0, f64::max);
    assert!(height > 200.0, "no point sees as far as {height} miles");

    let found = harness.settle(Role::StoreDiscovery, json!({})).await;
    let mut wanted: BTreeSet<String> = sim.stores().iter().map(|seed| seed.platform_dispensary_id.clone()).collect();
    wanted.extend(promoted_before(&harness));
    assert_eq!(promoted(&harness).await, wanted);
    assert_eq!(found.result["newStoreIds"].as_array().unwrap().len(), sim.stores().len());
    assert_eq!(
        found.result["found"],
        sim.stores().len() + sim.decoys().len(),
        "seen from several points, counted once"
    );
    let progress = "SELECT progress_percent::bigint FROM worker_tasks WHERE role = 'store_discovery'";
    assert!(harness.store.count(progress).await > 90, "people see how far it is");
    let twice = "SELECT count(*) - count(DISTINCT platform_dispensary_id) FROM dispensaries";
    assert_eq!(harness.store.count(twice).await, 0);
}

/// The harness's own store.
fn promoted_before(_: &HandlerHarness) -> [String; 1] {
    ["id of Test Store".to_owned()]
}

#[tokio::test]
async fn a_discovery_that_must_wait_waits_whatever_failed_before() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let harness = harness(&sim).await;
    sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }).times(1));
    sim.add_fault(Fault::new(FaultKind::Throttled { retry_after: Some(Duration::from_secs(600)) }));
    let ended = harness.run(Role::StoreDiscovery, json!({})).await;
    assert!(matches!(ended, Err(TaskError::Snooze { .. })), "{:?}", ended.err());
}

#[tokio::test]
async fn an_unknown_platform_is_not_taken_for_another() {
    let harness = HandlerHarness::new().await;
    let mut task = harness.task(Role::StoreDiscovery, json!({})).await;
    task.platform = Some("dutchy".to_owned());
    let ended = drover::handlers::run(&harness.context(&task), task.role, &task.payload, None).await;
    let Some(TaskError::Permanent { reason }) = ended.err() else { panic!("it ran") };
    assert!(reason.contains("'dutchy'"), "{reason}");
}

#[tokio::test]
async fn a_header_that_no_recording_has_is_seen_in_the_attempts_detail() {
    let sim = simulator(Settings { stores: 1, ..Settings::default() });
    let harness = harness(&sim).await;
    let ctx = harness.context(&harness.task(Role::PayloadFetch, json!({})).await);
    let mut session = ctx.open_session(SessionAsk::default());
    let url: url::Url = sim.base_url().parse().unwrap();
    let mut request = Request::new(RequestKind::Fetch, url.clone(), url);
    let no_menu = |_: &Response| Err::<(), _>(FetchError::NotFound { what: "a menu".to_owned() });
    session.send(&request, no_menu).await.unwrap_err();
    assert_eq!(ctx.run_trace().detail().get("unrecorded_headers"), None);

    request.script_headers.push(("x-new", "1".to_owned()));
    session.send(&request, no_menu).await.unwrap_err();
    assert_eq!(ctx.run_trace().detail()["unrecorded_headers"], 1);
}

#[tokio::test]
async fn hashes_of_the_data_file_that_the_table_lacks_are_added_at_start() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    // as after years of crawls with an older release
    let refused = "INSERT INTO rotating_values (platform, name, value, last_success_at, last_refusal_at)
                   VALUES ('dutchie', 'FilteredProducts', repeat('0', 64), now() - interval '1 day', now())";
    harness.store.database.raw.batch_execute(refused).await.unwrap();

    harness.settle(Role::PayloadFetch, json!({})).await;

    assert_eq!(sim.counts().hash_not_found, 0, "an untried hash is tried before a refused one");
    let shipped = "SELECT count(*) FROM rotating_values WHERE name = 'FilteredProducts' AND endpoint = '%'";
    assert_eq!(harness.store.count(shipped).await, 4);
}

#[tokio::test]
async fn processes_of_the_release_before_read_and_write_hashes_under_their_former_names() {
    let sim = simulator(Settings { stores: 1, ..Settings::default() });
    let harness = harness(&sim).await;
    let former = "INSERT INTO query_hashes AS known (platform, operation, hash, first_ok, last_ok)
                  VALUES ('dutchie', 'A', repeat('0', 64), now(), now())
                      ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE SET last_ok = now()
                   WHERE known.last_ok IS NULL OR known.last_not_found > known.last_ok;
                  INSERT INTO query_hashes (platform, operation, hash, host_pattern, last_not_found)
                  VALUES ('dutchie', 'A', repeat('0', 64), 'a.example/graphql', now())
                      ON CONFLICT (platform, operation, hash, host_pattern) DO UPDATE SET last_not_found = now();
                  INSERT INTO query_hashes (platform, operation, hash, added_at)
                  VALUES ('dutchie', 'A', repeat('0', 64), now()) ON CONFLICT DO NOTHING;
                  INSERT INTO rotating_values (platform, name, value) VALUES ('jane', 'key', 'digest')";
    harness.store.database.raw.batch_execute(former).await.unwrap();
    harness.store.database.raw.batch_execute(former.rsplit_once(';').unwrap().0).await.unwrap();
    let now = "SELECT count(*) FROM rotating_values WHERE name = 'A' AND endpoint IN ('%', 'a.example/graphql') AND added_at <= now()";
    assert_eq!(harness.store.count(now).await, 2);
    let seen = "SELECT count(*) FROM query_hashes WHERE operation IN ('A', 'key') AND (last_ok IS NOT NULL OR last_not_found IS NOT NULL)";
    assert_eq!(harness.store.count(seen).await, 2);
}

#[tokio::test]
async fn a_shard_that_is_behind_costs_the_others_no_request() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    sim.set_shard_stale("/api-2/graphql", true);
    let fetch_at = async |path: &str| {
        let sql = "UPDATE dispensaries SET api_path = $1";
        harness.store.database.raw.execute(sql, &[&path]).await.unwrap();
        harness.settle(Role::PayloadFetch, json!({})).await;
    };
    for path in ["/api-2/graphql", "/api-3/graphql"] {
        fetch_at(path).await;
    }
    let learned = sim.counts().hash_not_found;
    for path in ["/api-2/graphql", "/api-3/graphql", "/api-2/graphql", "/api-3/graphql"] {
        fetch_at(path).await;
    }
    assert_eq!(sim.counts().hash_not_found, learned);
}

#[tokio::test]
async fn an_operator_hears_once_that_no_hash_works_any_more() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    let endpoint = harness.services.platforms.get(Platform::Dutchie).adapter.endpoint(None).unwrap();
    let endpoint = &endpoint[url::Position::BeforeHost..];
    let now = harness.services.clock.instant();
    let is_news = || harness.services.hash_alarm.raise(Platform::Dutchie, "FilteredProducts", endpoint, now);

    harness.settle(Role::PayloadFetch, json!({})).await;
    sim.add_fault(Fault::new(FaultKind::HashNotFound));
    let failed = harness.run(Role::PayloadFetch, json!({})).await;
    assert!(matches!(failed, Err(TaskError::Retry { .. })));
    assert!(!is_news(), "the failed fetch has told already");
}
