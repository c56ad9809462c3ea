//! With 100,000 pending tasks and 20,000 more of busy stores, the queue's statements still touch a handful of
//! pages: they find their rows by an index, and walk past nothing.

use std::sync::LazyLock;

use db::tasks::{self, ClaimBatch, NewTask};
use domain::task::TaskLease;
use domain::task::role::Role;
use rstest::rstest;
use tokio_postgres::Client;

use crate::queue::{BACK, LEASE, ME, Queue, asks, just_beaten};
use testkit::filled_database;

/// Pages that one claimed, renewed, swept or recovered task may touch, in heap and indexes of both tables.
const PAGES_PER_TASK: i64 = 60;

/// Number so small that no plan reads the whole table for their sake, which for fifty would be cheaper at this size.
const ASKED: i64 = 10;
const BUSY_STORES: i64 = 20;
const BUSY_WAITING: i64 = 400;
const READY: i64 = 40_000;
/// Found, locked, updated, and once more for the attempt: a few reads a task, where a search would make
/// thousands.
const READS_PER_TASK: i64 = 8;

/// Rows of worker_tasks that this transaction has read: by sequential scans, by indexes.
const READS: &str = "SELECT seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'worker_tasks'";

const FILL: &str = "
    SET xmlbinary = 'hex';
    INSERT INTO worker_tasks (role, dispensary_id, status, fence, worker_id, claimed_at, last_heartbeat_at, lease_expires_at)
      SELECT 'payload_fetch', n, 'claimed', 1, 'busy', now(), now(), now() + interval '1 hour' FROM generate_series(1, 5000) n;
    INSERT INTO worker_tasks (role, dispensary_id, priority) SELECT 'payload_fetch', 1 + n % 5000, 20 FROM generate_series(1, 20000) n;
    INSERT INTO worker_tasks (role, dispensary_id, ready) SELECT 'payload_fetch', 10000 + n, true FROM generate_series(1, 100000) n;
    RESET xmlbinary;
    VACUUM ANALYZE worker_tasks;";

impl Queue {
    async fn crowded() -> Queue {
        Queue::on(filled_database(FILL)).await
    }

    /// Pages of the queue's tables and indexes that were read up to now, and sequential scans of its tables.
    async fn touched(&self) -> (i64, i64) {
        let sql = "SELECT pg_stat_force_next_flush()";
        self.sql(sql).await;
        let pages = "SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0))::bigint \
                     FROM pg_statio_user_tables WHERE relname IN ('worker_tasks', 'past_attempts')";
        let scans = "SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname = 'worker_tasks'";
        (self.number(pages).await, self.number(scans).await)
    }
}

/// Counts the pages that `statement` touched after five runs that settle its plan, on the one plain connection, whose
/// statistics can be flushed.
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
    assert!(pages <= walks * PAGES_PER_TASK, "{pages} pages");
}

#[tokio::test]
async fn a_claim_of_some_roles_does_not_walk_past_the_backlog_of_another() {
    let queue = Queue::crowded().await;
    let claim = "SELECT id FROM settle_and_claim('{}', '{}', '{}', '{}', '{}', '{product_refresh,analytics_refresh}', false, \
                 '{me}', '10 min', true, NULL)";
    let pages = pages_of(&queue, claim).await;
    assert!(pages <= PAGES_PER_TASK, "{pages} pages");
}

#[tokio::test]
async fn a_sweep_of_what_is_due_looks_at_nothing_else() {
    let queue = Queue::crowded().await;
    let pages = pages_of(&queue, "SELECT * FROM sweep_due(interval '30 seconds', NULL, 1000)").await;
    assert!(pages <= PAGES_PER_TASK, "{pages} pages");
}

#[tokio::test]
async fn a_renewal_finds_its_tasks_by_id() {
    let queue = Queue::crowded().await;
    let claimed = queue.settle_and_claim(ClaimBatch { roles: Role::CRAWL.to_vec(), ..asks(10) }).await;
    let leases: Vec<TaskLease> = claimed.into_iter().map(|task| task.lease).collect();
    for _ in 0..6 {
        tasks::renew(&queue.database.raw, &just_beaten(&leases), LEASE).await.unwrap();
    }
    let before = queue.touched().await;
    assert_eq!(tasks::renew(&queue.database.raw, &just_beaten(&leases), LEASE).await.unwrap().len(), 10);
    let after = queue.touched().await;
    assert_eq!(after.1 - before.1, 0);
    assert!(after.0 - before.0 <= 10 * PAGES_PER_TASK, "{} pages", after.0 - before.0);
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
    assert_eq!(queue.settle_and_claim(asks(1)).await[0].lease.worker_id, ME);
    assert_eq!(tasks::sweep_due(&queue.client().await, BACK).await.unwrap(), 0);
    let pages = pages_of(&queue, "SELECT * FROM sweep_stores(NULL, 100000)").await;
    // 5,000 stores: a step of the skip scan, a look for an outranked task, one for the slot's holder
    assert!(pages <= 5_000 * 15, "{pages} pages");
}

/// The planner's knowledge of the table when the plans are made.
#[derive(Clone, Copy, Debug)]
enum Statistics {
    Never,
    OfAnEmptyTable,
    OfAnIdleTable,
    Fresh,
}

impl Statistics {
    /// Prepares the session that claims before there is anything to do: it has used its statements, so that its plans are
    /// made.
    async fn before(self, queue: &Queue) {
        queue.sql("ALTER TABLE worker_tasks SET (autovacuum_enabled = off)").await;
        match self {
            Statistics::OfAnEmptyTable => queue.sql("ANALYZE worker_tasks").await,
            Statistics::OfAnIdleTable => {
                queue
                    .sql(
                        "INSERT INTO worker_tasks (role, status, dispensary_id) \
                         SELECT 'payload_fetch', 'completed', n FROM generate_series(1, 20000) n; ANALYZE worker_tasks",
                    )
                    .await;
            }
            Statistics::Never | Statistics::Fresh => {}
        }
    }

    async fn after(self, queue: &Queue) {
        if let Statistics::Fresh = self {
            queue.sql("ANALYZE worker_tasks").await;
        }
    }
}

impl Queue {
    async fn rows_read(&self, statement: &str) -> (i64, i64, i64) {
        rows_read(&self.database.raw, statement).await
    }

    /// A removal of ended tasks past their retention.
    async fn rows_of_a_removal(&self) -> (i64, i64, i64) {
        let tx = self.database.db.begin().await.unwrap();
        let removed = tasks::prune(&tx, &testkit::config(&[]).retention).await.unwrap();
        let row = tx.query_one(READS, &[]).await.unwrap();
        tx.commit().await.unwrap();
        (row.get(0), row.get(1), i64::try_from(removed).unwrap())
    }
}

/// Rows of worker_tasks that `statement` reads, counted inside its functions, whose plans no EXPLAIN from
/// outside shows: what a sequential scan read, what indexes led to, and the value of its one column. The
/// statement takes effect.
async fn rows_read(session: &Client, statement: &str) -> (i64, i64, i64) {
    session.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
    session.batch_execute("BEGIN").await.unwrap();
    let value: i64 = session.query_one(statement, &[]).await.unwrap().get(0);
    let row = session.query_one(READS, &[]).await.unwrap();
    session.batch_execute("COMMIT").await.unwrap();
    (row.get(0), row.get(1), value)
}

/// Ten claims of one statement.
async fn rows_of_ten_claims(session: &Client, roles: &str, every_crawl_role: bool) -> (i64, i64, i64) {
    let claim = format!(
        "SELECT count(*) FROM settle_and_claim('{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{roles}', {every_crawl_role}, \
         array_fill('me'::text, ARRAY[{ASKED}]), '10 min', true, gen_random_uuid())"
    );
    rows_read(session, &claim).await
}

static EVERY_CRAWL_ROLE: LazyLock<String> = LazyLock::new(|| format!("{{{}}}", Role::CRAWL.map(Role::name).join(",")));

#[rstest]
#[tokio::test]
async fn a_claim_reads_a_few_rows_for_each_task_whatever_the_statistics_say(
    #[values(Statistics::Never, Statistics::OfAnEmptyTable, Statistics::OfAnIdleTable, Statistics::Fresh)]
    statistics: Statistics,
) {
    let queue = Queue::new().await;
    statistics.before(&queue).await;
    let mut sessions = Vec::new();
    for (roles, every_crawl_role) in [
        ("{payload_fetch}", false),
        ("{store_discovery,payload_fetch,product_refresh}", false),
        (EVERY_CRAWL_ROLE.as_str(), true),
    ] {
        let session = testkit::connect(&queue.database.url).await;
        // the plans of this session are made now
        assert_eq!(rows_of_ten_claims(&session, roles, every_crawl_role).await.2, 0);
        sessions.push((session, roles, every_crawl_role));
    }
    // many tasks of a few busy stores come first, and the reservations of 40,000 are ready
    queue.enqueue(&waiting(BUSY_WAITING, BUSY_STORES, 0, 5)).await;
    assert_eq!(queue.claim(&[Role::PayloadFetch], 2 * BUSY_STORES as usize).await.len() as i64, BUSY_STORES);
    queue
        .sql(&format!(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, dispensary_id, ready) \
             SELECT 'payload_fetch', {BUSY_STORES} + n, true FROM generate_series(1, {READY}) n; RESET xmlbinary"
        ))
        .await;
    statistics.after(&queue).await;

    for (session, roles, every_crawl_role) in &sessions {
        let (whole_table, by_index, claimed) = rows_of_ten_claims(session, roles, *every_crawl_role).await;
        assert_eq!(claimed, ASKED, "{roles}");
        assert_eq!(whole_table, 0, "{roles}: rows read by looking through the table");
        assert!(by_index <= ASKED * READS_PER_TASK, "{roles}: {by_index} rows read for {ASKED} tasks");
    }
}

#[rstest]
#[tokio::test]
async fn a_settlement_and_a_sweep_read_a_few_rows_whatever_the_statistics_say(
    #[values(Statistics::Never, Statistics::OfAnEmptyTable, Statistics::OfAnIdleTable, Statistics::Fresh)]
    statistics: Statistics,
) {
    let queue = Queue::new().await;
    statistics.before(&queue).await;
    let sweep = "SELECT swept FROM sweep_stores(NULL, 1000)";
    let due = "SELECT swept FROM sweep_due('30 s', NULL, 1000)";
    queue.rows_read(sweep).await;
    queue.rows_read(due).await;
    let settle = |id, fence| {
        format!(
            "SELECT length(settle_task({id}, {fence}, '{ME}', '{{\"outcome\": \"completed\", \"retry_after\": 0}}'))::bigint"
        )
    };
    // makes the plans of the settlement
    queue.enqueue(&[crate::queue::fetch(1), crate::queue::fetch(1)]).await;
    let first = queue.claim_one().await;
    queue.rows_read(&settle(first.lease.id, first.lease.fence)).await;
    let second = queue.claim_one().await;
    queue
        .sql(&format!(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, dispensary_id, ready) \
             SELECT 'payload_fetch', 1000 + n, true FROM generate_series(1, {READY}) n; RESET xmlbinary"
        ))
        .await;
    // one waits behind the task that is settled, and twelve of other stores, too many for the trigger, may
    // have their reservations at once
    queue.enqueue(&[crate::queue::refresh(1)]).await;
    queue
        .sql(
            "INSERT INTO worker_tasks (role, dispensary_id) SELECT 'payload_fetch', 1 + n FROM generate_series(1, 12) n",
        )
        .await;
    statistics.after(&queue).await;

    let (whole_table, by_index, _) = queue.rows_read(&settle(second.lease.id, second.lease.fence)).await;
    assert_eq!(whole_table, 0);
    assert!(by_index <= 20, "a settlement read {by_index} rows");
    let (whole_table, by_index, swept) = queue.rows_read(sweep).await;
    assert_eq!((whole_table, swept), (0, 12));
    assert!(by_index <= 12 * 2 * READS_PER_TASK, "a sweep of twelve stores read {by_index} rows");
    let (whole_table, by_index, _) = queue.rows_read(due).await;
    assert_eq!(whole_table, 0);
    assert!(by_index <= READS_PER_TASK, "a sweep of nothing read {by_index} rows");
}

#[rstest]
#[tokio::test]
async fn a_removal_of_old_tasks_reads_none_that_ended_later_whatever_the_statistics_say(
    #[values(Statistics::Never, Statistics::OfAnEmptyTable, Statistics::OfAnIdleTable, Statistics::Fresh)]
    statistics: Statistics,
) {
    let queue = Queue::new().await;
    statistics.before(&queue).await;
    queue
        .sql(&format!(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, status, completed_at) \
             SELECT 'download_media', 'completed', now() - interval '1 day' FROM generate_series(1, {READY}) n; \
             INSERT INTO worker_tasks (role, status, completed_at) \
             SELECT 'download_media', 'completed', now() - interval '1 year' FROM generate_series(1, {ASKED}) n; \
             RESET xmlbinary"
        ))
        .await;
    statistics.after(&queue).await;

    let (whole_table, by_index, removed) = queue.rows_of_a_removal().await;
    assert_eq!((whole_table, removed), (0, ASKED));
    assert!(by_index <= ASKED * READS_PER_TASK, "{by_index} rows read for {ASKED} tasks");
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

#[rstest]
#[case::nobody_else_claims(0)]
#[case::other_sessions_hold_the_best(60)]
#[tokio::test]
async fn a_claim_of_any_role_does_not_walk_past_the_backlog_of_another_family(#[case] locked: i64) {
    let queue = Queue::new().await;
    Statistics::Never.before(&queue).await;
    assert_eq!(rows_of_ten_claims(&queue.database.raw, &EVERY_CRAWL_ROLE, true).await.2, 0);
    queue
        .sql(&format!(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, priority, ready) \
             SELECT 'download_media', 5, true FROM generate_series(1, {READY}) n; \
             INSERT INTO worker_tasks (role, dispensary_id, ready) \
             SELECT 'payload_fetch', n, true FROM generate_series(1, 1000) n; RESET xmlbinary"
        ))
        .await;
    let others = testkit::connect(&queue.database.url).await;
    let lock =
        format!("BEGIN; SELECT FROM worker_tasks WHERE role = 'payload_fetch' ORDER BY id LIMIT {locked} FOR UPDATE");
    others.batch_execute(&lock).await.unwrap();

    let (whole_table, by_index, claimed) = rows_of_ten_claims(&queue.database.raw, &EVERY_CRAWL_ROLE, true).await;
    assert_eq!((whole_table, claimed), (0, ASKED));
    let most = 2 * ASKED * READS_PER_TASK + 2 * locked;
    assert!(by_index <= most, "{by_index} rows read for {ASKED} tasks");
}
