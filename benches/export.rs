//! The export of option histories in its three formats: rows a second, and the memory of the program that writes them, on
//! tables that were never analysed and with statistics.
//!
//! `cargo bench --package benches --bench export [-- --rows 2000000]`
//!
//! On a private server with its ordinary settings. The program runs as people run it, from its start to its end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::time::Instant;

use benches::{BenchServer, connect};
use clap::Parser;
use db::{Db, PoolSizes, schema};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;
use settings::Config;
use tokio::process::Command;

/// Rows of each product: four options, each of which changed twenty times.
const ROWS_EACH: i64 = 80;
const STORES: i64 = 100;

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 2_000_000)]
    rows: i64,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() {
    let products = Args::parse().rows / ROWS_EACH;
    let program = env!("CARGO_BIN_EXE_drover-under-bench");
    let server = BenchServer::start(program, Vec::new()).await.unwrap();
    let db = Db::new(server.url(), &Config::with(&[]).unwrap().database, PoolSizes { work: 1, api: 1 }).unwrap();
    schema::migrate::up(&db).await.unwrap();
    let raw = connect(server.url()).await.unwrap();
    raw.batch_execute(&fill(products)).await.unwrap();
    for state in ["never analysed", "analysed"] {
        println!("\n{state}");
        for format in ["csv", "jsonl", "parquet"] {
            export(program, &server, format).await;
        }
        raw.batch_execute("ANALYZE").await.unwrap();
    }
    println!("\npeak of its memory: {} MiB", peak_memory());
    drop((raw, db));
    server.stop().await.unwrap();
}

fn fill(products: i64) -> String {
    format!(
        "SET session_replication_role = replica;
         INSERT INTO dispensaries (name, slug, platform_dispensary_id, state) SELECT 'Store ' || n, n, n, 'AZ' FROM generate_series(1, {STORES}) n;
         INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, is_on_special,
                                     quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
         SELECT 1 + n % {STORES}, 'dutchie', n, 'Granite Ridge Blue Ledger ' || n, 'Brand ' || n % 60, 'Flower', false, false, true, 'in_stock',
                now(), now()
           FROM generate_series(1, {products}) n;
         INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, price_rec,
                                                    special_price_rec, quantity, quantity_censored, is_in_stock, gone)
         SELECT p.id, o.label, 0, crawl, now() - (45 - crawl) * interval '1 day', o.mg, 1000 + (p.id * 7 + crawl * 13) % 9000,
                CASE WHEN crawl % 4 = 0 THEN 900 END, (p.id + crawl) % 50, false, true, false
           FROM generate_series(1, 20) crawl, store_products p,
                (VALUES ('1g', 1000), ('3.5g', 3500), ('7g', 7000), ('28g', 28000)) o (label, mg);"
    )
}

async fn export(program: &str, server: &BenchServer, format: &str) {
    let file = server.dir().join("history");
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.env("DATABASE_URL", server.url()).args(["products", "export", "--history", "--json", "--format", format]);
    let output = command.arg("--out").arg(&file).output().await.unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (rows, bytes) = (report["rows"].as_f64().unwrap(), report["bytes"].as_f64().unwrap());
    println!("{format:8} {:>8.0} rows/s  {:>6.1} MB", rows / seconds, bytes / 1e6);
}

/// Peak of the resident memory of the largest program that has ended, in MiB.
fn peak_memory() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss() / 1024)
}
