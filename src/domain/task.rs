//! The words of a task's life: its ids, its status, and the lease that gives the right to run it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub type TaskId = i64;

/// The statuses that the table holds. `stale` is shown, never stored: claimed or running with its lease run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Claimed,
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub const ALL: [Status; 6] =
        [Status::Pending, Status::Claimed, Status::Running, Status::Completed, Status::Failed, Status::Cancelled];

    pub fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Claimed => "claimed",
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The key of one run of a task: whoever holds all three may renew it and write its effects, nobody else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Held {
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

    /// min(30 s, lease / 4): what the heartbeat is when nobody sets it.
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
