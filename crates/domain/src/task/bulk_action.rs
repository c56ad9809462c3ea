//! `BulkAction`: the actions on many tasks at once, and the tasks that each applies to.

use super::Status;
use crate::vocabulary::vocabulary;

vocabulary! {
    pub enum BulkAction {
        Retry,
        Cancel,
        Delete,
        /// Gives them another priority.
        Reprioritize,
    }
}

impl BulkAction {
    /// The stored statuses of the tasks that it can change.
    pub fn statuses(self) -> &'static [Status] {
        match self {
            BulkAction::Retry => &[Status::Failed, Status::Cancelled],
            BulkAction::Cancel => &[Status::Pending, Status::Claimed, Status::Running],
            BulkAction::Delete => &[Status::Pending, Status::Completed, Status::Failed, Status::Cancelled],
            BulkAction::Reprioritize => &[Status::Pending],
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn no_action_but_cancel_touches_a_task_that_runs() {
        for action in BulkAction::VARIANTS {
            let touches_running = action.statuses().contains(&Status::Running);
            assert_eq!(touches_running, *action == BulkAction::Cancel, "{action}");
        }
        assert_eq!(BulkAction::Retry.statuses(), [Status::Failed, Status::Cancelled]);
    }
}
