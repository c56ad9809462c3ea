//! `Executor` and `Run`: one run of a claimed task on the runtime, outside of any actor: start, body, end.
//!
//! In: a claimed task and its stop signal ([`Stop`]). Out: how the run ended. `settle` writes that end, without its
//! slot where the run has no effects. A chained task that it started runs next, in the same slot. It must not know
//! actors.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::after_hooks::AfterHooks;
use super::claimer::{Claimer, TaskGrant};
use super::held_tasks::Stop;
use super::task_guard::TaskGuard;
use crate::{Body, HandOver, Outcome, StartedTask, TaskError, Work};
use db::tasks::{self, ClaimedTask};
use db::{Db, DbError};
use domain::task::TaskLease;
use domain::task::pause::Pauses;
use domain::task::role::RoleSet;
use settings::LiveConfig;
use supervision::lifecycle::Lifecycle;
use supervision::panics;
use telemetry::events;

/// Dependencies of every run. Cheap to clone.
#[derive(Clone)]
pub struct Executor {
    pub(crate) db: Db,
    pub(crate) claimer: Claimer,
    pub(crate) work: Arc<dyn Work>,
    pub(crate) config: LiveConfig,
    pub(crate) lifecycle: Lifecycle,
    /// No task of a paused role is started in the slot of its parent.
    pub(crate) pauses: watch::Receiver<Pauses>,
    pub(crate) after_hooks: AfterHooks,
    /// Places of runs whose completions are not answered yet.
    unanswered: Arc<Semaphore>,
}

/// The worker whose slots run the tasks.
#[derive(Clone, Debug)]
pub struct SlotOwner {
    /// Its friendly name, which logs and tables show.
    pub name: String,
    /// Roles of chained tasks that may continue in the slot of their parent.
    pub roles: RoleSet,
}

/// One run of a task.
pub(crate) struct Run {
    pub executor: Executor,
    pub task: ClaimedTask,
    pub owner: SlotOwner,
    body: Arc<dyn Body>,
    /// Asks the body to end by itself.
    body_stop: CancellationToken,
    started: Instant,
}

/// A chained task that was started by the end of a run.
pub(crate) struct NextRun {
    pub started: Box<StartedTask>,
    /// Time when its body stops by itself, unless the lease is renewed.
    pub stop_at: Instant,
}

/// Rest of a run whose body has ended.
pub(crate) enum RunEnd {
    Settled,
    /// Result of a run without effects: the slot does not wait until it is written.
    Completed(Value),
    Chained(NextRun),
}

/// How the body ended.
pub(crate) enum BodyEnd {
    Outcome(Outcome),
    Failed(TaskError),
    /// Stopped because the process ends: its task goes back at no cost.
    Released,
    /// Its lease is gone: nothing of it is written.
    Lost,
    /// The body was aborted and still runs: nothing of it is written.
    NotStopped,
}

/// Maximum number of runs whose completions are not answered: with a slow database, slots wait.
const MAX_UNANSWERED: usize = 256;

/// How long a body may take to its next await once it is aborted. One that takes longer blocks a thread of
/// the runtime.
const MAX_ABORT_TIME: Duration = Duration::from_secs(30);

impl Executor {
    pub fn new(
        db: Db,
        claimer: Claimer,
        work: Arc<dyn Work>,
        config: LiveConfig,
        lifecycle: Lifecycle,
        pauses: watch::Receiver<Pauses>,
    ) -> Self {
        let unanswered = Arc::new(Semaphore::new(MAX_UNANSWERED));
        Executor { db, claimer, work, config, lifecycle, pauses, after_hooks: AfterHooks::default(), unanswered }
    }

    /// Runs a granted task to its end, and then its chained task in the same slot; `current` has the lease of
    /// the one that runs. Returns the number of runs.
    pub async fn run(&self, grant: TaskGrant, owner: &SlotOwner, current: &watch::Sender<TaskLease>) -> usize {
        let (mut next, mut runs) = (Some(grant), 0);
        while let Some(grant) = next {
            current.send_replace(grant.task.lease.clone());
            next = self.run_one(grant, owner).await;
            runs += 1;
        }
        runs
    }

    /// A panic, in the body or once around it, is a failed attempt. After a second one nothing is written,
    /// and the lease runs out.
    async fn run_one(&self, grant: TaskGrant, owner: &SlotOwner) -> Option<TaskGrant> {
        let TaskGrant { task, mut guard, hand_over } = grant;
        guard.begin();
        let span = tracing::info_span!("task", task = task.lease.id, fence = task.lease.fence, role = %task.role, worker_name = owner.name.as_str(), worker = %task.lease.worker_id);
        let run = Run::new(self, task, owner);
        let whole = async {
            match AssertUnwindSafe(run.execute(hand_over, &mut guard.stop)).catch_unwind().await {
                Ok(end) => end,
                Err(panic) => {
                    run.fail(panic_error(panic)).await;
                    RunEnd::Settled
                }
            }
        };
        let NextRun { started, stop_at } = match whole.instrument(span.clone()).await {
            RunEnd::Settled => return None,
            RunEnd::Completed(result) => {
                run.complete(result, guard).instrument(span).await;
                return None;
            }
            RunEnd::Chained(next) => next,
        };
        let StartedTask { task, hand_over } = *started;
        let guard = guard.hand_on(task.lease.clone(), stop_at, &self.db)?;
        events::task_claimed(&run_event(&task, &owner.name), task.waited);
        Some(TaskGrant { task, guard, hand_over: Some(hand_over) })
    }
}

impl Run {
    pub fn new(executor: &Executor, task: ClaimedTask, owner: &SlotOwner) -> Self {
        let body_stop = CancellationToken::new();
        let body = executor.work.clone().body(&task, body_stop.clone());
        let (executor, owner) = (executor.clone(), owner.clone());
        Run { executor, task, owner, body, body_stop, started: Instant::now() }
    }

    /// Returns the chained task that its end has started, or the result of a run without effects. A task with a
    /// hand-over was started by its parent's end.
    async fn execute(&self, hand_over: Option<HandOver>, stop: &mut oneshot::Receiver<Stop>) -> RunEnd {
        if hand_over.is_none() && !self.start().await {
            return RunEnd::Settled;
        }
        let end = self.wait_for_body(self.spawn_body(hand_over), stop).await;
        self.settle(end).await
    }

    /// Whether it may continue.
    async fn start(&self) -> bool {
        match self.try_start().await {
            Ok(true) => return true,
            Ok(false) => self.end_lost().await,
            Err(error) => self.fail(error.into()).await,
        }
        false
    }

    /// `false`: the lease is lost. A body runs only once it is known that its task has begun: whether it has
    /// decides who is blamed when the process dies.
    async fn try_start(&self) -> Result<bool, DbError> {
        fail::fail_point!("execute.start");
        if self.executor.claimer.starter().start(self.task.lease.clone()).await? {
            return Ok(true);
        }
        // by itself, where it can wait for a row that another session has locked; nothing was written yet
        tasks::start(&self.executor.db.client().await?, &self.task.lease).await
    }

    fn spawn_body(&self, hand_over: Option<HandOver>) -> JoinHandle<Result<Outcome, TaskError>> {
        let body = self.body.clone();
        let body = async move {
            // caught on the thread where it happens, which keeps its text and place
            let run = AssertUnwindSafe(body.run(hand_over)).catch_unwind();
            run.await.unwrap_or_else(|panic| Err(panic_error(panic)))
        };
        tokio::spawn(body.in_current_span())
    }

    /// Waits for the body's end, its time limit or a stop signal; after the last two the body may end by itself
    /// for a while. Unless it is `NotStopped`, the body has ended when this returns.
    async fn wait_for_body(
        &self,
        mut body: JoinHandle<Result<Outcome, TaskError>>,
        stop: &mut oneshot::Receiver<Stop>,
    ) -> BodyEnd {
        let limit = self.task.role.time_limit();
        let reason = tokio::select! {
            biased;
            ended = &mut body => return body_end(ended),
            () = tokio::time::sleep(limit) => {
                BodyEnd::Failed(TaskError::retry(format!("ran longer than its limit of {limit:?}")))
            }
            reason = stop => match reason {
                Ok(Stop::Release) => BodyEnd::Released,
                Ok(Stop::Lost) | Err(_) => BodyEnd::Lost,
            },
        };
        self.body_stop.cancel();
        // without a grace it is aborted before its next step
        let grace = self.stop_grace(&reason);
        if !grace.is_zero()
            && let Ok(ended) = tokio::time::timeout(grace, &mut body).await
        {
            return end_after_stop(reason, ended);
        }
        body.abort();
        match tokio::time::timeout(MAX_ABORT_TIME, body).await {
            Ok(ended) => end_after_stop(reason, ended),
            Err(_) => {
                // it may still write files and ask the platform, so the task is not settled: its lease runs
                // out and it is recovered
                events::task_abort_timed_out(&self.event(), MAX_ABORT_TIME);
                BodyEnd::NotStopped
            }
        }
    }

    /// How long a stopped body may take to end by itself. A process that ends keeps a part of its own grace for
    /// the settlement.
    fn stop_grace(&self, reason: &BodyEnd) -> Duration {
        let grace = self.task.role.stop_grace();
        match reason {
            BodyEnd::Released => grace.min(self.executor.config.current().config.supervision.stop_grace * 9 / 10),
            _ => grace,
        }
    }

    /// Queues the completion of a run without effects, and waits for the answer in the background; until then the task is
    /// held.
    async fn complete(self, result: Value, guard: TaskGuard) {
        // an error cannot be: it is never closed
        let place = self.executor.unanswered.clone().acquire_owned().await;
        let answer = self.queue_completion(&result).await;
        guard.leave_slot();
        let settle = async move {
            self.settle_completion(result, answer).await;
            drop((guard, place));
        };
        tokio::spawn(settle.in_current_span());
    }

    /// The attempt's `detail` until now.
    pub fn detail(&self) -> Value {
        self.body.detail()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn event(&self) -> events::Run<'_> {
        run_event(&self.task, &self.owner.name)
    }
}

/// A stopped body may end by itself: its result is kept, unless its lease is gone. An error of it only says that
/// it was stopped.
fn end_after_stop(reason: BodyEnd, ended: Result<Result<Outcome, TaskError>, JoinError>) -> BodyEnd {
    match (reason, ended) {
        (BodyEnd::Lost, _) => BodyEnd::Lost,
        (_, Ok(Ok(outcome))) => BodyEnd::Outcome(outcome),
        (reason, _) => reason,
    }
}

fn body_end(ended: Result<Result<Outcome, TaskError>, JoinError>) -> BodyEnd {
    match ended {
        Ok(Ok(outcome)) => BodyEnd::Outcome(outcome),
        Ok(Err(error)) => BodyEnd::Failed(error),
        // panics are caught inside, so it was aborted with the runtime
        Err(_) => BodyEnd::Released,
    }
}

fn panic_error(panic: Box<dyn Any + Send>) -> TaskError {
    TaskError::retry(format!("panic: {}", panics::text(panic.as_ref())))
}

/// A claimed task as events name its run.
pub fn run_event<'a>(task: &'a ClaimedTask, worker_name: &'a str) -> events::Run<'a> {
    events::Run {
        task: task.lease.id,
        fence: task.lease.fence,
        role: task.role,
        store: task.dispensary_id,
        worker: &task.lease.worker_id,
        worker_name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancelled() -> Result<Result<Outcome, TaskError>, JoinError> {
        Ok(Ok(Outcome::Cancel { reason: "the store is closed".to_owned() }))
    }

    #[test]
    fn a_body_that_ends_just_before_it_is_aborted_keeps_its_outcome_unless_its_lease_is_gone() {
        for reason in [BodyEnd::Released, BodyEnd::Failed(TaskError::retry("ran longer than its limit"))] {
            assert!(matches!(end_after_stop(reason, cancelled()), BodyEnd::Outcome(Outcome::Cancel { .. })));
        }
        assert!(matches!(end_after_stop(BodyEnd::Lost, cancelled()), BodyEnd::Lost));
        let failed = Ok(Err(TaskError::retry("the platform is away")));
        assert!(matches!(end_after_stop(BodyEnd::Released, failed), BodyEnd::Released));
    }
}
