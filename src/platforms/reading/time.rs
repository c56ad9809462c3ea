//! Times: epoch milliseconds or ISO 8601.

use chrono::{DateTime, NaiveDateTime, Utc};

use super::Raw;
use super::reader::Reader;

/// Epoch milliseconds (a number or a string of one) or ISO 8601, in UTC where it names no offset; within
/// 1970…2100.
pub fn time(raw: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Option<DateTime<Utc>> {
    let text = read.text(raw, field)?;
    let time = match text.parse::<i64>() {
        Ok(milliseconds) => DateTime::from_timestamp_millis(milliseconds),
        Err(_) => DateTime::parse_from_rfc3339(&text).map(|time| time.to_utc()).or_else(|_| without_offset(&text)).ok(),
    };
    let Some(time) = time else {
        read.warn("bad_field", &format!("{field}: '{text}' is not a time"));
        return None;
    };
    let clamped = time.clamp(DateTime::UNIX_EPOCH, MAX_TIME);
    if clamped != time {
        read.warn("odd_time", &format!("{field}: '{text}' is not within 1970 and 2100"));
    }
    Some(clamped)
}

/// 2100-01-01: a database refuses times that are farther off than any that is meant.
const MAX_TIME: DateTime<Utc> = DateTime::from_timestamp_nanos(4_102_444_800_000_000_000);

fn without_offset(text: &str) -> chrono::ParseResult<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(&text.replace(' ', "T"), "%Y-%m-%dT%H:%M:%S%.f").map(|time| time.and_utc())
}
