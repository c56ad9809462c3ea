//! The slot of a run without effects, while the end of the run is being written.

use db::tasks::NewTask;
use domain::task::role::Role;
use queue::Outcome;
use serde_json::json;

use super::runs::{Runs, enqueue};
use crate::queue::Queue;

#[tokio::test]
async fn a_slot_is_free_before_the_end_of_its_run_is_written_and_its_task_is_held_until_then() {
    let queue = Queue::new().await;
    let url = queue.database.url.clone();
    let (sender, mut locks) = tokio::sync::mpsc::channel(1);
    let runs = Runs::new(&queue.database.db, move |run| {
        let (url, sender) = (url.clone(), sender.clone());
        async move {
            let person = testkit::connect(&url).await;
            let lock = format!("BEGIN; SELECT FROM worker_tasks WHERE id = {} FOR UPDATE", run.task.lease.id);
            person.batch_execute(&lock).await.unwrap();
            sender.send(person).await.unwrap();
            Ok(Outcome::done(json!({})).into())
        }
    });
    let task = enqueue(&queue.client().await, NewTask::new(Role::AnalyticsRefresh)).await;
    assert!(runs.run_in_slot().await);
    assert_eq!((runs.held_tasks.count(), &queue.task(task).await["status"]), (1, &json!("running")));
    locks.recv().await.unwrap().batch_execute("COMMIT").await.unwrap();
    runs.held_tasks.until_empty().await;
    assert_eq!(queue.task(task).await["status"], json!("completed"));
}
