//! Runs of tasks, from the claim to how they ended.

use std::fmt;
use std::time::Duration;

use tracing::{error, info, warn};

use crate::domain::role::Role;
use crate::domain::task::TaskId;
use crate::metrics;

/// One run of a task, as events name it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub task: TaskId,
    pub fence: i64,
    pub role: Role,
    pub dispensary: Option<i64>,
    pub worker: &'a str,
}

/// A log line about a run, with the fields by which it is found again.
macro_rules! say {
    ($level:ident, $run:ident, $($message:tt)+) => {
        $level!(task = $run.task, fence = $run.fence, role = $run.role.name(), worker = $run.worker, $($message)+)
    };
}

/// `waited`: from when the task was due.
pub fn task_claimed(run: &Run, waited: Duration) {
    let (task, role) = (run.task, run.role.name());
    metrics::TASKS_CLAIMED.with_label_values(&[role]).inc();
    metrics::TASK_WAIT_SECONDS.with_label_values(&[role]).observe(waited.as_secs_f64());
    let store = run.dispensary.map(|id| format!(" for dispensary {id}")).unwrap_or_default();
    say!(info, run, "Claimed task {task} ({role}){store}");
}

pub fn task_completed(run: &Run, took: Duration) {
    finished(run, "completed", took);
    say!(info, run, "Task {} completed successfully", run.task);
}

/// `again`: when it will be tried again; None = failed for good.
pub fn task_failed(run: &Run, why: &str, again: Option<Duration>, took: Duration) {
    finished(run, "failed", took);
    match again {
        Some(after) => say!(warn, run, "Task {} failed, next attempt in {after:.1?}: {why}", run.task),
        None => say!(error, run, "Task {} failed for good: {why}", run.task),
    }
}

pub fn task_snoozed(run: &Run, after: Duration, why: &str, took: Duration) {
    finished(run, "snoozed", took);
    say!(warn, run, "Task {} put off for {after:.1?}: {why}", run.task);
}

pub fn task_cancelled(run: &Run, why: &str, took: Duration) {
    finished(run, "cancelled", took);
    say!(info, run, "Task {} cancelled: {why}", run.task);
}

/// Given back by a stopping worker, at no cost.
pub fn task_released(run: &Run, took: Duration) {
    finished(run, "released", took);
    say!(info, run, "Task {} given back", run.task);
}

/// Its lease was lost while the body ran; the body was stopped.
pub fn task_lost(run: &Run, took: Duration) {
    finished(run, "lost", took);
    metrics::TASKS_LOST.inc();
    say!(warn, run, "Task {} lost its lease and was stopped", run.task);
}

/// Its results came too late and were not written.
pub fn task_fenced(run: &Run, took: Duration) {
    finished(run, "lost", took);
    metrics::TASKS_FENCED.inc();
    say!(warn, run, "Task {} is no longer ours: its results were not written", run.task);
}

fn finished(run: &Run, outcome: &'static str, took: Duration) {
    let role = run.role.name();
    metrics::TASKS_FINISHED.with_label_values(&[role, outcome]).inc();
    metrics::TASK_SECONDS.with_label_values(&[role]).observe(took.as_secs_f64());
}

/// Claims go unanswered while the database is away; the next poll asks again.
pub fn claim_failed(why: &dyn fmt::Display) {
    warn!("Tasks cannot be claimed: {why}");
}

/// The ending could not be written down: the lease will run out and the task be recovered.
pub fn settle_failed(task: TaskId, why: &dyn fmt::Display) {
    warn!(task, "The ending of task {task} could not be written: {why}");
}

/// Leases are not renewed; each body watches its own.
pub fn heartbeat_failed(why: &dyn fmt::Display) {
    warn!("Leases could not be renewed: {why}");
}

pub fn draining(tasks: usize, grace: Duration) {
    if tasks > 0 {
        info!(
            tasks,
            "Stopping: {tasks} tasks may take up to {grace:?} to finish; a second signal gives them back at once"
        );
    }
}

pub fn release_incomplete(tasks: usize, why: &dyn fmt::Display) {
    warn!(tasks, "{tasks} tasks could not be given back: {why}; their leases will run out");
}

pub fn stopped_over_their_heads(tasks: usize) {
    warn!(tasks, "{tasks} tasks did not stop in time and were put back; what they still do will not be written");
}

/// Its lease is not renewed any more.
pub fn body_does_not_stop(run: &Run, waited: Duration) {
    say!(
        error,
        run,
        "Task {} was told to stop {waited:?} ago and goes on: it holds a thread, and its lease will run out",
        run.task
    );
}

/// The work is done and kept; only its place is missing.
pub fn settlement_waits(why: &dyn fmt::Display) {
    warn!("A finished task waits to be written: {why}");
}
