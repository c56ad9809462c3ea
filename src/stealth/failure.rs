//! `Failure`: a request that went wrong, with what the proxy's owner should hear of it.

use super::error::{Disposition, FetchError};
use super::proxy::{ProxyId, ProxyOutcome};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub error: FetchError,
    pub outcome: ProxyOutcome,
    /// Nobody can tell whether the hop or the origin failed: the next try goes another way.
    pub suspect_hop: bool,
}

impl Failure {
    /// The hop itself: counted against it, or benching it at once.
    pub fn of_the_hop(proxy: ProxyId, host: &str, why: String, at_once: bool) -> Self {
        let error = FetchError::ProxyDown { proxy, why: why.clone() };
        Failure { error, outcome: ProxyOutcome::Failed { host: host.to_owned(), why, at_once }, suspect_hop: true }
    }

    /// Broken or stalled somewhere beyond the hop's acceptance, or answered by what may be the hop itself.
    pub fn on_the_way(error: FetchError, host: &str) -> Self {
        let outcome = ProxyOutcome::Suspect { host: host.to_owned(), why: error.to_string() };
        Failure { error, outcome, suspect_hop: true }
    }

    /// A limit or rule of ours.
    pub fn of_ours(error: FetchError) -> Self {
        Failure { error, outcome: ProxyOutcome::Neutral, suspect_hop: false }
    }

    /// An answer that arrived well and says no.
    pub fn of_the_answer(error: FetchError, host: &str, well: ProxyOutcome) -> Self {
        let outcome = match error.disposition() {
            Disposition::RotateBlocked => ProxyOutcome::Blocked { host: host.to_owned() },
            Disposition::RotateProxy => {
                ProxyOutcome::Failed { host: host.to_owned(), why: error.to_string(), at_once: false }
            }
            Disposition::FailAttempt | Disposition::Permanent => well,
            Disposition::TryAgain { .. } | Disposition::Snooze { .. } => ProxyOutcome::Neutral,
        };
        Failure { error, outcome, suspect_hop: false }
    }

    /// Whether the session is still worth keeping: the answer came, it was only not the one asked for.
    pub fn is_of_the_answer(&self) -> bool {
        !self.suspect_hop && !self.is_a_block()
    }

    pub fn is_a_block(&self) -> bool {
        self.error.disposition() == Disposition::RotateBlocked
    }

    pub fn is_a_broken_connection(&self) -> bool {
        matches!(self.error, FetchError::Http { .. })
    }
}
