//! Payload files on a real disk.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::*;
use crate::local::{Local, MAX_OPERATIONS};
use crate::sweep::{SweepReport, days, entries};
use domain::payload::{PageQuestion, SweepTimes};
use domain::store::Platform;

/// The database that owns the files.
const OURS: &str = "id 5 9";
const THEIRS: &str = "id 6 9";
/// Path of [`content`] of store 2, and the one to which a sweep of the [`next_day`] moves it.
const PAYLOAD: &str = "payloads/2025/11/07/store_2_20251107T093000123Z.json.gz";
const ORPHAN: &str = "payloads/.orphans/2025-11-08/store_2_20251107T093000123Z.json.gz";

fn content(store: i64) -> PayloadContent {
    let fetched_at = "2025-11-07T09:30:00.123Z".parse().unwrap();
    let head = PayloadHead {
        platform: Platform::Dutchie,
        dispensary_id: store,
        platform_dispensary_id: "6405ef617056e8014d79101b".to_owned(),
        fetched_at,
        total_count: 1,
    };
    let body = Bytes::from_static(br#"{"data": 1}"#);
    let question = PageQuestion { operation: "FilteredProducts".to_owned(), cursor: serde_json::Value::Null };
    PayloadContent { head, pages: vec![PageBytes { bytes: body, is_gzip: false, question }] }
}

fn storage() -> (tempfile::TempDir, Payloads) {
    let dir = tempfile::tempdir().unwrap();
    let payloads = Payloads::new(dir.path().join("not/there/yet"), OURS);
    (dir, payloads)
}

impl Payloads {
    fn root(&self) -> &Path {
        self.place.root().unwrap()
    }
}

/// The same root as another database has it.
fn of_another_database(payloads: &Payloads) -> Payloads {
    Payloads::new(payloads.root(), THEIRS)
}

fn owner_of(payloads: &Payloads) -> String {
    fs::read_to_string(payloads.root().join(layout::OWNER)).unwrap()
}

/// Puts a file at a path below the root.
fn put(payloads: &Payloads, path: &str) {
    let file = payloads.root().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, b"some bytes").unwrap();
}

fn files(payloads: &Payloads) -> BTreeSet<String> {
    let days = days(payloads.root()).unwrap();
    days.iter().flat_map(|day| entries(payloads.root(), day, |_| true).unwrap()).collect()
}

fn fetched_at() -> DateTime<Utc> {
    content(1).head.fetched_at
}

/// A day after the fetch.
fn next_day() -> SweepTimes {
    let now = fetched_at() + TimeDelta::days(1);
    SweepTimes { now, before: now - TimeDelta::hours(1) }
}

fn nothing_known(_: Vec<String>) -> std::future::Ready<Result<HashSet<String>, StorageError>> {
    std::future::ready(Ok(HashSet::new()))
}

#[tokio::test]
async fn a_payload_is_read_back_as_it_was_written() {
    let (_dir, payloads) = storage();
    let file = payloads.write(content(5)).await.unwrap();
    assert_eq!(file.storage_path, "payloads/2025/11/07/store_5_20251107T093000123Z.json.gz");
    assert_eq!(files(&payloads), [file.storage_path.clone()].into());
    let stored = payloads.read(&file.storage_path, &file.sha256).await.unwrap();
    assert_eq!(stored.head, content(5).head);
    assert_eq!(stored.pages()[0].body, br#"{"data": 1}"#);
}

#[tokio::test]
async fn payloads_of_one_millisecond_have_names_of_their_own() {
    let (_dir, payloads) = storage();
    let writes = (0..20).map(|_| payloads.write(content(5)));
    let written = futures_util::future::try_join_all(writes).await.unwrap();
    let names: BTreeSet<String> = written.into_iter().map(|file| file.storage_path).collect();
    assert_eq!(names.len(), 20);
    assert_eq!(files(&payloads), names);
}

#[tokio::test]
async fn a_changed_file_is_corrupt() {
    let (_dir, payloads) = storage();
    let file = payloads.write(content(5)).await.unwrap();
    let place = payloads.root().join(&file.storage_path);
    let mut bytes = fs::read(&place).unwrap();
    bytes[20] ^= 1;
    fs::write(&place, bytes).unwrap();
    let error = payloads.read(&file.storage_path, &file.sha256).await.unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }) && error.is_permanent(), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_payload_is_corrupt() {
    let (_dir, payloads) = storage();
    let file = payloads.write(content(5)).await.unwrap();
    fs::write(payloads.root().join(&file.storage_path), b"rubbish").unwrap();
    let error = payloads.read(&file.storage_path, &sha256_hex(b"rubbish")).await.unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn a_removed_file_is_missing() {
    let (_dir, payloads) = storage();
    payloads.register_owner().await.unwrap();
    let error = payloads.read("payloads/2025/11/07/store_1_x.json.gz", "").await.unwrap_err();
    assert!(matches!(error, StorageError::Missing { .. }) && error.is_permanent(), "{error}");
}

#[tokio::test]
async fn a_climbing_path_is_invalid() {
    let (_dir, payloads) = storage();
    let error = payloads.read("payloads/../../secret", "").await.unwrap_err();
    assert!(matches!(error, StorageError::InvalidPath { .. }), "{error}");
}

#[tokio::test]
async fn a_sweep_sets_old_files_without_a_row_aside_and_deletes_them_days_later() {
    let (_dir, payloads) = storage();
    let with_row = payloads.write(content(1)).await.unwrap().storage_path;
    payloads.write(content(2)).await.unwrap();
    put(&payloads, "payloads/2025/11/07/.x.tmp");
    let known = |paths: Vec<String>| {
        assert_eq!(BTreeSet::from_iter(paths), [with_row.clone(), PAYLOAD.to_owned()].into());
        std::future::ready(Ok::<_, StorageError>(HashSet::from([with_row.clone()])))
    };
    let report = payloads.sweep(next_day(), known).await.unwrap();
    assert_eq!(report, SweepReport { set_aside: 1, removed: 1 });
    assert_eq!(files(&payloads), [with_row.clone()].into());
    assert!(payloads.root().join(ORPHAN).exists());

    let known = |_| std::future::ready(Ok::<_, StorageError>(HashSet::from([with_row.clone()])));
    let later = |days| SweepTimes { now: next_day().now + TimeDelta::days(days), ..next_day() };
    payloads.sweep(later(7), known).await.unwrap();
    assert!(payloads.root().join(ORPHAN).exists());
    assert_eq!(payloads.sweep(later(8), known).await.unwrap().removed, 1);
    assert!(!payloads.root().join(ORPHAN).parent().unwrap().exists());
}

#[tokio::test]
async fn a_sweep_leaves_young_files_alone() {
    let (_dir, payloads) = storage();
    payloads.write(content(2)).await.unwrap();
    let temporary = "payloads/2025/11/07/.x.tmp";
    put(&payloads, temporary);
    let times = SweepTimes { before: fetched_at(), ..next_day() };
    assert_eq!(payloads.sweep(times, nothing_known).await.unwrap(), SweepReport::default());
    assert_eq!(files(&payloads), [PAYLOAD.to_owned(), temporary.to_owned()].into());
}

#[tokio::test]
async fn a_sweep_removes_temporary_files_beside_the_owners_after_a_day() {
    let (_dir, payloads) = storage();
    payloads.register_owner().await.unwrap();
    let (old, young) = ("payloads/.old.tmp", "payloads/.young.tmp");
    let modified = |path: &str, hours| {
        put(&payloads, path);
        let time = SystemTime::from(next_day().before - TimeDelta::hours(hours));
        fs::File::open(payloads.root().join(path)).unwrap().set_modified(time).unwrap();
    };
    modified(old, 25);
    // written by a machine whose clock is far behind
    modified(young, 23);
    assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap().removed, 1);
    assert_eq!([old, young].map(|path| payloads.root().join(path).exists()), [false, true]);
    assert_eq!(owner_of(&payloads), OURS);
}

#[tokio::test]
async fn a_sweep_knows_no_names_but_its_own() {
    let (_dir, payloads) = storage();
    payloads.register_owner().await.unwrap();
    let foreign = [
        "payloads/2024-archive/01/05/store_2_20240105T093000123Z.json.gz",
        "payloads/2025/11/06/notes.txt",
        "payloads/2025/11/06/store_2_20251107T093000123Z.json.gz",
        "payloads/notes.tmp",
        "payloads/.orphans/2025-01-01/notes.txt",
        "payloads/.orphans/keep/store_2_20251107T093000123Z.json.gz",
    ];
    for path in foreign {
        put(&payloads, path);
        let long_ago = SystemTime::from(fetched_at() - TimeDelta::days(365));
        fs::File::open(payloads.root().join(path)).unwrap().set_modified(long_ago).unwrap();
    }
    assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
    assert_eq!(foreign.map(|path| payloads.root().join(path).exists()), [true; 6]);
}

#[tokio::test]
async fn a_sweep_follows_no_symbolic_link() {
    let (dir, payloads) = storage();
    payloads.register_owner().await.unwrap();
    let name = "store_2_20251107T093000123Z.json.gz";
    let elsewhere = dir.path().join("elsewhere");
    for path in ["year/11/07", "month/07", "day", "orphans/2025-01-01", "orphan_day"] {
        fs::create_dir_all(elsewhere.join(path)).unwrap();
        fs::write(elsewhere.join(path).join(name), b"linked").unwrap();
    }
    let link = |to: &str, from: &str| {
        let from = payloads.root().join("payloads").join(from);
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(elsewhere.join(to), from).unwrap();
    };
    link("year", "2023");
    link("month", "2024/11");
    link("day", "2025/11/07");
    link("orphan_day", ".orphans/2025-01-01");
    assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
    fs::remove_dir_all(payloads.root().join(layout::ORPHANS)).unwrap();
    link("orphans", ".orphans");
    assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
    let left = ["year/11/07", "month/07", "day", "orphans/2025-01-01", "orphan_day"];
    assert_eq!(left.map(|path| elsewhere.join(path).join(name).exists()), [true; 5]);
}

#[tokio::test]
async fn where_two_databases_keep_files_neither_of_them_sweeps() {
    let (_dir, ours) = storage();
    let theirs = of_another_database(&ours);
    put(&ours, PAYLOAD);
    assert_eq!(ours.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default(), "without an owner");
    assert_eq!(theirs.register_owner().await.unwrap(), Ownership::New);
    assert_eq!(theirs.register_owner().await.unwrap(), Ownership::Exclusive);
    assert_eq!(ours.register_owner().await.unwrap(), Ownership::Shared);
    assert_eq!(theirs.register_owner().await.unwrap(), Ownership::Shared, "ours would be leftovers to them, too");
    for payloads in [&ours, &theirs] {
        assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
    }
    assert_eq!(files(&ours), [PAYLOAD.to_owned()].into());
}

#[tokio::test]
async fn another_database_that_only_writes_ends_the_sweeps_too() {
    let (_dir, ours) = storage();
    ours.register_owner().await.unwrap();
    of_another_database(&ours).write(content(2)).await.unwrap();
    assert_eq!(ours.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
}

#[tokio::test]
async fn an_owner_that_an_earlier_version_wrote_is_made_longer() {
    let (_dir, payloads) = storage();
    put(&payloads, PAYLOAD);
    for (before, ownership, after) in [
        ("id", Ownership::Exclusive, OURS),
        ("id 5", Ownership::Exclusive, OURS),
        ("id 5 9 more", Ownership::Exclusive, "id 5 9 more"),
        ("id 55", Ownership::Shared, "several databases"),
        ("", Ownership::New, OURS),
    ] {
        fs::write(payloads.root().join(layout::OWNER), before).unwrap();
        assert_eq!(payloads.register_owner().await.unwrap(), ownership, "{before}");
        assert_eq!(owner_of(&payloads), after, "{before}");
    }
}

#[tokio::test]
async fn nothing_is_written_to_a_share_that_is_away_and_its_owner_is_seen_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let share = dir.path().join("share");
    symlink(&share, dir.path().join("root")).unwrap();
    let payloads = Payloads::new(dir.path().join("root"), OURS);
    let errors = [
        payloads.register_owner().await.unwrap_err(),
        payloads.check_room().await.unwrap_err(),
        payloads.write(content(2)).await.unwrap_err(),
        payloads.read(PAYLOAD, "").await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StorageError::Unavailable { .. }) && error.is_outage(), "{error}");
        assert!(!error.to_string().contains("task"), "a command has none: {error}");
    }
    assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());

    fs::create_dir(&share).unwrap();
    of_another_database(&payloads).write(content(1)).await.unwrap();
    payloads.write(content(2)).await.unwrap();
    assert_eq!(owner_of(&payloads), "several databases");
}

#[tokio::test]
async fn a_root_that_vanishes_under_work_is_not_made_again() {
    let (dir, payloads) = storage();
    payloads.write(content(1)).await.unwrap();
    let away = dir.path().join("away");
    fs::rename(payloads.root(), &away).unwrap();
    for error in [payloads.write(content(2)).await.unwrap_err(), payloads.register_owner().await.unwrap_err()] {
        assert!(error.is_outage() && error.to_string().contains("it has no payloads/.database"), "{error}");
    }
    assert!(!payloads.root().join("payloads").exists(), "nothing is written below the mount point");
    assert!(!*payloads.can_write().borrow());
    let _ = fs::remove_dir_all(payloads.root());
    fs::rename(&away, payloads.root()).unwrap();
    payloads.write(content(2)).await.unwrap();
    assert!(*payloads.can_write().borrow());
}

#[tokio::test]
async fn an_empty_root_of_a_database_with_payloads_waits_for_an_operator() {
    let (_dir, payloads) = storage();
    payloads.expect_owner();
    assert!(payloads.check_room().await.unwrap_err().is_outage());
    fs::create_dir_all(payloads.root().join(layout::PAYLOADS)).unwrap();
    fs::write(payloads.root().join(layout::OWNER), "").unwrap();
    payloads.write(content(1)).await.unwrap();
    assert_eq!(owner_of(&payloads), OURS);
}

#[tokio::test]
async fn a_sweep_of_nothing_is_fine() {
    let (_dir, payloads) = storage();
    payloads.register_owner().await.unwrap();
    assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
}

#[tokio::test]
async fn a_share_that_hangs_holds_a_few_threads_and_no_caller() {
    let dir = tempfile::tempdir().unwrap();
    let local = Local::new(dir.path());
    let (share, begun) = (HangingShare::default(), Arc::new(Semaphore::new(0)));
    let callers = (0..2 * MAX_OPERATIONS).map(|_| {
        let (answers_again, begun) = (Arc::clone(&share.answers_again), Arc::clone(&begun));
        local.blocking_within(Duration::from_millis(200), move |_| {
            begun.add_permits(1);
            answers_again.wait();
            Ok(())
        })
    });
    let answers = futures_util::future::join_all(callers).await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(StorageError::Unavailable { .. }))), "{answers:?}");
    // a thread may begin after its caller has given up
    let all_begun = begun.acquire_many(u32::try_from(MAX_OPERATIONS).unwrap());
    tokio::time::timeout(Duration::from_secs(60), all_begun).await.expect("threads begin").unwrap().forget();
    assert_eq!(begun.available_permits(), 0);

    drop(share);
    local.check_room(Owner::new(OURS), true).await.unwrap();
}

/// A share that answers again once it is dropped, also by a failed assertion: its threads would keep the process.
#[derive(Default)]
struct HangingShare {
    answers_again: Arc<OnceLock<()>>,
}

impl Drop for HangingShare {
    fn drop(&mut self) {
        let _ = self.answers_again.set(());
    }
}

/// Runs the test below in a process that may write no file larger than nothing, as on a full disk.
#[test]
fn a_full_disk_is_said_and_nothing_half_is_left() {
    let output = Command::new("sh")
        .args(["-c", r#"trap '' XFSZ; ulimit -f 0; exec "$0" --exact "$1" --ignored --nocapture 2>&1 | cat"#])
        .arg(std::env::current_exe().unwrap())
        .arg("payloads::tests::writing_on_a_full_disk")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

#[tokio::test]
#[ignore = "run by a_full_disk_is_said_and_nothing_half_is_left, under a file size limit"]
async fn writing_on_a_full_disk() {
    let (_dir, payloads) = storage();
    for error in [payloads.check_room().await.unwrap_err(), payloads.write(content(5)).await.unwrap_err()] {
        assert!(matches!(error, StorageError::Full { .. }) && !error.is_permanent(), "{error}");
    }
    assert_eq!(files(&payloads), BTreeSet::new());
}
