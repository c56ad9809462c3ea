//! `HostsAnswered`: when each host last answered through any proxy of this process. It tells a silent proxy from a silent host.

use std::collections::BTreeMap;
use std::time::Instant;

/// Past it the host that has been silent the longest is forgotten.
const MAX_HOSTS: usize = 256;

#[derive(Debug, Default)]
pub struct HostsAnswered(BTreeMap<String, Instant>);

impl HostsAnswered {
    pub fn note(&mut self, host: &str, now: Instant) {
        if let Some(last) = self.0.get_mut(host) {
            *last = now;
            return;
        }
        if self.0.len() >= MAX_HOSTS {
            self.forget_the_oldest();
        }
        self.0.insert(host.to_owned(), now);
    }

    /// Whether `host` has answered later than `since`.
    pub fn since(&self, host: &str, since: Instant) -> bool {
        self.0.get(host).is_some_and(|last| *last > since)
    }

    fn forget_the_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, last)| **last).map(|(host, _)| host.clone());
        if let Some(host) = oldest {
            self.0.remove(&host);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_host_that_is_silent_the_longest_is_forgotten() {
        let start = Instant::now();
        let mut answered = HostsAnswered::default();
        for nth in 0..=MAX_HOSTS {
            answered.note(&format!("h{nth}"), start + Duration::from_secs(1 + nth as u64));
        }
        assert_eq!(answered.0.len(), MAX_HOSTS);
        assert!(!answered.since("h0", start) && answered.since("h1", start));
    }
}
