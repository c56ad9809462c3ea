//! `LastSuccesses`: through which proxy, and when, a request to each host last succeeded. It distinguishes a
//! failing proxy from a failing host: an error or a block does not count as a success.
//!
//! Pure. In: successes. Out: whether another proxy had one. It must not know health.

use std::collections::BTreeMap;
use std::time::Instant;

use super::ProxyId;

/// Maximum number of hosts: beyond it, the one whose last success is the oldest is forgotten.
const MAX_HOSTS: usize = 256;

#[derive(Debug, Default)]
pub struct LastSuccesses(BTreeMap<String, LastSuccess>);

#[derive(Debug)]
struct LastSuccess {
    proxy: ProxyId,
    at: Instant,
    /// Latest success of a request through any other proxy.
    through_another: Option<Instant>,
}

impl LastSuccesses {
    pub fn note(&mut self, host: &str, proxy: ProxyId, now: Instant) {
        if let Some(last) = self.0.get_mut(host) {
            let through_another = if last.proxy == proxy { last.through_another } else { Some(last.at) };
            *last = LastSuccess { proxy, at: now, through_another };
            return;
        }
        if self.0.len() >= MAX_HOSTS {
            self.forget_the_oldest();
        }
        self.0.insert(host.to_owned(), LastSuccess { proxy, at: now, through_another: None });
    }

    /// Whether a request to `host` has succeeded later than `since` through another proxy than this one.
    pub fn another_succeeded(&self, proxy: ProxyId, host: &str, since: Instant) -> bool {
        let Some(last) = self.0.get(host) else { return false };
        let at = if last.proxy == proxy { last.through_another } else { Some(last.at) };
        at.is_some_and(|at| at > since)
    }

    fn forget_the_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, last)| last.at).map(|(host, _)| host.clone());
        if let Some(host) = oldest {
            self.0.remove(&host);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_host_whose_success_is_the_oldest_is_forgotten() {
        let start = Instant::now();
        let mut successes = LastSuccesses::default();
        for nth in 0..=MAX_HOSTS {
            successes.note(&format!("h{nth}"), 1, start + SECOND * (1 + nth as u32));
        }
        assert_eq!(successes.0.len(), MAX_HOSTS);
        assert!(!successes.another_succeeded(2, "h0", start) && successes.another_succeeded(2, "h1", start));
    }

    #[test]
    fn a_success_through_the_proxy_itself_is_none_through_another() {
        let start = Instant::now();
        let mut successes = LastSuccesses::default();
        successes.note("h", 2, start + SECOND);
        successes.note("h", 1, start + 2 * SECOND);
        successes.note("h", 1, start + 3 * SECOND);
        assert!(successes.another_succeeded(1, "h", start));
        assert!(!successes.another_succeeded(1, "h", start + SECOND));
        assert!(successes.another_succeeded(2, "h", start + 2 * SECOND));
    }
}
