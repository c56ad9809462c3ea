//! The ends of a span of time as people write them: a time as in RFC 3339, or a day in UTC.
//!
//! In: text, or the field of a request. Out: the time that is meant.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use serde::de::{Deserialize, Deserializer, Error};
use utoipa::openapi::{KnownFormat, Object, OneOf, Schema, SchemaFormat, Type};

const NO_TIME: &str = "not a time as in RFC 3339, 2025-01-10T08:00:00Z, nor a day, 2025-01-10";

/// A day begins the span with its first moment.
pub fn beginning(text: &str) -> Option<DateTime<Utc>> {
    time_or_day(text, 0)
}

/// A day is part of the span that it ends.
pub fn end(text: &str) -> Option<DateTime<Utc>> {
    time_or_day(text, 1)
}

/// The [`beginning`] of a request's span, for `deserialize_with`.
pub fn optional_beginning<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    optional(deserializer, beginning)
}

/// The [`end`] of a request's span, for `deserialize_with`.
pub fn optional_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    optional(deserializer, end)
}

fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
    time: fn(&str) -> Option<DateTime<Utc>>,
) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    time(&text).map(Some).ok_or_else(|| D::Error::custom(NO_TIME))
}

/// Schema of either end in the OpenAPI document.
pub fn schema() -> Schema {
    let text = |format| Object::builder().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)));
    OneOf::builder().item(text(KnownFormat::DateTime)).item(text(KnownFormat::Date)).build().into()
}

fn time_or_day(text: &str, days_later: u64) -> Option<DateTime<Utc>> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| text.len() == "2025-01-10".len());
    match day {
        Some(day) => Some(day.checked_add_days(Days::new(days_later))?.and_time(NaiveTime::MIN).and_utc()),
        None => DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_time("2025-01-10T08:00:00+01:00", Some(("2025-01-10T07:00:00Z", "2025-01-10T07:00:00Z")))]
    #[case::a_day("2025-01-10", Some(("2025-01-10T00:00:00Z", "2025-01-11T00:00:00Z")))]
    #[case::the_last_of_a_year("2024-12-31", Some(("2024-12-31T00:00:00Z", "2025-01-01T00:00:00Z")))]
    #[case::no_day("2025-02-30", None)]
    #[case::half_a_day("2025-1-10", None)]
    #[case::a_far_year("+12025-01-10", None)]
    #[case::words("yesterday", None)]
    fn a_span_is_of_times_or_days(#[case] text: &str, #[case] ends: Option<(&str, &str)>) {
        let expected = ends.map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap()));
        assert_eq!(beginning(text).zip(end(text)), expected);
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Filter {
        #[serde(default, deserialize_with = "optional_beginning")]
        from: Option<DateTime<Utc>>,
        #[serde(default, deserialize_with = "optional_end")]
        to: Option<DateTime<Utc>>,
    }

    #[test]
    fn a_request_may_leave_an_end_of_its_span_open() {
        let read = |json| serde_json::from_str::<Filter>(json).map(|filter| (filter.from, filter.to));
        let day = r#"{ "from": "2025-01-10", "to": "2025-01-10" }"#;
        assert_eq!(read(day).unwrap(), (beginning("2025-01-10"), end("2025-01-10")));
        assert_eq!(read(r#"{ "to": null }"#).unwrap(), (None, None));
        assert!(read(r#"{ "from": "yesterday" }"#).unwrap_err().to_string().starts_with("not a time as in RFC 3339"));
    }

    #[test]
    fn either_way_to_write_an_end_is_documented() {
        let schema = serde_json::to_value(schema()).unwrap();
        let formats = ["date-time", "date"].map(|format| serde_json::json!({ "type": "string", "format": format }));
        assert_eq!(schema["oneOf"], serde_json::json!(formats));
    }
}
