//! Requests of media jobs and the limits of their hosts, which they share with the crawl.

use std::time::Duration;

use contract::media::channels::{Channel, ChannelDraft};
use contract::media::forums::{Forum, ForumDraft};
use contract::media::people::{Person, PersonDraft};
use contract::media::searches::{Search, SearchDraft};
use contract::media::threads::{Thread, ThreadDraft};
use domain::host::BreakerState;
use domain::media::item::ItemState;
use domain::task::role::Role;
use domain::vocabulary::Word;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::json;
use sim::media::{MediaFault, MediaFaultKind, MediaPlan};

use testkit::{PATIENCE, until};

use super::harness::MediaHarness;

const HOST: &str = "127.0.0.1";
const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
const PERSON: i64 = 42;
const QUERY: &str = "quiet harbor";
/// Long enough that a job on a busy machine finds the breaker still open; the test waits it out.
const UNTIL_PROBE: Duration = Duration::from_secs(2);

impl MediaHarness {
    async fn facing_limits(settings: &[(&'static str, &str)]) -> MediaHarness {
        MediaHarness::with(MediaPlan::default(), settings).await
    }

    pub async fn watch_channel(&self, channel_id: &str) -> i64 {
        let channel_id = channel_id.to_owned();
        self.add::<Channel>(ChannelDraft { channel_id, download: false, enabled: true }).await
    }

    /// Channels that the site does not know: it answers 404.
    async fn watch_unknown_channels(&self, channels: usize) {
        for number in 0..channels {
            self.watch_channel(&format!("UCunknown-channel-{number:06}")).await;
        }
    }

    async fn watch_people(&self, ids: impl IntoIterator<Item = i64>) {
        self.add_credential(json!({"name": "films", "platform": "tmdb", "kind": "token", "secret": "tmdb.token"}))
            .await;
        for tmdb_id in ids {
            self.add::<Person>(PersonDraft { tmdb_id, name: "Ann".to_owned(), enabled: true }).await;
        }
    }

    async fn watch_search(&self) {
        let login = json!({"name": "members", "platform": "easynews", "kind": "password", "username": "member", "secret": "easynews-password"});
        self.add_credential(login).await;
        self.add::<Search>(serde_json::from_value::<SearchDraft>(json!({"query": QUERY})).unwrap()).await;
    }

    async fn watch_thread(&self) {
        let draft = json!({"name": "board", "kind": "xenforo", "base_url": self.site.url()});
        let forum_id = self.add::<Forum>(serde_json::from_value::<ForumDraft>(draft).unwrap()).await;
        let external_id = "21".to_owned();
        self.add::<Thread>(ThreadDraft { forum_id, external_id, download: false, enabled: true }).await;
    }

    /// Seconds of the database's clock that a job takes.
    async fn time_of(&self, role: Role) -> f64 {
        let clock = "SELECT extract(epoch FROM clock_timestamp())::float8";
        let begun: f64 = self.database.raw.query_one(clock, &[]).await.unwrap().get(0);
        let _ = self.run(role, json!({})).await;
        let ended: f64 = self.database.raw.query_one(clock, &[]).await.unwrap().get(0);
        ended - begun
    }
}

fn snooze(ended: Result<Outcome, TaskError>) -> (Option<Duration>, Option<String>) {
    match ended {
        Err(TaskError::Snooze { after, host, .. }) => (after, host),
        Err(error) => panic!("it does not wait: {error}"),
        Ok(_) => panic!("it has ended"),
    }
}

#[tokio::test]
async fn requests_of_media_jobs_are_counted_as_those_of_their_host() {
    let harness = MediaHarness::start().await;
    harness.watch_channel(CHANNEL).await;
    harness.watch_unknown_channels(2).await;
    harness.watch_thread().await;
    harness.settle(Role::YoutubeMonitor, json!({})).await;
    harness.settle(Role::ForumScrape, json!({})).await;
    let host = harness.host(HOST).await;
    assert_eq!(host.answers as usize, harness.requests_sent());
    assert_eq!((host.refusals, host.failures, host.throttles), (0, 0, 0));
    assert!(host.rate.latency_ms.is_some());
}

#[tokio::test]
async fn an_open_breaker_holds_a_job_until_its_probe_and_the_job_then_completes() {
    let harness = MediaHarness::facing_limits(&[("politeness.breaker_requests", "3")]).await;
    harness.watch_channel(CHANNEL).await;
    harness.site.add_fault("/feeds/videos.xml", MediaFault::new(MediaFaultKind::Status(500)).times(3));
    for _ in 0..3 {
        assert!(matches!(harness.run(Role::YoutubeMonitor, json!({})).await, Err(TaskError::Retry { .. })));
    }
    assert_eq!(harness.host(HOST).await.breaker.state, BreakerState::Open);
    harness.change_host(HOST, |state, now| state.open_by_hand(None, Some(now + UNTIL_PROBE), now)).await;
    let (after, host) = snooze(harness.run(Role::YoutubeMonitor, json!({})).await);
    assert_eq!(host.as_deref(), Some(HOST));
    assert!(after.is_some_and(|after| after <= UNTIL_PROBE), "{after:?}");
    assert_eq!(harness.requests_sent(), 3, "nothing was sent");

    until("the probe was sent", PATIENCE, async || harness.run(Role::YoutubeMonitor, json!({})).await.is_ok()).await;
    assert_eq!(harness.requests_sent(), 4);
    assert_eq!(harness.host(HOST).await.breaker.state, BreakerState::Closed);
}

#[tokio::test]
async fn a_service_that_an_operator_switches_off_is_sent_nothing() {
    let harness = MediaHarness::start().await;
    harness.watch_channel(CHANNEL).await;
    harness.change_host(HOST, |state, now| state.open_by_hand(None, None, now)).await;
    let (_, host) = snooze(harness.run(Role::YoutubeMonitor, json!({})).await);
    assert_eq!((host.as_deref(), harness.requests_sent()), (Some(HOST), 0));
    harness.change_host(HOST, |state, now| state.close_by_hand(now)).await;
    assert_eq!(harness.settle(Role::YoutubeMonitor, json!({})).await.result["failed"], 0);
}

#[tokio::test]
async fn files_that_strangers_link_change_no_limits_of_a_host() {
    let harness = MediaHarness::facing_limits(&[("politeness.breaker_requests", "2")]).await;
    let account = harness.site.accounts()[0].clone();
    let files: Vec<_> = account.files().collect();
    for file in &files {
        harness.site.add_fault(&file.path, MediaFault::new(MediaFaultKind::Status(403)));
    }
    let ids = harness.know(&files).await;
    let ended = harness.settle(Role::DownloadMedia, json!({"media_ids": ids})).await.result;
    assert_eq!(ended["refused"], files.len(), "{ended}");
    assert_eq!(harness.requests_sent(), files.len(), "each was asked for");
    let hosts: i64 = harness.database.raw.query_one("SELECT count(*) FROM hosts", &[]).await.unwrap().get(0);
    assert_eq!(hosts, 0);
    let states: Vec<_> = harness.items().await.into_iter().map(|item| (item.state, item.last_error)).collect();
    assert!(states.iter().all(|(state, _)| *state == Word::Known(ItemState::Refused)), "{states:?}");
}

#[tokio::test]
async fn a_person_that_always_fails_keeps_no_other_one_waiting() {
    let harness = MediaHarness::start().await;
    harness.watch_people([4711, PERSON]).await;
    harness.site.add_fault("/3/person/4711/combined_credits", MediaFault::new(MediaFaultKind::Status(503)));
    let ended = harness.settle(Role::AppearancesSync, json!({})).await.result;
    assert_eq!((&ended["people"], &ended["failed"]), (&json!(2), &json!(1)), "{ended}");
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_has_failed() {
    // a port that no server has
    let harness = MediaHarness::facing_limits(&[("media.youtube_url", "http://localhost:1")]).await;
    harness.watch_channel(CHANNEL).await;
    assert!(matches!(harness.run(Role::YoutubeMonitor, json!({})).await, Err(TaskError::Retry { .. })));
    assert_eq!(harness.host("localhost").await.failures, 1);
}

#[tokio::test]
async fn feeds_are_read_at_the_rate_of_their_host() {
    let harness = MediaHarness::facing_limits(&[("politeness.requests_per_second", "10")]).await;
    harness.watch_unknown_channels(9).await;
    let took = harness.time_of(Role::YoutubeMonitor).await;
    assert_eq!(harness.requests_sent(), 9);
    assert!(took >= 0.8, "9 requests at 10 a second took {took} s");
}

#[tokio::test]
async fn tmdb_is_asked_four_times_a_second_whatever_the_rate_of_hosts() {
    let harness = MediaHarness::start().await;
    harness.watch_people([PERSON, 4711, 4712, 4713]).await;
    let took = harness.time_of(Role::AppearancesSync).await;
    assert_eq!(harness.requests_sent(), 4);
    assert!(took >= 0.75, "4 requests took {took} s");
}

#[tokio::test]
async fn a_forum_is_asked_once_in_its_interval_whatever_the_rate_of_hosts() {
    let settings = [("media.forum_interval", "300ms"), ("politeness.requests_per_second", "100")];
    let harness = MediaHarness::facing_limits(&settings).await;
    harness.watch_thread().await;
    let took = harness.time_of(Role::ForumScrape).await;
    let pages = harness.requests_sent();
    assert!(pages >= 3 && took >= 0.3 * (pages - 1) as f64, "{pages} pages took {took} s");
}

#[rstest]
#[case::channels(Role::YoutubeMonitor, "/feeds/videos.xml")]
#[case::searches(Role::EasynewsMonitor, "/2.0/search/solr-search/advanced")]
#[case::people(Role::AppearancesSync, "/3/person/42/combined_credits")]
#[tokio::test]
async fn a_service_that_asks_to_wait_is_left_alone_and_the_job_waits(
    #[case] role: Role,
    #[case] path: &str,
    #[values(429, 503)] status: u16,
) {
    let harness = MediaHarness::start().await;
    harness.watch_channel(CHANNEL).await;
    harness.watch_search().await;
    harness.watch_people([PERSON]).await;
    let retry_after = Some(Duration::from_secs(120));
    harness.site.add_fault(path, MediaFault::new(MediaFaultKind::Later { status, retry_after }).times(1));
    assert_eq!(snooze(harness.run(role, json!({})).await), (retry_after, None));
    assert_eq!((harness.requests_sent(), harness.host(HOST).await.throttles), (1, 1));

    let (after, _) = snooze(harness.run(role, json!({})).await);
    assert!(after.is_some_and(|after| after > Duration::from_secs(60)), "{after:?}");
    assert_eq!(harness.requests_sent(), 1, "its host is held for all jobs");

    harness.end_hold(HOST).await;
    assert_eq!(harness.settle(role, json!({})).await.result["failed"], 0);
}

#[tokio::test]
async fn what_came_before_a_wait_is_kept_and_what_did_not_is_no_failure() {
    let harness = MediaHarness::start().await;
    harness.watch_people([PERSON, 4711]).await;
    let later = MediaFaultKind::Later { status: 429, retry_after: Some(Duration::from_secs(120)) };
    harness.site.add_fault("/3/person/4711/combined_credits", MediaFault::new(later));
    snooze(harness.run(Role::AppearancesSync, json!({})).await);
    let sql = "SELECT p.tmdb_id, p.last_error IS NULL, count(a.credit_id)::bigint FROM people p
                 LEFT JOIN appearances a ON a.person_id = p.id GROUP BY p.id ORDER BY p.id";
    let rows = harness.database.raw.query(sql, &[]).await.unwrap();
    let people: Vec<(i64, bool, i64)> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let person = harness.site.person(PERSON).unwrap();
    let credits = (person.cast.len() + person.crew.len()) as i64;
    assert_eq!(people, [(PERSON, true, credits), (4711, true, 0)]);
}
