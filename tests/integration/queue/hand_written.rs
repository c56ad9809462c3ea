//! Rows that people write at psql, while no process of drover runs: they take effect at once.

use rstest::rstest;

use super::*;

impl Queue {
    /// The task that `claim_task` hands out next to a person.
    async fn claim_by_hand(&self, role: &str) -> Option<TaskId> {
        let row = self.database.raw.query_opt("SELECT id FROM claim_task($1, 'me')", &[&role]).await.unwrap();
        row.map(|row| row.get(0))
    }
}

#[tokio::test]
async fn an_inserted_task_is_claimed_by_the_next_statement() {
    let queue = Queue::new().await;
    queue.sql("INSERT INTO worker_tasks (role, dispensary_id) VALUES ('payload_fetch', 1)").await;
    assert!(queue.claim_by_hand("payload_fetch").await.is_some());
    queue.sql("INSERT INTO worker_tasks (role, platform) VALUES ('store_discovery', 'dutchie')").await;
    assert!(queue.claim_by_hand("store_discovery").await.is_some());
    queue.sql("INSERT INTO worker_tasks (role, dispensary_id) VALUES ('payload_fetch', 1)").await;
    assert_eq!(queue.claim_by_hand("payload_fetch").await, None, "its store has an active task");
}

#[tokio::test]
async fn an_inserted_task_that_is_more_urgent_is_claimed_first() {
    let queue = Queue::new().await;
    queue.enqueue(&(1..=5).map(fetch).collect::<Vec<_>>()).await;
    queue.sql("INSERT INTO worker_tasks (role, dispensary_id, priority) VALUES ('payload_fetch', 3, 20)").await;
    let claimed = queue.claim_by_hand("payload_fetch").await.unwrap();
    assert_eq!(queue.task(claimed).await["priority"], 20);
}

#[tokio::test]
async fn many_inserted_tasks_are_claimed_by_the_next_statements() {
    let queue = Queue::new().await;
    queue
        .sql("INSERT INTO worker_tasks (role, dispensary_id) SELECT 'payload_fetch', n FROM generate_series(1, 300) n")
        .await;
    for _ in 0..300 {
        assert!(queue.claim_by_hand("payload_fetch").await.is_some());
    }
    assert_eq!(queue.claim_by_hand("payload_fetch").await, None);
}

#[tokio::test]
async fn the_crawls_of_a_day_are_claimed_by_the_next_statement() {
    let queue = Queue::new().await;
    queue.stores(3).await;
    queue.sql("SELECT generate_resync_tasks(6, '2025-01-10')").await;
    assert!(queue.claim_by_hand("payload_fetch").await.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_that_insert_claim_and_complete_by_hand_lose_and_double_nothing() {
    let queue = Queue::new().await;
    let session = async |number: i64| {
        let client = queue.client().await;
        for round in 0..25 {
            let store = (number + round) % 5;
            let insert = "INSERT INTO worker_tasks (role, dispensary_id, priority) VALUES ('payload_fetch', $1, 1)";
            client.execute(insert, &[&store]).await.unwrap();
            let me = format!("psql-{number}");
            let Some(row) =
                client.query_opt("SELECT id, fence FROM claim_task('payload_fetch', $1)", &[&me]).await.unwrap()
            else {
                continue;
            };
            let (id, fence): (TaskId, i64) = (row.get(0), row.get(1));
            let complete =
                "UPDATE worker_tasks SET status = 'completed' WHERE id = $1 AND fence = $2 AND worker_id = $3";
            assert_eq!(client.execute(complete, &[&id, &fence, &me]).await.unwrap(), 1);
        }
    };
    futures_util::future::join_all((0..8).map(session)).await;
    while let Some(id) = queue.claim_by_hand("payload_fetch").await {
        queue.sql(&format!("UPDATE worker_tasks SET status = 'completed' WHERE id = {id}")).await;
    }
    let total = "SELECT count(*) FROM worker_tasks";
    assert_eq!(queue.number(&format!("{total} WHERE status = 'completed' AND fence = 1")).await, 200);
    assert_eq!(queue.number(total).await, 200);
}

#[tokio::test]
async fn a_number_or_date_without_sense_is_refused() {
    let queue = Queue::new().await;
    queue.stores(2).await;
    queue.add(fetch(9)).await;
    queue.claim_one().await;
    let cases: [&str; 5] = [
        "SELECT generate_resync_tasks(6, 'infinity')",
        "SELECT generate_resync_tasks(6, '-infinity')",
        "SELECT generate_resync_tasks(6, (now() + interval '368 days')::date)",
        "SELECT recover_stale_tasks(-1)",
        "SELECT recover_stale_tasks(NULL)",
    ];
    for statement in cases {
        println!("{statement}");
        let refused = queue.database.raw.batch_execute(statement).await.unwrap_err();
        assert!(refused.as_db_error().is_some(), "{refused}");
        assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE status = 'claimed'").await, 1);
        assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1);
    }
}

#[rstest]
#[case::inserted(
    "INSERT INTO task_schedules (name, role, interval_hours) VALUES ('product_refresh_all', 'product_resync', 8)",
    false
)]
#[case::unless_there(
    "INSERT INTO task_schedules (name, role, interval_hours) VALUES ('product_refresh_all', 'product_resync', 8) ON CONFLICT DO NOTHING",
    true
)]
#[case::instead(
    "INSERT INTO task_schedules (name, role, interval_hours) VALUES ('product_refresh_all', 'product_resync', 8) \
     ON CONFLICT (name) DO UPDATE SET interval_hours = EXCLUDED.interval_hours",
    true
)]
#[tokio::test]
async fn the_schedule_of_all_stores_has_one_row_whatever_its_name(#[case] insert: &str, #[case] taken: bool) {
    let queue = Queue::new().await;
    db::schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
    assert_eq!(queue.database.raw.batch_execute(insert).await.is_ok(), taken);
    let crawls = "SELECT count(*) FROM task_schedules WHERE role = 'payload_fetch'";
    assert_eq!(queue.number(crawls).await, 1);
}
