//! `drover payload replay`: kept payloads become refresh tasks once more.

use std::path::PathBuf;
use std::process::Output;

use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::process::Command;

use testkit::{Child, Farm, PATIENCE, TestDatabase, database, drover, until};

/// Size of one part of a replay.
const PART: i64 = 1_000;

/// A database with stores and payloads, and a storage root with their files.
struct Archive {
    database: TestDatabase,
    storage: tempfile::TempDir,
}

impl Archive {
    async fn new() -> Archive {
        let archive = Archive { database: database().await, storage: tempfile::tempdir().unwrap() };
        let payloads = archive.storage.path().join("payloads");
        std::fs::create_dir(&payloads).unwrap();
        std::fs::write(payloads.join(".database"), "the test's").unwrap();
        archive
    }

    /// A store with `payloads` payloads, one a day up to yesterday, oldest first.
    async fn store(&self, name: &str, payloads: i64) -> i64 {
        let add = "INSERT INTO dispensaries (name, platform_dispensary_id) VALUES ($1, $1) RETURNING id";
        let store: i64 = self.database.raw.query_one(add, &[&name]).await.unwrap().get(0);
        let add = "INSERT INTO raw_crawl_payloads
                          (dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
                   SELECT $1, 'dutchie', format('payloads/%s-%s', $1::bigint, n), repeat('0', 64), 10, 1, 1, 1, now() - n * interval '1 day'
                     FROM generate_series($2::bigint, 1, -1) AS n RETURNING storage_path";
        for row in self.database.raw.query(add, &[&store, &payloads]).await.unwrap() {
            std::fs::write(self.file(row.get(0)), "").unwrap();
        }
        store
    }

    fn file(&self, path: &str) -> PathBuf {
        self.storage.path().join(path)
    }

    fn replay(&self, args: &[&str]) -> Command {
        let mut command = drover();
        command.env("DATABASE_URL", &self.database.url).env("DROVER__STORAGE__ROOT", self.storage.path());
        command.args(["payload", "replay", "--json"]).args(args);
        command
    }

    async fn run(&self, args: &[&str]) -> Output {
        self.replay(args).output().await.unwrap()
    }

    /// The payloads that tasks replay, in the order of the tasks.
    async fn queued(&self) -> Vec<i64> {
        let sql =
            "SELECT (payload->>'payload_id')::bigint FROM worker_tasks WHERE role = 'product_refresh' ORDER BY id";
        self.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    async fn payloads(&self, order: &str) -> Vec<i64> {
        let sql = format!("SELECT id FROM raw_crawl_payloads {order}");
        self.database.raw.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

fn answer(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn payloads_of_a_span_are_queued_in_the_order_of_their_fetches() {
    let archive = Archive::new().await;
    let store = archive.store("A", 5).await;
    archive.store("B", 5).await;
    let day =
        |ago: i64| (foundation::clock::Clock::system().utc() - chrono::TimeDelta::days(ago)).format("%F").to_string();

    let span = ["--since", &day(4), "--until", &day(2)];
    assert_eq!(answer(&archive.run(&span).await, 0)["queued"], 6);
    let between =
        "WHERE fetched_at BETWEEN now() - interval '4.5 days' AND now() - interval '1.5 days' ORDER BY fetched_at, id";
    assert_eq!(archive.queued().await, archive.payloads(between).await);

    let of_one = answer(&archive.run(&["--store", &store.to_string()]).await, 0);
    assert_eq!((&of_one["queued"], &of_one["already_queued"]), (&2.into(), &3.into()));
}

#[tokio::test]
async fn a_dry_run_says_what_would_be_queued_and_queues_nothing() {
    let archive = Archive::new().await;
    archive.store("A", 3).await;
    let off = archive.store("B", 2).await;
    let switch = format!("UPDATE dispensaries SET crawl_enabled = false WHERE id = {off}");
    archive.database.raw.batch_execute(&switch).await.unwrap();

    let said = answer(&archive.run(&["--all", "--dry-run"]).await, 0);
    assert_eq!((&said["queued"], &said["of_disabled_stores"], &said["bytes"]), (&3.into(), &2.into(), &30.into()));
    assert!(archive.queued().await.is_empty());
    let replays = archive.database.raw.query_one("SELECT count(*) FROM payload_replays", &[]).await.unwrap();
    assert_eq!(replays.get::<_, i64>(0), 0);
}

#[tokio::test]
async fn missing_files_are_listed_and_the_others_are_queued() {
    let archive = Archive::new().await;
    archive.store("A", 3).await;
    let lost = archive.payloads("ORDER BY fetched_at").await[1];
    let path = "SELECT storage_path FROM raw_crawl_payloads WHERE id = $1";
    let path: String = archive.database.raw.query_one(path, &[&lost]).await.unwrap().get(0);
    std::fs::remove_file(archive.file(&path)).unwrap();

    let said = answer(&archive.run(&["--all"]).await, 5);
    assert_eq!((&said["queued"], &said["missing"]), (&2.into(), &1.into()));
    assert_eq!(said["missing_files"][0]["payload_id"], lost);
    assert!(!archive.queued().await.contains(&lost));
    assert_eq!(archive.run(&[&lost.to_string()]).await.status.code(), Some(3), "by its id");
}

#[tokio::test]
async fn a_replay_that_was_killed_goes_on_where_it_was() {
    let archive = Archive::new().await;
    archive.store("A", 2 * PART + 500).await;
    let mut killed = Child::spawn(archive.replay(&["--all"]).env("FAILPOINTS", "replay.part=1*off->pause"));
    until("the first part is queued", PATIENCE, async || archive.queued().await.len() as i64 == PART).await;
    killed.kill().await.unwrap();
    // workers have run the queued tasks, so that nothing but the replay itself knows of it
    archive.database.raw.batch_execute("UPDATE worker_tasks SET status = 'completed'").await.unwrap();

    let again = answer(&archive.run(&["--all"]).await, 0);
    assert_eq!((&again["resumed"], &again["queued"]), (&true.into(), &(PART + 500).into()));
    assert_eq!(archive.queued().await, archive.payloads("ORDER BY fetched_at, id").await);

    let once_more = answer(&archive.run(&["--all"]).await, 0);
    let now = (&once_more["resumed"], &once_more["queued"], &once_more["already_queued"]);
    assert_eq!(now, (&false.into(), &PART.into(), &(PART + 500).into()), "a new one; the rest is still open");
}

#[tokio::test]
async fn ctrl_c_ends_a_replay_after_its_part_and_says_how_many_remain() {
    const ALL: i64 = 3 * PART + 500;
    let archive = Archive::new().await;
    archive.store("A", ALL).await;
    let slow = "replay.part=1*off->sleep(3000)";
    let mut stopped = Child::spawn(archive.replay(&["--all"]).env("FAILPOINTS", slow));
    // on a busy machine, the second one may be there as well
    until("the first part is queued", PATIENCE, async || archive.queued().await.len() as i64 >= PART).await;
    stopped.signal(Signal::SIGINT);

    assert_eq!(stopped.ended(PATIENCE).await.code(), Some(130));
    let said: Value = serde_json::from_str(&stopped.stdout().concat()).unwrap();
    let queued = archive.queued().await.len() as i64;
    assert_eq!((&said["queued"], &said["remaining"]), (&queued.into(), &(ALL - queued).into()));
    assert!(queued < ALL);
    let rest = answer(&archive.run(&["--all"]).await, 0);
    assert_eq!(rest["queued"], ALL - queued);
}

#[tokio::test]
async fn a_choice_is_needed_and_must_make_sense() {
    let archive = Archive::new().await;
    assert_eq!(archive.run(&[]).await.status.code(), Some(2));
    assert_eq!(archive.run(&["--since", "2025-02-01", "--until", "2025-01-01"]).await.status.code(), Some(2));
    assert_eq!(archive.run(&["--store", "77"]).await.status.code(), Some(3));
    assert_eq!(archive.run(&["77"]).await.status.code(), Some(3));
}

#[tokio::test]
async fn replayed_payloads_write_nothing_twice() {
    let farm = Farm::with_stores(2).await;
    farm.enqueue(domain::task::role::Role::PayloadFetch).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    let snapshots = farm.count("SELECT count(*) FROM store_product_snapshots").await;

    let replayed = farm.drover(&["payload", "replay", "--all", "--json"]).output().await.unwrap();
    assert_eq!(answer(&replayed, 0)["queued"], 2);
    let done = "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'completed'";
    farm.until_counted("every payload was replayed", done, 4).await;
    farm.assert_nothing_twice().await;
    assert_eq!(farm.count("SELECT count(*) FROM store_product_snapshots").await, snapshots);
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended(PATIENCE).await.success());
}
