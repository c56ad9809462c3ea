//! A task waits for its children, and sums them up once.

use contract::jobs::JobStatus;
use domain::task::role::Role;
use domain::vocabulary::Word;
use queue::{MAX_CHILDREN, Outcome, TaskError};
use serde_json::{Value, json};

use super::runs::{Runs, TaskRun, creator, enqueue, sync, sync_of, sync_or_creator};
use crate::queue::Queue;
use db::tasks;

const CREATORS: usize = 500;

/// Ten of the creators fail for good.
async fn some_fail(run: TaskRun) -> Result<Outcome, TaskError> {
    let creator = run.task.payload["creator_id"].as_u64();
    match creator {
        None => sync_of(run, CREATORS).await,
        Some(number) if number % 50 == 0 => Err(TaskError::permanent("the creator is gone")),
        Some(number) => Ok(Outcome::done(json!({ "items": number })).into()),
    }
}

#[tokio::test]
async fn five_hundred_children_of_which_ten_fail_are_made_once_and_summed_up_once() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, some_fail);
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;

    assert!(runs.run_one().await);
    let job = db::tasks::jobs::get(&client, parent).await.unwrap();
    assert_eq!((job.status, job.progress_percent), (Word::Known(JobStatus::Running), Some(0)));
    assert!(job.started_at.is_some() && job.depends_on.unwrap().len() == CREATORS);
    let row = queue.task(parent).await;
    assert_eq!((&row["status"], &row["blocked"], &row["retry_count"]), (&json!("pending"), &json!(true), &json!(0)));
    assert_eq!(tasks::recover(&client, None).await.unwrap().requeued, 0, "it has no lease that could run out");
    assert_eq!(queue.sweep_all().await, 0);
    for _ in 0..5 {
        assert!(runs.run_one().await);
    }
    let job = db::tasks::jobs::get(&client, parent).await.unwrap();
    assert_eq!((job.progress_percent, job.progress_message.as_deref()), (Some(1), Some("5 of 500 ended")));

    runs.run_all(&client).await;
    let row = queue.task(parent).await;
    let expected = json!({ "completed": 490, "failed": 10, "cancelled": 0, "deleted": 0 });
    assert_eq!((&row["status"], &row["result"]), (&json!("completed"), &expected));
    assert_eq!(queue.outcomes(parent).await, ["waiting", "completed"]);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1 + CREATORS as i64);
    assert_eq!(queue.number("SELECT count(*) FROM task_attempts").await, 2 + CREATORS as i64);
    let fields = "SELECT count(*) FROM worker_tasks WHERE role = 'paid_content_creator' AND platform = 'site'
                     AND account = 'creator-' || (payload->>'creator_id') AND parent_task_id IS NOT NULL";
    assert_eq!(queue.number(fields).await, CREATORS as i64);
}

#[tokio::test]
async fn a_deleted_child_has_ended_and_a_retried_one_is_waited_for() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| sync_or_creator(run, 3));
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;
    runs.run_one().await;
    let children = tasks::children_of(&client, parent).await.unwrap();
    for child in &children {
        tasks::cancel(&client, child.id).await.unwrap();
    }
    queue.sql(&format!("DELETE FROM worker_tasks WHERE id = {}", children[0].id)).await;
    tasks::retry(&client, children[1].id).await.unwrap();
    assert_eq!(queue.sweep_all().await, 0, "one is open");
    runs.run_all(&client).await;
    let expected = json!({ "completed": 1, "failed": 0, "cancelled": 1, "deleted": 1 });
    assert_eq!(queue.task(parent).await["result"], expected);
}

#[tokio::test]
async fn a_failed_second_run_is_retried_without_other_children() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        let is_first_sum = run.task.role == Role::PaidContentSync && run.task.lease.fence == 2;
        if is_first_sum { Err(TaskError::retry("no room")) } else { sync_or_creator(run, 3).await }
    });
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;
    runs.run_all(&client).await;
    let job = db::tasks::jobs::get(&client, parent).await.unwrap();
    assert_eq!(job.status, Word::Known(JobStatus::Pending), "it waits for its back-off");
    queue.make_due(parent).await;
    runs.run_all(&client).await;
    assert_eq!(queue.outcomes(parent).await, ["waiting", "failed", "completed"]);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 4);
}

#[tokio::test]
async fn a_failed_parent_that_is_retried_makes_its_children_again() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        let is_second = run.task.role == Role::PaidContentSync && run.task.lease.fence == 2;
        if is_second { Err(TaskError::permanent("all failed")) } else { sync_or_creator(run, 3).await }
    });
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;
    runs.run_all(&client).await;
    assert_eq!(queue.task(parent).await["status"], json!("failed"));
    let child = tasks::children_of(&client, parent).await.unwrap()[0].id;
    queue.sql(&format!("UPDATE worker_tasks SET status = 'failed' WHERE id = {child}")).await;
    tasks::retry(&client, child).await.unwrap();
    let later = format!("UPDATE worker_tasks SET scheduled_for = now() + interval '1 hour' WHERE id = {child}");
    queue.sql(&later).await;

    tasks::retry(&client, parent).await.unwrap();
    let row = queue.task(parent).await;
    assert_eq!((&row["depends_on"], &row["blocked"]), (&Value::Null, &json!(false)));
    runs.run_one().await;
    queue.make_due(child).await;
    runs.run_all(&client).await;
    assert_eq!(queue.outcomes(parent).await, ["waiting", "failed", "waiting", "completed"]);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 1 + 3 + 2, "the open child is adopted");
}

#[tokio::test]
async fn a_handler_that_waits_for_no_task_or_too_many_fails_for_good() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        let count = run.task.payload["children"].as_u64().unwrap() as usize;
        Ok(Outcome::wait_for((0..count).map(creator).collect()).into())
    });
    let client = queue.client().await;
    for count in [0, MAX_CHILDREN + 1] {
        let parent = enqueue(&client, tasks::NewTask { payload: json!({ "children": count }), ..sync() }).await;
        runs.run_one().await;
        let row = queue.task(parent).await;
        assert_eq!((&row["status"], &row["retry_count"]), (&json!("failed"), &json!(0)), "{count}");
        assert!(row["error_message"].as_str().unwrap().contains("the handler"), "{row}");
    }
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 2);
}

#[tokio::test]
async fn a_task_of_a_store_lets_the_store_go_while_it_waits() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        match run.task.role {
            Role::PayloadFetch if run.task.lease.fence == 1 => Ok(Outcome::wait_for(vec![creator(1)]).into()),
            _ => Ok(Outcome::done(json!({})).into()),
        }
    });
    let client = queue.client().await;
    let made = queue.enqueue(&[crate::queue::fetch(1), crate::queue::refresh(1)]).await;
    assert!(runs.run_one().await);
    assert_eq!(queue.task(made[1]).await["ready"], json!(true));
    runs.run_all(&client).await;
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE status <> 'completed'").await, 0);
}
