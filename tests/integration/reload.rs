//! The configuration of a running service follows its files, seen on whole processes.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use rstest::rstest;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use sim::{Fault, FaultKind, Settings};
use testkit::{Child, Farm, LONG_LEASE, PATIENCE, until};

/// A directory of configuration files.
fn directory(text: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), text);
    directory
}

fn write(directory: &Path, text: &str) {
    std::fs::write(directory.join("development.toml"), text).unwrap();
}

/// A service of the farm that reads `directory`, and not the variables of the keys that its file has.
fn start(farm: &Farm, name: &str, directory: &Path) -> Child {
    Child::spawn(&mut service(farm, name, directory))
}

fn service(farm: &Farm, name: &str, directory: &Path) -> Command {
    let file = std::fs::read_to_string(directory.join("development.toml")).unwrap();
    let mut command = farm.drover(&[name, "--config"]);
    command.arg(directory);
    for key in ["slots", "workers_per_pod", "pods"].iter().filter(|key| file.contains(&format!("{key} = "))) {
        command.env_remove(format!("DROVER__TOPOLOGY__{}", key.to_uppercase()));
    }
    for variable in ["WORKER__MEMORY_BACKOFF_THRESHOLD", "PROXIES__FLUSH_EVERY", "POLITENESS__REQUESTS_PER_SECOND"] {
        command.env_remove(format!("DROVER__{variable}"));
    }
    command.env("DROVER__QUEUE__LEASE", LONG_LEASE).env("DROVER__QUEUE__HEARTBEAT", "500ms");
    command
}

const SLOTS: &str =
    "SELECT coalesce(sum(max_concurrent_tasks), 0)::bigint FROM worker_registry WHERE status <> 'offline'";

#[rstest]
#[case::when_its_file_changes(None)]
#[case::at_a_signal(Some(Signal::SIGHUP))]
#[tokio::test]
async fn more_and_fewer_slots_take_effect_without_a_restart(#[case] signal: Option<Signal>) {
    let farm = Farm::with_stores(6).await;
    let directory = directory("topology.slots = 2\nworker.memory_backoff_threshold = 0.0");
    let worker = start(&farm, "worker", directory.path());
    farm.until_counted("two workers have two slots each", SLOTS, 4).await;
    for (slots, all) in [(5, 10), (1, 2)] {
        write(directory.path(), &format!("topology.slots = {slots}\nworker.memory_backoff_threshold = 0.0"));
        if let Some(signal) = signal {
            worker.signal(signal);
        }
        farm.until_counted("the registry shows it", SLOTS, all).await;
        worker.until_sample(&format!("drover_worker_slots {all}")).await;
    }
    farm.enqueue(domain::task::role::Role::PayloadFetch).await;
    farm.until_crawled().await;
    assert_eq!(farm.count("SELECT count(*) FROM task_attempts WHERE outcome IN ('lost', 'released')").await, 0);
}

/// A heartbeat comes every ten minutes: later than this test may end.
#[tokio::test]
async fn a_back_off_is_listed_when_it_begins_and_when_it_ends() {
    let farm = Farm::with_stores(1).await;
    let settings = |memory: &str| {
        format!(
            "worker = {{ memory_backoff_threshold = {memory}, cpu_backoff_threshold = 0.0, backoff_duration = \"100ms\" }}\ntopology.slots = 1"
        )
    };
    let directory = directory(&settings("0.0"));
    let mut command = service(&farm, "worker", directory.path());
    command.env("DROVER__QUEUE__LEASE", "40m").env("DROVER__QUEUE__HEARTBEAT", "10m");
    let _worker = Child::spawn(&mut command);
    let of_status = |status: &str| format!("SELECT count(*) FROM worker_registry WHERE status = '{status}'");
    farm.until_counted("two workers are registered", &of_status("active"), 2).await;
    for (memory, status) in [("0.000001", "backing_off"), ("0.0", "active")] {
        write(directory.path(), &settings(memory));
        farm.until_counted("the registry shows it", &of_status(status), 2).await;
    }
}

const WORKERS: &str = "SELECT count(*) FROM worker_registry WHERE status = 'active'";
const NOT_WHOLE: &str = "SELECT count(*) FROM task_attempts WHERE outcome IN ('lost', 'released')";

/// Each worker has one slot.
fn topology(pods: usize, workers: usize) -> String {
    format!(
        "topology = {{ pods = {pods}, workers_per_pod = {workers}, slots = 1 }}\nworker.memory_backoff_threshold = 0.0"
    )
}

#[tokio::test]
async fn a_busy_process_grows_at_once_and_shrinks_by_draining() {
    let latency = Duration::from_millis(30);
    let farm = Farm::changed(40, |settings| Settings { latency, ..settings }).await;
    farm.leaves_open_tasks("its schedules run");
    let client = farm.db.client().await.unwrap();
    db::schedules::ensure_defaults(&client, &drover::platforms::default_schedules()).await.unwrap();
    // a worker that leaves would continue with it for minutes
    client.batch("UPDATE task_schedules SET enabled = false WHERE role = 'store_discovery'").await.unwrap();
    let directory = directory(&topology(1, 5));
    let up = start(&farm, "up", directory.path());
    farm.until_counted("five workers run", WORKERS, 5).await;
    // counts started tasks: a poll may miss the moment in which four run
    let begun = "SELECT least(count(*), 4) FROM worker_tasks WHERE started_at IS NOT NULL";
    farm.until_counted("its schedule keeps them busy", begun, 4).await;
    for workers in [8, 2] {
        write(directory.path(), &topology(1, workers));
        farm.until_counted("the registry shows it", WORKERS, workers as i64).await;
    }
    farm.until_counted("the others have left", "SELECT count(*) FROM worker_registry", 2).await;
    up.until_sample("drover_process_workers 2").await;
    farm.until_crawled().await;
    assert_eq!(farm.count(NOT_WHOLE).await, 0);
    write(directory.path(), &topology(1, 3));
    farm.until_counted(
        "a free number is used again",
        "SELECT count(*) FROM worker_registry WHERE friendly_name LIKE '%-3'",
        1,
    )
    .await;
}

#[tokio::test]
async fn pods_are_started_and_retired_without_a_restart() {
    let farm = Farm::with_stores(6).await.without_schedules().await;
    let directory = directory(&topology(1, 2));
    let up = start(&farm, "up", directory.path());
    farm.until_counted("one pod runs", WORKERS, 2).await;
    let _other = start(&farm, "worker", directory.path());
    farm.until_counted("another process runs the second name", WORKERS, 4).await;
    write(directory.path(), &topology(3, 2));
    farm.until_counted("three pods run beside it", WORKERS, 8).await;
    let names = "SELECT count(DISTINCT friendly_name) FROM worker_registry";
    assert_eq!(farm.count(names).await, 8, "no name is used twice");
    write(directory.path(), &topology(1, 2));
    up.logged("has ended: its last worker", PATIENCE).await;
    farm.until_counted("the first pod is left", "SELECT count(*) FROM worker_registry", 4).await;
    farm.enqueue(domain::task::role::Role::PayloadFetch).await;
    farm.until_crawled().await;
    assert_eq!(farm.count(NOT_WHOLE).await, 0);
}

const PROXIES_AT_REST: &str = "INSERT INTO fetch_minute SELECT date_trunc('minute', now()), 9, 'menu.test', id, 'ok', 1, 0, 2000000, 1 FROM proxies";
const QUICK: &str = "worker.memory_backoff_threshold = 0.0\nproxies.flush_every = \"200ms\"";

#[tokio::test]
async fn a_raised_budget_ends_the_rest_of_the_proxies() {
    let farm = Farm::with_stores(2).await;
    farm.db.client().await.unwrap().batch(PROXIES_AT_REST).await.unwrap();
    let directory = directory(&format!("{QUICK}\nproxies.budget_bytes_per_day = \"1MiB\""));
    let worker = start(&farm, "worker", directory.path()).allow_errors(&["No proxy is usable"]);
    worker.logged("has carried the 1048576 bytes that it may carry in a day", PATIENCE).await;
    farm.enqueue(domain::task::role::Role::PayloadFetch).await;
    write(directory.path(), &format!("{QUICK}\nproxies.budget_bytes_per_day = \"1GiB\""));
    farm.until_crawled().await;
}

#[tokio::test]
async fn another_wait_for_a_proxy_and_another_snooze_hold_for_the_next_task() {
    let farm = Farm::with_stores(4).await;
    farm.sim.add_fault(Fault::new(FaultKind::Hang));
    farm.leaves_open_tasks("three fetches hang, each with one of the three proxies");
    let directory = directory(&format!("{QUICK}\nproxies.sessions = 1"));
    let worker = start(&farm, "worker", directory.path());
    worker.probes().await;
    write(
        directory.path(),
        &format!("{QUICK}\nproxies.sessions = 1\nproxies.wait = \"500ms\"\nproxies.snooze = \"10m\""),
    );
    worker.logged("proxies.snooze", PATIENCE).await;
    farm.enqueue(domain::task::role::Role::PayloadFetch).await;
    let snoozed =
        "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND scheduled_for > now() + interval '5 minutes'";
    farm.until_counted("the fourth found no proxy", snoozed, 1).await;
}

#[tokio::test]
async fn a_slower_rate_holds_for_the_next_request() {
    let farm = Farm::with_stores(2).await;
    let directory = directory(&format!("{QUICK}\npoliteness.requests_per_second = 100.0"));
    let worker = start(&farm, "worker", directory.path());
    farm.enqueue(domain::task::role::Role::PayloadFetch).await;
    farm.until_crawled().await;
    write(directory.path(), &format!("{QUICK}\npoliteness.requests_per_second = 7.0"));
    worker.logged("politeness.requests_per_second 100.0 -> 7.0", PATIENCE).await;
    farm.enqueue(domain::task::role::Role::ProductDiscovery).await;
    farm.until_counted("it is the rate of the host", "SELECT count(*) FROM hosts WHERE configured_rate = 7", 1).await;
    farm.until_counted("both are crawled again", "SELECT count(*) FROM worker_tasks WHERE status = 'completed'", 8)
        .await;
}

#[tokio::test]
async fn a_faulty_file_is_refused_as_a_whole_and_said_once() {
    let farm = Farm::with_stores(1).await;
    let directory = directory("topology.slots = 2\nworker.memory_backoff_threshold = 0.0");
    let worker = start(&farm, "worker", directory.path());
    farm.until_counted("it has its slots", SLOTS, 4).await;

    write(directory.path(), "topology.slots = 3\nworker.memory_backoff_threshold = 7.5");
    worker.until_sample("drover_config_refused 1").await;
    worker.signal(Signal::SIGHUP);
    // the writing of the file may be two events
    worker.until_metric("drover_config_reloads_total{result=\"refused\"}", 2.0).await;
    let refusals = worker.stderr().iter().filter(|line| line.contains("is refused as a whole")).count();
    assert_eq!((refusals, farm.count(SLOTS).await), (1, 4));

    write(directory.path(), "topology.slots = 3\nworker.memory_backoff_threshold = 0.0");
    farm.until_counted("the corrected file is used", SLOTS, 6).await;
    worker.until_sample("drover_config_refused 0").await;
}

#[tokio::test]
async fn a_setting_that_needs_a_restart_is_named_and_keeps_its_value() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("its schedules run");
    let directory = directory("queue.retry_cap = \"20m\"\ntopology.slots = 2");
    let api = start(&farm, "api", directory.path());
    let listening = api.logged("Listening on", PATIENCE).await;
    let listening: Value = serde_json::from_str(&listening).unwrap();
    let address = listening["address"].as_str().unwrap().to_owned();

    write(directory.path(), "queue.retry_cap = \"21m\"\ntopology.slots = 2\nlog.level = \"debug\"");
    let said = api.logged("These settings need a restart", PATIENCE).await;
    assert!(said.contains(r#"queue.retry_cap \"20m\" -> \"21m\""#), "{said}");
    api.logged(r#"log.level \"info\" -> \"debug\""#, PATIENCE).await;

    write(directory.path(), "queue.retry_cap = \"22m\"\nlog.level = \"debug\"\ntopology.slots = 7");
    let mut command = farm.drover(&["config", "diff", "--json", "--url", &format!("http://{address}"), "--config"]);
    // neither its own flag nor what only the service has of its environment is a change
    command.arg(directory.path()).env_remove("DROVER__TOPOLOGY__SLOTS").env_remove("DROVER__API__LISTEN");
    let mut answer = async || -> Value {
        let output = command.output().await.unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let of = |answer: &Value, key: &str| -> Option<Value> {
        answer["changes"].as_array().unwrap().iter().find(|change| change["key"] == key).cloned()
    };
    let changed = answer().await;
    let waiting = of(&changed, "queue.retry_cap").unwrap();
    assert_eq!(
        (&waiting["from"], &waiting["to"], &waiting["needs_restart"]),
        (&"20m".into(), &"22m".into(), &true.into())
    );
    assert!(of(&changed, "log.level").is_none(), "it is in use");
    // the service follows the file by itself
    until("the slots are in use", PATIENCE, async || of(&answer().await, "topology.slots").is_none()).await;
    let left = answer().await;
    assert_eq!(left["changes"].as_array().unwrap().len(), 1, "{left}");
}
