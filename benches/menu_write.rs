//! The cost of a refresh for the database: the transaction that writes a menu of 500 products (950 options,
//! specials on a quarter of them), by itself. Time, Postgres' CPU (all its processes), WAL and buffers a
//! product, for a store's first menu, the same again, and one with a tenth changed. Medians of the stores.
//! The server is a private one with its ordinary settings.
//!
//! `cargo bench --package benches --bench menu_write [-- --large]`: with `--large` the same on a database of
//! 1,000,000 products and 10,000,000 snapshots, interleaved store by store, and how long the histories of one
//! option and of one product take to read there.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use benches::{BenchServer, connect, median, postmaster};
use chrono::{DateTime, TimeDelta, Utc};
use db::{Db, PoolSizes, schema};
use domain::menu::NormalMenu;
use domain::menu::product::{Product, SpecialsJson, StockStatus, UpstreamStatus, Variant};
use domain::store::{NewStore, Platform, StoreId};
use drover::handlers::product_refresh::write::MenuWrite;
use drover::platforms::categories;
use foundation::clock::Clock;
use foundation::memory::MemoryPermit;
use settings::Config;
use tokio_postgres::Client;

const STORES: usize = 21;
const PRODUCTS: usize = 500;
const CRAWLS: [&str; 3] = ["first menu", "the same again", "a tenth changed"];
const CONNECTIONS: usize = 2;

/// 2,000 stores of 500 products and 1,000 options, each crawled ten times.
const FILL: &str = "
    INSERT INTO dispensaries (id, name, platform) SELECT 100000 + n, 'Store ' || n, 'dutchie' FROM generate_series(1, 2000) n;
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, price_rec,
                                is_on_special, quantity, quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
      SELECT 10000000 + n, 100001 + (n - 1) / 500, 'dutchie', md5(n::text), 'Product of a menu ' || n, 'Brand', 'Flower', 1000,
             false, 10, false, true, 'in_stock', now(), now()
        FROM generate_series(1, 1000000) n;
    INSERT INTO store_product_variants (store_product_id, option_label, nth, price_rec, quantity, quantity_censored, is_in_stock)
      SELECT 10000000 + n, label, 0, 1000, 5, false, true FROM generate_series(1, 1000000) n, unnest(ARRAY['1g', '3.5g']) label;
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, quantity,
                                               quantity_censored, is_in_stock, gone)
      SELECT 10000000 + n, label, 0, 1, date_trunc('hour', now()), 1000, 5, false, true, false
        FROM generate_series(1, 1000000) n, unnest(ARRAY['1g', '3.5g']) label;";
/// Each takes a product's id.
const HISTORIES: [(&str, &str); 2] = [
    (
        "an option's prices",
        "SELECT * FROM store_product_variant_history WHERE store_product_id = $1 AND option_label = '1g' AND nth = 0 ORDER BY crawled_at",
    ),
    ("a product's snapshots", "SELECT * FROM store_product_snapshots WHERE store_product_id = $1 ORDER BY crawled_at"),
];
const FILL_CRAWL: &str = "
    INSERT INTO store_product_snapshots (store_product_id, crawl_id, crawled_at, price_rec, is_on_special, quantity, quantity_censored,
                                         is_in_stock, stock_status, thc_min, thc_max, thc_unit)
      SELECT 10000000 + n, $1::bigint * 2000 + (n - 1) / 500, date_trunc('hour', now()), 1000, false, 10, false, true, 'in_stock', 20.5, 22.5,
             'PERCENTAGE'
        FROM generate_series(1, 1000000) n";

struct Side {
    name: &'static str,
    db: Db,
    raw: Client,
    server: u32,
    figures: Vec<[Figures; 3]>,
}

/// Figures of one menu, all per product except the time.
#[derive(Clone, Copy, Default)]
struct Figures {
    milliseconds: f64,
    cpu_micros: f64,
    wal_bytes: f64,
    buffers: f64,
}

#[tokio::main]
async fn main() {
    let server = BenchServer::start(env!("CARGO_BIN_EXE_drover-under-bench"), Vec::new()).await.unwrap();

    let mut sides = vec![Side::new("empty", server.url()).await];
    if std::env::args().any(|argument| argument == "--large") {
        let large = Side::new("large", server.url()).await;
        large.fill().await;
        sides.push(large);
    }
    for store in 0..STORES {
        for side in &mut sides {
            side.store(store).await;
        }
    }
    sides.iter().for_each(Side::report);
    if let Some(large) = sides.get(1) {
        large.histories().await;
    }
    if let [empty, large] = sides.as_slice() {
        for (crawl, name) in CRAWLS.iter().enumerate() {
            let ratio = large.median(crawl).milliseconds / empty.median(crawl).milliseconds;
            println!("large to empty, {name:<16} {ratio:.2} x");
        }
    }
    drop(sides);
    server.stop().await.unwrap();
}

impl Side {
    async fn new(name: &'static str, url: &str) -> Side {
        let admin = connect(url).await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE bench_{name}")).await.unwrap();
        let url = url.replacen("/drover", &format!("/bench_{name}"), 1);
        let config = Config::with(&[]).unwrap();
        let db = Db::new(&url, &config.database, PoolSizes { work: CONNECTIONS, api: 1 }).unwrap();
        schema::migrate::up(&db).await.unwrap();
        let raw = connect(&url).await.unwrap();
        let server = postmaster(&raw).await.unwrap();
        Side { name, db, raw, server, figures: Vec::new() }
    }

    async fn fill(&self) {
        self.raw.batch_execute(FILL).await.unwrap();
        for crawl in 0..10_i64 {
            self.raw.execute(FILL_CRAWL, &[&crawl]).await.unwrap();
        }
        for settle in ["VACUUM ANALYZE", "CHECKPOINT"] {
            self.raw.batch_execute(settle).await.unwrap();
        }
    }

    /// Reads histories of products all over the tables, each for the first time.
    async fn histories(&self) {
        for (name, sql) in HISTORIES {
            let statement = self.raw.prepare(sql).await.unwrap();
            let mut milliseconds = Vec::new();
            let mut rows = 0;
            for n in 0..21_i64 {
                let begun = Instant::now();
                rows = self.raw.query(&statement, &[&(10_000_001 + n * 47_000)]).await.unwrap().len();
                milliseconds.push(begun.elapsed().as_secs_f64() * 1000.0);
            }
            milliseconds.sort_by(f64::total_cmp);
            println!("{name:<22} {rows} rows, median {:.1} ms, longest {:.1} ms", milliseconds[10], milliseconds[20]);
        }
    }

    async fn store(&mut self, n: usize) {
        let store = self.add_store(n).await;
        let start = Clock::system().utc() - TimeDelta::minutes(5);
        let mut figures = [Figures::default(); 3];
        for (crawl, figures) in figures.iter_mut().enumerate() {
            *figures = self.crawl(store, start + TimeDelta::seconds(crawl as i64), menu(crawl == 2)).await;
        }
        self.figures.push(figures);
    }

    async fn add_store(&self, n: usize) -> StoreId {
        let store = NewStore {
            name: format!("Store {n}"),
            platform: Platform::Dutchie,
            platform_dispensary_id: Some(format!("id {n}")),
            slug: None,
            menu_url: None,
            api_host: None,
            api_path: None,
            city: None,
            state: None,
            timezone: None,
            groups: Vec::new(),
        };
        let tx = self.db.begin().await.unwrap();
        let id = db::stores::add(&tx, &store, &drover::platforms::menu_key).await.unwrap();
        tx.commit().await.unwrap();
        id
    }

    async fn crawl(&self, store: StoreId, at: DateTime<Utc>, products: Vec<Product>) -> Figures {
        let sql = "INSERT INTO raw_crawl_payloads (dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
                   VALUES ($1, 'dutchie', 'payloads/' || gen_random_uuid(), repeat('0', 64), 1, $2, $2, 1, $3) RETURNING id";
        let count = products.len() as i32;
        let id: i64 = self.raw.query_one(sql, &[&store, &count, &at]).await.unwrap().get(0);
        let payload = db::payloads::get(&self.db.client().await.unwrap(), id).await.unwrap().unwrap();
        let menu = Arc::new(NormalMenu { products, ..NormalMenu::default() });
        let categories = Arc::new(categories::load(None).unwrap());
        let write =
            MenuWrite { payload, menu, min_coverage: 0.995, low_stock: 5, categories, memory: MemoryPermit::default() };

        let (wal, buffers, cpu_before) = (self.wal().await, self.buffers().await, cpu(self.server));
        let begun = Instant::now();
        let tx = self.db.begin().await.unwrap();
        write.write(&tx).await.unwrap();
        tx.commit().await.unwrap();
        let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
        let a_product = |total: f64| total / PRODUCTS as f64;
        Figures {
            milliseconds,
            cpu_micros: a_product((cpu(self.server) - cpu_before) * 1e-3),
            wal_bytes: a_product(self.wal().await - wal),
            buffers: a_product(self.buffers().await - buffers),
        }
    }

    async fn wal(&self) -> f64 {
        let sql = "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8";
        self.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Pages that the sessions of the pool have looked at; each reports its own.
    async fn buffers(&self) -> f64 {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(self.db.client().await.unwrap());
        }
        for client in &clients {
            client.query("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
        }
        let sql = "SELECT (blks_hit + blks_read)::float8 FROM pg_stat_database WHERE datname = current_database()";
        self.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    fn median(&self, crawl: usize) -> Figures {
        let of = |read: fn(&Figures) -> f64| median(self.figures.iter().map(|figures| read(&figures[crawl])));
        Figures {
            milliseconds: of(|f| f.milliseconds),
            cpu_micros: of(|f| f.cpu_micros),
            wal_bytes: of(|f| f.wal_bytes),
            buffers: of(|f| f.buffers),
        }
    }

    fn report(&self) {
        for (crawl, name) in CRAWLS.iter().enumerate() {
            let Figures { milliseconds, cpu_micros, wal_bytes, buffers } = self.median(crawl);
            println!(
                "{:<6} {name:<16} {milliseconds:6.1} ms; a product: Postgres {cpu_micros:5.1} us, WAL {wal_bytes:6.0} bytes, {buffers:5.1} buffers",
                self.name
            );
        }
    }
}

fn menu(is_changed: bool) -> Vec<Product> {
    (0..PRODUCTS).map(|n| product(n, is_changed && n.is_multiple_of(10))).collect()
}

fn product(n: usize, is_changed: bool) -> Product {
    let price = 1000 + n as i32 + i32::from(is_changed);
    let labels = if n.is_multiple_of(10) { ["1g", ""] } else { ["1g", "3.5g"] };
    Product {
        provider_product_id: format!("60f1a2b3c4d5e6f7{n:08x}"),
        enterprise_product_id: Some(format!("70f1a2b3c4d5e6f7{n:08x}")),
        name_raw: format!("Product of a menu, with a name of common length {n}"),
        brand_name_raw: Some("A Brand".to_owned()),
        category: Some("Flower".to_owned()),
        subcategory: Some("premium-flower".to_owned()),
        strain_type: Some("Hybrid".to_owned()),
        price_rec: Some(price),
        price_med: Some(price),
        special_price_rec: n.is_multiple_of(4).then_some(price - 100),
        is_on_special: n.is_multiple_of(4),
        quantity: Some(8),
        is_in_stock: true,
        stock_status: StockStatus::InStock,
        upstream_status: Some(UpstreamStatus::Active),
        image_url: Some(format!("https://images.dutchie.com/60f1a2b3c4d5e6f7{n:08x}")),
        specials: n.is_multiple_of(4).then(|| specials(n % 5)),
        variants: labels.iter().filter(|label| !label.is_empty()).map(|label| variant(label, price)).collect(),
        ..Product::default()
    }
}

/// Makes about two kilobytes.
fn specials(n: usize) -> SpecialsJson {
    let rules: Vec<String> = (0..20)
        .map(|rule| format!(r#"{{"specialName":"Special {n}","specialId":"60f1a2b3{rule:08x}","discount":{rule},"itemsForAPrice":null}}"#))
        .collect();
    SpecialsJson::new(format!(r#"{{"saleSpecials":[{}]}}"#, rules.join(",")))
}

fn variant(label: &str, price: i32) -> Variant {
    Variant {
        option_label: label.to_owned(),
        size_mg: Some(1000),
        price_rec: Some(price),
        price_med: Some(price),
        quantity: Some(4),
        is_in_stock: true,
        ..Variant::default()
    }
}

/// Time in nanoseconds that the server's processes have run.
fn cpu(server: u32) -> f64 {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok()) == Some(server)
        })
    };
    let nanos = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
        stat.split(' ').next()?.parse::<f64>().ok()
    };
    pids.filter(is_child).filter_map(nanos).sum()
}
