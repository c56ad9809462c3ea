//! A refresh of a 1,000-product payload (read, parse, normalise, write, commit) beside a bare COPY of the
//! same rows into the same tables, on a private server with its ordinary settings. Five interleaved rounds
//! after one to warm up; medians.
//!
//! `cargo bench --package benches --bench refresh`

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../tests/integration/handlers/test_sessions.rs"]
mod test_sessions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::{BenchServer, connect, median};
use bytes::{Bytes, BytesMut};
use db::tasks::{self, ClaimBatch, ClaimedTask, NewTask};
use db::{Db, PoolSizes, schema};
use domain::store::{Platform, StoreId};
use domain::task::role::Role;
use drover::app;
use drover::handlers::{self, Context, TaskServices};
use drover::simulated;
use foundation::clock::Clock;
use futures_util::{SinkExt, TryStreamExt};
use queue::Outcome;
use serde_json::Value;
use sim::{Settings, Simulator, StoreSeed};
use storage::Payloads;
use tokio_postgres::Client;

const ROUNDS: usize = 5;
/// Products a store ever has; about 1,000 of them are on its menu at a time.
const SIZE: u64 = 1185;
const TABLES: [&str; 3] = ["store_products", "store_product_variants", "store_product_snapshots"];

struct Bench {
    services: Arc<TaskServices>,
    raw: Client,
}

/// Milliseconds of one round.
struct Round {
    rows: [u64; 3],
    copy: f64,
    first: f64,
    unchanged: f64,
    changed: f64,
}

#[tokio::main]
async fn main() {
    let sizes = SIZE as usize..=SIZE as usize;
    let settings = Settings {
        stores: ROUNDS + 1,
        products_per_store: sizes,
        proxies: 1,
        blocked_proxies: 0,
        ..Settings::default()
    };
    let sim = Simulator::start(settings).unwrap();
    let server = BenchServer::start(env!("CARGO_BIN_EXE_drover-under-bench"), Vec::new()).await.unwrap();

    let bench = Bench::new(&sim, server.url(), server.dir()).await;
    let mut rounds = Vec::new();
    for seed in sim.stores() {
        sim.set_crawl(1);
        rounds.push(bench.round(&sim, seed).await);
    }
    report(&rounds[1..]);
    drop(bench);
    server.stop().await.unwrap();
}

impl Bench {
    async fn new(sim: &Simulator, url: &str, dir: &std::path::Path) -> Bench {
        let config = test_sessions::test_config(sim.base_url());
        let db = Db::new(url, &config.database, PoolSizes { work: 4, api: 1 }).unwrap();
        schema::migrate::up(&db).await.unwrap();
        let proxies = test_sessions::RoundRobinProxies::new(test_sessions::proxies(sim));
        let payloads = Payloads::new(dir.join("storage"), "a bench");
        let services = app::services(
            &settings::LiveConfig::fixed(config.clone()),
            &db,
            payloads,
            &Clock::system(),
            Arc::new(proxies),
        )
        .unwrap();
        let raw = connect(url).await.unwrap();
        Bench { services: Arc::new(services), raw }
    }

    /// One store: its first crawl, a bare COPY of what that wrote, the same menu again, and the next crawl's.
    async fn round(&self, sim: &Simulator, seed: &StoreSeed) -> Round {
        let store = self.add(seed).await;
        self.fetch(store).await;
        let first = self.timed_refresh(store).await;
        let (rows, copy) = self.timed_copy(store).await;
        self.fetch(store).await;
        let unchanged = self.timed_refresh(store).await;
        sim.set_crawl(2);
        self.fetch(store).await;
        let changed = self.timed_refresh(store).await;
        Round { rows, copy, first, unchanged, changed }
    }

    async fn add(&self, seed: &StoreSeed) -> StoreId {
        let tx = self.services.db.begin().await.unwrap();
        let id = db::stores::add(&tx, &simulated::store(Platform::Dutchie, seed), &drover::platforms::menu_key)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        id
    }

    async fn timed_refresh(&self, store: StoreId) -> f64 {
        let task = self.claim(store, Role::ProductRefresh).await;
        let begun = Instant::now();
        self.run(store, task).await;
        milliseconds(begun)
    }

    async fn fetch(&self, store: StoreId) {
        let task = self.claim(store, Role::PayloadFetch).await;
        self.run(store, task).await;
    }

    /// Runs a claimed task and commits it as the engine does.
    async fn run(&self, store: StoreId, task: ClaimedTask) {
        let context =
            Context::new(Arc::clone(&self.services), task.lease.id, Some(store), Some(Platform::Dutchie.to_string()));
        let Outcome::Done(done) = handlers::run(&context, task.role, &task.payload, None).await.unwrap() else {
            panic!("the run ended early")
        };
        let tx = self.services.db.begin().await.unwrap();
        queue::commit(tx, &task, &done, &Value::Null, None).await.unwrap();
    }

    /// Cancels tasks that earlier runs have chained, since the new task would wait for them.
    async fn claim(&self, store: StoreId, role: Role) -> ClaimedTask {
        let open = "UPDATE worker_tasks SET status = 'cancelled' WHERE status = 'pending'";
        self.raw.batch_execute(open).await.unwrap();
        let new = NewTask { dispensary_id: Some(store), platform: Some("dutchie".to_owned()), ..NewTask::new(role) };
        let claim = ClaimBatch {
            roles: vec![role],
            workers: vec!["bench".to_owned()],
            lease: Duration::from_secs(600),
            ..ClaimBatch::default()
        };
        let client = self.services.db.client().await.unwrap();
        tasks::enqueue(&client, &[new]).await.unwrap();
        tasks::settle_and_claim(&client, &claim).await.unwrap().claimed.pop().unwrap()
    }

    /// Takes the store's rows out and puts them back by COPY in one transaction, into the same tables with
    /// the same indexes.
    async fn timed_copy(&self, store: StoreId) -> ([u64; 3], f64) {
        let mut kept = Vec::new();
        for table in TABLES {
            kept.push(self.copy_out(table, store).await);
        }
        let own = own_products(store);
        let empty = format!(
            "DELETE FROM store_product_snapshots WHERE store_product_id IN ({own}); DELETE FROM store_products WHERE dispensary_id = {store}"
        );
        self.raw.batch_execute(&empty).await.unwrap();
        // dead rows of our own making must not slow the COPY down
        for table in TABLES {
            self.raw.batch_execute(&format!("VACUUM {table}")).await.unwrap();
        }
        let begun = Instant::now();
        self.raw.batch_execute("BEGIN").await.unwrap();
        let mut rows = [0; 3];
        for ((table, bytes), rows) in TABLES.iter().zip(kept).zip(&mut rows) {
            *rows = self.copy_in(table, bytes).await;
        }
        self.raw.batch_execute("COMMIT").await.unwrap();
        (rows, milliseconds(begun))
    }

    async fn copy_out(&self, table: &str, store: StoreId) -> Bytes {
        let column = if table == "store_products" { "id" } else { "store_product_id" };
        let own = own_products(store);
        let sql = format!("COPY (SELECT * FROM {table} WHERE {column} IN ({own})) TO STDOUT BINARY");
        let stream = self.raw.copy_out(&sql).await.unwrap();
        let chunks: Vec<Bytes> = stream.try_collect().await.unwrap();
        chunks.concat().into()
    }

    async fn copy_in(&self, table: &str, bytes: Bytes) -> u64 {
        let sink = self.raw.copy_in::<_, Bytes>(&format!("COPY {table} FROM STDIN BINARY")).await.unwrap();
        let mut sink = std::pin::pin!(sink);
        let mut bytes = BytesMut::from(bytes);
        while !bytes.is_empty() {
            let chunk = bytes.split_to(bytes.len().min(64 << 10)).freeze();
            sink.send(chunk).await.unwrap();
        }
        sink.finish().await.unwrap()
    }
}

fn own_products(store: StoreId) -> String {
    format!("SELECT id FROM store_products WHERE dispensary_id = {store}")
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}

fn report(rounds: &[Round]) {
    for round in rounds {
        let [products, variants, snapshots] = round.rows;
        println!(
            "{products} products, {variants} options, {snapshots} snapshots: COPY {:.1} ms, first {:.1} ms, unchanged {:.1} ms, next crawl {:.1} ms",
            round.copy, round.first, round.unchanged, round.changed
        );
    }
    let copy = median(rounds.iter().map(|round| round.copy));
    println!("bare COPY of the rows             {copy:7.1} ms");
    type Figure = fn(&Round) -> f64;
    let rows: [(&str, Figure); 3] =
        [("first crawl", |r| r.first), ("the same menu again", |r| r.unchanged), ("the next crawl", |r| r.changed)];
    for (name, of) in rows {
        let time = median(rounds.iter().map(of));
        println!("refresh: {name:<24} {time:7.1} ms   {:.2} x COPY", time / copy);
    }
}
