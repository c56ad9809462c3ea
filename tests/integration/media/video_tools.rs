//! A yt-dlp that misbehaves: its item ends as it should, nothing of the tool is left, and the next item comes whole.
//!
//! The tool misbehaves for one page, and is the real yt-dlp for all others.

use domain::media::item::ItemState;
use domain::task::role::Role;
use domain::vocabulary::Word;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{MediaPlan, Video};

use super::accounts::processes_in;
use super::harness::{MediaHarness, misbehaving_tool};
use super::proxies::CHANNEL;
use super::videos::has_tool;

impl MediaHarness {
    /// An item of each video's page; returns their ids.
    async fn know_pages(&self, videos: &[Video]) -> Vec<i64> {
        let page = |video: &Video| {
            let address = self.site.watch_address(&video.id);
            serde_json::from_value(
                json!({"source": "site", "source_id": video.id, "kind": "page", "url": address, "metadata": {}}),
            )
        };
        let tx = self.database.db.begin().await.unwrap();
        let pages: Vec<_> = videos.iter().map(|video| page(video).unwrap()).collect();
        let ids = db::media::items::insert(&tx, &pages).await.unwrap();
        tx.commit().await.unwrap();
        ids
    }
}

#[rstest]
#[case::no_file("exit 0", ItemState::Refused)]
#[case::an_error("exit 1", ItemState::Failed)]
#[case::a_login("echo 'ERROR: HTTP Error 401: Unauthorized' >&2; exit 1", ItemState::Refused)]
#[case::usage("exit 2", ItemState::Refused)]
#[case::a_limit("exit 101", ItemState::Refused)]
#[case::a_signal("kill -9 $$", ItemState::Failed)]
#[case::a_line_without_end("exec cat /dev/zero", ItemState::Refused)]
#[case::a_file_without_end("exec dd if=/dev/zero of=\"$HOME/file\" bs=1M", ItemState::Failed)]
#[case::a_file_elsewhere(
    "echo '{\"id\":\"x\",\"extractor_key\":\"Generic\",\"filepath\":\"/etc/passwd\"}'",
    ItemState::Refused
)]
#[case::a_child_that_stays("(exec sleep 600) & exit 1", ItemState::Failed)]
#[tokio::test]
async fn a_tool_that_misbehaves_ends_its_item_and_no_other(#[case] misbehaviour: &str, #[case] expected: ItemState) {
    if !has_tool() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    // the videos of a plan are always the same
    let videos = MediaHarness::start().await.site.channel(CHANNEL).unwrap().videos;
    let (bad, good) = (&videos[0], &videos[1]);
    let tool = misbehaving_tool(&directory, "yt-dlp", &format!("*'v={}'*", bad.id), misbehaviour);
    let harness = MediaHarness::with(
        MediaPlan::default(),
        &[("media.yt_dlp", tool.to_str().unwrap()), ("media.max_file_bytes", "4000000")],
    )
    .await;
    let ids = harness.know_pages(&[bad.clone(), good.clone()]).await;
    let result = harness.settle(Role::DownloadMedia, json!({"media_ids": ids})).await.result;
    assert_eq!(result["downloaded"], 1, "{result}");
    assert_eq!(processes_in(&harness.services.media.work_dir), Vec::<u32>::new());

    let items = harness.items().await;
    let item = items.iter().find(|item| item.source_id == bad.id).unwrap();
    assert_eq!((&item.state, &item.sha256), (&Word::Known(expected), &None), "{:?}", item.last_error);
    assert!(item.last_error.is_some(), "it says why");
    let item = items.iter().find(|item| item.source_id == good.id).unwrap();
    assert_eq!(item.sha256.as_ref(), Some(&good.file.sha256));
    let stored: Vec<String> = harness.stored().into_iter().map(|(_, digest)| digest).collect();
    assert_eq!(stored, std::slice::from_ref(&good.file.sha256));
    assert_eq!(result[expected.name()], Value::from(1));
}
