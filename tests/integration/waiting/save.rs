//! A long run keeps what it has, and shows how far it is, for as long as it has its lease.

use std::time::{Duration, Instant};

use db::Tx;
use domain::task::Blame;
use domain::task::role::Role;
use drover::handlers::Context;
use queue::{FollowUp, Outcome, SaveError, TaskError, WriteResults};
use serde_json::{Value, json};
use testkit::{PATIENCE, until};

use super::runs::{Runs, enqueue, sync};
use crate::handlers::harness::HandlerHarness;
use crate::queue::Queue;

const KEPT: &str = "SELECT count(*) FROM kept";

async fn keep(ctx: &Context, number: i32) -> Result<(), SaveError> {
    ctx.save(number, |number, tx: &Tx| {
        Box::pin(async move {
            tx.execute("INSERT INTO kept VALUES ($1)", &[number]).await?;
            Ok(WriteResults::default())
        })
    })
    .await
    .map(drop)
}

#[tokio::test]
async fn what_a_run_has_saved_stays_and_nothing_is_saved_after_its_lease_is_lost() {
    let harness = HandlerHarness::new().await;
    let raw = &harness.store.database.raw;
    raw.batch_execute("CREATE TABLE kept (number int)").await.unwrap();
    let task = harness.task(Role::PayloadFetch, json!({})).await;
    let ctx = harness.context(&task);
    keep(&ctx, 1).await.unwrap();

    let expire = "UPDATE worker_tasks SET lease_expires_at = clock_timestamp() WHERE status = 'claimed'";
    raw.batch_execute(expire).await.unwrap();
    let refused = keep(&ctx, 2).await.unwrap_err();
    assert!(matches!(refused, SaveError::LeaseLost), "{refused}");
    let client = harness.services.db.client().await.unwrap();
    db::tasks::recover_held(&client, std::slice::from_ref(&task.lease), Blame::NoTask).await.unwrap();
    let refused = keep(&ctx, 3).await.unwrap_err();
    assert!(matches!(TaskError::from(refused), TaskError::LeaseLost));
    assert_eq!(harness.store.count(KEPT).await, 1);
    assert_eq!(harness.store.count("SELECT number::bigint FROM kept").await, 1, "it outlives the run");
}

#[tokio::test]
async fn a_body_that_ends_because_its_lease_is_lost_writes_nothing_and_lets_a_cancelled_run_go() {
    let queue = Queue::new().await;
    let runs = Runs::new(&queue.database.db, |run| async move {
        let client = run.db.client().await?;
        db::tasks::cancel(&client, run.task.lease.id).await.unwrap();
        Err::<Outcome, _>(TaskError::LeaseLost)
    });
    let id = enqueue(&queue.client().await, sync()).await;
    runs.run_one().await;
    assert_eq!(queue.outcomes(id).await, ["cancelled"]);
    assert_eq!(queue.number("SELECT count(*) FROM stopping_runs").await, 0);
}

/// False: more time has passed.
async fn note_twice_in_a_second(ctx: &Context) -> bool {
    let begun = Instant::now();
    ctx.progress(Some(10), "1 of 10").await;
    ctx.progress(Some(20), "2 of 10").await;
    begun.elapsed() < Duration::from_secs(1)
}

#[tokio::test]
async fn progress_is_written_once_a_second_and_not_after_the_lease() {
    let harness = HandlerHarness::new().await;
    let task = harness.task(Role::PayloadFetch, json!({})).await;
    let shown = async || -> Value {
        let sql = "SELECT jsonb_build_array(progress_percent, progress_message) FROM worker_tasks WHERE id = $1";
        harness.store.database.raw.query_one(sql, &[&task.lease.id]).await.unwrap().get(0)
    };
    let mut ctx = harness.context(&task);
    // again where the machine was so busy that the second one came a second later
    while !note_twice_in_a_second(&ctx).await {
        ctx = harness.context(&task);
    }
    assert_eq!(shown().await, json!([10, "1 of 10"]));
    until("a second has passed", PATIENCE, async || {
        ctx.progress(None, "3 of many").await;
        shown().await == json!([null, "3 of many"])
    })
    .await;
    harness.store.database.raw.batch_execute("UPDATE worker_tasks SET status = 'cancelled'").await.unwrap();
    harness.context(&task).progress(Some(99), "late").await;
    assert_eq!(shown().await, json!([null, "3 of many"]));
}

#[tokio::test]
async fn a_save_makes_its_follow_ups_once_with_the_platform_of_its_task() {
    let harness = HandlerHarness::new().await;
    let task = harness.task(Role::PayloadFetch, json!({})).await;
    let ctx = harness.context(&task);
    let follow_up = || FollowUp::new(Role::DownloadMedia, json!({"media_ids": [1]}));
    for _ in 0..2 {
        let saved = ctx.save((), move |_: &(), _: &Tx| {
            let next = vec![follow_up()];
            Box::pin(async move { Ok(WriteResults { next, ..WriteResults::default() }) })
        });
        saved.await.unwrap();
    }
    let sql = "SELECT jsonb_agg(jsonb_build_array(platform, payload, parent_task_id)) FROM worker_tasks WHERE role = 'download_media'";
    let made: Value = harness.store.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(made, json!([["dutchie", {"media_ids": [1]}, task.lease.id]]));
}
