//! Dates of the site: hours of a year that has passed, never the clock's.

use chrono::{DateTime, TimeDelta, Utc};

/// 2024-01-01, in seconds.
const BEGIN: i64 = 1_704_067_200;

/// Time that many hours after the begin of the site's year; the years after it are as long as a client needs.
pub(super) fn at(hours: usize) -> DateTime<Utc> {
    // no plan has as many things as would leave the calendar
    let hours = i64::try_from(hours).unwrap_or_default().min(1_000_000);
    DateTime::UNIX_EPOCH + TimeDelta::seconds(BEGIN) + TimeDelta::hours(hours)
}

/// Writes the date as in HTTP.
pub(super) fn http(date: DateTime<Utc>) -> String {
    date.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Writes the date as JSON interfaces do.
pub(super) fn json(date: DateTime<Utc>) -> String {
    date.format("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}
