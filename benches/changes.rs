//! The feed of changes under load: eight writers commit changes in batches and hold some of them open for 20 s, three
//! readers follow `GET /api/changes` by cursor, and the workers that publish are killed again and again. A transaction as
//! long as an analysis of minutes is open meanwhile.
//!
//! `cargo bench --package benches --bench changes [-- --changes 1000000 --kills 50]`
//!
//! `drover api` and the two workers are processes of their own, on one private server with its ordinary settings, which
//! syncs each commit. Each reader must have each change once, and all in one order: otherwise the bench ends. How late a
//! change is, is the time from its commit, as the server notes it, until a reader has it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use benches::http::{Connection, started_api};
use benches::{BenchServer, connect};
use chrono::{DateTime, Utc};
use clap::Parser;
use db::changes::ChangeLine;
use db::{Db, PoolSizes, schema};
use domain::menu::changes::{Change, ChangeKind, ChangeSide};
use domain::payload::Payload;
use domain::store::Platform;
use foundation::clock::Clock;
use serde::Deserialize;
use settings::Config;
use tokio::process::Command;
use tokio::sync::watch;
use tokio_postgres::Client;

const WRITERS: i64 = 8;
const READERS: usize = 3;
/// Number of changes of one batch.
const BATCH: i64 = 500;
/// Time in which each writer commits a batch, so that the readers have a part of two processors.
const PACE: Duration = Duration::from_millis(200);
/// Batches of each writer that stay open.
const HELD_OPEN: [i64; 2] = [20, 120];
const OPEN: Duration = Duration::from_secs(20);
/// Shortest and longest life of a worker, in milliseconds.
const LIFE: (u64, u64) = (1_000, 4_000);
const ANALYSIS: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id(); SELECT pg_sleep(3600)";
const PROGRAM: &str = env!("CARGO_BIN_EXE_drover-under-bench");

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 1_000_000)]
    changes: i64,
    #[arg(long, default_value_t = 50)]
    kills: usize,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

/// A change as a reader knows it again: its product, and the time of its crawl.
type Key = (i64, DateTime<Utc>);

#[derive(Deserialize)]
struct Page {
    changes: Vec<Line>,
    next_cursor: String,
}

#[derive(Deserialize)]
struct Line {
    product_id: i64,
    crawled_at: DateTime<Utc>,
}

/// Changes in the order in which they came, and when.
struct Reading {
    changes: Vec<Key>,
    arrivals: HashMap<DateTime<Utc>, DateTime<Utc>>,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let per_writer = args.changes / WRITERS / BATCH;
    let server = BenchServer::start(PROGRAM, vec!["track_commit_timestamp=on".to_owned()]).await.unwrap();
    let sizes = PoolSizes { work: WRITERS as usize, api: 1 };
    let db = Db::new(server.url(), &Config::with(&[]).unwrap().database, sizes).unwrap();
    schema::migrate::up(&db).await.unwrap();
    let raw = connect(server.url()).await.unwrap();
    raw.batch_execute(&fill()).await.unwrap();
    let analysis = connect(server.url()).await.unwrap();
    let analysis = tokio::spawn(async move { analysis.batch_execute(ANALYSIS).await });
    let (_api, api) = started_api(PROGRAM, server.url()).await.unwrap();

    let begun = Instant::now();
    let begin = now_cursor(api).await;
    let (end, expected) = watch::channel(None);
    let readers: Vec<_> = (0..READERS).map(|_| tokio::spawn(follow(api, begin.clone(), expected.clone()))).collect();
    let killed = Arc::new(AtomicUsize::new(0));
    let run = |nth| run_and_kill(command(&server, nth), args.kills / 2, Arc::clone(&killed), expected.clone());
    let workers = [tokio::spawn(run(0)), tokio::spawn(run(1))];
    let writers: Vec<_> = (1..=WRITERS).map(|store| tokio::spawn(write(db.clone(), store, per_writer))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let last_commit = Instant::now();
    let written = per_writer * BATCH * WRITERS;
    println!("{written} changes in {} batches committed in {:.0?}", per_writer * WRITERS, begun.elapsed());
    end.send(Some(written as usize)).unwrap();

    let mut readings = Vec::new();
    for reader in readers {
        let reading = reader.await.unwrap();
        println!("a reader has all of them {:.1?} after the last commit", last_commit.elapsed());
        readings.push(reading);
    }
    // their processes end with them
    workers.iter().for_each(tokio::task::JoinHandle::abort);
    println!("workers killed: {}", killed.load(Ordering::Relaxed));
    verify(&readings, written as usize);
    report(&raw, &readings).await;
    analysis.abort();
    drop((raw, db));
    server.stop().await.unwrap();
}

fn fill() -> String {
    format!(
        "INSERT INTO dispensaries (id, name, slug, platform_dispensary_id, state) SELECT n, 'Store ' || n, n, n, 'AZ' FROM generate_series(1, {WRITERS}) n;
         INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, is_on_special,
                                     quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
         SELECT s, 'dutchie', n, 'Granite Ridge Blue Ledger ' || n, 'Brand ' || n % 60, 'Flower', false, false, true, 'in_stock', now(), now()
           FROM generate_series(1, {WRITERS}) s, generate_series(1, {BATCH}) n ORDER BY s, n;"
    )
}

/// The crawls of a store: a batch each, with a change of every product.
async fn write(db: Db, store: i64, batches: i64) {
    let change = price_drop();
    for nth in 0..batches {
        let begun = Instant::now();
        let payload = payload(store, store * 1_000_000 + nth);
        let line = |n| ChangeLine {
            product_id: (store - 1) * BATCH + n,
            option: Some(("3.5g".into(), 0)),
            change: change.clone(),
        };
        let tx = db.begin().await.unwrap();
        db::changes::add(&tx, &payload, (1..=BATCH).map(line).collect()).await.unwrap();
        if HELD_OPEN.contains(&nth) {
            tx.execute("SELECT pg_sleep($1)", &[&OPEN.as_secs_f64()]).await.unwrap();
        }
        tx.commit().await.unwrap();
        tokio::time::sleep(PACE.saturating_sub(begun.elapsed())).await;
    }
}

fn price_drop() -> Change {
    let priced = |cents| ChangeSide { rec: Some(cents), ..ChangeSide::default() };
    let (old, new) = (priced(3000), priced(2500));
    Change { kind: ChangeKind::PriceDrop, old, new, cents: Some(-500), percent: Some(-16.67) }
}

fn payload(store: i64, id: i64) -> Payload {
    Payload {
        id,
        task_id: None,
        dispensary_id: store,
        platform: Platform::Dutchie,
        storage_path: String::new(),
        sha256: String::new(),
        bytes: 0,
        product_count: BATCH as i32,
        total_count: BATCH as i32,
        coverage: 1.0,
        fetched_at: Clock::system().utc(),
    }
}

async fn now_cursor(api: SocketAddr) -> String {
    let body = Connection::open(api).await.unwrap().get("/api/changes").await.unwrap();
    serde_json::from_slice::<Page>(&body).unwrap().next_cursor
}

/// Reads until as many changes as are expected have come, once that is known.
async fn follow(api: SocketAddr, begin: String, expected: watch::Receiver<Option<usize>>) -> Reading {
    let mut connection = Connection::open(api).await.unwrap();
    let mut reading = Reading { changes: Vec::new(), arrivals: HashMap::new() };
    let mut cursor = begin;
    while expected.borrow().is_none_or(|expected| reading.changes.len() < expected) {
        let path = format!("/api/changes?since={cursor}&wait=1s&limit=1000");
        let page: Page = serde_json::from_slice(&connection.get(&path).await.unwrap()).unwrap();
        let now = Clock::system().utc();
        for Line { product_id, crawled_at } in page.changes {
            reading.changes.push((product_id, crawled_at));
            reading.arrivals.insert(crawled_at, now);
        }
        cursor = page.next_cursor;
    }
    reading
}

fn command(server: &BenchServer, nth: usize) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["worker", "--role", "analytics_refresh"]).env("DATABASE_URL", server.url());
    command.env("DROVER__STORAGE__ROOT", server.dir().join(format!("storage-{nth}")));
    command.env("DROVER__PROBES__LISTEN", "127.0.0.1:0").env("DROVER__HTTP__HOST_ALLOWLIST", "127.0.0.1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a worker, kills it and runs the next; the one that is there when all is written lives on.
async fn run_and_kill(
    mut command: Command,
    most: usize,
    killed: Arc<AtomicUsize>,
    mut expected: watch::Receiver<Option<usize>>,
) {
    let (shortest, longest) = LIFE;
    let mut worker = command.spawn().unwrap();
    for nth in 0..most as u64 {
        let life = Duration::from_millis(shortest + nth * 617 % (longest - shortest));
        if tokio::time::timeout(life, expected.wait_for(Option::is_some)).await.is_ok() {
            break;
        }
        worker.kill().await.unwrap();
        killed.fetch_add(1, Ordering::Relaxed);
        worker = command.spawn().unwrap();
    }
    panic!("a worker ended by itself: {}", worker.wait().await.unwrap());
}

fn verify(readings: &[Reading], written: usize) {
    for reading in readings {
        assert_eq!(reading.changes.len(), written, "each change came once");
        let distinct: HashSet<&Key> = reading.changes.iter().collect();
        assert_eq!(distinct.len(), written, "no change came twice");
        assert!(reading.changes == readings[0].changes, "all came in one order");
    }
    println!("{READERS} readers have each change once, in one order");
}

/// How late the batches were.
async fn report(raw: &Client, readings: &[Reading]) {
    let sql = "SELECT crawled_at, max(pg_xact_commit_timestamp(xmin)) FROM product_changes GROUP BY crawled_at";
    let committed: HashMap<DateTime<Utc>, DateTime<Utc>> =
        raw.query(sql, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect();
    let late = readings.iter().flat_map(|reading| &reading.arrivals);
    let mut late: Vec<f64> = late.map(|(crawl, arrived)| (*arrived - committed[crawl]).as_seconds_f64()).collect();
    late.sort_by(f64::total_cmp);
    let at = |share: usize| late[(late.len() - 1) * share / 100];
    println!("commit to reader: median {:.2} s, p95 {:.2} s, all {:.2} s", at(50), at(95), at(100));
}
