//! `Executor` and `Run`: one run of a claimed task on the runtime, outside of any actor: start, body, end.
//!
//! In: a claimed task and its stop signal ([`Stop`]). Out: how the run ended. `settle` writes that end. It must not know actors.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tracing::Instrument;

use super::after_hooks::AfterHooks;
use super::claimer::{Claimer, TaskGrant};
use super::held_tasks::Stop;
use super::lifecycle::Lifecycle;
use crate::config::Config;
use crate::db::tasks::{self, AttemptOutcome, ClaimedTask};
use crate::db::{Db, DbError};
use crate::events;
use crate::handlers::{self, Outcome, TaskError};

/// What every run needs. Cheap to clone.
#[derive(Clone)]
pub struct Executor {
    pub(super) db: Db,
    pub(super) claimer: Claimer,
    pub(super) services: Arc<handlers::Services>,
    pub(super) config: Arc<Config>,
    pub(super) lifecycle: Lifecycle,
    pub(super) after_hooks: AfterHooks,
}

/// How the run ended, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Settled(AttemptOutcome),
    /// The lease was lost; nothing was written.
    Lost,
}

/// One run of a task.
pub(super) struct Run<'a> {
    pub executor: &'a Executor,
    pub task: &'a ClaimedTask,
    context: Arc<handlers::Context>,
    started: Instant,
}

/// How the body ended.
pub(super) enum RunResult {
    Outcome(Outcome),
    Failed(TaskError),
    Released,
    Lost,
}

/// How long a body may take to its next await once it is aborted. One that takes longer blocks a thread of the runtime.
const ABORT_WITHIN: Duration = Duration::from_secs(30);

impl Executor {
    pub fn new(
        db: Db,
        claimer: Claimer,
        services: Arc<handlers::Services>,
        config: Arc<Config>,
        lifecycle: Lifecycle,
    ) -> Self {
        Executor { db, claimer, services, config, lifecycle, after_hooks: AfterHooks::default() }
    }

    /// Runs a granted task to its end. A panic, in the body or around it, is a failed attempt.
    pub async fn run(&self, grant: TaskGrant) -> RunEnd {
        let TaskGrant { task, mut guard, .. } = grant;
        guard.begin();
        let span = tracing::info_span!("task", task = task.lease.id, fence = task.lease.fence, role = %task.role, worker = %task.lease.worker_id);
        let run = Run::new(self, &task);
        let whole = async {
            match AssertUnwindSafe(run.execute(&mut guard.stop)).catch_unwind().await {
                Ok(ended) => ended,
                Err(panic) => run.fail(panic_error(panic)).await,
            }
        };
        whole.instrument(span).await
    }
}

impl<'a> Run<'a> {
    fn new(executor: &'a Executor, task: &'a ClaimedTask) -> Self {
        let services = executor.services.clone();
        let context = handlers::Context::new(services, task.lease.id, task.dispensary_id, task.platform.clone());
        Run { executor, task, context: Arc::new(context), started: Instant::now() }
    }

    async fn execute(&self, stop: &mut oneshot::Receiver<Stop>) -> RunEnd {
        match self.start().await {
            Ok(true) => {}
            Ok(false) => return self.lost(),
            Err(error) => return self.fail(error.into()).await,
        }
        let result = self.watch(self.spawn_body(), stop).await;
        self.settle(result).await
    }

    /// `false`: the lease is lost.
    async fn start(&self) -> Result<bool, DbError> {
        fail::fail_point!("execute.start");
        tasks::start(&self.executor.db.client().await?, &self.task.lease).await
    }

    fn spawn_body(&self) -> JoinHandle<Result<Outcome, TaskError>> {
        let (context, role, payload) = (self.context.clone(), self.task.role, self.task.payload.clone());
        let body = async move {
            // caught on the thread where it happens, which keeps its text and place
            let run = AssertUnwindSafe(handlers::run(&context, role, &payload)).catch_unwind();
            run.await.unwrap_or_else(|panic| Err(panic_error(panic)))
        };
        tokio::spawn(body.in_current_span())
    }

    /// Waits for the body's end, its time limit or a stop signal. Unless the result is `Lost`, the body has ended when this
    /// returns.
    async fn watch(
        &self,
        mut body: JoinHandle<Result<Outcome, TaskError>>,
        stop: &mut oneshot::Receiver<Stop>,
    ) -> RunResult {
        let limit = self.task.role.time_limit();
        let result = tokio::select! {
            ended = &mut body => return result_of_join(ended),
            () = tokio::time::sleep(limit) => {
                RunResult::Failed(TaskError::retry(format!("ran longer than its limit of {limit:?}")))
            }
            reason = stop => match reason {
                Ok(Stop::Release) => RunResult::Released,
                Ok(Stop::Lost) | Err(_) => RunResult::Lost,
            },
        };
        body.abort();
        if tokio::time::timeout(ABORT_WITHIN, body).await.is_err() {
            // it may still write files and ask the platform, so the task is not settled: its lease runs out and it is recovered
            events::task_abort_timed_out(&self.event(), ABORT_WITHIN);
            return RunResult::Lost;
        }
        result
    }

    /// The attempt's `detail` so far.
    pub fn detail(&self) -> Value {
        self.context.run_trace().detail()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn event(&self) -> events::Run<'a> {
        run_event(self.task)
    }
}

fn result_of_join(ended: Result<Result<Outcome, TaskError>, JoinError>) -> RunResult {
    match ended {
        Ok(Ok(outcome)) => RunResult::Outcome(outcome),
        Ok(Err(error)) => RunResult::Failed(error),
        // panics are caught inside, so it was aborted with the runtime
        Err(_) => RunResult::Released,
    }
}

fn panic_error(panic: Box<dyn Any + Send>) -> TaskError {
    TaskError::retry(format!("panic: {}", super::runner::panic_text(panic.as_ref())))
}

/// A claimed task as events name its run.
pub(super) fn run_event(task: &ClaimedTask) -> events::Run<'_> {
    events::Run {
        task: task.lease.id,
        fence: task.lease.fence,
        role: task.role,
        store: task.dispensary_id,
        worker: &task.lease.worker_id,
    }
}
