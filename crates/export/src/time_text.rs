//! Times as text: RFC 3339 in UTC, with microseconds.

use chrono::{DateTime, Datelike, SecondsFormat};

/// Whether RFC 3339 can write the time: its years have four digits.
pub fn is_writable(micros: i64) -> bool {
    DateTime::from_timestamp_micros(micros).is_some_and(|time| (0..=9999).contains(&time.year()))
}

/// `2025-01-10T08:00:00.000000Z`; empty for a time that is not writable.
pub fn rfc3339(micros: i64) -> String {
    let time = DateTime::from_timestamp_micros(micros);
    time.map(|time| time.to_rfc3339_opts(SecondsFormat::Micros, true)).unwrap_or_default()
}
