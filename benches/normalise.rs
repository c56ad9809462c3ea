//! The cost of a menu page on its way into products: inflated, read and normalised, hashed, dropped. Figures
//! are MB/s of JSON on one core, microseconds a product, and allocations a product; medians of interleaved
//! rounds after one to warm up. The pages are the simulator's, and a captured one of the real platform where
//! there are fixtures.
//!
//! `cargo bench --package benches --bench normalise`

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../tests/testkit/fixture.rs"]
mod fixture;
#[path = "../tests/integration/handlers/test_sessions.rs"]
mod test_sessions;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use domain::menu::{MenuBuilder, NormalPage};
use domain::payload::FetchStart;
use domain::store::{Platform, Store};
use drover::platforms::dutchie::normalize::read_page;
use drover::platforms::{self, CrawlLimits, Crawler, QueryHashes};
use drover::stealth::{SessionAsk, decode};
use flate2::Compression;
use flate2::write::GzEncoder;
use foundation::clock::Clock;
use settings::Config;
use sim::{Settings, Simulator, StoreSeed};

const ROUNDS: usize = 7;
/// How long a stage is repeated in a round.
const ROUND: Duration = Duration::from_millis(250);
const MAX_BODY: usize = 32 << 20;
const MAX_ITEMS: usize = 4000;
const STORES: usize = 4;
const PRODUCTS: usize = 500;

/// Counts allocations of the code under test: the simulator is gone by then.
struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    ALLOCATED.fetch_add(bytes as u64, Ordering::Relaxed);
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Pages of one origin, as they come and inflated.
struct Pages {
    name: &'static str,
    gzipped: Vec<Bytes>,
    bodies: Vec<Bytes>,
    products: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    report(&Pages::new("simulated", simulated_pages().await));
    let captured = fixture::fixture("dutchie/filtered_products_page.json");
    if let Some(path) = captured {
        report(&Pages::new("captured", vec![gzip(&std::fs::read(path).unwrap())]));
    }
}

impl Pages {
    fn new(name: &'static str, gzipped: Vec<Bytes>) -> Pages {
        let bodies: Vec<Bytes> = gzipped.iter().map(inflate).collect();
        let products = bodies.iter().map(|body| read(body).products().len()).sum();
        Pages { name, gzipped, bodies, products }
    }

    fn json_bytes(&self) -> usize {
        self.bodies.iter().map(Bytes::len).sum()
    }
}

fn inflate(raw: &Bytes) -> Bytes {
    decode::decode(raw, "gzip", MAX_BODY).unwrap()
}

fn read(body: &Bytes) -> NormalPage {
    read_page(0, body, MAX_ITEMS).unwrap().page
}

fn report(pages: &Pages) {
    let json = pages.json_bytes();
    println!(
        "{}: {} pages, {} products, {} KB of JSON, {} bytes a product",
        pages.name,
        pages.bodies.len(),
        pages.products,
        json >> 10,
        json / pages.products
    );
    let whole: Vec<NormalPage> = pages.bodies.iter().map(read).collect();
    let stages: [(&str, &dyn Fn()); 5] = [
        ("inflate", &|| pages.gzipped.iter().for_each(|raw| drop(black_box(inflate(raw))))),
        ("read and drop", &|| pages.bodies.iter().for_each(|body| drop(black_box(read(body))))),
        ("clone and drop", &|| drop(black_box(whole.clone()))),
        ("clone, merge and drop", &|| {
            let mut menu = MenuBuilder::default();
            whole.iter().for_each(|page| menu.add(page.clone()).unwrap());
            drop(black_box(menu.build()));
        }),
        ("content hash", &|| {
            whole.iter().flat_map(NormalPage::products).for_each(|product| {
                black_box(product.content_hash());
            })
        }),
    ];
    let mut seconds = vec![Vec::new(); stages.len()];
    for round in 0..=ROUNDS {
        for ((_, work), seconds) in stages.iter().zip(&mut seconds) {
            let taken = time(work);
            if round > 0 {
                seconds.push(taken);
            }
        }
    }
    for ((name, work), mut seconds) in stages.iter().zip(seconds) {
        seconds.sort_by(f64::total_cmp);
        let (allocations, allocated) = allocations(work);
        let a_product = |amount: f64| amount / pages.products as f64;
        println!(
            "  {name:<22} {:7.0} MB/s  {:6.2} µs/product (best {:6.2})  {:5.1} allocations, {:6.0} bytes a product",
            json as f64 / 1e6 / seconds[ROUNDS / 2],
            a_product(seconds[ROUNDS / 2] * 1e6),
            a_product(seconds[0] * 1e6),
            a_product(allocations as f64),
            a_product(allocated as f64),
        );
    }
}

/// Seconds that `work` takes once.
fn time(work: &dyn Fn()) -> f64 {
    let (begun, mut runs) = (Instant::now(), 0);
    while begun.elapsed() < ROUND {
        work();
        runs += 1;
    }
    begun.elapsed().as_secs_f64() / f64::from(runs)
}

fn allocations(work: &dyn Fn()) -> (u64, u64) {
    let counters = || (ALLOCATIONS.load(Ordering::Relaxed), ALLOCATED.load(Ordering::Relaxed));
    let before = counters();
    work();
    let after = counters();
    (after.0 - before.0, after.1 - before.1)
}

fn gzip(text: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap().into()
}

async fn simulated_pages() -> Vec<Bytes> {
    let settings = Settings {
        stores: STORES,
        products_per_store: PRODUCTS..=PRODUCTS,
        proxies: 1,
        blocked_proxies: 0,
        ..Settings::default()
    };
    let sim = Simulator::start(settings).unwrap();
    let config = Config::with(&[("platform.dutchie.base_url", sim.base_url())]).unwrap();
    let adapter = platforms::adapter(Platform::Dutchie, &config).unwrap();
    let mut hashes = QueryHashes::new(adapter.persisted().unwrap().shipped_hashes().to_vec());
    let sessions = test_sessions::sessions(test_sessions::proxies(&sim), "127.0.0.1");
    let limits = CrawlLimits { max_pages: 40, min_coverage: 0.995 };
    let mut pages = Vec::new();
    for seed in sim.stores() {
        let mut session = sessions.open(SessionAsk::default());
        let mut crawler = Crawler { adapter: &adapter, session: &mut session, hashes: &mut hashes, keys: None, limits };
        let start =
            FetchStart { at: Clock::system().utc(), products: 1, expects_empty: false, small_menu_proxies: Vec::new() };
        let menu = crawler.fetch_menu(&store(seed), &start, &|_| ()).await.unwrap();
        assert!(menu.pages.iter().all(|page| page.is_gzip));
        pages.extend(menu.pages.into_iter().map(|page| page.bytes));
    }
    pages
}

fn store(seed: &StoreSeed) -> Store {
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
