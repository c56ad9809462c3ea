//! `drover backup` and `drover restore`: a crawled database and its files, taken and made again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use rstest::rstest;
use serde_json::Value;

use testkit::{Child, Farm, PATIENCE, TestDatabase, WAITING_FOR_LOCKS, drover, empty_database, until};

async fn crawled() -> Farm {
    let farm = Farm::with_stores(2).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended(PATIENCE).await.success());
    fs::create_dir_all(farm.storage().join("media/aa")).unwrap();
    fs::write(farm.storage().join("media/aa/aabb.jpg"), "a media file").unwrap();
    farm
}

async fn backup(farm: &Farm, to: &Path) -> Output {
    let mut command = farm.drover(&["backup", "--json"]);
    command.arg(to).output().await.unwrap()
}

async fn restore(from: &Path, database: &TestDatabase, root: &Path) -> Output {
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).env("DROVER__STORAGE__ROOT", root);
    command.args(["restore", "--json"]).arg(from).output().await.unwrap()
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All rows of each table, as one digest.
async fn content(raw: &tokio_postgres::Client) -> BTreeMap<String, String> {
    let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
    let mut content = BTreeMap::new();
    for table in raw.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let digest =
            format!("SELECT coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), 'empty') FROM \"{table}\" t");
        content.insert(table, raw.query_one(&digest, &[]).await.unwrap().get(0));
    }
    content
}

/// Number of columns with a comment, and of functions that all accounts may execute.
async fn not_in_dumps(raw: &tokio_postgres::Client) -> (i64, i64) {
    let sql = "SELECT (SELECT count(*) FROM pg_description WHERE classoid = 'pg_class'::regclass AND objsubid > 0
                          AND objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'drover_v1'::regnamespace)),
                      (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
                          AND has_function_privilege('public', oid, 'EXECUTE'))";
    let row = raw.query_one(sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

/// The files of rows under a root.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs: Vec<PathBuf> = ["payloads", "media", "images"].map(|dir| root.join(dir)).into();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            let is_hidden = path.file_name().unwrap().as_encoded_bytes().starts_with(b".");
            match path.is_dir() {
                true => dirs.push(path),
                false if is_hidden => {}
                false => _ = found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap()),
            }
        }
    }
    found
}

#[tokio::test]
async fn a_backup_is_restored_whole_into_an_empty_database_and_goes_on_crawling() {
    let (farm, dir) = (crawled().await, tempfile::tempdir().unwrap());
    let (target, root) = (dir.path().join("backup"), dir.path().join("root"));
    let first = answer(&backup(&farm, &target).await);
    assert_eq!((first["files"]["files"].as_u64(), first["copied"].as_u64()), (Some(3), Some(3)));
    fs::write(farm.storage().join("media/aa/aacc.jpg"), "one that came later").unwrap();
    let second = answer(&backup(&farm, &target).await);
    assert_eq!((second["files"]["files"].as_u64(), second["copied"].as_u64()), (Some(4), Some(1)));
    let dumps = fs::read_dir(&target)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().as_encoded_bytes().ends_with(b".dump"));
    assert_eq!(dumps.count(), 1, "earlier dumps are removed");

    let restored = empty_database().await;
    let told = answer(&restore(&target, &restored, &root).await);
    assert_eq!(told["restored"]["copied"].as_u64(), Some(4));
    let original = testkit::connect(farm.url()).await;
    assert_eq!(content(&restored.raw).await, content(&original).await);
    assert_eq!(not_in_dumps(&restored.raw).await, not_in_dumps(&original).await);
    assert_eq!(files(&root), files(farm.storage()));

    let again = restore(&target, &restored, &root).await;
    assert_eq!(again.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&again.stderr).contains("restore into a new directory (--dir NEW)"));

    let mut refresh = farm.drover(&["worker"]);
    let mut worker = Child::spawn(refresh.env("DATABASE_URL", &restored.url).env("DROVER__STORAGE__ROOT", &root));
    let fetch = "INSERT INTO worker_tasks (role, dispensary_id, platform) SELECT 'payload_fetch', min(dispensary_id), 'dutchie' FROM raw_crawl_payloads";
    restored.raw.execute(fetch, &[]).await.unwrap();
    testkit::until("the restored database crawls", PATIENCE, async || {
        let payloads = restored.raw.query_one("SELECT count(*) FROM raw_crawl_payloads", &[]).await.unwrap();
        let open = "SELECT count(*) FROM worker_tasks WHERE status NOT IN ('completed', 'failed')";
        payloads.get::<_, i64>(0) == 3 && restored.raw.query_one(open, &[]).await.unwrap().get::<_, i64>(0) == 0
    })
    .await;
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended(PATIENCE).await.success());
}

#[tokio::test]
async fn a_damaged_or_unfinished_backup_changes_nothing() {
    let (farm, dir) = (Farm::with_stores(1).await, tempfile::tempdir().unwrap());
    let (target, root) = (dir.path().join("backup"), dir.path().join("root"));
    answer(&backup(&farm, &target).await);
    let database = empty_database().await;
    let refused = async |code: i32, text: &str| {
        let output = restore(&target, &database, &root).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.contains(text)), (Some(code), true), "{said}");
        assert_eq!(content(&database.raw).await, BTreeMap::new());
    };
    let manifest = target.join("backup.json");
    let written = fs::read_to_string(&manifest).unwrap();
    let change = |from: &str, to: &str| {
        assert!(written.contains(from), "{written}");
        fs::write(&manifest, written.replacen(from, to, 1)).unwrap();
    };
    change("\"format\": 1", "\"format\": 2");
    refused(4, "which is newer than this one").await;
    change("\"database-", "\"../database-");
    refused(2, "is not the name of a dump").await;
    change("\"sha256\": \"", "\"sha256\": \"0");
    refused(4, "is damaged").await;
    fs::write(&manifest, "{").unwrap();
    refused(2, "backup.json is damaged").await;
    fs::remove_file(&manifest).unwrap();
    refused(3, "there is no finished backup in").await;
    answer(&backup(&farm, &target).await);
    let other = Farm::with_stores(1).await;
    let replaced = backup(&other, &target).await;
    assert_eq!(replaced.status.code(), Some(4), "another database: {}", String::from_utf8_lossy(&replaced.stderr));
    fs::create_dir_all(farm.storage().join("media/aa")).unwrap();
    fs::write(farm.storage().join("media/aa/aabb.jpg"), "a media file").unwrap();
    answer(&backup(&farm, &target).await);
    fs::remove_file(target.join("media/aa/aabb.jpg")).unwrap();
    refused(4, "files of the backup that are missing: 1 of 1").await;
    fs::create_dir_all(root.join("payloads")).unwrap();
    fs::write(root.join("payloads/.database"), "another database").unwrap();
    refused(4, "give this one its own storage.root").await;
}

#[tokio::test]
async fn an_interrupted_backup_tells_how_it_continues() {
    let (database, dir) = (testkit::database().await, tempfile::tempdir().unwrap());
    let person = testkit::connect(&database.url).await;
    person.batch_execute("BEGIN; LOCK TABLE store_products").await.unwrap();
    let command = || {
        let mut command = drover();
        command.env("DATABASE_URL", &database.url).env("DROVER__STORAGE__ROOT", dir.path().join("root"));
        command.arg("backup").arg(dir.path().join("backup"));
        command
    };
    let mut interrupted = Child::spawn(&mut command());
    let is_dumping = async || database.raw.query_one(WAITING_FOR_LOCKS, &[]).await.unwrap().get::<_, i64>(0) == 1;
    until("the dump waits for the table", PATIENCE, is_dumping).await;
    interrupted.signal(Signal::SIGINT);
    assert_eq!(interrupted.ended(PATIENCE).await.code(), Some(130));
    interrupted.logged("interrupted: there is no new backup yet; the same command continues this one", PATIENCE).await;
    person.batch_execute("ROLLBACK").await.unwrap();
    assert!(command().output().await.unwrap().status.success());
}

#[rstest]
#[case::something_else("notes.txt", "is neither empty nor a backup")]
#[case::being_written(".backup.lock", "another backup is being written")]
#[tokio::test]
async fn a_directory_with_something_else_is_not_written_to(#[case] name: &str, #[case] text: &str) {
    let (database, dir) = (testkit::database().await, tempfile::tempdir().unwrap());
    let file = fs::File::create(dir.path().join(name)).unwrap();
    file.lock().unwrap();
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).args(["backup"]).arg(dir.path());
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains(text), "{said}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn files_that_are_away_are_no_backup_without_files() {
    let (farm, elsewhere) = (crawled().await, tempfile::tempdir().unwrap());
    let target = elsewhere.path().join("backup");
    let mut command = farm.drover(&["backup"]);
    let output =
        command.env("DROVER__STORAGE__ROOT", elsewhere.path().join("root")).arg(&target).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(78) && said.contains("mount its share, or set storage.root"), "{said}");
    assert!(!target.exists());
}

#[tokio::test]
async fn a_database_without_drover_s_tables_has_nothing_to_back_up() {
    let (database, dir) = (empty_database().await, tempfile::tempdir().unwrap());
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).args(["backup"]).arg(dir.path().join("backup"));
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!dir.path().join("backup").exists());
}
