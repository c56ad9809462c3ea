//! `Outcome` and `TaskError`: how a handler's run ended, and the writes that belong to its end.
//!
//! In: a handler's result, or an error that has a disposition. Out: the task's further course. It must not
//! know SQL, actors, storage or requests.

use std::error::Error;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::HandOver;
use crate::commit::Committed;
use db::tasks::AttemptOutcome;
use db::{DbError, Tx};
use domain::disposition::{Disposition, HasDisposition};
use domain::role::Role;
use domain::store::{Platform, StoreId};
use telemetry::events::DataWritten;

/// How a run ended, when neither an error ended it nor a wait: [`TaskError::Snooze`] puts a task off.
pub enum Outcome {
    Done(Done),
    /// The task makes no sense any more.
    Cancel {
        reason: String,
    },
}

/// A finished run. `result`, `next` and `write` are committed in the one transaction that ends the task.
pub struct Done {
    /// A JSON object; shown with the task.
    pub result: Value,
    /// Why the task fails for good, although its run leaves follow-ups or writes behind. None: it completes.
    pub failure: Option<String>,
    pub next: Vec<FollowUp>,
    pub write: Option<Box<dyn Write>>,
    pub after: Option<AfterHook>,
}

/// The handler's own writes, inside the settling transaction. They run again when that transaction failed for
/// a reason that is not theirs (restart of the server, deadlock, cut connection), so they change nothing but
/// the database.
pub trait Write: Send + Sync {
    fn run<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>>;
}

/// Runs once when the task is completed and its lease has ended: best effort, with a time limit, lost when
/// the process ends.
pub type AfterHook = Box<dyn FnOnce(Committed) -> BoxFuture<'static, ()> + Send + Sync>;

/// A task to be made when this one completes.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    pub role: Role,
    pub dispensary_id: Option<StoreId>,
    pub platform: Option<Platform>,
    /// None = one more than the parent's.
    pub priority: Option<i32>,
    /// Column `payload`.
    pub args: Value,
}

impl FollowUp {
    /// The first fetch of a new store.
    pub fn first_fetch(platform: Platform, store: StoreId) -> Self {
        FollowUp {
            role: Role::ProductDiscovery,
            dispensary_id: Some(store),
            platform: Some(platform),
            priority: Some(Role::ProductDiscovery.default_priority()),
            args: json!({}),
        }
    }
}

/// Results of the writes inside the transaction: fields for the result, follow-ups, counts for metrics.
#[derive(Debug, Default)]
pub struct WriteResults {
    pub result: Map<String, Value>,
    pub next: Vec<FollowUp>,
    pub data: Option<DataWritten>,
    /// For the one follow-up, which may then begin at once in the slot of this run.
    pub hand_over: Option<HandOver>,
}

impl Outcome {
    pub fn done(result: Value) -> Done {
        Done { result, failure: None, next: Vec::new(), write: None, after: None }
    }
}

impl Done {
    pub fn next(mut self, follow_up: FollowUp) -> Self {
        self.next.push(follow_up);
        self
    }

    /// The task fails for good, for this reason.
    pub fn failing(self, reason: String) -> Self {
        Done { failure: Some(reason), ..self }
    }

    pub fn outcome(&self) -> AttemptOutcome {
        match self.failure {
            Some(_) => AttemptOutcome::Permanent,
            None => AttemptOutcome::Completed,
        }
    }

    /// `write` is given `data`, which is kept for as long as the transaction may run again.
    pub fn write<D: Send + Sync + 'static>(
        mut self,
        data: D,
        write: impl for<'a> Fn(&'a D, &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> + Send + Sync + 'static,
    ) -> Self {
        self.write = Some(Box::new(WriteOf { data, write }));
        self
    }

    /// Runs `after` once the task is completed.
    pub fn after<F: Future<Output = ()> + Send + 'static>(
        mut self,
        after: impl FnOnce(Committed) -> F + Send + Sync + 'static,
    ) -> Self {
        self.after = Some(Box::new(move |committed| Box::pin(after(committed))));
        self
    }
}

/// A closure with the data that each of its runs borrows.
struct WriteOf<D, F> {
    data: D,
    write: F,
}

impl<D, F> Write for WriteOf<D, F>
where
    D: Send + Sync,
    F: for<'a> Fn(&'a D, &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> + Send + Sync,
{
    fn run<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> {
        (self.write)(&self.data, tx)
    }
}

impl From<Done> for Outcome {
    fn from(done: Done) -> Self {
        Outcome::Done(done)
    }
}

/// Why a run did not finish. An outage of the database, a full disk and unreachable proxies become a snooze,
/// a platform's final refusal becomes permanent; any other `?` is a retry.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The run failed. The next one comes after the back-off.
    #[error("{reason}")]
    Retry { reason: String },
    #[error("{reason}")]
    Permanent { reason: String },
    /// Not a failure: the task waits at no cost, for `proxies.snooze` where `after` is none, and at most
    /// until the breaker of `host` closes.
    #[error("{reason}")]
    Snooze { reason: String, after: Option<Duration>, host: Option<String> },
}

impl TaskError {
    pub fn permanent(reason: impl Into<String>) -> Self {
        TaskError::Permanent { reason: reason.into() }
    }

    pub fn retry(reason: impl Into<String>) -> Self {
        TaskError::Retry { reason: reason.into() }
    }
}

/// Each error decides beside its own type the next step of its task.
impl<E: HasDisposition + Error> From<E> for TaskError {
    fn from(error: E) -> Self {
        let reason = error.to_string();
        match error.disposition() {
            Disposition::Retry => TaskError::retry(reason),
            Disposition::Permanent => TaskError::Permanent { reason },
            Disposition::Snooze { after, host } => TaskError::Snooze { reason, after, host },
        }
    }
}
