//! When a schedule runs next: a grid of hours anchored at its creation, or a cron line on the clock of a time zone.
//!
//! The grid does not drift with the time a run takes, and missed times lead to one run, not to one each.

mod cron_line;
pub mod forecast;
pub mod skipped;
pub mod time_zone;

use std::ops::RangeInclusive;

use chrono::{DateTime, TimeDelta, Utc};
use thiserror::Error;

pub use self::cron_line::CronLine;

/// Hours, up to ten years.
pub const INTERVALS: RangeInclusive<f64> = 0.001..=87_600.0;

/// How often a schedule runs: its `interval_hours`, or its `cron` and `time_zone`.
#[derive(Clone, Debug, PartialEq)]
pub enum Recurrence {
    EveryHours(f64),
    Cron(CronLine),
}

/// The columns of a schedule that say how often it runs.
#[derive(Clone, Copy, Debug)]
pub struct RecurrenceColumns<'a> {
    pub interval_hours: Option<f64>,
    pub cron: Option<&'a str>,
    pub time_zone: Option<&'a str>,
}

#[derive(Debug, Error, PartialEq)]
pub enum RecurrenceError {
    #[error("an interval of {0} hours: it must be from {least} to {most}", least = INTERVALS.start(), most = INTERVALS.end())]
    Interval(f64),
    #[error(
        "the cron line '{line}' cannot be read: {fault}; give five fields (minute, hour, day of month, month, day of week), or six with \
         seconds first, for example '30 6 * * 1-5'"
    )]
    Cron { line: String, fault: String },
    #[error("the time zone '{0}' is unknown: give a name such as America/Phoenix")]
    TimeZone(String),
    #[error("the cron line '{0}' has no next time")]
    Never(String),
}

impl Recurrence {
    /// The cron line goes before the interval.
    pub fn of_columns(columns: RecurrenceColumns) -> Option<Self> {
        let RecurrenceColumns { interval_hours, cron, time_zone } = columns;
        let cron = cron.map(|line| CronLine { line: line.to_owned(), time_zone: time_zone.map(str::to_owned) });
        cron.map(Recurrence::Cron).or(interval_hours.map(Recurrence::EveryHours))
    }

    /// The first time strictly after `now`.
    pub fn next_after(&self, anchor: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, RecurrenceError> {
        match self {
            Recurrence::EveryHours(hours) => next_on_grid(*hours, anchor, now),
            Recurrence::Cron(line) => {
                line.read()?.next_after(now).ok_or_else(|| RecurrenceError::Never(line.line.clone()))
            }
        }
    }

    /// Due times, beginning with `first`, until the recurrence has no next one.
    pub fn times_from(&self, first: DateTime<Utc>) -> impl Iterator<Item = DateTime<Utc>> {
        std::iter::successors(Some(first), move |at| self.next_after(first, *at).ok())
    }

    /// Average number of runs an hour.
    pub fn times_per_hour(&self, now: DateTime<Utc>) -> Result<f64, RecurrenceError> {
        match self {
            Recurrence::EveryHours(hours) if INTERVALS.contains(hours) => Ok(1.0 / hours),
            Recurrence::EveryHours(hours) => Err(RecurrenceError::Interval(*hours)),
            Recurrence::Cron(line) => Ok(line.read()?.per_hour(now)),
        }
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const PHOENIX: &str = "America/Phoenix";

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn in_phoenix(line: &str) -> CronLine {
        CronLine { line: line.to_owned(), time_zone: Some(PHOENIX.to_owned()) }
    }

    #[rstest]
    #[case::none(None, None, None)]
    #[case::an_interval(Some(4.0), None, Some(Recurrence::EveryHours(4.0)))]
    #[case::a_line(None, Some("0 6 * * *"), Some(Recurrence::Cron(in_phoenix("0 6 * * *"))))]
    #[case::the_line_goes_first(Some(4.0), Some("0 6 * * *"), Some(Recurrence::Cron(in_phoenix("0 6 * * *"))))]
    fn a_recurrence_is_read_from_its_columns(
        #[case] interval_hours: Option<f64>,
        #[case] cron: Option<&str>,
        #[case] expected: Option<Recurrence>,
    ) {
        let columns = RecurrenceColumns { interval_hours, cron, time_zone: Some(PHOENIX) };
        assert_eq!(Recurrence::of_columns(columns), expected);
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
    fn a_cron_line_is_in_utc(#[case] line: &str, #[case] now: &str, #[case] next: &str) {
        assert_eq!(Recurrence::Cron(CronLine::in_utc(line)).next_after(at(now), at(now)), Ok(at(next)));
    }

    #[rstest]
    #[case::every_second("* * * * * *", 3600.0)]
    #[case::hourly("0 0 * * * *", 1.0)]
    #[case::twice_on_workdays("0 0 6,18 * * Mon-Fri", 10.0 / 168.0)]
    #[case::weekly("0 0 0 * * Mon", 1.0 / 168.0)]
    #[case::yearly("0 0 0 1 1 *", 1.0 / (365.0 * 24.0))]
    #[case::once("0 0 0 1 1 * 2027", 0.0)]
    fn runs_of_a_cron_line_are_counted(#[case] line: &str, #[case] times: f64) {
        let now = at("2026-01-01T00:00:00Z");
        let counted = Recurrence::Cron(CronLine::in_utc(line)).times_per_hour(now).unwrap();
        assert!((counted - times).abs() < 1e-9, "{counted}, not {times}");
        assert_eq!(Recurrence::EveryHours(4.0).times_per_hour(now), Ok(0.25));
        assert!(Recurrence::EveryHours(0.0).times_per_hour(now).is_err());
    }

    #[rstest]
    #[case::every_hours(Recurrence::EveryHours(4.0), ["2026-11-23T06:00:00Z", "2026-11-23T10:00:00Z", "2026-11-23T14:00:00Z"])]
    #[case::by_cron(Recurrence::Cron(CronLine::in_utc("0 0 6 * * *")), ["2026-11-23T06:00:00Z", "2026-11-24T06:00:00Z", "2026-11-25T06:00:00Z"])]
    fn times_begin_with_the_first_one(#[case] recurrence: Recurrence, #[case] times: [&str; 3]) {
        let found: Vec<DateTime<Utc>> = recurrence.times_from(at(times[0])).take(3).collect();
        assert_eq!(found, times.map(at));
    }

    #[test]
    fn a_wrong_cron_line_is_quoted() {
        let now = at("2026-01-01T00:00:00Z");
        let error = Recurrence::Cron(CronLine::in_utc("every day")).next_after(now, now).unwrap_err();
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
