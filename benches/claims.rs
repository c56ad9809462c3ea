//! Claims per second at 100,000 pending tasks, by 1, 8 and 32 connections, one and 50 at a time: each round
//! trip settles what the last one claimed and claims the next. Beside it, interleaved in the same run and on
//! the same server, another SQL for the same work: `settle_and_claim(ids, fences, roles, worker, n, lease)`
//! of a prototype whose file `PROTOTYPE_SQL` names. Ours runs twice: with fresh statistics, and on a table
//! that was never analysed, as after a burst of inserts. The server is a private one with its ordinary
//! settings, which sync each commit. Medians of 15 rounds; the ratio is the median of the rounds' own, since
//! a round and its neighbour share the machine's other load.
//!
//! `PROTOTYPE_SQL=…/ready_queue.sql cargo bench --package benches --bench claims [-- 8x50]`

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use benches::{BenchServer, median};
use db::tasks::{self, ClaimBatch, ClaimToken, Completion};
use db::{Client, Db, PoolSizes, schema};
use domain::task::role::Role;
use serde_json::json;
use settings::Config;

const PENDING: i64 = 100_000;
const CONNECTIONS: [usize; 3] = [1, 8, 32];
const BATCHES: [usize; 2] = [1, 50];
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(700);
const LEASE: Duration = Duration::from_secs(600);
/// State of a table that was made and filled just now: TRUNCATE has forgotten its size already.
const FORGET_STATISTICS: &str = "DELETE FROM pg_statistic WHERE starelid = 'worker_tasks'::regclass";

#[tokio::main]
async fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let server = BenchServer::start(env!("CARGO_BIN_EXE_drover-under-bench"), Vec::new()).await.unwrap();

    let sides = sides(server.url()).await;
    println!("load: {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    println!(
        "{:>11} {:>6} {:>10} {:>14} {:>6} {:>10} {:>6}",
        "connections", "batch", "ours/s", "not analysed/s", "ratio", "theirs/s", "ratio"
    );
    for batch in BATCHES {
        for connections in CONNECTIONS {
            if wanted.as_ref().is_none_or(|wanted| *wanted == format!("{connections}x{batch}")) {
                cell(&sides, connections, batch).await;
            }
        }
    }
    println!("load: {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    drop(sides);
    server.stop().await.unwrap();
}

/// One line of the table.
async fn cell(sides: &[Side], connections: usize, batch: usize) {
    let mut rates = vec![Vec::new(); sides.len()];
    for _ in 0..ROUNDS {
        for (side, rates) in sides.iter().zip(&mut rates) {
            rates.push(side.round(connections, batch).await);
        }
    }
    let [ours, never_analysed, others @ ..] = rates.as_slice() else { return };
    print!("{connections:>11} {batch:>6} {:>10.0}", median(ours.clone()));
    print!(" {:>14.0} {:>6.2}", median(never_analysed.clone()), median_ratio(never_analysed, ours));
    match others {
        [theirs] => println!(" {:>10.0} {:>6.2}", median(theirs.clone()), median_ratio(ours, theirs)),
        _ => println!(" {:>10} {:>6}", "-", "-"),
    }
}

/// Median of the rounds' own ratios.
fn median_ratio(one: &[f64], other: &[f64]) -> f64 {
    median(one.iter().zip(other).map(|(one, other)| one / other))
}

/// Two databases of one server, as alike as can be; ours twice.
async fn sides(url: &str) -> Vec<Side> {
    let ours = open(url).await;
    schema::migrate::up(&ours).await.unwrap();
    let mut sides = vec![Side { db: ours.clone(), kind: Kind::Ours }, Side { db: ours, kind: Kind::OursNeverAnalysed }];
    match std::env::var("PROTOTYPE_SQL") {
        Ok(path) => {
            let other = url.replacen("/drover?", "/prototype?", 1);
            sides[0].db.client().await.unwrap().batch("CREATE DATABASE prototype").await.unwrap();
            let theirs = open(&other).await;
            theirs.client().await.unwrap().batch(&std::fs::read_to_string(path).unwrap()).await.unwrap();
            sides.push(Side { db: theirs, kind: Kind::Theirs });
        }
        Err(_) => println!("PROTOTYPE_SQL is not set: no comparison"),
    }
    sides
}

async fn open(url: &str) -> Db {
    let config = Config::with(&[("database.statement_timeout", "60s")]).unwrap();
    let most = CONNECTIONS[CONNECTIONS.len() - 1];
    Db::new(url, &config.database, PoolSizes { work: most, api: 1 }).unwrap()
}

struct Side {
    db: Db,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Ours,
    OursNeverAnalysed,
    Theirs,
}

impl Side {
    /// Claims per second of all connections together.
    async fn round(&self, connections: usize, batch: usize) -> f64 {
        self.fill().await;
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(self.db.client().await.unwrap());
        }
        let begun = Instant::now();
        let kind = self.kind;
        let runs = clients.into_iter().enumerate().map(|(n, client)| {
            tokio::spawn(async move {
                match kind {
                    Kind::Ours | Kind::OursNeverAnalysed => ours(&client, &format!("worker-{n}"), batch, begun).await,
                    Kind::Theirs => theirs(&client, &format!("worker-{n}"), batch, begun).await,
                }
            })
        });
        let claimed: usize = futures_util::future::join_all(runs).await.into_iter().map(Result::unwrap).sum();
        claimed as f64 / begun.elapsed().as_secs_f64()
    }

    /// Each task is of another store, and holds its reservation.
    async fn fill(&self) {
        let client = self.db.maintenance_client().await.unwrap();
        let (truncate, own) = match self.kind {
            Kind::Ours | Kind::OursNeverAnalysed => {
                ("TRUNCATE worker_tasks, past_attempts, raw_crawl_payloads", "SET xmlbinary = 'hex'")
            }
            Kind::Theirs => ("TRUNCATE worker_tasks", "SELECT 1"),
        };
        client.batch(own).await.unwrap();
        client.batch(truncate).await.unwrap();
        // before the fill: a checkpoint's cost for each page's first change does not belong to the claims
        client.batch("CHECKPOINT").await.unwrap();
        let insert = "INSERT INTO worker_tasks (role, dispensary_id, ready, payload) SELECT $2::text, n, true, '{}' FROM generate_series(1, $1::bigint) n";
        client.execute(insert, &[&PENDING, &Role::PayloadFetch.name()]).await.unwrap();
        match self.kind {
            Kind::OursNeverAnalysed => client.batch(FORGET_STATISTICS).await.unwrap(),
            Kind::Ours | Kind::Theirs => client.batch("VACUUM ANALYZE worker_tasks").await.unwrap(),
        }
    }
}

async fn ours(client: &Client, worker: &str, batch: usize, begun: Instant) -> usize {
    let (mut claimed, mut done) = (0, Vec::new());
    while begun.elapsed() < ROUND {
        let exchange = ClaimBatch {
            done,
            roles: Role::CRAWL.to_vec(),
            workers: vec![worker.to_owned(); batch],
            lease: LEASE,
            allow_suspect: true,
            token: ClaimToken::random(),
        };
        let answer = tasks::settle_and_claim(client, &exchange).await.unwrap();
        claimed += answer.claimed.len();
        let leases = answer.claimed.into_iter().map(|task| task.lease);
        done = leases.map(|lease| Completion { lease, result: json!({}), detail: json!({}) }).collect();
    }
    claimed
}

async fn theirs(client: &Client, worker: &str, batch: usize, begun: Instant) -> usize {
    let sql = "SELECT id, fence, role, dispensary_id, payload FROM settle_and_claim($1, $2, $3, $4, $5, '600 seconds')";
    let roles: Vec<&str> = Role::CRAWL.iter().map(|role| role.name()).collect();
    let (mut claimed, mut ids, mut fences) = (0, Vec::<i64>::new(), Vec::<i64>::new());
    while begun.elapsed() < ROUND {
        let rows = client.query(sql, &[&ids, &fences, &roles, &worker, &(batch as i32)]).await.unwrap();
        claimed += rows.len();
        (ids, fences) = rows.iter().map(|row| (row.get::<_, i64>(0), row.get::<_, i64>(1))).unzip();
    }
    claimed
}
