//! Tasks that do the same work, and the result of a schedule, a day's crawls or a request that meets an open
//! one.

use chrono::TimeDelta;
use contract::generation::{StateRequest, StateTasks};
use contract::schedules::Run;
use db::{Db, PoolSizes, schedules, tasks};
use domain::schedule::skipped::Skipped;
use foundation::clock::Clock;
use rstest::rstest;
use serde_json::json;

use super::*;

impl Queue {
    /// Schedules that are due, as people write them; each tuple is (name, role, platform, account, state,
    /// args).
    async fn due_schedules(&self, tuples: &str) {
        self.sql(&format!(
            "INSERT INTO task_schedules (name, role, platform, account, state_code, args, interval_hours, next_run_at) \
             SELECT *, 24, now() FROM (VALUES {tuples}) AS s (name, role, platform, account, state_code, args)"
        ))
        .await;
    }

    /// Runs made by several processes that look for due schedules at the same time.
    async fn run_by_schedulers(&self, count: usize) -> Vec<Run> {
        let run_all = async || {
            let sizes = PoolSizes { work: 1, api: 1 };
            let db = Db::new(&self.database.url, &testkit::database_settings(), sizes).unwrap();
            let mut runs = Vec::new();
            while let Some(run) = schedules::run_due(&db).await.unwrap() {
                runs.push(run);
            }
            runs
        };
        futures_util::future::join_all((0..count).map(|_| run_all())).await.concat()
    }

    async fn crawl_again(&self) -> Run {
        self.sql("UPDATE task_schedules SET next_run_at = now() WHERE name = 'crawl'").await;
        self.sql("DELETE FROM schedule_runs").await;
        schedules::run_due(&self.database.db).await.unwrap().unwrap()
    }

    async fn four_hourly(&self) {
        self.sql(
            "INSERT INTO task_schedules (name, role, interval_hours, next_run_at) VALUES ('crawl', 'payload_fetch', 4, now())",
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn schedules_for_other_states_platforms_and_accounts_each_make_their_task() {
    let queue = Queue::new().await;
    queue
        .due_schedules(
            "('disc_AZ', 'store_discovery', 'dutchie', NULL, 'AZ', '{}'::jsonb), \
             ('disc_CA', 'store_discovery', 'dutchie', NULL, 'CA', '{}'), \
             ('disc_plus', 'store_discovery', 'dutchie_plus', NULL, NULL, '{}'), \
             ('ig_a', 'scrape_account', 'instagram', 'a', NULL, '{\"posts\": 5}'), \
             ('ig_b', 'scrape_account', 'instagram', 'b', NULL, '{\"posts\": 5}')",
        )
        .await;
    let runs = queue.run_by_schedulers(3).await;
    assert!(runs.iter().all(|run| run.fault.is_none()), "{runs:?}");
    let made = queue
        .database
        .raw
        .query_one(
            "SELECT jsonb_agg(concat_ws(' ', s.name, t.role, t.platform, t.account, t.payload) ORDER BY s.name) \
               FROM worker_tasks t JOIN task_schedules s ON s.id = t.schedule_id",
            &[],
        )
        .await
        .unwrap();
    assert_eq!(
        made.get::<_, Value>(0),
        json!([
            r#"disc_AZ store_discovery dutchie {"state_code": "AZ"}"#,
            r#"disc_CA store_discovery dutchie {"state_code": "CA"}"#,
            "disc_plus store_discovery dutchie_plus {}",
            r#"ig_a scrape_account instagram a {"posts": 5}"#,
            r#"ig_b scrape_account instagram b {"posts": 5}"#,
        ])
    );
    queue.sql("UPDATE task_schedules SET next_run_at = now()").await;
    assert!(queue.run_by_schedulers(3).await.iter().all(|run| run.tasks == 0));
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 5, "none has a second one");
}

#[tokio::test]
async fn a_task_of_tomorrow_does_not_take_its_store_out_of_todays_crawls() {
    let queue = Queue::new().await;
    queue.stores(12).await;
    queue.four_hourly().await;
    queue.sql("SELECT generate_resync_tasks(6, (now() AT TIME ZONE 'UTC')::date + 1)").await;
    let due_later =
        queue.number("SELECT count(*) FROM worker_tasks WHERE scheduled_for > now() + interval '4 hours'").await;
    assert_eq!(i64::from(queue.crawl_again().await.tasks), due_later);
    assert_eq!(queue.crawl_again().await.tasks, 0, "its own tasks are open");
}

#[tokio::test]
async fn a_task_due_before_the_next_run_keeps_its_store_out() {
    let queue = Queue::new().await;
    let stores = queue.stores(3).await;
    queue.four_hourly().await;
    for (store, hours) in [(stores[0], 3), (stores[1], 5)] {
        queue
            .sql(&format!(
                "INSERT INTO worker_tasks (role, dispensary_id, scheduled_for) VALUES ('payload_fetch', {store}, now() + interval '{hours} hours')"
            ))
            .await;
    }
    assert_eq!(queue.crawl_again().await.tasks, 2);
    let made =
        format!("SELECT count(*) FROM worker_tasks WHERE dispensary_id = {} AND scheduled_for IS NULL", stores[0]);
    assert_eq!(queue.number(&made).await, 0);
}

#[tokio::test]
async fn a_days_crawls_are_made_whatever_is_due_on_another_day() {
    let queue = Queue::new().await;
    let stores = queue.stores(4).await;
    queue.add(fetch(stores[0])).await;
    let tomorrow = "SELECT generate_resync_tasks(6, (now() AT TIME ZONE 'UTC')::date + 1)::bigint";
    assert_eq!(queue.number(tomorrow).await, 4);
    assert_eq!(queue.number(tomorrow).await, 0);
    assert_eq!(queue.number("SELECT generate_resync_tasks(6, '2025-01-10')::bigint").await, 3, "one is due now");
}

#[tokio::test]
async fn a_run_counts_what_it_skips_by_reason_and_says_why_it_made_nothing() {
    let queue = Queue::new().await;
    let stores = queue.stores(7).await;
    queue.four_hourly().await;
    queue.sql("INSERT INTO task_schedules (name, role, interval_hours, group_name, next_run_at) VALUES ('rivals', 'payload_fetch', 1, 'rivals', 'infinity')").await;
    queue.sql(&format!("UPDATE dispensaries SET groups = '{{rivals}}' WHERE id = {}", stores[0])).await;
    queue.sql(&format!("UPDATE dispensaries SET crawl_enabled = false WHERE id = {}", stores[1])).await;
    queue
        .sql(&format!(
            "UPDATE dispensaries SET platform_dispensary_id = NULL WHERE id IN ({}, {})",
            stores[2], stores[3]
        ))
        .await;
    let run = queue.crawl_again().await;
    assert_eq!((run.tasks, run.note), (3, None));
    assert_eq!(run.skipped, Skipped { open_task: 0, own_group: 1, disabled: 1, no_platform_id: 2 });
    let run = queue.crawl_again().await;
    assert_eq!(run.skipped, Skipped { open_task: 3, own_group: 1, disabled: 1, no_platform_id: 2 });
    let schedules = schedules::list(&queue.client().await).await.unwrap();
    let crawl = schedules.iter().find(|schedule| schedule.name == "crawl").unwrap();
    assert_eq!((crawl.last_skipped, &crawl.last_note), (run.skipped, &run.note));
    assert!(run.note.unwrap().starts_with("3 stores with such a task queued or running already, 1 store"));
}

#[tokio::test]
async fn a_schedule_for_a_group_without_stores_says_so_on_every_run() {
    let queue = Queue::new().await;
    queue.stores(2).await;
    queue.sql("INSERT INTO task_schedules (name, role, interval_hours, group_name, next_run_at) VALUES ('crawl', 'payload_fetch', 1, 'nobody', now())").await;
    assert_eq!(queue.crawl_again().await.note.as_deref(), Some("no store is in its platform, state and group"));
}

#[rstest]
#[case::of_a_request(None)]
#[case::of_a_schedule(Some("UPDATE worker_tasks SET dedup_key = NULL"))]
#[case::of_tomorrow(Some("UPDATE worker_tasks SET dedup_key = NULL, scheduled_for = now() + interval '1 day'"))]
#[tokio::test]
async fn a_more_urgent_request_raises_the_twin_that_waits(#[case] change: Option<&str>) {
    let queue = Queue::new().await;
    let stores = queue.stores(2).await;
    let first = queue.request(crawl(stores[0], None)).await.unwrap();
    assert!(!first.raised);
    queue.add(NewTask { priority: 5, ..fetch(stores[1]) }).await;
    if let Some(change) = change {
        queue.sql(&format!("{change} WHERE id = {}", first.id)).await;
    }
    let again = queue.request(crawl(stores[0], Some(20))).await.unwrap();
    assert_eq!((again.id, again.raised), (first.id, true));
    let claimed = queue.claim_one().await;
    assert_eq!((claimed.lease.id, claimed.priority), (first.id, 20));
}

#[tokio::test]
async fn a_raised_twin_keeps_its_earlier_time() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let id = queue.request(crawl(store, None)).await.unwrap().id;
    queue.sql(&format!("UPDATE worker_tasks SET scheduled_for = now() + interval '1 hour' WHERE id = {id}")).await;
    let later = Some(Clock::system().utc() + TimeDelta::hours(5));
    queue.request(TaskRequest { scheduled_for: later, ..crawl(store, Some(9)) }).await.unwrap();
    assert!((3500.0..3700.0).contains(&queue.due_in(id).await));
}

#[tokio::test]
async fn a_request_that_is_no_more_urgent_is_refused_and_names_both_ways_out() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let waiting = queue.request(crawl(store, Some(10))).await.unwrap().id;
    for priority in [Some(10), Some(3), None] {
        let refused = queue.request(crawl(store, priority)).await.unwrap_err().to_string();
        assert!(refused.starts_with(&format!("task {waiting} with the key 'payload_fetch:{store}'")), "{refused}");
        assert!(refused.contains("higher priority") && refused.contains("dedup_key"), "{refused}");
    }
    queue.claim_one().await;
    let refused = queue.request(crawl(store, Some(50))).await.unwrap_err();
    assert!(matches!(refused, RequestError::Duplicate { existing, .. } if existing == waiting), "it runs: {refused}");
    let own_key = TaskRequest { dedup_key: Some("mine".to_owned()), ..crawl(store, None) };
    assert_ne!(queue.request(own_key).await.unwrap().id, waiting);
}

#[tokio::test]
async fn of_a_batch_each_request_raises_or_meets_its_own_twin() {
    let queue = Queue::new().await;
    let stores = queue.stores(3).await;
    let waiting = queue.request(crawl(stores[0], Some(1))).await.unwrap().id;
    let equal = queue.request(crawl(stores[1], Some(7))).await.unwrap().id;
    let tx = queue.database.db.begin().await.unwrap();
    let requests = stores.iter().map(|store| crawl(*store, Some(7))).collect();
    let answers = tasks::requests::enqueue_batch(&tx, requests).await.unwrap();
    tx.commit().await.unwrap();
    let raised = answers[0].as_ref().unwrap();
    assert_eq!((raised.id, raised.raised, raised.priority), (waiting, true, 7));
    assert!(matches!(&answers[1], Err(RequestError::Duplicate { existing, .. }) if *existing == equal));
    assert!(!answers[2].as_ref().unwrap().raised);
}

#[tokio::test]
async fn an_urgent_crawl_of_a_state_raises_what_waits_there() {
    let queue = Queue::new().await;
    let stores = queue.stores(4).await;
    queue.sql("UPDATE dispensaries SET state = 'AZ'").await;
    queue.enqueue(&[fetch(stores[0]), NewTask { priority: 30, ..fetch(stores[1]) }, fetch(stores[2])]).await;
    queue
        .sql(&format!(
            "UPDATE worker_tasks SET scheduled_for = now() + interval '1 day' WHERE dispensary_id = {}",
            stores[2]
        ))
        .await;
    let request = StateRequest { state_code: "az".parse().unwrap(), role: None, priority: Some(20) };
    let made = tasks::generation::of_state(&queue.client().await, &request).await.unwrap();
    assert_eq!(made, StateTasks { count: 1, skipped: 1, raised: 2 });
    let claimed: Vec<i32> = queue.claim(&Role::CRAWL, 9).await.iter().map(|task| task.priority).collect();
    assert_eq!(claimed.iter().filter(|priority| **priority == 20).count(), 3, "{claimed:?}");
}

#[tokio::test]
async fn discoveries_of_two_states_are_queued_side_by_side() {
    let queue = Queue::new().await;
    for state in ["AZ", "CA"] {
        queue.request(discovery(state)).await.unwrap();
    }
    queue.request(discovery("AZ")).await.unwrap_err();
    assert_eq!(queue.number("SELECT count(DISTINCT dedup_key) FROM worker_tasks").await, 2);
}

fn crawl(store: StoreId, priority: Option<i64>) -> TaskRequest {
    TaskRequest { role: "product_resync".to_owned(), dispensary_id: Some(store), priority, ..TaskRequest::default() }
}

fn discovery(state: &str) -> TaskRequest {
    TaskRequest {
        role: "store_discovery".to_owned(),
        platform: Some("dutchie".to_owned()),
        payload: json!({"state_code": state}),
        ..TaskRequest::default()
    }
}
