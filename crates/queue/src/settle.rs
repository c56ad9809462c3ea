//! How a run's end is written: effects and status in one transaction, a status alone, or with the claimer's
//! next round trip.
//!
//! In: how the body ended. Out: a settled task, an event, a hook that runs after a commit, and the chained
//! task that continues in the same slot. A database that is away, silent or busy with a deadlock costs a
//! finished run nothing: its result is kept and written again for as long as its lease can last. It must not
//! know why the body ended so.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::claimer::Answer;
use super::execute::{BodyEnd, Executor, NextRun, Run, RunEnd};
use crate::outcome::Effects;
use crate::{CommitError, Committed, Done, Outcome, Slot, TaskError, commit, commit_await};
use db::DbError;
use db::tasks::{self, AttemptOutcome, Completion, EndedAttempt, Settlement};
use domain::retry;
use domain::task::RecordedOutcome;
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

impl Run {
    /// Returns the chained task that continues in this slot, or the result of a run without effects, which is not written yet.
    pub async fn settle(&self, result: BodyEnd) -> RunEnd {
        match result {
            BodyEnd::Outcome(Outcome::Done(done)) => return self.finish(done).await,
            BodyEnd::Outcome(Outcome::Await(awaits)) => return self.commit_chained(Effects::Await(awaits)).await,
            BodyEnd::Outcome(Outcome::Cancel { reason }) => {
                self.settle_status(Settlement::new(AttemptOutcome::Cancelled, Some(reason))).await
            }
            BodyEnd::Failed(error) => self.fail(error).await,
            BodyEnd::Released => self.settle_status(Settlement::released("given back by a stopping worker")).await,
            BodyEnd::Lost => self.end_lost().await,
            BodyEnd::NotStopped => self.report_lost(),
        }
        RunEnd::Settled
    }

    pub async fn fail(&self, error: TaskError) {
        let settlement = match error {
            TaskError::Snooze { reason, after, host } => {
                Settlement { waits_for_host: host, ..self.snoozed(reason, after) }
            }
            TaskError::Permanent { reason } => Settlement::new(AttemptOutcome::Permanent, Some(reason)),
            TaskError::Retry { reason } => {
                Settlement { retry_after: self.backoff(), ..Settlement::new(AttemptOutcome::Failed, Some(reason)) }
            }
            TaskError::LeaseLost => return self.end_lost().await,
        };
        self.settle_status(settlement).await
    }

    fn snoozed(&self, reason: String, after: Option<Duration>) -> Settlement {
        let loaded = self.executor.config.current();
        let config = &loaded.config;
        Settlement {
            retry_after: after.unwrap_or(config.proxies.snooze),
            snooze_limit: self.task.role.snooze_limit().unwrap_or(config.queue.snooze_limit),
            ..Settlement::new(AttemptOutcome::Snoozed, Some(reason))
        }
    }

    fn backoff(&self) -> Duration {
        let loaded = self.executor.config.current();
        let queue = &loaded.config.queue;
        let base = queue.retry_base_by_role.get(self.task.role.name()).copied().unwrap_or(queue.retry_base);
        let retries = u32::try_from(self.task.retry_count).unwrap_or(0);
        retry::backoff(base, queue.retry_cap, retries, rand::random())
    }

    async fn finish(&self, done: Done) -> RunEnd {
        if done.write.is_none() && done.next.is_empty() && done.after.is_none() {
            return RunEnd::Completed(done.result);
        }
        self.commit_chained(Effects::Done(done)).await
    }

    async fn commit_chained(&self, effects: Effects) -> RunEnd {
        self.commit(effects).await.map_or(RunEnd::Settled, RunEnd::Chained)
    }

    /// Queues the completion of a run without effects for the claimer's next round trip. Returns its answer.
    pub async fn queue_completion(&self, result: &Value) -> Answer {
        let completion = Completion { lease: self.task.lease.clone(), result: result.clone(), detail: self.detail() };
        self.executor.claimer.complete(completion).await
    }

    /// Waits for the answer; if that does not say that the completion was written, writes it by itself.
    pub async fn settle_completion(&self, result: Value, answer: Answer) {
        if let Ok(Ok(true)) = answer.await {
            return self.report_completed();
        }
        // by itself, where it can wait for a row that another session has locked. The round trip may have
        // been committed, or may yet be; `settle_status` then finds the task completed
        let completed = Settlement::new(AttemptOutcome::Completed, None);
        self.settle_status(Settlement { result: Some(result), ..completed }).await
    }

    /// Commits the run's effects, again and again while the reason of the failure may pass.
    async fn commit(&self, effects: Effects) -> Option<NextRun> {
        let mut retries = self.retries();
        let mut unknown = None;
        loop {
            let sent = Instant::now();
            let error = match self.try_commit(&effects).await {
                Ok(committed) => return self.report_committed(effects, committed, sent),
                Err(CommitError::Invalid(reason)) => {
                    self.fail(TaskError::permanent(reason)).await;
                    return None;
                }
                Err(CommitError::LeaseLost) => None,
                Err(CommitError::RolledBack(error)) => Some(error),
                Err(CommitError::Unknown(error, committed)) => {
                    unknown = Some((committed, sent));
                    Some(error)
                }
            };
            // a try whose answer was lost may have gone through, and then every later one fails
            if let Some((committed, sent)) = unknown.take() {
                match self.ended_attempt().await {
                    Some(ended) if ended.matches(effects.recorded()) => {
                        return self.report_committed(effects, committed, sent);
                    }
                    Some(_) => {
                        self.end_fenced().await;
                        return None;
                    }
                    None => unknown = Some((committed, sent)),
                }
            }
            match error {
                Some(error) if retries.wait_after(&error).await => continue,
                Some(error) => self.fail(error.into()).await,
                None => self.end_fenced().await,
            }
            return None;
        }
    }

    async fn try_commit(&self, effects: &Effects) -> Result<Committed, CommitError> {
        let Executor { config, db, lifecycle, pauses, .. } = &self.executor;
        let tx = db.begin().await.map_err(CommitError::RolledBack)?;
        let done = match effects {
            Effects::Done(done) => done,
            Effects::Await(awaits) => return commit_await(tx, &self.task, awaits, &self.detail()).await,
        };
        let roles = pauses.borrow().claimable(self.owner.roles.roles());
        // a process that ends starts nothing
        let slot = lifecycle.is_running().then_some(Slot { roles: &roles, lease: config.current().config.queue.lease });
        commit(tx, &self.task, done, &self.detail(), slot).await
    }

    fn report_committed(&self, effects: Effects, committed: Committed, sent: Instant) -> Option<NextRun> {
        if let Some(data) = &committed.data {
            events::data_written(data);
        }
        match effects {
            Effects::Done(done) => self.after_commit(done, committed, sent),
            Effects::Await(_) => {
                events::task_waiting(&self.event(), committed.next.len(), self.elapsed());
                None
            }
        }
    }

    fn after_commit(&self, done: Done, mut committed: Committed, sent: Instant) -> Option<NextRun> {
        let stop_at = sent + self.executor.config.current().config.lease_times().self_stop();
        let next = committed.started.take().map(|started| NextRun { started, stop_at });
        if let Some(hook) = done.after {
            self.executor.after_hooks.spawn(self.task.lease.id, hook, committed);
        }
        match &done.failure {
            Some(reason) => events::task_failed(&self.event(), reason, None, self.elapsed()),
            None => self.report_completed(),
        }
        next
    }

    /// Writes an end without effects. When the database stays away, the lease runs out and the task is
    /// recovered.
    async fn settle_status(&self, settlement: Settlement) {
        let settlement = Settlement { detail: self.detail(), ..settlement };
        let mut retries = self.retries();
        loop {
            let error = match self.try_settle(&settlement).await {
                Ok(status) => return self.report_settled(&settlement, &status),
                Err(error) => error,
            };
            if retries.wait_after(&error).await {
                continue;
            }
            if !matches!(error, DbError::Missing(_)) {
                return events::settle_failed(self.task.lease.id, &error);
            }
            if self.was_cancelled().await {
                return self.report_cancelled();
            }
            // an earlier try, here or in a batch, may have gone through although its answer was lost
            return match self.ended_attempt().await {
                Some(ended) if ended.matches(RecordedOutcome::Completed) => self.report_completed(),
                Some(ended) if ended.matches(settlement.outcome.recorded()) => {
                    self.report_settled(&settlement, &ended.status)
                }
                _ => self.report_fenced(),
            };
        }
    }

    async fn try_settle(&self, settlement: &Settlement) -> Result<String, DbError> {
        tasks::settle(&self.executor.db.client().await?, &self.task.lease, settlement).await
    }

    /// How this run ended according to the task's history. None: it has not, or the database stays away.
    async fn ended_attempt(&self) -> Option<EndedAttempt> {
        let mut retries = self.retries();
        loop {
            let looked_up = async { tasks::ended_attempt(&self.executor.db.client().await?, &self.task.lease).await };
            match looked_up.await {
                Ok(ended) => return ended,
                Err(error) if retries.wait_after(&error).await => {}
                Err(_) => return None,
            }
        }
    }

    fn retries(&self) -> Retries {
        let Executor { config, lifecycle, .. } = &self.executor;
        Retries {
            since: Instant::now(),
            limit: config.current().config.queue.lease,
            lifecycle: lifecycle.clone(),
            tries: 0,
            deadlines_missed: 0,
        }
    }

    /// `status`: the task's status after the settlement.
    fn report_settled(&self, settlement: &Settlement, status: &str) {
        let (run, took) = (self.event(), self.elapsed());
        let reason = settlement.error_message.as_deref().unwrap_or_default();
        match settlement.outcome {
            AttemptOutcome::Completed => events::task_completed(&run, took),
            AttemptOutcome::Cancelled => events::task_cancelled(&run, reason, took),
            // it was snoozed for too long
            AttemptOutcome::Snoozed if status == "failed" => events::task_failed(&run, reason, None, took),
            AttemptOutcome::Snoozed => events::task_snoozed(&run, settlement.retry_after, reason, took),
            AttemptOutcome::Released => events::task_released(&run, took),
            AttemptOutcome::Permanent => events::task_failed(&run, reason, None, took),
            AttemptOutcome::Failed => {
                let retry_after = (status == "pending").then_some(settlement.retry_after);
                events::task_failed(&run, reason, retry_after, took);
            }
        }
    }

    fn report_completed(&self) {
        events::task_completed(&self.event(), self.elapsed());
    }
}

/// How long a statement of a run's end is tried again: while its failure may pass, for as long as a lease
/// lasts, and until the process gives its tasks back.
struct Retries {
    since: Instant,
    limit: Duration,
    lifecycle: Lifecycle,
    tries: u32,
    deadlines_missed: u32,
}

const RETRY_BASE: Duration = Duration::from_millis(100);
const RETRY_CAP: Duration = Duration::from_secs(4);
/// Maximum number of timeouts; then the statement itself is too slow, and is not tried again.
const MAX_DEADLINES_MISSED: u32 = 3;

impl Retries {
    /// Waits before the next try. `false`: there is none after this error.
    async fn wait_after(&mut self, error: &DbError) -> bool {
        self.deadlines_missed += u32::from(matches!(error, DbError::TooSlow(_)));
        let is_last =
            self.deadlines_missed >= MAX_DEADLINES_MISSED || self.since.elapsed() >= self.limit || self.is_releasing();
        if is_last || !error.is_transient() {
            return false;
        }
        if self.tries == 0 {
            events::settlement_retrying(error);
        }
        tokio::select! {
            () = tokio::time::sleep(retry::doubling(RETRY_BASE, RETRY_CAP, self.tries)) => {}
            () = self.lifecycle.reached(Phase::Releasing) => {}
        }
        self.tries += 1;
        true
    }

    fn is_releasing(&self) -> bool {
        self.lifecycle.phase() >= Phase::Releasing
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::BoxFuture;
    use serde_json::json;
    use tokio::sync::{mpsc, watch};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::claimer::{Claimer, ClaimerDeps};
    use crate::execute::SlotOwner;
    use crate::held_tasks::HeldTasks;
    use crate::{Body, HandOver, Work};
    use db::tasks::ClaimedTask;
    use db::{Db, PoolSizes};
    use domain::proxy::PoolState;
    use domain::task::pause::Pauses;
    use domain::task::role::RoleSet;
    use domain::task::{LeaseTimes, TaskLease};
    use settings::{Config, LiveConfig};
    use supervision::background::Background;

    /// Work that ends at once.
    struct Idle;

    impl Work for Idle {
        fn body(self: Arc<Self>, _: &ClaimedTask, _: CancellationToken) -> Arc<dyn Body> {
            self
        }
    }

    impl Body for Idle {
        fn run(self: Arc<Self>, _: Option<HandOver>) -> BoxFuture<'static, Result<Outcome, TaskError>> {
            Box::pin(async { Ok(Outcome::done(Value::Null).into()) })
        }

        fn detail(&self) -> Value {
            Value::Null
        }
    }

    /// The executor of a process that never connects to its database.
    fn executor() -> Executor {
        let config = Config::with(&[]).unwrap();
        let db = Db::new("postgres://db.invalid/drover", &config.database, PoolSizes { work: 1, api: 1 }).unwrap();
        let lifecycle = Lifecycle::default();
        let claimer = Claimer::start(ClaimerDeps {
            db: db.clone(),
            times: LeaseTimes { lease: Duration::from_secs(60), heartbeat: Duration::from_secs(10) },
            background: Background::new(&config.supervision, lifecycle.clone()),
            held_tasks: HeldTasks::default(),
            proxies: watch::channel(PoolState::default()).1,
            can_write_payloads: watch::channel(true).1,
            pauses: watch::channel(Pauses::default()).1,
        });
        Executor::new(
            db,
            claimer,
            Arc::new(Idle),
            LiveConfig::fixed(config),
            lifecycle,
            watch::channel(Pauses::default()).1,
        )
    }

    fn task() -> ClaimedTask {
        ClaimedTask {
            lease: TaskLease { id: 1, fence: 1, worker_id: "w".to_owned() },
            role: RoleSet::any().roles()[0],
            dispensary_id: None,
            platform: None,
            account: None,
            payload: json!({}),
            priority: 0,
            retry_count: 0,
            loss_count: 0,
            waited: Duration::ZERO,
        }
    }

    #[tokio::test]
    async fn a_statement_is_given_up_after_an_error_that_stays_and_at_the_end_of_its_time() {
        let executor = executor();
        let (task, owner) = (task(), SlotOwner { name: "w".to_owned(), roles: RoleSet::any() });
        let run = Run::new(&executor, task, &owner);
        let (away, slow) = (DbError::Unavailable("gone".to_owned()), DbError::TooSlow("slow".to_owned()));
        assert!(!run.retries().wait_after(&DbError::Missing("the row".to_owned())).await);
        let mut third = Retries { deadlines_missed: MAX_DEADLINES_MISSED - 1, ..run.retries() };
        assert!(!third.wait_after(&slow).await);
        let mut late = Retries { limit: Duration::ZERO, ..run.retries() };
        assert!(!late.wait_after(&away).await);
        executor.lifecycle.advance(Phase::Releasing);
        assert!(!run.retries().wait_after(&away).await);
    }

    #[tokio::test]
    async fn a_commit_starts_what_the_handler_asked_for_after_it() {
        let (executor, task) = (executor(), task());
        let (seen, mut results) = mpsc::channel(1);
        let hook = |committed: Committed| async move { seen.send(committed.result).await.unwrap() };
        let done = Outcome::done(Value::Null).after(hook);
        let committed = Committed { result: json!({ "bytes": 3 }), next: Vec::new(), data: None, started: None };
        let owner = SlotOwner { name: "w".to_owned(), roles: RoleSet::any() };
        Run::new(&executor, task, &owner).after_commit(done, committed, Instant::now());
        assert_eq!(results.recv().await, Some(json!({ "bytes": 3 })));
    }
}
