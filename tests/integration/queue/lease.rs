//! The lease: renewed while held, worthless when lost, recovered when it has run out.

use contract::tasks::RecoveryCounts;
use db::tasks::{AttemptOutcome, Settlement};
use domain::task::Blame;
use serde_json::json;

use super::*;

const ONE_BACK: RecoveryCounts = RecoveryCounts { requeued: 1, failed: 0 };

fn completed() -> Settlement {
    Settlement::new(AttemptOutcome::Completed, None)
}

impl Queue {
    async fn renew(&self, leases: &[TaskLease]) -> Vec<TaskId> {
        tasks::renew(&self.database.raw, &just_beaten(leases), LEASE).await.unwrap()
    }

    async fn lost(&self, leases: &[TaskLease]) -> Vec<TaskId> {
        tasks::lost(&self.database.raw, leases).await.unwrap()
    }

    async fn recover(&self) -> RecoveryCounts {
        tasks::recover(&self.client().await, None).await.unwrap()
    }

    /// Seconds between the change that put a task back and the time when it is due: the test may ask late.
    async fn wait_of(&self, id: TaskId) -> i64 {
        let sql = "SELECT coalesce(round(extract(epoch FROM scheduled_for - updated_at))::bigint, 0)
                     FROM worker_tasks WHERE id = $1";
        self.one(sql, id).await.get(0)
    }
}

#[tokio::test]
async fn an_expired_lease_returns_to_pending() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    assert_eq!(queue.recover().await, RecoveryCounts::default());
    assert_eq!(queue.lose(&task).await, ONE_BACK);
    let row = queue.task(id).await;
    assert_eq!((&row["status"], &row["retry_count"], &row["loss_count"]), (&json!("pending"), &json!(0), &json!(1)));
    assert_eq!(queue.outcomes(id).await, ["lost"]);
    assert_eq!(queue.claim_all().await, [id], "the first loss comes back at once");
}

#[tokio::test]
async fn a_task_without_retries_left_is_recovered_all_the_same() {
    let queue = Queue::new().await;
    let id = queue.add(NewTask { max_retries: Some(0), ..fetch(1) }).await;
    let task = queue.claim_one().await;
    assert_eq!(queue.lose(&task).await, ONE_BACK);
    assert_eq!(queue.claim_all().await, [id], "its store is not locked for ever");
}

#[tokio::test]
async fn a_row_set_running_by_hand_without_a_lease_is_recovered() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    queue.sql("UPDATE worker_tasks SET status = 'running'").await;
    assert_eq!(queue.recover().await, ONE_BACK);
}

#[tokio::test]
async fn later_losses_wait_longer_and_longer() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    let mut waits = Vec::new();
    for _ in 0..3 {
        let task = queue.claim_one().await;
        queue.lose(&task).await;
        waits.push(queue.wait_of(id).await);
        queue.make_due(id).await;
    }
    assert_eq!(waits, [0, 1, 2]);
    queue.sql("UPDATE worker_tasks SET loss_count = 40, crash_count = 0").await;
    let task = queue.claim_one().await;
    queue.lose(&task).await;
    assert_eq!(queue.wait_of(id).await, 60);
}

#[tokio::test]
async fn a_zombie_completes_nothing() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let zombie = queue.claim_one().await;
    queue.lose(&zombie).await;
    let heir = queue.claim_one().await;
    assert_eq!((heir.lease.id, heir.lease.worker_id.as_str()), (id, ME), "the same task and a reused name");

    assert!(matches!(queue.settle(&zombie, &completed()).await, Err(DbError::Missing(_))));
    let done = vec![tasks::Completion { lease: zombie.lease.clone(), result: json!({}), detail: json!({}) }];
    let answer = tasks::settle_and_claim(&queue.client().await, &ClaimBatch { done, ..asks(0) }).await.unwrap();
    assert!(answer.settled.is_empty());
    assert!(!tasks::start(&queue.client().await, &zombie.lease).await.unwrap());
    assert!(queue.renew(std::slice::from_ref(&zombie.lease)).await.is_empty());
    assert_eq!(queue.lost(std::slice::from_ref(&zombie.lease)).await, [id]);
    assert_eq!(
        tasks::recover_held(&queue.client().await, &[zombie.lease], Blame::Task).await.unwrap(),
        RecoveryCounts::default()
    );

    assert_eq!(queue.task(id).await["status"], json!("claimed"));
    assert_eq!(queue.outcomes(id).await, ["lost", "active"]);
    queue.settle(&heir, &completed()).await.unwrap();
}

#[tokio::test]
async fn another_workers_name_opens_nothing() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let mut task = queue.claim_one().await;
    task.lease.worker_id = "another worker".to_owned();
    assert!(matches!(queue.settle(&task, &completed()).await, Err(DbError::Missing(_))));
}

#[tokio::test]
async fn what_ran_out_of_lease_settles_nothing_even_before_it_is_recovered() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.expire(id).await;
    assert!(matches!(queue.settle(&task, &completed()).await, Err(DbError::Missing(_))));
    let done = vec![tasks::Completion { lease: task.lease.clone(), result: json!({}), detail: json!({}) }];
    let answer = tasks::settle_and_claim(&queue.client().await, &ClaimBatch { done, ..asks(0) }).await.unwrap();
    assert!(answer.settled.is_empty());
    assert!(!tasks::start(&queue.client().await, &task.lease).await.unwrap());
    assert!(queue.renew(std::slice::from_ref(&task.lease)).await.is_empty());
    assert_eq!(queue.lost(&[task.lease]).await, [id]);
    assert_eq!(queue.outcomes(id).await, ["active"], "nothing was written");
}

#[tokio::test]
async fn a_lost_settlement_takes_its_effects_with_it() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.expire(id).await;
    let tx = queue.database.db.begin().await.unwrap();
    tasks::enqueue(&tx, &[refresh(1)]).await.unwrap();
    assert!(tasks::settle(&tx, &task.lease, &completed()).await.is_err());
    drop(tx);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1);
}

#[tokio::test]
async fn a_renewal_moves_the_lease_of_each_task_on() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), analytics()]).await;
    let claimed = queue.claim(&Role::CRAWL, 2).await;
    queue.sql("UPDATE worker_tasks SET lease_expires_at = now() + interval '5 seconds', last_heartbeat_at = now() - interval '1 minute'").await;
    let leases: Vec<TaskLease> = claimed.into_iter().map(|task| task.lease).collect();
    let mut renewed = queue.renew(&leases).await;
    renewed.sort();
    assert_eq!(renewed, made);
    let fresh = "SELECT count(*) FROM worker_tasks WHERE lease_expires_at > now() + interval '9 minutes' AND last_heartbeat_at > now() - interval '5 seconds'";
    assert_eq!(queue.number(fresh).await, 2);
}

#[tokio::test]
async fn a_row_being_settled_is_skipped_and_not_lost() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    let claimed = queue.claim(&Role::CRAWL, 2).await;
    let leases: Vec<TaskLease> = claimed.iter().map(|task| task.lease.clone()).collect();
    let tx = queue.database.db.begin().await.unwrap();
    tasks::settle(&tx, &leases[0], &completed()).await.unwrap();
    assert_eq!(queue.renew(&leases).await, [made[1]], "the others do not wait for it");
    assert!(queue.lost(&leases).await.is_empty());
    tx.commit().await.unwrap();
    assert_eq!(queue.lost(&leases).await, [made[0]], "settled is no longer held");
}

#[tokio::test]
async fn flushed_renewals_are_on_disk() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let leases = vec![queue.claim_one().await.lease];
    queue.sql("SET synchronous_commit = off").await;
    assert_eq!(queue.renew(&leases).await.len(), 1);
    let raw = &queue.database.raw;
    let renewed: String = raw.query_one("SELECT pg_current_wal_insert_lsn()::text", &[]).await.unwrap().get(0);
    tasks::flush_renewals(raw).await.unwrap();
    let is_on_disk = format!("SELECT (pg_current_wal_flush_lsn() >= '{renewed}')::int::bigint");
    assert_eq!(queue.number(&is_on_disk).await, 1);
}

#[tokio::test]
async fn a_payload_may_name_its_task_while_the_lease_is_being_renewed() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let id = queue.add(fetch(store)).await;
    let leases = vec![queue.claim_one().await.lease];
    let add = format!(
        "INSERT INTO raw_crawl_payloads (task_id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at) \
         VALUES ({id}, {store}, 'dutchie', 'payloads/a', repeat('0', 64), 1, 1, 1, 1, now())"
    );
    let tx = queue.database.db.begin().await.unwrap();
    tx.batch("SET LOCAL lock_timeout = '2s'").await.unwrap();
    queue.sql("BEGIN").await;
    assert_eq!(queue.renew(&leases).await, [id]);
    tx.batch(&add).await.unwrap();
    queue.sql("COMMIT").await;
    assert_eq!(queue.renew(&leases).await, [id], "nor does the payload's transaction hold the renewal up");
    tx.rollback().await.unwrap();
}

#[tokio::test]
async fn a_heartbeat_is_a_heap_only_update() {
    let queue = Queue::new().await;
    queue.add(fetch(1)).await;
    let leases = vec![queue.claim_one().await.lease];
    let hot = "SELECT coalesce(sum(n_tup_hot_upd), 0)::bigint FROM pg_stat_user_tables WHERE relname = 'worker_tasks'";
    queue.sql("SELECT pg_stat_force_next_flush()").await;
    let before = queue.number(hot).await;
    for _ in 0..5 {
        assert_eq!(queue.renew(&leases).await.len(), 1);
    }
    queue.sql("SELECT pg_stat_force_next_flush()").await;
    assert_eq!(queue.number(hot).await - before, 5);
}

#[tokio::test]
async fn the_tasks_of_a_dead_worker_come_back_at_once() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2)]).await;
    let claimed = queue.claim(&Role::CRAWL, 2).await;
    let recovered = tasks::recover_held(&queue.client().await, &[claimed[0].lease.clone()], Blame::Task).await.unwrap();
    assert_eq!(recovered, ONE_BACK);
    assert_eq!(queue.claim_all().await, [made[0]], "its neighbour of the same name runs on");
}

#[tokio::test]
async fn silence_alone_is_enough_when_asked_for() {
    let queue = Queue::new().await;
    queue.enqueue(&[fetch(1), fetch(2)]).await;
    let claimed = queue.claim(&Role::CRAWL, 2).await;
    let quiet = claimed[0].lease.id;
    queue
        .sql(&format!("UPDATE worker_tasks SET last_heartbeat_at = now() - interval '3 minutes' WHERE id = {quiet}"))
        .await;
    let client = queue.client().await;
    assert_eq!(tasks::recover(&client, Some(Duration::from_secs(300))).await.unwrap(), RecoveryCounts::default());
    assert_eq!(tasks::recover(&client, Some(Duration::from_secs(120))).await.unwrap(), ONE_BACK);
    assert_eq!(queue.task(quiet).await["status"], json!("pending"));
}

#[tokio::test]
async fn one_loss_is_counted_once_by_however_many_processes() {
    let queue = Queue::new().await;
    queue.enqueue(&(1..=40).map(fetch).collect::<Vec<_>>()).await;
    queue.claim_all().await;
    queue.sql("UPDATE worker_tasks SET status = 'running', lease_expires_at = now() - interval '1 second'").await;
    let recover = async || tasks::recover(&queue.database.db.client().await.unwrap(), None).await.unwrap().requeued;
    let counts = futures_util::future::join_all((0..6).map(|_| recover())).await;
    assert_eq!(counts.iter().sum::<i32>(), 40);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE loss_count = 1 AND ready").await, 40);
}
