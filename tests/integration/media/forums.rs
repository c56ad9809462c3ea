//! `forum_scrape`: posts and media of watched threads, of each kind of forum.

use std::time::Duration;

use contract::media::credentials::Credential;
use contract::media::forums::{Forum, ForumDraft};
use contract::media::threads::{Thread, ThreadDraft};
use domain::media::item::ItemState;
use domain::task::role::Role;
use domain::vocabulary::Word;
use queue::TaskError;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{MediaFault, MediaFaultKind, Origin, ThreadKind};
use testkit::{PATIENCE, until};

use super::harness::MediaHarness;
use super::secret_jobs::cookie_file;

const KEY: &str = "discourse-key";

impl MediaHarness {
    pub async fn forum(&self, kind: &str, credential: Option<i64>) -> i64 {
        self.forum_at(self.site.url(), kind, credential).await
    }

    async fn forum_at(&self, base_url: &str, kind: &str, credential: Option<i64>) -> i64 {
        let draft = json!({"name": kind, "kind": kind, "base_url": base_url, "credential_id": credential});
        self.add::<Forum>(serde_json::from_value::<ForumDraft>(draft).unwrap()).await
    }

    pub async fn discourse(&self) -> i64 {
        let draft =
            json!({"name": "key", "platform": "discourse", "kind": "api_key", "username": "reader", "secret": KEY});
        let credential = self.add_credential(draft).await;
        self.forum("discourse", Some(credential)).await
    }

    /// Thread 24 with these cookies; returns the credential and the thread.
    pub async fn thread_behind_a_log_in(&self, cookies: &str) -> (i64, i64) {
        let draft = json!({"name": "member", "platform": "xenforo", "kind": "cookies", "secret": cookies});
        let credential = self.add_credential(draft).await;
        let forum = self.forum("xenforo", Some(credential)).await;
        (credential, self.thread(forum, 24, false).await)
    }

    pub async fn thread(&self, forum: i64, id: u64, download: bool) -> i64 {
        let external_id = id.to_string();
        self.add::<Thread>(ThreadDraft { forum_id: forum, external_id, download, enabled: true }).await
    }

    /// Ids, authors, times in seconds and texts of a thread's posts, oldest first.
    async fn posts(&self, thread: i64) -> Vec<(String, String, i64, String)> {
        let sql = "SELECT external_id, author, extract(epoch FROM posted_at)::bigint, text FROM forum_posts
                    WHERE thread_id = $1 ORDER BY external_id::bigint";
        let rows = self.database.raw.query(sql, &[&thread]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect()
    }

    fn oracle_posts(&self, kind: ThreadKind, id: u64) -> Vec<(String, String, i64, String)> {
        let thread = self.site.thread(kind, id).unwrap();
        let post =
            |post: sim::media::ForumPost| (post.id.to_string(), post.author, post.posted_at.timestamp(), post.text);
        thread.posts.into_iter().map(post).collect()
    }

    /// Addresses of the media of a thread, each once.
    fn oracle_media(&self, kind: ThreadKind, id: u64) -> Vec<String> {
        let thread = self.site.thread(kind, id).unwrap();
        let links = thread.posts.iter().flat_map(|post| &post.links);
        let mut addresses: Vec<String> = links.map(|link| self.site.address(&link.path)).collect();
        addresses.sort();
        addresses.dedup();
        addresses
    }

    async fn media(&self) -> Vec<String> {
        let mut addresses: Vec<String> = self.items().await.into_iter().map(|item| item.url).collect();
        addresses.sort();
        addresses
    }

    async fn read_threads(&self) -> Value {
        self.settle(Role::ForumScrape, json!({})).await.result
    }
}

#[rstest]
#[case::discourse("discourse", ThreadKind::Discourse, 12)]
#[case::xenforo("xenforo", ThreadKind::Xenforo, 21)]
#[case::phpbb("phpbb", ThreadKind::Phpbb, 31)]
#[tokio::test]
async fn a_thread_is_read_to_its_end_and_later_only_its_new_posts(
    #[case] name: &str,
    #[case] kind: ThreadKind,
    #[case] id: u64,
) {
    let harness = MediaHarness::start().await;
    let forum = if name == "discourse" { harness.discourse().await } else { harness.forum(name, None).await };
    let thread = harness.thread(forum, id, false).await;
    let (posts, media) = (harness.oracle_posts(kind, id), harness.oracle_media(kind, id));
    assert_eq!(
        harness.read_threads().await,
        json!({"threads": 1, "failed": 0, "posts": posts.len(), "items": media.len()})
    );
    assert_eq!(harness.posts(thread).await, posts);
    assert_eq!(harness.media().await, media);
    assert!(harness.waiting(Role::DownloadMedia).await.is_empty());

    let first = harness.site.requests().len();
    harness.site.publish_forum_post(kind, id).unwrap();
    let again = harness.read_threads().await;
    assert_eq!((&again["posts"], &again["failed"]), (&json!(1), &json!(0)));
    assert_eq!(harness.posts(thread).await, harness.oracle_posts(kind, id));
    assert_eq!(harness.media().await, harness.oracle_media(kind, id));
    let requests = harness.site.requests().len() - first;
    assert!(requests <= 2, "{requests} requests for one new post");
    let newest = harness.posts(thread).await.pop().unwrap().0;
    assert_eq!(harness.get::<Thread>(thread).await.last_post_id, Some(newest));
}

#[tokio::test]
async fn media_of_a_thread_are_downloaded_and_pages_of_strangers_are_not() {
    let harness = MediaHarness::start().await;
    let forum = harness.forum("xenforo", None).await;
    harness.thread(forum, 21, true).await;
    harness.read_threads().await;
    let downloads = harness.waiting(Role::DownloadMedia).await;
    let [download] = downloads.as_slice() else { panic!("{downloads:?}") };
    harness.settle(Role::DownloadMedia, download.clone()).await;

    let thread = harness.site.thread(ThreadKind::Xenforo, 21).unwrap();
    let links: Vec<_> = thread.posts.iter().flat_map(|post| &post.links).collect();
    assert!(links.iter().any(|link| link.file.is_none()), "the thread has a page with a player");
    for link in links {
        let items = harness.items().await;
        let item = items.iter().find(|item| item.url == harness.site.address(&link.path)).unwrap();
        let expected = link.file.as_ref().map(|file| file.sha256.as_str());
        assert_eq!(item.sha256.as_deref(), expected);
        let state = if expected.is_some() { ItemState::Downloaded } else { ItemState::Known };
        assert_eq!(item.state, Word::Known(state));
    }
}

#[tokio::test]
async fn a_thread_behind_a_log_in_needs_the_cookies_of_its_forum() {
    let harness = MediaHarness::start().await;
    let (credential, thread) = harness.thread_behind_a_log_in(&cookie_file("xf_user", "24,forum-cookie")).await;
    assert_eq!(harness.read_threads().await["posts"], 5);
    assert_eq!(harness.posts(thread).await, harness.oracle_posts(ThreadKind::Xenforo, 24));
    assert_eq!(harness.get::<Credential>(credential).await.last_result.as_deref(), Some("works"));
    let seen = harness.site.occurrences("forum-cookie");
    assert!(
        !seen.is_empty() && seen.iter().all(|place| place.origin == Origin::Site && place.part == "cookie"),
        "{seen:?}"
    );
}

#[tokio::test]
async fn guests_are_told_to_bring_a_credential_and_a_refused_one_is_marked() {
    let harness = MediaHarness::start().await;
    let guests = harness.forum("xenforo", None).await;
    let thread = harness.thread(guests, 24, false).await;
    let refused = harness.run(Role::ForumScrape, json!({})).await;
    assert!(matches!(refused, Err(TaskError::Permanent { reason }) if reason.contains("give it a credential")));
    assert!(harness.get::<Thread>(thread).await.last_error.unwrap().contains("refuses guests (403"));

    let draft = json!({"name": "old", "platform": "discourse", "kind": "token", "secret": "revoked"});
    let credential = harness.add_credential(draft).await;
    let forum = harness.forum("discourse", Some(credential)).await;
    let topic = harness.thread(forum, 12, false).await;
    let refused = harness.run(Role::ForumScrape, json!({"thread_ids": [topic]})).await;
    assert!(matches!(refused, Err(TaskError::Permanent { reason }) if reason.contains("refuses the credential")));
    let result = harness.get::<Credential>(credential).await.last_result;
    assert_eq!(result.as_deref(), Some("the service refuses it"));
}

#[tokio::test]
async fn a_thread_that_fails_fails_no_other() {
    let harness = MediaHarness::start().await;
    let forum = harness.forum("xenforo", None).await;
    harness.thread(forum, 21, false).await;
    let (gone, empty) = (harness.thread(forum, 4711, false).await, harness.thread(forum, 22, false).await);
    let scraped = harness.read_threads().await;
    assert_eq!((&scraped["threads"], &scraped["failed"]), (&json!(3), &json!(2)));
    assert_eq!(harness.get::<Thread>(gone).await.last_error.as_deref(), Some("the forum has no such thread"));
    assert!(harness.get::<Thread>(empty).await.last_error.unwrap().starts_with("the page has no posts"));
}

#[tokio::test]
async fn a_page_that_was_read_stays_when_a_later_one_fails() {
    let harness = MediaHarness::start().await;
    let forum = harness.forum("xenforo", None).await;
    let thread = harness.thread(forum, 21, false).await;
    let oracle = harness.oracle_posts(ThreadKind::Xenforo, 21);
    harness.site.add_fault("/threads/21/page-3", MediaFault::new(MediaFaultKind::Status(500)));
    assert!(matches!(harness.run(Role::ForumScrape, json!({})).await, Err(TaskError::Retry { .. })));
    assert_eq!(harness.posts(thread).await, oracle[..20]);
    assert!(harness.get::<Thread>(thread).await.last_error.unwrap().contains("500"));

    harness.site.remove_faults("/threads/21/page-3");
    let before = harness.site.requests().len();
    assert_eq!(harness.read_threads().await["posts"], 3);
    assert_eq!(harness.posts(thread).await, oracle);
    assert_eq!(harness.site.requests().len() - before, 2, "it goes on at the last page that was read");
    assert_eq!(harness.get::<Thread>(thread).await.last_error, None);
}

#[tokio::test]
async fn a_thread_whose_last_page_is_gone_is_read_from_its_beginning() {
    let harness = MediaHarness::start().await;
    let forum = harness.forum("xenforo", None).await;
    let thread = harness.thread(forum, 21, false).await;
    harness.read_threads().await;
    harness.database.raw.execute("UPDATE watched_threads SET last_page = 9", &[]).await.unwrap();
    assert_eq!(harness.read_threads().await, json!({"threads": 1, "failed": 0, "posts": 0, "items": 0}));
    assert_eq!(harness.get::<Thread>(thread).await.last_error, None);
}

#[tokio::test]
async fn a_forum_that_asks_to_wait_is_left_alone_and_the_job_waits() {
    let harness = MediaHarness::start().await;
    let forum = harness.forum("xenforo", None).await;
    let asked = harness.thread(forum, 21, false).await;
    harness.thread(forum, 24, false).await;
    let elsewhere = harness.site.url().replace("127.0.0.1", "localhost");
    let other = harness.forum_at(&elsewhere, "phpbb", None).await;
    let read = harness.thread(other, 31, false).await;
    harness.site.add_fault(
        "/threads/21/",
        MediaFault::new(MediaFaultKind::Later { status: 429, retry_after: Some(Duration::from_secs(120)) }),
    );
    let waits = harness.run(Role::ForumScrape, json!({})).await;
    let Err(TaskError::Snooze { after, .. }) = waits else { panic!("it does not wait") };
    assert_eq!(after.map(|wait| wait.as_secs()), Some(120));
    assert_eq!(harness.posts(read).await, harness.oracle_posts(ThreadKind::Phpbb, 31));
    assert_eq!(harness.get::<Thread>(asked).await.last_error, None);
    let requests = harness.site.requests();
    assert!(!requests.iter().any(|request| request.path.contains("/threads/24")), "no other thread of it was asked");
}

#[tokio::test]
async fn a_stopped_job_keeps_what_it_has_saved() {
    let harness = MediaHarness::start().await;
    let forum = harness.forum("phpbb", None).await;
    let read = harness.thread(forum, 31, false).await;
    let slow = harness.forum("xenforo", None).await;
    harness.thread(slow, 21, false).await;
    harness.site.add_fault("/threads/21/", MediaFault::new(MediaFaultKind::StalledAfter(10)));
    let asked = until("the slow thread is asked", PATIENCE, async || {
        harness.site.requests().iter().any(|request| request.path.contains("/threads/21"))
    });
    let stopped = harness.run_until(Role::ForumScrape, json!({}), asked).await;
    assert!(matches!(stopped, Err(TaskError::Retry { .. })));
    assert_eq!(harness.posts(read).await, harness.oracle_posts(ThreadKind::Phpbb, 31));
}

#[tokio::test]
async fn unknown_threads_end_the_job_for_good_and_none_completes_it() {
    let harness = MediaHarness::start().await;
    let unknown = harness.run(Role::ForumScrape, json!({"thread_ids": [4711]})).await;
    assert!(matches!(unknown, Err(TaskError::Permanent { reason }) if reason.contains("drover media list threads")));
    assert_eq!(harness.read_threads().await, json!({"threads": 0, "failed": 0, "posts": 0, "items": 0}));
}
