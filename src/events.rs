//! One function per domain event: a log line and its metric. Callers say what happened; how it is shown is decided here.
//!
//! The message texts of workers and tasks are read by people's scripts: they stay as they are.

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tracing::{debug, error, info, warn};

use crate::domain::dispensary::Platform;
use crate::domain::proxy::{Notice, PoolState, Proxy};
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

/// Why a worker claims nothing new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backoff {
    Memory { share: f64, threshold: f64 },
    Cpu { share: f64, threshold: f64 },
}

impl Backoff {
    fn resource(self) -> &'static str {
        match self {
            Backoff::Memory { .. } => "memory",
            Backoff::Cpu { .. } => "cpu",
        }
    }
}

impl fmt::Display for Backoff {
    /// `Memory at 87.3% (threshold: 85%)`, in the log, the registry and on the dashboard.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, share, threshold) = match self {
            Backoff::Memory { share, threshold } => ("Memory", share, threshold),
            Backoff::Cpu { share, threshold } => ("CPU", share, threshold),
        };
        write!(f, "{name} at {:.1}% (threshold: {:.0}%)", share * 100.0, threshold * 100.0)
    }
}

// Workers

/// `roles` is the worker's role as written in its id: one role's name, or `any`.
pub fn worker_started(worker: &str, roles: &str) {
    info!(worker, "Starting worker {worker} for role: {roles}");
}

pub fn worker_stopped(worker: &str) {
    info!(worker, "Worker {worker} stopped");
}

/// `name` is the worker's friendly name.
pub fn worker_backing_off(name: &str, why: Backoff) {
    metrics::WORKER_BACKOFFS.with_label_values(&[why.resource()]).inc();
    warn!(name, "{name} backing off: {why}");
}

pub fn worker_resumed(name: &str) {
    info!(name, "{name} resuming normal operation");
}

/// Shares 0…1 as back-off sees them; `busy`: tasks that run here.
pub fn resources_sampled(memory: f64, cpu: f64, busy: usize) {
    metrics::MEMORY_RATIO.set(memory);
    metrics::CPU_RATIO.set(cpu);
    metrics::WORKER_SLOTS_BUSY.set(busy as i64);
}

/// `slots`: tasks that all workers of this process may run at once.
pub fn workers_planned(workers: usize, slots: usize) {
    metrics::WORKERS_HERE.set(workers as i64);
    metrics::WORKER_SLOTS.set(slots as i64);
}

/// The registry is best effort: the worker works on.
pub fn worker_not_registered(worker: &str, why: &dyn fmt::Display) {
    warn!(worker, "Worker {worker} could not be registered and works on: {why}");
}

// Runs of tasks

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
    say!(info, run, "Task {} put off for {after:.1?}: {why}", run.task);
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

// The queue

pub fn tasks_enqueued(role: Role, count: u64) {
    metrics::TASKS_ENQUEUED.with_label_values(&[role.name()]).inc_by(count);
}

/// Leases that had run out: put back, or failed because the task was in quarantine.
pub fn tasks_recovered(requeued: u64, failed: u64) {
    metrics::TASKS_RECOVERED.with_label_values(&["requeued"]).inc_by(requeued);
    metrics::TASKS_RECOVERED.with_label_values(&["failed"]).inc_by(failed);
    if requeued + failed > 0 {
        warn!(requeued, failed, "Recovered tasks whose lease had run out");
    }
}

pub fn schedule_generated(schedule: &str, tasks: u64) {
    metrics::SCHEDULE_RUNS.with_label_values(&["ok"]).inc();
    metrics::SCHEDULE_TASKS.inc_by(tasks);
    info!(schedule, tasks, "Schedule {schedule} made {tasks} tasks");
}

pub fn schedule_failed(schedule: &str, why: &dyn fmt::Display) {
    metrics::SCHEDULE_RUNS.with_label_values(&["failed"]).inc();
    error!(schedule, "Schedule {schedule} failed: {why}");
}

// Actors. `kind` is the actor's type, `name` the one it is of them.

pub fn actor_restarted(kind: &'static str, name: &str, cause: &dyn fmt::Display) {
    metrics::ACTOR_RESTARTS.with_label_values(&[kind]).inc();
    warn!(actor = name, kind, "Actor {name} started again: {cause}");
}

/// Restarts did not help: the process is going to end.
pub fn process_escalated(name: &str, cause: &dyn fmt::Display) {
    error!(actor = name, "Giving up on {name}, draining and ending: {cause}");
}

pub fn panicked(place: &str, text: &str) {
    metrics::PANICS.inc();
    error!(place, "Panic at {place}: {text}");
}

// Requests and proxies

/// `outcome` is one word of a closed set (`ok`, `blocked`, `timeout`, …); `bytes` of the body as received.
pub fn request_finished(host: &str, outcome: &'static str, bytes: u64, took: Duration) {
    metrics::REQUESTS.with_label_values(&[outcome]).inc();
    metrics::FETCH_BYTES.inc_by(bytes);
    metrics::FETCH_SECONDS.observe(took.as_secs_f64());
    debug!(host, outcome, bytes, took = took.as_secs_f64(), "Request to {host}: {outcome}");
}

/// Proxy and identity were changed; `reason` is `blocked` or `proxy`.
pub fn rotated(host: &str, reason: &'static str, why: &dyn fmt::Display) {
    metrics::ROTATIONS.with_label_values(&[reason]).inc();
    info!(host, reason, "Rotating proxy and identity: {why}");
}

/// The platform refuses every hash that is known of `operation`: stores are crawled by its full text, or not at all.
pub fn hashes_exhausted(platform: Platform, operation: &str) {
    error!(%platform, operation, "No known hash of {operation} works at {platform} any more: add the current one to its data file");
}

/// Something befell a proxy.
pub fn proxy_notice(notice: &Notice) {
    match notice {
        Notice::Benched { proxy, cooldown, why } => proxy_benched(proxy, *cooldown, why),
        Notice::BenchedAtHost { proxy, host, cooldown } => {
            proxy_benched(proxy, *cooldown, &format!("too many blocks in a row by {host} (for that host only)"));
        }
        Notice::LastOne { proxy, why } => last_proxy_failing(proxy.id, why),
        Notice::OnTrial { proxy } => info!(proxy = proxy.id, "Proxy {proxy} gets another try"),
        Notice::Revived { proxy } => info!(proxy = proxy.id, "Proxy {proxy} works again"),
    }
}

fn proxy_benched(proxy: &Proxy, cooldown: Duration, why: &str) {
    metrics::PROXY_BENCHES.inc();
    warn!(proxy = proxy.id, "Proxy {proxy} benched for {cooldown:.0?}: {why}");
}

/// The last active one is not benched; somebody should look.
fn last_proxy_failing(proxy: i64, why: &str) {
    error!(proxy, "The last active proxy {proxy} is failing and stays in use: {why}");
}

/// The pool of this process holds other numbers than before.
pub fn proxy_pool_changed(now: PoolState) {
    let PoolState { active, benched, off } = now;
    for (state, count) in [("active", active), ("benched", benched), ("off", off)] {
        metrics::PROXIES.with_label_values(&[state]).set(count as i64);
    }
    match active {
        0 => error!(benched, off, "No proxy is active: nothing is fetched until one is"),
        active => info!(active, benched, off, "Proxies: {active} active, {benched} benched, {off} off"),
    }
}

/// The table could not be read or written. `again`: nor could it the last time, of which somebody has been told.
pub fn proxy_table_failed(why: &str, again: bool) {
    match again {
        true => debug!("The proxy table still cannot be reached: {why}"),
        false => warn!("The proxy table cannot be reached, counts are kept and proxies used as last known: {why}"),
    }
}

// Data

/// What the result of a completed run says of data: a payload's bytes and coverage, products by what became of them.
pub fn data_written(result: &Value) {
    if let (Some(bytes), Some(coverage)) = (result["bytes"].as_u64(), result["coverage"].as_f64()) {
        metrics::PAYLOADS.inc();
        metrics::PAYLOAD_BYTES.inc_by(bytes);
        metrics::COVERAGE.observe(coverage);
    }
    for change in ["new", "changed", "unchanged", "missed", "out_of_stock", "back_in_stock"] {
        if let Some(count) = result[change].as_u64() {
            metrics::PRODUCTS.with_label_values(&[change]).inc_by(count);
        }
    }
}

/// Wake-ups of a channel are missed until the connection is back; polling goes on.
pub fn listen_lost(channel: &str, error: &dyn fmt::Display) {
    warn!(channel, %error, "lost the connection that listens; polling until it is back");
}

// Machinery

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

/// A periodic chore did not go through; its next turn tries again.
pub fn chore_failed(chore: &'static str, why: &dyn fmt::Display) {
    warn!(chore, "The {chore} failed: {why}");
}

/// A service that starts finds no database yet.
pub fn database_awaited(why: &dyn fmt::Display) {
    warn!("The database is not available yet, trying again: {why}");
}

pub fn release_incomplete(tasks: usize) {
    warn!(tasks, "{tasks} tasks could not be given back in time; their leases will run out");
}

/// Draining, to exit non-zero.
pub fn process_ending(cause: &str) {
    error!("Ending because of what cannot be mended here: {cause}");
}

// The HTTP API

/// A request that failed through no fault of the client's.
pub fn request_failed(method: &str, path: &str, status: u16, why: &str) {
    match status {
        503 => warn!(method, path, status, "{method} {path} could not be answered: {why}"),
        _ => error!(method, path, status, "{method} {path} failed: {why}"),
    }
}

pub fn accept_failed(why: &dyn fmt::Display) {
    warn!("No connection can be accepted: {why}");
}

/// Metrics of the whole service are missing from this scrape.
pub fn scrape_incomplete(why: &dyn fmt::Display) {
    warn!("The database could not be asked for metrics: {why}");
}
