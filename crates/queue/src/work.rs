//! `Work` and `Body`: what tasks do, as the queue sees it.
//!
//! In: a claimed task. Out: the body of one run of it, which ends with an [`Outcome`]. It must not know roles' bodies.

use std::sync::Arc;

use db::tasks::ClaimedTask;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{HandOver, Outcome, TaskError};

/// Gives each run of a task its body.
pub trait Work: Send + Sync {
    /// `stop` is cancelled when the run is stopped from outside: the task was cancelled or its lease lost, its
    /// time is over, or the process ends. The body may then end by itself within the `stop_grace` of its role,
    /// and is aborted afterwards.
    fn body(self: Arc<Self>, task: &ClaimedTask, stop: CancellationToken) -> Arc<dyn Body>;
}

/// The body of one run. It may be dropped at any await, and run again in another process.
pub trait Body: Send + Sync {
    /// `hand_over` comes from the run that started this task in its own slot.
    fn run(self: Arc<Self>, hand_over: Option<HandOver>) -> BoxFuture<'static, Result<Outcome, TaskError>>;

    /// The attempt's `detail` so far, also while the body runs and after it failed.
    fn detail(&self) -> Value;
}
