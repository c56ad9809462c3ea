//! `Outcome` and `TaskError`: how a handler's run ended, and the writes that belong to its end.
//!
//! In: a handler's result, or an error that has a disposition. Out: the task's further course. It must not
//! know SQL, actors, storage or requests.

use std::error::Error;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Committed, HandOver};
use db::tasks::{AttemptOutcome, NewTask};
use db::{DbError, Tx};
use domain::store::StoreId;
use domain::task::disposition::{Disposition, HasDisposition};
use domain::task::role::Role;
use domain::task::{RecordedOutcome, TaskId};
use telemetry::events::DataWritten;

/// How a run ended, when neither an error ended it nor a wait: [`TaskError::Snooze`] puts a task off.
pub enum Outcome {
    Done(Done),
    Await(Await),
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

/// A run that makes tasks, its children, and waits for them. When all have ended, however they did, its task
/// runs again and finds them by [`db::tasks::children_of`]; that run decides what becomes of the task. An open
/// task with the key of a child is adopted: it is waited for, and not made again. `children` and `write` are
/// committed in the one transaction that ends the run.
///
/// A handler that has no children to make continues and ends with [`Done`]: to wait for none is its fault, and
/// fails the task for good.
pub struct Await {
    /// Tasks to wait for, at most [`MAX_CHILDREN`].
    pub children: Vec<FollowUp>,
    /// Its results give more children (`next`) and counts for metrics (`data`); the others are not used.
    pub write: Option<Box<dyn Write>>,
}

/// Maximum number of children of one run.
pub const MAX_CHILDREN: usize = 1_000;

/// The handler's own writes, inside the settling transaction. They run again when that transaction failed for
/// a reason that is not theirs (restart of the server, deadlock, cut connection), so they change nothing but
/// the database.
pub trait Write: Send + Sync {
    fn run<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>>;
}

/// Runs once when the task is completed and its lease has ended: best effort, with a time limit, lost when
/// the process ends.
pub type AfterHook = Box<dyn FnOnce(Committed) -> BoxFuture<'static, ()> + Send + Sync>;

/// A task to be made by the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    pub role: Role,
    pub dispensary_id: Option<StoreId>,
    /// None = the parent's.
    pub platform: Option<String>,
    pub account: Option<String>,
    /// An open task with this key does the same: it is taken for this one, which is not made. None = the key of
    /// jobs where it is one, else none.
    pub dedup_key: Option<String>,
    /// None = one more than the parent's; that of its role where a save makes it.
    pub priority: Option<i32>,
    /// Column `payload`.
    pub args: Value,
}

impl FollowUp {
    /// A task without any other field.
    pub fn new(role: Role, args: Value) -> Self {
        FollowUp { role, dispensary_id: None, platform: None, account: None, dedup_key: None, priority: None, args }
    }

    /// The task to be made. `platform` and `priority` are for a follow-up that names none.
    pub(crate) fn task(&self, parent: TaskId, platform: Option<&str>, priority: i32) -> NewTask {
        NewTask {
            dispensary_id: self.dispensary_id,
            platform: self.platform.clone().or_else(|| platform.map(str::to_owned)),
            account: self.account.clone(),
            dedup_key: self.dedup_key.clone(),
            priority: self.priority.unwrap_or(priority),
            payload: self.args.clone(),
            parent_task_id: Some(parent),
            ..NewTask::new(self.role)
        }
    }
}

/// Results of the writes inside the transaction: fields for the result, follow-ups, counts for metrics.
#[derive(Debug, Default)]
pub struct WriteResults {
    pub result: Map<String, Value>,
    pub next: Vec<FollowUp>,
    pub data: Option<DataWritten>,
    /// Data for the one follow-up, which may then begin at once in the slot of this run.
    pub hand_over: Option<HandOver>,
}

impl Outcome {
    pub fn done(result: Value) -> Done {
        Done { result, failure: None, next: Vec::new(), write: None, after: None }
    }

    pub fn wait_for(children: Vec<FollowUp>) -> Await {
        Await { children, write: None }
    }
}

impl Await {
    /// Adds a write, like [`Done::write`].
    pub fn write<D: Send + Sync + 'static>(
        self,
        data: D,
        write: impl for<'a> Fn(&'a D, &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> + Send + Sync + 'static,
    ) -> Self {
        Await { write: Some(Box::new(WriteOf { data, write })), ..self }
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
pub struct WriteOf<D, F> {
    pub data: D,
    pub write: F,
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

impl From<Await> for Outcome {
    fn from(awaits: Await) -> Self {
        Outcome::Await(awaits)
    }
}

/// The end of a run with effects, which are committed in one transaction.
pub enum Effects {
    Done(Done),
    Await(Await),
}

impl Effects {
    pub fn recorded(&self) -> RecordedOutcome {
        match self {
            Effects::Done(done) => done.outcome().recorded(),
            Effects::Await(_) => RecordedOutcome::Waiting,
        }
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
    /// Snoozes the task, which does not count as a failure: it waits at no cost, for `proxies.snooze` where `after` is none,
    /// and at most until the breaker of `host` closes.
    #[error("{reason}")]
    Snooze { reason: String, after: Option<Duration>, host: Option<String> },
    /// The task belongs to another run, or to none: nothing of this run is written any more.
    #[error("the lease of the run is lost")]
    LeaseLost,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_follow_up_has_its_own_fields_and_from_its_parent_only_what_it_does_not_name() {
        let bare = FollowUp::new(Role::ScrapeAccount, json!({ "url": "https://site.example/ann" }));
        let full = FollowUp {
            dispensary_id: Some(3),
            platform: Some("site".to_owned()),
            account: Some("ann".to_owned()),
            dedup_key: Some("ann on site".to_owned()),
            priority: Some(9),
            ..bare.clone()
        };
        let of_parent = NewTask {
            payload: bare.args.clone(),
            platform: Some("parents".to_owned()),
            priority: 4,
            parent_task_id: Some(7),
            ..NewTask::new(Role::ScrapeAccount)
        };
        let own = NewTask {
            dispensary_id: full.dispensary_id,
            platform: full.platform.clone(),
            account: full.account.clone(),
            dedup_key: full.dedup_key.clone(),
            priority: 9,
            ..of_parent.clone()
        };
        let tasks = [bare, full].map(|follow_up| follow_up.task(7, Some("parents"), 4));
        assert_eq!(tasks, [of_parent, own]);
    }
}
