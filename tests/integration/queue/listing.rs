//! Searches of the queue, and their indexes: tasks by origin and by failure, completions of a role, the
//! active task of a store.

use contract::age_sort::AgeSort;
use contract::tasks::TaskFilter;
use db::tasks::AttemptOutcome;
use db::tasks::views::completions;
use db::{schema, tasks};
use domain::store::Platform;
use domain::task::shown_status::ShownStatus;

use super::*;

const MADE: &str =
    "SELECT count(*) FROM pg_index WHERE indexrelid::regclass::text LIKE 'worker_tasks_ended_%' AND indisvalid";

impl Queue {
    async fn list(&self, filter: TaskFilter) -> Vec<TaskId> {
        let listed = tasks::views::list(&self.client().await, &filter, 50).await.unwrap();
        listed.iter().map(|task| task.id).collect()
    }

    /// Rows of worker_tasks that a list of ten reads.
    async fn reads_of_a_list(&self, filter: &TaskFilter) -> i64 {
        let client = self.client().await;
        let flush = async || client.query("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
        let reads = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'worker_tasks'";
        flush().await;
        let before = self.number(reads).await;
        tasks::views::list(&client, filter, 10).await.unwrap();
        flush().await;
        self.number(reads).await - before
    }
}

#[tokio::test]
async fn a_list_is_filtered_by_what_made_a_task_and_how_it_failed() {
    let queue = Queue::new().await;
    queue.failures(3).await;
    let parent = queue.add(fetch(7)).await;
    let child = queue.add(NewTask { parent_task_id: Some(parent), ..refresh(7) }).await;
    queue.sql("UPDATE worker_tasks SET schedule_id = 5, retry_count = 2 WHERE id = 1").await;
    let any = TaskFilter::default;
    assert_eq!(queue.list(TaskFilter { schedule_id: Some(5), ..any() }).await, [1]);
    assert_eq!(queue.list(TaskFilter { parent_task_id: Some(parent), ..any() }).await, [child]);
    assert_eq!(queue.list(TaskFilter { min_retries: Some(2), ..any() }).await, [1]);
    assert_eq!(queue.list(TaskFilter { error: Some("ANSWER from 2".to_owned()), ..any() }).await, [2]);
    assert!(queue.list(TaskFilter { error: Some("%".to_owned()), ..any() }).await.is_empty());
    let failed = TaskFilter { status: Some(ShownStatus::Failed), error: Some("no answer".to_owned()), ..any() };
    assert_eq!(queue.list(failed.clone()).await, [3, 2, 1]);
    let oldest = TaskFilter { sort: AgeSort::Oldest, ..failed };
    assert_eq!(queue.list(oldest.clone()).await, [1, 2, 3]);
    assert_eq!(queue.list(TaskFilter { after: Some(1), ..oldest }).await, [2, 3]);
}

#[tokio::test]
async fn the_completions_of_a_role_and_the_active_task_of_a_store_are_found() {
    let queue = Queue::new().await;
    let client = queue.client().await;
    let roles = "payload_fetch".parse().unwrap();
    assert_eq!(completions::last(&client, &roles).await.unwrap().task_id, None);
    let made = queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    let claimed = queue.claim(&[Role::PayloadFetch], 3).await;
    let active = completions::active_of_store(&client, 3).await.unwrap().unwrap();
    assert_eq!(active.id, made[2]);
    for task in [&claimed[1], &claimed[0]] {
        queue.settle(task, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
    }
    queue.settle(&claimed[2], &Settlement::new(AttemptOutcome::Permanent, None)).await.unwrap();
    let last = completions::last(&client, &roles).await.unwrap();
    assert_eq!(last.task_id, Some(made[0]));
    assert!(last.completed_at.is_some());
    let recent = completions::recent(&client, &roles, 10).await.unwrap();
    assert_eq!(recent.iter().map(|task| task.id).collect::<Vec<_>>(), [made[0], made[1]]);
    assert_eq!(completions::recent(&client, &roles, 1).await.unwrap().len(), 1);
    assert!(completions::active_of_store(&client, 3).await.unwrap().is_none());
}

#[tokio::test]
async fn a_list_by_the_time_of_making_is_exact_where_ids_follow_the_times() {
    let queue = Queue::new().await;
    queue
        .sql(
            "INSERT INTO worker_tasks (id, role, created_at) SELECT n * 7, 'payload_fetch', \
             timestamptz '2025-01-01 00:00Z' + n * interval '1 hour' FROM generate_series(1, 100) n",
        )
        .await;
    let at = |text: &str| Some(text.parse().unwrap());
    let filter = |after, before| TaskFilter { created_after: after, created_before: before, ..TaskFilter::default() };
    let between = filter(at("2025-01-01T10:00:00Z"), at("2025-01-01T13:00:00Z"));
    assert_eq!(queue.list(between).await, [84, 77, 70]);
    assert_eq!(queue.list(filter(None, at("2025-01-01T02:30:00Z"))).await, [14, 7]);
    assert_eq!(queue.list(filter(at("2025-01-05T03:00:00Z"), None)).await, [700, 693]);
    assert!(queue.list(filter(at("2030-01-01T00:00:00Z"), None)).await.is_empty());
    assert!(queue.list(filter(None, at("2020-01-01T00:00:00Z"))).await.is_empty());
    queue.sql("DELETE FROM worker_tasks").await;
    assert!(queue.list(filter(at("2025-01-01T10:00:00Z"), None)).await.is_empty());
}

#[tokio::test]
async fn a_prefix_finds_ids_workers_and_slugs_and_each_task_once() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    queue.sql("UPDATE dispensaries SET slug = '12-leaf'").await;
    queue
        .sql(&format!(
            "INSERT INTO worker_tasks (id, role, status, worker_id, dispensary_id) VALUES \
             (12, 'payload_fetch', 'failed', '12a', {store}), (125, 'payload_fetch', 'failed', NULL, NULL), \
             (13, 'payload_fetch', 'completed', '12_b', NULL), (7, 'payload_fetch', 'pending', NULL, {store}), \
             (1299, 'payload_fetch', 'pending', NULL, NULL), (21, 'payload_fetch', 'failed', 'x12', NULL)"
        ))
        .await;
    let q = |q: &str| TaskFilter { q: Some(q.to_owned()), ..TaskFilter::default() };
    assert_eq!(queue.list(q("12")).await, [1299, 125, 13, 12, 7]);
    assert_eq!(queue.list(q("12_")).await, [13]);
    assert_eq!(queue.list(TaskFilter { after: Some(125), ..q("12") }).await, [13, 12, 7]);
    assert_eq!(queue.list(TaskFilter { status: Some(ShownStatus::Failed), ..q("12") }).await, [125, 12]);
    assert!(queue.list(q("%")).await.is_empty());
    let oldest = |after| TaskFilter { sort: AgeSort::Oldest, after, ..q("12") };
    assert_eq!(queue.list(oldest(None)).await, [7, 12, 13, 125, 1299]);
    assert_eq!(queue.list(oldest(Some(13))).await, [125, 1299]);
}

#[tokio::test]
async fn indexes_are_made_once_and_one_that_broke_off_is_replaced() {
    let queue = Queue::new().await;
    let db = &queue.database.db;
    assert_eq!(queue.number(MADE).await, 0);
    assert!(schema::indexes::ensure(db).await.unwrap().is_some_and(|made| made > 4));
    assert_eq!(queue.number(MADE).await, 5);
    assert_eq!(schema::indexes::ensure(db).await.unwrap(), Some(0));
    let break_off = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'worker_tasks_ended_role'::regclass";
    queue.sql(break_off).await;
    assert_eq!(schema::indexes::ensure(db).await.unwrap(), Some(1));
    assert_eq!(queue.number(MADE).await, 5);
}

#[tokio::test]
async fn indexes_are_made_by_one_process_at_a_time() {
    let queue = Queue::new().await;
    queue.sql("SELECT pg_advisory_lock(7345)").await;
    assert_eq!(schema::indexes::ensure(&queue.database.db).await.unwrap(), None);
    queue.sql("SELECT pg_advisory_unlock(7345)").await;
    assert!(schema::indexes::ensure(&queue.database.db).await.unwrap().is_some_and(|made| made > 0));
}

#[tokio::test]
async fn the_tasks_of_a_rare_filter_are_found_without_a_walk_past_the_others() {
    let queue = Queue::new().await;
    // the rare ones are the oldest
    queue
        .sql(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, platform, dispensary_id, worker_id, schedule_id, status, completed_at, \
             retry_count, error_message) \
             SELECT CASE WHEN n < 50 THEN 'analytics_refresh' ELSE 'payload_fetch' END, 'dutchie', CASE WHEN n < 50 THEN 1 ELSE n END, \
             CASE WHEN n < 50 THEN 'old' ELSE 'new' END, CASE WHEN n < 50 THEN 1 ELSE 2 END, 'completed', now(), \
             CASE WHEN n < 50 THEN 3 ELSE 0 END, CASE WHEN n < 50 THEN 'why' END FROM generate_series(1, 20000) n; \
             RESET xmlbinary",
        )
        .await;
    schema::indexes::ensure(&queue.database.db).await.unwrap();
    queue.sql("ANALYZE worker_tasks").await;
    let any = TaskFilter::default;
    for (what, filter) in [
        ("role", TaskFilter { roles: Some("analytics_refresh".parse().unwrap()), ..any() }),
        ("no such role", TaskFilter { roles: Some("forum_scrape".parse().unwrap()), ..any() }),
        ("store", TaskFilter { dispensary_id: Some(1), ..any() }),
        ("no such store", TaskFilter { dispensary_id: Some(4711000), ..any() }),
        ("no such platform", TaskFilter { platform: Some(Platform::DutchiePlus), ..any() }),
        ("worker", TaskFilter { worker_id: Some("old".to_owned()), ..any() }),
        ("schedule", TaskFilter { schedule_id: Some(1), ..any() }),
        ("error", TaskFilter { error: Some("WHY".to_owned()), ..any() }),
        ("retries", TaskFilter { min_retries: Some(3), ..any() }),
        ("many retries", TaskFilter { min_retries: Some(9), ..any() }),
        ("worker's beginning", TaskFilter { q: Some("ol".to_owned()), ..any() }),
        ("id's beginning", TaskFilter { q: Some("19".to_owned()), ..any() }),
    ] {
        let read = queue.reads_of_a_list(&filter).await;
        assert!(read <= 250, "by {what} a list reads {read} rows");
    }
}

#[tokio::test]
async fn a_part_of_an_error_is_found_without_a_look_at_each_error() {
    let queue = Queue::new().await;
    queue
        .sql(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, status, completed_at, error_message) \
             SELECT 'payload_fetch', 'failed', now(), CASE WHEN n IN (3, 19990) THEN 'A 100% Odd_One ' ELSE 'upstream answered 503 for ' END \
             || n FROM generate_series(1, 20000) n; RESET xmlbinary",
        )
        .await;
    schema::indexes::ensure(&queue.database.db).await.unwrap();
    let error = |error: &str| TaskFilter { error: Some(error.to_owned()), ..TaskFilter::default() };
    for statistics in ["", "ANALYZE worker_tasks"] {
        queue.sql(statistics).await;
        for part in ["ANSWERED 503", "odd_one", "00% odd", "answered 504", "odd-one", "for 19999"] {
            let read = queue.reads_of_a_list(&error(part)).await;
            assert!(read <= 5_000, "{part:?} reads {read} rows");
        }
    }
    assert_eq!(queue.list(error("odd_one")).await, [19990, 3]);
    assert_eq!(queue.list(error("00% ODD")).await, [19990, 3]);
    assert_eq!(queue.list(TaskFilter { after: Some(19990), ..error("odd_one") }).await, [3]);
    assert_eq!(
        queue.list(error("for 1999")).await,
        [19999, 19998, 19997, 19996, 19995, 19994, 19993, 19992, 19991, 1999]
    );
    assert!(queue.list(error("odd-one")).await.is_empty());
    assert_eq!(queue.list(error("503")).await.len(), 50);
    queue.sql("DROP INDEX worker_tasks_error_trigrams").await;
    assert_eq!(queue.list(error("odd_one")).await, [19990, 3], "without trigrams");
}
