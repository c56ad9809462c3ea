//! Notices to a service manager (`Type=notify`), received on a real socket: ready, alive and stopping.

use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;
use tokio::net::UnixDatagram;
use tokio::process::Command;

use testkit::{Child, Farm, PATIENCE, drover, empty_database, until};

/// The advisory lock of migrations.
const MIGRATIONS: i64 = 0x6472_6f76_6572;

/// The manager's end of the notices.
struct Manager {
    socket: UnixDatagram,
    dir: TempDir,
}

impl Manager {
    fn new() -> Manager {
        let dir = tempfile::tempdir().unwrap();
        let socket = UnixDatagram::bind(dir.path().join("notify")).unwrap();
        Manager { socket, dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("notify")
    }

    fn start(&self, command: &mut Command) -> Child {
        Child::spawn(command.env("NOTIFY_SOCKET", self.path()))
    }

    async fn next(&self) -> String {
        let mut bytes = [0; 256];
        let received = tokio::time::timeout(PATIENCE, self.socket.recv(&mut bytes)).await;
        let length = received.expect("no notice came").unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap().trim_end().to_owned()
    }

    /// Notices that have come and were not read.
    fn rest(&self) -> Vec<String> {
        let mut bytes = [0; 256];
        let mut all = Vec::new();
        while let Ok(length) = self.socket.try_recv(&mut bytes) {
            all.push(String::from_utf8(bytes[..length].to_vec()).unwrap().trim_end().to_owned());
        }
        all
    }
}

#[tokio::test]
async fn a_service_says_that_it_is_ready_and_that_it_stops() {
    let farm = Farm::with_stores(1).await;
    let manager = Manager::new();
    let mut worker = manager.start(&mut farm.drover(&["worker"]));
    assert_eq!(manager.next().await, "READY=1");
    worker.signal(Signal::SIGTERM);
    assert_eq!(manager.next().await, "STOPPING=1");
    assert!(worker.ended(PATIENCE).await.success());
    assert!(manager.rest().is_empty(), "no watchdog was asked for");
}

#[tokio::test]
async fn a_service_is_not_ready_before_the_schema_is() {
    let database = empty_database().await;
    let migrations = format!("SELECT pg_advisory_lock({MIGRATIONS})");
    database.raw.batch_execute(&migrations).await.unwrap();
    let manager = Manager::new();
    let mut command = drover();
    command.arg("scheduler").env("DATABASE_URL", &database.url);
    let mut scheduler = manager.start(&mut command);
    let waits = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    until("it waits to migrate", PATIENCE, async || !database.raw.query(waits, &[]).await.unwrap().is_empty()).await;
    assert_eq!(manager.rest(), Vec::<String>::new());
    database.raw.batch_execute("SELECT pg_advisory_unlock_all()").await.unwrap();
    assert_eq!(manager.next().await, "READY=1");
    scheduler.signal(Signal::SIGTERM);
    assert!(scheduler.ended(PATIENCE).await.success());
}

#[tokio::test]
async fn a_worker_without_proxies_is_never_ready() {
    let farm = Farm::with_stores(1).await;
    farm.execute("UPDATE proxies SET is_active = false, cooldown_until = NULL").await;
    let manager = Manager::new();
    let mut worker = manager.start(&mut farm.drover(&["worker"])).allow_errors(&["no proxy is enabled"]);
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(78));
    assert_eq!(manager.rest(), Vec::<String>::new());
}

#[tokio::test]
async fn a_root_that_hangs_sends_no_more_signs_of_life() {
    let farm = Farm::with_stores(1).await;
    let manager = Manager::new();
    let mut command = farm.drover(&["worker"]);
    command.env("WATCHDOG_USEC", "100000").env("FAILPOINTS", "actor.root=3*off->sleep(600000)");
    command.env("DROVER__SUPERVISION__PING", "100ms").env("DROVER__SUPERVISION__HUNG_AFTER", "1s");
    let mut worker = manager.start(&mut command).allow_errors(&["has not answered"]);
    // the process ends by its own watchdog, long after the next sign of life was due
    assert!(!worker.ended(Duration::from_secs(60)).await.success());
    let notices = manager.rest();
    assert_eq!(notices.iter().filter(|notice| *notice == "WATCHDOG=1").count(), 3, "{notices:?}");
}
