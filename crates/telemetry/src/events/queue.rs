//! The queue as a whole: enqueued and recovered tasks, schedules, chores, storage and the database.

use std::fmt;
use std::time::Duration;

use tracing::{debug, error, info, warn};

use crate::metrics;
use domain::amounts::counted;
use domain::task::TaskId;
use domain::task::role::Role;

pub fn tasks_enqueued(role: Role, count: u64) {
    metrics::TASKS_ENQUEUED.with_label_values(&[role.name()]).inc_by(count);
}

fn count_recovered(requeued: u64, failed: u64) {
    metrics::TASKS_RECOVERED.with_label_values(&["requeued"]).inc_by(requeued);
    metrics::TASKS_RECOVERED.with_label_values(&["failed"]).inc_by(failed);
}

/// Leases that had run out: tasks that are pending again, and tasks that failed because they were lost too
/// often.
pub fn tasks_recovered(requeued: u64, failed: u64) {
    count_recovered(requeued, failed);
    if requeued + failed > 0 {
        warn!(requeued, failed, "Recovered tasks whose lease had run out");
    }
}

/// A claimed task's row cannot be decoded: it fails for good, or, where even that failed, stays claimed until
/// its lease runs out.
pub fn task_unreadable(id: TaskId, error: &dyn fmt::Display, not_failed: Option<String>) {
    match not_failed {
        None => error!(task_id = id, "Task {id} cannot be read and has failed: {error}"),
        Some(reason) => {
            error!(task_id = id, "Task {id} cannot be read: {error}; it could not be marked as failed: {reason}")
        }
    }
}

pub fn schedule_generated(schedule: &str, tasks: u64) {
    metrics::SCHEDULE_RUNS.with_label_values(&["ok"]).inc();
    metrics::SCHEDULE_TASKS.inc_by(tasks);
    info!(schedule, tasks, "Schedule {schedule} ran, tasks created: {tasks}");
}

/// The analytics are due early after the first crawls.
pub fn schedule_hastened(schedule: &str) {
    info!(schedule, "Schedule {schedule} runs ahead of schedule, so that the analytics include the first crawls");
}

pub fn schedule_failed(schedule: &str, error: &dyn fmt::Display) {
    metrics::SCHEDULE_RUNS.with_label_values(&["failed"]).inc();
    error!(schedule, "Schedule {schedule} failed: {error}");
}

/// One turn of a periodic chore; `changed`: rows, files or partitions.
pub fn chore_done(chore: &'static str, changed: u64, took: Duration) {
    metrics::CHORE_TURNS.with_label_values(&[chore, "done"]).inc();
    metrics::CHORE_CHANGES.with_label_values(&[chore]).inc_by(changed);
    metrics::CHORE_SECONDS.with_label_values(&[chore]).observe(took.as_secs_f64());
    debug!(chore, changed, took = took.as_secs_f64(), "Chore {chore} done, changed: {changed}");
}

/// Another process has just done it.
pub fn chore_skipped(chore: &'static str) {
    metrics::CHORE_TURNS.with_label_values(&[chore, "skipped"]).inc();
}

/// The next turn tries again.
pub fn chore_failed(chore: &'static str, error: &dyn fmt::Display) {
    metrics::CHORE_TURNS.with_label_values(&[chore, "failed"]).inc();
    warn!(chore, "Chore {chore} failed and is tried again at its next turn: {error}");
}

/// A bulk operation on tasks is at its end; `error`: why it failed as a whole.
pub fn operation_ended(id: i64, action: &dyn fmt::Display, done: i64, failed: i64, error: Option<&str>) {
    let result = if error.is_none() { "completed" } else { "failed" };
    metrics::OPERATIONS.with_label_values(&[result]).inc();
    match error {
        None => info!(
            operation = id,
            done, failed, "Operation {id} ({action}) ended, tasks changed: {done}, not changed: {failed}"
        ),
        Some(error) => {
            warn!(
                operation = id,
                done,
                failed,
                "Operation {id} ({action}) failed after {}: {error}",
                counted(done, "task")
            )
        }
    }
}

/// Tasks of an actor that crashed.
pub fn dead_actors_tasks_recovered(requeued: u64, failed: u64) {
    count_recovered(requeued, failed);
    warn!(requeued, failed, "Put back tasks whose actor had crashed: {requeued}; tasks failed: {failed}");
}

/// Tasks of workers whose process has ended on this machine.
pub fn ended_processes_tasks_recovered(workers: usize, requeued: u64, failed: u64) {
    count_recovered(requeued, failed);
    warn!(
        workers,
        requeued,
        failed,
        "An earlier process on this machine was killed with {}; its tasks put back: {requeued}, failed: {failed}",
        counted(workers, "worker")
    );
}

/// Tasks of a dead actor; their leases run out instead.
pub fn tasks_not_recovered(count: usize, error: &dyn fmt::Display) {
    warn!(count, "Tasks of a dead actor could not be put back, and wait until their leases run out: {count}: {error}");
}

/// The next tick reads them again.
pub fn commands_not_read(pod: &str, error: &dyn fmt::Display) {
    warn!(pod, "Commands for pod {pod} could not be read: {error}");
}

/// The latest ones hold until they can be read again.
pub fn pauses_not_read(error: &dyn fmt::Display) {
    warn!("The pauses could not be read, so the known ones stay in force: {error}");
}

/// They stay open and are delivered again.
pub fn commands_not_marked(pod: &str, error: &dyn fmt::Display) {
    warn!(pod, "Commands for pod {pod} were delivered but could not be marked as taken: {error}");
}

/// Each database would remove the other's payloads as files without a row.
pub fn storage_shared(place: &dyn fmt::Display) {
    warn!(
        "Another database stores payloads under {0} too, so files without a row are not removed there: give each database its own storage.root, or storage.prefix in a bucket. If the other database is gone, because this one is its copy or was restored from it, remove {0}/payloads/.database",
        place
    );
}

/// Tasks that need it are snoozed.
pub fn storage_unavailable(error: &dyn fmt::Display) {
    warn!("Payloads cannot be written yet: {error}");
}

pub fn payloads_swept(set_aside: usize, removed: usize) {
    if set_aside + removed > 0 {
        info!(set_aside, removed, "Payload files without a row: set aside {set_aside}, removed {removed}");
    }
}

/// Each costs itself alone; the next sweep or retention tries them again.
pub fn files_left(count: usize, path: &str, error: &dyn fmt::Display) {
    metrics::FILES_LEFT.inc_by(count as u64);
    warn!(count, path, "Files or objects that could not be moved or removed: {count}, the first: {path}: {error}");
}

pub fn retention_applied(files: u64, bytes: u64, partitions: usize) {
    metrics::RETENTION_REMOVED.with_label_values(&["payload"]).inc_by(files);
    metrics::RETENTION_REMOVED.with_label_values(&["partition"]).inc_by(partitions as u64);
    if files > 0 || partitions > 0 {
        info!(
            files,
            bytes,
            partitions,
            "Older than retention: removed {} of {bytes} bytes, {}",
            counted(files, "payload"),
            counted(partitions, "partition")
        );
    }
}

/// Later requests observe the same again.
pub fn hash_observations_lost(error: &dyn fmt::Display) {
    warn!("The query hashes or keys that work could not be saved: {error}");
}

/// Notifications of a channel are missed until the connection is back; polling continues.
pub fn listen_lost(channel: &str, error: &dyn fmt::Display) {
    warn!(channel, %error, "The LISTEN connection is lost; polling until it is back: {error}");
}

pub fn migration_waits(error: &dyn fmt::Display) {
    warn!("The schema cannot be brought up to date yet, trying again: {error}");
}

/// A service starts, and its database does not answer yet.
pub fn database_awaited(error: &dyn fmt::Display) {
    warn!("The database is not available yet, trying again: {error}");
}

/// `waited`: the time until a caller got a connection of this pool, or gave up because all were lent.
pub fn connection_awaited(pool: &'static str, waited: Duration) {
    metrics::DB_POOL_WAIT_SECONDS.with_label_values(&[pool]).observe(waited.as_secs_f64());
}

/// `result`: `delivered`, `retried` or `failed`.
pub fn notification_tried(result: &'static str) {
    metrics::NOTIFICATION_TRIES.with_label_values(&[result]).inc();
}
