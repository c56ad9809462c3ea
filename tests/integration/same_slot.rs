//! A refresh that continues in the slot of its fetch, seen on whole processes.

use domain::task::role::Role;
use nix::sys::signal::Signal;

use testkit::{Child, Farm, LONG_LEASE};

const IN_THE_SAME_SLOT: &str = "
    SELECT count(*) FROM worker_tasks refresh JOIN worker_tasks parent ON parent.id = refresh.parent_task_id
     WHERE refresh.role = 'product_refresh' AND refresh.worker_id = parent.worker_id AND refresh.fence = 1
       AND refresh.claimed_at = parent.completed_at";

#[tokio::test]
async fn a_refresh_begins_at_the_end_of_its_fetch_in_the_same_slot() {
    let farm = Farm::with_stores(6).await;
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(farm.drover(&["worker"]).env("DROVER__QUEUE__LEASE", LONG_LEASE));
    farm.until_crawled().await;
    assert_eq!(farm.count(IN_THE_SAME_SLOT).await, 6);
    worker.logged("(product_refresh) for dispensary", testkit::PATIENCE).await;
}

#[tokio::test]
async fn a_worker_without_the_role_leaves_the_refresh_to_another() {
    let farm = Farm::with_stores(2).await;
    farm.enqueue(Role::PayloadFetch).await;
    let _fetches = Child::spawn(&mut farm.drover(&["worker", "--role", "payload_fetch"]));
    farm.until_counted(
        "refreshes wait",
        "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND ready",
        2,
    )
    .await;
    let _refreshes = Child::spawn(&mut farm.drover(&["worker", "--role", "product_refresh"]));
    farm.until_crawled().await;
    assert_eq!(farm.count(IN_THE_SAME_SLOT).await, 0);
}

#[tokio::test]
async fn a_refresh_whose_process_dies_reads_the_payloads_file() {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command.env("FAILPOINTS", "handler.product_refresh=sleep(600000)");
    // the next process does not wait for the end of the lease
    let mut killed = Child::spawn(command.env("DROVER__QUEUE__LEASE", LONG_LEASE));
    farm.until_counted(
        "it runs",
        "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'running'",
        1,
    )
    .await;
    killed.signal(Signal::SIGKILL);
    killed.ended(testkit::PATIENCE).await;
    let _next = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT fence FROM worker_tasks WHERE role = 'product_refresh'").await, 2);
    assert!(farm.count("SELECT count(*) FROM store_product_snapshots").await > 0);
}

#[tokio::test]
async fn a_process_that_ends_starts_no_refresh() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("the refresh is for the next process");
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    let mut worker = Child::spawn(command.env("FAILPOINTS", "handler.payload_fetch=sleep(3000)"));
    farm.until_counted("it runs", "SELECT count(*) FROM worker_tasks WHERE status = 'running'", 1).await;
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended(testkit::PATIENCE).await.success());
    let waits = "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'pending' AND ready AND fence = 0";
    assert_eq!(farm.count(waits).await, 1);
}
