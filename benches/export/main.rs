//! The export of option histories in its three formats, on tables that were never analysed: rows a second, memory of the
//! program that writes them, the age of its oldest transaction, and the rate of claims meanwhile.
//!
//! `cargo bench --package benches --bench export [-- --rows 10000000] [--engines] [--kills 10]`
//!
//! On a private server with its ordinary settings. The program runs as people run it, from its start to its end. Each
//! format is written once alone and once beside claims of one task at a time on one connection, whose rate is compared
//! with the one just before and after; the last column has the rows a second of that export.
//!
//! With `--engines`, DuckDB, pandas and DataFusion count each file, and must count what Postgres does. With `--kills`,
//! exports are killed in the middle, and must leave nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod claims;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use benches::{BenchServer, connect, python};
use clap::Parser;
use db::{Db, PoolSizes, schema};
use serde::Deserialize;
use serde_json::Value;
use settings::Config;
use tokio::process::Command;
use tokio_postgres::Client;

use claims::Claimer;

/// Rows of each product: four options, each of which changed twenty times.
const ROWS_EACH: i64 = 80;
const STORES: i64 = 100;
const FORMATS: [&str; 3] = ["csv", "jsonl", "parquet"];
const PROGRAM: &str = env!("CARGO_BIN_EXE_drover-under-bench");
const SAMPLE: Duration = Duration::from_millis(100);
/// Samples of the memory for one of the transactions: an export gives way while another connection runs statements.
const SAMPLES: usize = 10;
/// Time in which claims are alone.
const ALONE: Duration = Duration::from_secs(5);

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 2_000_000)]
    rows: i64,
    /// Let DuckDB, pandas and DataFusion count each file
    #[arg(long)]
    engines: bool,
    /// Number of exports to kill in the middle
    #[arg(long, default_value_t = 0)]
    kills: u32,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

struct Bench {
    server: BenchServer,
    raw: Client,
}

/// An export that has ended.
struct Export {
    file: PathBuf,
    rows: f64,
    bytes: f64,
    time: Duration,
    /// Peak of its resident memory, in MiB.
    memory: u64,
    /// Age of its oldest transaction, in seconds.
    oldest: f64,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Count {
    engine: String,
    sums: Vec<i64>,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let server = BenchServer::start(PROGRAM, Vec::new()).await.unwrap();
    let db = Db::new(server.url(), &Config::with(&[]).unwrap().database, PoolSizes { work: 1, api: 1 }).unwrap();
    schema::migrate::up(&db).await.unwrap();
    let raw = connect(server.url()).await.unwrap();
    raw.batch_execute(&fill(args.rows / ROWS_EACH)).await.unwrap();
    let bench = Bench { server, raw };
    let claimer = Claimer::new(&db).await;

    let small = bench.export("csv", &["--until", "2000-01-01"]).await;
    println!("an export without rows takes {} MiB", small.memory);
    println!("{:8} {:>9} {:>9} {:>9} {:>15} {:>8} {:>9}", "", "rows/s", "MB", "MiB", "transaction", "claims", "beside");
    for format in FORMATS {
        let export = bench.export(format, &[]).await;
        if args.engines {
            bench.verify(format, &export.file).await;
        }
        let ((), before) = claimer.beside(tokio::time::sleep(ALONE)).await;
        let (other, beside) = claimer.beside(bench.export(format, &[])).await;
        let ((), after) = claimer.beside(tokio::time::sleep(ALONE)).await;
        let oldest = export.oldest.max(other.oldest);
        println!(
            "{format:8} {:>9.0} {:>9.1} {:>9} {oldest:>13.1} s {:>6.2} x {:>9.0}",
            export.rows / export.time.as_secs_f64(),
            export.bytes / 1e6,
            export.memory.max(other.memory),
            beside / before.midpoint(after),
            other.rows / other.time.as_secs_f64()
        );
    }
    if args.kills > 0 {
        bench.kill(args.kills).await;
    }
    let Bench { server, raw } = bench;
    drop((raw, claimer, db));
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

impl Bench {
    async fn export(&self, format: &str, others: &[&str]) -> Export {
        let file = self.server.dir().join(format!("history.{format}"));
        let begun = Instant::now();
        let child = self.command(format, &file).args(others).stdout(Stdio::piped()).spawn().unwrap();
        let pid = child.id().unwrap();
        let output = child.wait_with_output();
        tokio::pin!(output);
        let (mut memory, mut oldest) = (0, 0.0_f64);
        let mut samples = 0..;
        let output = loop {
            tokio::select! {
                output = &mut output => break output.unwrap(),
                () = tokio::time::sleep(SAMPLE) => {}
            }
            memory = peak_memory(pid).unwrap_or(memory);
            if samples.next().is_some_and(|nth: usize| nth.is_multiple_of(SAMPLES)) {
                oldest = oldest.max(self.oldest_transaction().await);
            }
        };
        let time = begun.elapsed();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (rows, bytes) = (report["rows"].as_f64().unwrap(), report["bytes"].as_f64().unwrap());
        Export { file, rows, bytes, time, memory, oldest }
    }

    fn command(&self, format: &str, file: &Path) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env("DATABASE_URL", self.server.url());
        command.args(["products", "export", "--history", "--json", "--format", format, "--out"]).arg(file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Seconds since the oldest transaction of a client began.
    async fn oldest_transaction(&self) -> f64 {
        let sql = "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8
                     FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        self.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Compares the counts of other engines with those of Postgres.
    async fn verify(&self, format: &str, file: &Path) {
        let sql = "SELECT count(*), sum(price_rec)::bigint, sum(special_price_rec)::bigint, sum(quantity)::bigint, count(*) FILTER (WHERE is_in_stock)
                     FROM store_product_variant_history";
        let row = self.raw.query_one(sql, &[]).await.unwrap();
        let expected: Vec<i64> = (0..5).map(|column| row.get(column)).collect();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("export");
        let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export-engines");
        let python = python::interpreter(&environment, &script.join("requirements.txt")).await.unwrap();
        let mut command = Command::new(python);
        let output = command.arg(script.join("count.py")).arg(format).arg(file).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let count: Count = serde_json::from_str(line).unwrap();
            assert_eq!(count.sums, expected, "{} reads another {format}", count.engine);
            println!("{format:8} {} counts the same", count.engine);
        }
    }

    /// Kills exports at ever later times.
    async fn kill(&self, kills: u32) {
        let dir = self.server.dir().join("killed");
        std::fs::create_dir(&dir).unwrap();
        for nth in 1..=kills {
            let format = FORMATS[nth as usize % FORMATS.len()];
            let mut child = self.command(format, &dir.join("history")).spawn().unwrap();
            let life = Duration::from_millis(u64::from(nth) * 500);
            assert!(tokio::time::timeout(life, child.wait()).await.is_err(), "it ended before it was killed");
            // SIGKILL
            child.kill().await.unwrap();
            let left: Vec<_> = std::fs::read_dir(&dir).unwrap().collect();
            assert!(left.is_empty(), "half a {format} is left: {left:?}");
        }
        println!("killed {kills} exports: no half file");
    }
}

/// In MiB.
fn peak_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().strip_suffix(" kB")?.parse::<u64>().ok()? / 1024)
}
