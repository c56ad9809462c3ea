//! `RetryState`: whether a task that failed or was put off is tried again, and why not.

use super::shown_status::ShownStatus;
use crate::vocabulary::vocabulary;

vocabulary! {
    pub enum RetryState {
        /// Failed with retries left: the failure is permanent, a retry cannot help.
        Permanent,
        /// Failed, and all of its retries are used.
        UsedUp,
        /// Pending after a run that failed or was snoozed: tried again when it is due.
        Waits,
    }
}

/// The state of a task; None for one that has not failed, or that runs. `has_error`: of its last run.
pub fn retry_state(status: ShownStatus, retry_count: i32, max_retries: i32, has_error: bool) -> Option<RetryState> {
    match status {
        ShownStatus::Failed if retry_count < max_retries => Some(RetryState::Permanent),
        ShownStatus::Failed => Some(RetryState::UsedUp),
        ShownStatus::Pending if has_error => Some(RetryState::Waits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::permanent(ShownStatus::Failed, 0, true, Some(RetryState::Permanent))]
    #[case::used_up(ShownStatus::Failed, 3, true, Some(RetryState::UsedUp))]
    #[case::snoozed_or_retried(ShownStatus::Pending, 1, true, Some(RetryState::Waits))]
    #[case::new(ShownStatus::Pending, 0, false, None)]
    #[case::running(ShownStatus::Running, 1, true, None)]
    #[case::cancelled(ShownStatus::Cancelled, 0, true, None)]
    fn a_task_says_whether_it_is_tried_again(
        #[case] status: ShownStatus,
        #[case] retries: i32,
        #[case] has_error: bool,
        #[case] expected: Option<RetryState>,
    ) {
        assert_eq!(retry_state(status, retries, 3, has_error), expected);
    }
}
