//! Which tasks do the same work, and what becomes of a schedule, a day's crawls or a request that meets one that is open.

use drover::db::schedules::{self, Run};
use drover::db::{Db, PoolSizes};
use serde_json::json;

use super::*;

impl Queue {
    /// Schedules that are due, as people write them; each tuple is (name, role, platform, account, state, args).
    async fn due_schedules(&self, tuples: &str) {
        self.sql(&format!(
            "INSERT INTO task_schedules (name, role, platform, account, state_code, args, interval_hours, next_run_at) \
             SELECT *, 24, now() FROM (VALUES {tuples}) AS s (name, role, platform, account, state_code, args)"
        ))
        .await;
    }

    /// What several processes that look for due schedules at the same time make of them.
    async fn run_by_schedulers(&self, count: usize) -> Vec<Run> {
        let run_all = async || {
            let sizes = PoolSizes { work: 1, api: 1 };
            let db = Db::new(&self.database.url, &support::database_settings(), sizes).unwrap();
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
    let due_later = queue.number("SELECT count(*) FROM worker_tasks WHERE scheduled_for > now() + interval '4 hours'").await;
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
    let made = format!("SELECT count(*) FROM worker_tasks WHERE dispensary_id = {} AND scheduled_for IS NULL", stores[0]);
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
async fn discoveries_of_two_states_are_queued_side_by_side() {
    let queue = Queue::new().await;
    for state in ["AZ", "CA"] {
        queue.request(discovery(state)).await.unwrap();
    }
    queue.request(discovery("AZ")).await.unwrap_err();
    assert_eq!(queue.number("SELECT count(DISTINCT dedup_key) FROM worker_tasks").await, 2);
}

fn discovery(state: &str) -> TaskRequest {
    TaskRequest {
        role: "store_discovery".to_owned(),
        platform: Some("dutchie".to_owned()),
        payload: json!({"state_code": state}),
        ..TaskRequest::default()
    }
}
