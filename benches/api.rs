//! The API on 5,000,000 ended tasks: how long each filter of the list, the counts and the capacity take, and
//! how many tasks a second are read by their ids, beside a bare handler of axum and tokio-postgres for the
//! same rows.
//!
//! `cargo bench --package benches --bench api [-- --tasks 5000000]`
//!
//! `drover api` and the bare handler are processes of their own, on one private server with its ordinary
//! settings. Lists are asked for one after the other on one connection, first on tables that were never
//! analysed, then with statistics: the table has the 95th percentile and the longest of 40 requests each. The
//! rates are medians of five interleaved rounds of 2 s on eight connections.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use benches::http::{Connection, started, started_api};
use benches::{BenchServer, connect, median};
use clap::{Parser, Subcommand};
use db::{Db, PoolSizes, schema};
use settings::Config;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_postgres::Statement;

const BATCH: i64 = 100_000;
const REQUESTS: usize = 40;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
const CONNECTIONS: usize = 8;

const LISTS: [(&str, &str); 20] = [
    ("all", "/api/tasks"),
    ("completed", "/api/tasks?status=completed"),
    ("failed", "/api/tasks?status=failed"),
    ("cancelled", "/api/tasks?status=cancelled"),
    ("stale", "/api/tasks?status=stale"),
    ("role", "/api/tasks?role=analytics_refresh"),
    ("role and status", "/api/tasks?role=product_refresh&status=failed"),
    ("store", "/api/tasks?dispensary_id=1234"),
    ("platform", "/api/tasks?platform=dutchie"),
    ("platform without tasks", "/api/tasks?platform=dutchie_plus"),
    ("worker", "/api/tasks?worker_id=worker-17"),
    ("schedule", "/api/tasks?schedule_id=7"),
    ("parent", "/api/tasks?parent_task_id=1000"),
    ("error", "/api/tasks?error=503"),
    ("error without a match", "/api/tasks?error=nothing%20has%20this"),
    ("retries", "/api/tasks?min_retries=3"),
    ("q", "/api/tasks?q=worker-1"),
    ("created", "/api/tasks?created_after={day}T00:00:00Z&created_before={day}T12:00:00Z"),
    ("counts", "/api/tasks/counts"),
    ("capacity", "/api/tasks/capacity"),
];

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    process: Option<Process>,
    #[arg(long, default_value_t = 5_000_000)]
    tasks: i64,
    /// Argument that cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Subcommand)]
enum Process {
    #[command(hide = true)]
    Bare { url: String },
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    match args.process {
        Some(Process::Bare { url }) => bare(&url).await,
        None => measure(args.tasks).await,
    }
}

async fn measure(tasks: i64) {
    let server = BenchServer::start(env!("CARGO_BIN_EXE_drover-under-bench"), Vec::new()).await.unwrap();
    let db = Db::new(server.url(), &Config::with(&[]).unwrap().database, PoolSizes { work: 1, api: 1 }).unwrap();
    schema::migrate::up(&db).await.unwrap();
    schema::indexes::ensure(&db).await.unwrap();
    let raw = connect(server.url()).await.unwrap();
    fill(&raw, tasks).await;

    let (_api, api) = started_api(env!("CARGO_BIN_EXE_drover-under-bench"), server.url()).await.unwrap();
    until_counted(&raw).await;
    let day = raw
        .query_one("SELECT to_char(now() - interval '3 days', 'YYYY-MM-DD')", &[])
        .await
        .unwrap()
        .get::<_, String>(0);
    println!("{:<24} {:>12} {:>12} {:>12} {:>12}", "", "never p95", "longest", "analysed p95", "longest");
    let never_analysed = lists(api, &day).await;
    raw.batch_execute("ANALYZE").await.unwrap();
    let analysed = lists(api, &day).await;
    for (((name, _), never), analysed) in LISTS.iter().zip(never_analysed).zip(analysed) {
        let [a, b, c, d] =
            [never.p95, never.longest, analysed.p95, analysed.longest].map(|time| time.as_secs_f64() * 1e3);
        println!("{name:<24} {a:>9.1} ms {b:>9.1} ms {c:>9.1} ms {d:>9.1} ms");
    }

    let mut bare = Command::new(std::env::current_exe().unwrap());
    let (_bare, bare) = started(bare.args(["bare", server.url()])).await.unwrap();
    let mut rates = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        rates.0.push(rate(api, "/api/tasks/", tasks).await);
        rates.1.push(rate(bare, "/", tasks).await);
    }
    let ratio = median(rates.0.iter().zip(&rates.1).map(|(ours, bare)| ours / bare));
    println!("\ntasks by id: {:.0}/s, bare {:.0}/s, ratio {ratio:.2}", median(rates.0), median(rates.1));
    drop((raw, db));
    server.stop().await.unwrap();
}

/// Ended tasks of six days, since older ones are pruned: 5,000 stores, 75 workers, one run each.
async fn fill(raw: &tokio_postgres::Client, tasks: i64) {
    let begun = Instant::now();
    let sql = "WITH made AS (
          INSERT INTO worker_tasks (role, dispensary_id, platform, status, worker_id, fence, claimed_at, started_at, completed_at,
                                    error_message, retry_count, parent_task_id, schedule_id, created_at, updated_at)
          SELECT CASE n % 2 WHEN 0 THEN 'payload_fetch' ELSE CASE n % 9999 WHEN 7 THEN 'analytics_refresh' ELSE 'product_refresh' END END,
                 1 + n / 2 % 5000, 'dutchie', CASE WHEN n % 20 = 3 THEN 'failed' WHEN n % 100 = 5 THEN 'cancelled' ELSE 'completed' END,
                 'worker-' || n % 75, 1, at, at, at + interval '2 seconds',
                 CASE WHEN n % 20 = 3 THEN (ARRAY['HTTP 503 from menu.test', 'no proxy is active', 'the answer is no menu'])[1 + n / 20 % 3] END,
                 CASE WHEN n % 20 = 3 THEN 3 ELSE 0 END, CASE WHEN n % 2 = 1 THEN n - 1 END, 1 + n / 2 % 10, at, at
            FROM generate_series($1::bigint, $2::bigint) n,
                 LATERAL (SELECT now() - interval '6 days' + n * interval '6 days' / $3::bigint AS at) t
          RETURNING id, worker_id, status, claimed_at, completed_at)
        INSERT INTO past_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at)
        SELECT id, 1, worker_id, status, claimed_at, completed_at FROM made";
    let fill = raw.prepare(sql).await.unwrap();
    for first in (1..=tasks).step_by(BATCH as usize) {
        raw.execute(&fill, &[&first, &(first + BATCH - 1).min(tasks), &tasks]).await.unwrap();
    }
    println!("{tasks} tasks made in {:.0?}", begun.elapsed());
}

/// Waits until tasks are counted by the minute: before, capacity reads the tasks themselves.
async fn until_counted(raw: &tokio_postgres::Client) {
    let is_counted = "SELECT closed_until > now() - interval '10 minutes' FROM stats_progress";
    let begun = Instant::now();
    while !raw.query_opt(is_counted, &[]).await.unwrap().is_some_and(|row| row.get(0)) {
        assert!(begun.elapsed() < Duration::from_secs(300), "the minutes are not counted");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    println!("counted by the minute after {:.0?}", begun.elapsed());
}

struct Times {
    p95: Duration,
    longest: Duration,
}

async fn lists(api: SocketAddr, day: &str) -> Vec<Times> {
    let mut connection = Connection::open(api).await.unwrap();
    let mut all = Vec::new();
    for (_, path) in LISTS {
        let path = path.replace("{day}", day);
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            let begun = Instant::now();
            connection.get(&path).await.unwrap();
            times.push(begun.elapsed());
        }
        times.sort();
        all.push(Times { p95: times[REQUESTS * 95 / 100], longest: times[REQUESTS - 1] });
    }
    all
}

/// Answers a second.
async fn rate(server: SocketAddr, path: &str, tasks: i64) -> f64 {
    let begun = Instant::now();
    let clients = (0..CONNECTIONS as i64).map(|client| async move {
        let mut connection = Connection::open(server).await.unwrap();
        let (mut answers, mut id) = (0_u32, client * 7_919);
        while begun.elapsed() < ROUND {
            id = (id + 104_729) % tasks;
            connection.get(&format!("{path}{}", id + 1)).await.unwrap();
            answers += 1;
        }
        answers
    });
    let answers: u32 = futures_util::future::join_all(clients).await.into_iter().sum();
    f64::from(answers) / begun.elapsed().as_secs_f64()
}

/// A task with its runs and children, as one statement makes it JSON.
async fn bare(url: &str) {
    let client = connect(url).await.unwrap();
    let sql = "SELECT (to_jsonb(t) || jsonb_build_object(
          'attempts', (SELECT jsonb_agg(a) FROM task_attempts a WHERE a.task_id = t.id),
          'children', (SELECT jsonb_agg(c.id) FROM worker_tasks c WHERE c.parent_task_id = t.id)))::text FROM worker_tasks t WHERE id = $1";
    let statement = client.prepare(sql).await.unwrap();
    let state = std::sync::Arc::new((client, statement));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("Listening on http://{}", listener.local_addr().unwrap());
    axum::serve(listener, Router::new().route("/{id}", get(show)).with_state(state)).await.unwrap();
}

async fn show(
    State(state): State<std::sync::Arc<(tokio_postgres::Client, Statement)>>,
    Path(id): Path<i64>,
) -> impl IntoResponse {
    let (client, statement) = &*state;
    let json: String = client.query_one(statement, &[&id]).await.unwrap().get(0);
    ([(CONTENT_TYPE, "application/json")], json)
}
