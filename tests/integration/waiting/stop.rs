//! A run that is stopped from outside: a body that listens ends by itself, where its role has the time for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use db::tasks::NewTask;
use domain::task::TaskId;
use domain::task::role::Role;
use queue::held_tasks::Stop;
use queue::{Outcome, TaskError};
use testkit::{PATIENCE, until};

use super::runs::{Runs, TaskRun, enqueue, sync};
use crate::queue::Queue;

/// Whether the body has ended what it had started.
type HasCleaned = Arc<AtomicBool>;

/// A body that ends its tool when it is stopped, which takes a while, and then ends itself.
async fn listens(run: TaskRun, has_cleaned: HasCleaned) -> Result<Outcome, TaskError> {
    run.stop.cancelled().await;
    for _ in 0..20 {
        run.db.client().await?.batch("SELECT").await?;
    }
    has_cleaned.store(true, Ordering::Relaxed);
    Err(TaskError::retry("it was stopped"))
}

struct StoppedRun {
    queue: Queue,
    id: TaskId,
    has_cleaned: HasCleaned,
    took: Duration,
}

/// Starts a task and stops it once it runs; returns when its run has ended.
async fn stop(task: NewTask, is_deaf: bool, how: impl Fn(&Runs)) -> StoppedRun {
    let queue = Queue::new().await;
    let has_cleaned = HasCleaned::default();
    let flag = has_cleaned.clone();
    // a deaf body is waited for; one that listens ends long before, on a busy machine too
    let grace = if is_deaf { "2s" } else { "10s" };
    let runs = Runs::configured(&queue.database.db, &[("supervision.stop_grace", grace)], move |run| {
        let flag = flag.clone();
        async move { if is_deaf { std::future::pending().await } else { listens(run, flag).await } }
    });
    let id = enqueue(&queue.client().await, task).await;
    let running = "SELECT count(*) FROM worker_tasks WHERE status = 'running'";
    let begun = async {
        until("it runs", PATIENCE, async || queue.number(running).await == 1).await;
        let stopped = Instant::now();
        how(&runs);
        stopped
    };
    let (_, stopped) = tokio::join!(runs.run_one(), begun);
    StoppedRun { queue, id, has_cleaned, took: stopped.elapsed() }
}

fn release(runs: &Runs) {
    runs.held_tasks.stop_all(Stop::Release);
}

/// Loses the leases, as when the heartbeat finds them gone.
fn lose(runs: &Runs) {
    runs.held_tasks.stop_overdue(Instant::now() + Duration::from_secs(3600));
}

#[tokio::test]
async fn a_body_that_listens_ends_what_it_has_started_before_its_task_goes_back() {
    let run = stop(sync(), false, release).await;
    assert!(run.has_cleaned.load(Ordering::Relaxed));
    assert_eq!(run.queue.outcomes(run.id).await, ["released"]);
}

#[tokio::test]
async fn a_body_that_listens_has_the_same_time_when_its_lease_is_lost_and_writes_nothing() {
    let run = stop(sync(), false, lose).await;
    assert!(run.has_cleaned.load(Ordering::Relaxed));
    assert_eq!(run.queue.outcomes(run.id).await, ["active"]);
}

#[tokio::test]
async fn a_deaf_body_is_aborted_when_the_grace_is_over() {
    let run = stop(sync(), true, release).await;
    assert!((Duration::from_millis(1_700)..PATIENCE).contains(&run.took), "{:?}", run.took);
    assert_eq!(run.queue.outcomes(run.id).await, ["released"]);
}

#[tokio::test]
async fn a_body_of_the_crawl_is_aborted_at_once() {
    let run = stop(NewTask::new(Role::AnalyticsRefresh), false, release).await;
    assert!(!run.has_cleaned.load(Ordering::Relaxed));
    assert_eq!(run.queue.outcomes(run.id).await, ["released"]);
}
