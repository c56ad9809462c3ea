//! Crawls of the simulated platform by way of its proxies: their results, and the reaction to a platform that
//! misbehaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DurationRound, TimeDelta};
use db::demo::report::products::{Offer, PotencyRecord, ProductRecord};
use domain::menu::NormalMenu;
use domain::menu::product::{Potency, Product};
use domain::payload::FetchStart;
use domain::store::{FoundStore, Platform, Store};
use drover::platforms::{
    self, Adapter, CrawlLimits, Crawler, DiscoveryPoint, HashObservation, Menu, QueryHashes, StoreRef,
};
use drover::stealth::{FetchError, Session, SessionAsk};
use foundation::clock::Clock;
use settings::Config;
use sim::{Coding, Fault, FaultKind, Operation, OracleStore, Refusal, Settings, Simulator, StoreSeed};
use storage::{PayloadContent, Payloads};

use crate::handlers::test_sessions;

/// A simulated platform and the parts that one task crawls it with.
struct PlatformHarness {
    sim: Simulator,
    adapter: Arc<dyn Adapter>,
    session: Session,
    hashes: QueryHashes,
    limits: CrawlLimits,
}

impl PlatformHarness {
    fn new(settings: Settings) -> PlatformHarness {
        let sim = Simulator::start(Settings { blocked_proxies: 0, proxies: 3, ..settings }).unwrap();
        let config = Config::with(&[("platform.dutchie.base_url", sim.base_url())]).unwrap();
        let adapter = platforms::adapter(Platform::Dutchie, &config).unwrap();
        let hashes = QueryHashes::new(adapter.persisted().unwrap().shipped_hashes().to_vec());
        let session = test_sessions::sessions(test_sessions::proxies(&sim), "127.0.0.1").open(SessionAsk::default());
        let limits = CrawlLimits { max_pages: 40, min_coverage: 0.995 };
        PlatformHarness { sim, adapter, session, hashes, limits }
    }

    /// One store with a menu of several pages.
    fn of_one_store() -> PlatformHarness {
        PlatformHarness::new(Settings { stores: 1, products_per_store: 450..=450, ..Settings::default() })
    }

    fn store(&self) -> Store {
        dispensary(&self.sim.stores()[0])
    }

    fn crawler(&mut self) -> Crawler<'_> {
        let PlatformHarness { adapter, session, hashes, limits, .. } = self;
        Crawler { adapter, session, hashes, keys: None, limits: *limits }
    }

    async fn fetch(&mut self, store: &Store) -> Result<Menu, FetchError> {
        self.fetch_after(store, 1).await
    }

    /// Fetches as if the store's menu had held `products` products before.
    async fn fetch_after(&mut self, store: &Store, products: usize) -> Result<Menu, FetchError> {
        let at = Clock::system().utc().duration_trunc(TimeDelta::milliseconds(1)).unwrap();
        let start = FetchStart { at, products, expects_empty: false, small_menu_proxies: Vec::new() };
        self.crawler().fetch_menu(store, &start, &|_| ()).await
    }

    async fn resolve(&mut self, store: &Store) -> Result<StoreRef, FetchError> {
        self.crawler().resolve_store(store).await
    }

    async fn discover(&mut self, point: &DiscoveryPoint) -> Vec<FoundStore> {
        self.crawler().discover(point).await.unwrap()
    }
}

fn dispensary(seed: &StoreSeed) -> Store {
    Store {
        id: 1,
        name: seed.name.clone(),
        platform: Platform::Dutchie,
        platform_dispensary_id: Some(seed.platform_dispensary_id.clone()),
        slug: None,
        menu_url: Some(seed.menu_url.clone()),
        api_host: None,
        api_path: seed.api_path.clone(),
        state: Some(seed.state.clone()),
        timezone: Some(seed.timezone.clone()),
        crawl_enabled: true,
    }
}

/// Normalises a menu by way of a payload file, as a task does.
async fn normalised(menu: Menu) -> NormalMenu {
    let root = tempfile::tempdir().unwrap();
    let payloads = Payloads::new(root.path(), "a test");
    let content = PayloadContent::from(&menu);
    let head = content.head.clone();
    let file = payloads.write(content).await.unwrap();
    let stored = payloads.read(&file.storage_path, &file.sha256).await.unwrap();
    assert_eq!(stored.head, head);
    let normal = platforms::normalise(Platform::Dutchie, &stored.pages()).unwrap();
    assert_eq!(normal, menu.normal, "a payload's file holds what its fetch has seen");
    normal
}

/// A product as the tables hold it after its first crawl.
pub fn record(platform_dispensary_id: &str, product: &Product) -> ProductRecord {
    let offer = Offer {
        price_rec: product.price_rec,
        price_med: product.price_med,
        special_price_rec: product.special_price_rec,
        special_price_med: product.special_price_med,
        is_on_special: product.is_on_special,
        thc: potency(product.thc.as_ref()),
        cbd: potency(product.cbd.as_ref()),
        quantity: product.quantity,
        quantity_censored: product.quantity_censored,
        is_in_stock: product.is_in_stock,
        stock_status: product.stock_status.name().to_owned(),
    };
    let mut variants = product.variants.clone();
    variants.sort_by(|one, other| (&one.option_label, one.nth).cmp(&(&other.option_label, other.nth)));
    ProductRecord {
        platform_dispensary_id: platform_dispensary_id.to_owned(),
        provider_product_id: product.provider_product_id.clone(),
        name: product.name_raw.clone(),
        brand: product.brand_name_raw.clone(),
        category: product.category.clone(),
        subcategory: product.subcategory.clone(),
        strain_type: product.strain_type.clone(),
        image_url: product.image_url.clone(),
        consecutive_misses: 0,
        offer: offer.clone(),
        variants,
        snapshot: Some(offer),
    }
}

fn potency(potency: Option<&Potency>) -> PotencyRecord {
    let (min, max) = potency.map_or((None, None), |potency| (potency.min, potency.max));
    PotencyRecord { min, max, unit: potency.and_then(|potency| potency.unit).map(|unit| unit.name().to_owned()) }
}

#[tokio::test]
async fn every_menu_becomes_what_the_oracle_says() {
    let mut field = PlatformHarness::new(Settings { stores: 12, products_per_store: 20..=400, ..Settings::default() });
    let oracle = field.sim.oracle(1);
    for seed in field.sim.stores().to_vec() {
        let menu = field.fetch(&dispensary(&seed)).await.unwrap();
        assert_eq!((menu.coverage(), menu.pages.len()), (1.0, menu.total_count.div_ceil(100)));
        assert!(menu.pages.iter().all(|page| page.is_gzip), "upstream answers gzip, which is kept as it came");
        let count = menu.product_count;
        let menu = normalised(menu).await;
        assert_eq!((menu.products.len(), menu.warnings.is_empty()), (count, true));
        let truth = oracle.iter().find(|store| store.platform_dispensary_id == seed.platform_dispensary_id).unwrap();
        must_equal(&menu, truth);
    }
    assert_eq!(field.sim.counts().direct, 0);
}

fn must_equal(menu: &NormalMenu, truth: &OracleStore) {
    let store = &truth.platform_dispensary_id;
    let present = truth.products.iter().filter(|product| product.is_present);
    let expected: BTreeMap<_, _> = present
        .map(|product| (&product.provider_product_id, drover::simulated::product_record(store, product)))
        .collect();
    assert_eq!(expected.len(), menu.products.len());
    for product in &menu.products {
        assert_eq!(record(store, product), expected[&product.provider_product_id]);
    }
}

#[tokio::test]
async fn the_captured_page_is_a_menu_of_its_own() {
    let Some(page) = testkit::fixture("dutchie/filtered_products_page.json") else { return };
    let mut field = PlatformHarness::new(Settings { stores: 0, captured_page: Some(page), ..Settings::default() });
    let menu = field.fetch(&field.store()).await.unwrap();
    assert_eq!((menu.total_count, menu.product_count, menu.pages.len()), (25, 25, 1));
    assert_eq!(normalised(menu).await.products[0].name_raw, "Forza | Live Sugar | 1g");
}

#[tokio::test]
async fn every_form_of_menu_address_leads_to_its_store() {
    let mut field = PlatformHarness::new(Settings { stores: 10, products_per_store: 20..=20, ..Settings::default() });
    for seed in field.sim.stores().to_vec() {
        let store = Store { platform_dispensary_id: None, ..dispensary(&seed) };
        let found = field.resolve(&store).await.unwrap();
        let expected =
            StoreRef { platform_dispensary_id: seed.platform_dispensary_id.clone(), slug: Some(seed.cname.clone()) };
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_not_found() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::UnknownDispensary));
    let error = field.resolve(&field.store()).await.unwrap_err();
    assert!(matches!(error, FetchError::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn an_address_that_leads_to_a_closed_or_test_store_is_not_found() {
    let mut field = PlatformHarness::of_one_store();
    let decoys = field.sim.decoys().to_vec();
    let is_closed = |decoy: &&StoreSeed| decoy.status == "closed";
    assert!(decoys.iter().any(|decoy| is_closed(&decoy)) && decoys.iter().any(|decoy| !is_closed(&decoy)));
    for decoy in decoys {
        let store = Store { platform_dispensary_id: None, ..dispensary(&decoy) };
        let found = field.resolve(&store).await;
        assert!(matches!(found, Err(FetchError::NotFound { .. })), "{}: {found:?}", decoy.name);
    }
}

#[tokio::test]
async fn discovery_sees_all_and_refuses_what_sells_nothing() {
    let mut field = PlatformHarness::new(Settings { stores: 18, products_per_store: 20..=20, ..Settings::default() });
    let point = DiscoveryPoint { latitude: 33.45, longitude: -112.07, miles: 5000.0 };
    let found = field.discover(&point).await;
    let ids = |refused: bool| -> Vec<String> {
        let of_kind = found.iter().filter(|store| store.rejection_reason.is_some() == refused);
        let mut ids: Vec<_> = of_kind.map(|store| store.platform_dispensary_id.clone()).collect();
        ids.sort();
        ids
    };
    let seeded = |seeds: &[StoreSeed]| -> Vec<String> {
        let mut ids: Vec<_> = seeds.iter().map(|seed| seed.platform_dispensary_id.clone()).collect();
        ids.sort();
        ids
    };
    assert!(!field.sim.decoys().is_empty());
    assert_eq!((ids(false), ids(true)), (seeded(field.sim.stores()), seeded(field.sim.decoys())));
}

fn worked(observations: &[HashObservation]) -> Vec<&str> {
    observations
        .iter()
        .filter_map(|note| if let HashObservation::Worked(hash) = note { Some(&*hash.hash) } else { None })
        .collect()
}

#[tokio::test]
async fn a_stale_hash_is_followed_by_the_next_and_nobody_is_blamed() {
    let mut field = PlatformHarness::of_one_store();
    let older = sim::history(Operation::FilteredProducts)[1];
    field.sim.switch_hash(Operation::FilteredProducts, Some(older));
    let menu = field.fetch(&field.store()).await.unwrap();
    let counts = field.sim.counts();
    assert_eq!(
        (menu.coverage(), counts.hash_not_found, counts.blocked),
        (1.0, 1, 0),
        "it is stale once, not once a page"
    );
    assert_eq!(counts.proxies.iter().filter(|proxy| proxy.requests > 0).count(), 1, "the proxy is kept");
    assert_eq!(worked(&field.hashes.take_observations()), [older]);
    assert!(field.hashes.exhausted().is_empty());
}

#[tokio::test]
async fn one_stale_shard_costs_a_request() {
    let mut field = PlatformHarness::of_one_store();
    let store = Store { api_path: Some("/api-2/graphql".to_owned()), ..field.store() };
    field.sim.set_shard_stale("/api-2/graphql", true);
    field.fetch(&store).await.unwrap();
    let current = Store { api_path: Some("/api-3/graphql".to_owned()), ..store };
    field.fetch(&current).await.unwrap();
    assert_eq!(worked(&field.hashes.take_observations()).len(), 2);
}

#[tokio::test]
async fn without_any_hash_the_whole_text_is_sent() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.switch_hash(Operation::FilteredProducts, None);
    let menu = field.fetch(&field.store()).await.unwrap();
    let counts = field.sim.counts();
    assert_eq!((menu.coverage(), counts.full_text), (1.0, menu.pages.len() as u64));
    assert!(menu.pages.len() > 1);
    assert_eq!(counts.hash_not_found, 3, "each hash is refused once, not once a page");
    assert_eq!(field.hashes.exhausted(), ["FilteredProducts"]);
}

#[tokio::test]
async fn the_whole_text_asks_for_everything_that_is_read() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.switch_hash(Operation::FilteredProducts, None);
    let menu = field.fetch(&field.store()).await.unwrap();
    must_equal(&normalised(menu).await, &field.sim.oracle(1)[0]);
}

#[tokio::test]
async fn a_platform_that_takes_neither_is_stale() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::HashNotFound));
    let error = field.fetch(&field.store()).await.unwrap_err();
    assert!(matches!(error, FetchError::UnknownQuery { .. }), "{error}");
    assert_eq!(field.hashes.take_observations().len(), 3);
}

#[tokio::test]
async fn what_refuses_the_full_text_is_named_each_time() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.switch_hash(Operation::FilteredProducts, None);
    field.sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: false }));
    let first = field.fetch(&field.store()).await.unwrap_err();
    let second = field.fetch(&field.store()).await.unwrap_err();
    assert_eq!((first.label(), &first), ("hash_stale", &second));
    assert!(first.to_string().contains("Something went wrong"), "{first}");
}

#[tokio::test]
async fn an_empty_first_page_is_asked_for_again_through_another_proxy() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::EmptyPage).on_page(0).times(1));
    assert_eq!(field.fetch(&field.store()).await.unwrap().coverage(), 1.0);
    assert_eq!(field.session.trace().read().proxy_ids.len(), 2);
    assert_eq!(field.sim.counts().blocked, 0);
}

#[tokio::test]
async fn a_menu_that_shows_none_of_the_products_it_announces_is_empty() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::EmptyPage).on_page(0));
    assert_eq!(field.fetch(&field.store()).await.unwrap_err(), FetchError::Empty);
}

#[tokio::test]
async fn a_menu_of_less_than_half_is_fetched_once_more_through_another_proxy() {
    let mut field = PlatformHarness::of_one_store();
    let whole = field.fetch_after(&field.store(), 1).await.unwrap().product_count;
    let asked = field.sim.counts().filtered_products;
    assert_eq!(field.fetch_after(&field.store(), 2 * whole + 1).await.unwrap().product_count, whole);
    assert_eq!(field.sim.counts().filtered_products, 3 * asked);
    assert_eq!(field.session.trace().read().proxy_ids.len(), 2);
}

#[tokio::test]
async fn a_menu_with_a_hole_is_incomplete() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::EmptyPage).on_page(1));
    let error = field.fetch(&field.store()).await.unwrap_err();
    assert!(matches!(error, FetchError::Incomplete { seen: 100, .. }), "{error}");
}

#[tokio::test]
async fn products_that_unstable_ties_lose_are_missed() {
    let mut field = PlatformHarness::of_one_store();
    let (_, total) = field.sim.snapshots_expected(1).remove(0);
    field.sim.add_fault(Fault::new(FaultKind::LostToTies));
    let error = field.fetch(&field.store()).await.unwrap_err();
    let (seen, min_coverage) = (total - (total.div_ceil(100) - 1), 0.995);
    assert_eq!(error, FetchError::Incomplete { seen, total, min_coverage });
}

#[tokio::test]
async fn a_total_that_grows_while_it_is_crawled_is_noticed() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::GrowingTotal));
    let error = field.fetch(&field.store()).await.unwrap_err();
    assert!(matches!(error, FetchError::Incomplete { seen, total, .. } if total > seen), "{error}");
}

#[tokio::test]
async fn a_coding_that_is_not_kept_as_it_came_makes_the_same_menu() {
    let settings = Settings { stores: 1, products_per_store: 250..=250, ..Settings::default() };
    let mut field = PlatformHarness::new(Settings { coding: Some(Coding::Brotli), ..settings });
    let menu = field.fetch(&field.store()).await.unwrap();
    assert!(menu.pages.iter().all(|page| !page.is_gzip));
    must_equal(&normalised(menu).await, &field.sim.oracle(1)[0]);
}

#[tokio::test]
async fn pages_beyond_the_cap_are_not_asked_for_and_make_no_whole_menu() {
    let mut field = PlatformHarness::of_one_store();
    field.limits = CrawlLimits { max_pages: 2, min_coverage: 0.1 };
    let fetched = field.fetch(&field.store()).await.map(|menu| menu.product_count);
    let error = fetched.unwrap_err();
    assert_eq!(error.label(), "incomplete");
    assert!(error.to_string().contains("http.max_pages"), "{error}");
    assert_eq!(field.sim.counts().filtered_products, 2);
}

#[tokio::test]
async fn a_total_that_drifts_a_little_is_accepted() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::DriftingTotal));
    let menu = field.fetch(&field.store()).await.unwrap();
    assert!(menu.coverage() < 1.0 && menu.coverage() >= 0.995, "{}", menu.coverage());
}

#[tokio::test]
async fn errors_beside_data_fail_the_crawl() {
    let mut field = PlatformHarness::of_one_store();
    field.sim.add_fault(Fault::new(FaultKind::GraphqlErrors { with_data: true }).on_page(1));
    let error = field.fetch(&field.store()).await.unwrap_err();
    assert!(matches!(error, FetchError::Rejected { .. }), "{error}");
    assert_eq!(field.sim.counts().blocked, 0);
}

#[tokio::test]
async fn passing_trouble_is_overcome() {
    let mut field = PlatformHarness::of_one_store();
    let troubles = [
        FaultKind::CutShort,
        FaultKind::Truncated,
        FaultKind::ServerError(500),
        FaultKind::Blocked(Refusal::Forbidden),
    ];
    for (page, kind) in troubles.into_iter().enumerate() {
        field.sim.add_fault(Fault::new(kind).on_page(page).times(1));
    }
    let menu = field.fetch(&field.store()).await.unwrap();
    assert_eq!((menu.coverage(), field.sim.counts().faults), (1.0, 4));
}
