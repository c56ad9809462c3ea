//! When a schedule runs next: a grid of hours anchored at its creation, or a cron line in UTC, with seconds.
//!
//! The grid does not drift with the time a run takes, and missed times lead to one run, not to one each.

use std::ops::RangeInclusive;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use thiserror::Error;

/// Hours.
pub const INTERVALS: RangeInclusive<f64> = 0.001..=8784.0;

/// How often a schedule runs: its `interval_hours` or its `cron`.
#[derive(Clone, Debug, PartialEq)]
pub enum Recurrence {
    EveryHours(f64),
    Cron(String),
}

#[derive(Debug, Error, PartialEq)]
pub enum RecurrenceError {
    #[error("an interval of {0} hours: it must be from {least} to {most}", least = INTERVALS.start(), most = INTERVALS.end())]
    Interval(f64),
    #[error("the cron line '{0}' cannot be read: it needs six fields, seconds first, for example '0 0 */4 * * *'")]
    Cron(String),
    #[error("the cron line '{0}' has no next time")]
    Never(String),
}

impl Recurrence {
    /// The first time strictly after `now`.
    pub fn next_after(&self, anchor: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, RecurrenceError> {
        match self {
            Recurrence::EveryHours(hours) => next_on_grid(*hours, anchor, now),
            Recurrence::Cron(line) => next_of_cron(line, now),
        }
    }
}

/// Whether a cron line can be read: six fields, seconds first.
pub fn is_cron(line: &str) -> bool {
    cron::Schedule::from_str(line).is_ok()
}

fn next_on_grid(hours: f64, anchor: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, RecurrenceError> {
    if !INTERVALS.contains(&hours) {
        return Err(RecurrenceError::Interval(hours));
    }
    let step = (hours * 3_600_000_000.0).round() as i64;
    let passed = (now - anchor).num_microseconds().unwrap_or(0);
    let steps = passed.div_euclid(step) + 1;
    Ok(anchor + TimeDelta::microseconds(steps.max(0) * step))
}

fn next_of_cron(line: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, RecurrenceError> {
    let schedule = cron::Schedule::from_str(line).map_err(|_| RecurrenceError::Cron(line.to_owned()))?;
    schedule.after(&now).next().ok_or_else(|| RecurrenceError::Never(line.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[rstest]
    #[case::first_time("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T04:00:00Z")]
    #[case::on_the_grid("2026-01-01T00:00:00Z", "2026-01-01T04:00:00Z", "2026-01-01T08:00:00Z")]
    #[case::missed_times_are_one("2026-01-01T00:00:00Z", "2026-01-03T05:59:00Z", "2026-01-03T08:00:00Z")]
    #[case::before_the_anchor("2026-01-01T00:00:00Z", "2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z")]
    fn the_grid_does_not_drift(#[case] anchor: &str, #[case] now: &str, #[case] next: &str) {
        assert_eq!(Recurrence::EveryHours(4.0).next_after(at(anchor), at(now)), Ok(at(next)));
    }

    #[rstest]
    #[case("0 30 6 * * *", "2026-01-01T06:30:00Z", "2026-01-02T06:30:00Z")]
    #[case("*/10 * * * * *", "2026-01-01T06:30:01Z", "2026-01-01T06:30:10Z")]
    fn cron_is_utc_with_seconds(#[case] line: &str, #[case] now: &str, #[case] next: &str) {
        assert_eq!(Recurrence::Cron(line.to_owned()).next_after(at(now), at(now)), Ok(at(next)));
    }

    #[test]
    fn a_wrong_cron_line_is_quoted() {
        let now = at("2026-01-01T00:00:00Z");
        let error = Recurrence::Cron("every day".to_owned()).next_after(now, now).unwrap_err();
        assert!(error.to_string().contains("'every day'"), "{error}");
    }

    proptest! {
        #[test]
        fn the_next_time_is_after_now_and_on_the_grid(hours in 0.01f64..1000.0, ahead in 0i64..10_000_000) {
            let anchor = at("2026-01-01T00:00:00Z");
            let now = anchor + TimeDelta::seconds(ahead);
            let next = Recurrence::EveryHours(hours).next_after(anchor, now).unwrap();
            let step = (hours * 3_600_000_000.0).round() as i64;
            prop_assert!(next > now && next - now <= TimeDelta::microseconds(step));
            prop_assert_eq!((next - anchor).num_microseconds().unwrap() % step, 0);
        }
    }
}
