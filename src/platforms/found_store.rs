//! The reasons for which no platform's store is promoted.

use domain::store::{FoundStore, RejectionReason};

/// Why the store must not be promoted, if it must not; `own`: the platform's reason.
pub fn rejection_reason(store: &FoundStore, own: Option<RejectionReason>) -> Option<RejectionReason> {
    if store.name.is_empty() {
        return Some(RejectionReason::NoName);
    }
    own.or_else(|| store.state.is_none().then_some(RejectionReason::NoUsState))
}
