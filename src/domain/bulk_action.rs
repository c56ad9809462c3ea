//! `BulkAction`: what may be done to many tasks at once, and to which of them.

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use super::task::Status;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, IntoStaticStr, VariantArray, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BulkAction {
    Retry,
    Cancel,
    Delete,
    /// Gives them another priority.
    Reprioritize,
}

impl BulkAction {
    pub fn name(self) -> &'static str {
        self.into()
    }

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
