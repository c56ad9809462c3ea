//! Schedules: one generation for each due time, no drift, no growing backlog, and an operator's decision is
//! kept.

use chrono::{DateTime, Utc};
use contract::schedules::Run;
use db::schedules::{self, ScheduleError};
use domain::vocabulary::Word;
use foundation::clock::Clock;
use serde_json::json;

use super::*;

const ALL: &str = "payload_fetch_all";

impl Queue {
    /// Stores, and the default schedules, none of them due.
    async fn with_schedules(stores: i32) -> Queue {
        let queue = Queue::new().await;
        queue.stores(stores).await;
        schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
        queue.sql("UPDATE task_schedules SET next_run_at = now() + interval '1 hour'").await;
        queue
    }

    /// The schedule was created `minutes_after_creation` minutes before its last due time, which was
    /// `minutes_ago` minutes ago.
    async fn due_since(&self, minutes_after_creation: i32, minutes_ago: i32) {
        let created = minutes_after_creation + minutes_ago;
        self.sql(&format!(
            "UPDATE task_schedules SET created_at = now() - interval '{created} minutes', next_run_at = now() - interval '{minutes_ago} minutes' WHERE name = '{ALL}'"
        ))
        .await;
    }

    async fn run_due(&self) -> Option<Run> {
        schedules::run_due(&self.database.db).await.unwrap()
    }

    /// Runs the schedule now.
    pub async fn trigger_schedule(&self, name: &str) -> Run {
        let id = self.number(&format!("SELECT id FROM task_schedules WHERE name = '{name}'")).await;
        let tx = self.database.db.begin().await.unwrap();
        let run = schedules::trigger(&tx, id).await.unwrap();
        tx.commit().await.unwrap();
        run
    }

    async fn trigger(&self) -> Run {
        self.trigger_schedule(ALL).await
    }

    async fn next_run(&self) -> DateTime<Utc> {
        let sql = "SELECT next_run_at FROM task_schedules WHERE name = $1";
        self.database.raw.query_one(sql, &[&ALL]).await.unwrap().get(0)
    }

    async fn tasks(&self) -> i64 {
        self.number("SELECT count(*) FROM worker_tasks").await
    }

    async fn runs(&self) -> i64 {
        self.number("SELECT count(*) FROM schedule_runs").await
    }
}

#[tokio::test]
async fn the_analytics_run_early_and_three_times_after_the_first_crawl() {
    let queue = Queue::with_schedules(1).await;
    let hastened = async || {
        schedules::hasten_analytics(&queue.client().await).await.unwrap();
        let run = queue.run_due().await;
        // a run as long ago as the crawls are made to be
        queue.sql("UPDATE worker_tasks SET status = 'cancelled'").await;
        run.map(|run| run.schedule)
    };
    queue.sql("UPDATE task_schedules SET last_run_at = now() - interval '2 hours'").await;
    assert_eq!(hastened().await, None, "there is no product yet");
    queue
        .sql(
            "INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock,
                                         stock_status, first_seen_at, last_seen_at)
             SELECT id, 'dutchie', 'p', 'p', false, false, true, 'in_stock', now(), now() FROM dispensaries",
        )
        .await;
    assert_eq!(hastened().await, None, "the first crawls have only begun");
    for minutes in [2, 11, 61] {
        let seen = format!("UPDATE store_products SET first_seen_at = now() - interval '{minutes} minutes'");
        queue.sql(&seen).await;
        queue.sql("UPDATE task_schedules SET last_run_at = now() - interval '2 minutes 1 second'").await;
        assert_eq!(hastened().await.as_deref(), Some("analytics_refresh"), "after {minutes} minutes");
        assert_eq!(hastened().await, None, "once is enough after {minutes} minutes");
        let listed = schedules::list(&queue.client().await).await.unwrap();
        let notes: Vec<_> =
            listed.iter().filter_map(|schedule| Some((&*schedule.name, schedule.last_note.as_deref()?))).collect();
        let [("analytics_refresh", note)] = notes[..] else { panic!("{notes:?}") };
        assert!(note.contains("ahead of schedule"), "{note}");
    }
}

#[tokio::test]
async fn the_defaults_are_there_and_due_at_once() {
    let queue = Queue::new().await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    let found = schedules::list(&queue.client().await).await.unwrap();
    let named: Vec<_> = found.iter().map(|s| (s.name.as_str(), s.role.clone(), s.interval_hours, s.priority)).collect();
    assert_eq!(
        named,
        [
            ("analytics_refresh", Word::Known(Role::AnalyticsRefresh), Some(6.0), 0),
            (ALL, Word::Known(Role::PayloadFetch), Some(4.0), 0),
            ("store_discovery_dutchie", Word::Known(Role::StoreDiscovery), Some(24.0), 5)
        ]
    );
    assert!(found.iter().all(|schedule| schedule.next_run_at.unwrap() <= Clock::system().utc()));
}

#[tokio::test]
async fn an_operators_change_is_not_overwritten() {
    let queue = Queue::with_schedules(0).await;
    queue.sql(&format!("UPDATE task_schedules SET interval_hours = 12, enabled = false WHERE name = '{ALL}'")).await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    let found = schedules::list(&queue.client().await).await.unwrap();
    let mine = found.iter().find(|schedule| schedule.name == ALL).unwrap();
    assert_eq!((mine.interval_hours, mine.enabled), (Some(12.0), false));
}

#[tokio::test]
async fn the_older_name_is_renamed_and_keeps_its_settings() {
    let queue = Queue::new().await;
    queue.sql("INSERT INTO task_schedules (name, role, interval_hours) VALUES ('product_refresh_all', 'product_resync', 8)").await;
    schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    let found = schedules::list(&queue.client().await).await.unwrap();
    assert_eq!(found.len(), 3);
    let renamed = found.iter().find(|schedule| schedule.name == ALL).unwrap();
    assert_eq!((renamed.interval_hours, &renamed.role), (Some(8.0), &Word::Known(Role::PayloadFetch)));
}

#[tokio::test]
async fn a_due_schedule_makes_a_task_for_each_crawlable_store() {
    let queue = Queue::with_schedules(5).await;
    queue.sql("UPDATE dispensaries SET crawl_enabled = false WHERE name = 'Store 5'").await;
    queue.due_since(240, 0).await;
    let run = queue.run_due().await.unwrap();
    assert_eq!((run.schedule.as_str(), run.tasks, run.already_made), (ALL, 4, false));
    assert_eq!(queue.run_due().await, None);
    assert_eq!(queue.claim_all().await.len(), 4);
    let written = "SELECT count(*) FROM worker_tasks t JOIN task_schedules s ON s.id = t.schedule_id WHERE s.last_task_count = 4 AND s.last_error IS NULL";
    assert_eq!(queue.number(written).await, 4);
}

#[tokio::test]
async fn eight_replicas_make_one_generation_of_a_due_time() {
    let queue = Queue::with_schedules(20).await;
    queue.due_since(240, 0).await;
    let dbs: Vec<_> = (0..8)
        .map(|_| {
            let sizes = db::PoolSizes { work: 1, api: 1 };
            db::Db::new(&queue.database.url, &testkit::database_settings(), sizes).unwrap()
        })
        .collect();
    let runs = futures_util::future::join_all(dbs.iter().map(schedules::run_due)).await;
    let made: Vec<Run> = runs.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(made.len(), 1);
    assert_eq!((queue.tasks().await, queue.runs().await), (20, 1));
}

#[tokio::test]
async fn the_grid_does_not_drift_when_a_run_is_late() {
    let queue = Queue::with_schedules(1).await;
    queue.due_since(240, 17).await;
    let due = queue.next_run().await;
    queue.run_due().await.unwrap();
    assert_eq!(queue.next_run().await - due, chrono::TimeDelta::hours(4));
}

#[tokio::test]
async fn missed_due_times_coalesce_into_one_run() {
    let queue = Queue::with_schedules(3).await;
    queue.due_since(240, 3 * 24 * 60 + 1).await;
    let due = queue.next_run().await;
    assert!(queue.run_due().await.is_some());
    assert_eq!(queue.run_due().await, None);
    assert_eq!((queue.tasks().await, queue.runs().await), (3, 1));
    assert_eq!(queue.next_run().await - due, chrono::TimeDelta::hours(3 * 24 + 4));
}

#[tokio::test]
async fn a_cycle_longer_than_its_interval_grows_no_backlog() {
    let queue = Queue::with_schedules(4).await;
    for round in 1..=3 {
        queue.due_since(240 * round, 0).await;
        queue.run_due().await.unwrap();
    }
    assert_eq!((queue.tasks().await, queue.runs().await), (4, 3));
}

#[tokio::test]
async fn a_role_without_stores_has_one_open_task() {
    let queue = Queue::with_schedules(4).await;
    for _ in 0..2 {
        queue.sql("UPDATE task_schedules SET next_run_at = now() WHERE name = 'analytics_refresh'").await;
        queue.run_due().await.unwrap();
    }
    assert_eq!(queue.tasks().await, 1);
}

#[tokio::test]
async fn a_trigger_repeated_within_ten_seconds_answers_the_same_run() {
    let queue = Queue::with_schedules(4).await;
    let first = queue.trigger().await;
    assert_eq!((first.tasks, first.already_made), (4, false));
    let again = queue.trigger().await;
    assert_eq!((again.due_at, again.tasks, again.already_made), (first.due_at, 4, true));
    queue.sql("UPDATE schedule_runs SET created_at = now() - interval '11 seconds'").await;
    let later = queue.trigger().await;
    assert!(!later.already_made && later.due_at != first.due_at);
}

#[tokio::test]
async fn triggers_at_the_same_moment_make_one_run() {
    let queue = Queue::with_schedules(4).await;
    let runs = futures_util::future::join_all((0..6).map(|_| queue.trigger())).await;
    assert_eq!(runs.iter().filter(|run| !run.already_made).count(), 1);
    assert!(runs.iter().all(|run| run.tasks == 4));
}

#[tokio::test]
async fn a_schedule_that_is_switched_off_runs_only_by_hand() {
    let queue = Queue::with_schedules(2).await;
    queue.due_since(240, 0).await;
    queue.sql("UPDATE task_schedules SET enabled = false").await;
    assert_eq!(queue.run_due().await, None);
    assert_eq!(queue.trigger().await.tasks, 2);
}

#[tokio::test]
async fn a_due_time_that_was_run_already_keeps_its_count() {
    let queue = Queue::with_schedules(3).await;
    queue.due_since(240, 0).await;
    let due_at = queue.next_run().await;
    queue.run_due().await.unwrap();
    queue.sql("UPDATE worker_tasks SET status = 'cancelled'").await;
    let run = schedules::run_for(&queue.database.db, ALL, due_at).await.unwrap();
    assert_eq!((run.tasks, run.already_made), (3, true));
    let counted = format!("SELECT last_task_count::bigint FROM task_schedules WHERE name = '{ALL}'");
    assert_eq!((queue.number(&counted).await, queue.tasks().await), (3, 3));
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_says_why_and_holds_up_no_other() {
    let queue = Queue::with_schedules(2).await;
    queue.due_since(240, 0).await;
    queue.sql("INSERT INTO task_schedules (name, role, cron, next_run_at) VALUES ('mine', 'payload_fetch', 'now and then', now() - interval '1 day')").await;
    let broken = queue.run_due().await.unwrap();
    assert!(broken.fault.unwrap().contains("now and then"));
    assert!(!broken.already_made, "nothing was made of it");
    assert_eq!(queue.run_due().await.unwrap().tasks, 2);
    let found = schedules::list(&queue.client().await).await.unwrap();
    let mine = found.iter().find(|schedule| schedule.name == "mine").unwrap();
    assert!(mine.last_error.as_ref().unwrap().contains("now and then"));
}

#[tokio::test]
async fn a_schedule_of_an_unknown_role_is_tried_once_an_hour_however_often_it_should_run() {
    let queue = Queue::with_schedules(0).await;
    queue.sql("INSERT INTO task_schedules (name, role, cron) VALUES ('mine', 'unknown', '* * * * * *')").await;
    assert!(queue.run_due().await.unwrap().fault.unwrap().contains("unknown"));
    assert_eq!(queue.run_due().await, None);
    let put_off =
        "SELECT count(*) FROM task_schedules WHERE name = 'mine' AND next_run_at > now() + interval '50 minutes'";
    assert_eq!(queue.number(put_off).await, 1);
}

#[tokio::test]
async fn two_schedules_of_one_role_make_one_task_a_store() {
    let queue = Queue::with_schedules(10).await;
    queue.sql("INSERT INTO task_schedules (name, role, interval_hours) VALUES ('second', 'payload_fetch', 4)").await;
    queue.due_since(240, 0).await;
    let both = tokio::join!(queue.run_due(), queue.run_due());
    assert!(both.0.is_some() && both.1.is_some());
    assert_eq!(queue.tasks().await, 10);
}

#[tokio::test]
async fn a_state_and_a_platform_narrow_a_schedule() {
    let queue = Queue::with_schedules(3).await;
    queue.sql("UPDATE dispensaries SET state = 'AZ' WHERE name = 'Store 2'").await;
    queue.sql(&format!("UPDATE task_schedules SET state_code = 'AZ', platform = 'dutchie' WHERE name = '{ALL}'")).await;
    assert_eq!(queue.trigger().await.tasks, 1);
    queue.sql("UPDATE task_schedules SET state_code = 'AZ' WHERE name = 'store_discovery_dutchie'").await;
    queue.trigger_schedule("store_discovery_dutchie").await;
    let args = "SELECT payload FROM worker_tasks WHERE role = 'store_discovery'";
    let args: serde_json::Value = queue.database.raw.query_one(args, &[]).await.unwrap().get(0);
    assert_eq!(args, json!({"state_code": "AZ"}));
}

#[tokio::test]
async fn an_unknown_schedule_is_missing() {
    let queue = Queue::new().await;
    let tx = queue.database.db.begin().await.unwrap();
    assert!(matches!(schedules::trigger(&tx, 4711).await, Err(ScheduleError::Missing(4711))));
    assert!(matches!(
        schedules::run_for(&queue.database.db, "unknown", Clock::system().utc()).await,
        Err(DbError::Missing(_))
    ));
}

#[tokio::test]
async fn a_schedule_that_fails_says_why_and_holds_up_no_other() {
    let queue = Queue::with_schedules(1).await;
    queue
        .sql("UPDATE task_schedules SET next_run_at = now() - interval '1 hour' WHERE name = 'analytics_refresh'")
        .await;
    queue.due_since(240, 0).await;
    // another session runs a schedule for the same work, and does not commit
    queue.sql("BEGIN; SELECT lock_generation('analytics_refresh {}')").await;
    let (first, second) = (queue.run_due().await.unwrap(), queue.run_due().await.unwrap());
    assert_eq!((first.schedule.as_str(), second.schedule.as_str()), ("analytics_refresh", ALL));
    assert!(first.fault.unwrap().contains("under way"));
    assert_eq!((second.tasks, second.fault), (1, None));
    assert_eq!(queue.run_due().await, None, "it is not tried again at once");
    queue.sql("COMMIT").await;
    let error = "SELECT count(*) FROM task_schedules WHERE last_error LIKE '%under way%'";
    assert_eq!(queue.number(error).await, 1);
    queue
        .sql("UPDATE task_schedules SET last_attempt_at = now() - interval '1 minute' WHERE last_error IS NOT NULL")
        .await;
    let again = queue.run_due().await.unwrap();
    assert_eq!((again.schedule.as_str(), again.tasks, again.fault), ("analytics_refresh", 1, None));
    assert_eq!(queue.number(error).await, 0);
}

#[tokio::test]
async fn a_shorter_interval_set_by_hand_counts_from_the_next_round() {
    let queue = Queue::with_schedules(0).await;
    queue
        .sql(&format!(
            "UPDATE task_schedules SET created_at = now() - interval '30 minutes', next_run_at = now() + interval '20 hours' WHERE name = '{ALL}'"
        ))
        .await;
    queue.sql(&format!("UPDATE task_schedules SET interval_hours = 1 WHERE name = '{ALL}'")).await;
    assert_eq!(queue.run_due().await, None);
    let wait = queue.next_run().await - Clock::system().utc();
    assert!((25..=30).contains(&wait.num_minutes()), "{wait}");
}

#[tokio::test]
async fn a_next_run_years_ahead_is_brought_near() {
    let queue = Queue::with_schedules(0).await;
    queue.sql(&format!("UPDATE task_schedules SET next_run_at = '2099-01-01' WHERE name = '{ALL}'")).await;
    assert_eq!(queue.run_due().await, None);
    let wait = queue.next_run().await - Clock::system().utc();
    assert!(wait <= chrono::TimeDelta::hours(4), "{wait}");
}

#[tokio::test]
async fn a_run_whose_commit_went_unanswered_is_not_noted_as_failed() {
    let queue = Queue::with_schedules(2).await;
    queue.due_since(240, 0).await;
    let network = testkit::FaultProxy::start(&queue.database.url).await;
    let sizes = db::PoolSizes { work: 1, api: 1 };
    let db = db::Db::new(&network.url(), &testkit::database_settings(), sizes).unwrap();
    network.lose_answer_with("COMMIT");
    let run = schedules::run_due(&db).await.unwrap().unwrap();
    assert!(run.fault.is_some() && network.lost_answers() == 1, "{run:?}");
    assert_eq!(queue.tasks().await, 2);
    assert_eq!(queue.number("SELECT count(*) FROM task_schedules WHERE last_error IS NOT NULL").await, 0);
}
