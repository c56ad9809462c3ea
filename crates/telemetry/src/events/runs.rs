//! Runs of tasks, from the claim to how they ended.

use std::fmt;
use std::time::Duration;

use tracing::{error, info, warn};

use crate::metrics;
use domain::amounts::counted;
use domain::store::StoreId;
use domain::task::TaskId;
use domain::task::role::Role;

/// One run of a task, as events name it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub task: TaskId,
    pub fence: i64,
    pub role: Role,
    pub store: Option<StoreId>,
    /// The worker's id and its friendly name, which tables show.
    pub worker: &'a str,
    pub worker_name: &'a str,
}

/// A log line about a run, with the fields by which it is found again.
macro_rules! log_run {
    ($level:ident, $run:ident, $($message:tt)+) => {
        $level!(task = $run.task, fence = $run.fence, role = $run.role.name(), worker_name = $run.worker_name, worker = $run.worker, $($message)+)
    };
}

/// `waited`: from when the task was due.
pub fn task_claimed(run: &Run, waited: Duration) {
    let (task, role) = (run.task, run.role.name());
    metrics::TASKS_CLAIMED.with_label_values(&[role]).inc();
    metrics::TASK_WAIT_SECONDS.with_label_values(&[role]).observe(waited.as_secs_f64());
    let store = run.store.map(|id| format!(" for dispensary {id}")).unwrap_or_default();
    log_run!(info, run, "Claimed task {task} ({role}){store}");
}

pub fn task_completed(run: &Run, took: Duration) {
    finished(run, "completed", took);
    log_run!(info, run, "Task {} completed successfully", run.task);
}

/// `retry_after`: None = it is not tried again.
pub fn task_failed(run: &Run, error: &str, retry_after: Option<Duration>, took: Duration) {
    finished(run, "failed", took);
    match retry_after {
        Some(after) => log_run!(warn, run, "Task {} failed, next attempt in {after:.1?}: {error}", run.task),
        None => log_run!(error, run, "Task {} failed for good: {error}", run.task),
    }
}

pub fn task_snoozed(run: &Run, after: Duration, reason: &str, took: Duration) {
    finished(run, "snoozed", took);
    log_run!(warn, run, "Task {} snoozed for {after:.1?}: {reason}", run.task);
}

pub fn task_cancelled(run: &Run, reason: &str, took: Duration) {
    finished(run, "cancelled", took);
    log_run!(info, run, "Task {} cancelled: {reason}", run.task);
}

/// Its run made `children` and has ended; it runs again when they have.
pub fn task_waiting(run: &Run, children: usize, took: Duration) {
    finished(run, "waiting", took);
    log_run!(info, run, "Task {} waits for {}", run.task, counted(children, "task"));
}

/// Given back by a stopping worker, at no cost.
pub fn task_released(run: &Run, took: Duration) {
    finished(run, "released", took);
    log_run!(info, run, "Task {} given back", run.task);
}

/// Its lease was lost while the body ran; the body was stopped.
pub fn task_lost(run: &Run, took: Duration) {
    finished(run, "lost", took);
    metrics::TASKS_LOST.inc();
    log_run!(warn, run, "Task {} lost its lease and was stopped", run.task);
}

/// Its lease was lost before the outcome was written, which the fence refused.
pub fn task_fenced(run: &Run, took: Duration) {
    finished(run, "lost", took);
    metrics::TASKS_FENCED.inc();
    log_run!(warn, run, "Task {} lost its lease before it settled: its results were not written", run.task);
}

fn finished(run: &Run, outcome: &'static str, took: Duration) {
    let role = run.role.name();
    metrics::TASKS_FINISHED.with_label_values(&[role, outcome]).inc();
    metrics::TASK_SECONDS.with_label_values(&[role]).observe(took.as_secs_f64());
}

/// The database does not answer a claim; the next poll claims again.
pub fn claim_failed(error: &dyn fmt::Display) {
    warn!("Tasks cannot be claimed, or completed in a batch, until the database answers: {error}");
}

/// The answer to a claim was lost; `tasks` that it had claimed are pending again.
pub fn unanswered_claim_given_back(tasks: i32) {
    warn!(tasks, "The answer to a claim was lost; claimed tasks that are pending again: {tasks}");
}

/// A claimed task that no actor takes: its lease will run out.
pub fn give_back_failed(task: TaskId, error: &dyn fmt::Display) {
    warn!(
        task,
        "Task {task} was claimed but not started, and could not be released; it runs again when its lease ends: {error}"
    );
}

/// Could not record that the body stopped. If the task was cancelled, its store stays reserved until the
/// lease expires.
pub fn stop_not_noted(task: TaskId, error: &dyn fmt::Display) {
    warn!(task, "Task {task} lost its lease and has stopped, which could not be saved: {error}");
}

/// The outcome could not be written: the lease will run out and the task be recovered.
pub fn settle_failed(task: TaskId, error: &dyn fmt::Display) {
    warn!(task, "The outcome of task {task} could not be written: {error}");
}

/// The process's leases were renewed this long after they were due.
pub fn leases_renewed(late: Duration) {
    metrics::HEARTBEAT_LATE_SECONDS.observe(late.as_secs_f64());
}

/// A task actor's beat arrived this long after it was due.
pub fn beat_arrived(late: Duration) {
    metrics::BEAT_LATE_SECONDS.observe(late.as_secs_f64());
}

/// Its lease is no longer renewed: its body stops before the lease runs out, and another worker takes the
/// task.
pub fn task_actor_silent(task: TaskId, silence: Duration) {
    warn!(
        task,
        "The actor of task {task} has sent no beat for {:.0} s; its lease is no longer renewed",
        silence.as_secs_f64()
    );
}

/// Leases are not renewed; each body stops by itself before its own runs out.
pub fn heartbeat_failed(error: &dyn fmt::Display) {
    warn!("Leases could not be renewed: {error}");
}

pub fn draining(tasks: usize, grace: Duration) {
    if tasks > 0 {
        info!(
            tasks,
            "Stopping; tasks that may run for {grace:?} more: {tasks}. A second signal gives them back at once"
        );
    }
}

/// The last line of a service. `ended`: tasks that ended while it drained; `given_back`: tasks that it put
/// back into the queue.
pub fn stopped(ended: usize, given_back: usize) {
    info!(
        ended,
        given_back, "Stopped. Tasks that ended meanwhile: {ended}; tasks put back into the queue: {given_back}"
    );
}

pub fn release_incomplete(tasks: usize, error: &dyn fmt::Display) {
    warn!(tasks, "Tasks could not be given back: {error}; leases that will run out: {tasks}");
}

/// They were put back although they had not stopped.
pub fn tasks_force_released(tasks: usize) {
    warn!(tasks, "Tasks given back before they stopped: {tasks}; their further writes are rejected");
}

/// Its body was aborted `waited` ago and has not ended. Its lease is not renewed any more.
pub fn task_abort_timed_out(run: &Run, waited: Duration) {
    log_run!(
        error,
        run,
        "Task {} was aborted {waited:?} ago and still runs: it blocks a thread, and its lease will run out",
        run.task
    );
}

/// The result of a finished run is kept and written as soon as the database can.
pub fn settlement_retrying(error: &dyn fmt::Display) {
    warn!("The outcome of a finished task cannot be written yet, trying again: {error}");
}

/// The task is completed all the same.
pub fn after_hook_failed(task: TaskId, reason: &dyn fmt::Display) {
    warn!(task, "The after-commit hook of task {task} failed: {reason}");
}
