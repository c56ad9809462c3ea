//! Jobs that wait for a host, and continue where they were.

use std::time::Duration;

use contract::media::channels::{Channel, ChannelDraft};
use contract::media::forums::{Forum, ForumDraft};
use contract::media::people::{Person, PersonDraft};
use contract::media::searches::{Search, SearchDraft};
use contract::media::threads::{Thread, ThreadDraft};
use domain::task::role::Role;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{MediaFault, MediaFaultKind, ThreadKind};

use super::harness::{MediaHarness, job};

const HOST: &str = "127.0.0.1";
const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
const PERSON: i64 = 42;
/// The site does not know them.
const UNKNOWN_PERSON: i64 = 4711;
/// Number that is larger than one save holds.
const UNKNOWN_CHANNELS: usize = 60;
const QUERY: &str = "quiet harbor";
const SEARCH_PATH: &str = "/2.0/search/solr-search/advanced";

impl MediaHarness {
    async fn with_channels(&self) {
        let unknown = (0..UNKNOWN_CHANNELS).map(|number| format!("UCunknown-channel-{number:06}"));
        for channel_id in unknown.chain([CHANNEL.to_owned()]) {
            self.add::<Channel>(ChannelDraft { channel_id, download: false, enabled: true }).await;
        }
    }

    async fn with_people(&self) {
        self.add_credential(json!({"name": "films", "platform": "tmdb", "kind": "token", "secret": "tmdb.token"}))
            .await;
        for tmdb_id in [PERSON, UNKNOWN_PERSON] {
            self.add::<Person>(PersonDraft { tmdb_id, name: "Ann".to_owned(), enabled: true }).await;
        }
    }

    async fn with_searches(&self, queries: &[&str]) {
        let login = json!({"name": "members", "platform": "easynews", "kind": "password", "username": "member", "secret": "easynews-password"});
        self.add_credential(login).await;
        for query in queries {
            let draft = json!({"query": query, "download": true});
            self.add::<Search>(serde_json::from_value::<SearchDraft>(draft).unwrap()).await;
        }
    }

    async fn with_thread(&self, base_url: &str, kind: &str, external_id: &str) {
        let draft = json!({"name": kind, "kind": kind, "base_url": base_url});
        let forum_id = self.add::<Forum>(serde_json::from_value::<ForumDraft>(draft).unwrap()).await;
        let external_id = external_id.to_owned();
        self.add::<Thread>(ThreadDraft { forum_id, external_id, download: false, enabled: true }).await;
    }

    /// Threads of two forums at two hosts.
    async fn with_threads(&self) {
        self.with_thread(self.site.url(), "phpbb", "31").await;
        self.with_thread(&self.elsewhere(), "xenforo", "21").await;
    }

    /// The site by the name of another host.
    fn elsewhere(&self) -> String {
        self.site.url().replace(HOST, "localhost")
    }

    fn ask_to_wait(&self, path: &str, seconds: u64, spared: u64) {
        let retry_after = Some(Duration::from_secs(seconds));
        let later = MediaFaultKind::Later { status: 429, retry_after };
        self.site.add_fault(path, MediaFault::new(later).after(spared).times(1));
    }

    async fn end_holds(&self) {
        self.end_hold(HOST).await;
        self.end_hold("localhost").await;
    }

    /// A job of which one run waits; the requests of the next one, and the result.
    async fn wait_once(&self, role: Role) -> (Vec<String>, Value) {
        let task = self.task(job(role, json!({}))).await;
        self.wait(&task).await;
        let before = self.requests_sent();
        self.end_holds().await;
        let result = self.complete(&self.wake(&task).await).await.result;
        let requests = self.site.requests().into_iter().skip(before).map(|request| request.path);
        (requests.collect(), result)
    }
}

#[tokio::test]
async fn channels_that_were_polled_before_a_wait_are_not_asked_again() {
    let harness = MediaHarness::start().await;
    harness.with_channels().await;
    harness.ask_to_wait(&format!("/feeds/videos.xml?channel_id={CHANNEL}"), 120, 0);
    let (requests, result) = harness.wait_once(Role::YoutubeMonitor).await;
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!((&result["channels"], &result["failed"]), (&json!(UNKNOWN_CHANNELS + 1), &json!(UNKNOWN_CHANNELS)));
}

#[tokio::test]
async fn people_that_were_read_before_a_wait_are_not_asked_again_and_still_count() {
    let harness = MediaHarness::start().await;
    harness.with_people().await;
    let unknown = format!("/3/person/{UNKNOWN_PERSON}/combined_credits");
    harness.ask_to_wait(&unknown, 120, 0);
    let (requests, result) = harness.wait_once(Role::AppearancesSync).await;
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!((&result["people"], &result["failed"]), (&json!(2), &json!(1)), "{result}");
}

#[tokio::test]
async fn searches_that_were_run_before_a_wait_are_not_asked_again() {
    let harness = MediaHarness::start().await;
    harness.with_searches(&[QUERY, "nothing"]).await;
    harness.ask_to_wait(SEARCH_PATH, 120, 2);
    let (requests, result) = harness.wait_once(Role::EasynewsMonitor).await;
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!((&result["searches"], &result["failed"]), (&json!(2), &json!(0)), "{result}");
}

#[tokio::test]
async fn threads_that_were_read_before_a_wait_are_not_asked_again_and_the_other_goes_on() {
    let harness = MediaHarness::start().await;
    harness.with_threads().await;
    harness.ask_to_wait("/threads/21/page-2", 120, 0);
    let (requests, result) = harness.wait_once(Role::ForumScrape).await;
    assert!(requests.iter().all(|path| path.contains("/threads/21/")), "{requests:?}");
    assert_eq!((&result["threads"], &result["failed"]), (&json!(2), &json!(0)), "{result}");
    let posts: i64 = harness.database.raw.query_one("SELECT count(*) FROM forum_posts", &[]).await.unwrap().get(0);
    let all = [(ThreadKind::Phpbb, 31), (ThreadKind::Xenforo, 21)];
    let oracle = all.map(|(kind, id)| harness.site.thread(kind, id).unwrap().posts.len());
    assert_eq!(posts as usize, oracle.iter().sum::<usize>());
}

#[tokio::test]
async fn the_next_job_asks_for_everything() {
    let harness = MediaHarness::start().await;
    harness.with_people().await;
    harness.ask_to_wait(&format!("/3/person/{UNKNOWN_PERSON}/combined_credits"), 120, 0);
    harness.wait_once(Role::AppearancesSync).await;
    let before = harness.requests_sent();
    harness.settle(Role::AppearancesSync, json!({})).await;
    assert_eq!(harness.requests_sent() - before, 2);
}

#[rstest]
#[tokio::test]
async fn a_job_wakes_when_the_first_of_its_hosts_may_be_asked(#[values(true, false)] first_is_longer: bool) {
    let harness = MediaHarness::start().await;
    harness.with_threads().await;
    let (first, second) = if first_is_longer { (900, 10) } else { (10, 900) };
    harness.ask_to_wait("/viewtopic.php", first, 0);
    harness.ask_to_wait("/threads/21/", second, 0);
    let task = harness.task(job(Role::ForumScrape, json!({}))).await;
    assert_eq!(harness.wait(&task).await, Some(Duration::from_secs(10)));
}

#[rstest]
#[case::channels(Role::YoutubeMonitor, "/feeds/videos.xml?channel_id=UCunknown-channel-000000", UNKNOWN_CHANNELS)]
#[case::people(Role::AppearancesSync, "/3/person/42/combined_credits", 1)]
#[case::threads(Role::ForumScrape, "/threads/22/", 1)]
#[tokio::test]
async fn one_thing_that_always_asks_to_wait_keeps_no_other_waiting(
    #[case] role: Role,
    #[case] path: &str,
    #[case] others: usize,
) {
    let harness = MediaHarness::start().await;
    harness.with_channels().await;
    harness.with_people().await;
    harness.with_thread(harness.site.url(), "xenforo", "22").await;
    let threads = "INSERT INTO watched_threads (forum_id, external_id) SELECT forum_id, '21' FROM watched_threads";
    harness.database.raw.execute(threads, &[]).await.unwrap();
    let later = MediaFaultKind::Later { status: 429, retry_after: Some(Duration::from_secs(120)) };
    harness.site.add_fault(path, MediaFault::new(later));
    let task = harness.task(job(role, json!({}))).await;
    harness.wait(&task).await;
    harness.end_hold(HOST).await;
    harness.wait(&harness.wake(&task).await).await;
    let done = "SELECT count(*) FROM (SELECT last_attempt_at FROM watched_channels UNION ALL SELECT last_attempt_at FROM people
                 UNION ALL SELECT last_attempt_at FROM watched_threads) AS tried WHERE last_attempt_at IS NOT NULL";
    let done: i64 = harness.database.raw.query_one(done, &[]).await.unwrap().get(0);
    assert_eq!(done as usize, others);
}

#[tokio::test]
async fn a_search_that_asked_to_wait_comes_last() {
    let harness = MediaHarness::start().await;
    harness.with_searches(&[QUERY, "nothing"]).await;
    harness.ask_to_wait(SEARCH_PATH, 120, 0);
    let (requests, _) = harness.wait_once(Role::EasynewsMonitor).await;
    assert!(requests[0].contains("nothing"), "{requests:?}");
}

#[tokio::test]
async fn pages_of_a_search_are_kept_when_a_later_one_waits_and_its_files_are_downloaded_once() {
    let harness = MediaHarness::start().await;
    harness.with_searches(&[QUERY]).await;
    harness.settle(Role::EasynewsMonitor, json!({})).await;
    let known = harness.items().await.len();
    while harness.site.publish_easynews_file(QUERY).unwrap().is_infected {}
    harness.ask_to_wait(SEARCH_PATH, 120, 1);
    let task = harness.task(job(Role::EasynewsMonitor, json!({}))).await;
    harness.wait(&task).await;
    assert_eq!(harness.items().await.len(), known + 1);
    harness.end_hold(HOST).await;
    harness.complete(&harness.wake(&task).await).await;
    assert_eq!(harness.items().await.len(), known + 1);
    assert_eq!(harness.waiting(Role::DownloadMedia).await.len(), 1);
}
