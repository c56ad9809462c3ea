//! Whole chains against the simulated platform, through its proxies: fetch, payload, refresh, and the roles that find stores.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use drover::db;
use drover::domain::dispensary::Platform;
use drover::domain::role::Role;
use drover::handlers::TaskError;
use drover::stealth::{FetchError, Kind, Request, Response, SessionAsk};
use serde_json::{Value, json};
use sim::{Fault, FaultKind, OracleProduct, OracleVariant, Settings, Simulator, StoreSeed};

use super::captured_page;
use super::desk::{Desk, Settled};
use super::outside;

const CRAWLS: u32 = 5;

fn simulator(settings: Settings) -> Simulator {
    Simulator::start(Settings { proxies: 3, blocked_proxies: 0, ..settings }).unwrap()
}

async fn desk(sim: &Simulator) -> Desk {
    Desk::facing(sim.base_url(), outside::proxies(sim)).await
}

/// The desk's store becomes that of the simulator.
async fn become_store(desk: &Desk, seed: &StoreSeed, platform_id: Option<&str>) {
    let sql = "UPDATE dispensaries SET platform_dispensary_id = $2, slug = $3, menu_url = $4, api_path = $5, state = $6 WHERE id = $1";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&desk.store(), &platform_id, &seed.slug, &seed.menu_url, &seed.api_path, &seed.state];
    assert_eq!(desk.shelf.database.raw.execute(sql, &values).await.unwrap(), 1);
}

async fn crawl(desk: &Desk) -> Settled {
    let fetched = desk.settle(Role::PayloadFetch, json!({})).await;
    let [refresh] = fetched.next.as_slice() else { panic!("not one follow-up: {:?}", fetched.next) };
    assert_eq!((refresh.role, refresh.priority), (Role::ProductRefresh, None));
    assert_eq!(
        (refresh.dispensary_id, &refresh.payload["payload_id"]),
        (Some(desk.store()), &fetched.result["payload_id"])
    );
    desk.settle(refresh.role, refresh.payload.clone()).await
}

#[tokio::test]
async fn crawl_after_crawl_the_tables_equal_the_oracle() {
    let sim = simulator(Settings { stores: 1, products_per_store: 250..=250, ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, Some(&seed.platform_dispensary_id)).await;

    for crawl_number in 1..=CRAWLS {
        sim.set_crawl(crawl_number);
        let refreshed = crawl(&desk).await;
        let expected = sim.oracle(crawl_number).remove(0).products;
        assert_eq!(rows(&desk).await, by_id(&expected), "crawl {crawl_number}");
        let (_, snapshots) = sim.snapshots_expected(crawl_number).remove(0);
        assert_eq!(refreshed.result["snapshots"], snapshots, "crawl {crawl_number}");
        assert_eq!(snapshots_unlike_their_products(&desk).await, 0, "crawl {crawl_number}");
    }

    let kinds = [
        ("missed", expected_of(&sim, |product| product.consecutive_misses > 0)),
        ("out of stock by misses", expected_of(&sim, |product| product.consecutive_misses == 3)),
        ("without an option they had", vanished_options(&sim)),
    ];
    assert!(kinds.iter().all(|(_, count)| *count > 0), "the crawls were too tame to tell: {kinds:?}");
    assert_eq!(sim.counts().direct_connections, 0);
}

/// Of the latest crawl; those that are missing count too.
async fn snapshots_unlike_their_products(desk: &Desk) -> i64 {
    let columns = |of: &str| {
        let names = "price_rec price_med special_price_rec special_price_med is_on_special quantity quantity_censored
                     is_in_stock stock_status thc_min thc_max thc_unit cbd_min cbd_max cbd_unit";
        names.split_whitespace().map(|name| format!("{of}.{name}")).collect::<Vec<_>>().join(", ")
    };
    let sql = format!(
        "SELECT count(*) FROM store_products p
           LEFT JOIN store_product_snapshots s ON s.store_product_id = p.id AND s.crawl_id = (SELECT max(id) FROM raw_crawl_payloads)
          WHERE p.consecutive_misses = 0 AND ({}) IS DISTINCT FROM ({})",
        columns("p"),
        columns("s")
    );
    desk.shelf.count(&sql).await
}

fn expected_of(sim: &Simulator, is: impl Fn(&OracleProduct) -> bool) -> usize {
    sim.oracle(CRAWLS)[0].products.iter().filter(|product| is(product)).count()
}

/// Products with fewer options than in the crawl before.
fn vanished_options(sim: &Simulator) -> usize {
    let options = |crawl| -> BTreeMap<String, usize> {
        let products = sim.oracle(crawl).remove(0).products;
        products.into_iter().map(|product| (product.provider_product_id, product.variants.len())).collect()
    };
    let crawls: Vec<_> = (1..=CRAWLS).map(options).collect();
    crawls.windows(2).map(|pair| pair[0].iter().filter(|(id, count)| pair[1][*id] < **count).count()).sum()
}

type Rows = BTreeMap<String, Value>;

fn by_id(products: &[OracleProduct]) -> Rows {
    let row = |product: &OracleProduct| {
        json!({
            "name_raw": product.name, "brand_name_raw": product.brand, "category": product.category,
            "subcategory": product.subcategory, "strain_type": product.strain_type, "image_url": product.image_url,
            "thc": [product.thc.min, product.thc.max], "thc_unit": product.thc.unit,
            "cbd": [product.cbd.min, product.cbd.max], "cbd_unit": product.cbd.unit,
            "price_rec": product.price_rec, "price_med": product.price_med,
            "special_price_rec": product.special_price_rec, "special_price_med": product.special_price_med,
            "is_on_special": product.is_on_special, "quantity": product.quantity,
            "quantity_censored": product.quantity_censored, "is_in_stock": product.is_in_stock,
            "stock_status": product.stock_status, "consecutive_misses": product.consecutive_misses,
            "variants": product.variants.iter().map(option).collect::<BTreeMap<_, _>>(),
        })
    };
    products.iter().map(|product| (product.provider_product_id.clone(), row(product))).collect()
}

fn option(option: &OracleVariant) -> (String, Value) {
    let says = json!([
        option.price_rec,
        option.price_med,
        option.special_price_rec,
        option.special_price_med,
        option.quantity,
        option.quantity_censored,
        option.is_in_stock,
        option.size_mg,
        option.size_ml.map(|size| size as i64),
    ]);
    (format!("{}/{}", option.label, option.nth), says)
}

async fn rows(desk: &Desk) -> Rows {
    let sql = "SELECT provider_product_id,
                      jsonb_build_object('name_raw', name_raw, 'brand_name_raw', brand_name_raw, 'category', category,
                        'subcategory', subcategory, 'strain_type', strain_type, 'image_url', image_url,
                        'thc', jsonb_build_array(thc_min, thc_max), 'thc_unit', thc_unit,
                        'cbd', jsonb_build_array(cbd_min, cbd_max), 'cbd_unit', cbd_unit,
                        'price_rec', price_rec, 'price_med', price_med, 'special_price_rec', special_price_rec,
                        'special_price_med', special_price_med, 'is_on_special', is_on_special, 'quantity', quantity,
                        'quantity_censored', quantity_censored, 'is_in_stock', is_in_stock, 'stock_status', stock_status,
                        'consecutive_misses', consecutive_misses,
                        'variants', (SELECT jsonb_object_agg(option_label || '/' || nth, jsonb_build_array(
                            v.price_rec, v.price_med, v.special_price_rec, v.special_price_med, v.quantity,
                            v.quantity_censored, v.is_in_stock, size_mg, size_ml::bigint))
                          FROM store_product_variants v WHERE v.store_product_id = p.id))
                 FROM store_products p WHERE dispensary_id = $1";
    let rows = desk.shelf.database.raw.query(sql, &[&desk.store()]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[tokio::test]
async fn the_captured_page_goes_the_whole_way() {
    let Some(path) = captured_page::captured_page_path() else { return };
    let sim = simulator(Settings { stores: 0, captured_page: Some(path), ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, Some(&seed.platform_dispensary_id)).await;

    assert_eq!(crawl(&desk).await.result["new"], 25);
    captured_page::compare_all(&desk).await;
}

#[tokio::test]
async fn a_fetch_notes_its_time_its_hash_and_who_it_went_through() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, Some(&seed.platform_dispensary_id)).await;
    let task = desk.task(Role::PayloadFetch).await;
    let context = desk.context(task);

    let outcome = drover::handlers::run(&context, Role::PayloadFetch, &json!({})).await.unwrap();
    desk.commit_outcome(outcome).await;

    let detail = context.footprint().detail();
    assert_eq!(detail["proxy_ids"].as_array().unwrap().len(), 1, "{detail}");
    assert!(detail["fingerprint"].is_string() && detail["requests"].as_u64() > Some(0), "{detail}");
    let noted = "SELECT count(*) FROM dispensaries WHERE last_fetch_at IS NOT NULL AND last_crawl_at IS NULL";
    assert_eq!(desk.shelf.count(noted).await, 1);
    let kept = format!("SELECT count(*) FROM raw_crawl_payloads WHERE task_id = {task} AND coverage = 1");
    assert_eq!(desk.shelf.count(&kept).await, 1);
    let worked = "SELECT count(*) FROM query_hashes WHERE operation = 'FilteredProducts' AND last_ok IS NOT NULL";
    assert_eq!(desk.shelf.count(worked).await, 1);
}

#[tokio::test]
async fn a_menu_that_looks_empty_leaves_neither_payload_nor_misses() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, Some(&seed.platform_dispensary_id)).await;
    crawl(&desk).await;
    let before = rows(&desk).await;

    for kind in [FaultKind::EmptyPage, FaultKind::EmptyMenu] {
        let fault = sim.add_fault(Fault::new(kind.clone()));
        let ended = desk.run(Role::PayloadFetch, json!({})).await;
        assert!(matches!(ended, Err(TaskError::Retry { .. })), "{kind:?}");
        sim.remove_fault(fault);

        assert_eq!(desk.shelf.count("SELECT count(*) FROM raw_crawl_payloads").await, 1, "{kind:?}");
        assert_eq!(rows(&desk).await, before, "{kind:?}");
    }
}

#[tokio::test]
async fn a_menu_address_leads_to_an_id_and_a_first_fetch() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, None).await;

    let settled = desk.settle(Role::EntryPointDiscovery, json!({})).await;

    assert_eq!(settled.result["platform_dispensary_id"], seed.platform_dispensary_id);
    let chained: Vec<_> = settled.next.iter().map(|next| (next.role, next.priority)).collect();
    assert_eq!(chained, [(Role::ProductDiscovery, Some(10))]);
    let client = desk.services.db.client().await.unwrap();
    let store = db::stores::get(&client, desk.store()).await.unwrap().unwrap();
    assert_eq!(store.platform_dispensary_id.as_ref(), Some(&seed.platform_dispensary_id));
    assert_eq!(store.slug.as_ref(), Some(&seed.cname));
    assert!(desk.settle(Role::ProductDiscovery, json!({})).await.result["products"].as_u64() > Some(0));
}

#[tokio::test]
async fn two_addresses_of_one_store_are_told_apart_from_two_stores() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, None).await;
    let twin = desk.shelf.beside("Twin").await.store;
    let sql = "UPDATE dispensaries SET platform_dispensary_id = $2 WHERE id = $1";
    desk.shelf.database.raw.execute(sql, &[&twin, &seed.platform_dispensary_id]).await.unwrap();

    let Err(TaskError::Permanent { why }) = desk.run(Role::EntryPointDiscovery, json!({})).await else {
        panic!("the twin was not noticed")
    };
    assert!(why.contains(&format!("dispensary {twin}")), "{why}");
}

#[tokio::test]
async fn discovery_promotes_each_real_store_once() {
    let sim = simulator(Settings { stores: 6, products_per_store: 20..=20, ..Settings::default() });
    let desk = desk(&sim).await;
    // imported by hand before, without its id: the same shop
    let imported = sim.stores()[0].clone();
    let sql = "UPDATE dispensaries SET platform_dispensary_id = NULL, slug = $2, state = $3 WHERE id = $1";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&desk.store(), &imported.cname, &imported.state];
    desk.shelf.database.raw.execute(sql, &values).await.unwrap();

    let first = desk.settle(Role::StoreDiscovery, json!({})).await;

    let wanted: BTreeSet<String> = sim.stores().iter().map(|seed| seed.platform_dispensary_id.clone()).collect();
    assert_eq!(promoted(&desk).await, wanted);
    assert_eq!(first.result["newStoreIds"].as_array().unwrap().len(), wanted.len() - 1);
    assert_eq!(first.next.len(), wanted.len() - 1);
    assert!(first.next.iter().all(|next| next.role == Role::ProductDiscovery && next.priority == Some(10)));
    let refused = "SELECT count(*) FROM dutchie_discovery_locations WHERE reason IS NOT NULL AND dispensary_id IS NULL";
    assert_eq!(desk.shelf.count(refused).await, sim.decoys().len() as i64);

    let again = desk.settle(Role::StoreDiscovery, json!({})).await;
    assert_eq!(again.result["newStoreIds"], json!([]));
    assert!(again.next.is_empty());
    assert_eq!(desk.shelf.count("SELECT count(*) FROM dispensaries").await, wanted.len() as i64);
}

async fn promoted(desk: &Desk) -> BTreeSet<String> {
    let sql = "SELECT platform_dispensary_id FROM dispensaries";
    desk.shelf.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn what_is_not_seen_again_is_kept_and_flagged_only_where_was_looked() {
    let sim = simulator(Settings { stores: 6, products_per_store: 20..=20, ..Settings::default() });
    let desk = desk(&sim).await;
    let state = sim.stores()[0].state.clone();
    let gone = "INSERT INTO dutchie_discovery_locations (platform_dispensary_id, name, found_in) VALUES ('gone', 'Gone', $1), ('elsewhere', 'Far', 'ZZ')";
    desk.shelf.database.raw.execute(gone, &[&state]).await.unwrap();

    let settled = desk.settle(Role::StoreDiscovery, json!({ "state_code": state })).await;

    assert_eq!(settled.result["vanished"], 1);
    let flagged = "SELECT count(*) FROM dutchie_discovery_locations WHERE vanished_at IS NOT NULL AND platform_dispensary_id = 'gone'";
    assert_eq!(desk.shelf.count(flagged).await, 1);
}

#[tokio::test]
async fn a_platform_that_is_down_makes_no_store_vanish() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let desk = desk(&sim).await;
    let state = sim.stores()[0].state.clone();
    desk.settle(Role::StoreDiscovery, json!({ "state_code": state })).await;

    sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }));
    assert!(desk.run(Role::StoreDiscovery, json!({ "state_code": state })).await.is_err());
    let vanished = "SELECT count(*) FROM dutchie_discovery_locations WHERE vanished_at IS NOT NULL";
    assert_eq!(desk.shelf.count(vanished).await, 0);
}

#[tokio::test]
async fn states_that_nobody_could_ask_for_are_named() {
    let sim = simulator(Settings { stores: 2, products_per_store: 20..=20, ..Settings::default() });
    let desk = desk(&sim).await;
    let states = desk.services.states.iter().filter(|(_, state)| !state.points.is_empty()).count();
    sim.add_fault(Fault::new(FaultKind::UnknownDispensary).times(1));
    sim.add_fault(Fault::new(FaultKind::Throttled { retry_after: Some(Duration::from_secs(600)) }));
    let survey = desk.settle(Role::StoreDiscovery, json!({})).await;
    let failed = survey.result["failed_states"].as_object().unwrap();
    assert_eq!(failed.len(), states - 1);
    assert!(failed["WY"].as_str().unwrap().contains("not asked"), "{failed:?}");
}

#[tokio::test]
async fn a_header_that_no_recording_has_is_seen_in_the_attempts_detail() {
    let sim = simulator(Settings { stores: 1, ..Settings::default() });
    let desk = desk(&sim).await;
    let ctx = desk.context(desk.task(Role::PayloadFetch).await);
    let mut session = ctx.open_session(SessionAsk::default());
    let url: url::Url = sim.base_url().parse().unwrap();
    let mut request =
        Request { kind: Kind::GraphqlGet, url: url.clone(), referer: url, script_headers: Vec::new(), body: None };
    let no_menu = |_: &Response| Err(FetchError::NotFound { what: "a menu".to_owned() });
    session.send(&request, &no_menu).await.unwrap_err();
    assert_eq!(ctx.footprint().detail().get("unrecorded_headers"), None);

    request.script_headers.push(("x-new", "1".to_owned()));
    session.send(&request, &no_menu).await.unwrap_err();
    assert_eq!(ctx.footprint().detail()["unrecorded_headers"], 1);
}

#[tokio::test]
async fn an_operator_hears_once_that_no_hash_works_any_more() {
    let sim = simulator(Settings { stores: 1, products_per_store: 30..=30, ..Settings::default() });
    let desk = desk(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&desk, &seed, Some(&seed.platform_dispensary_id)).await;
    let is_news =
        || desk.services.hash_alarm.raise(Platform::Dutchie, "FilteredProducts", desk.services.clock.instant());

    desk.settle(Role::PayloadFetch, json!({})).await;
    sim.add_fault(Fault::new(FaultKind::HashNotFound));
    let failed = desk.run(Role::PayloadFetch, json!({})).await;
    assert!(matches!(failed, Err(TaskError::Retry { .. })));
    assert!(!is_news(), "the failed fetch has told already");
}
