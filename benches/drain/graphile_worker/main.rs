//! Fills an empty database with jobs that do nothing, says so, drains them with graphile_worker once a line comes in, and
//! prints the seconds that the drain took: from the worker's start until no job is left.
//!
//! `graphile-worker-drain URL JOBS`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use graphile_worker::tokio_postgres::TokioPostgresDatabase;
use graphile_worker::{
    Database, IntoTaskHandlerResult, JobSpec, LocalQueueConfig, RawJobSpec, TaskHandler, WorkerContext, WorkerOptions,
    WorkerUtils,
};
use serde::{Deserialize, Serialize};
use tokio_postgres::NoTls;

/// The settings of its own bench of throughput, which are the fastest of those in its documentation.
const CONCURRENCY: usize = 500;
const LOCAL_QUEUE: usize = 5000;
const BATCH_DELAY: Duration = Duration::from_millis(5);
const CONNECTIONS: usize = 20;

static ENDED: AtomicUsize = AtomicUsize::new(0);

#[derive(Serialize, Deserialize)]
struct Idle {}

impl TaskHandler for Idle {
    const IDENTIFIER: &'static str = "idle";

    async fn run(self, _: WorkerContext) -> impl IntoTaskHandlerResult {
        ENDED.fetch_add(1, Ordering::Relaxed);
        Ok::<(), String>(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (url, jobs) = (args.next().ok_or("no URL")?, args.next().ok_or("no number of jobs")?.parse::<usize>()?);
    let database: Database = TokioPostgresDatabase::from_url(&url, CONNECTIONS)?.into();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);

    let utils = WorkerUtils::new(database.clone(), "graphile_worker");
    utils.migrate().await?;
    let worker = WorkerOptions::default()
        .database(database)
        .concurrency(CONCURRENCY)
        .poll_interval(BATCH_DELAY)
        .complete_job_batch_delay(BATCH_DELAY)
        .local_queue(LocalQueueConfig::default().with_size(LOCAL_QUEUE))
        .define_job::<Idle>()
        .init()
        .await?;
    let job = || RawJobSpec {
        identifier: Idle::IDENTIFIER.to_owned(),
        payload: serde_json::json!({}),
        spec: JobSpec::default(),
    };
    utils.add_raw_jobs(&(0..jobs).map(|_| job()).collect::<Vec<_>>()).await?;
    // each by itself: a VACUUM is in no transaction with others
    client.batch_execute("VACUUM ANALYZE").await?;
    client.batch_execute("CHECKPOINT").await?;

    println!("filled");
    std::io::stdin().read_line(&mut String::new())?;
    let worker = Arc::new(worker);
    let begun = Instant::now();
    let running = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { worker.run().await.map_err(|error| error.to_string()) }
    });
    while ENDED.load(Ordering::Relaxed) < jobs || is_any_left(&client).await? {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    println!("{}", begun.elapsed().as_secs_f64());
    worker.request_shutdown();
    running.await??;
    Ok(())
}

async fn is_any_left(client: &tokio_postgres::Client) -> Result<bool, tokio_postgres::Error> {
    let row = client.query_one("SELECT EXISTS (SELECT FROM graphile_worker._private_jobs)", &[]).await?;
    row.try_get(0)
}
