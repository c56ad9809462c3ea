//! What of the queue is found: tasks by what made them and how they failed, completions of a role, the active task of a store.

use drover::db::task_views::{self, TaskFilter, completions};
use drover::db::tasks::AttemptOutcome;
use drover::domain::shown_status::ShownStatus;

use super::*;

#[tokio::test]
async fn a_list_is_filtered_by_what_made_a_task_and_how_it_failed() {
    let queue = Queue::new().await;
    queue.failures(3).await;
    let parent = queue.add(fetch(7)).await;
    let child = queue.add(NewTask { parent_task_id: Some(parent), ..refresh(7) }).await;
    queue.sql("UPDATE worker_tasks SET schedule_id = 5, retry_count = 2 WHERE id = 1").await;
    let list = async |filter: TaskFilter| {
        let listed = task_views::list(&queue.client().await, &filter, 50).await.unwrap();
        listed.iter().map(|task| task.id).collect::<Vec<_>>()
    };
    let any = TaskFilter::default;
    assert_eq!(list(TaskFilter { schedule_id: Some(5), ..any() }).await, [1]);
    assert_eq!(list(TaskFilter { parent_task_id: Some(parent), ..any() }).await, [child]);
    assert_eq!(list(TaskFilter { min_retries: Some(2), ..any() }).await, [1]);
    assert_eq!(list(TaskFilter { error: Some("ANSWER from 2".to_owned()), ..any() }).await, [2]);
    assert!(list(TaskFilter { error: Some("%".to_owned()), ..any() }).await.is_empty());
    let failed = TaskFilter { status: Some(ShownStatus::Failed), error: Some("no answer".to_owned()), ..any() };
    assert_eq!(list(failed).await, [3, 2, 1]);
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
