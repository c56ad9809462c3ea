//! One turn (execution) of a chore, the periodic work of a process, within its time limit.
//!
//! A turn is idempotent and may be interrupted anywhere: the next one does the rest. In: the database and the
//! files of the process. Out: a [`ChoreStatus`]. It must not know its caller, when it runs, or what a chore does.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt;

pub use super::chores::Chore;
use crate::handlers::housekeeping::Housekeeping;
use db::Db;
use queue::TaskError;
use settings::{Config, LiveConfig};
use supervision::panics;
use telemetry::events;

/// A turn that takes longer is cut off; the next one continues where it was.
const MAX_TURN_TIME: Duration = Duration::from_secs(15 * 60);

/// Processes that have a chore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    EveryProcess,
    /// Processes that run schedules.
    Schedulers,
    /// Processes that run tasks.
    Workers,
}

/// How the latest turn of a chore ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoreStatus {
    /// `changed`: rows, files or partitions.
    Done {
        changed: u64,
    },
    /// Another process has just done the same.
    Skipped,
    Failed {
        error: String,
    },
}

/// Dependencies of the chores of a process. Cheap to clone.
#[derive(Clone)]
pub struct ChoreDeps {
    pub live: LiveConfig,
    pub db: Db,
    pub housekeeping: Housekeeping,
}

/// Input of one turn.
pub struct Turn<'a> {
    pub config: &'a Config,
    pub db: &'a Db,
    pub housekeeping: &'a Housekeeping,
    /// Time between two turns.
    pub interval: Duration,
}

/// How much was changed; none: another process has just done the same.
pub type Changed = Result<Option<u64>, TaskError>;

impl Chore {
    /// One turn, within its time limit; a panic is a failure.
    pub async fn run(self, deps: &ChoreDeps) -> ChoreStatus {
        let begun = Instant::now();
        let turn = AssertUnwindSafe(self.turn_of(deps)).catch_unwind();
        let status = match tokio::time::timeout(MAX_TURN_TIME, turn).await {
            Ok(Ok(Ok(Some(changed)))) => ChoreStatus::Done { changed },
            Ok(Ok(Ok(None))) => ChoreStatus::Skipped,
            Ok(Ok(Err(error))) => ChoreStatus::Failed { error: error.to_string() },
            Ok(Err(panic)) => ChoreStatus::Failed { error: panics::text(panic.as_ref()) },
            Err(_) => ChoreStatus::Failed { error: format!("not done within {MAX_TURN_TIME:?}") },
        };
        match &status {
            ChoreStatus::Done { changed } => events::chore_done(self.name(), *changed, begun.elapsed()),
            ChoreStatus::Skipped => events::chore_skipped(self.name()),
            ChoreStatus::Failed { error } => events::chore_failed(self.name(), error),
        }
        status
    }

    async fn turn_of(self, ChoreDeps { live, db, housekeeping }: &ChoreDeps) -> Changed {
        fail::fail_point!("chore");
        let config = &live.current().config;
        self.turn(Turn { config, db, housekeeping, interval: self.interval(config) }).await
    }
}
