//! A drain of tasks that do nothing, by the real actors of `drover worker`, beside the crate graphile_worker with
//! the settings of its own bench: tasks a second, and the server's processor time a task.
//!
//! `cargo bench --package benches --bench drain [-- --tasks 40000] [--rounds 5] [--slots 100] [--link 100ms] [--alone] [--json]`
//!
//! On one private server with its ordinary settings, in interleaved rounds; the ratio is that of the medians. A round is
//! timed from the start of the workers until no task is open in the database. A body has no effects, so its end is a
//! change of its row alone.
//!
//! The two do not do the same work. drover keeps ended tasks: their rows stay with the times of their runs and their
//! results, in the index of ended tasks, and each has gone from pending through claimed and running. graphile_worker
//! deletes a job that has ended, and knows two states of it. drover's settings are the defaults but for two: the slots, which
//! are three a worker because tasks take seconds, and the back-off at a busy processor, since both sides use all of it.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[allow(dead_code, reason = "its function reads the URL of the server")]
#[path = "../../tests/testkit/fault_proxy.rs"]
mod fault_proxy;
mod peer;
#[allow(dead_code, reason = "nothing counts its round trips here")]
#[path = "../../tests/testkit/slow_link.rs"]
mod slow_link;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use benches::{BenchServer, connect, median, postmaster, processes};
use clap::Parser;
use db::tasks::{self, ClaimedTask, NewTask};
use db::{Db, PoolSizes, schema, workers};
use domain::task::role::{Role, RoleSet};
use drover::actors::plan::{Follows, Plan, PodPlan};
use drover::actors::pods::deps::TaskParts;
use drover::actors::tree::{Tree, TreeDeps};
use drover::app;
use drover::handlers::housekeeping::Housekeeping;
use foundation::clock::Clock;
use futures_util::future::BoxFuture;
use queue::{Body, HandOver, Outcome, TaskError, Work};
use serde::Serialize;
use serde_json::{Value, json};
use settings::{Config, LiveConfig};
use slow_link::SlowLink;
use storage::Payloads;
use tokio::runtime::Runtime;
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: drover::Allocator = drover::Allocator;

const PROGRAM: &str = env!("CARGO_BIN_EXE_drover-under-bench");
/// Tasks that one statement makes.
const ENQUEUED_AT_ONCE: usize = 2000;
const POLL: Duration = Duration::from_millis(5);
const OPEN: &str = "SELECT EXISTS (SELECT FROM worker_tasks WHERE status IN ('pending', 'claimed', 'running'))";

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 40_000)]
    tasks: usize,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Tasks that one of drover's five workers runs at once
    #[arg(long, default_value_t = 100)]
    slots: usize,
    /// Reach the server over a link with this round trip, such as 100ms
    #[arg(long, value_parser = milliseconds)]
    link: Option<Duration>,
    /// Leave graphile_worker out
    #[arg(long)]
    alone: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

/// One drain.
#[derive(Clone, Copy, Serialize)]
struct Drain {
    tasks_per_second: f64,
    /// The server's processor time a task, in microseconds.
    server_us: f64,
}

#[derive(Serialize)]
struct Round {
    drover: Drain,
    graphile_worker: Option<Drain>,
}

/// Work that ends at once.
struct Idle {
    ended: AtomicUsize,
}

impl Work for Idle {
    fn body(self: Arc<Self>, _: &ClaimedTask, _: CancellationToken) -> Arc<dyn Body> {
        self
    }
}

impl Body for Idle {
    fn run(self: Arc<Self>, _: Option<HandOver>) -> BoxFuture<'static, Result<Outcome, TaskError>> {
        self.ended.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Outcome::done(Value::Null).into()) })
    }

    fn detail(&self) -> Value {
        Value::Null
    }
}

fn main() {
    let args = Args::parse();
    let runtime = Arc::new(Runtime::new().unwrap());
    runtime.block_on(run(args, runtime.clone()));
}

async fn run(args: Args, runtime: Arc<Runtime>) {
    let server = BenchServer::start(PROGRAM, Vec::new()).await.unwrap();
    let bench = Bench::new(&server, &args, runtime).await;
    if !args.json {
        println!("{:>14} {:>11} {:>14} {:>11}", "drover/s", "server µs", "graphile/s", "server µs");
    }
    let mut rounds = Vec::new();
    for number in 0..args.rounds {
        let drover = bench.drain(args.tasks).await;
        let graphile_worker = match args.alone {
            true => None,
            false => Some(bench.peer_drain(number, args.tasks).await),
        };
        let round = Round { drover, graphile_worker };
        if !args.json {
            println!("{}", line(&round));
        }
        rounds.push(round);
    }
    report(&rounds, args.json);
    drop(bench);
    server.stop().await.unwrap();
}

fn line(Round { drover, graphile_worker }: &Round) -> String {
    let cells = |drain: &Drain| format!("{:>14.0} {:>11.0}", drain.tasks_per_second, drain.server_us);
    format!("{} {}", cells(drover), graphile_worker.as_ref().map_or_else(String::new, cells))
}

fn report(rounds: &[Round], is_json: bool) {
    let drover = median(rounds.iter().map(|round| round.drover.tasks_per_second));
    let peers: Vec<f64> = rounds.iter().flat_map(|round| round.graphile_worker).map(|d| d.tasks_per_second).collect();
    let ratio = (!peers.is_empty()).then(|| drover / median(peers));
    match (is_json, ratio) {
        (true, _) => println!("{}", json!({ "rounds": rounds, "median": drover, "ratio": ratio })),
        (false, Some(ratio)) => println!("median {drover:.0} tasks/s, {ratio:.2} x graphile_worker"),
        (false, None) => println!("median {drover:.0} tasks/s"),
    }
}

struct Bench {
    config: Config,
    db: Db,
    /// Beside the link.
    raw: Client,
    postmaster: u32,
    server_url: String,
    link: Option<Duration>,
    payloads: Payloads,
    runtime: Arc<Runtime>,
}

impl Bench {
    async fn new(server: &BenchServer, args: &Args, runtime: Arc<Runtime>) -> Bench {
        let slots = args.slots.to_string();
        let config = Config::with(&[("worker.cpu_backoff_threshold", "0"), ("topology.slots", &slots)]).unwrap();
        let sizes = PoolSizes { work: config.database.pool_work, api: config.database.pool_api };
        let server_url = server.url().to_owned();
        let direct = Db::new(&server_url, &config.database, PoolSizes { work: 1, api: 1 }).unwrap();
        schema::migrate::up(&direct).await.unwrap();
        let raw = connect(&server_url).await.unwrap();
        let postmaster = postmaster(&raw).await.unwrap();
        // roles that need a proxy are claimed, too
        raw.batch_execute("INSERT INTO proxies (host, port) VALUES ('127.0.0.1', 1)").await.unwrap();
        let url = linked(&server_url, args.link).await;
        let db = Db::new(&url, &config.database, sizes).unwrap();
        let payloads = Payloads::new(server.dir().join("storage"), "a bench");
        Bench { config, db, raw, postmaster, server_url, link: args.link, payloads, runtime }
    }

    async fn drain(&self, count: usize) -> Drain {
        self.fill(count).await;
        let work = Arc::new(Idle { ended: AtomicUsize::new(0) });
        let (cpu, begun) = (processes::family_cpu(self.postmaster).unwrap(), Instant::now());
        let tree = self.start(work.clone()).await;
        while work.ended.load(Ordering::Relaxed) < count || self.is_any_open().await {
            tokio::time::sleep(POLL).await;
        }
        let cpu = processes::family_cpu(self.postmaster).unwrap() - cpu;
        let drain = Drain::of(count, begun.elapsed().as_secs_f64(), cpu);
        tree.drain().await;
        drain
    }

    async fn fill(&self, count: usize) {
        self.raw.batch_execute("TRUNCATE worker_tasks, past_attempts, raw_crawl_payloads").await.unwrap();
        let direct = Db::new(&self.server_url, &self.config.database, PoolSizes { work: 1, api: 1 }).unwrap();
        let client = direct.client().await.unwrap();
        let new = vec![NewTask::new(Role::AnalyticsRefresh); count];
        for batch in new.chunks(ENQUEUED_AT_ONCE) {
            tasks::enqueue(&client, batch).await.unwrap();
        }
        self.raw.batch_execute("VACUUM ANALYZE worker_tasks").await.unwrap();
        self.raw.batch_execute("CHECKPOINT").await.unwrap();
    }

    /// The tree of `drover worker`, with this work in place of the handlers.
    async fn start(&self, work: Arc<Idle>) -> Tree {
        let pod = PodPlan { name: "Bench".to_owned(), roles: RoleSet::any(), workers: self.config.workers_per_pod() };
        let live = LiveConfig::fixed(self.config.clone());
        let deps = TreeDeps {
            config: Arc::new(self.config.clone()),
            live: live.clone(),
            db: self.db.clone(),
            runtime: self.runtime.clone(),
            clock: Clock::system(),
            housekeeping: Housekeeping { db: self.db.clone(), payloads: self.payloads.clone() },
            plan: Plan { schedules: false, pods: vec![pod], follows: Follows::Workers },
            started_at: workers::now(&self.db.client().await.unwrap()).await.unwrap(),
        };
        let parts = |proxies| {
            let services = app::services(&live, &self.db, self.payloads.clone(), &Clock::system(), proxies)?;
            Ok::<_, app::ServicesError>(TaskParts { work, ..TaskParts::from(services) })
        };
        Tree::start(deps, parts).await.unwrap()
    }

    async fn is_any_open(&self) -> bool {
        self.raw.query_one(OPEN, &[]).await.unwrap().try_get(0).unwrap()
    }

    /// In a database of its own, which is new in each round.
    async fn peer_drain(&self, number: usize, count: usize) -> Drain {
        let name = format!("peer_{number}");
        self.raw.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let url = linked(&self.server_url.replacen("/drover?", &format!("/{name}?"), 1), self.link).await;
        let (seconds, cpu) = peer::drain(&url, count, self.postmaster).await;
        self.raw.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
        Drain::of(count, seconds, cpu)
    }
}

impl Drain {
    /// `server`: seconds of its processor time.
    fn of(count: usize, seconds: f64, server: f64) -> Drain {
        let count = count as f64;
        Drain { tasks_per_second: count / seconds, server_us: server * 1e6 / count }
    }
}

/// The server's URL, or that of a link to it with this round trip.
async fn linked(url: &str, round_trip: Option<Duration>) -> String {
    match round_trip {
        Some(round_trip) => SlowLink::start(url, round_trip / 2).await.url(),
        None => url.to_owned(),
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix("ms").and_then(|number| number.parse().ok());
    number.map(Duration::from_millis).ok_or_else(|| format!("{text} is not a number of milliseconds, such as 100ms"))
}
