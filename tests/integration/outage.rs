//! What a worker depends on goes away and comes back: the database, the proxies, the disk.

use std::path::Path;
use std::time::{Duration, Instant};

use drover::db::embedded;
use drover::domain::role::Role;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sim::ProxyFault;

use crate::support::{Child, Farm, PATIENCE, drover, server_dir, server_options};

#[tokio::test]
async fn a_crawl_outlives_its_database_server() {
    let dir = server_dir();
    let server = embedded::start_with(dir.path(), server_options(Duration::ZERO)).await.unwrap();
    let farm = Farm::on(server.url(), 8).await;
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(&mut farm.drover(&["worker", "--workers", "1", "--slots", "1"]));
    for crawled in [2, 4] {
        let done = format!("SELECT least({crawled}, count(*)) FROM worker_tasks WHERE status = 'completed'");
        farm.until_counted("the crawl goes on", &done, crawled).await;
        kill(postmaster(dir.path()), Signal::SIGKILL).unwrap();
    }
    farm.until_crawled().await;
    let punished = "SELECT count(*) FROM worker_tasks WHERE retry_count > 0";
    assert_eq!(farm.count(punished).await, 0, "an outage cost retries");
    drop((worker, farm));
    embedded::stop(dir.path()).await.unwrap();
}

fn postmaster(dir: &Path) -> Pid {
    let text = std::fs::read_to_string(dir.join("data/postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_worker_waits_for_a_database_that_is_late() {
    let mut command = drover();
    command.args(["worker"]).env("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none");
    let worker = Child::spawn(&mut command);
    let line = worker.logged("database is not available yet", PATIENCE).await;
    assert!(line.contains("WARN"), "{line}");
}

#[tokio::test]
async fn without_proxies_a_worker_refuses_to_start_and_says_what_to_do() {
    let farm = Farm::with_stores(1).await;
    farm.db.client().await.unwrap().execute("DELETE FROM proxies", &[]).await.unwrap();
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(78));
    let said = worker.stderr().join("\n");
    assert!(said.contains("drover proxies import"), "{said}");

    // what needs no proxy runs without
    let mut refresher = Child::spawn(&mut farm.drover(&["worker", "--role", "analytics_refresh"]));
    farm.enqueue(Role::AnalyticsRefresh).await;
    farm.until_counted("it works", "SELECT count(*) FROM worker_tasks WHERE status = 'completed'", 1).await;
    refresher.signal(Signal::SIGTERM);
    assert_eq!(refresher.ended(PATIENCE).await.code(), Some(0));
}

#[tokio::test]
async fn work_stands_still_while_all_proxies_refuse_and_resumes_when_they_revive() {
    let farm = Farm::with_stores(4).await;
    let proxies = farm.sim.proxies().len();
    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::Refuse));
    let worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.enqueue(Role::PayloadFetch).await;
    worker.logged("proxy", PATIENCE).await;
    let benched = "SELECT count(*) FROM proxies WHERE cooldown_until > now()";
    farm.until_counted("all proxies are benched", benched, proxies as i64).await;

    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::None));
    let revived = Instant::now();
    farm.until_crawled().await;
    assert!(revived.elapsed() < Duration::from_secs(30), "it took {:?}", revived.elapsed());
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0, "it cost retries");
    let attempts = farm.count("SELECT count(*) FROM task_attempts").await;
    println!("resumed and done {:?} after the revival, with {attempts} attempts", revived.elapsed());
    assert!(attempts < 60, "it span: {attempts} attempts");
}

#[tokio::test]
async fn a_full_disk_costs_no_retry_and_the_crawl_completes_once_there_is_room() {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    // SAFETY: setrlimit is safe between fork and exec
    unsafe {
        command.pre_exec(|| {
            let none = nix::sys::resource::Resource::RLIMIT_FSIZE;
            nix::sys::resource::setrlimit(none, 0, 0).map_err(std::io::Error::from)
        });
    }
    let full = Child::spawn(&mut command);
    let told = "SELECT count(*) FROM task_attempts WHERE fence = 1 AND outcome = 'snoozed' AND error LIKE 'no room to write payloads%'";
    farm.until_counted("the attempt was put off with a clear text", told, 1).await;
    drop(full);
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0);
}
