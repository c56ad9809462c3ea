//! SIGTERM and SIGINT while a process is still on its way up: it ends at once, as PID 1 of a container too.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rstest::rstest;
use tokio::net::TcpListener;
use tokio::process::Command;

use testkit::{Child, PATIENCE, connect, database, drover, empty_database, server_dir, until};

/// Maximum time, much shorter than the wait of each of these processes, and long enough for a busy machine.
const PROMPTLY: Duration = Duration::from_secs(30);
/// Deadlines of connections and statements: a process that heeds its signal between two tries ends too late.
const PATIENT: [(&str, &str); 2] =
    [("DROVER__DATABASE__CONNECT_TIMEOUT", "5m"), ("DROVER__DATABASE__STATEMENT_TIMEOUT", "5m")];
/// The advisory lock of migrations.
const MIGRATION_LOCK: i64 = 0x6472_6f76_6572;

/// A port whose server accepts connections and never says anything.
async fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgresql://drover@{}/drover", listener.local_addr().unwrap());
    (listener, url)
}

#[rstest]
#[case::worker("worker", Signal::SIGTERM, 0)]
#[case::scheduler("scheduler", Signal::SIGTERM, 0)]
#[case::api_at_ctrl_c("api", Signal::SIGINT, 130)]
#[tokio::test]
async fn a_service_that_waits_for_its_database_ends_at_a_signal(
    #[case] service: &str,
    #[case] signal: Signal,
    #[case] code: i32,
) {
    let (server, url) = silent_server().await;
    let mut command = drover();
    command.arg(service).envs(PATIENT).env("DATABASE_URL", url).env("DROVER__API__LISTEN", "127.0.0.1:0");
    let mut process = Child::spawn(&mut command);
    let _connection = server.accept().await.unwrap();
    process.signal(signal);
    assert_eq!(process.ended(PROMPTLY).await.code(), Some(code));
}

#[rstest]
#[case::worker(&["worker"], Signal::SIGTERM, 0)]
#[case::worker_at_ctrl_c(&["worker"], Signal::SIGINT, 130)]
#[case::migrate(&["migrate", "up"], Signal::SIGTERM, 130)]
#[tokio::test]
async fn a_process_that_migrates_ends_at_a_signal_and_has_changed_nothing(
    #[case] args: &[&str],
    #[case] signal: Signal,
    #[case] code: i32,
) {
    let database = empty_database().await;
    database.raw.execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await.unwrap();
    let mut process = Child::spawn(drover().args(args).envs(PATIENT).env("DATABASE_URL", &database.url));
    until_counted(&database.raw, "it waits for the lock of migrations", testkit::WAITING_FOR_LOCKS, 1).await;
    process.signal(signal);
    assert_eq!(process.ended(PROMPTLY).await.code(), Some(code));

    database.raw.execute("SELECT pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).await.unwrap();
    until_counted(&database.raw, "its connections are closed", OTHER_CONNECTIONS, 0).await;
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    until_counted(&database.raw, "there is no table", tables, 0).await;
}

#[tokio::test]
async fn a_service_that_prepares_its_start_ends_at_a_signal() {
    let database = database().await;
    let watcher = connect(&database.url).await;
    database.raw.batch_execute("BEGIN; LOCK TABLE worker_tasks").await.unwrap();
    let mut command = drover();
    command.arg("api").envs(PATIENT).env("DATABASE_URL", &database.url).env("DROVER__API__LISTEN", "127.0.0.1:0");
    let mut process = Child::spawn(&mut command);
    until_counted(&watcher, "it waits for the table", testkit::WAITING_FOR_LOCKS, 1).await;
    process.signal(Signal::SIGTERM);
    assert_eq!(process.ended(PROMPTLY).await.code(), Some(0));
}

#[rstest]
#[case::up("up", 0)]
#[case::demo("demo", 130)]
#[tokio::test]
async fn a_process_that_starts_its_private_server_ends_at_a_signal(#[case] command: &str, #[case] code: i32) {
    let (dir, bin) = (server_dir(), tempfile::tempdir().unwrap());
    let asked = bin.path().join("asked");
    for program in ["postgres", "initdb"] {
        let path = bin.path().join(program);
        std::fs::write(&path, format!("#!/bin/sh\ntouch {}\nexec sleep 600\n", asked.display())).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    let mut starts = drover();
    starts.args([command, "--dir"]).arg(dir.path()).env("DROVER_PG_BIN", bin.path());
    let mut process = Child::spawn(starts.env("DROVER__API__LISTEN", "127.0.0.1:0"));
    until("it asks the server for its version", PATIENCE, async || asked.exists()).await;
    process.signal(Signal::SIGTERM);
    assert_eq!(process.ended(PROMPTLY).await.code(), Some(code));
}

/// The kernel keeps signals that have no handler from PID 1 of a namespace.
#[tokio::test]
async fn as_pid_1_a_service_that_waits_for_its_database_ends_at_sigterm() {
    let mut probe = Command::new("unshare");
    if !probe.args(["--pid", "--fork", "true"]).stderr(Stdio::null()).status().await.is_ok_and(|made| made.success()) {
        println!("skipped: this account may make no process namespace");
        return;
    }
    let (server, url) = silent_server().await;
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child"]).arg(testkit::program()).arg("worker");
    command.env_clear().current_dir("/").envs(PATIENT).env("DATABASE_URL", url).kill_on_drop(true);
    let mut namespace = Child::spawn(&mut command);
    let _connection = server.accept().await.unwrap();
    kill(only_child_of(namespace.id().unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(namespace.ended(PROMPTLY).await.code(), Some(0));
}

fn only_child_of(pid: u32) -> Pid {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    Pid::from_raw(children.trim().parse().unwrap())
}

const OTHER_CONNECTIONS: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

async fn until_counted(client: &tokio_postgres::Client, what: &str, sql: &str, wanted: i64) {
    until(what, PATIENCE, async || client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == wanted).await;
}
