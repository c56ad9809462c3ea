//! Charts of counts: metrics, their dimensions, the points in time, and the series. Pure.
//!
//! Counts are kept by minute, and counts of stores by day, so a point lasts a whole number of minutes. Points
//! begin at multiples of their length since a Monday: hours and days, in UTC, and weeks begin where people
//! expect it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::{BadField, bad};
use domain::vocabulary::vocabulary;

/// Maximum points of one chart.
pub const MAX_POINTS: i64 = 1_000;
/// Maximum series of one chart; the rest is summed.
pub const MAX_SERIES: i64 = 100;
pub const DEFAULT_SERIES: i64 = 20;
/// Default lengths of a point: the shortest that gives few enough points.
const STEPS: [Duration; 6] = [MINUTE, minutes(5), minutes(15), minutes(60), minutes(6 * 60), minutes(24 * 60)];
const USUAL_POINTS: i64 = 200;
const MINUTE: Duration = minutes(1);
const DAY: Duration = minutes(24 * 60);
/// A Monday, in seconds since 1970.
const ORIGIN: i64 = 946_857_600;

vocabulary! {
    /// Unit that is counted.
    pub enum Metric {
        /// Runs that ended, and tasks that were cancelled before any.
        Tasks,
        /// Tasks whose first run was their last, with the time from when they were due until they were claimed.
        Waits,
        /// Runs that ended, with the time that they took.
        Runs,
        /// Products of the menus that were refreshed.
        Products,
        /// Requests that ended, with the time that they took.
        Requests,
        /// Requests that a host refused or challenged.
        Blocks,
        /// Requests without an answer: their proxy failed, or their host was silent.
        Unanswered,
        /// Bytes on connections to proxies, in both directions, as their vendors count them.
        Bytes,
    }
}

vocabulary! {
    /// Dimension by which a metric is split.
    pub enum Dimension {
        Role,
        Host,
        Proxy,
        Outcome,
        /// Counted by day.
        Store,
    }
}

/// The points of a chart: `[from, to)` divided into parts of `step`; both are multiples of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    step: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Series {
    /// A role, a host, the id of a proxy or of a store, or an outcome. `none`: of no store.
    pub key: String,
    /// The address of a proxy, the name of a store; null if it has gone.
    pub name: Option<String>,
    #[serde(flatten)]
    pub values: Values,
}

/// The sum of all series that are not listed separately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OtherSeries {
    /// How many there are.
    pub series: i64,
    #[serde(flatten)]
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Values {
    pub total: i64,
    /// One for each step.
    pub points: Vec<i64>,
    /// Durations; only for metrics that measure time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_seconds: Option<SecondsByPoint>,
    /// Only for runs and waits. Minutes counted by an older program have no durations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
}

/// The 50th, 95th and 99th percentile in seconds; at most 19 % off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Percentiles {
    pub p50: SecondsByPoint,
    pub p95: SecondsByPoint,
    pub p99: SecondsByPoint,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SecondsByPoint {
    pub whole: Option<f64>,
    /// One for each step; null if there were none.
    pub points: Vec<Option<f64>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StatsSeries {
    pub metric: Metric,
    pub by: Dimension,
    /// Start of the first point: at or before the time that was asked for.
    pub from: DateTime<Utc>,
    /// End of the last point.
    pub to: DateTime<Utc>,
    pub step_seconds: i64,
    /// The largest first. Series without a count in this time are left out.
    pub series: Vec<Series>,
    /// The sum of all further series; null if all are listed separately.
    pub other: Option<OtherSeries>,
    /// Minutes before this do not change any more. Null for requests, which each process adds as it sends them, and where nothing was
    /// counted yet.
    pub closed_until: Option<DateTime<Utc>>,
}

impl Metric {
    /// Dimensions that the metric can be grouped by; the first is the default.
    pub fn dimensions(self) -> &'static [Dimension] {
        match self {
            Metric::Tasks | Metric::Waits | Metric::Runs | Metric::Products => &[Dimension::Role, Dimension::Outcome],
            Metric::Requests | Metric::Bytes => {
                &[Dimension::Host, Dimension::Proxy, Dimension::Outcome, Dimension::Store]
            }
            Metric::Blocks | Metric::Unanswered => &[Dimension::Host, Dimension::Proxy, Dimension::Outcome],
        }
    }

    /// Whether the durations of the counted events are known.
    pub fn is_timed(self, by: Dimension) -> bool {
        matches!(self, Metric::Waits | Metric::Runs | Metric::Requests) && by != Dimension::Store
    }

    /// Whether the distribution of the durations is known.
    pub fn has_percentiles(self) -> bool {
        matches!(self, Metric::Waits | Metric::Runs)
    }

    /// Whether it counts runs, not requests.
    pub fn is_of_runs(self) -> bool {
        self.dimensions().contains(&Dimension::Role)
    }

    /// Refuses a dimension without meaning for the metric; by default the first one.
    pub fn by(self, wanted: Option<Dimension>) -> Result<Dimension, BadField> {
        let known = self.dimensions();
        let by = wanted.unwrap_or(known[0]);
        if known.contains(&by) {
            return Ok(by);
        }
        let known: Vec<&str> = known.iter().map(Into::into).collect();
        Err(bad("by", format!("{self} are not counted by {by}, only by {}", known.join(", "))))
    }
}

impl Dimension {
    /// Default number of series.
    pub fn default_series(self) -> i64 {
        match self {
            Dimension::Store => MAX_SERIES,
            Dimension::Role | Dimension::Host | Dimension::Proxy | Dimension::Outcome => DEFAULT_SERIES,
        }
    }

    /// Refuses a step that is not counted; where only days are counted, the default is a day.
    pub fn step(self, wanted: Option<Duration>) -> Result<Option<Duration>, BadField> {
        if self != Dimension::Store {
            return Ok(wanted);
        }
        match wanted {
            Some(step) if step != DAY => Err(bad("step", format!("{self} is counted by day, so it must be 1d"))),
            _ => Ok(Some(DAY)),
        }
    }
}

impl Grid {
    /// The points that contain `from` and `to`, and those between. Without a step: few enough to read.
    pub fn new(from: DateTime<Utc>, to: DateTime<Utc>, step: Option<Duration>) -> Result<Grid, BadField> {
        if from >= to {
            return Err(bad("from", "must be before the end of the time span"));
        }
        let usual = || STEPS.into_iter().find(|step| points(from, to, *step) <= USUAL_POINTS);
        let step = match step {
            Some(step) => whole_minutes(step)?,
            // longer times need an explicit step
            None => usual().unwrap_or(STEPS[STEPS.len() - 1]),
        };
        let points = points(from, to, step);
        if points > MAX_POINTS {
            let fault = format!("gives {points} points; the maximum is {MAX_POINTS}: choose a longer step");
            return Err(bad("step", fault));
        }
        let (begin, end) = bounds(from, to, step);
        let out_of_range = || bad("to", "is out of range");
        let [from, to] = [begin, end].map(|seconds| DateTime::from_timestamp(seconds, 0));
        Ok(Grid { from: from.ok_or_else(out_of_range)?, to: to.ok_or_else(out_of_range)?, step: seconds(step) })
    }

    pub fn step_seconds(&self) -> i64 {
        self.step
    }

    pub fn points(&self) -> usize {
        let points = (self.to - self.from).num_seconds() / self.step;
        usize::try_from(points).unwrap_or_default()
    }

    /// The number of the point that begins at this time; None outside.
    pub fn point(&self, at: DateTime<Utc>) -> Option<usize> {
        let point = usize::try_from((at - self.from).num_seconds().div_euclid(self.step)).ok()?;
        (point < self.points()).then_some(point)
    }

    /// A day before `to`.
    pub fn default_from(to: DateTime<Utc>) -> Result<DateTime<Utc>, BadField> {
        to.checked_sub_signed(TimeDelta::days(1)).ok_or_else(|| bad("to", "is out of range"))
    }
}

fn whole_minutes(step: Duration) -> Result<Duration, BadField> {
    let is_whole = step.subsec_nanos() == 0 && step.as_secs().is_multiple_of(MINUTE.as_secs());
    match is_whole && step >= MINUTE {
        true => Ok(step),
        false => Err(bad("step", "must be whole minutes, such as 1m, 15m, 1h or 1day")),
    }
}

fn points(from: DateTime<Utc>, to: DateTime<Utc>, step: Duration) -> i64 {
    let (begin, end) = bounds(from, to, step);
    (end - begin) / seconds(step)
}

/// Returns both ends, in seconds since 1970.
fn bounds(from: DateTime<Utc>, to: DateTime<Utc>, step: Duration) -> (i64, i64) {
    let step = seconds(step);
    // a part of a second belongs to its point
    let last = to.timestamp() - i64::from(to.timestamp_subsec_nanos() == 0);
    let place = |time: i64| (time - ORIGIN).div_euclid(step);
    (place(from.timestamp()) * step + ORIGIN, (place(last) + 1) * step + ORIGIN)
}

/// Returns at least one; far less than `i64` holds.
fn seconds(step: Duration) -> i64 {
    i64::try_from(step.as_secs()).unwrap_or(i64::MAX).max(1)
}

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-11-{text}Z").parse().unwrap()
    }

    fn grid(from: &str, to: &str, step: Option<u64>) -> Result<(String, String, i64), String> {
        let grid = Grid::new(at(from), at(to), step.map(minutes)).map_err(|bad| bad.to_string())?;
        let shown = |time: DateTime<Utc>| time.format("%dT%H:%M").to_string();
        Ok((shown(grid.from), shown(grid.to), grid.step_seconds() / 60))
    }

    #[rstest]
    #[case::aligned("22T10:00:00", "23T10:00:00", Some(60), "22T10:00", "23T10:00", 60)]
    #[case::parts_of_points("22T10:20:01", "22T12:00:01", Some(60), "22T10:00", "22T13:00", 60)]
    #[case::one_point("22T10:20:01", "22T10:20:02", Some(1), "22T10:20", "22T10:21", 1)]
    #[case::days("20T10:00:00", "22T10:00:00", Some(1440), "20T00:00", "23T00:00", 1440)]
    #[case::weeks_begin_on_mondays("18T00:00:00", "23T00:00:00", Some(7 * 1440), "16T00:00", "23T00:00", 7 * 1440)]
    #[case::a_day_by_default("22T10:00:00", "23T10:00:00", None, "22T10:00", "23T10:00", 15)]
    #[case::an_hour_by_default("22T10:00:00", "22T11:00:00", None, "22T10:00", "22T11:00", 1)]
    #[case::a_month_by_default("01T00:00:00", "30T00:00:00", None, "01T00:00", "30T00:00", 360)]
    fn points_begin_at_multiples_of_their_length(
        #[case] from: &str,
        #[case] to: &str,
        #[case] step: Option<u64>,
        #[case] begin: &str,
        #[case] end: &str,
        #[case] minutes: i64,
    ) {
        assert_eq!(grid(from, to, step), Ok((begin.to_owned(), end.to_owned(), minutes)));
    }

    #[rstest]
    #[case::no_time("22T10:00:00", "22T10:00:00", None, "from: must be before")]
    #[case::no_step("22T10:00:00", "22T11:00:00", Some(0), "step: must be whole minutes")]
    #[case::too_many("01T00:00:00", "02T00:00:00", Some(1), "step: gives 1440 points")]
    fn what_makes_no_chart_is_refused_by_name(
        #[case] from: &str,
        #[case] to: &str,
        #[case] step: Option<u64>,
        #[case] fault: &str,
    ) {
        let refused = grid(from, to, step).unwrap_err();
        assert!(refused.starts_with(fault), "{refused}");
    }

    #[test]
    fn a_metric_is_told_apart_by_what_was_counted_with_it() {
        assert_eq!(Metric::Waits.by(None), Ok(Dimension::Role));
        assert_eq!(Metric::Bytes.by(Some(Dimension::Proxy)), Ok(Dimension::Proxy));
        let refused = Metric::Waits.by(Some(Dimension::Host)).unwrap_err().to_string();
        assert_eq!(refused, "by: waits are not counted by host, only by role, outcome");
        let refused = Metric::Blocks.by(Some(Dimension::Store)).unwrap_err().to_string();
        assert_eq!(refused, "by: blocks are not counted by store, only by host, proxy, outcome");
    }

    #[test]
    fn stores_are_told_apart_by_day_only() {
        let hour = Some(minutes(60));
        assert_eq!(Dimension::Host.step(hour), Ok(hour));
        assert_eq!(Dimension::Store.step(None), Ok(Some(DAY)));
        assert_eq!(Dimension::Store.step(Some(DAY)), Ok(Some(DAY)));
        let refused = Dimension::Store.step(hour).unwrap_err().to_string();
        assert_eq!(refused, "step: store is counted by day, so it must be 1d");
    }

    proptest! {
        #[test]
        fn a_grid_holds_its_time_and_less_than_a_point_more(
            from in 0..4_000_000_000_i64,
            seconds in 1..40_000_i64,
            step in 1..60_u64,
        ) {
            let (from, to) = (DateTime::from_timestamp(from, 0).unwrap(), DateTime::from_timestamp(from + seconds, 0).unwrap());
            let grid = Grid::new(from, to, Some(minutes(step))).unwrap();
            let length = TimeDelta::seconds(grid.step_seconds());
            prop_assert!(grid.from <= from && from - grid.from < length);
            prop_assert!(grid.to >= to && grid.to - to < length);
            prop_assert_eq!(grid.point(from), Some(0));
            prop_assert_eq!(grid.point(to - TimeDelta::seconds(1)), Some(grid.points() - 1));
            prop_assert_eq!(grid.point(grid.to), None);
        }
    }
}
