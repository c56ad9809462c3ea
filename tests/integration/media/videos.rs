//! `youtube_monitor`, and the videos that it finds.

use contract::media::channels::{Channel, ChannelDraft};
use domain::task::role::Role;
use queue::TaskError;
use serde_json::{Value, json};
use sim::media::{ChannelPlan, MediaFault, MediaFaultKind, MediaPlan, Origin, Video};

use testkit::{PATIENCE, until};

use super::harness::MediaHarness;

const CANARY: &str = "canary-of-a-session";
const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
/// A channel that the site does not have.
const UNKNOWN: &str = "UCzzzzzzzzzzzzzzzzzzzzzz";
const STALLED: &str = "UCzyxwvutsrqponmlkjihgfe";
/// Number of videos in a feed.
const SHOWN: usize = 15;

fn draft(channel_id: &str) -> ChannelDraft {
    ChannelDraft { channel_id: channel_id.to_owned(), download: true, enabled: true }
}

fn feed_path() -> String {
    format!("/feeds/videos.xml?channel_id={CHANNEL}")
}

impl MediaHarness {
    fn videos(&self) -> Vec<Video> {
        self.site.channel(CHANNEL).unwrap().videos
    }
}

#[tokio::test]
async fn a_first_poll_makes_items_and_downloads_nothing() {
    let harness = MediaHarness::start().await;
    let id = harness.add::<Channel>(draft(CHANNEL)).await;
    let polled = harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(polled.result, json!({"channels": 1, "failed": 0, "new": SHOWN, "gaps": 0}));
    assert_eq!(harness.waiting(Role::DownloadMedia).await, Vec::<Value>::new());

    let mut items = harness.items().await;
    items.sort_by_key(|item| std::cmp::Reverse(item.posted_at));
    let seen: Vec<_> = items.iter().map(|item| (item.source_id.clone(), item.title.clone(), item.posted_at)).collect();
    let newest = harness.videos().into_iter().take(SHOWN);
    let oracle: Vec<_> = newest.map(|video| (video.id, Some(video.title), Some(video.published_at))).collect();
    assert_eq!(seen, oracle);
    assert!(harness.get::<Channel>(id).await.last_polled_at.is_some());
}

#[tokio::test]
async fn a_new_video_is_found_and_queued_once() {
    let harness = MediaHarness::start().await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    let quiet = harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(quiet.result, json!({"channels": 1, "failed": 0, "new": 0, "gaps": 0}));

    let video = harness.site.publish_video(CHANNEL).unwrap();
    let polled = harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(polled.result, json!({"channels": 1, "failed": 0, "new": 1, "gaps": 0}));
    let items = harness.items().await;
    let new = items.iter().find(|item| item.source_id == video.id).unwrap();
    let downloads = harness.waiting(Role::DownloadMedia).await;
    assert_eq!(downloads, [json!({"media_ids": [new.id], "source": "youtube"})]);
    assert_eq!(harness.settle(Role::YoutubeMonitor, json!({})).await.result["new"], 0);
}

#[tokio::test]
async fn a_poll_names_the_feed_that_it_knows() {
    let harness = MediaHarness::start().await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    let row = harness.database.raw.query_one("SELECT etag FROM watched_channels", &[]).await.unwrap();
    let etag: String = row.get(0);
    assert!(harness.site.occurrences(&etag).is_empty());
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert!(!harness.site.occurrences(&etag).is_empty(), "the request has If-None-Match");
}

#[tokio::test]
async fn a_stopped_job_keeps_the_channels_that_it_has_saved() {
    let mut plan = MediaPlan::default();
    plan.channels.push(ChannelPlan::new(STALLED, "Bea", 3));
    let harness = MediaHarness::facing(plan).await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    for number in 0..20 {
        harness.add::<Channel>(draft(&format!("UCunknown-channel-{number:06}"))).await;
    }
    harness.add::<Channel>(draft(STALLED)).await;
    let polled = harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(polled.result, json!({"channels": 22, "failed": 20, "new": SHOWN + 3, "gaps": 0}));

    for channel in [CHANNEL, STALLED] {
        harness.site.publish_video(channel).unwrap();
    }
    let feed = format!("/feeds/videos.xml?channel_id={STALLED}");
    harness.site.add_fault(&feed, MediaFault::new(MediaFaultKind::StalledAfter(10)));
    let before = harness.site.requests().len();
    let all_asked = until("every channel is asked", PATIENCE, async || harness.site.requests().len() == before + 22);
    let stopped = harness.run_until(Role::YoutubeMonitor, json!({}), all_asked).await;
    assert!(matches!(stopped, Err(TaskError::Retry { .. })));
    assert_eq!(harness.waiting(Role::DownloadMedia).await.len(), 1, "of the first save alone");
}

#[tokio::test]
async fn videos_that_may_have_been_missed_are_a_gap() {
    let harness = MediaHarness::start().await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    for _ in 0..SHOWN {
        harness.site.publish_video(CHANNEL).unwrap();
    }
    let polled = harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(polled.result, json!({"channels": 1, "failed": 0, "new": SHOWN, "gaps": 1}));
}

#[tokio::test]
async fn a_channel_that_fails_does_not_fail_the_job_and_says_why() {
    let harness = MediaHarness::start().await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    let unknown = harness.add::<Channel>(draft(UNKNOWN)).await;
    let polled = harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(polled.result, json!({"channels": 2, "failed": 1, "new": SHOWN, "gaps": 0}));
    let channel: Channel = harness.get(unknown).await;
    assert_eq!(channel.last_error.as_deref(), Some("the service does not know this channel"));
    assert_eq!(channel.last_polled_at, None);
}

#[tokio::test]
async fn a_job_of_which_every_channel_fails_is_retried_and_keeps_the_reason() {
    let harness = MediaHarness::start().await;
    let id = harness.add::<Channel>(draft(CHANNEL)).await;
    harness.site.add_fault(&feed_path(), MediaFault::new(MediaFaultKind::Html).times(1));
    let Err(TaskError::Retry { reason }) = harness.run(Role::YoutubeMonitor, json!({})).await else {
        panic!("it is not retried")
    };
    assert!(reason.contains("is not a feed"), "{reason}");
    assert!(harness.get::<Channel>(id).await.last_error.unwrap().contains("is not a feed"));
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    assert_eq!(harness.get::<Channel>(id).await.last_error, None);
}

#[tokio::test]
async fn nothing_to_watch_completes() {
    let harness = MediaHarness::start().await;
    let mut off = draft(CHANNEL);
    off.enabled = false;
    harness.add::<Channel>(off).await;
    assert_eq!(harness.settle(Role::YoutubeMonitor, json!({})).await.result["channels"], 0);
}

#[tokio::test]
async fn a_video_is_downloaded_by_the_tool() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    let item = harness.items().await.remove(0);
    let downloaded = harness.settle(Role::DownloadMedia, json!({"media_ids": [item.id]})).await;
    assert_eq!(downloaded.result["downloaded"], 1, "{:?}", harness.items().await[0].last_error);
    let video = harness.videos().into_iter().find(|video| video.id == item.source_id).unwrap();
    let path = format!("media/{}/{}.mp4", &video.file.sha256[..2], video.file.sha256);
    assert_eq!(harness.stored(), [(path, video.file.sha256)]);
}

#[tokio::test]
async fn cookies_of_an_account_go_to_the_pages_of_their_host() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add::<Channel>(draft(CHANNEL)).await;
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    let secret = format!("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{CANARY}\n");
    let cookies = json!({"name": "cookies", "platform": "mastodon", "kind": "cookies", "secret": secret});
    let credential = harness.add_credential(cookies).await;
    let account = harness.add_account("alice", json!({"credential_id": credential})).await;
    let item = harness.items().await.remove(0);
    let sql = "UPDATE media_items SET account_id = $1 WHERE id = $2";
    harness.database.raw.execute(sql, &[&account, &item.id]).await.unwrap();
    let video = harness.videos().into_iter().find(|video| video.id == item.source_id).unwrap();
    harness.site.add_fault(&video.file.path, MediaFault::new(MediaFaultKind::RedirectElsewhere));

    let downloaded = harness.settle(Role::DownloadMedia, json!({"media_ids": [item.id]})).await;
    assert_eq!(downloaded.result["downloaded"], 1, "{:?}", harness.items().await[0].last_error);
    let seen = harness.site.occurrences(CANARY);
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.origin == Origin::Site), "{seen:?}");
    assert!(harness.site.requests().iter().any(|request| request.origin == Origin::Elsewhere));
    assert_eq!(harness.left(), Vec::<std::path::PathBuf>::new());
}

pub fn has_tool() -> bool {
    testkit::has_media_tool("yt-dlp")
}
