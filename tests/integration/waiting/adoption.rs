//! Open tasks that do the work of a child already.

use queue::{FollowUp, Outcome};
use serde_json::json;

use super::runs::{Runs, creator, enqueue, sync, sync_or_creator};
use crate::queue::Queue;
use db::tasks::{self, NewTask};
use domain::task::role::Role;

/// Statement by which a person queues a job.
const BY_HAND: &str = "INSERT INTO worker_job_queue (job_type, platform, account, payload)
     VALUES ('paid_content_creator', 'site', 'creator-1', '{\"creator_id\": 1}')";

#[tokio::test]
async fn an_open_task_with_the_key_of_a_child_is_adopted_and_not_doubled() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| sync_or_creator(run, 3));
    let client = queue.client().await;
    let parent = enqueue(&client, NewTask { priority: 9, ..sync() }).await;
    queue.sql(BY_HAND).await;
    let twin = queue.number("SELECT id FROM worker_tasks WHERE role = 'paid_content_creator'").await;
    runs.run_one().await;
    let children = tasks::children_of(&client, parent).await.unwrap();
    assert_eq!((children.len(), children[1].id), (3, twin), "in the order of the handler");
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 4);
    assert!(queue.task(twin).await["parent_task_id"].is_null());
    runs.run_all(&client).await;
    assert_eq!(queue.task(parent).await["result"]["completed"], json!(3));
}

#[tokio::test]
async fn a_follow_up_whose_key_an_open_task_has_is_not_made_again() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        let done = Outcome::done(json!({}));
        Ok(if run.task.role == Role::PaidContentSync { done.next(creator(1)).next(creator(2)) } else { done }.into())
    });
    let client = queue.client().await;
    let parent = enqueue(&client, NewTask { priority: 9, ..sync() }).await;
    queue.sql(BY_HAND).await;
    runs.run_one().await;
    assert_eq!(queue.task(parent).await["status"], json!("completed"));
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 3);
}

#[tokio::test]
async fn a_key_that_a_session_has_just_taken_is_adopted_when_it_commits() {
    let queue = Queue::new().await;
    let db = queue.database.db.clone();
    let client = queue.client().await;
    let parent = enqueue(&client, sync()).await;
    let person = testkit::connect(&queue.database.url).await;
    person.batch_execute(&format!("BEGIN; {BY_HAND}")).await.unwrap();
    let waits = tokio::spawn(async move { Runs::new(&db, |run| sync_or_creator(run, 3)).run_one().await });
    testkit::until("the fan-out waits", testkit::PATIENCE, async || {
        queue.number(testkit::WAITING_FOR_LOCKS).await == 1
    })
    .await;
    person.batch_execute("COMMIT").await.unwrap();
    assert!(waits.await.unwrap());
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 4);
    assert_eq!(tasks::children_of(&client, parent).await.unwrap().len(), 3);
}

#[tokio::test]
async fn children_with_one_key_are_one_unless_their_arguments_differ() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        let other = FollowUp { args: run.task.payload.clone(), ..creator(1) };
        Ok(Outcome::wait_for(vec![creator(1), other]).into())
    });
    let client = queue.client().await;
    let with = |creator: i64| NewTask { payload: json!({ "creator_id": creator }), ..sync() };
    let same = enqueue(&client, with(1)).await;
    runs.run_one().await;
    assert_eq!(tasks::children_of(&client, same).await.unwrap().len(), 1);
    tasks::cancel(&client, same).await.unwrap();
    let different = enqueue(&client, with(2)).await;
    runs.run_one().await;
    let error = queue.task(different).await["error_message"].as_str().unwrap().to_owned();
    assert!(error.contains("different arguments"), "{error}");
}

#[tokio::test]
async fn no_task_waits_for_itself() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |_| async {
        let own = FollowUp { dedup_key: Some("mine".to_owned()), ..FollowUp::new(Role::PaidContentSync, json!({})) };
        Ok(Outcome::wait_for(vec![own]).into())
    });
    let client = queue.client().await;
    let parent = enqueue(&client, NewTask { dedup_key: Some("mine".to_owned()), ..sync() }).await;
    runs.run_one().await;
    let row = queue.task(parent).await;
    assert_eq!((&row["status"], &row["blocked"]), (&json!("pending"), &json!(false)));
    assert!(row["error_message"].as_str().unwrap().contains("would wait for itself"), "{row}");
}
