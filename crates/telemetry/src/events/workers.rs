//! Workers and their process: back-off, the registry, actors, panics, the end of the process.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use tracing::{debug, error, info, warn};

use crate::{log, metrics};

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

/// `roles` is the workers' role as written in their ids: one role's name, or `any`. `slots`: tasks that a
/// worker runs at once.
pub fn pod_started(pod: &str, workers: usize, slots: usize, roles: &str) {
    info!(pod, workers, slots, "Starting pod {pod} for role: {roles}, workers: {workers}, tasks each: {slots}");
}

/// A pod that a smaller `topology.pods` has retired.
pub fn pod_ended(pod: &str) {
    info!(pod, "Pod {pod} has ended: its last worker has finished its tasks");
}

/// They are tried again.
pub fn pods_not_started(pods: usize, error: &dyn fmt::Display) {
    warn!(pods, "Pods that cannot be started yet, because the names in use could not be read: {pods}: {error}");
}

/// Reports a worker to programs, which look for each; people get one line for the whole pod. `name`: its friendly name, which pages show.
pub fn worker_started(worker: &str, name: &str, roles: &str) {
    match log::is_json() {
        true => info!(worker, worker_name = name, "Starting worker {worker} for role: {roles}"),
        false => debug!(worker, worker_name = name, "Starting worker {worker} for role: {roles}"),
    }
}

pub fn worker_stopped(worker: &str, name: &str) {
    match log::is_json() {
        true => info!(worker, worker_name = name, "Worker {worker} stopped"),
        false => debug!(worker, worker_name = name, "Worker {worker} stopped"),
    }
}

/// `name` is the worker's friendly name.
pub fn worker_backing_off(name: &str, reason: Backoff) {
    metrics::WORKER_BACKOFFS.with_label_values(&[reason.resource()]).inc();
    warn!(name, "{name} backing off: {reason}");
}

pub fn worker_resumed(name: &str) {
    info!(name, "{name} resuming normal operation");
}

/// Shares 0…1 that back-off compares with its thresholds; `busy`: tasks that run in this process.
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

/// The registry is for display: the worker continues.
pub fn worker_not_registered(worker: &str, name: &str, error: &dyn fmt::Display) {
    warn!(worker, worker_name = name, "Worker {name} could not be registered and goes on: {error}");
}

/// Rows stay until they count as offline. `workers`: their friendly names.
pub fn workers_not_deregistered(workers: &str, error: &dyn fmt::Display) {
    warn!(
        "Workers {workers} could not be removed from the registry, which shows them until they count as offline: {error}"
    );
}

/// Its count begins at zero, so that its first crash shows as an increase.
pub fn actor_started(kind: &'static str) {
    metrics::ACTOR_RESTARTS.with_label_values(&[kind]).inc_by(0);
}

/// Warns that an actor crashed and restarts after `pause`. `kind` is the actor's type, `name` its own among actors of that type.
pub fn actor_crashed(kind: &'static str, name: &str, cause: &dyn fmt::Display, pause: Duration) {
    metrics::ACTOR_RESTARTS.with_label_values(&[kind]).inc();
    warn!(actor = name, kind, "Actor {name} crashed and restarts in {pause:?}: {cause}");
}

/// Its task is put back.
pub fn task_actor_crashed(worker: &str, cause: &dyn fmt::Display) {
    metrics::ACTOR_RESTARTS.with_label_values(&["task"]).inc();
    warn!(worker, "A task actor of {worker} crashed and its task is put back: {cause}");
}

/// `kind` is the actor's type, `name` its own among actors of that type.
pub fn actor_restarted(kind: &'static str, name: &str, cause: &dyn fmt::Display) {
    metrics::ACTOR_RESTARTS.with_label_values(&[kind]).inc();
    warn!(actor = name, kind, "Actor {name} restarted: {cause}");
}

pub fn panicked(place: &str, text: &str) {
    metrics::PANICS.inc();
    error!(place, "Panic at {place}: {text}");
}

/// `worker.recycle_after` runs have ended: the process drains, and exits 0.
pub fn process_recycled(runs: usize) {
    info!(runs, "The process drains and exits, to be started afresh (worker.recycle_after); runs that ended: {runs}");
}

/// The process drains, and exits non-zero.
pub fn process_ending(cause: &str) {
    error!("The process cannot go on; it drains and exits: {cause}");
}

/// The drain hangs: the process exits without it, and its leases run out.
pub fn exit_forced(cause: &str) {
    error!("Exiting without a drain, which hangs: {cause}");
}

/// `applied`: changes that took effect; `waiting`: those that need a restart.
pub fn config_reloaded(applied: &[String], waiting: &[String]) {
    metrics::CONFIG_RELOADS.with_label_values(&["applied"]).inc();
    metrics::CONFIG_REFUSED.set(0);
    if !applied.is_empty() {
        info!("Configuration reloaded; in use now: {}", applied.join(", "));
    }
    if !waiting.is_empty() {
        warn!("These settings need a restart, and until then keep their values: {}", waiting.join(", "));
    }
    if applied.is_empty() && waiting.is_empty() {
        info!("Configuration reloaded; nothing has changed");
    }
}

/// The one in use stays. `is_new`: this fault was not logged before.
pub fn config_refused(fault: &str, is_new: bool) {
    metrics::CONFIG_RELOADS.with_label_values(&["refused"]).inc();
    metrics::CONFIG_REFUSED.set(1);
    if is_new {
        warn!("The changed configuration is refused as a whole, and the previous one stays in use: {fault}");
    }
}

/// Commands with `--dir` then work with the settings of their own files.
pub fn settings_not_kept(dir: &Path, error: &dyn fmt::Display) {
    warn!("The settings in use cannot be kept in {}, for commands with --dir: {error}", dir.display());
}

pub fn config_not_watched(directory: &Path, error: &dyn fmt::Display) {
    warn!("Changes to {} are not noticed, so send SIGHUP after each: {error}", directory.display());
}

/// Warns that the service manager gets no sign of life: it takes such a process for hung, and starts it again.
pub fn service_manager_not_notified(error: &dyn fmt::Display) {
    warn!("The service manager could not be notified at NOTIFY_SOCKET: {error}");
}

pub fn log_lines_lost(lines: u64) {
    warn!(lines, "The reader of stderr is too slow; log lines lost: {lines}");
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Backoff::Memory { share: 0.8734, threshold: 0.85 }, "Memory at 87.3% (threshold: 85%)")]
    #[case(Backoff::Cpu { share: 1.0, threshold: 0.9 }, "CPU at 100.0% (threshold: 90%)")]
    fn the_reason_for_backing_off_is_the_text_that_scripts_read(#[case] reason: Backoff, #[case] text: &str) {
        assert_eq!(reason.to_string(), text);
    }
}
