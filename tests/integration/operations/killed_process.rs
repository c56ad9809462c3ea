//! The time until a killed process no longer counts as capacity, on a machine that does nothing else.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::{Child, Farm, PATIENCE};

const LEASE: Duration = Duration::from_secs(6);
const MAX_DELAY: Duration = Duration::from_secs(5);
const SLOTS: &str = "SELECT coalesce(sum(max_concurrent_tasks), 0) FROM worker_registry WHERE status <> 'offline'";

#[tokio::test]
#[ignore = "measures seconds, which needs a machine without other tests: ./dev ops-test"]
async fn a_killed_process_is_no_capacity_five_seconds_after_its_lease() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("it is stopped at once");
    let worker = || Child::spawn(farm.drover(&["worker"]).env("DROVER__QUEUE__LEASE", format!("{}s", LEASE.as_secs())));
    // one after the other, so that each pod has a name of its own
    let mut stays = worker();
    farm.until_counted("its pod is registered", SLOTS, 4).await;
    let mut killed = worker();
    farm.until_counted("both pods are registered", SLOTS, 8).await;
    killed.signal(Signal::SIGKILL);
    let since = Instant::now();
    farm.until_counted("only the slots of the other pod are left", SLOTS, 4).await;
    let took = since.elapsed();
    killed.ended(PATIENCE).await;
    stays.signal(Signal::SIGTERM);
    stays.ended(PATIENCE).await;
    println!("{:.1} s after a kill", took.as_secs_f64());
    assert!(took <= LEASE + MAX_DELAY, "{took:?}");
}
