//! Payload files on a real disk.

use std::collections::BTreeSet;
use std::process::Command;

use bytes::Bytes;

use super::*;
use crate::domain::dispensary::Platform;

/// The database that owns the files.
const OURS: &str = "ours";

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
    PayloadContent { head, pages: vec![PageBytes { bytes: body, is_gzip: false }] }
}

fn storage() -> (tempfile::TempDir, Payloads) {
    let dir = tempfile::tempdir().unwrap();
    let payloads = Payloads::new(dir.path().join("not/there/yet"));
    (dir, payloads)
}

fn files(payloads: &Payloads) -> BTreeSet<String> {
    let days = days(&payloads.root).unwrap();
    days.iter().flat_map(|day| entries(&payloads.root, day).unwrap()).collect()
}

fn everything_written_so_far() -> DateTime<Utc> {
    crate::clock::Clock::system().utc() + TimeDelta::hours(1)
}

#[tokio::test]
async fn a_payload_is_read_back_as_it_was_written() {
    let (_dir, payloads) = storage();
    let file = payloads.write(content(5)).await.unwrap();
    assert_eq!(file.storage_path, "payloads/2025/11/07/store_5_20251107T093000123Z.json.gz");
    assert_eq!(files(&payloads), [file.storage_path.clone()].into());
    let stored = payloads.read(&file.storage_path, &file.sha256).await.unwrap();
    assert_eq!(stored.head, content(5).head);
    assert_eq!(stored.pages(), [br#"{"data": 1}"#]);
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
    let place = payloads.root.join(&file.storage_path);
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
    fs::write(payloads.root.join(&file.storage_path), b"rubbish").unwrap();
    let error = payloads.read(&file.storage_path, &sha256(b"rubbish")).await.unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn a_removed_file_is_missing() {
    let (_dir, payloads) = storage();
    let error = payloads.read("payloads/2025/11/07/store_1_x.json.gz", "").await.unwrap_err();
    assert!(matches!(error, StorageError::Missing { .. }) && error.is_permanent(), "{error}");
}

#[tokio::test]
async fn a_climbing_path_is_refused() {
    let (_dir, payloads) = storage();
    let error = payloads.read("payloads/../../secret", "").await.unwrap_err();
    assert!(matches!(error, StorageError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn a_sweep_takes_old_files_without_a_row() {
    let (_dir, payloads) = storage();
    payloads.claim(OURS).await.unwrap();
    let kept = payloads.write(content(1)).await.unwrap().storage_path;
    let orphan = payloads.write(content(2)).await.unwrap().storage_path;
    let half = payloads.root.join("payloads/2025/11/07/.x.tmp");
    fs::write(&half, b"half").unwrap();
    let known = |paths: Vec<String>| {
        assert_eq!(BTreeSet::from_iter(paths), [kept.clone(), orphan.clone()].into());
        std::future::ready(Ok::<_, StorageError>(HashSet::from([kept.clone()])))
    };
    assert_eq!(payloads.sweep(OURS, everything_written_so_far(), known).await.unwrap(), 2);
    assert_eq!(files(&payloads), [kept.clone()].into());
}

#[tokio::test]
async fn a_sweep_leaves_young_files_alone() {
    let (_dir, payloads) = storage();
    payloads.claim(OURS).await.unwrap();
    let young = payloads.write(content(2)).await.unwrap().storage_path;
    let nothing_known = |_| std::future::ready(Ok::<_, StorageError>(HashSet::new()));
    let long_ago = everything_written_so_far() - TimeDelta::hours(2);
    assert_eq!(payloads.sweep(OURS, long_ago, nothing_known).await.unwrap(), 0);
    assert_eq!(files(&payloads), [young].into());
}

#[tokio::test]
async fn where_two_databases_keep_files_nobody_sweeps() {
    let (_dir, payloads) = storage();
    let nothing_known = |_| std::future::ready(Ok::<_, StorageError>(HashSet::new()));
    let theirs = payloads.write(content(2)).await.unwrap().storage_path;
    assert_eq!(payloads.sweep(OURS, everything_written_so_far(), nothing_known).await.unwrap(), 0, "nobody's");
    assert!(payloads.claim("theirs").await.unwrap());
    assert!(payloads.claim("theirs").await.unwrap());
    assert!(!payloads.claim(OURS).await.unwrap());
    assert!(!payloads.claim("theirs").await.unwrap(), "ours would be leftovers to them, too");
    for owner in [OURS, "theirs"] {
        assert_eq!(payloads.sweep(owner, everything_written_so_far(), nothing_known).await.unwrap(), 0);
    }
    assert_eq!(files(&payloads), [theirs].into());
}

#[tokio::test]
async fn a_sweep_of_nothing_is_fine() {
    let (_dir, payloads) = storage();
    payloads.claim(OURS).await.unwrap();
    let nothing_known = |_| std::future::ready(Ok::<_, StorageError>(HashSet::new()));
    assert_eq!(payloads.sweep(OURS, everything_written_so_far(), nothing_known).await.unwrap(), 0);
}

/// Runs the test below in a process that may write no file larger than nothing, as on a full disk.
#[test]
fn a_full_disk_is_said_and_nothing_half_is_left() {
    let output = Command::new("sh")
        .args(["-c", r#"trap '' XFSZ; ulimit -f 0; exec "$0" --exact "$1" --ignored --nocapture 2>&1 | cat"#])
        .arg(std::env::current_exe().unwrap())
        .arg("storage::payloads::tests::writing_on_a_full_disk")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
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
