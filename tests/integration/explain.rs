//! A claim is a walk along an index: what it reads grows with what it takes, not with what waits.
//!
//! Counted by the server inside the claiming function, whose plans no EXPLAIN from outside shows.

use drover::db::tasks::NewTask;
use drover::domain::role::Role;
use rstest::rstest;

use crate::queue::Queue;

/// So few that no plan reads the whole table for their sake, which for fifty would be cheaper at this size.
const ASKED: i64 = 10;
const BUSY_STORES: i64 = 20;
const FREE_STORES: i64 = 2_000;
const WAITING: i64 = 4_000;
/// Found, locked, updated, and once more for the attempt: a few reads a task, where a search would make thousands.
const READS_A_TASK: i64 = 8;

#[rstest]
#[case::of_one_role("{payload_fetch}")]
#[case::of_any_role("{store_discovery,payload_fetch,product_refresh}")]
#[tokio::test]
async fn a_claim_reads_a_few_rows_for_each_task_it_takes(#[case] roles: &str) {
    let queue = Queue::new().await;
    // many tasks of a few busy stores stand in front
    queue.enqueue(&tasks(WAITING, BUSY_STORES, 0, 5)).await;
    assert_eq!(queue.claim(&[Role::PayloadFetch], 2 * BUSY_STORES as usize).await.len() as i64, BUSY_STORES);
    queue.enqueue(&tasks(FREE_STORES, FREE_STORES, BUSY_STORES, 0)).await;
    let raw = &queue.database.raw;
    raw.batch_execute("ANALYZE worker_tasks; BEGIN").await.unwrap();

    let reads = "SELECT seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'worker_tasks'";
    let before = raw.query_one(reads, &[]).await.unwrap();
    let claim = "SELECT count(*) FROM claim_tasks($1::text::text[], array_fill('me'::text, ARRAY[$2::bigint::int]), '10 min', true)";
    let claimed: i64 = raw.query_one(claim, &[&roles, &ASKED]).await.unwrap().get(0);
    let after = raw.query_one(reads, &[]).await.unwrap();

    let [whole_table, by_index] = [0, 1].map(|n| after.get::<_, i64>(n) - before.get::<_, i64>(n));
    assert_eq!(claimed, ASKED);
    assert_eq!(whole_table, 0, "rows read by looking through the table");
    assert!(by_index <= ASKED * READS_A_TASK, "{by_index} rows read for {ASKED} tasks");
}

/// `count` tasks, spread evenly over `stores` with ids above `above`.
fn tasks(count: i64, stores: i64, above: i64, priority: i32) -> Vec<NewTask> {
    let of_store = |n| NewTask {
        dispensary_id: Some(above + 1 + n % stores),
        platform: Some("dutchie".to_owned()),
        priority,
        ..NewTask::new(Role::PayloadFetch)
    };
    (0..count).map(of_store).collect()
}
