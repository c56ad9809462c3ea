//! The primary is killed under load and its synchronous standby promoted: work continues by itself, and no task is lost, failed
//! or completed twice.
//!
//! Two failovers in the ordinary run; `DROVER_FAILOVERS=10` is the long one.

use std::time::Duration;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use testkit::{Child, Farm, PATIENCE, Replicated, until};

const STORES: usize = 24;
/// Maximum time from the promotion to the first task that completes after it.
const MAX_PAUSE: Duration = Duration::from_secs(10);
const REFRESHED: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
const COMPLETED: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'completed'";

#[tokio::test]
#[cfg_attr(not(slow_tests), ignore = "needs a minute and two servers: ./dev ops-test")]
async fn work_resumes_within_ten_seconds_of_a_promotion_and_nothing_is_lost_or_done_twice() {
    let failovers: u32 = std::env::var("DROVER_FAILOVERS").map_or(2, |text| text.parse().unwrap());
    let mut servers = Replicated::start().await;
    let farm = Farm::on(&servers.url(), STORES).await;
    // longer than a failover: a worker that lives keeps its tasks
    let worker = || Child::spawn(farm.drover(&["worker"]).env("DROVER__QUEUE__LEASE", "30s"));
    let mut workers = [worker(), worker()];
    let mut pauses = Vec::new();
    for crawl in 1..=failovers {
        pauses.push(fail_over(&farm, &mut servers, crawl).await);
        let all = i64::from(crawl) * STORES as i64;
        farm.until_counted("every store was crawled", REFRESHED, all).await;
        servers.replace_standby().await;
    }
    println!("from promotion to the first completed task: {pauses:.1?}");
    for worker in &mut workers {
        worker.signal(Signal::SIGTERM);
        worker.ended(PATIENCE).await;
    }
    assert_nothing_lost_or_twice(&farm).await;
    assert_eq!(farm.products().await, farm.expected_products(failovers));
    assert!(pauses.iter().all(|pause| *pause <= MAX_PAUSE), "{pauses:?}");
}

/// Promotes the standby in the middle of a crawl; returns the time from the promotion to the first task that completed after
/// it.
async fn fail_over(farm: &Farm, servers: &mut Replicated, crawl: u32) -> Duration {
    farm.sim.set_crawl(crawl);
    let before = farm.count(REFRESHED).await;
    farm.enqueue(Role::PayloadFetch).await;
    let some = before + 2 + i64::from(crawl) % 5;
    until("the crawl is under way", PATIENCE, async || farm.count(REFRESHED).await >= some).await;
    servers.kill_primary();
    let promoted = servers.promote().await;
    let known = first_count(farm).await;
    until("a task completes after the promotion", PATIENCE, async || {
        count(farm, COMPLETED).await.is_some_and(|completed| completed > known)
    })
    .await;
    promoted.elapsed()
}

/// Tasks that were completed before the promotion.
async fn first_count(farm: &Farm) -> i64 {
    testkit::until_some("the promoted server answers", PATIENCE, async || count(farm, COMPLETED).await).await
}

async fn count(farm: &Farm, sql: &str) -> Option<i64> {
    farm.db.client().await.ok()?.query_one(sql, &[]).await.ok()?.try_get(0).ok()
}

async fn assert_nothing_lost_or_twice(farm: &Farm) {
    farm.assert_nothing_twice().await;
    for (what, rows) in [
        ("tasks that did not complete", "worker_tasks WHERE status <> 'completed' AND schedule_id IS NULL"),
        ("attempts without an end", "task_attempts WHERE outcome IS NULL"),
        ("tasks that an outage cost a retry", "worker_tasks WHERE retry_count > 0"),
    ] {
        assert_eq!(farm.count(&format!("SELECT count(*) FROM {rows}")).await, 0, "{what}");
    }
}
