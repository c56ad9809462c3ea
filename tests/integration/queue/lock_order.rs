//! The order of row locks. A statement that locks many tasks takes them by ascending id, so that no two wait
//! for each other.

use db::Db;
use db::tasks::Completion;
use domain::task::{Blame, TaskLease};
use rstest::rstest;
use serde_json::json;

use super::*;

const SOON: Duration = Duration::from_secs(60);
const ROUNDS: usize = 20;
const TASKS: usize = 200;

const MANY_ENDED_TASKS: &str = "
    INSERT INTO worker_tasks (role, status, dispensary_id) SELECT 'payload_fetch', 'completed', n FROM generate_series(1, 20000) n;
    ANALYZE worker_tasks";

#[derive(Clone, Copy, Debug)]
enum Statement {
    Complete,
    Recover,
    Release,
}

impl Statement {
    async fn run(self, db: Db, leases: Vec<TaskLease>) -> Result<(), DbError> {
        let client = db.client().await?;
        match self {
            Statement::Complete => {
                let completed = |lease| Completion { lease, result: json!({}), detail: json!({}) };
                let done = leases.into_iter().map(completed).collect();
                tasks::settle_and_claim(&client, &ClaimBatch { done, ..asks(0) }).await.map(drop)
            }
            Statement::Recover => tasks::recover_held(&client, &leases, Blame::NoTask).await.map(drop),
            Statement::Release => tasks::release_unstarted(&client, &leases).await.map(drop),
        }
    }
}

impl Queue {
    /// The leases of that many claimed tasks, by descending id.
    async fn leases(&self, count: usize) -> Vec<TaskLease> {
        self.enqueue(&vec![analytics(); count]).await;
        let mut leases: Vec<TaskLease> =
            self.claim(&Role::CRAWL, count).await.into_iter().map(|task| task.lease).collect();
        leases.sort_by_key(|lease| -lease.id);
        leases
    }
}

#[rstest]
#[tokio::test]
async fn a_statement_that_waits_for_a_task_holds_none_with_a_greater_id(
    #[values(Statement::Complete, Statement::Recover, Statement::Release)] statement: Statement,
) {
    // among many rows each is looked up by itself; a small table is read in the order of its ids whatever the
    // statement says
    let queue = Queue::on(testkit::filled_database(MANY_ENDED_TASKS)).await;
    let leases = queue.leases(3).await;
    let (greater, least) = (vec![leases[0].id, leases[1].id], leases[2].id);
    queue.sql(&format!("BEGIN; SELECT FROM worker_tasks WHERE id = {least} FOR UPDATE")).await;
    let running = tokio::spawn(statement.run(queue.database.db.clone(), leases));
    testkit::until("it waits for the locked task, or has passed it over", SOON, async || {
        running.is_finished() || queue.number(testkit::WAITING_FOR_LOCKS).await == 1
    })
    .await;
    let free = "SELECT id FROM worker_tasks WHERE id = ANY ($1) FOR UPDATE SKIP LOCKED";
    assert_eq!(queue.client().await.query(free, &[&greater]).await.unwrap().len(), greater.len());
    queue.sql("COMMIT").await;
    running.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_completion_and_a_recovery_of_the_same_tasks_do_not_deadlock() {
    let queue = Queue::new().await;
    for _ in 0..ROUNDS {
        let leases = queue.leases(TASKS).await;
        let ascending = leases.iter().rev().cloned().collect();
        let db = &queue.database.db;
        let complete = tokio::spawn(Statement::Complete.run(db.clone(), leases));
        let recover = tokio::spawn(Statement::Recover.run(db.clone(), ascending));
        complete.await.unwrap().and(recover.await.unwrap()).unwrap();
        assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE status = 'claimed'").await, 0);
        queue.sql("DELETE FROM worker_tasks").await;
    }
}
