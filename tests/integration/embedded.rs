//! The private server: started, shared, killed, found again.

use std::time::{Duration, Instant};

use drover::db::embedded;

use crate::support;

#[tokio::test]
async fn a_first_start_takes_seconds_and_a_warm_one_less() {
    let dir = support::server_dir();
    let begun = Instant::now();
    let server = embedded::start_with(dir.path(), support::server_options(Duration::ZERO)).await.unwrap();
    let first = begun.elapsed();
    println!("first start {first:?}");
    support::connect(server.url()).await.batch_execute("CREATE TABLE kept ()").await.unwrap();
    drop(server);
    embedded::stop(dir.path()).await.unwrap();

    let begun = Instant::now();
    let server = embedded::start_with(dir.path(), support::server_options(Duration::ZERO)).await.unwrap();
    let warm = begun.elapsed();
    println!("warm start {warm:?}");
    support::connect(server.url()).await.batch_execute("TABLE kept").await.unwrap();
    drop(server);
    embedded::stop(dir.path()).await.unwrap();
    assert!(first < Duration::from_secs(10), "first start took {first:?}");
    assert!(warm < Duration::from_secs(2), "warm start took {warm:?}");
}
