//! `BulkAction`: the actions on many tasks at once, and the tasks that each applies to.

use super::task::Status;
use super::vocabulary::vocabulary;

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
