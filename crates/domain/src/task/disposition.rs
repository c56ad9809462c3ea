//! `Disposition`: how a task continues after an error, and the trait by which an error says so.
//!
//! In: an error that a run met. Out: a retry, an end or a wait. Errors of the database, of storage and of
//! requests implement the trait beside their types. It must not know these errors, nor how a task is
//! settled.

use std::time::Duration;

/// How a task continues after its run met an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// This run has failed; a later one may succeed. It costs a retry.
    Retry,
    /// No run will succeed.
    Permanent,
    /// The task is not at fault and waits at no cost: for `after`, or for `proxies.snooze` where it is None,
    /// and at most until the breaker of `host` closes.
    Snooze { after: Option<Duration>, host: Option<String> },
}

impl Disposition {
    /// A wait that no host's breaker ends.
    pub fn snooze(after: impl Into<Option<Duration>>) -> Self {
        Disposition::Snooze { after: after.into(), host: None }
    }
}

/// An error that may end a run.
pub trait HasDisposition {
    fn disposition(&self) -> Disposition;
}
