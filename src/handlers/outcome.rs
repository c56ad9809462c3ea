//! `Outcome` and `TaskError`: how a handler's run ended, and what is to be written with its ending.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::db::{DbError, Tx};
use crate::domain::dispensary::{DispensaryId, Platform};
use crate::domain::role::Role;
use crate::stealth::{Disposition, FetchError};
use crate::storage::StorageError;

/// How a run ended, when it did not fail.
pub enum Outcome {
    Done(Done),
    /// Come back later at no cost (host closed, no proxy free).
    Snooze {
        after: Duration,
        reason: String,
    },
    /// The task makes no sense any more.
    Cancel {
        reason: String,
    },
}

/// A finished run. Everything in it is written in the one transaction that completes the task.
pub struct Done {
    pub result: Value,
    pub next: Vec<Chained>,
    pub write: Option<Write>,
}

/// The handler's own writes, run inside the settling transaction. May run again if the transaction is tried again.
pub type Write = Box<dyn for<'a> FnOnce(&'a Tx) -> BoxFuture<'a, Result<Learned, DbError>> + Send>;

/// A task to be made when this one completes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chained {
    pub role: Role,
    pub dispensary_id: Option<DispensaryId>,
    pub platform: Option<Platform>,
    /// None = the parent's.
    pub priority: Option<i32>,
    pub payload: Value,
}

/// What only the database knew before the writes: additions to the task's result and follow-ups.
#[derive(Debug, Default)]
pub struct Learned {
    pub result: Map<String, Value>,
    pub next: Vec<Chained>,
}

impl Outcome {
    pub fn done(result: Value) -> Done {
        Done { result, next: Vec::new(), write: None }
    }
}

impl Done {
    pub fn next(mut self, chained: Chained) -> Self {
        self.next.push(chained);
        self
    }

    pub fn write(
        mut self,
        write: impl for<'a> FnOnce(&'a Tx) -> BoxFuture<'a, Result<Learned, DbError>> + Send + 'static,
    ) -> Self {
        self.write = Some(Box::new(write));
        self
    }
}

impl From<Done> for Outcome {
    fn from(done: Done) -> Self {
        Outcome::Done(done)
    }
}

/// Why a run failed. Any `?` is a retry; permanent is a deliberate word.
#[derive(Debug, Error)]
pub enum TaskError {
    #[error("{why}")]
    Retry { why: String, after: Option<Duration> },
    #[error("{why}")]
    Permanent { why: String },
    /// Not a failure: the task waits at no cost.
    #[error("{why}")]
    Snooze { why: String, after: Option<Duration> },
}

impl TaskError {
    pub fn permanent(why: impl Into<String>) -> Self {
        TaskError::Permanent { why: why.into() }
    }

    pub fn retry(why: impl Into<String>) -> Self {
        TaskError::Retry { why: why.into(), after: None }
    }
}

/// How long a task waits for a database that went away under it.
const DATABASE_AWAY: Duration = Duration::from_secs(1);

/// An outage of the database is nobody's failure: however often it happens, it costs no task a retry. A statement that is too
/// slow does, or it would be tried for ever.
impl From<DbError> for TaskError {
    fn from(error: DbError) -> Self {
        let why = error.to_string();
        match error {
            DbError::Unavailable(_) => TaskError::Snooze { why, after: Some(DATABASE_AWAY) },
            _ => TaskError::retry(why),
        }
    }
}

/// How long a task waits for room on the disk.
const DISK_FULL: Duration = Duration::from_secs(10);

/// A full disk is nobody's failure either: the crawl goes on by itself once there is room.
impl From<StorageError> for TaskError {
    fn from(error: StorageError) -> Self {
        let why = error.to_string();
        match error {
            StorageError::Full { .. } => TaskError::Snooze { why, after: Some(DISK_FULL) },
            error if error.is_permanent() => TaskError::Permanent { why },
            _ => TaskError::retry(why),
        }
    }
}

impl From<FetchError> for TaskError {
    fn from(error: FetchError) -> Self {
        let why = error.to_string();
        match error.disposition() {
            Disposition::Snooze { after } => TaskError::Snooze { why, after },
            Disposition::Permanent => TaskError::Permanent { why },
            Disposition::TryAgain { after } => TaskError::Retry { why, after },
            // nobody upstream has heard of the task: what fails is the way there
            Disposition::RotateProxy => TaskError::Snooze { why, after: None },
            Disposition::RotateBlocked | Disposition::FailAttempt => TaskError::retry(why),
        }
    }
}
