//! A task's id, its stored status, how an attempt ended, and the lease that gives the right to run it.

pub mod bulk_action;
pub mod disposition;
pub mod kind;
pub mod kinds;
pub mod pause;
pub mod retry_state;
pub mod role;
pub mod shown_status;

use std::time::Duration;

use super::vocabulary::vocabulary;

pub type TaskId = i64;

vocabulary! {
    /// The statuses that the table holds. `stale` is shown, never stored: claimed or running with its lease run out.
    pub enum Status {
        Pending,
        Claimed,
        Running,
        Completed,
        Failed,
        Cancelled,
    }
}

vocabulary! {
    /// How an attempt ended, as the history has it (column `outcome` of `task_attempts`). What a run is settled with is
    /// `db::tasks::AttemptOutcome`: that one separates permanent failures from others. It has no `Lost`, which no run writes itself, and no `Waiting`.
    pub enum RecordedOutcome {
        Completed,
        Failed,
        /// Its lease ran out, or its worker died.
        Lost,
        /// Given back by a worker that stops.
        Released,
        Cancelled,
        /// Put off without spending a retry: what it needs was unavailable.
        Snoozed,
        /// Made tasks, and its task waits for them before it runs again.
        Waiting,
    }
}

/// Whether the loss of a run counts against its task: three such losses as a suspect fail it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    Task,
    NoTask,
}

/// The key of one run of a task: only the holder of all three fields may renew it and write its effects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskLease {
    pub id: TaskId,
    pub fence: i64,
    pub worker_id: String,
}

/// How long a claim lasts and how often it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTimes {
    pub lease: Duration,
    pub heartbeat: Duration,
}

impl LeaseTimes {
    /// How long after the last good claim or renewal was *sent* a body stops by itself.
    pub fn self_stop(&self) -> Duration {
        let margin = (self.lease / 10).max(Duration::from_millis(200));
        self.lease.saturating_sub(margin)
    }

    /// min(30 s, lease / 4): the heartbeat when none is configured.
    pub fn default_heartbeat(lease: Duration) -> Duration {
        (lease / 4).min(Duration::from_secs(30))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::long(600_000, 540_000)]
    #[case::short(1_000, 800)]
    #[case::shortest(500, 300)]
    fn a_body_stops_before_its_lease_ends(#[case] lease_ms: u64, #[case] stop_ms: u64) {
        let times = LeaseTimes { lease: Duration::from_millis(lease_ms), heartbeat: Duration::from_millis(100) };
        assert_eq!(times.self_stop(), Duration::from_millis(stop_ms));
    }

    #[rstest]
    #[case(600, 30)]
    #[case(60, 15)]
    fn the_heartbeat_follows_the_lease(#[case] lease_s: u64, #[case] beat_s: u64) {
        assert_eq!(LeaseTimes::default_heartbeat(Duration::from_secs(lease_s)), Duration::from_secs(beat_s));
    }
}
