//! Readers of flags' values. In: the text of a flag. Out: its value, or a text that names the expected form.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use strum::VariantArray;

use domain::{span, vocabulary};
use settings::durations;

/// An id of something that has no name.
pub fn id(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| "expected an id, which is a whole number such as 7: the `list` command shows it".to_owned())
}

/// A number whose range is checked later.
pub fn whole_number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "expected a whole number, such as 7".to_owned())
}

/// A whole number within `range`.
pub fn number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("expected a whole number from {} to {}", range.start(), range.end())),
    }
}

/// A word of a closed vocabulary.
pub fn word<T: VariantArray + Copy + Into<&'static str>>(text: &str) -> Result<T, String> {
    vocabulary::find(text).ok_or_else(|| format!("expected one of {}", vocabulary::words::<T>()))
}

/// A price in dollars, as cents.
pub fn cents(text: &str) -> Result<i32, String> {
    let fault = || "expected a price in dollars, such as 35 or 12.50".to_owned();
    let (dollars, cents) = text.split_once('.').unwrap_or((text, "00"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(dollars) || !is_number(cents) || cents.len() != 2 {
        return Err(fault());
    }
    format!("{dollars}{cents}").parse().map_err(|_| fault())
}

/// A price in dollars, as millicents (thousandths of a cent).
pub fn millicents(text: &str) -> Result<i64, String> {
    cents(text).map(|cents| i64::from(cents) * 1000)
}

/// A percentage of 0 or more.
pub fn percentage(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    percent
        .filter(|percent| percent.is_finite() && *percent >= 0.0)
        .ok_or_else(|| "expected a percentage, such as 10 or 2.5".to_owned())
}

pub fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("expected JSON such as {{\"payload_id\": 7}}; {}", json_fault(text, &error)))
}

/// The place of the fault, as the text that begins there: the parser's own words are for programmers.
fn json_fault(text: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the text ends too early".to_owned();
    }
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    match line.get(error.column().saturating_sub(1)..) {
        Some(rest) if !rest.is_empty() => format!("the text is wrong at '{rest}'"),
        _ => format!("the text is wrong at column {}", error.column()),
    }
}

/// A time as in RFC 3339.
pub fn time(text: &str) -> Result<DateTime<Utc>, String> {
    text.parse().map_err(|_| "expected a time such as 2025-01-10T08:00:00Z".to_owned())
}

/// The beginning of a span of time: a time, or a day, from its first moment in UTC.
pub fn since(text: &str) -> Result<DateTime<Utc>, String> {
    span::beginning(text).ok_or_else(no_time)
}

/// A span of time, in minutes; a part of a minute is a whole one.
pub fn minutes(text: &str) -> Result<i32, String> {
    let minutes = durations::parse(text)?.as_secs().div_ceil(60);
    i32::try_from(minutes).map_err(|_| format!("'{text}' is too long"))
}

/// The beginning of a span of time that may end now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Time(DateTime<Utc>),
    /// So long ago.
    Ago(Duration),
}

impl Since {
    pub fn beginning(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Since::Time(time) => time,
            // the reader of durations takes at most ten years
            Since::Ago(span) => now - span,
        }
    }
}

/// Same as [`since`], or a span such as `7d`.
pub fn since_or_span(text: &str) -> Result<Since, String> {
    let span = || durations::parse(text).map(Since::Ago);
    since(text).map(Since::Time).or_else(|_| span()).map_err(|_| {
        "expected a day such as 2025-01-10, a time such as 2025-01-10T08:00:00Z, or a span such as 7d".to_owned()
    })
}

/// The end of a span of time: a time, or a day, which is part of the span.
pub fn until(text: &str) -> Result<DateTime<Utc>, String> {
    span::end(text).ok_or_else(no_time)
}

fn no_time() -> String {
    "expected a day such as 2025-01-10, or a time such as 2025-01-10T08:00:00Z".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_expected() {
        assert_eq!(whole_number("seven").unwrap_err(), "expected a whole number, such as 7");
        assert!(id("Leaf").unwrap_err().contains("the `list` command shows it"));
        for text in ["0", "501", "-1", "many", ""] {
            assert_eq!(number(1..=500_u16)(text).unwrap_err(), "expected a whole number from 1 to 500", "{text}");
        }
        assert!(time("yesterday").unwrap_err().contains("2025-01-10T08:00:00Z"));
    }

    #[test]
    fn bad_json_is_shown_from_its_fault_on() {
        let faults = [("{bad", "wrong at 'bad'"), ("{\"payload_id\": x}", "wrong at 'x}'"), ("{", "ends too early")];
        for (text, fault) in faults {
            let said = json(text).unwrap_err();
            assert!(said.contains("such as {\"payload_id\": 7}") && said.contains(fault), "{text}: {said}");
        }
    }

    #[test]
    fn a_price_is_read_in_dollars() {
        assert_eq!((cents("35"), cents("12.50"), cents("0.05")), (Ok(3500), Ok(1250), Ok(5)));
        for text in ["", "-1", "1.5", "1.555", ".50", "1,50", "$5", "99999999999"] {
            assert!(cents(text).unwrap_err().contains("such as 35 or 12.50"), "{text}");
        }
    }

    #[test]
    fn values_within_their_range_are_read() {
        assert_eq!((whole_number("7"), number(1..=500_u16)("500")), (Ok(7), Ok(500)));
        assert_eq!(time("2025-01-10T08:00:00+01:00").unwrap().to_rfc3339(), "2025-01-10T07:00:00+00:00");
    }

    #[test]
    fn a_span_may_begin_some_time_ago() {
        let now = time("2025-01-10T08:00:00Z").unwrap();
        let begins = |text| since_or_span(text).map(|since| since.beginning(now).to_rfc3339());
        assert_eq!(begins("7d").unwrap(), "2025-01-03T08:00:00+00:00");
        assert_eq!(begins("2025-01-09").unwrap(), "2025-01-09T00:00:00+00:00");
        assert!(begins("yesterday").unwrap_err().contains("a span such as 7d"));
    }

    #[test]
    fn a_span_of_days_holds_its_last_day() {
        assert_eq!(since("2025-01-10").unwrap().to_rfc3339(), "2025-01-10T00:00:00+00:00");
        assert_eq!(until("2025-01-10").unwrap().to_rfc3339(), "2025-01-11T00:00:00+00:00");
        assert_eq!(until("2025-01-10T08:00:00Z").unwrap().to_rfc3339(), "2025-01-10T08:00:00+00:00");
        assert!(since("yesterday").unwrap_err().contains("2025-01-10"));
    }
}
