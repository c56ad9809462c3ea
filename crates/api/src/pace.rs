//! `Pace`: whether a client reads its answers fast enough. One that reads nothing for some time, or for long
//! less than a slow line carries, is too late.
//!
//! In: when a write was blocked, and how much was written. Out: until when the client has time. Pure.

use std::time::Duration;

use tokio::time::Instant;

/// A second; a third of the slowest honest line's rate.
const MIN_BYTES: u32 = 16 * 1024;

pub struct Pace {
    /// The most that a client may be behind.
    max_behind: Duration,
    /// How far it may fall behind still.
    left: Duration,
    /// As of when.
    at: Instant,
    is_blocked: bool,
}

impl Pace {
    pub fn new(max_behind: Duration, now: Instant) -> Self {
        Pace { max_behind, left: max_behind, at: now, is_blocked: false }
    }

    /// The client leaves no room for more. Until when it has time, if it goes on so.
    pub fn blocked(&mut self, now: Instant) -> Instant {
        self.pass(now);
        self.is_blocked = true;
        now + self.left
    }

    pub fn wrote(&mut self, bytes: usize, now: Instant) {
        self.pass(now);
        self.is_blocked = false;
        let read = Duration::from_secs(1) * u32::try_from(bytes).unwrap_or(u32::MAX) / MIN_BYTES;
        self.left = self.max_behind.min(self.left + read);
    }

    /// While nothing was to be written, the client catches up.
    fn pass(&mut self, now: Instant) {
        let passed = now - self.at;
        self.left = match self.is_blocked {
            true => self.left.saturating_sub(passed),
            false => self.max_behind.min(self.left + passed),
        };
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const MAX_BEHIND: Duration = Duration::from_secs(10);

    /// When a client that reads `bytes` every `every`, `times` times, is cut off.
    fn late(bytes: usize, every: Duration, times: u32) -> Option<Duration> {
        let begun = Instant::now();
        let mut pace = Pace::new(MAX_BEHIND, begun);
        let mut now = begun;
        for _ in 0..times {
            let due = pace.blocked(now);
            now += every;
            if due < now {
                return Some(due - begun);
            }
            pace.wrote(bytes, now);
        }
        None
    }

    #[rstest]
    #[case::nothing(0, 1_000, Some(10))]
    #[case::a_byte_at_a_time(1, 100, Some(10))]
    #[case::half_of_what_is_needed(8 * 1024, 1_000, Some(19))]
    #[case::all_of_it(16 * 1024, 1_000, None)]
    #[case::a_slow_line(50_000, 1_000, None)]
    #[case::a_slow_line_in_bursts(400_000, 8_000, None)]
    #[case::rarely(4_000_000, 11_000, Some(10))]
    fn a_client_that_reads_too_little_is_too_late(
        #[case] bytes: usize,
        #[case] every_ms: u64,
        #[case] after: Option<u64>,
    ) {
        assert_eq!(late(bytes, Duration::from_millis(every_ms), 600).map(|late| late.as_secs()), after);
    }

    #[test]
    fn a_stream_with_pauses_keeps_its_time() {
        let begun = Instant::now();
        let mut pace = Pace::new(MAX_BEHIND, begun);
        let mut now = begun;
        for _ in 0..100 {
            assert!(pace.blocked(now) > now + MAX_BEHIND / 2);
            now += Duration::from_millis(100);
            pace.wrote(10, now);
            now += Duration::from_secs(1);
        }
    }
}
