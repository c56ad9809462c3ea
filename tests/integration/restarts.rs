//! Ordinary restarts under load, as an update of the program makes them: of the API and the scheduler while workers crawl, and of
//! the workers one after the other. No task is lost, given back or failed, and none waits longer than a poll.

use std::time::Duration;

use domain::task::role::Role;
use nix::sys::signal::Signal;

use testkit::{Child, Farm, LONG_LEASE, PATIENCE, until};

const RESTARTS: u32 = 10;
const STORES: usize = 8;
/// Interval longer than a claim takes on a busy machine, so that a task which waits for a poll differs from one that a
/// wake-up brings.
const POLL: Duration = Duration::from_secs(5);
const REFRESHED: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";

#[tokio::test]
async fn the_api_and_the_scheduler_are_restarted_again_and_again_while_workers_crawl() {
    let farm = farm().await;
    let mut workers = [start(&farm, "worker").await, start(&farm, "worker").await];
    let mut others = [start(&farm, "api").await, start(&farm, "scheduler").await];
    for crawl in 1..=RESTARTS {
        begin_crawl(&farm, crawl).await;
        stop(&mut others).await;
        let half = farm.stores.len() as i64 * i64::from(crawl) - farm.stores.len() as i64 / 2;
        until("workers go on alone", PATIENCE, async || farm.count(REFRESHED).await >= half).await;
        others = [start(&farm, "api").await, start(&farm, "scheduler").await];
        end_crawl(&farm, crawl).await;
    }
    stop(&mut others).await;
    stop(&mut workers).await;
    assert_undisturbed(&farm).await;
}

#[tokio::test]
async fn workers_are_restarted_one_after_the_other_while_the_others_crawl() {
    let farm = farm().await;
    let mut workers = [start(&farm, "worker").await, start(&farm, "worker").await, start(&farm, "worker").await];
    for crawl in 1..=RESTARTS {
        begin_crawl(&farm, crawl).await;
        let next = crawl as usize % workers.len();
        stop(&mut workers[next..=next]).await;
        workers[next] = start(&farm, "worker").await;
        end_crawl(&farm, crawl).await;
    }
    stop(&mut workers).await;
    assert_undisturbed(&farm).await;
}

/// One whose stores are crawled by the test alone.
async fn farm() -> Farm {
    let farm = Farm::with_stores(STORES).await;
    db::schedules::ensure_defaults(&farm.db.client().await.unwrap(), &drover::platforms::default_schedules())
        .await
        .unwrap();
    farm.execute("UPDATE task_schedules SET enabled = false WHERE role = 'payload_fetch'").await;
    farm
}

/// Starts a service with slots for the tasks of all stores. It answers probes when this returns, and so it drains at a
/// signal.
async fn start(farm: &Farm, service: &str) -> Child {
    let mut command = farm.drover(&[service]);
    let poll = format!("{}s", POLL.as_secs());
    command.env("DROVER__QUEUE__POLL_INTERVAL", poll).env("DROVER__TOPOLOGY__SLOTS", STORES.to_string());
    command.env("DROVER__QUEUE__LEASE", LONG_LEASE);
    let child = Child::spawn(command.env("DROVER__WORKER__GRACE", "60s"));
    child.probes().await;
    child
}

async fn stop(children: &mut [Child]) {
    children.iter().for_each(|child| child.signal(Signal::SIGTERM));
    for child in children {
        assert_eq!(child.ended(PATIENCE).await.code(), Some(0));
    }
}

async fn begin_crawl(farm: &Farm, crawl: u32) {
    farm.sim.set_crawl(crawl);
    let before = farm.sim.counts().requests;
    farm.enqueue(Role::PayloadFetch).await;
    until("the crawl is under way", PATIENCE, async || farm.sim.counts().requests > before).await;
}

async fn end_crawl(farm: &Farm, crawl: u32) {
    let all = farm.stores.len() as i64 * i64::from(crawl);
    farm.until_counted("every store was crawled", REFRESHED, all).await;
}

async fn assert_undisturbed(farm: &Farm) {
    farm.assert_nothing_twice().await;
    assert_eq!(farm.products().await, farm.expected_products(RESTARTS));
    let disturbed = "SELECT count(*) FROM task_attempts WHERE outcome IS DISTINCT FROM 'completed'";
    assert_eq!(farm.count(disturbed).await, 0, "attempts that were lost, given back or failed");
    let late = format!(
        "SELECT count(*) FROM task_attempts a JOIN worker_tasks t ON t.id = a.task_id
          WHERE a.claimed_at - t.created_at > interval '{} seconds'",
        POLL.as_secs()
    );
    assert_eq!(farm.count(&late).await, 0, "tasks that waited longer than a poll");
}
