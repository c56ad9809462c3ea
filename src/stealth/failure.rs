//! `Failure`: a request that went wrong: the error for the caller, and the outcome for the source of the
//! proxies.

use std::time::Duration;

use super::{FetchError, ProxyId, ProxyOutcome, RequestDisposition};
use domain::host::{HostOutcome, Throttle};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub error: FetchError,
    pub outcome: ProxyOutcome,
    /// The proxy failed, or may have: the next try uses another one.
    pub needs_other_proxy: bool,
}

impl Failure {
    /// The proxy's own failure; `at_once`: one is enough to bench it.
    pub fn proxy(proxy: ProxyId, host: &str, reason: String, at_once: bool) -> Self {
        let error = FetchError::ProxyDown { proxy, reason: reason.clone() };
        Failure {
            error,
            outcome: ProxyOutcome::Failed { host: host.to_owned(), reason, at_once },
            needs_other_proxy: true,
        }
    }

    /// Broken or stalled after the proxy had accepted the connection, or answered possibly by the proxy
    /// itself.
    pub fn in_transit(error: FetchError, host: &str) -> Self {
        let outcome = ProxyOutcome::Suspicion { host: host.to_owned(), reason: error.to_string() };
        Failure { error, outcome, needs_other_proxy: true }
    }

    /// A limit or rule of this program.
    pub fn local(error: FetchError) -> Self {
        Failure { error, outcome: ProxyOutcome::Neutral, needs_other_proxy: false }
    }

    /// An answer that was rejected by its head (`answer::judge`); of its body no more than the beginning was
    /// read.
    pub fn by_head(error: FetchError, host: &str) -> Self {
        Failure::response(error, host, ProxyOutcome::Answered { host: host.to_owned() })
    }

    /// A whole answer with unexpected content; `success` is reported when the host took the request and only
    /// the content is wrong.
    pub fn response(error: FetchError, host: &str, success: ProxyOutcome) -> Self {
        let outcome = match error.request_disposition() {
            RequestDisposition::RotateBlocked => ProxyOutcome::Blocked { host: host.to_owned() },
            RequestDisposition::FailAttempt | RequestDisposition::Permanent => success,
            RequestDisposition::RotateProxy
            | RequestDisposition::TryAgain
            | RequestDisposition::Snooze { .. }
            | RequestDisposition::Requeue { .. } => ProxyOutcome::Answered { host: host.to_owned() },
        };
        Failure { error, outcome, needs_other_proxy: false }
    }

    /// Whether the host answered, whatever it said.
    pub fn is_answer(&self) -> bool {
        matches!(
            self.outcome,
            ProxyOutcome::Answered { .. } | ProxyOutcome::Blocked { .. } | ProxyOutcome::Success { .. }
        )
    }

    /// The failure as an observation of the host.
    pub fn host_outcome(&self) -> HostOutcome {
        match (&self.error, &self.outcome) {
            (FetchError::Throttled { status, retry_after, .. }, _) => {
                HostOutcome::Throttled(Throttle { status: *status, retry_after: *retry_after })
            }
            _ if self.is_block() => HostOutcome::Refused,
            (FetchError::ServerError { .. }, _) => HostOutcome::Failed,
            (_, ProxyOutcome::Success { took, .. }) => HostOutcome::Accepted(Some(*took)),
            (_, ProxyOutcome::Answered { .. }) => HostOutcome::Accepted(None),
            _ => HostOutcome::Nothing,
        }
    }

    /// Replaces the wait that the host asked for by the one that it gets.
    pub fn held_for(mut self, hold: Option<Duration>) -> Self {
        if let FetchError::Throttled { retry_after, .. } = &mut self.error {
            *retry_after = hold.or(*retry_after);
        }
        self
    }

    /// Whether the route is still worth keeping: the answer came whole, and is not a block.
    pub fn keeps_route(&self) -> bool {
        !self.needs_other_proxy && !self.is_block()
    }

    pub fn is_block(&self) -> bool {
        self.error.request_disposition() == RequestDisposition::RotateBlocked
    }

    /// The host refuses us, or fails itself: where it does so to all, the task waits.
    pub fn is_of_host(&self) -> bool {
        self.is_block() || matches!(self.error, FetchError::ServerError { .. })
    }

    pub fn is_broken_connection(&self) -> bool {
        self.needs_other_proxy && matches!(self.error, FetchError::Http { .. })
    }

    /// Whether neither the proxy nor the origin can be blamed for certain.
    pub fn is_suspicion(&self) -> bool {
        matches!(self.outcome, ProxyOutcome::Suspicion { .. })
    }
}
