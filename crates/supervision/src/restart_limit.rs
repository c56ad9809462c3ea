//! `RestartLimit`: at most N failures within a window; with more, restarting does not help.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct RestartLimit {
    allowed: usize,
    window: Duration,
    failures: VecDeque<Instant>,
}

impl RestartLimit {
    pub fn new(allowed: usize, window: Duration) -> Self {
        RestartLimit { allowed, window, failures: VecDeque::new() }
    }

    /// Notes a failure; true when it is one too many.
    pub fn record_failure(&mut self, now: Instant) -> bool {
        self.failures.push_back(now);
        while self.failures.front().is_some_and(|at| now.saturating_duration_since(*at) > self.window) {
            self.failures.pop_front();
        }
        self.failures.len() > self.allowed
    }

    /// Failures within the window, at the last one.
    pub fn count(&self) -> u32 {
        self.failures.len() as u32
    }
}

impl From<&settings::Supervision> for RestartLimit {
    fn from(config: &settings::Supervision) -> Self {
        RestartLimit::new(config.restarts, config.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_out_of_the_window_are_forgiven() {
        let begun = Instant::now();
        let mut restart_limit = RestartLimit::new(2, Duration::from_secs(60));
        let at = |seconds| begun + Duration::from_secs(seconds);
        let exceeded = [0, 30, 61, 62].map(|seconds| restart_limit.record_failure(at(seconds)));
        assert_eq!(exceeded, [false, false, false, true]);
    }
}
