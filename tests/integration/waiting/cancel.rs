//! A cancelled parent takes with it the children that it made.

use contract::jobs::JobStatus;
use domain::task::TaskId;
use domain::vocabulary::Word;
use queue::MAX_CHILDREN;
use rstest::rstest;
use serde_json::json;

use super::runs::{Runs, enqueue, sync, sync_or_creator};
use crate::queue::Queue;
use db::tasks::{self, NewTask};

#[derive(Clone, Copy, Debug)]
enum Way {
    Program,
    Psql,
    Update,
    View,
}

impl Way {
    async fn cancel(self, queue: &Queue, id: TaskId) {
        match self {
            Way::Program => drop(tasks::cancel(&queue.client().await, id).await.unwrap()),
            Way::Psql => queue.sql(&format!("SELECT cancel_task({id})")).await,
            // one of the children is in the statement, too
            Way::Update => {
                let both = format!("id = {id} OR id = (SELECT max(id) FROM worker_tasks)");
                queue.sql(&format!("UPDATE worker_tasks SET status = 'cancelled' WHERE {both}")).await;
            }
            Way::View => queue.sql(&format!("UPDATE worker_job_queue SET status = 'cancelled' WHERE id = {id}")).await,
        }
    }
}

#[rstest]
#[tokio::test]
async fn cancel_reaches_the_children_that_the_task_made_and_no_adopted_one(
    #[values(Way::Program, Way::Psql, Way::Update, Way::View)] way: Way,
) {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| sync_or_creator(run, 4));
    let client = queue.client().await;
    let parent = enqueue(&client, NewTask { priority: 9, ..sync() }).await;
    queue
        .sql(
            "INSERT INTO worker_job_queue (job_type, platform, account, payload, priority)
              VALUES ('paid_content_creator', 'site', 'creator-0', '{\"creator_id\": 0}', 10)",
        )
        .await;
    runs.run_one().await;
    let children = tasks::children_of(&client, parent).await.unwrap();
    runs.run_one().await;
    let claimed = format!(
        "UPDATE worker_tasks SET status = 'running', worker_id = 'w', lease_expires_at = now() + interval '1 hour' WHERE id = {}",
        children[2].id
    );
    queue.sql(&claimed).await;
    way.cancel(&queue, parent).await;
    let statuses = tasks::children_of(&client, parent).await.unwrap();
    let statuses: Vec<String> = statuses.into_iter().map(|child| child.status.unwrap().to_string()).collect();
    assert_eq!(statuses, ["pending", "completed", "cancelled", "cancelled"]);
    assert_eq!(queue.task(parent).await["status"], json!("cancelled"));
    let stopping = "SELECT count(*) FROM stopping_runs";
    assert_eq!(queue.number(stopping).await, 1, "the run of the child is stopped");

    tasks::retry(&client, children[3].id).await.unwrap();
    tasks::retry(&client, parent).await.unwrap();
    runs.run_all(&client).await;
    assert_eq!(queue.task(parent).await["result"]["completed"], json!(4));
}

#[tokio::test]
async fn the_greatest_number_of_children_is_made_and_cancelled_within_the_deadline_of_a_statement() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| sync_or_creator(run, MAX_CHILDREN));
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;
    runs.run_one().await;
    assert_eq!(queue.outcomes(parent).await, ["waiting"]);
    tasks::cancel(&client, parent).await.unwrap();
    let cancelled = "SELECT count(*) FROM worker_tasks WHERE status = 'cancelled'";
    assert_eq!(queue.number(cancelled).await, 1 + MAX_CHILDREN as i64);
}

#[tokio::test]
async fn a_waiting_task_is_not_deleted_and_is_no_pending_job() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| sync_or_creator(run, 2));
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;
    runs.run_one().await;
    let refused = tasks::delete(&client, parent).await;
    assert!(matches!(refused, Err(tasks::ChangeError::Status { .. })), "{refused:?}");
    let counts = db::tasks::jobs::pending_counts(&client).await.unwrap();
    assert_eq!(counts.iter().map(|count| count.count).sum::<i64>(), 2, "its children");
    queue.sql(&format!("UPDATE worker_job_queue SET account = 'all' WHERE id = {parent}")).await;
    let row = queue.task(parent).await;
    assert!(row["started_at"].is_null() && row["progress_message"].is_null(), "the view's own values: {row}");
    assert_eq!(db::tasks::jobs::get(&client, parent).await.unwrap().status, Word::Known(JobStatus::Running));
}
