//! The years that the database and every client can write down. Pure.

use std::ops::RangeInclusive;

use chrono::Datelike;
use serde::{Deserialize, Deserializer, de::Error};

pub const YEARS: RangeInclusive<i32> = 1970..=9999;

/// A day or time of one of [`YEARS`], for `deserialize_with`.
pub fn within<'de, T: Datelike + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let time = T::deserialize(deserializer)?;
    match YEARS.contains(&time.year()) {
        true => Ok(time),
        false => Err(D::Error::custom(format_args!("its year is out of range ({} to {})", YEARS.start(), YEARS.end()))),
    }
}
