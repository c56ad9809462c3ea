//! `Outage`: no proxy of the pool brings an answer. Leases are then given one at a time, further and further
//! apart, so that a vendor is not asked several times a second for as long as its outage lasts.
//!
//! Pure. In: answers and suspicions of all proxies, leases, the time. Out: whether a lease may be given. It
//! must not know hosts.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::ProxyId;
use super::health::BenchLimits;
use crate::retry;

/// Requests for each usable proxy that end without an answer, one after another, before it is an outage.
const SUSPICIONS_PER_PROXY: usize = 3;
/// Maximum pause between two leases, in `proxies.revive_every`.
const MAX_PAUSE: u32 = 6;

#[derive(Debug, Default)]
pub struct Outage {
    /// Proxies that brought no answer since the last answer through any.
    silent: BTreeSet<ProxyId>,
    suspicions: usize,
    /// Leases since it is an outage.
    leases: u32,
    next_lease: Option<Instant>,
}

impl Outage {
    /// Some host answered through some proxy, whatever it said.
    pub fn answered(&mut self) {
        *self = Outage::default();
    }

    /// The proxy had accepted the request, and no answer came. One that fails by itself is benched instead.
    pub fn suspected(&mut self, proxy: ProxyId) {
        self.silent.insert(proxy);
        self.suspicions = self.suspicions.saturating_add(1);
    }

    /// Whether none of the `usable` proxies brings an answer.
    pub fn is_on(&self, usable: impl Iterator<Item = ProxyId>) -> bool {
        let mut count = 0;
        let all_silent = usable.inspect(|_| count += 1).all(|proxy| self.silent.contains(&proxy));
        count > 0 && all_silent && self.suspicions >= SUSPICIONS_PER_PROXY * count
    }

    /// Whether it is time for the next lease of an outage.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next_lease.is_none_or(|next| next <= now)
    }

    pub fn leased(&mut self, limits: &BenchLimits, now: Instant) {
        let pause = retry::doubling(limits.revive_every, max_pause(limits), self.leases);
        self.leases = self.leases.saturating_add(1);
        self.next_lease = Some(now + pause);
    }
}

fn max_pause(limits: &BenchLimits) -> Duration {
    limits.revive_every * MAX_PAUSE
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none_is_usable(&[], &[], false)]
    #[case::one_that_was_silent_twice(&[1], &[1, 1], false)]
    #[case::one_that_was_silent_three_times(&[1], &[1, 1, 1], true)]
    #[case::each_was_silent_twice(&[1, 2, 3, 4], &[1, 2, 3, 4, 1, 2, 3, 4], false)]
    #[case::each_was_silent_and_one_more_often(&[1, 2], &[1, 1, 1, 1, 1, 2], true)]
    #[case::one_was_not_asked(&[1, 2], &[1, 1, 1, 1, 1, 1], false)]
    #[case::one_that_is_gone_was_silent(&[1], &[1, 2, 2], true)]
    fn it_is_an_outage_when_all_are_silent_and_often_enough(
        #[case] usable: &[ProxyId],
        #[case] silent: &[ProxyId],
        #[case] is_on: bool,
    ) {
        let mut outage = Outage::default();
        silent.iter().for_each(|proxy| outage.suspected(*proxy));
        assert_eq!(outage.is_on(usable.iter().copied()), is_on);
    }
}
