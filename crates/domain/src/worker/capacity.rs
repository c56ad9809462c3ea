//! How many workers the waiting tasks need. In: the counts of a role, or of several taken together. Out:
//! numbers of workers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const SECONDS_PER_HOUR: f64 = 3600.0;
/// An average of measured times is not exact: a quotient that is this little above a whole number is that
/// number.
const TOLERANCE: f64 = 1e-6;

/// The columns of `v_worker_capacity`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Capacity {
    pub role: String,
    pub pending_tasks: i64,
    /// Pending tasks that may be claimed now.
    pub ready_tasks: i64,
    pub claimed_tasks: i64,
    pub running_tasks: i64,
    pub completed_last_hour: i64,
    pub failed_last_hour: i64,
    /// Number of workers with a heartbeat in the last 5 minutes.
    pub active_workers: i64,
    /// Mean over the tasks completed in the last 24 hours; null without such tasks.
    pub avg_duration_sec: Option<f64>,
    pub tasks_per_worker_hour: Option<f64>,
    /// How long the active workers need for the pending tasks.
    pub estimated_hours_to_drain: Option<f64>,
    /// Number of completed tasks behind `avg_duration_sec`.
    pub measured_runs: i64,
}

/// Number of workers in total, not in addition, that complete the pending tasks within some hours; null while nothing
/// has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkersNeeded {
    pub for_1_hour: Option<i64>,
    pub for_4_hours: Option<i64>,
    pub for_8_hours: Option<i64>,
}

impl Capacity {
    pub fn workers_needed(&self) -> WorkersNeeded {
        let within = |hours| self.workers_for(hours);
        WorkersNeeded { for_1_hour: within(1.0), for_4_hours: within(4.0), for_8_hours: within(8.0) }
    }

    fn workers_for(&self, hours: f64) -> Option<i64> {
        let seconds = self.avg_duration_sec.filter(|seconds| *seconds > 0.0)?;
        let workers = self.pending_tasks as f64 * seconds / (SECONDS_PER_HOUR * hours);
        Some((workers - TOLERANCE).ceil().max(0.0) as i64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn capacity(pending_tasks: i64, avg_duration_sec: Option<f64>) -> Capacity {
        Capacity {
            role: "payload_fetch".to_owned(),
            pending_tasks,
            ready_tasks: 0,
            claimed_tasks: 0,
            running_tasks: 0,
            completed_last_hour: 0,
            failed_last_hour: 0,
            active_workers: 0,
            avg_duration_sec,
            tasks_per_worker_hour: avg_duration_sec.map(|seconds| 3600.0 / seconds),
            estimated_hours_to_drain: None,
            measured_runs: 1,
        }
    }

    #[rstest]
    #[case::five_hundred_at_fifty_an_hour(500, Some(72.0), [Some(10), Some(3), Some(2)])]
    #[case::one_task(1, Some(72.0), [Some(1), Some(1), Some(1)])]
    #[case::nothing_waits(0, Some(72.0), [Some(0), Some(0), Some(0)])]
    #[case::nothing_has_completed(500, None, [None, None, None])]
    #[case::they_took_no_time(500, Some(0.0), [None, None, None])]
    fn the_waiting_tasks_need_workers(
        #[case] pending: i64,
        #[case] seconds: Option<f64>,
        #[case] needed: [Option<i64>; 3],
    ) {
        let WorkersNeeded { for_1_hour, for_4_hours, for_8_hours } = capacity(pending, seconds).workers_needed();
        assert_eq!([for_1_hour, for_4_hours, for_8_hours], needed);
    }

    proptest! {
        #[test]
        fn so_many_workers_are_enough_and_one_less_is_not(pending in 1i64..1_000_000, seconds in 0.01f64..10_000.0) {
            let needed = capacity(pending, Some(seconds)).workers_needed().for_4_hours.unwrap() as f64;
            let worker_hours = pending as f64 * seconds / 3600.0;
            prop_assert!(needed * 4.0 + 1e-4 >= worker_hours && (needed - 1.0) * 4.0 < worker_hours);
        }
    }
}
