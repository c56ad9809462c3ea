//! A cron line as crontab(5) reads it: five fields, or six with seconds first, on the clock of a time zone.
//!
//! In: a line, the name of a zone, a time. Out: the next time, or the fault of the line. It must not know of schedules.

use chrono::{DateTime, TimeDelta, Utc};
use croner::Cron;
use croner::parser::CronParser;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, civil};

use super::{RecurrenceError, time_zone};

/// Time and number of next runs over which the runs of a line are counted.
const COUNTED_HOURS: i64 = 4 * 7 * 24;
const MAX_COUNTED: usize = 5_000;
/// Times of a line, or changes of its clock, that are passed on the way to the next run.
const MAX_STEPS: usize = 10_000;
/// Fewer runs in this time are too rare to be counted.
const MIN_COUNTED: usize = 4;

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Places of fields in a line with seconds.
const DAY_OF_MONTH: usize = 3;
const MONTH: usize = 4;
const DAY_OF_WEEK: usize = 5;

/// A schedule's `cron` and `time_zone`.
#[derive(Clone, Debug, PartialEq)]
pub struct CronLine {
    pub line: String,
    /// A name of the IANA database; none: UTC.
    pub time_zone: Option<String>,
}

/// A line that was read.
pub(super) struct Times {
    cron: Cron,
    zone: TimeZone,
}

impl CronLine {
    pub fn in_utc(line: impl Into<String>) -> CronLine {
        CronLine { line: line.into(), time_zone: None }
    }

    /// Returns the first fault.
    pub fn check(&self) -> Result<(), RecurrenceError> {
        self.read().map(|_| ())
    }

    pub(super) fn read(&self) -> Result<Times, RecurrenceError> {
        let bad = |fault| RecurrenceError::Cron { line: self.line.clone(), fault };
        let zone = match &self.time_zone {
            Some(name) => time_zone::find(name).ok_or_else(|| RecurrenceError::TimeZone(name.clone()))?,
            None => TimeZone::UTC,
        };
        let fields = fields(&self.line).map_err(bad)?;
        // N/step, which crontab(5) does not have, is N-last/step
        let parser = CronParser::builder().sloppy_ranges(true).build();
        let cron = parser.parse(&fields.join(" ")).map_err(|fault| bad(fault.to_string()))?;
        Ok(Times { cron, zone })
    }
}

impl Times {
    /// The first time strictly after `now`.
    pub fn next_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let now = Timestamp::from_microsecond(now.timestamp_micros()).ok()?;
        let is_hourly = self.cron.pattern.hours.values().len() == 24;
        let next = if is_hourly { self.next_in_time(now) } else { self.next_by_clock(now) };
        DateTime::from_timestamp_micros(next?.as_microsecond())
    }

    /// Each time that the clock shows, once, whatever is done to the clock.
    fn next_by_clock(&self, now: Timestamp) -> Option<Timestamp> {
        let mut shown = self.zone.to_datetime(now);
        for _ in 0..MAX_STEPS {
            shown = self.cron.find_next_occurrence(&shown, false).ok()?;
            let next = self.first_at(shown)?;
            if next > now {
                return Some(next);
            }
        }
        None
    }

    /// The first instant at which the clock shows this time or, where it leaves it out, a later one.
    fn first_at(&self, shown: civil::DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                offset.to_timestamp(shown).ok()
            }
            AmbiguousOffset::Gap { before, .. } => {
                let behind = before.to_timestamp(shown).ok()?.checked_add(SignedDuration::from_secs(1)).ok()?;
                self.zone.preceding(behind).next().map(|change| change.timestamp())
            }
        }
    }

    /// Next time of a line of every hour: the clock's changes neither repeat nor leave out one.
    fn next_in_time(&self, now: Timestamp) -> Option<Timestamp> {
        let (mut from, mut is_change) = (now, false);
        for _ in 0..MAX_STEPS {
            let offset = self.zone.to_offset(from);
            let shown = self.cron.find_next_occurrence(&offset.to_datetime(from), is_change).ok()?;
            let next = offset.to_timestamp(shown).ok()?;
            match self.zone.following(from).next().map(|change| change.timestamp()) {
                Some(change) if change <= next => (from, is_change) = (change, true),
                _ => return Some(next),
            }
        }
        None
    }

    /// Average number an hour. Rare runs by the time between the next two; 0 if there are not two.
    pub fn per_hour(&self, now: DateTime<Utc>) -> f64 {
        let end = now + TimeDelta::hours(COUNTED_HOURS);
        let next: Vec<_> = self.after(now).take_while(|at| *at <= end).take(MAX_COUNTED).collect();
        match &next[..] {
            [first, .., last] if next.len() == MAX_COUNTED => (next.len() - 1) as f64 / hours_between(*first, *last),
            _ if next.len() >= MIN_COUNTED => next.len() as f64 / COUNTED_HOURS as f64,
            _ => {
                let mut next = self.after(now);
                let two = next.next().zip(next.next());
                two.map_or(0.0, |(first, second)| 1.0 / hours_between(first, second))
            }
        }
    }

    fn after(&self, now: DateTime<Utc>) -> impl Iterator<Item = DateTime<Utc>> {
        std::iter::successors(self.next_after(now), |at| self.next_after(*at))
    }
}

fn hours_between(first: DateTime<Utc>, second: DateTime<Utc>) -> f64 {
    (second - first).as_seconds_f64() / 3600.0
}

/// The fields of a line, seconds first, in the words of the parser; otherwise the line's first fault.
fn fields(line: &str) -> Result<Vec<String>, String> {
    let line = full_line(line.trim())?;
    let mut fields: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
    match fields.len() {
        5 => fields.insert(0, "0".to_owned()),
        6 | 7 => {}
        count => return Err(format!("it has {count} fields")),
    }
    for (place, field) in fields.iter_mut().enumerate() {
        *field = named(place, field)?;
    }
    require_both_days(&mut fields);
    Ok(fields)
}

fn full_line(line: &str) -> Result<&str, String> {
    if !line.starts_with('@') {
        return Ok(line);
    }
    let known = NICKNAMES.iter().find(|(nickname, _)| nickname.eq_ignore_ascii_case(line));
    known.map(|(_, line)| *line).ok_or_else(|| {
        let names: Vec<&str> = NICKNAMES.iter().map(|(nickname, _)| *nickname).collect();
        format!("the nicknames are {}", names.join(", "))
    })
}

/// The field with names of months and weekdays in three letters. Names stand in no other field.
fn named(place: usize, field: &str) -> Result<String, String> {
    if field.split(',').any(str::is_empty) {
        return Err(format!("'{field}' has an empty part"));
    }
    let (names, letters): (&[&str], &[&str]) = match place {
        DAY_OF_MONTH => (&[], &["l", "w", "lw"]),
        MONTH => (&MONTHS, &[]),
        DAY_OF_WEEK => (&WEEKDAYS, &["l"]),
        _ => (&[], &[]),
    };
    let is_letter = |char: char| char.is_ascii_alphabetic();
    let mut read = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|char| is_letter(char) != is_letter(first)).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        rest = behind;
        if !is_letter(first) || letters.contains(&part) {
            read.push_str(part);
            continue;
        }
        let is_name = part.len() >= 3 && names.iter().any(|name| name.starts_with(part));
        read.push_str(part.get(..3).filter(|_| is_name).ok_or_else(|| format!("'{part}' in '{field}' is not a name"))?);
    }
    Ok(if place == DAY_OF_MONTH || place == DAY_OF_WEEK { read.replace('?', "*") } else { read })
}

/// Either day is enough only where both are restricted, and a field with a star is not: `*/2 * Mon` are the odd days that are
/// Mondays.
fn require_both_days(fields: &mut [String]) {
    let has_star = |place: usize| fields.get(place).is_some_and(|field| field.contains('*'));
    let is_one_restricted = has_star(DAY_OF_MONTH) || has_star(DAY_OF_WEEK);
    if let Some(weekday) = fields.get_mut(DAY_OF_WEEK).filter(|field| is_one_restricted && !field.starts_with('+')) {
        weekday.insert(0, '+');
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    /// The next times after `now`, without year, seconds and zone.
    fn next(line: &str, time_zone: Option<&str>, now: &str, count: usize) -> Vec<String> {
        let line = CronLine { line: line.to_owned(), time_zone: time_zone.map(str::to_owned) };
        let times = line.read().unwrap_or_else(|fault| panic!("{fault}"));
        times.after(at(now)).take(count).map(|at| at.format("%a %m-%d %H:%M").to_string()).collect()
    }

    // 1 January 2026 is a Thursday.
    #[rstest]
    #[case::five_fields("30 6 * * *", ["Thu 01-01 06:30", "Fri 01-02 06:30", "Sat 01-03 06:30"])]
    #[case::six_fields("0 30 6 * * *", ["Thu 01-01 06:30", "Fri 01-02 06:30", "Sat 01-03 06:30"])]
    #[case::one_is_monday("0 6 * * 1", ["Mon 01-05 06:00", "Mon 01-12 06:00", "Mon 01-19 06:00"])]
    #[case::one_is_monday_with_seconds("0 0 6 * * 1", ["Mon 01-05 06:00", "Mon 01-12 06:00", "Mon 01-19 06:00"])]
    #[case::five_is_friday("0 0 6 * * 5", ["Fri 01-02 06:00", "Fri 01-09 06:00", "Fri 01-16 06:00"])]
    #[case::zero_is_sunday("0 6 * * 0", ["Sun 01-04 06:00", "Sun 01-11 06:00", "Sun 01-18 06:00"])]
    #[case::seven_is_sunday("0 6 * * 7", ["Sun 01-04 06:00", "Sun 01-11 06:00", "Sun 01-18 06:00"])]
    #[case::workdays("0 6 * * 1-5", ["Thu 01-01 06:00", "Fri 01-02 06:00", "Mon 01-05 06:00"])]
    #[case::to_sunday("0 6 * * 5-7", ["Fri 01-02 06:00", "Sat 01-03 06:00", "Sun 01-04 06:00"])]
    #[case::from_sunday("0 6 * * 0-1", ["Sun 01-04 06:00", "Mon 01-05 06:00", "Sun 01-11 06:00"])]
    #[case::to_sunday_by_name("0 6 * * Fri-Sun", ["Fri 01-02 06:00", "Sat 01-03 06:00", "Sun 01-04 06:00"])]
    #[case::names_without_case("0 6 * jAN mON,weD", ["Mon 01-05 06:00", "Wed 01-07 06:00", "Mon 01-12 06:00"])]
    #[case::long_names("0 6 * September Thursday", ["Thu 09-03 06:00", "Thu 09-10 06:00", "Thu 09-17 06:00"])]
    #[case::either_day("0 6 1 * Mon", ["Thu 01-01 06:00", "Mon 01-05 06:00", "Mon 01-12 06:00"])]
    #[case::either_day_with_seconds("0 0 6 13 * 5", ["Fri 01-02 06:00", "Fri 01-09 06:00", "Tue 01-13 06:00"])]
    #[case::a_stepped_star_restricts_no_day("0 6 */2 * Mon", ["Mon 01-05 06:00", "Mon 01-19 06:00", "Mon 02-09 06:00"])]
    #[case::a_stepped_star_of_weekdays("0 6 13 * */5", ["Fri 02-13 06:00", "Fri 03-13 06:00", "Sun 09-13 06:00"])]
    #[case::both_days_by_a_plus("0 6 13 * +Fri", ["Fri 02-13 06:00", "Fri 03-13 06:00", "Fri 11-13 06:00"])]
    #[case::question_marks("0 0 6 ? * Mon", ["Mon 01-05 06:00", "Mon 01-12 06:00", "Mon 01-19 06:00"])]
    #[case::lists_ranges_and_steps("5,35 8-10/2 * * *", ["Thu 01-01 08:05", "Thu 01-01 08:35", "Thu 01-01 10:05"])]
    #[case::a_step_from_a_number("10/25 0 * * *", ["Thu 01-01 00:10", "Thu 01-01 00:35", "Fri 01-02 00:10"])]
    #[case::last_day("0 6 L * *", ["Sat 01-31 06:00", "Sat 02-28 06:00", "Tue 03-31 06:00"])]
    #[case::hourly("@hourly", ["Thu 01-01 01:00", "Thu 01-01 02:00", "Thu 01-01 03:00"])]
    #[case::daily("@Daily", ["Fri 01-02 00:00", "Sat 01-03 00:00", "Sun 01-04 00:00"])]
    #[case::midnight("@midnight", ["Fri 01-02 00:00", "Sat 01-03 00:00", "Sun 01-04 00:00"])]
    #[case::weekly(" @weekly ", ["Sun 01-04 00:00", "Sun 01-11 00:00", "Sun 01-18 00:00"])]
    #[case::monthly("@monthly", ["Sun 02-01 00:00", "Sun 03-01 00:00", "Wed 04-01 00:00"])]
    #[case::yearly("@annually", ["Fri 01-01 00:00", "Sat 01-01 00:00", "Mon 01-01 00:00"])]
    fn a_line_means_what_crontab_says(#[case] line: &str, #[case] times: [&str; 3]) {
        assert_eq!(next(line, None, "2026-01-01T00:00:00Z", 3), times);
    }

    #[rstest]
    #[case::words("every day", "2 fields")]
    #[case::empty("", "0 fields")]
    #[case::four_fields("0 6 * *", "4 fields")]
    #[case::eight_fields("0 0 6 * * * * *", "8 fields")]
    #[case::at_start("@reboot", "@hourly")]
    #[case::hour_25("0 25 * * *", "out of bounds")]
    #[case::weekday_8("0 6 * * 8", "out of bounds")]
    #[case::backwards("0 22-2 * * *", "out of bounds")]
    #[case::empty_part("0 6,,7 * * *", "an empty part")]
    #[case::no_weekday("0 6 * * Munday", "'munday'")]
    #[case::a_name_among_hours("0 Mon * * *", "'mon'")]
    #[case::no_step("*/0 * * * *", "zero")]
    #[case::other_letters("0 6 * * мон", "illegal character")]
    fn a_line_that_cannot_be_read_is_quoted_with_its_fault(#[case] line: &str, #[case] part: &str) {
        let fault = CronLine::in_utc(line).check().unwrap_err().to_string();
        assert!(
            fault.contains(&format!("'{line}'")) && fault.contains(part) && fault.contains("'30 6 * * 1-5'"),
            "{fault}"
        );
    }

    // Phoenix has no daylight saving. New York goes from 02:00 to 03:00 on 8 March 2026, and from 02:00 back to 01:00 on 1 November.
    #[rstest]
    #[case::without_changes("0 6 * * *", "America/Phoenix", "2026-03-07T14:00:00Z", ["Sun 03-08 13:00", "Mon 03-09 13:00"])]
    #[case::the_day_is_of_the_zone("0 22 * * Mon", "America/Phoenix", "2026-03-01T00:00:00Z", ["Tue 03-03 05:00", "Tue 03-10 05:00"])]
    #[case::same_clock_in_spring("0 6 * * *", "America/New_York", "2026-03-07T00:00:00Z", ["Sat 03-07 11:00", "Sun 03-08 10:00"])]
    #[case::a_missing_time_runs_at_the_next_instant("30 2 * * *", "America/New_York", "2026-03-08T00:00:00Z", ["Sun 03-08 07:00", "Mon 03-09 06:30"])]
    #[case::missing_with_seconds("15 30 2 * * *", "America/New_York", "2026-03-08T00:00:00Z", ["Sun 03-08 07:00", "Mon 03-09 06:30"])]
    #[case::two_missing_times_run_once("0,30 2 * * *", "America/New_York", "2026-03-08T00:00:00Z", ["Sun 03-08 07:00", "Mon 03-09 06:00"])]
    #[case::a_missing_time_beside_the_next_one("30 2,3 * * *", "America/New_York", "2026-03-08T00:00:00Z", ["Sun 03-08 07:00", "Sun 03-08 07:30"])]
    #[case::a_missing_midnight("0 0 * * *", "America/Santiago", "2026-09-06T00:00:00Z", ["Sun 09-06 04:00", "Mon 09-07 03:00"])]
    #[case::a_double_time_runs_once("30 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", ["Sun 11-01 05:30", "Mon 11-02 06:30"])]
    #[case::not_again_after_its_first_time("30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", ["Mon 11-02 06:30", "Tue 11-03 06:30"])]
    #[case::not_again_in_the_second_hour("30 1 * * *", "America/New_York", "2026-11-01T06:00:00Z", ["Mon 11-02 06:30", "Tue 11-03 06:30"])]
    #[case::half_an_hour("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", ["Sat 04-04 14:45", "Sun 04-05 15:15"])]
    #[case::a_step_of_hours_is_no_exception("0 */2 * * *", "America/New_York", "2026-03-08T05:30:00Z", ["Sun 03-08 07:00", "Sun 03-08 08:00"])]
    #[case::minutes_of_a_double_hour("*/30 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", ["Sun 11-01 05:00", "Sun 11-01 05:30"])]
    #[case::not_again_by_minutes("*/30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", ["Mon 11-02 06:00", "Mon 11-02 06:30"])]
    #[case::between_its_two_hours("45 1 * * *", "America/New_York", "2026-11-01T05:50:00Z", ["Mon 11-02 06:45", "Tue 11-03 06:45"])]
    #[case::every_half_hour_in_spring("*/30 * * * *", "America/New_York", "2026-03-08T06:00:00Z", ["Sun 03-08 06:30", "Sun 03-08 07:00"])]
    #[case::every_half_hour_in_autumn("*/30 * * * *", "America/New_York", "2026-11-01T05:00:00Z", ["Sun 11-01 05:30", "Sun 11-01 06:00"])]
    #[case::every_hour_goes_on_in_spring("0 * * * *", "America/New_York", "2026-03-08T05:30:00Z", ["Sun 03-08 06:00", "Sun 03-08 07:00"])]
    #[case::every_hour_goes_on_in_autumn("0 * * * *", "America/New_York", "2026-11-01T05:30:00Z", ["Sun 11-01 06:00", "Sun 11-01 07:00"])]
    fn a_time_zone_has_its_daylight_saving(
        #[case] line: &str,
        #[case] zone: &str,
        #[case] now: &str,
        #[case] times: [&str; 2],
    ) {
        assert_eq!(next(line, Some(zone), now, 2), times);
    }

    #[rstest]
    #[case::by_clock("0 0 0 30 2 *")]
    #[case::every_hour("* * * 30 2 *")]
    #[case::past("0 0 0 1 1 * 2020")]
    fn a_line_without_a_next_time_says_so(
        #[case] line: &str,
        #[values(None, Some("America/New_York"))] zone: Option<&str>,
    ) {
        assert_eq!(next(line, zone, "2026-01-01T00:00:00Z", 1), [""; 0]);
    }

    #[test]
    fn an_unknown_time_zone_is_quoted() {
        let line = CronLine { time_zone: Some("America/Pheonix".to_owned()), ..CronLine::in_utc("0 6 * * *") };
        let fault = line.check().unwrap_err().to_string();
        assert!(fault.contains("'America/Pheonix'") && fault.contains("America/Phoenix"), "{fault}");
    }
}
