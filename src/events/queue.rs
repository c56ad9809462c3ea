//! The queue as a whole: what comes in, what is put back, schedules and chores.

use std::fmt;
use std::path::Path;

use tracing::{error, info, warn};

use crate::domain::role::Role;
use crate::domain::task::TaskId;
use crate::metrics;

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

/// A claimed task's row cannot be decoded: it fails for good, or, where even that failed, stays claimed until its lease runs out.
pub fn task_unreadable(id: TaskId, error: &dyn fmt::Display, not_failed: Option<String>) {
    match not_failed {
        None => error!(task_id = id, "Task {id} cannot be read and has failed: {error}"),
        Some(reason) => error!(task_id = id, "Task {id} cannot be read: {error}; it was not failed: {reason}"),
    }
}

pub fn schedule_generated(schedule: &str, tasks: u64) {
    metrics::SCHEDULE_RUNS.with_label_values(&["ok"]).inc();
    metrics::SCHEDULE_TASKS.inc_by(tasks);
    info!(schedule, tasks, "Schedule {schedule} ran, tasks made: {tasks}");
}

pub fn schedule_failed(schedule: &str, why: &dyn fmt::Display) {
    metrics::SCHEDULE_RUNS.with_label_values(&["failed"]).inc();
    error!(schedule, "Schedule {schedule} failed: {why}");
}

/// A periodic chore did not go through; its next turn tries again.
pub fn chore_failed(chore: &'static str, why: &dyn fmt::Display) {
    warn!(chore, "The {chore} failed: {why}");
}

/// Each would take the other's payloads for leftovers.
pub fn storage_shared(root: &Path) {
    warn!(
        "Payloads of another database lie under {0} too, so none without a row is removed there: give each database its own storage.root. If the other one is gone, because this one is its copy or was restored from it, remove {0}/payloads/.database",
        root.display()
    );
}

/// Either the setting is new, or the share is not mounted.
pub fn storage_new(root: &Path) {
    warn!(
        "No payload was ever kept under {}, but the database knows some: they cannot be read. If this is a share, mount it and start again",
        root.display()
    );
}

/// Tasks that need it wait until it is back.
pub fn storage_unavailable(error: &dyn fmt::Display) {
    warn!("Payloads cannot be kept yet: {error}");
}

pub fn payloads_swept(set_aside: usize, removed: usize) {
    if set_aside + removed > 0 {
        info!(set_aside, removed, "Payload files without a row were set aside, and leftovers removed");
    }
}

/// They will be learned again.
pub fn hash_notes_lost(why: &dyn fmt::Display) {
    warn!("What was learned of query hashes was not kept: {why}");
}

/// Wake-ups of a channel are missed until the connection is back; polling goes on.
pub fn listen_lost(channel: &str, error: &dyn fmt::Display) {
    warn!(channel, %error, "lost the connection that listens; polling until it is back");
}

/// A service that starts finds no database yet.
pub fn migration_waits(error: &dyn fmt::Display) {
    warn!("The schema cannot be brought up to date yet, trying again: {error}");
}

pub fn database_awaited(why: &dyn fmt::Display) {
    warn!("The database is not available yet, trying again: {why}");
}
