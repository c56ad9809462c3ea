//! The search on 1,000,000 products of 5,000 stores: how many of 500 typos find the intended product within
//! the first ten, and how long searching and browsing take, on tables that were never analysed and with
//! statistics.
//!
//! `cargo bench --package benches --bench search [-- --products 1000000]`
//!
//! On a private server with its ordinary settings, one question after the other on one connection.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

#[path = "../tests/testkit/names.rs"]
mod names;
#[path = "../tests/testkit/typos.rs"]
mod typos;

use std::time::{Duration, Instant};

use benches::{BenchServer, connect};
use clap::Parser;
use contract::products::{MatchKind, ProductQuestion, SearchSort};
use db::products::search::FoundProducts;
use db::{Client, Db, PoolSizes, products, schema};
use settings::Config;
use typos::{Typo, typos};

const BATCH: i64 = 20_000;
const STORES: i64 = 5_000;
const TYPOS: i64 = 500;
const SEED: u64 = 11;
const FIRST: i64 = 10;
const PAGE: i64 = 50;
/// Number of requests of each question.
const REQUESTS: usize = 20;
const LONG: Duration = Duration::from_secs(3_600);
const SORTS: [SearchSort; 6] = [
    SearchSort::Name,
    SearchSort::Price,
    SearchSort::PriceDesc,
    SearchSort::UnitPrice,
    SearchSort::PriceChange,
    SearchSort::Newest,
];

/// Two options a product, of which a fifth has no price by gram.
const OPTIONS: &str = "
    INSERT INTO store_product_variants (store_product_id, option_label, nth, price_rec, quantity_censored, is_in_stock, rec_per_g, unit_basis)
    SELECT p.id, o.label, 0, p.price_rec, false, p.is_in_stock, per.g, CASE WHEN per.g IS NOT NULL THEN 'weight' END
      FROM store_products p,
           (VALUES ('1g', 1), ('1/8oz', 3)) AS o(label, grams),
           LATERAL (SELECT CASE WHEN p.id % 5 > 0 THEN p.price_rec * 1000 / o.grams END AS g) per
     WHERE p.id BETWEEN $1 AND $2";

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 1_000_000)]
    products: i64,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() {
    let products = Args::parse().products;
    let server = BenchServer::start(env!("CARGO_BIN_EXE_drover-under-bench"), Vec::new()).await.unwrap();
    let db = Db::new(server.url(), &Config::with(&[]).unwrap().database, PoolSizes { work: 1, api: 1 }).unwrap();
    schema::migrate::up(&db).await.unwrap();
    let raw = connect(server.url()).await.unwrap();
    fill(&raw, products).await;
    let begun = Instant::now();
    products::search::copy_names(&db, LONG).await.unwrap();
    println!("copied in {:.0?}", begun.elapsed());
    let begun = Instant::now();
    products::search::count_words(&db.maintenance_client().await.unwrap()).await.unwrap();
    let words: i64 = raw.query_one("SELECT count(*) FROM search_words", &[]).await.unwrap().get(0);
    println!("{words} words counted in {:.1?}", begun.elapsed());

    let typos = typos_of(&raw, products).await;
    let client = db.api_client().await.unwrap();
    for state in ["never analysed", "analysed"] {
        println!("\n{state}");
        recall(&client, &typos).await;
        times(&client).await;
        raw.batch_execute("ANALYZE").await.unwrap();
    }
    drop((client, raw, db));
    server.stop().await.unwrap();
}

/// 5,000 stores of 24 states and 700 cities. Statistics are made when the bench says so.
async fn fill(raw: &tokio_postgres::Client, products: i64) {
    let begun = Instant::now();
    raw.batch_execute(names::NAMES).await.unwrap();
    for table in [
        "store_products",
        "store_product_variants",
        "product_search",
        "product_listing",
        "search_words",
        "dispensaries",
    ] {
        raw.batch_execute(&format!("ALTER TABLE {table} SET (autovacuum_enabled = off)")).await.unwrap();
    }
    let stores = "INSERT INTO dispensaries (id, name, slug, platform_dispensary_id, city, state, last_payload_id)
        SELECT n, 'Store ' || n, n::text, n::text, 'City ' || n % 700,
               split_part('CA,CA,CA,CA,CA,CA,MI,MI,MI,CO,CO,OK,OK,AZ,IL,MA,NV,WA,OR,NM,MO,NJ,NY,MD', ',', 1 + (n % 24)::int), 1
          FROM generate_series(1, $1::bigint) n";
    raw.execute(stores, &[&STORES]).await.unwrap();
    let made = "INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, price_rec,
                                is_on_special, quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
        SELECT n, 1 + n % $3::bigint, 'dutchie', n::text, made.name, made.brand,
               made_choice('Flower,Pre-Rolls,Vaporizers,Edible,Concentrate,Tincture,Topicals,Accessories', made_share(n, 31)),
               500 + 100 * floor(60 * made_share(n, 32))::int, made_share(n, 33) < 0.2, false, made_share(n, 34) < 0.8, 'in_stock',
               now() - made_share(n, 35) * interval '300 days', now()
          FROM generate_series($1::bigint, $2::bigint) n, made_name(n) made";
    let made = raw.prepare(made).await.unwrap();
    for first in (1..=products).step_by(BATCH as usize) {
        let last = (first + BATCH - 1).min(products);
        raw.execute(&made, &[&first, &last, &STORES]).await.unwrap();
        raw.execute(OPTIONS, &[&first, &last]).await.unwrap();
    }
    println!("{products} products made in {:.0?}", begun.elapsed());
}

async fn typos_of(raw: &tokio_postgres::Client, products: i64) -> Vec<Typo> {
    let sql = "SELECT concat_ws(' ', p.brand_name_raw, p.name_raw) FROM generate_series(1, $1::bigint) n
                 JOIN store_products p ON p.id = 1 + n * 7919 % $2::bigint";
    let names = raw.query(sql, &[&TYPOS, &products]).await.unwrap();
    let names: Vec<String> = names.iter().map(|row| row.get(0)).collect();
    typos(names.iter().map(String::as_str), SEED)
}

async fn recall(client: &Client, typos: &[Typo]) {
    let mut times = Vec::new();
    let mut found = 0;
    let mut ways = [0; 3];
    let mut missed = Vec::new();
    for typo in typos {
        let question = ProductQuestion { q: Some(typo.typed.clone()), ..ProductQuestion::default() };
        let answer = timed(client, &question, FIRST, &mut times).await;
        let is_meant = answer.products.iter().any(|found| {
            typo.means(&format!("{} {}", found.product.brand.as_deref().unwrap_or_default(), found.product.name))
        });
        if is_meant {
            found += 1;
            match answer.by {
                MatchKind::Words | MatchKind::Filters => ways[0] += 1,
                MatchKind::Corrected => ways[1] += 1,
                MatchKind::Trigrams => ways[2] += 1,
            }
        } else {
            missed.push((typo.typed.as_str(), typo.meant.join(" "), answer.by));
        }
    }
    let [words, corrected, trigrams] = ways;
    println!("recall {found} of {}: {words} by words, {corrected} corrected, {trigrams} by trigrams", typos.len());
    println!("missed {missed:?}");
    report("typos", times);
}

async fn times(client: &Client) {
    let question = |change: fn(&mut ProductQuestion)| {
        let mut question = ProductQuestion::default();
        change(&mut question);
        question
    };
    let questions = [
        ("a common word", question(|of| of.q = Some("kush".to_owned()))),
        ("a size", question(|of| of.q = Some("1g".to_owned()))),
        (
            "two words in a state",
            question(|of| (of.q, of.state) = (Some("banjo kush".to_owned()), Some("MI".to_owned()))),
        ),
        ("a brand", question(|of| of.brand = Some("ri".to_owned()))),
        ("no such brand", question(|of| of.brand = Some("zzz".to_owned()))),
        ("a state", question(|of| of.state = Some("CA".to_owned()))),
        ("a city", question(|of| of.city = Some("city 7".to_owned()))),
        ("a store", question(|of| of.store = Some(77))),
        (
            "a category below a price",
            question(|of| (of.category, of.max_price) = (Some("edible".to_owned()), Some(700))),
        ),
        ("special and sold out", question(|of| (of.on_special, of.in_stock) = (Some(true), Some(false)))),
        ("all", question(|_| ())),
    ];
    for (name, question) in questions {
        let mut sorted = Vec::new();
        for sort in SORTS {
            let mut times = Vec::new();
            let mut question = ProductQuestion { sort: Some(sort), ..question.clone() };
            for _ in 0..REQUESTS {
                let answer = timed(client, &question, PAGE, &mut times).await;
                question.after = answer.next;
            }
            sorted.extend(times);
        }
        report(name, sorted);
    }
}

async fn timed(client: &Client, question: &ProductQuestion, limit: i64, times: &mut Vec<Duration>) -> FoundProducts {
    let begun = Instant::now();
    let answer = products::search::search(client, question, limit).await.unwrap();
    times.push(begun.elapsed());
    answer
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let [p50, p95, longest] =
        [times.len() / 2, times.len() * 95 / 100, times.len() - 1].map(|at| times[at].as_secs_f64() * 1e3);
    println!("{name:<28} p50 {p50:>8.1} ms   p95 {p95:>8.1} ms   longest {longest:>8.1} ms");
}
