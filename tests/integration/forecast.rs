//! The forecast of a crawl's duration against a crawl of the simulator.

use std::time::Duration;

use domain::task::role::Role;
use serde_json::Value;

use testkit::{Child, Farm, LONG_LEASE};

const STORES: usize = 24;
/// Latency much longer than everything else in a crawl, so that a busy machine changes little.
const LATENCY: Duration = Duration::from_secs(1);
/// Crawls that are forecast; the median of their deviations counts.
const FORECASTS: i64 = 3;

async fn forecast(farm: &Farm) -> f64 {
    let output = farm.drover(&["capacity", "--stores", &STORES.to_string(), "--json"]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let forecast: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(forecast["slots"], 4, "2 workers with 2 slots each");
    forecast["crawl_seconds"].as_f64().unwrap_or_else(|| panic!("no forecast: {forecast}"))
}

/// Seconds from the tasks' creation until the last refresh of this crawl has completed. The clock is the
/// database's: a busy machine may hold this test up.
async fn crawl(farm: &Farm, number: i64) -> f64 {
    let fetches = farm.enqueue(Role::PayloadFetch).await;
    let done = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
    farm.until_counted("every store was crawled", done, number * STORES as i64).await;
    let took = "SELECT extract(epoch FROM max(refresh.completed_at) - min(parent.created_at))::float8
                  FROM worker_tasks parent JOIN worker_tasks refresh ON refresh.parent_task_id = parent.id
                 WHERE parent.id = ANY ($1)";
    farm.db.client().await.unwrap().query_one(took, &[&fetches]).await.unwrap().get(0)
}

#[tokio::test]
async fn the_forecast_of_a_crawls_duration_is_of_its_size() {
    let farm = Farm::changed(STORES, |settings| sim::Settings { latency: LATENCY, ..settings }).await;
    let _worker = Child::spawn(farm.drover(&["worker"]).env("DROVER__QUEUE__LEASE", LONG_LEASE));
    crawl(&farm, 1).await;
    let mut deviations = Vec::new();
    for number in 2..2 + FORECASTS {
        let (expected, measured) = (forecast(&farm).await, crawl(&farm, number).await);
        println!("forecast {expected:.2} s, measured {measured:.2} s");
        deviations.push((expected / measured - 1.0).abs());
    }
    assert_eq!(farm.count("SELECT count(*) FROM task_attempts WHERE outcome <> 'completed'").await, 0);
    deviations.sort_by(f64::total_cmp);
    // a busy machine stretches a crawl, and not the forecast of it
    assert!(deviations[deviations.len() / 2] <= 0.5, "shares by which the forecasts deviate: {deviations:.2?}");
}
