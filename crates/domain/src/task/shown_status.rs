//! `ShownStatus`: a task's status as shown to users: the one in the table, or `stale`, which the table never
//! holds.

use super::Status;
use crate::vocabulary::{from_text, vocabulary};

vocabulary! {
    pub enum ShownStatus {
        Pending,
        /// Claimed or running, and its lease lasts.
        Claimed,
        /// Claimed or running, and its lease lasts.
        Running,
        Completed,
        Failed,
        Cancelled,
        /// Claimed or running, its lease has run out, not recovered yet.
        Stale,
    }
}

impl ShownStatus {
    /// The statuses in the table that it may have.
    pub fn stored(self) -> &'static [Status] {
        match self {
            ShownStatus::Pending => &[Status::Pending],
            ShownStatus::Claimed => &[Status::Claimed],
            ShownStatus::Running => &[Status::Running],
            ShownStatus::Completed => &[Status::Completed],
            ShownStatus::Failed => &[Status::Failed],
            ShownStatus::Cancelled => &[Status::Cancelled],
            ShownStatus::Stale => &[Status::Claimed, Status::Running],
        }
    }

    /// Whether the lease must have run out, must not have, or does not matter.
    pub fn lease_expired(self) -> Option<bool> {
        match self {
            ShownStatus::Stale => Some(true),
            ShownStatus::Claimed | ShownStatus::Running => Some(false),
            _ => None,
        }
    }
}

from_text! { ShownStatus: UnknownStatus, "status", "statuses" }

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use strum::VariantArray;

    use super::*;

    #[rstest]
    #[case("pending", ShownStatus::Pending, None)]
    #[case("running", ShownStatus::Running, Some(false))]
    #[case("stale", ShownStatus::Stale, Some(true))]
    fn a_status_is_read_and_asks_for_a_state_of_the_lease(
        #[case] text: &str,
        #[case] status: ShownStatus,
        #[case] lease_expired: Option<bool>,
    ) {
        assert_eq!(text.parse(), Ok(status));
        assert_eq!((status.to_string().as_str(), status.lease_expired()), (text, lease_expired));
    }

    #[test]
    fn every_stored_status_is_shown_by_its_own_word() {
        for status in Status::VARIANTS {
            let shown: ShownStatus = status.name().parse().unwrap();
            assert_eq!(shown.stored(), [*status]);
        }
    }

    #[test]
    fn an_unknown_status_is_named_with_the_known_ones() {
        let error = "done".parse::<ShownStatus>().unwrap_err().to_string();
        assert!(error.contains("'done'") && error.contains("completed") && error.contains("stale"), "{error}");
    }
}
