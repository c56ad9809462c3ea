//! `drover jobs import`: the queue of the older system, as its worker left it.

use std::path::{Path, PathBuf};
use std::process::Output;

use rstest::rstest;
use rusqlite::Connection;
use serde_json::{Value, json};

use testkit::{Child, PATIENCE, TestDatabase, drover, until};

const TABLE: &str = "CREATE TABLE worker_job_queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT, job_type TEXT NOT NULL, platform TEXT, account TEXT, priority INTEGER DEFAULT 5,
    status TEXT DEFAULT 'pending', payload TEXT, error_message TEXT, retry_count INTEGER DEFAULT 0, max_retries INTEGER DEFAULT 3,
    created_at TEXT DEFAULT CURRENT_TIMESTAMP, started_at TEXT, completed_at TEXT, worker_id TEXT, progress_percent INTEGER,
    progress_message TEXT)";

/// A queue whose worker has it open.
struct OlderQueue {
    dir: tempfile::TempDir,
    worker: Connection,
}

impl OlderQueue {
    fn new() -> OlderQueue {
        let dir = tempfile::tempdir().unwrap();
        let worker = Connection::open(dir.path().join("queue.db")).unwrap();
        worker.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
        worker.execute_batch(TABLE).unwrap();
        OlderQueue { dir, worker }
    }

    /// Accounts `first` to `last`, all pending.
    fn add_accounts(&self, first: i64, last: i64) {
        let sql = "WITH RECURSIVE n(i) AS (VALUES (?1) UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
                   INSERT INTO worker_job_queue (id, job_type, platform, account, payload, created_at)
                   SELECT i, 'scrape_account', 'site', 'account-' || i, '{\"scrape_type\": \"full\"}', '2025-01-10 08:00:00' FROM n";
        self.worker.execute(sql, (first, last)).unwrap();
    }

    fn execute(&self, sql: &str) {
        self.worker.execute_batch(sql).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("queue.db")
    }

    async fn import(&self, database: &TestDatabase, more: &[&str]) -> Output {
        import(database, &self.path(), more).await
    }
}

async fn import(database: &TestDatabase, file: &Path, more: &[&str]) -> Output {
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).args(["jobs", "import"]).arg(file).args(more);
    command.output().await.unwrap()
}

/// The answer, with the exit code of whole or partial success.
fn answer(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn count(database: &TestDatabase, condition: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM worker_job_queue WHERE {condition}");
    database.raw.query_one(&sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_queue_is_imported_once_while_its_worker_runs() {
    const JOBS: i64 = 10_000;
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.add_accounts(1, JOBS);
    queue.execute(
        "UPDATE worker_job_queue SET status = 'running', started_at = '2025-01-10 09:00:00', worker_id = 'w' WHERE id IN (5, 6);
         UPDATE worker_job_queue SET payload = '{\"scrape_type\":' WHERE id = 7;
         UPDATE worker_job_queue SET job_type = 'instagram_scrape' WHERE id = 8;
         UPDATE worker_job_queue SET status = 'completed', completed_at = '2025-01-10 10:00:00' WHERE id = 9;
         UPDATE worker_job_queue SET priority = 99, retry_count = 2 WHERE id = 10",
    );
    let bytes = std::fs::read(queue.path()).unwrap();
    let first = queue.import(&database, &["--json"]).await;
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    let first = answer(&first, 5);
    assert!(said.contains("the older worker is still running the jobs with its ids 5, 6"), "{said}");
    assert_eq!((&first["imported"], &first["skipped"]), (&json!(JOBS - 3), &json!(0)));
    assert_eq!(first["without_address"], json!({ "site": JOBS - 3 }), "{}", first["without_address"]);
    let refused = [&first["refused"][0], &first["refused"][1]];
    assert_eq!((&refused[0]["old_id"], &refused[1]["old_id"]), (&json!(7), &json!(8)), "{}", first["refused"]);
    assert!(refused[0]["reason"].as_str().unwrap().starts_with("payload: it is not JSON"), "{}", first["refused"]);
    assert!(refused[1]["reason"].as_str().unwrap().starts_with("job_type: unknown job type"), "{}", first["refused"]);
    assert_eq!(count(&database, "status = 'pending' AND created_at = '2025-01-10 08:00:00Z'").await, JOBS - 3);
    assert_eq!(
        count(&database, "started_at IS NOT NULL OR worker_id IS NOT NULL").await,
        0,
        "running ones are pending"
    );
    assert_eq!(count(&database, "account = 'account-10' AND priority = 10 AND retry_count = 2").await, 1);
    let task = first["ids"]["5"].as_i64().unwrap();
    assert_eq!(count(&database, &format!("id = {task} AND account = 'account-5'")).await, 1);

    let second = answer(&queue.import(&database, &["--json"]).await, 5);
    assert_eq!((&second["imported"], &second["skipped"]), (&json!(0), &json!(JOBS - 3)));
    assert_eq!(second["ids"], first["ids"]);
    assert_eq!(count(&database, "true").await, JOBS - 3);
    assert_eq!(std::fs::read(queue.path()).unwrap(), bytes, "the file is only read");
    let left: i64 = queue.worker.query_row("SELECT count(*) FROM worker_job_queue", [], |row| row.get(0)).unwrap();
    assert_eq!(left, JOBS);
}

#[tokio::test]
async fn history_comes_with_its_times_and_errors() {
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.add_accounts(1, 4);
    queue.execute(
        "UPDATE worker_job_queue SET status = 'completed', started_at = '2025-01-10 09:00:00', completed_at = '2025-01-10 09:30:00';
         UPDATE worker_job_queue SET status = 'failed', error_message = 'login needed', retry_count = 3 WHERE id = 2;
         UPDATE worker_job_queue SET status = 'expired' WHERE id = 3;
         UPDATE worker_job_queue SET status = 'failed', started_at = NULL WHERE id = 4",
    );
    let without = answer(&queue.import(&database, &["--json"]).await, 5);
    assert_eq!((&without["imported"], &without["refused"][0]["old_id"]), (&json!(0), &json!(3)));
    let with = answer(&queue.import(&database, &["--json", "--history"]).await, 5);
    assert_eq!(with["imported"], 3);
    assert_eq!(count(&database, "status = 'failed' AND started_at IS NULL").await, 1, "it began at no known time");
    let times = "started_at = '2025-01-10 09:00:00Z' AND completed_at = '2025-01-10 09:30:00Z'";
    assert_eq!(count(&database, &format!("status = 'completed' AND {times}")).await, 1);
    assert_eq!(count(&database, "status = 'failed' AND error_message = 'login needed' AND retry_count = 3").await, 1);
}

#[tokio::test]
async fn a_dry_run_answers_and_changes_nothing() {
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.add_accounts(1, 3);
    let output = queue.import(&database, &["--dry-run"]).await;
    let expected = "jobs to import: 3, known already: 0, refused: 0\n\
                    no address is known for 3 jobs of site: set media.platforms.site.url, or the url of each account, or their jobs will fail";
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
    assert_eq!(count(&database, "true").await, 0);
    let known = "SELECT count(*) FROM imported_jobs";
    assert_eq!(database.raw.query_one(known, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_job_that_is_open_here_stands_for_its_twins() {
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.add_accounts(1, 1);
    queue.execute(
        "INSERT INTO worker_job_queue (job_type, platform, account, payload)
         SELECT job_type, platform, account, payload FROM worker_job_queue;
         INSERT INTO worker_job_queue (id, job_type) VALUES (3, 'youtube_monitor')",
    );
    let made = "INSERT INTO worker_job_queue (job_type) VALUES ('youtube_monitor') RETURNING id";
    let made: i64 = database.raw.query_one(made, &[]).await.unwrap().get(0);
    let imported = answer(&queue.import(&database, &["--json"]).await, 0);
    assert_eq!((&imported["imported"], &imported["skipped"]), (&json!(1), &json!(2)));
    assert_eq!((&imported["ids"]["2"], &imported["ids"]["3"]), (&imported["ids"]["1"], &json!(made)));
}

#[tokio::test]
async fn jobs_of_one_key_with_other_arguments_all_come() {
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.execute(
        r#"INSERT INTO worker_job_queue (id, job_type, payload) VALUES (1, 'paid_content_creator', '{"creator_id": 1}'),
               (2, 'paid_content_creator', '{"creator_id": 2}'), (3, 'paid_content_creator', '{"creator_id": 2}')"#,
    );
    let imported = answer(&queue.import(&database, &["--json"]).await, 0);
    assert_eq!((&imported["imported"], &imported["skipped"]), (&json!(2), &json!(1)), "{imported}");
    assert_eq!(imported["ids"]["3"], imported["ids"]["2"]);
    assert_eq!(count(&database, "(payload ->> 'creator_id')::int IN (1, 2)").await, 2);
}

#[tokio::test]
async fn a_job_of_a_schedule_stands_for_its_twin() {
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.execute("INSERT INTO worker_job_queue (id, job_type) VALUES (1, 'youtube_monitor')");
    let made = "INSERT INTO worker_tasks (role) VALUES ('youtube_monitor') RETURNING id";
    let made: i64 = database.raw.query_one(made, &[]).await.unwrap().get(0);
    let imported = answer(&queue.import(&database, &["--json"]).await, 0);
    assert_eq!((&imported["skipped"], &imported["ids"]["1"]), (&json!(1), &json!(made)));
}

#[tokio::test]
async fn a_row_that_the_database_cannot_hold_stops_no_other_one() {
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.execute(
        r#"INSERT INTO worker_job_queue (id, job_type, payload, priority, status, error_message, completed_at) VALUES
               (1, 'download_media', '{"media_ids": [1], "source": "a\u0000"}', 5, 'pending', NULL, NULL),
               (2, 'download_media', '{"media_ids": [2]}', 5.0, 'pending', NULL, NULL),
               (3, 'youtube_monitor', NULL, 5, 'failed', X'6100', '9000-01-01 00:00:00'),
               (4, 'youtube_monitor' || char(27), NULL, 5, 'pending', NULL, NULL)"#,
    );
    let imported = answer(&queue.import(&database, &["--json", "--history"]).await, 5);
    assert_eq!((&imported["imported"], &imported["refused"][0]["old_id"]), (&json!(2), &json!(1)), "{imported}");
    assert_eq!(count(&database, "error_message = 'a' AND completed_at <= now()").await, 1);
    assert!(!imported["refused"][1]["reason"].as_str().unwrap().contains('\u{1b}'), "{imported}");
}

#[tokio::test]
async fn another_queue_of_the_same_name_needs_a_source_of_its_own() {
    let (database, queue, other) = (testkit::database().await, OlderQueue::new(), OlderQueue::new());
    queue.add_accounts(1, 1);
    other.execute(
        "INSERT INTO worker_job_queue (id, job_type, created_at) VALUES (1, 'youtube_monitor', '2025-02-10 08:00:00')",
    );
    answer(&queue.import(&database, &["--json"]).await, 0);
    let refused = answer(&other.import(&database, &["--json"]).await, 5);
    assert!(refused["refused"][0]["reason"].as_str().unwrap().contains("its own source"), "{refused}");
    let imported = answer(&other.import(&database, &["--json", "--source", "second"]).await, 0);
    assert_eq!(imported["imported"], 1);
}

#[tokio::test]
async fn an_import_that_was_killed_goes_on() {
    const JOBS: i64 = 1_000;
    let (database, queue) = (testkit::database().await, OlderQueue::new());
    queue.add_accounts(1, JOBS);
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).args(["jobs", "import"]).arg(queue.path());
    let mut killed = Child::spawn(command.env("FAILPOINTS", "jobs.import_part=2*off->pause"));
    until("two parts are there", PATIENCE, async || count(&database, "true").await == 200).await;
    killed.kill().await.unwrap();
    let rest = answer(&queue.import(&database, &["--json"]).await, 0);
    assert_eq!((&rest["imported"], &rest["skipped"]), (&json!(JOBS - 200), &json!(200)));
    assert_eq!(count(&database, "true").await, JOBS);
}

#[rstest]
#[case::text("no database at all, but long enough to be read as one", 1, "not a SQLite database")]
#[case::empty("", 1, "has no table worker_job_queue")]
#[tokio::test]
async fn a_file_that_is_no_queue_is_named(#[case] content: &str, #[case] code: i32, #[case] fault: &str) {
    let (database, dir) = (testkit::database().await, tempfile::tempdir().unwrap());
    let file = dir.path().join("file.db");
    std::fs::write(&file, content.repeat(100)).unwrap();
    let output = import(&database, &file, &[]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(fault) && said.contains("file.db"), "{said}");
}

#[tokio::test]
async fn a_table_without_a_status_and_a_missing_file_are_named() {
    let (database, dir) = (testkit::database().await, tempfile::tempdir().unwrap());
    let file = dir.path().join("file.db");
    let missing = import(&database, &file, &[]).await;
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");
    let queue = Connection::open(&file).unwrap();
    queue.execute_batch("CREATE TABLE worker_job_queue (id INTEGER PRIMARY KEY, job_type TEXT)").unwrap();
    let output = import(&database, &file, &[]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no column status"), "{said}");
}

#[tokio::test]
async fn a_row_without_a_whole_number_for_its_id_stops_no_other_one() {
    let (database, dir) = (testkit::database().await, tempfile::tempdir().unwrap());
    let file = dir.path().join("file.db");
    let queue = Connection::open(&file).unwrap();
    let rows = "CREATE TABLE worker_job_queue (id, job_type TEXT, platform TEXT, account TEXT, status TEXT);
                INSERT INTO worker_job_queue
                SELECT column1, 'scrape_account', 'site', 'account-' || quote(column1), 'pending'
                  FROM (VALUES (1), ('b2'), (NULL), (3.5), (4))";
    queue.execute_batch(rows).unwrap();
    let first = answer(&import(&database, &file, &["--json"]).await, 5);
    assert_eq!((&first["imported"], first["ids"].as_object().map(|ids| ids.len())), (&json!(2), Some(2)), "{first}");
    let refused: Vec<&Value> = first["refused"].as_array().unwrap().iter().map(|row| &row["old_id"]).collect();
    assert_eq!(refused, [&json!("'b2'"), &json!("NULL"), &json!("3.5")]);
    assert_eq!(first["refused"][0]["reason"], "id: it is not a whole number");
}
