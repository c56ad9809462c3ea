//! `download_media`: files of the site in the storage, one for each content.

use std::time::Duration;

use domain::media::item::ItemState;
use domain::task::role::Role;
use domain::vocabulary::Word;
use media::tool::WorkDirectory;
use queue::TaskError;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AccountKind, MediaFault, MediaFaultKind, MediaFile};

use testkit::{PATIENCE, until};

use super::harness::MediaHarness;

impl MediaHarness {
    fn files_of(&self, account: &str) -> Vec<MediaFile> {
        self.site.account(AccountKind::Mastodon, account).unwrap().files().cloned().collect()
    }

    /// The files of an account, and the ids of their items.
    async fn known_files(&self, account: &str) -> (Vec<MediaFile>, Vec<i64>) {
        let files = self.files_of(account);
        let ids = self.know(&files.iter().collect::<Vec<_>>()).await;
        (files, ids)
    }

    async fn download(&self, ids: &[i64]) -> Value {
        self.settle(Role::DownloadMedia, json!({"media_ids": ids})).await.result
    }
}

fn paths(files: &[MediaFile]) -> Vec<(String, String)> {
    let path = |file: &MediaFile| {
        let extension = file.path.rsplit('.').next().unwrap();
        format!("media/{}/{}.{extension}", &file.sha256[..2], file.sha256)
    };
    let mut paths: Vec<_> = files.iter().map(|file| (path(file), file.sha256.clone())).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[tokio::test]
async fn files_are_stored_by_their_content_hash_for_hash() {
    let harness = MediaHarness::start().await;
    let (files, ids) = harness.known_files("alice").await;
    let result = harness.download(&ids).await;
    let all = json!({"downloaded": ids.len(), "gone": 0, "refused": 0, "failed": 0, "unknown": 0});
    assert_eq!(result, all);
    // the oldest post has a file of the newest: two items share it
    assert_eq!(harness.stored(), paths(&files));
    assert!(harness.stored().len() < files.len());
    for (item, file) in harness.items().await.iter().zip(&by_path(files)) {
        assert_eq!((item.sha256.as_ref(), item.media_type.as_deref()), (Some(&file.sha256), Some(file.media_type)));
        assert_eq!(item.bytes, Some(file.content.len() as i64));
        assert!(item.downloaded_at.is_some() && item.attempts == 1, "{item:?}");
    }
    assert_eq!(harness.left(), Vec::<std::path::PathBuf>::new());
}

/// The items were made in the order of their paths.
fn by_path(mut files: Vec<MediaFile>) -> Vec<MediaFile> {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[tokio::test]
async fn an_item_that_has_its_file_is_not_downloaded_again() {
    let harness = MediaHarness::start().await;
    let (files, ids) = harness.known_files("alice").await;
    harness.download(&ids).await;
    let sent: Vec<u64> = files.iter().map(|file| harness.site.bytes_sent(&file.path)).collect();
    assert_eq!(harness.download(&ids).await["downloaded"], 0);
    assert_eq!(files.iter().map(|file| harness.site.bytes_sent(&file.path)).collect::<Vec<_>>(), sent);
}

#[rstest]
#[case::gone(MediaFaultKind::Status(404), ItemState::Gone)]
#[case::gone_for_good(MediaFaultKind::Status(410), ItemState::Gone)]
#[case::for_members(MediaFaultKind::Status(401), ItemState::Refused)]
#[case::forbidden(MediaFaultKind::Status(403), ItemState::Refused)]
#[case::a_page(MediaFaultKind::Html, ItemState::Refused)]
#[case::broken(MediaFaultKind::Status(500), ItemState::Failed)]
#[case::cut(MediaFaultKind::CutAfter(10), ItemState::Failed)]
#[tokio::test]
async fn an_item_that_does_not_come_says_why_and_fails_no_other(
    #[case] fault: MediaFaultKind,
    #[case] expected: ItemState,
) {
    let harness = MediaHarness::start().await;
    let (files, ids) = harness.known_files("alice").await;
    let faulty = by_path(files.clone()).remove(0);
    harness.site.add_fault(&faulty.path, MediaFault::new(fault));
    let result = harness.download(&ids).await;
    assert_eq!(result["downloaded"], ids.len() - 1, "{result}");
    let item = harness.items().await.remove(0);
    assert_eq!(item.state, Word::Known(expected), "{:?}", item.last_error);
    assert!(item.last_error.is_some() && item.sha256.is_none());
    assert_eq!(harness.stored(), paths(&files.into_iter().filter(|file| file.path != faulty.path).collect::<Vec<_>>()));
}

#[tokio::test]
async fn a_cut_file_goes_on_where_it_was_cut() {
    let harness = MediaHarness::start().await;
    let file = harness.files_of("bob").into_iter().find(|file| file.content.len() > 100_000).unwrap();
    let ids = harness.know(&[&file]).await;
    harness.site.add_fault(&file.path, MediaFault::new(MediaFaultKind::CutAfter(90_000)).times(1));
    let failed = harness.run(Role::DownloadMedia, json!({"media_ids": ids})).await;
    assert!(matches!(failed, Err(TaskError::Retry { .. })));
    assert_eq!(harness.download(&ids).await["downloaded"], 1);
    assert_eq!(harness.stored(), paths(std::slice::from_ref(&file)));
    assert_eq!(harness.site.bytes_sent(&file.path), file.content.len() as u64);
    let item = harness.items().await.remove(0);
    assert_eq!((item.attempts, item.last_error), (2, None));
}

#[tokio::test]
async fn a_server_that_asks_to_wait_makes_the_job_wait_with_the_rest_downloaded() {
    let harness = MediaHarness::start().await;
    let (files, ids) = harness.known_files("alice").await;
    let late = by_path(files).remove(0);
    let wait = Some(Duration::from_secs(7));
    harness
        .site
        .add_fault(&late.path, MediaFault::new(MediaFaultKind::Later { status: 429, retry_after: wait }).times(1));
    match harness.run(Role::DownloadMedia, json!({"media_ids": ids})).await {
        Err(TaskError::Snooze { after, .. }) => assert_eq!(after, wait),
        other => panic!("it does not wait: {}", other.is_ok()),
    }
    let states: Vec<_> = harness.items().await.into_iter().map(|item| item.state).collect();
    assert_eq!(states.iter().filter(|state| **state == Word::Known(ItemState::Downloaded)).count(), ids.len() - 1);
    assert_eq!(harness.download(&ids).await["downloaded"], 1);
}

#[tokio::test]
async fn unknown_items_fail_for_good_unless_some_are_known() {
    let harness = MediaHarness::start().await;
    let failed = harness.run(Role::DownloadMedia, json!({"media_ids": [4711]})).await;
    assert!(matches!(failed, Err(TaskError::Permanent { .. })));
    let (_, ids) = harness.known_files("alice").await;
    assert_eq!(harness.download(&[ids[0], 4711]).await["unknown"], 1);
}

#[tokio::test]
async fn items_of_another_source_and_those_with_their_files_are_left_out_and_counted() {
    let harness = MediaHarness::start().await;
    let (_, ids) = harness.known_files("alice").await;
    let done = harness.settle(Role::DownloadMedia, json!({"media_ids": ids, "source": "youtube"})).await;
    assert_eq!((&done.result["downloaded"], &done.result["of_another_source"]), (&json!(0), &json!(ids.len())));
    assert!(harness.stored().is_empty());

    let other = format!("UPDATE media_items SET source = 'elsewhere' WHERE id = {}", ids[0]);
    harness.database.raw.batch_execute(&other).await.unwrap();
    let download =
        async || harness.settle(Role::DownloadMedia, json!({"media_ids": ids, "source": "site"})).await.result;
    let result = download().await;
    let counts = (&result["downloaded"], &result["of_another_source"], &result["over"]);
    assert_eq!(counts, (&json!(ids.len() - 1), &json!(1), &Value::Null));
    let again = download().await;
    assert_eq!((&again["downloaded"], &again["over"]), (&json!(0), &json!(ids.len() - 1)));
}

#[rstest]
#[case::a_file_of_this_machine("file:///etc/passwd")]
#[case::no_address("../../etc/passwd")]
#[case::a_login("http://user:password@127.0.0.1/a.jpg")]
#[tokio::test]
async fn an_address_that_is_not_one_of_the_web_is_refused(#[case] address: &str) {
    let harness = MediaHarness::start().await;
    let file = harness.files_of("alice").remove(0);
    let ids = harness.know(&[&file]).await;
    harness.database.raw.execute("UPDATE media_items SET url = $1", &[&address]).await.unwrap();
    assert_eq!(harness.download(&ids).await["refused"], 1);
    assert!(harness.stored().is_empty());
}

#[tokio::test]
async fn a_stopped_job_keeps_what_it_has_and_says_nothing_of_the_rest() {
    let harness = MediaHarness::start().await;
    let (files, ids) = harness.known_files("alice").await;
    let second = by_path(files).remove(1);
    harness.site.add_fault(&second.path, MediaFault::new(MediaFaultKind::StalledAfter(10)).times(1));
    let asked = async || harness.site.bytes_sent(&second.path) > 0;
    let stop = until("the second file is asked for", PATIENCE, asked);
    let stopped = harness.run_until(Role::DownloadMedia, json!({"media_ids": ids}), stop).await;
    assert!(matches!(stopped, Err(TaskError::Retry { .. })));
    let states: Vec<_> = harness.items().await.into_iter().map(|item| item.state).collect();
    assert_eq!(states[0], Word::Known(ItemState::Downloaded));
    assert!(states[1..].iter().all(|state| *state == Word::Known(ItemState::Known)), "{states:?}");
    assert_eq!(harness.download(&ids).await["downloaded"], ids.len() - 1);
}

#[tokio::test]
async fn an_item_that_another_run_downloads_is_waited_for_and_the_others_come() {
    let harness = MediaHarness::start().await;
    let (_, ids) = harness.known_files("alice").await;
    let other_run = WorkDirectory::lock(&harness.services.media.work_dir, &format!("item-{}", ids[0])).unwrap();
    let waiting = harness.run(Role::DownloadMedia, json!({"media_ids": ids})).await;
    assert!(matches!(waiting, Err(TaskError::Snooze { .. })));
    let known = harness.items().await.into_iter().filter(|item| item.sha256.is_none()).map(|item| item.id);
    assert_eq!(known.collect::<Vec<_>>(), [ids[0]]);
    drop(other_run);
    assert_eq!(harness.download(&ids).await["downloaded"], 1);
}

#[tokio::test]
async fn an_item_that_is_named_twice_is_one() {
    let harness = MediaHarness::start().await;
    let (_, ids) = harness.known_files("alice").await;
    let result = harness.download(&[ids[0], ids[0]]).await;
    assert_eq!((&result["downloaded"], &result["unknown"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn an_item_without_its_credential_keeps_no_other_from_coming() {
    let harness = MediaHarness::start().await;
    let (_, ids) = harness.known_files("alice").await;
    let source = "UPDATE media_items SET source = 'easynews' WHERE id = $1";
    harness.database.raw.execute(source, &[&ids[0]]).await.unwrap();
    let failed = harness.run(Role::DownloadMedia, json!({"media_ids": ids})).await;
    assert!(matches!(failed, Err(TaskError::Permanent { reason }) if reason.contains("no credential of easynews")));
    let missing = harness.items().await.into_iter().filter(|item| item.sha256.is_none()).map(|item| item.id);
    assert_eq!(missing.collect::<Vec<_>>(), [ids[0]]);
}
