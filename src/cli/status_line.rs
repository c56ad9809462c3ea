//! The status line of a service on a terminal: how much this process runs and has run, in place of two lines of
//! the log for each task.
//!
//! In: this process's metrics, read each second. Out: one line on stderr below the log, until it is dropped.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::time::{Duration, Instant};

use terminal_size::terminal_size_of;

use domain::amounts::{counted, duration};
use telemetry::log;
use telemetry::metrics::{self, RunCounts};

const INTERVAL: Duration = Duration::from_secs(1);
/// Number of samples over which the rate is taken.
const MAX_SAMPLES: usize = 30;

/// Shows the line until the future is dropped. Without a terminal it shows nothing.
pub async fn keep_showing() -> Infallible {
    let _clears_at_the_end = Clear;
    let mut line = StatusLine { began: Instant::now(), samples: VecDeque::new() };
    let mut ticks = tokio::time::interval(INTERVAL);
    loop {
        ticks.tick().await;
        let columns = terminal_size_of(io::stderr()).map_or(usize::MAX, |(width, _)| usize::from(width.0));
        let text = line.text(Instant::now(), metrics::run_counts());
        log::show_status(&text.chars().take(columns).collect::<String>());
    }
}

struct Clear;

impl Drop for Clear {
    fn drop(&mut self) {
        log::show_status("");
    }
}

struct StatusLine {
    began: Instant,
    /// Completed tasks at the latest times.
    samples: VecDeque<(Instant, u64)>,
}

impl StatusLine {
    fn text(&mut self, now: Instant, counts: RunCounts) -> String {
        let RunCounts { slots, busy, completed, failed } = counts;
        self.samples.push_back((now, completed));
        if self.samples.len() > MAX_SAMPLES {
            self.samples.pop_front();
        }
        let elapsed = duration(now.saturating_duration_since(self.began).as_secs_f64());
        let (completed, failed) = (counted(completed, "task"), counted(failed, "run"));
        let rate = self.rate();
        format!(
            "{busy} of {} busy · {completed} completed, {failed} failed · {rate:.1}/s · {elapsed}",
            counted(slots, "slot")
        )
    }

    /// Completed tasks a second.
    fn rate(&self) -> f64 {
        let (Some((first_at, first)), Some((last_at, last))) = (self.samples.front(), self.samples.back()) else {
            return 0.0;
        };
        let seconds = last_at.saturating_duration_since(*first_at).as_secs_f64();
        if seconds > 0.0 { last.saturating_sub(*first) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_latest_samples() {
        let began = Instant::now();
        let mut line = StatusLine { began, samples: VecDeque::new() };
        let counts = |completed| RunCounts { slots: 6, busy: 2, completed, failed: 1 };
        line.text(began, counts(100));
        let text = line.text(began + Duration::from_secs(10), counts(125));
        assert_eq!(text, "2 of 6 slots busy · 125 tasks completed, 1 run failed · 2.5/s · 10 s");
    }
}
