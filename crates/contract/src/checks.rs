//! `BadField`: a fault of one field, and the checks that several requests share. None needs the database.

use std::fmt::Display;
use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};
use serde::{Deserialize, Deserializer};
use strum::VariantArray;
use thiserror::Error;

use domain::task::TaskId;
use domain::vocabulary::words;
use domain::years::YEARS;

const PRIORITIES: RangeInclusive<i64> = -1000..=1000;
const MAX_DEPENDENCIES: usize = 100;
/// Maximum number of characters of a name.
pub const MAX_TEXT_CHARS: usize = 200;
/// Possible numbers of retries.
pub const RETRIES: RangeInclusive<i64> = 0..=20;
/// Maximum delay of a task; a later date is taken for a typing error.
const MAX_AHEAD: TimeDelta = TimeDelta::days(366);

/// Fault of one field of a request.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{field}: {fault}")]
pub struct BadField {
    pub field: &'static str,
    pub fault: String,
}

/// Reads a field that is present, null or not, for `deserialize_with`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Checks that a number that is given is not below 0.
pub fn at_least_0<T: PartialOrd + Default>(field: &'static str, number: Option<T>) -> Result<(), BadField> {
    match number.is_none_or(|number| number >= T::default()) {
        true => Ok(()),
        false => Err(bad(field, "must be at least 0")),
    }
}

pub(crate) fn check_priority(priority: Option<i64>) -> Result<Option<i32>, BadField> {
    within("priority", priority, PRIORITIES)
}

pub(crate) fn check_time(time: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, BadField> {
    check_year("scheduled_for", time)?;
    match time {
        Some(time) if time > now + MAX_AHEAD => Err(too_far_ahead("scheduled_for", time)),
        other => Ok(other),
    }
}

/// Accepts times from 1970 on.
pub(crate) fn check_year(field: &'static str, time: Option<DateTime<Utc>>) -> Result<(), BadField> {
    match time {
        Some(time) if !YEARS.contains(&time.year()) => Err(out_of_range(field, time, &YEARS)),
        _ => Ok(()),
    }
}

/// Accepts days from 1970 on.
pub(crate) fn check_day(field: &'static str, day: NaiveDate, now: DateTime<Utc>) -> Result<(), BadField> {
    match day {
        day if !YEARS.contains(&day.year()) => Err(out_of_range(field, day, &YEARS)),
        day if day > (now + MAX_AHEAD).date_naive() => Err(too_far_ahead(field, day)),
        _ => Ok(()),
    }
}

fn too_far_ahead(field: &'static str, time: impl Display) -> BadField {
    bad(field, format!("{time} is more than {} days ahead", MAX_AHEAD.num_days()))
}

pub(crate) fn dependencies_of(mut ids: Vec<TaskId>) -> Result<Vec<TaskId>, BadField> {
    if ids.len() > MAX_DEPENDENCIES {
        return Err(bad("depends_on", format!("{} tasks; the maximum is {MAX_DEPENDENCIES}", ids.len())));
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Checks a list of words, of which each may be named once. `twice`: the fault of one that is named again.
pub(crate) fn check_each_once<T>(field: &'static str, twice: &str, named: &[T]) -> Result<(), BadField>
where
    T: VariantArray + Copy + PartialEq + Into<&'static str>,
{
    let is_repeated = |(nth, word): (usize, &T)| named[..nth].contains(word);
    match named {
        [] => Err(bad(field, format!("is empty: name at least one of {}", words::<T>()))),
        _ if named.iter().enumerate().any(is_repeated) => Err(bad(field, twice)),
        _ => Ok(()),
    }
}

/// Checks names and other texts that are shown in one line.
pub fn check_text(field: &'static str, text: Option<&str>) -> Result<(), BadField> {
    let fits = |text: &str| (1..=MAX_TEXT_CHARS).contains(&text.chars().count()) && !text.contains(char::is_control);
    match text.is_none_or(fits) {
        true => Ok(()),
        false => Err(bad(field, format!("must be 1 to {MAX_TEXT_CHARS} characters without control characters"))),
    }
}

pub(crate) fn within(
    field: &'static str,
    value: Option<i64>,
    range: RangeInclusive<i64>,
) -> Result<Option<i32>, BadField> {
    let Some(value) = value else { return Ok(None) };
    match i32::try_from(value) {
        Ok(small) if range.contains(&value) => Ok(Some(small)),
        _ => Err(out_of_range(field, value, &range)),
    }
}

fn out_of_range<T: Display>(field: &'static str, value: impl Display, range: &RangeInclusive<T>) -> BadField {
    bad(field, format!("{value} is out of range ({} to {})", range.start(), range.end()))
}

pub(crate) fn bad(field: &'static str, fault: impl Display) -> BadField {
    BadField { field, fault: fault.to_string() }
}
