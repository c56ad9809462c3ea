//! A worker's dependencies go away and come back: the database, the proxies, the disk.

use std::path::Path;
use std::time::{Duration, Instant};

use db::tasks::{self, NewTask};
use domain::task::role::Role;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rstest::rstest;
use sim::{Fault, FaultKind, ProxyFault, Settings};
use tokio::net::TcpListener;

use testkit::{Child, Farm, FaultProxy, PATIENCE, drover, server_dir, server_options};

#[tokio::test]
async fn a_crawl_outlives_its_database_server() {
    let dir = server_dir();
    let server = private_server::start_with(dir.path(), server_options(Duration::ZERO)).await.unwrap();
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
    private_server::stop(dir.path()).await.unwrap();
}

#[tokio::test]
async fn a_database_that_is_silent_for_twenty_seconds_costs_no_retry_and_no_second_fetch() {
    let farm = Farm::with_stores(12).await;
    let network = FaultProxy::start(farm.url()).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    let _worker = Child::spawn(command.env("DATABASE_URL", network.url()).env("DROVER__QUEUE__LEASE", "60s"));
    let some = "SELECT least(3, count(*)) FROM worker_tasks WHERE status = 'completed'";
    farm.until_counted("the crawl is under way", some, 3).await;

    network.set_silent(true);
    tokio::time::sleep(SILENCE).await; // not a wait for something: the length of the outage
    network.set_silent(false);
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0, "it cost retries");
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE loss_count > 0").await, 0, "somebody was blamed");
    let menus = farm.sim.counts().menus;
    assert!(menus.values().all(|requests| *requests == 1), "stores were fetched again: {menus:?}");
}

/// Time that is longer than every deadline of a statement.
const SILENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_worker_ends_soon_after_its_grace_while_the_database_is_silent() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("a silent database cannot be told that they are given back");
    farm.sim.add_fault(sim::Fault::new(sim::FaultKind::Hang));
    let network = FaultProxy::start(farm.url()).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    command.env("DATABASE_URL", network.url()).env("DROVER__QUEUE__LEASE", "60s");
    command.env("DROVER__WORKER__GRACE", "2s").env("DROVER__SUPERVISION__STOP_GRACE", "2s");
    let mut worker = Child::spawn(&mut command);
    let running = "SELECT count(*) FROM worker_tasks WHERE status = 'running'";
    farm.until_counted("the task runs", running, 1).await;

    network.set_silent(true);
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
    let said = worker.stderr().join("\n");
    assert!(said.contains("could not be given back"), "its task stays claimed until the lease runs out: {said}");
    assert!(!said.contains("given back before they stopped"), "{said}");
}

#[tokio::test]
async fn a_transaction_that_fails_for_reasons_not_its_own_runs_again_and_nothing_is_fetched_twice() {
    let farm = Farm::with_stores(3).await;
    // a sequence keeps its value when the transaction is rolled back
    let deadlock_twice_a_table = "
        CREATE SEQUENCE payload_tries;
        CREATE SEQUENCE snapshot_tries;
        CREATE FUNCTION deadlock_twice() RETURNS trigger LANGUAGE plpgsql AS $f$
        BEGIN
          IF nextval(TG_ARGV[0]) <= 2 THEN RAISE deadlock_detected; END IF;
          RETURN NULL;
        END $f$;
        CREATE TRIGGER deadlock_twice AFTER INSERT ON raw_crawl_payloads
          FOR EACH STATEMENT EXECUTE FUNCTION deadlock_twice('payload_tries');
        CREATE TRIGGER deadlock_twice AFTER INSERT ON store_products
          FOR EACH STATEMENT EXECUTE FUNCTION deadlock_twice('snapshot_tries')";
    farm.db.client().await.unwrap().batch(deadlock_twice_a_table).await.unwrap();
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT last_value FROM payload_tries").await, 5, "three payloads, two of them tried again");
    assert_eq!(farm.count("SELECT count(*) FROM past_attempts").await, 0, "a run was thrown away");
}

fn postmaster(dir: &Path) -> Pid {
    let text = std::fs::read_to_string(dir.join("data/postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_worker_waits_for_a_database_that_is_late() {
    let late = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgresql://nobody@{}/none?sslmode=disable", late.local_addr().unwrap());
    let mut worker = Child::spawn(drover().arg("worker").env("DATABASE_URL", url));
    for _ in 0..2 {
        // closed at once, as by a server that is starting
        drop(tokio::time::timeout(PATIENCE, late.accept()).await.expect("it tries again").unwrap());
    }
    worker.signal(Signal::SIGTERM);
    // it handles the signal, as it must where it is PID 1
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
    let said = worker.stderr().join("\n");
    assert!(said.contains("database is not available yet"), "{said}");
}

/// Rejects writes of every session from its start.
const READ_ONLY: &str = "SET default_transaction_read_only =";

#[rstest]
#[case::worker("worker")]
#[case::scheduler("scheduler")]
#[case::up("up")]
#[tokio::test]
async fn a_service_that_starts_on_a_read_only_server_waits_until_it_can_write(#[case] service: &str) {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let name = farm.db.client().await.unwrap().query_one("SELECT current_database()", &[]).await.unwrap();
    let name: String = name.get(0);
    farm.execute(&format!("ALTER DATABASE {name} {READ_ONLY} on")).await;
    let worker = Child::spawn(&mut farm.drover(&[service]));
    worker.logged("not available yet", PATIENCE).await;
    // this session began before
    farm.execute(&format!("ALTER DATABASE {name} {READ_ONLY} off")).await;
    worker.until_metric("drover_build_info", 1.0).await;
}

#[rstest]
#[case::worker("worker")]
#[case::scheduler("scheduler")]
#[case::up("up")]
#[tokio::test]
async fn a_service_that_starts_while_a_person_holds_its_tables_waits_for_them(#[case] service: &str) {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let person = testkit::connect(farm.url()).await;
    person.batch_execute("BEGIN; LOCK TABLE worker_tasks, worker_registry, proxies").await.unwrap();
    let mut command = farm.drover(&[service]);
    let worker = Child::spawn(command.env("DROVER__DATABASE__STATEMENT_TIMEOUT", "500ms"));
    worker.logged("not available yet", PATIENCE).await;
    person.batch_execute("ROLLBACK").await.unwrap();
    worker.until_metric("drover_build_info", 1.0).await;
}

#[tokio::test]
async fn without_proxies_a_worker_refuses_to_start_and_says_what_to_do() {
    let farm = Farm::with_stores(1).await;
    farm.db.client().await.unwrap().execute("DELETE FROM proxies", &[]).await.unwrap();
    let mut worker = Child::spawn(&mut farm.drover(&["worker"])).allow_errors(&["no proxy is enabled"]);
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(78));
    let said = worker.stderr().join("\n");
    assert!(said.contains("drover proxies import"), "{said}");

    // tasks that need no proxy run without
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
    let worker = Child::spawn(&mut farm.drover(&["worker"])).allow_errors(&["No proxy is usable"]);
    farm.enqueue(Role::PayloadFetch).await;
    let benched = "SELECT count(*) FROM proxies WHERE cooldown_until > now()";
    farm.until_counted("all proxies are benched", benched, proxies as i64).await;

    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::None));
    let revived = Instant::now();
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0, "it cost retries");
    let attempts = farm.count("SELECT count(*) FROM task_attempts").await;
    println!("resumed and done {:?} after the revival, with {attempts} attempts", revived.elapsed());
    assert!(attempts < 60, "it span: {attempts} attempts");
    let log = worker.stderr();
    let count = |text: &str| log.iter().filter(|line| line.contains(text)).count();
    println!("{} times none was usable", count("No proxy is usable"));
    assert_eq!(count("No proxy is usable"), 1, "the alarm is given once a minute, for all tasks together");
}

#[tokio::test]
async fn proxies_that_accept_connections_and_bring_no_answer_cost_no_retry() {
    let farm = Farm::with_stores(4).await;
    let proxies = farm.sim.proxies().len();
    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::Hang));
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__HTTP__CONNECT_TIMEOUT", "2s").env("DROVER__HTTP__FIRST_BYTE_TIMEOUT", "2s");
    command.env("DROVER__PROXIES__ROTATIONS_PER_REQUEST", "1").env("DROVER__PROXIES__SNOOZE", "200ms");
    let worker = Child::spawn(&mut command).allow_errors(&["No proxy gets an answer"]);
    farm.enqueue(Role::PayloadFetch).await;
    let waiting = "SELECT least(4, count(DISTINCT task_id)) FROM task_attempts
                    WHERE outcome = 'snoozed' AND error LIKE 'no proxy gets an answer from %, and no other host was asked;%'";
    farm.until_counted("all tasks have been put off", waiting, 4).await;
    assert_eq!(farm.count("SELECT count(*) FROM proxies WHERE NOT is_active").await, 0, "a proxy was blamed");
    worker.logged("No proxy gets an answer", PATIENCE).await;
    let alarms = worker.stderr().iter().filter(|line| line.contains("No proxy gets an answer")).count();
    assert_eq!(alarms, 1, "the alarm is given once a minute, for all tasks together");

    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::None));
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0, "it cost retries");
}

#[tokio::test]
async fn the_one_proxy_that_is_left_completes_the_crawl() {
    let farm = Farm::with_stores(8).await;
    farm.sim.set_proxy_fault(0, ProxyFault::BadGateway);
    farm.sim.set_proxy_fault(1, ProxyFault::AuthRequired);
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    let counts = farm.sim.counts();
    let by: Vec<bool> = counts.proxies.iter().map(|proxy| proxy.requests > 0).collect();
    assert_eq!((by, counts.direct_connections), (vec![false, false, true], 0));
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0, "it cost retries");
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, farm.stores.len() as i64);
}

#[tokio::test]
async fn a_process_without_descriptors_blames_no_proxy_and_spends_no_retry() {
    // slow answers, so that all slots hold their connections at the same time
    let latency = Duration::from_millis(300);
    let farm = Farm::changed(12, |settings| Settings { latency, ..settings }).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = farm.drover(&["worker"]);
    // SAFETY: setrlimit is safe between fork and exec
    unsafe {
        command.pre_exec(|| {
            let files = nix::sys::resource::Resource::RLIMIT_NOFILE;
            nix::sys::resource::setrlimit(files, 32, 32).map_err(std::io::Error::from)
        });
    }
    let limited = Child::spawn(&mut command);
    let told = "SELECT least(1, count(*)) FROM task_attempts WHERE outcome = 'snoozed' AND error LIKE '%this process has used up%'";
    farm.until_counted("the attempt was put off with a clear text", told, 1).await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0);
    assert_eq!(farm.count("SELECT count(*) FROM proxies WHERE failure_count > 0").await, 0);
    drop(limited);
    farm.execute("UPDATE worker_tasks SET scheduled_for = NULL WHERE status = 'pending'").await;
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
}

#[tokio::test]
async fn large_menus_wait_for_one_another_shortly_and_differently_long() {
    const STORES: usize = 6;
    // slow answers, so that all six are asked for at the same time
    let latency = Duration::from_millis(300);
    let farm = Farm::changed(STORES, |settings| Settings { latency, ..settings }).await;
    let text = "x".repeat(foundation::memory::SMALL_BODY);
    farm.sim.add_fault(Fault::new(FaultKind::OddItems(vec![format!(r#"{{"description": "{text}"}}"#)])));
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(farm.drover(&["worker", "--workers", "1"]).args(["--slots", &STORES.to_string()]));
    let put_off = "SELECT least(1, count(*)) FROM task_attempts WHERE outcome = 'snoozed' AND error LIKE '%holds 2 large menus already%'";
    farm.until_counted("a menu has waited for others", put_off, 1).await;
    farm.until_crawled().await;

    let waits = "SELECT count(*) FROM task_attempts a JOIN task_attempts next ON next.task_id = a.task_id AND next.fence = a.fence + 1
                  WHERE a.outcome = 'snoozed' AND next.claimed_at - a.finished_at NOT BETWEEN interval '9 seconds' AND interval '25 seconds'";
    assert_eq!(farm.count(waits).await, 0, "a wait was not between 10 and 20 s");
    let counted = "SELECT count(DISTINCT outcome) FROM fetch_minute WHERE outcome = 'no_memory'";
    farm.until_counted("the requests are counted by their reason", counted, 1).await;
    drop(worker);
}

#[tokio::test]
async fn a_full_disk_costs_no_retry_and_the_crawl_completes_once_there_is_room() {
    let farm = Farm::with_stores(12).await;
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
    let told = "SELECT least(1, count(*)) FROM task_attempts WHERE fence = 1 AND outcome = 'snoozed' AND error LIKE 'no room to write payloads%'";
    farm.until_counted("the attempt was put off with a clear text", told, 1).await;
    let analytics = NewTask::new(Role::AnalyticsRefresh);
    tasks::enqueue(&farm.db.client().await.unwrap(), &[analytics]).await.unwrap();
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'analytics_refresh'";
    farm.until_counted("what needs no room goes on", refreshed, 1).await;
    let attempts = farm.count("SELECT count(*) FROM past_attempts").await;
    assert!(attempts <= 8, "fetches are not claimed while there is no room: {attempts} attempts with four slots");
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 0);
    assert_eq!(farm.files(), Vec::<std::path::PathBuf>::new(), "nothing is left half-written");
    drop(full);
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0);
}

#[tokio::test]
async fn a_share_that_is_away_at_start_costs_no_retry_and_the_crawl_completes_once_it_is_mounted() {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let dir = tempfile::tempdir().unwrap();
    let (root, share) = (dir.path().join("root"), dir.path().join("share"));
    std::os::unix::fs::symlink(&share, &root).unwrap();
    let _worker = Child::spawn(farm.drover(&["worker"]).env("DROVER__STORAGE__ROOT", &root));
    let snoozed = "SELECT least(1, count(*)) FROM task_attempts WHERE outcome = 'snoozed' AND error LIKE 'the storage root % cannot be used%'";
    farm.until_counted("the attempt was put off with a clear text", snoozed, 1).await;
    std::fs::create_dir(&share).unwrap();
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE retry_count > 0").await, 0);
    assert!(share.join("payloads/.database").exists());
}
