//! Payload files that rot, vanish or are replaced: the refresh fails for good with its reason, and one fetch
//! replaces it.

use std::fs;
use std::path::Path;

use domain::payload::Payload;
use domain::task::role::Role;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use queue::{Committed, Outcome};
use rstest::rstest;
use serde_json::json;

use super::harness::HandlerHarness;
use super::test_store::at;
use testkit::page;

/// Refreshes that payload and commits the failure; its reason and the consequence.
async fn fail(harness: &HandlerHarness, payload: &Payload) -> (String, Committed) {
    let task = harness.task(Role::ProductRefresh, json!({ "payload_id": payload.id })).await;
    let outcome = drover::handlers::run(&harness.context(&task), task.role, &task.payload, None).await.unwrap();
    let Outcome::Done(done) = &outcome else { panic!("it was cancelled") };
    let reason = done.failure.clone().expect("it fails");
    let committed = harness.commit(&task, outcome).await;
    let ended = "SELECT status || ': ' || error_message FROM worker_tasks WHERE id = $1";
    let ended: String = harness.store.database.raw.query_one(ended, &[&task.lease.id]).await.unwrap().get(0);
    assert_eq!(ended, format!("failed: {reason}"));
    (reason, committed)
}

fn fetches(committed: &Committed) -> Vec<Role> {
    committed.next.iter().map(|next| next.role).collect()
}

fn flip_a_bit(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
}

fn truncate(file: &Path) {
    let length = fs::metadata(file).unwrap().len();
    fs::OpenOptions::new().write(true).open(file).unwrap().set_len(length / 2).unwrap();
}

fn empty(file: &Path) {
    fs::write(file, b"").unwrap();
}

fn remove(file: &Path) {
    fs::remove_file(file).unwrap();
}

/// Replaces the file by a link to the very same bytes: the target of a link can be changed behind drover's back.
fn replace_by_a_link(file: &Path) {
    let elsewhere = file.with_extension("elsewhere");
    fs::rename(file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(elsewhere, file).unwrap();
}

fn replace_by_a_pipe(file: &Path) {
    fs::remove_file(file).unwrap();
    mkfifo(file, Mode::S_IRWXU).unwrap();
}

fn replace_by_a_directory(file: &Path) {
    fs::remove_file(file).unwrap();
    fs::create_dir(file).unwrap();
}

#[rstest]
#[case::flipped(flip_a_bit, "is damaged")]
#[case::truncated(truncate, "is damaged")]
#[case::emptied(empty, "is damaged")]
#[case::deleted(remove, "does not exist")]
#[case::replaced_by_a_link(replace_by_a_link, "is not a regular file")]
#[case::replaced_by_a_pipe(replace_by_a_pipe, "is not a regular file")]
#[case::replaced_by_a_directory(replace_by_a_directory, "is not a regular file")]
#[tokio::test]
async fn a_refresh_whose_file_is_lost_fails_for_good_and_one_fetch_is_queued(
    #[case] damage: fn(&Path),
    #[case] says: &str,
) {
    let harness = HandlerHarness::new().await;
    let payload = harness.payload(at(1), &[&page(&["a"])]).await;
    damage(&harness.storage.path().join(&payload.storage_path));

    let (reason, committed) = fail(&harness, &payload).await;

    assert!(reason.contains(says) && reason.contains(&payload.storage_path), "{reason}");
    assert_eq!(fetches(&committed), [Role::PayloadFetch]);
    assert_eq!(committed.result["fetches_again"], true);
    assert_eq!(harness.store.count("SELECT count(*) FROM store_products").await, 0);
}

#[tokio::test]
async fn a_lost_file_of_an_older_payload_needs_no_fetch() {
    let harness = HandlerHarness::new().await;
    let older = harness.payload(at(1), &[&page(&["a"])]).await;
    harness.payload(at(2), &[&page(&["a"])]).await;
    remove(&harness.storage.path().join(&older.storage_path));
    assert_eq!(fetches(&fail(&harness, &older).await.1), []);
}

#[tokio::test]
async fn a_fetch_that_waits_already_stands_in_for_a_lost_file() {
    let harness = HandlerHarness::new().await;
    let payload = harness.payload(at(1), &[&page(&["a"])]).await;
    remove(&harness.storage.path().join(&payload.storage_path));
    let task = harness.task(Role::ProductRefresh, json!({})).await;
    let waiting =
        "INSERT INTO worker_tasks (role, dispensary_id, platform) VALUES ('product_discovery', $1, 'dutchie')";
    harness.store.database.raw.execute(waiting, &[&harness.store.id]).await.unwrap();
    let outcome = drover::handlers::run(&harness.context(&task), task.role, &task.payload, None).await.unwrap();
    assert_eq!(fetches(&harness.commit(&task, outcome).await), []);
}

#[tokio::test]
async fn a_disk_that_keeps_nothing_is_not_crawled_for_in_circles() {
    let harness = HandlerHarness::new().await;
    let first = harness.payload(at(1), &[&page(&["a"])]).await;
    remove(&harness.storage.path().join(&first.storage_path));
    assert_eq!(fetches(&fail(&harness, &first).await.1), [Role::PayloadFetch]);

    let again = harness.payload(at(2), &[&page(&["a"])]).await;
    let of_the_refetch = "UPDATE raw_crawl_payloads SET task_id = (SELECT max(id) FROM worker_tasks WHERE parent_task_id IS NOT NULL) WHERE id = $1";
    harness.store.database.raw.execute(of_the_refetch, &[&again.id]).await.unwrap();
    remove(&harness.storage.path().join(&again.storage_path));
    assert_eq!(fetches(&fail(&harness, &again).await.1), []);
}
