//! kill -9 of everything at any moment of a crawl: nothing is lost, nothing is done twice, and it completes.
//!
//! Five kills of a small world in the ordinary run; `DROVER_KILLS=20 DROVER_KILL_STORES=120` is the long one.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use chrono::DateTime;
use db::demo::report::{self, changes};
use db::tasks::{self, ClaimBatch, NewTask};
use db::workers;
use domain::store::Platform;
use domain::task::role::Role;
use domain::worker::WorkerStatus;
use drover::simulated;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use rand::Rng;
use rstest::rstest;
use serde_json::Value;
use sim::{Fault, FaultKind};

use testkit::{Child, Farm, PATIENCE, connect, database, drover, server_dir, until};

const CRAWL: Duration = Duration::from_secs(300);
/// Log lines of a demo before its first task: one for each of its 5 pods, one for the proxies, one for the API.
const START_LINES: usize = 7;

#[tokio::test]
async fn a_demo_that_is_killed_again_and_again_completes_its_crawl() {
    let (kills, stores) = (number("DROVER_KILLS", 5), number("DROVER_KILL_STORES", 12));
    let dir = server_dir();
    // a busy machine may hold this test up before a kill: the crawl must outlast that
    let latency = |life: usize| if life < kills { 1500 } else { 200 };
    let mut demo = start(dir.path(), stores, latency(0));
    for n in 0..kills {
        let lines = moment(kills, stores);
        until("the demo has logged so many lines", CRAWL, async || {
            demo.stderr().len() >= lines || demo.try_wait().unwrap().is_some()
        })
        .await;
        // its group is named by the first process's id
        let group = demo.id().unwrap_or_else(|| panic!("the crawl ended after {n} of {kills} kills"));
        killpg(Pid::from_raw(group as i32), Signal::SIGKILL).unwrap();
        if n % 2 == 1 {
            kill_server(dir.path());
        }
        // at once: the killed process may still hold its ports
        let mut killed = std::mem::replace(&mut demo, start(dir.path(), stores, latency(n + 1)));
        killed.ended(CRAWL).await;
    }
    let status = demo.ended(CRAWL).await;
    let said = demo.stdout().pop().unwrap_or_default();
    let summary: Value = serde_json::from_str(&said).unwrap();
    assert!(status.success(), "{summary}\n{}", demo.stderr().join("\n"));
    assert_nothing_lost_or_twice(summary["database_url"].as_str().unwrap()).await;
    private_server::stop(&private_server::dir_in(dir.path())).await.unwrap();
}

/// Number of log lines after which to kill: while the workers start, or in the crawl, which logs four lines a store. Each
/// life gets a part of the crawl so small that none but the last completes it.
fn moment(kills: usize, stores: usize) -> usize {
    let crawl = (3 * stores / kills).max(1);
    match rand::rng().random_bool(0.5) {
        true => rand::rng().random_range(1..=START_LINES),
        false => START_LINES + rand::rng().random_range(1..=crawl),
    }
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// The latency is in milliseconds.
fn start(dir: &Path, stores: usize, latency: u32) -> Child {
    let (stores, latency) = (stores.to_string(), latency.to_string());
    let mut command = drover();
    command.args(["demo", "--once", "--json", "--latency", &latency, "--stores", &stores, "--dir"]).arg(dir);
    Child::spawn(command.process_group(0))
}

/// Kills the server as the machine's death would; it may be down already.
fn kill_server(dir: &Path) {
    let Ok(text) = std::fs::read_to_string(dir.join("postgres/data/postmaster.pid")) else { return };
    if let Some(pid) = text.lines().next().and_then(|line| line.parse().ok()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

async fn assert_nothing_lost_or_twice(url: &str) {
    let client = connect(url).await;
    for (what, rows) in [
        ("tasks that did not complete", "worker_tasks WHERE status <> 'completed'"),
        ("attempts without an end", "task_attempts WHERE outcome IS NULL"),
        (
            "tasks completed twice",
            "(SELECT FROM task_attempts WHERE outcome = 'completed' GROUP BY task_id HAVING count(*) > 1) t",
        ),
        (
            "snapshots written twice",
            "(SELECT FROM store_product_snapshots GROUP BY store_product_id, crawl_id HAVING count(*) > 1) s",
        ),
        ("stores fetched twice", "(SELECT FROM raw_crawl_payloads GROUP BY dispensary_id HAVING count(*) > 1) p"),
    ] {
        let count: i64 = client.query_one(&format!("SELECT count(*) FROM {rows}"), &[]).await.unwrap().get(0);
        assert_eq!(count, 0, "{what}");
    }
}

const CRAWLS: u32 = 10;

#[tokio::test]
async fn ten_crawls_with_a_kill_in_each_end_equal_to_the_oracle() {
    let farm = Farm::with_stores(6).await;
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
    for crawl in 1..=CRAWLS {
        farm.sim.set_crawl(crawl);
        let done = farm.count(refreshed).await;
        farm.enqueue(Role::PayloadFetch).await;
        let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
        // in the middle: after none of the stores, or some
        let (killed_after, seen) = (done + i64::from(crawl) % 5, farm.sim.counts().requests);
        until("the crawl is under way", PATIENCE, async || {
            farm.sim.counts().requests > seen && farm.count(refreshed).await >= killed_after
        })
        .await;
        worker.signal(Signal::SIGKILL);
        worker.ended(PATIENCE).await;

        let mut next = Child::spawn(&mut farm.drover(&["worker"]));
        farm.until_counted("every store was crawled", refreshed, i64::from(crawl) * farm.stores.len() as i64).await;
        next.signal(Signal::SIGTERM);
        next.ended(PATIENCE).await;
    }
    farm.assert_nothing_twice().await;
    let rows = farm.products().await;
    assert_eq!(rows, farm.expected_products(CRAWLS));
    let missed = |misses: i32| rows.values().filter(|row| row.consecutive_misses == misses).count();
    assert!(missed(3) > 0 && missed(1) + missed(2) > 0, "the crawls were too tame to tell");
    let found =
        changes::since(&farm.db.client().await.unwrap(), Platform::Dutchie, DateTime::UNIX_EPOCH).await.unwrap();
    let expected: Vec<_> = (1..=CRAWLS)
        .flat_map(|crawl| farm.sim.oracle_changes(crawl))
        .map(|truth| simulated::change_record(&truth))
        .collect();
    assert_eq!(report::differences("change", &found, &expected), Vec::<String>::new());
    assert_eq!(farm.sim.counts().direct_connections, 0);
}

#[tokio::test]
async fn workers_of_a_killed_process_are_no_capacity_beside_their_successors() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("its schedules run, and it is stopped at once");
    // a heartbeat every 30 s: the lease of a worker outlasts this test
    let start = || Child::spawn(farm.drover(&["up"]).env("DROVER__QUEUE__LEASE", "10m"));
    let listed = async || workers::list(&farm.db.client().await.unwrap()).await.unwrap();
    let mut killed = start();
    until("the workers are registered", PATIENCE, async || listed().await.len() == 2).await;
    let before: Vec<String> = listed().await.into_iter().map(|worker| worker.worker_id).collect();
    killed.signal(Signal::SIGKILL);
    killed.ended(PATIENCE).await;
    let listing = farm.drover(&["workers", "list"]).output().await.unwrap();
    let listing = String::from_utf8(listing.stdout).unwrap();
    let said = listing.lines().skip(1).filter(|line| line.contains(" killed ")).count();
    assert!(said == 2 && !listing.contains(" active "), "their rows know nothing yet:\n{listing}");

    let mut next = start();
    until("only the successors are listed", PATIENCE, async || {
        let now = listed().await;
        now.len() == 2 && now.iter().all(|worker| !before.contains(&worker.worker_id))
    })
    .await;
    next.signal(Signal::SIGTERM);
    next.ended(PATIENCE).await;
}

/// The first of two workers may claim a task before the second one is registered.
const REGISTERED: &str = "SELECT count(*) FROM worker_registry";

#[rstest]
#[case::that_has_its_schedules("up")]
#[case::of_workers_alone("worker")]
#[tokio::test]
async fn a_successor_on_the_same_machine_puts_the_tasks_of_a_killed_process_back_at_once(#[case] service: &str) {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(Fault::new(FaultKind::Hang));
    farm.leaves_open_tasks("its fetches hang");
    farm.enqueue(Role::PayloadFetch).await;
    // the lease outlasts this test
    let start = || Child::spawn(farm.drover(&[service]).env("DROVER__QUEUE__LEASE", "10m"));
    let mut killed = start();
    let runs = "SELECT count(*) FROM worker_tasks WHERE status = 'running' AND role = 'payload_fetch' AND fence = ";
    farm.until_counted("it runs", &format!("{runs} 1"), 1).await;
    farm.until_counted("both workers are registered", REGISTERED, 2).await;
    killed.signal(Signal::SIGKILL);
    killed.ended(PATIENCE).await;

    let next = start();
    farm.until_counted("it runs again", &format!("{runs} 2"), 1).await;
    let losses = "SELECT loss_count::bigint FROM worker_tasks WHERE role = 'payload_fetch'";
    assert_eq!(farm.count(losses).await, 1, "it may have killed its process");
    next.logged("An earlier process on this machine was killed with 2 workers", PATIENCE).await;
}

#[tokio::test]
async fn the_tasks_of_a_killed_process_are_put_back_by_hand_before_their_leases_end() {
    let farm = Farm::with_stores(1).await;
    farm.sim.add_fault(Fault::new(FaultKind::Hang));
    farm.leaves_open_tasks("its fetches hang");
    farm.enqueue(Role::PayloadFetch).await;
    let mut killed = Child::spawn(farm.drover(&["worker"]).env("DROVER__QUEUE__LEASE", "10m"));
    let runs = "SELECT count(*) FROM worker_tasks WHERE role = 'payload_fetch' AND status = ";
    farm.until_counted("it runs", &format!("{runs} 'running'"), 1).await;
    farm.until_counted("both workers are registered", REGISTERED, 2).await;
    killed.signal(Signal::SIGKILL);
    killed.ended(PATIENCE).await;

    let said =
        async |args: &[&str]| String::from_utf8_lossy(&farm.drover(args).output().await.unwrap().stdout).into_owned();
    let found = said(&["doctor"]).await;
    assert!(found.contains("the process of 2 was killed"), "{found}");
    let recovered = said(&["tasks", "recover"]).await;
    assert!(recovered.starts_with("1 task put back"), "{recovered}");
    assert_eq!(farm.count(&format!("{runs} 'pending'")).await, 1);
}

#[tokio::test]
async fn a_second_process_leaves_the_names_and_workers_of_the_first_alone() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("its schedules run, and it is stopped at once");
    let start = || Child::spawn(farm.drover(&["up"]).env("DROVER__QUEUE__LEASE", "10m"));
    let listed = async || workers::list(&farm.db.client().await.unwrap()).await.unwrap();
    let _first = start();
    until("the workers are registered", PATIENCE, async || listed().await.len() == 2).await;
    let _second = start();
    until("all workers are registered", PATIENCE, async || listed().await.len() == 4).await;
    let all = listed().await;
    let names: HashSet<&str> = all.iter().map(|worker| worker.friendly_name.as_str()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(all.iter().all(|worker| worker.status == WorkerStatus::Active), "{all:?}");
}

#[tokio::test]
async fn workers_of_a_killed_process_without_a_successor_are_offline_after_three_heartbeats() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("it is stopped at once");
    // the testkit's lease makes a heartbeat a second
    let mut stays = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_counted("its pod is registered", "SELECT count(*) FROM worker_registry WHERE status = 'active'", 2)
        .await;
    let mut killed = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_counted("both pods are registered", "SELECT count(*) FROM worker_registry WHERE status = 'active'", 4)
        .await;
    killed.signal(Signal::SIGKILL);
    killed.ended(PATIENCE).await;
    let slots = "SELECT sum(max_concurrent_tasks) FROM worker_registry WHERE status <> 'offline'";
    farm.until_counted("only the slots of the other pod are left", slots, 4).await;
    stays.signal(Signal::SIGTERM);
    stays.ended(PATIENCE).await;
}

#[tokio::test]
async fn suspects_take_turns_so_that_blame_gathers_only_where_it_belongs() {
    let database = database().await;
    let client = database.db.client().await.unwrap();
    let three = [(); 3].map(|()| NewTask::new(Role::AnalyticsRefresh));
    let ids = tasks::enqueue(&client, &three).await.unwrap();
    let lost =
        "UPDATE worker_tasks SET loss_count = 3, crash_count = (ARRAY[2, 1, 0])[array_position($1::bigint[], id)]";
    database.raw.execute(lost, &[&ids]).await.unwrap();

    let batch = ClaimBatch {
        roles: vec![Role::AnalyticsRefresh],
        workers: vec!["w".to_owned(); 3],
        lease: Duration::from_secs(60),
        allow_suspect: true,
        ..ClaimBatch::default()
    };
    let mut turns = Vec::new();
    for _ in 0..3 {
        turns.extend(tasks::settle_and_claim(&client, &batch).await.unwrap().claimed.iter().map(|task| task.lease.id));
    }
    assert_eq!(turns, [ids[2], ids[1], ids[0]], "one at a time, the least blamed first");
}
