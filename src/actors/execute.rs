//! One run of a task, from its start to its settlement: a pipeline of small steps on the runtime, outside of any actor.
//!
//! In: a claimed task and an ear for [`Stop`]. Out: the run's ending in the database, or the knowledge that it was lost.
//! All effects of a run commit in one transaction, whose last statement is fenced.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::Instrument;

use super::claimer::{Claimer, Granted};
use super::ledger::Stop;
use crate::config::Config;
use crate::db::tasks::{self, Claimed, Completed, Ending, NewTask, Settlement};
use crate::db::{Db, DbError};
use crate::domain::retry;
use crate::domain::task::Held;
use crate::events;
use crate::handlers::{self, Chained, Done, Learned, Outcome, TaskError};

/// What a run needs beside its task. Cheap to clone.
#[derive(Clone)]
pub struct Executor {
    pub db: Db,
    pub claimer: Claimer,
    pub services: Arc<handlers::Services>,
    pub config: Arc<Config>,
}

/// How the run ended, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Settled(Ending),
    /// The lease was lost; nothing was written.
    Lost,
}

/// What the body came to, before it is written down.
enum Verdict {
    Outcome(Outcome),
    Failed(TaskError),
    Released,
    Lost,
}

/// A settlement that did not go through.
enum Unsettled {
    /// Fenced off: another run has the task.
    Lost,
    /// The transaction failed before its commit was sent.
    Failed(DbError),
    /// COMMIT was sent and its answer never came.
    Unknown(DbError),
}

impl Executor {
    /// Runs a granted task to its end. A panic, in the body or around it, is a failed attempt.
    pub async fn run(&self, granted: Granted) -> Ended {
        let Granted { task, mut custody, .. } = granted;
        custody.begin();
        let span = tracing::info_span!("task", task = task.held.id, fence = task.held.fence, role = %task.role, worker = %task.held.worker_id);
        let begun = Instant::now();
        let run = async {
            match AssertUnwindSafe(self.run_in_span(&task, &mut custody.stop, begun)).catch_unwind().await {
                Ok(ended) => ended,
                Err(panic) => self.settle_failure(&task, panicked(panic), Value::Null, begun).await,
            }
        };
        run.instrument(span).await
    }

    async fn run_in_span(&self, task: &Claimed, stop: &mut oneshot::Receiver<Stop>, begun: Instant) -> Ended {
        match self.start(&task.held).await {
            Ok(true) => {}
            Ok(false) => return lost(task, begun),
            Err(error) => return self.settle_failure(task, TaskError::from(error), Value::Null, begun).await,
        }
        let context = self.context(task);
        let (footprint, role, payload) = (context.footprint(), task.role, task.payload.clone());
        let body = async move {
            // caught where it happens, which is where its text and place are known
            let run = AssertUnwindSafe(handlers::run(&context, role, &payload)).catch_unwind();
            run.await.unwrap_or_else(|panic| Err(panicked(panic)))
        };
        let verdict = watch(tokio::spawn(body.in_current_span()), task, stop).await;
        self.settle(task, verdict, footprint.detail(), begun).await
    }

    fn context(&self, task: &Claimed) -> handlers::Context {
        let platform = task.platform.as_deref().and_then(|name| name.parse().ok());
        handlers::Context::new(self.services.clone(), task.held.id, task.dispensary_id, platform)
    }

    async fn start(&self, held: &Held) -> Result<bool, DbError> {
        fail::fail_point!("execute.start");
        tasks::start(&self.db.client().await?, held).await
    }

    async fn settle(&self, task: &Claimed, verdict: Verdict, detail: Value, begun: Instant) -> Ended {
        match verdict {
            Verdict::Lost => lost(task, begun),
            Verdict::Released => {
                self.write_down(
                    task,
                    Settlement { detail, ..Settlement::released("given back by a stopping worker") },
                    begun,
                )
                .await
            }
            Verdict::Failed(error) => self.settle_failure(task, error, detail, begun).await,
            Verdict::Outcome(Outcome::Snooze { after, reason }) => {
                self.write_down(task, self.snoozed(reason, Some(after), detail), begun).await
            }
            Verdict::Outcome(Outcome::Cancel { reason }) => {
                self.write_down(task, Settlement { detail, ..Settlement::new(Ending::Cancelled, Some(reason)) }, begun)
                    .await
            }
            Verdict::Outcome(Outcome::Done(done)) => self.settle_done(task, done, detail, begun).await,
        }
    }

    async fn settle_failure(&self, task: &Claimed, error: TaskError, detail: Value, begun: Instant) -> Ended {
        let settlement = match error {
            TaskError::Snooze { why, after } => self.snoozed(why, after, detail),
            TaskError::Permanent { why } => Settlement { detail, ..Settlement::new(Ending::Permanent, Some(why)) },
            TaskError::Retry { why, after } => Settlement {
                detail,
                come_back: self.backoff(task, after),
                ..Settlement::new(Ending::Failed, Some(why))
            },
        };
        self.write_down(task, settlement, begun).await
    }

    fn snoozed(&self, why: String, after: Option<Duration>, detail: Value) -> Settlement {
        Settlement {
            detail,
            come_back: after.unwrap_or(self.config.proxies.snooze),
            snooze_limit: self.config.queue.snooze_limit,
            ..Settlement::new(Ending::Snoozed, Some(why))
        }
    }

    fn backoff(&self, task: &Claimed, asked: Option<Duration>) -> Duration {
        let queue = &self.config.queue;
        let base = queue.retry_base_by_role.get(task.role.name()).copied().unwrap_or(queue.retry_base);
        let own = retry::backoff(base, queue.retry_cap, task.retry_count, rand::random());
        asked.map_or(own, |asked| asked.max(own)).min(queue.retry_cap)
    }

    async fn settle_done(&self, task: &Claimed, done: Done, detail: Value, begun: Instant) -> Ended {
        if done.write.is_none() && done.next.is_empty() {
            return self.complete(task, done.result, detail, begun).await;
        }
        match self.commit(task, done, detail.clone()).await {
            Ok(result) => {
                events::data_written(&result);
                self.completed(task, begun)
            }
            Err(Unsettled::Lost) => fenced(task, begun),
            Err(Unsettled::Failed(error)) => self.settle_failure(task, TaskError::from(error), detail, begun).await,
            Err(Unsettled::Unknown(error)) => self.resolve_unknown(task, error, detail, begun).await,
        }
    }

    /// Nothing to write: it goes with the next claim.
    async fn complete(&self, task: &Claimed, result: Value, detail: Value, begun: Instant) -> Ended {
        let completed = Completed { held: task.held.clone(), result: result.clone(), detail: detail.clone() };
        match self.claimer.complete(completed).await {
            Ok(true) => self.completed(task, begun),
            Ok(false) => fenced(task, begun),
            Err(_) => self.complete_alone(task, result, detail, begun).await,
        }
    }

    /// Nobody heard whether it went with the others. It has no effects that could double: it is written down by itself.
    async fn complete_alone(&self, task: &Claimed, result: Value, detail: Value, begun: Instant) -> Ended {
        if let Some(ended) = self.ended_in_table(task, begun).await {
            return ended;
        }
        let completed = Settlement { result: Some(result), detail, ..Settlement::new(Ending::Completed, None) };
        self.write_down(task, completed, begun).await
    }

    /// The handler's writes, the chained tasks, the attempt, and last the fenced status: one transaction. Returns the result.
    async fn commit(&self, task: &Claimed, done: Done, detail: Value) -> Result<Value, Unsettled> {
        let Done { mut result, mut next, write } = done;
        let tx = self.insist(|| self.db.begin()).await.map_err(Unsettled::Failed)?;
        if let Some(write) = write {
            let learned = write(&tx).await.map_err(Unsettled::Failed)?;
            learn(&mut result, &mut next, learned);
        }
        let chained: Vec<NewTask> = next.into_iter().map(|chained| follow_up(task, chained)).collect();
        tasks::enqueue(&tx, &chained).await.map_err(Unsettled::Failed)?;
        let settlement =
            Settlement { result: Some(result.clone()), detail, ..Settlement::new(Ending::Completed, None) };
        tasks::settle(&tx, &task.held, &settlement).await.map_err(unsettled)?;
        fail::fail_point!("execute.before_commit");
        tx.commit().await.map_err(Unsettled::Unknown)?;
        Ok(result)
    }

    /// Nobody heard whether it was committed: the task's history knows. Never redone blindly.
    async fn resolve_unknown(&self, task: &Claimed, error: DbError, detail: Value, begun: Instant) -> Ended {
        match self.ended_in_table(task, begun).await {
            Some(ended) => ended,
            None => self.settle_failure(task, TaskError::from(error), detail, begun).await,
        }
    }

    /// How the run ended, as its task's history has it. None: it has not, or the database stays away.
    async fn ended_in_table(&self, task: &Claimed, begun: Instant) -> Option<Ended> {
        for n in 0..LOOKS {
            let looked = async { tasks::attempt_outcome(&self.db.client().await?, &task.held).await };
            match looked.await {
                Ok(Some(outcome)) if outcome == "completed" => return Some(self.completed(task, begun)),
                Ok(outcome) => return outcome.map(|_| fenced(task, begun)),
                Err(_) => tokio::time::sleep(pause(n)).await,
            }
        }
        None
    }

    /// Writes an ending that has no effects of its own. Where the database stays away, the lease decides.
    async fn write_down(&self, task: &Claimed, settlement: Settlement, begun: Instant) -> Ended {
        let settled =
            self.insist(|| async { tasks::settle(&self.db.client().await?, &task.held, &settlement).await }).await;
        match settled {
            Ok(became) => self.written_down(task, &settlement, &became, begun),
            Err(DbError::Missing(_)) => fenced(task, begun),
            Err(error) => {
                events::settle_failed(task.held.id, &error);
                Ended::Lost
            }
        }
    }

    /// Asks a database that is away again for as long as the lease can last: what is done is not thrown away, and an outage costs
    /// no more than itself.
    async fn insist<T, F>(&self, ask: impl Fn() -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let (asking, mut tries) = (Instant::now(), 0);
        loop {
            match ask().await {
                Err(error) if error.is_unavailable() && asking.elapsed() < self.config.queue.lease => {
                    if tries == 0 {
                        events::settlement_waits(&error);
                    }
                    tokio::time::sleep(pause(tries)).await;
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    fn written_down(&self, task: &Claimed, settlement: &Settlement, became: &str, begun: Instant) -> Ended {
        let (run, took) = (named(task), begun.elapsed());
        let why = settlement.why.as_deref().unwrap_or_default();
        match settlement.ending {
            Ending::Completed => events::task_completed(&run, took),
            Ending::Cancelled => events::task_cancelled(&run, why, took),
            Ending::Snoozed => events::task_snoozed(&run, settlement.come_back, why, took),
            Ending::Released => events::task_released(&run, took),
            Ending::Failed | Ending::Permanent => {
                let again = (became == "pending").then_some(settlement.come_back);
                events::task_failed(&run, why, again, took);
            }
        }
        Ended::Settled(settlement.ending)
    }

    fn completed(&self, task: &Claimed, begun: Instant) -> Ended {
        events::task_completed(&named(task), begun.elapsed());
        Ended::Settled(Ending::Completed)
    }
}

/// How often an unknown commit is looked up while the database is away: 15 s of pauses, and what the looks take.
const LOOKS: u32 = 8;

/// How long a settlement waits after its `n`th try while the database is away.
fn pause(n: u32) -> Duration {
    Duration::from_millis(100).saturating_mul(2u32.pow(n.min(6))).min(Duration::from_secs(4))
}

/// How long a body may take to its next await. One that takes longer burns a thread of the runtime.
const ABORT_WITHIN: Duration = Duration::from_secs(30);

/// Waits for the body's end, its time limit or a word from outside. Unless the run is lost, the body has really ended when
/// this comes back.
async fn watch(
    mut body: JoinHandle<Result<Outcome, TaskError>>,
    task: &Claimed,
    stop: &mut oneshot::Receiver<Stop>,
) -> Verdict {
    let limit = task.role.time_limit();
    let verdict = tokio::select! {
        ended = &mut body => return judged(ended),
        _ = tokio::time::sleep(limit) => Verdict::Failed(TaskError::retry(format!("ran longer than its limit of {limit:?}"))),
        why = stop => match why {
            Ok(Stop::Release) => Verdict::Released,
            Ok(Stop::Lost) | Err(_) => Verdict::Lost,
        },
    };
    body.abort();
    match tokio::time::timeout(ABORT_WITHIN, body).await {
        Ok(_) => verdict,
        Err(_) => {
            // nobody renews its lease any more: it is for the fence, and for whoever finds it, to say what becomes of the task
            events::body_does_not_stop(&named(task), ABORT_WITHIN);
            Verdict::Lost
        }
    }
}

fn judged(ended: Result<Result<Outcome, TaskError>, tokio::task::JoinError>) -> Verdict {
    match ended {
        Ok(Ok(outcome)) => Verdict::Outcome(outcome),
        Ok(Err(error)) => Verdict::Failed(error),
        Err(_) => Verdict::Released,
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> TaskError {
    TaskError::retry(format!("panic: {}", super::cell::panic_text(panic.as_ref())))
}

fn unsettled(error: DbError) -> Unsettled {
    match error {
        DbError::Missing(_) => Unsettled::Lost,
        other => Unsettled::Failed(other),
    }
}

fn learn(result: &mut Value, next: &mut Vec<Chained>, learned: Learned) {
    if let Value::Object(fields) = result {
        fields.extend(learned.result);
    }
    next.extend(learned.next);
}

fn follow_up(parent: &Claimed, chained: Chained) -> NewTask {
    NewTask {
        dispensary_id: chained.dispensary_id,
        platform: chained.platform.map(|platform| platform.name().to_owned()).or_else(|| parent.platform.clone()),
        priority: chained.priority.unwrap_or(parent.priority),
        payload: chained.payload,
        parent_task_id: Some(parent.held.id),
        ..NewTask::new(chained.role)
    }
}

fn lost(task: &Claimed, begun: Instant) -> Ended {
    events::task_lost(&named(task), begun.elapsed());
    Ended::Lost
}

fn fenced(task: &Claimed, begun: Instant) -> Ended {
    events::task_fenced(&named(task), begun.elapsed());
    Ended::Lost
}

/// A claimed task as events name its run.
pub(super) fn named(task: &Claimed) -> events::Run<'_> {
    events::Run {
        task: task.held.id,
        fence: task.held.fence,
        role: task.role,
        dispensary: task.dispensary_id,
        worker: &task.held.worker_id,
    }
}
