//! `ShownStatus`: a task's status as people see it: what the table holds, or `stale`, which it never does.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::task::Status;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownStatus {
    /// As stored; claimed and running only while their lease lasts.
    Stored(Status),
    /// Claimed or running, lease run out, not recovered yet.
    Stale,
}

impl ShownStatus {
    pub fn name(self) -> &'static str {
        match self {
            ShownStatus::Stored(status) => status.name(),
            ShownStatus::Stale => "stale",
        }
    }

    /// The stored statuses that it may be.
    pub fn stored(self) -> Vec<Status> {
        match self {
            ShownStatus::Stored(status) => vec![status],
            ShownStatus::Stale => vec![Status::Claimed, Status::Running],
        }
    }

    /// Whether the lease must have run out, must not have, or does not matter.
    pub fn out_of_lease(self) -> Option<bool> {
        match self {
            ShownStatus::Stale => Some(true),
            ShownStatus::Stored(Status::Claimed | Status::Running) => Some(false),
            ShownStatus::Stored(_) => None,
        }
    }
}

impl fmt::Display for ShownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown status '{given}': the statuses are {}, stale", Status::ALL.map(Status::name).join(", "))]
pub struct UnknownStatus {
    pub given: String,
}

impl FromStr for ShownStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        if text == ShownStatus::Stale.name() {
            return Ok(ShownStatus::Stale);
        }
        let known = Status::ALL.into_iter().find(|status| status.name() == text);
        known.map(ShownStatus::Stored).ok_or_else(|| UnknownStatus { given: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("pending", ShownStatus::Stored(Status::Pending), None)]
    #[case("running", ShownStatus::Stored(Status::Running), Some(false))]
    #[case("stale", ShownStatus::Stale, Some(true))]
    fn a_status_is_read_and_says_what_it_asks_of_the_lease(
        #[case] text: &str,
        #[case] status: ShownStatus,
        #[case] out_of_lease: Option<bool>,
    ) {
        assert_eq!(text.parse(), Ok(status));
        assert_eq!((status.name(), status.out_of_lease()), (text, out_of_lease));
    }

    #[test]
    fn an_unknown_status_is_named_with_the_known_ones() {
        let error = "done".parse::<ShownStatus>().unwrap_err().to_string();
        assert!(error.contains("'done'") && error.contains("completed") && error.contains("stale"), "{error}");
    }
}
