//! Pauses of stores, and of roles for claims at psql.

use contract::pauses::Pause;
use db::tasks;
use db::tasks::pauses::NewPause;
use db::tasks::{AttemptOutcome, Settlement, complete_and_start};
use domain::task::pause::PauseTarget;
use serde_json::json;

use super::*;

async fn pause(queue: &Queue, target: PauseTarget) -> Pause {
    let new = NewPause { target: &target, reason: "parsers are wrong", until: None, created_by: "me" };
    tasks::pauses::put(&queue.client().await, &new).await.unwrap()
}

/// Moves the end of all pauses into the past.
async fn pass_time(queue: &Queue) {
    queue.sql("UPDATE pauses SET until = now() - interval '1 second'").await;
}

#[tokio::test]
async fn no_task_of_a_paused_store_is_claimed_until_it_is_resumed() {
    let queue = Queue::new().await;
    let stores = queue.stores(2).await;
    let before = queue.add(fetch(stores[0])).await;
    let pause = pause(&queue, PauseTarget::Store(stores[0])).await;
    let other = queue.add(fetch(stores[1])).await;
    let after = queue.add(NewTask { priority: 20, ..refresh(stores[0]) }).await;
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await, [other]);

    assert_eq!(tasks::pauses::end(&queue.client().await, pause.id).await.unwrap(), pause);
    assert_eq!(queue.claim_all().await, [after]);
    assert_eq!(queue.task(before).await["status"], "pending");
}

#[tokio::test]
async fn a_pause_whose_time_is_over_ends_by_itself() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let task = queue.add(fetch(store)).await;
    pause(&queue, PauseTarget::Store(store)).await;
    pass_time(&queue).await;
    assert_eq!(tasks::pauses::list(&queue.client().await).await.unwrap(), []);
    assert_eq!(tasks::pauses::sweep(&queue.client().await).await.unwrap(), 1);
    assert_eq!(queue.claim_all().await, [task]);
    assert_eq!(queue.number("SELECT count(*) FROM pauses").await, 0);
}

#[tokio::test]
async fn a_task_that_became_ready_while_its_pause_was_made_is_held_by_the_sweep() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    pause(&queue, PauseTarget::Store(store)).await;
    let task = queue.add(fetch(store)).await;
    queue
        .sql(&format!("SET xmlbinary = hex; UPDATE worker_tasks SET ready = true WHERE id = {task}; RESET xmlbinary"))
        .await;
    assert_eq!(tasks::pauses::sweep(&queue.client().await).await.unwrap(), 1);
    assert!(queue.claim_all().await.is_empty());
}

#[tokio::test]
async fn a_run_on_a_paused_store_ends_and_its_chained_task_waits() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    queue.add(fetch(store)).await;
    let run = queue.claim_one().await;
    let paused = pause(&queue, PauseTarget::Store(store)).await;
    let settlement = Settlement::new(AttemptOutcome::Completed, None);
    let client = queue.client().await;
    let started = complete_and_start(&client, &run.lease, &settlement, &refresh(store), LEASE).await.unwrap();
    assert_eq!(started, None);
    assert_eq!(queue.task(run.lease.id).await["status"], "completed");
    assert!(queue.claim_all().await.is_empty());
    tasks::pauses::end(&client, paused.id).await.unwrap();
    assert_eq!(queue.claim_one().await.role, Role::ProductRefresh);
}

#[tokio::test]
async fn a_store_is_paused_while_eight_sessions_claim_and_enqueue() {
    const STORES: i32 = 8;
    let queue = Queue::new().await;
    let stores = queue.stores(STORES).await;
    let session = async |worker: usize| {
        for round in 0..20 {
            queue.add(fetch(stores[(worker + round) % stores.len()])).await;
            for task in queue.claim(&Role::CRAWL, 2).await {
                queue.settle(&task, &Settlement::new(AttemptOutcome::Completed, None)).await.unwrap();
            }
        }
    };
    let pausing = async {
        let pause = pause(&queue, PauseTarget::Store(stores[0])).await;
        tasks::pauses::sweep(&queue.client().await).await.unwrap();
        pause
    };
    let (_, pause) = futures_util::join!(futures_util::future::join_all((0..8).map(session)), pausing);
    tasks::pauses::sweep(&queue.client().await).await.unwrap();
    let late = "SELECT count(*) FROM worker_tasks t, pauses p WHERE t.dispensary_id = p.dispensary_id AND t.claimed_at > p.created_at + interval '1 second'";
    assert_eq!(queue.number(late).await, 0);
    queue.sweep_all().await;
    let claimed = queue.claim(&Role::CRAWL, 1000).await;
    assert!(claimed.iter().all(|task| task.dispensary_id != Some(stores[0])), "{claimed:?}");

    tasks::pauses::end(&queue.client().await, pause.id).await.unwrap();
    assert_eq!(queue.claim_one().await.dispensary_id, Some(stores[0]));
}

#[tokio::test]
async fn a_claim_at_psql_takes_no_task_of_a_paused_role() {
    let queue = Queue::new().await;
    queue.add(analytics()).await;
    let claim = "SELECT count(*) FROM claim_task(NULL, 'me')";
    for target in [
        PauseTarget::All,
        PauseTarget::Family(Role::AnalyticsRefresh.family()),
        PauseTarget::Role(Role::AnalyticsRefresh),
    ] {
        let paused = pause(&queue, target).await;
        assert_eq!(queue.number(claim).await, 0, "{}", paused.target());
        tasks::pauses::end(&queue.client().await, paused.id).await.unwrap();
    }
    pause(&queue, PauseTarget::Role(Role::PayloadFetch)).await;
    assert_eq!(queue.number(claim).await, 1);
}

#[tokio::test]
async fn a_paused_worker_outside_of_the_program_is_ordered_to_pause_and_to_resume() {
    let queue = Queue::new().await;
    queue
        .sql("INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks) VALUES
              ('w1', 'Xylos-1', 'Xylos', 'any', '{}', 'active', 3), ('w2', 'Xylos-2', 'Xylos', 'any', '{}', 'active', 3)")
        .await;
    pause(&queue, PauseTarget::Worker("Xylos-1".to_owned())).await;
    pass_time(&queue).await;
    tasks::pauses::sweep(&queue.client().await).await.unwrap();
    let orders = "SELECT jsonb_agg(worker_id || ' ' || command ORDER BY id) FROM worker_commands";
    let orders: Value = queue.database.raw.query_one(orders, &[]).await.unwrap().get(0);
    assert_eq!(orders, json!(["w1 pause", "w1 resume"]));
}
