//! Pauses as processes obey them: each scope, restarts, ends by themselves, and many workers at once.

use std::time::Duration;

use db::tasks::{self, NewTask};
use domain::task::role::Role;
use rstest::rstest;
use sim::Settings;
use testkit::{Child, Farm, PATIENCE, until};
use tokio::process::Command;

const PENDING_FETCHES: &str =
    "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND role = 'payload_fetch' AND retry_count = 0";
const PAUSED_WORKERS: &str = "SELECT count(*) FROM worker_registry WHERE status = 'paused'";
const ACTIVE_WORKERS: &str = "SELECT count(*) FROM worker_registry WHERE status = 'active'";

async fn farm(stores: usize) -> Farm {
    Farm::with_stores(stores).await.without_schedules().await
}

/// Each process calls its one pod Aethelgard.
fn pod(farm: &Farm, workers: &str) -> Command {
    farm.drover(&["worker", "--workers", workers])
}

async fn drover(farm: &Farm, args: &[&str]) -> String {
    let run = farm.drover(args).output().await.unwrap();
    assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

async fn pause(farm: &Farm, target: &[&str]) -> String {
    let reason = ["--reason", "parsers are wrong"];
    drover(farm, &[&["pause"], target, &reason].concat()).await
}

async fn resume(farm: &Farm, target: &[&str]) {
    drover(farm, &[&["resume"], target].concat()).await;
}

/// A task of a role that is not paused, which a worker that claims would run.
async fn probe(farm: &Farm) {
    let new = NewTask::new(Role::AnalyticsRefresh);
    let id = tasks::enqueue(&farm.db.client().await.unwrap(), &[new]).await.unwrap()[0];
    let ran = format!("SELECT count(*) FROM worker_tasks WHERE id = {id} AND status = 'completed'");
    farm.until_counted("a task of another role has run", &ran, 1).await;
}

/// Waits until every process obeys the pauses: within a second, and on a busy machine somewhat later.
async fn until_obeyed(farm: &Farm) {
    let since = "SELECT (extract(epoch FROM clock_timestamp() - max(created_at)) * 1000)::bigint FROM pauses";
    until("some seconds have passed", PATIENCE, async || farm.count(since).await > 3_000).await;
}

#[rstest]
#[case::all(&["all"])]
#[case::family(&["family", "crawl"])]
#[case::pod(&["pod", "Aethelgard"])]
#[case::worker(&["worker", "Aethelgard-1"])]
#[tokio::test]
async fn a_paused_worker_claims_nothing_until_it_is_resumed(#[case] target: &[&str]) {
    let farm = farm(2).await;
    let _pod = Child::spawn(&mut pod(&farm, "1"));
    farm.until_counted("the worker is there", ACTIVE_WORKERS, 1).await;
    pause(&farm, target).await;
    farm.until_counted("the worker is paused", PAUSED_WORKERS, 1).await;
    farm.enqueue(Role::PayloadFetch).await;
    two_beats(&farm).await;
    assert_eq!(farm.count(PENDING_FETCHES).await, 2);
    resume(&farm, target).await;
    farm.until_crawled().await;
    farm.until_counted("the worker is active", ACTIVE_WORKERS, 1).await;
}

/// Waits for two further heartbeats: its polls come between them.
async fn two_beats(farm: &Farm) {
    let beat = "SELECT (extract(epoch FROM max(last_heartbeat_at)) * 1000)::bigint FROM worker_registry";
    for _ in 0..2 {
        let before = farm.count(beat).await;
        until("another heartbeat", PATIENCE, async || farm.count(beat).await != before).await;
    }
}

#[tokio::test]
async fn a_paused_role_waits_while_other_roles_run() {
    let farm = farm(2).await;
    let _pod = Child::spawn(&mut pod(&farm, "2"));
    farm.until_counted("the workers are there", ACTIVE_WORKERS, 2).await;
    pause(&farm, &["role", "product_refresh"]).await;
    until_obeyed(&farm).await;
    farm.enqueue(Role::PayloadFetch).await;
    let waiting = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND role = 'product_refresh'";
    farm.until_counted("the menus are fetched, and their refreshes wait", waiting, 2).await;
    probe(&farm).await;
    assert_eq!(farm.count(waiting).await, 2);
    resume(&farm, &["role", "product_refresh"]).await;
    farm.until_crawled().await;
}

#[tokio::test]
async fn a_pending_task_names_the_pause_that_it_waits_for() {
    let farm = farm(2).await;
    farm.leaves_open_tasks("no worker runs");
    let tasks = farm.enqueue(Role::PayloadFetch).await;
    let task = farm.count("SELECT id FROM worker_tasks WHERE dispensary_id = 1").await;
    assert!(tasks.contains(&task));
    let cases: [(&str, &[&str], Option<&str>); 7] = [
        ("all", &["all"], Some("everything")),
        ("family", &["family", "crawl"], Some("family crawl")),
        ("role", &["role", "payload_fetch"], Some("role payload_fetch")),
        ("store", &["store", "1"], Some("store 1")),
        ("another role", &["role", "product_refresh"], None),
        ("another family", &["family", "media"], None),
        ("another store", &["store", "2"], None),
    ];
    for (case, target, named) in cases {
        println!("{case}");
        pause(&farm, target).await;
        let shown = drover(&farm, &["tasks", "show", &task.to_string()]).await;
        let line = shown.lines().find_map(|line| line.strip_prefix("stopped   "));
        assert_eq!(
            line.map(str::to_owned),
            named.map(|named| format!("{named} is paused: parsers are wrong")),
            "{shown}"
        );
        farm.execute("DELETE FROM pauses").await;
    }
}

#[tokio::test]
async fn a_paused_store_waits_while_other_stores_are_crawled() {
    let farm = farm(2).await;
    let _pod = Child::spawn(&mut pod(&farm, "1"));
    let store = farm.stores[0].to_string();
    pause(&farm, &["store", &store]).await;
    farm.enqueue(Role::PayloadFetch).await;
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
    farm.until_counted("the other store is crawled", refreshed, 1).await;
    assert_eq!(farm.count(PENDING_FETCHES).await, 1);
    resume(&farm, &["store", &store]).await;
    farm.until_crawled().await;
}

#[tokio::test]
async fn a_paused_host_is_sent_nothing_until_it_is_resumed() {
    let farm = farm(1).await;
    let _pod = Child::spawn(&mut pod(&farm, "1"));
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    pause(&farm, &["host", "127.0.0.1"]).await;
    let requests = farm.sim.counts().requests;
    until_obeyed(&farm).await;
    farm.enqueue(Role::PayloadFetch).await;
    let held = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND waits_for_host = '127.0.0.1'";
    farm.until_counted("the task waits for the host", held, 1).await;
    assert_eq!(farm.sim.counts().requests, requests);
    resume(&farm, &["host", "127.0.0.1"]).await;
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
    farm.until_counted("it is crawled again", refreshed, 2).await;
}

#[tokio::test]
async fn a_pause_survives_the_death_of_every_process() {
    let farm = farm(2).await;
    let mut first = Child::spawn(&mut pod(&farm, "1"));
    farm.until_counted("the worker is there", ACTIVE_WORKERS, 1).await;
    pause(&farm, &["role", "payload_fetch"]).await;
    first.signal(nix::sys::signal::Signal::SIGKILL);
    first.ended(PATIENCE).await;
    farm.enqueue(Role::PayloadFetch).await;
    let _second = Child::spawn(&mut pod(&farm, "1"));
    probe(&farm).await;
    assert_eq!(farm.count(PENDING_FETCHES).await, 2);
    resume(&farm, &["role", "payload_fetch"]).await;
    farm.until_crawled().await;
}

#[tokio::test]
async fn a_pause_with_an_end_is_over_by_itself() {
    let farm = farm(2).await;
    let _pod = Child::spawn(&mut pod(&farm, "1"));
    farm.until_counted("the worker is there", ACTIVE_WORKERS, 1).await;
    let made = drover(&farm, &["pause", "all", "--reason", "a short break", "--for", "5s"]).await;
    assert!(made.starts_with("everything is paused until "), "{made}");
    let until = "SELECT (extract(epoch FROM until) * 1000)::bigint FROM pauses";
    let end = farm.count(until).await;
    farm.until_counted("the worker is paused", PAUSED_WORKERS, 1).await;
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    let first = "SELECT (extract(epoch FROM min(claimed_at)) * 1000)::bigint FROM worker_tasks";
    let late = farm.count(first).await - end;
    assert!((0..5_000).contains(&late), "the first claim came {late} ms after the end of the pause");
    farm.until_counted("the pause is removed", "SELECT count(*) FROM pauses", 0).await;
}

#[tokio::test]
async fn eight_busy_workers_claim_nothing_soon_after_a_pause() {
    const STORES: usize = 24;
    /// Number of crawls with enough work for the pause to be obeyed long before its end.
    const CRAWLS: usize = 5;
    let latency = Duration::from_millis(400);
    let farm = Farm::changed(STORES, |settings| Settings { latency, ..settings }).await;
    let farm = farm.without_schedules().await;
    for _ in 0..CRAWLS {
        farm.enqueue(Role::PayloadFetch).await;
    }
    let _pod = Child::spawn(&mut pod(&farm, "8"));
    let done = "SELECT count(*) FROM worker_tasks WHERE status = 'completed'";
    until("they are busy", PATIENCE, async || farm.count(done).await > 5).await;
    // a command might take longer to start than the tasks last
    farm.execute("INSERT INTO pauses (scope, target, reason, created_by) VALUES ('all', '', 'x', 'me')").await;
    let active = "SELECT count(*) FROM worker_tasks WHERE status IN ('claimed', 'running')";
    until_obeyed(&farm).await;
    farm.until_counted("running tasks have ended", active, 0).await;
    let late = "SELECT count(*) FROM worker_tasks t, pauses p WHERE t.claimed_at > p.created_at + interval '3 seconds'";
    assert_eq!(farm.count(late).await, 0);
    assert!(farm.count(PENDING_FETCHES).await > 0, "the pause came too late to show anything");
    resume(&farm, &["all"]).await;
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
    farm.until_counted("every task has run", refreshed, (CRAWLS * STORES) as i64).await;
    farm.assert_nothing_twice().await;
}

#[tokio::test]
async fn a_wrong_target_is_refused_with_its_remedy() {
    let farm = farm(1).await;
    let refused = async |args: &[&str]| {
        let run = farm.drover(args).output().await.unwrap();
        (run.status.code().unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    let reason = ["--reason", "x"];
    for (target, code, text) in [
        (&["pod", "Nowhere"][..], 3, "pod Nowhere does not exist"),
        (&["worker", "w"], 3, "worker w does not exist"),
        (&["store", "4711"], 3, "store 4711 does not exist"),
        (&["store", "x"], 2, "no store has the slug or name 'x'"),
        (&["host", "menu.test"], 3, "host menu.test does not exist"),
        (&["role", "fishing"], 2, "'fishing' is not one of store_discovery"),
        (&["all", "x"], 2, "must be left out"),
        (&["fleet"], 2, "all, family, role, pod, worker, host, store"),
    ] {
        let (found, said) = refused(&[&["pause"], target, &reason[..]].concat()).await;
        assert!(found == code && said.contains(text), "{target:?}: {found} {said}");
    }
    let (code, said) = refused(&["pause", "all"]).await;
    assert!(code == 2 && said.contains("--reason"), "{said}");
    let (code, said) = refused(&["resume", "role", "payload_fetch"]).await;
    assert!(code == 3 && said.contains("role payload_fetch is not paused; nothing is"), "{said}");
    pause(&farm, &["all"]).await;
    let (_, said) = refused(&["resume", "role", "payload_fetch"]).await;
    assert!(said.contains("paused now: all"), "{said}");
    assert!(drover(&farm, &["pause"]).await.contains("parsers are wrong"));
}
