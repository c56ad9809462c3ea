//! `PeerLimit`: a maximum number of connections for each client address, so that one address cannot take the
//! places of all others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bits of an IPv6 address that name its network: a client has all addresses of a /64.
const NETWORK: u128 = u128::MAX << 64;

/// Open connections by address.
type Counts = Mutex<HashMap<IpAddr, usize>>;

pub struct PeerLimit {
    /// Maximum number of connections from one address.
    max: usize,
    open: Arc<Counts>,
}

/// A connection of an address, until it is dropped.
pub struct PeerPermit {
    peer: IpAddr,
    open: Arc<Counts>,
}

impl PeerLimit {
    /// 0: without limit.
    pub fn new(max: usize) -> Self {
        PeerLimit { max: if max == 0 { usize::MAX } else { max }, open: Arc::default() }
    }

    /// None if the address has its maximum number of connections.
    pub fn take(&self, address: IpAddr) -> Option<PeerPermit> {
        let peer = peer(address);
        let mut open = lock(&self.open);
        let count = open.entry(peer).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        Some(PeerPermit { peer, open: self.open.clone() })
    }
}

impl Drop for PeerPermit {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        if let Some(count) = open.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.peer);
            }
        }
    }
}

/// The address by which connections are counted.
fn peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        address => address,
    }
}

fn lock(counts: &Counts) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_that_has_its_maximum_gets_no_more_while_others_do() {
        let limit = PeerLimit::new(2);
        let held = [limit.take(address("192.0.2.1")), limit.take(address("192.0.2.1"))];
        assert!(held.iter().all(Option::is_some));
        assert!(limit.take(address("192.0.2.1")).is_none());
        assert!(limit.take(address("192.0.2.2")).is_some());
    }

    #[test]
    fn a_connection_that_ends_gives_its_place_back_and_leaves_nothing_behind() {
        let limit = PeerLimit::new(1);
        let held = limit.take(address("192.0.2.1"));
        assert!(limit.take(address("192.0.2.1")).is_none());
        drop(held);
        assert!(lock(&limit.open).is_empty());
        assert!(limit.take(address("192.0.2.1")).is_some());
    }

    #[rstest]
    #[case::one_network("2001:db8::1", "2001:db8::ffff:0:0:2", true)]
    #[case::two_networks("2001:db8::1", "2001:db8:0:1::1", false)]
    #[case::version_4("192.0.2.1", "192.0.2.2", false)]
    #[case::version_4_by_version_6("192.0.2.1", "::ffff:192.0.2.1", true)]
    #[case::two_of_version_4_by_version_6("::ffff:192.0.2.1", "::ffff:192.0.2.2", false)]
    fn addresses_of_one_client_are_counted_together(#[case] one: &str, #[case] other: &str, #[case] together: bool) {
        let limit = PeerLimit::new(1);
        let _held = limit.take(address(one));
        assert_eq!(limit.take(address(other)).is_none(), together);
    }

    #[test]
    fn a_maximum_of_zero_is_no_limit() {
        let limit = PeerLimit::new(0);
        let held: Vec<_> = (0..1_000).map(|_| limit.take(address("192.0.2.1"))).collect();
        assert!(held.iter().all(Option::is_some));
    }
}
