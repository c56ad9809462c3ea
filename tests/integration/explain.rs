//! With 100,000 pending tasks and 20,000 more of busy stores, the queue's statements still touch a handful of pages: they find
//! what they want by an index, and walk past nothing.

use drover::db::tasks::{self, Exchange, NewTask};
use drover::domain::role::Role;
use drover::domain::task::Held;
use rstest::rstest;

use crate::queue::{BACK, LEASE, ME, Queue, asks};

/// Pages that one claimed, renewed, swept or recovered task may touch, in heap and indexes of both tables.
const PAGES_A_TASK: i64 = 60;

/// So few that no plan reads the whole table for their sake, which for fifty would be cheaper at this size.
const ASKED: i64 = 10;
const BUSY_STORES: i64 = 20;
const FREE_STORES: i64 = 2_000;
const WAITING: i64 = 4_000;
/// Found, locked, updated, and once more for the attempt: a few reads a task, where a search would make thousands.
const READS_A_TASK: i64 = 8;

const FILL: &str = "
    SET drover.own = 'on';
    INSERT INTO worker_tasks (role, dispensary_id, status, fence, worker_id, claimed_at, last_heartbeat_at, lease_expires_at)
      SELECT 'payload_fetch', n, 'claimed', 1, 'busy', now(), now(), now() + interval '1 hour' FROM generate_series(1, 5000) n;
    INSERT INTO worker_tasks (role, dispensary_id, priority) SELECT 'payload_fetch', 1 + n % 5000, 20 FROM generate_series(1, 20000) n;
    INSERT INTO worker_tasks (role, dispensary_id, ready) SELECT 'payload_fetch', 10000 + n, true FROM generate_series(1, 100000) n;
    RESET drover.own;
    VACUUM ANALYZE worker_tasks;";

impl Queue {
    async fn crowded() -> Queue {
        let queue = Queue::new().await;
        for statement in FILL.split_inclusive(';') {
            queue.sql(statement).await;
        }
        queue
    }

    /// Pages of the queue's tables and indexes that were looked at so far, and sequential scans of its tables.
    async fn touched(&self) -> (i64, i64) {
        let sql = "SELECT pg_stat_force_next_flush()";
        self.sql(sql).await;
        let pages = "SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0))::bigint \
                     FROM pg_statio_user_tables WHERE relname IN ('worker_tasks', 'past_attempts')";
        let scans = "SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname = 'worker_tasks'";
        (self.number(pages).await, self.number(scans).await)
    }
}

/// On the one plain connection, whose statistics can be flushed: what `statement` touched after five runs that settle its plan.
async fn pages_of(queue: &Queue, statement: &str) -> i64 {
    let prepared = queue.database.raw.prepare(statement).await.unwrap();
    for _ in 0..6 {
        queue.database.raw.query(&prepared, &[]).await.unwrap();
    }
    let before = queue.touched().await;
    queue.database.raw.query(&prepared, &[]).await.unwrap();
    let after = queue.touched().await;
    assert_eq!(after.1 - before.1, 0, "{statement} read the whole table");
    after.0 - before.0
}

#[rstest]
#[case::of_one_role("'payload_fetch'", 1)]
#[case::of_any_role("NULL", 1)]
#[case::of_three_roles("'product_resync'", 3)]
#[tokio::test]
async fn a_claim_is_an_index_walk(#[case] role: &str, #[case] walks: i64) {
    let queue = Queue::crowded().await;
    let pages = pages_of(&queue, &format!("SELECT id FROM claim_task({role}, 'me')")).await;
    assert!(pages <= walks * PAGES_A_TASK, "{pages} pages");
}

#[tokio::test]
async fn a_claim_of_some_roles_does_not_walk_past_the_backlog_of_another() {
    let queue = Queue::crowded().await;
    let claim = "SELECT id FROM settle_and_claim('{}', '{}', '{}', '{}', '{}', '{product_refresh,analytics_refresh}', '{me}', \
                 '10 min', true)";
    let pages = pages_of(&queue, claim).await;
    assert!(pages <= PAGES_A_TASK, "{pages} pages");
}

#[tokio::test]
async fn a_sweep_of_what_is_due_looks_at_nothing_else() {
    let queue = Queue::crowded().await;
    let pages = pages_of(&queue, "SELECT sweep_due(interval '30 seconds')").await;
    assert!(pages <= PAGES_A_TASK, "{pages} pages");
}

#[tokio::test]
async fn a_renewal_finds_its_tasks_by_id() {
    let queue = Queue::crowded().await;
    let claimed = queue.exchange(Exchange { roles: Role::ALL.to_vec(), ..asks(10) }).await;
    let held: Vec<Held> = claimed.into_iter().map(|task| task.held).collect();
    for _ in 0..6 {
        tasks::renew(&queue.database.raw, &held, LEASE).await.unwrap();
    }
    let before = queue.touched().await;
    assert_eq!(tasks::renew(&queue.database.raw, &held, LEASE).await.unwrap().len(), 10);
    let after = queue.touched().await;
    assert_eq!(after.1 - before.1, 0);
    assert!(after.0 - before.0 <= 10 * PAGES_A_TASK, "{} pages", after.0 - before.0);
}

#[tokio::test]
async fn a_recovery_looks_at_active_tasks_only() {
    let queue = Queue::crowded().await;
    let pages = pages_of(&queue, "SELECT recover_stale_tasks(10)").await;
    // 5,000 active tasks, each looked at once
    assert!(pages <= 5_100, "{pages} pages");
}

#[tokio::test]
async fn the_full_sweep_probes_each_waiting_store_once() {
    let queue = Queue::crowded().await;
    assert_eq!(queue.sweep_all().await, 0);
    assert_eq!(queue.exchange(asks(1)).await[0].held.worker_id, ME);
    assert_eq!(tasks::sweep_due(&queue.client().await, BACK).await.unwrap(), 0);
    let pages = pages_of(&queue, "SELECT sweep_all()").await;
    // 5,000 stores: a step of the skip scan, a look at who is outranked, one at who holds the slot
    assert!(pages <= 5_000 * 15, "{pages} pages");
}

/// Counted by the server inside the claiming function, whose plans no EXPLAIN from outside shows.
#[rstest]
#[case::of_one_role("{payload_fetch}")]
#[case::of_some_roles("{store_discovery,payload_fetch,product_refresh}")]
#[case::of_any_role(
    "{store_discovery,entry_point_discovery,product_discovery,payload_fetch,product_refresh,analytics_refresh}"
)]
#[tokio::test]
async fn a_claim_reads_a_few_rows_for_each_task_it_takes(#[case] roles: &str) {
    let queue = Queue::new().await;
    // many tasks of a few busy stores stand in front
    queue.enqueue(&waiting(WAITING, BUSY_STORES, 0, 5)).await;
    assert_eq!(queue.claim(&[Role::PayloadFetch], 2 * BUSY_STORES as usize).await.len() as i64, BUSY_STORES);
    queue.enqueue(&waiting(FREE_STORES, FREE_STORES, BUSY_STORES, 0)).await;
    let raw = &queue.database.raw;
    raw.batch_execute("ANALYZE worker_tasks; BEGIN").await.unwrap();

    let reads = "SELECT seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'worker_tasks'";
    let before = raw.query_one(reads, &[]).await.unwrap();
    let claim = "SELECT count(*) FROM settle_and_claim('{}', '{}', '{}', '{}', '{}', $1::text::text[], \
                   array_fill('me'::text, ARRAY[$2::bigint::int]), '10 min', true)";
    let claimed: i64 = raw.query_one(claim, &[&roles, &ASKED]).await.unwrap().get(0);
    let after = raw.query_one(reads, &[]).await.unwrap();

    let [whole_table, by_index] = [0, 1].map(|n| after.get::<_, i64>(n) - before.get::<_, i64>(n));
    assert_eq!(claimed, ASKED);
    assert_eq!(whole_table, 0, "rows read by looking through the table");
    assert!(by_index <= ASKED * READS_A_TASK, "{by_index} rows read for {ASKED} tasks");
}

/// `count` tasks, spread evenly over `stores` with ids above `above`.
fn waiting(count: i64, stores: i64, above: i64, priority: i32) -> Vec<NewTask> {
    let of_store = |n| NewTask {
        dispensary_id: Some(above + 1 + n % stores),
        platform: Some("dutchie".to_owned()),
        priority,
        ..NewTask::new(Role::PayloadFetch)
    };
    (0..count).map(of_store).collect()
}
