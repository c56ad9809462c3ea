//! `Outages`: hosts from which no proxy of the pool brings an answer. Leases for such a host are then given one
//! at a time, further and further apart, so that a vendor is not asked several times a second for as long as its
//! outage lasts. An outage takes nothing from another host.
//!
//! Pure. In: answers and suspicions of all proxies by host, leases, the time. Out: whether a lease for a host
//! may be given.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::{BenchLimits, ProxyId};
use crate::retry;

/// Requests for each usable proxy that end without an answer, one after another, before it is an outage.
const SUSPICIONS_PER_PROXY: usize = 3;
/// Maximum pause between two leases, in `proxies.revive_every`.
const MAX_PAUSE: u32 = 6;

/// Maximum number of silent hosts that are remembered; past it the one whose last silence is the oldest is
/// forgotten.
const MAX_HOSTS: usize = 256;

#[derive(Debug, Default)]
pub struct Outages(BTreeMap<String, SilentHost>);

#[derive(Debug)]
struct SilentHost {
    /// Proxies that brought no answer from it since the last answer through any.
    silent: BTreeSet<ProxyId>,
    suspicions: usize,
    /// Leases since it is an outage.
    leases: u32,
    next_lease: Option<Instant>,
    last: Instant,
}

impl Outages {
    /// `host` answered through some proxy, whatever it said.
    pub fn answered(&mut self, host: &str) {
        self.0.remove(host);
    }

    /// The proxy had accepted the request, and no answer came. One that fails by itself is benched instead.
    pub fn suspected(&mut self, proxy: ProxyId, host: &str, now: Instant) {
        if !self.0.contains_key(host) && self.0.len() >= MAX_HOSTS {
            self.forget_the_oldest();
        }
        let host = self.0.entry(host.to_owned()).or_insert_with(|| SilentHost {
            silent: BTreeSet::new(),
            suspicions: 0,
            leases: 0,
            next_lease: None,
            last: now,
        });
        host.silent.insert(proxy);
        host.suspicions = host.suspicions.saturating_add(1);
        host.last = now;
    }

    /// Whether none of the `usable` proxies brings an answer from `host`.
    pub fn is_on(&self, host: &str, usable: impl Iterator<Item = ProxyId>) -> bool {
        let Some(host) = self.0.get(host) else { return false };
        let mut count = 0;
        let all_silent = usable.inspect(|_| count += 1).all(|proxy| host.silent.contains(&proxy));
        count > 0 && all_silent && host.suspicions >= SUSPICIONS_PER_PROXY * count
    }

    /// Whether it is time for the next lease for `host`, which is silent.
    pub fn is_due(&self, host: &str, now: Instant) -> bool {
        self.0.get(host).and_then(|host| host.next_lease).is_none_or(|next| next <= now)
    }

    pub fn leased(&mut self, host: &str, limits: &BenchLimits, now: Instant) {
        let Some(host) = self.0.get_mut(host) else { return };
        let pause = retry::doubling(limits.revive_every, max_pause(limits), host.leases);
        host.leases = host.leases.saturating_add(1);
        host.next_lease = Some(now + pause);
    }

    fn forget_the_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, host)| host.last).map(|(host, _)| host.clone());
        if let Some(host) = oldest {
            self.0.remove(&host);
        }
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
        let (mut outages, now) = (Outages::default(), Instant::now());
        silent.iter().for_each(|proxy| outages.suspected(*proxy, "h", now));
        assert_eq!(outages.is_on("h", usable.iter().copied()), is_on);
        assert!(!outages.is_on("other", usable.iter().copied()), "another host has no part in it");
    }

    #[test]
    fn the_host_whose_last_silence_is_the_oldest_is_forgotten() {
        let (mut outages, start) = (Outages::default(), Instant::now());
        for nth in 0..=MAX_HOSTS {
            for _ in 0..SUSPICIONS_PER_PROXY {
                outages.suspected(1, &format!("h{nth}"), start + Duration::from_secs(nth as u64));
            }
        }
        assert_eq!(outages.0.len(), MAX_HOSTS);
        assert_eq!(
            [0, 1, MAX_HOSTS].map(|nth| outages.is_on(&format!("h{nth}"), [1].into_iter())),
            [false, true, true]
        );
    }
}
