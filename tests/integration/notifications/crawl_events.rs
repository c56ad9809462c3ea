//! Events of the crawl: which are noted, and how they become notifications.

use db::tasks::{AttemptOutcome, NewTask, Settlement};
use domain::task::TaskId;
use domain::task::role::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::queue::{Queue, analytics, fetch, refresh};

/// Statement that makes a digest of an hour due.
const AN_HOUR_LATER: &str = "UPDATE notification_rules SET digested_at = digested_at - interval '1 hour'";
const ALL: &str = "{crawl.failed,store.blind,quality.found,proxies.unusable,pause.long}";

impl Queue {
    /// An endpoint with the id 1, and a rule of it with the id 1.
    async fn crawl_rule(&self, events: &str, digest: &str, platform: &str) {
        self.sql(&format!(
            "INSERT INTO notification_endpoints (id, name, kind, target) VALUES (1, 'phone', 'ntfy', 'https://ntfy.example/a');
             INSERT INTO notification_rules (id, endpoint_id, events, digest, platform) VALUES (1, 1, '{events}', '{digest}', {platform})"
        ))
        .await;
    }

    async fn fail(&self, task: NewTask) -> TaskId {
        let id = self.add(task.clone()).await;
        let claimed = self.claim(&[task.role], 1).await.pop().unwrap();
        let failure = Settlement::new(AttemptOutcome::Permanent, Some("refused".to_owned()));
        self.settle(&claimed, &failure).await.unwrap();
        id
    }

    /// Event and body of each notification, after a sweep.
    async fn notified(&self) -> Vec<(String, Value)> {
        self.sweep_all().await;
        let rows = self.database.raw.query("SELECT event, body FROM notifications ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    async fn count_of(&self, event: &str) -> usize {
        self.notified().await.iter().filter(|(of, _)| of == event).count()
    }

    async fn look(&self) {
        let client = self.client().await;
        db::stores::quality::look(&client).await.unwrap();
        db::stores::quality::note_faults(&client).await.unwrap();
    }
}

#[rstest]
#[case::of_a_store(fetch(1), json!(1))]
#[case::of_a_refresh(refresh(1), json!(1))]
#[case::of_no_store(analytics(), Value::Null)]
#[tokio::test]
async fn a_failed_crawl_is_notified_with_its_store_and_reason(#[case] task: NewTask, #[case] store: Value) {
    let queue = Queue::new().await;
    queue.stores(1).await;
    queue.crawl_rule(ALL, "none", "NULL").await;
    let id = queue.fail(task.clone()).await;
    let [(event, body)] = &queue.notified().await[..] else { panic!("one notification") };
    assert_eq!((event.as_str(), &body["count"], &body["is_cut"]), ("crawl.failed", &json!(1), &json!(false)));
    let failed = &body["events"][0];
    let expected = (&json!(id), &json!(task.role.name()), &store, &json!("refused"));
    assert_eq!((&failed["task_id"], &failed["role"], &failed["store_id"], &failed["detail"]), expected);
    assert!(failed["at"].is_string(), "{failed}");
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE role = 'notify' AND ready").await, 1);
}

#[rstest]
#[case::no_rule(
    "INSERT INTO notification_endpoints (name, kind, target) VALUES ('phone', 'ntfy', 'https://ntfy.example/a')"
)]
#[case::a_rule_of_jobs("UPDATE notification_rules SET events = '{job.failed}'")]
#[case::a_disabled_endpoint("UPDATE notification_endpoints SET enabled = false")]
#[case::another_platform("UPDATE notification_rules SET platform = 'elsewhere'")]
#[tokio::test]
async fn an_event_that_no_rule_asks_for_leaves_no_row(#[case] change: &str) {
    let queue = Queue::new().await;
    queue.stores(1).await;
    if change.starts_with("UPDATE") {
        queue.crawl_rule(ALL, "none", "NULL").await;
    }
    queue.sql(change).await;
    queue.fail(fetch(1)).await;
    queue.look().await;
    assert_eq!(queue.notified().await, []);
    assert_eq!(queue.number("SELECT count(*) FROM crawl_events").await, 0);
}

#[rstest]
#[case::a_retry(AttemptOutcome::Failed)]
#[case::a_wait(AttemptOutcome::Snoozed)]
#[case::a_cancel(AttemptOutcome::Cancelled)]
#[case::a_success(AttemptOutcome::Completed)]
#[tokio::test]
async fn a_crawl_that_did_not_fail_for_good_is_no_event(#[case] how: AttemptOutcome) {
    let queue = Queue::new().await;
    queue.stores(1).await;
    queue.crawl_rule(ALL, "none", "NULL").await;
    queue.add(fetch(1)).await;
    let claimed = queue.claim(&[Role::PayloadFetch], 1).await.pop().unwrap();
    queue.settle(&claimed, &Settlement::new(how, None)).await.unwrap();
    assert_eq!(queue.notified().await, []);
}

#[tokio::test]
async fn many_failures_at_once_are_one_notification_within_its_limit() {
    let queue = Queue::new().await;
    queue.stores(1).await;
    queue.crawl_rule(ALL, "none", "NULL").await;
    queue.sql("UPDATE dispensaries SET name = repeat(chr(1), 300)").await;
    for _ in 0..40 {
        queue.fail(fetch(1)).await;
    }
    let [(_, body)] = &queue.notified().await[..] else { panic!("one notification") };
    assert_eq!((&body["count"], &body["is_cut"]), (&json!(40), &json!(true)));
    assert!(body["events"].as_array().is_some_and(|events| !events.is_empty()), "{body}");
    assert_eq!(queue.number("SELECT count(*) FROM crawl_events").await, 0);
}

#[tokio::test]
async fn a_digest_sends_the_first_event_at_once_and_later_ones_together() {
    let queue = Queue::new().await;
    queue.stores(1).await;
    queue.crawl_rule(ALL, "hourly", "NULL").await;
    queue.fail(fetch(1)).await;
    assert_eq!(queue.count_of("crawl.failed").await, 1);
    for _ in 0..3 {
        queue.fail(fetch(1)).await;
    }
    assert_eq!(queue.count_of("crawl.failed").await, 1);
    queue.sql(AN_HOUR_LATER).await;
    let notified = queue.notified().await;
    assert_eq!((notified.len(), &notified[1].1["count"]), (2, &json!(3)));
}

#[tokio::test]
async fn a_blind_store_and_other_findings_are_events_when_they_begin() {
    let queue = Queue::new().await;
    queue.stores(2).await;
    queue.crawl_rule(ALL, "none", "NULL").await;
    queue.sql("INSERT INTO quality_findings (dispensary_id, kind, detail) VALUES (1, 'blind_store', 'never crawled'), (2, 'empty_prices', 'half')").await;
    let again = "INSERT INTO quality_findings (dispensary_id, kind, detail) VALUES (1, 'blind_store', 'still')
                 ON CONFLICT (dispensary_id, kind) DO UPDATE SET detail = excluded.detail";
    queue.sql(again).await;
    let notified = queue.notified().await;
    let events: Vec<(&str, &Value)> =
        notified.iter().map(|(event, body)| (event.as_str(), &body["events"][0]["kind"])).collect();
    assert_eq!(events, [("store.blind", &json!("blind_store")), ("quality.found", &json!("empty_prices"))]);
}

const PROXY: &str = "INSERT INTO proxies (host, port, protocol) VALUES ('203.0.113.1', 8080, 'http')";
const MINUTE_LATER: &str = "UPDATE crawl_conditions SET since = since - interval '1 minute'";

#[tokio::test]
async fn unusable_proxies_are_an_event_once_they_have_been_for_a_minute_and_again_the_next_time() {
    let queue = Queue::new().await;
    queue.stores(1).await;
    queue.sql("UPDATE dispensaries SET crawl_enabled = true").await;
    queue.crawl_rule(ALL, "none", "NULL").await;
    let bench = "UPDATE proxies SET is_active = false, cooldown_until = now() + interval '1 hour'";
    let unbench = "UPDATE proxies SET is_active = true, cooldown_until = NULL";
    queue.sql(PROXY).await;
    queue.look().await;
    assert_eq!(queue.number("SELECT count(*) FROM crawl_conditions").await, 0, "a proxy is usable");
    for nth in 1..=2 {
        queue.sql(bench).await;
        queue.look().await;
        assert_eq!(queue.count_of("proxies.unusable").await, nth - 1, "it may be a moment");
        queue.sql(MINUTE_LATER).await;
        queue.look().await;
        queue.look().await;
        assert_eq!(queue.count_of("proxies.unusable").await, nth);
        queue.sql(unbench).await;
        queue.look().await;
    }
}

#[tokio::test]
async fn a_pause_is_an_event_once_it_has_lasted_four_hours() {
    let queue = Queue::new().await;
    queue.crawl_rule(ALL, "none", "NULL").await;
    queue
        .sql(
            "INSERT INTO pauses (scope, target, reason, created_by) VALUES ('role', 'payload_fetch', 'parsers', 'ann')",
        )
        .await;
    queue.look().await;
    assert_eq!(queue.count_of("pause.long").await, 0);
    queue.sql("UPDATE pauses SET created_at = created_at - interval '4 hours'").await;
    queue.look().await;
    queue.look().await;
    let notified = queue.notified().await;
    let [(event, body)] = &notified[..] else { panic!("one notification: {notified:?}") };
    let pause = &body["events"][0];
    assert_eq!(
        (event.as_str(), &pause["target"], &pause["by"]),
        ("pause.long", &json!("payload_fetch"), &json!("ann"))
    );
}
