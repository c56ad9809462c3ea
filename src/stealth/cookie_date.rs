//! Dates of cookies, read by the algorithm of RFC 6265, 5.1.1, which takes more forms than HTTP's dates have.

use chrono::{DateTime, NaiveDate, Utc};

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

#[derive(Default)]
struct Fields {
    time: Option<(u32, u32, u32)>,
    day: Option<u32>,
    month: Option<u32>,
    year: Option<i32>,
}

/// None: it is not a date, and the attribute is ignored.
pub fn cookie_date(text: &str) -> Option<DateTime<Utc>> {
    let mut fields = Fields::default();
    text.split(is_delimiter).filter(|token| !token.is_empty()).for_each(|token| fields.take(token));
    let Fields { time: Some((hour, minute, second)), day: Some(day), month: Some(month), year: Some(year) } = fields
    else {
        return None;
    };
    let year = match year {
        70..=99 => year + 1900,
        0..=69 => year + 2000,
        year => year,
    };
    let date = NaiveDate::from_ymd_opt(year, month, day).filter(|_| year >= 1601)?;
    Some(date.and_hms_opt(hour, minute, second)?.and_utc())
}

fn is_delimiter(char: char) -> bool {
    matches!(char, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~')
}

impl Fields {
    /// Each token is the first field that it can be and that has not come yet.
    fn take(&mut self, token: &str) {
        if self.time.is_none()
            && let Some(time) = time(token)
        {
            self.time = Some(time);
        } else if self.day.is_none()
            && let Some(day) = number(token, 1..=2)
        {
            self.day = Some(day);
        } else if self.month.is_none()
            && let Some(month) = month(token)
        {
            self.month = Some(month);
        } else if self.year.is_none()
            && let Some(year) = number(token, 2..=4)
        {
            self.year = i32::try_from(year).ok();
        }
    }
}

/// `7:28:00`, and anything that is not a digit behind it.
fn time(token: &str) -> Option<(u32, u32, u32)> {
    let mut parts = token.splitn(3, ':');
    let [hour, minute] = [parts.next()?, parts.next()?].map(|part| whole_number(part, 1..=2));
    Some((hour?, minute?, number(parts.next()?, 1..=2)?))
}

fn month(token: &str) -> Option<u32> {
    let name = token.get(..3)?;
    let place = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name))?;
    u32::try_from(place + 1).ok()
}

/// A number with a permitted count of digits; a rest that begins with no digit is left out.
fn number(token: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let end = token.find(|char: char| !char.is_ascii_digit()).unwrap_or(token.len());
    whole_number(token.get(..end)?, digits)
}

fn whole_number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let is_number = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::of_http("Wed, 21 Oct 2015 07:28:00 GMT", Some("2015-10-21T07:28:00Z"))]
    #[case::of_rfc_850("Wednesday, 21-Oct-15 07:28:00 GMT", Some("2015-10-21T07:28:00Z"))]
    #[case::of_asctime("Wed Oct 21 07:28:00 2015", Some("2015-10-21T07:28:00Z"))]
    #[case::the_usual_deletion("Thu, 01-Jan-70 00:00:00 GMT", Some("1970-01-01T00:00:00Z"))]
    #[case::the_usual_deletion_in_full("Thu, 01-Jan-1970 00:00:01 GMT", Some("1970-01-01T00:00:01Z"))]
    #[case::no_weekday("1 Jan 1970 0:0:0", Some("1970-01-01T00:00:00Z"))]
    #[case::another_order("2015 07:28:00 Oct 21", Some("2015-10-21T07:28:00Z"))]
    #[case::the_year_last_of_all("07:28:00 21 October 2015", Some("2015-10-21T07:28:00Z"))]
    #[case::another_zone_is_ignored("Wed, 21 Oct 2015 07:28:00 +0200", Some("2015-10-21T07:28:00Z"))]
    #[case::letters_behind_numbers("21st Oct 2015AD 07:28:00.123", Some("2015-10-21T07:28:00Z"))]
    #[case::the_last_year_of_this_century("21 Oct 69 07:28:00", Some("2069-10-21T07:28:00Z"))]
    #[case::a_wrong_day("31 Feb 2015 07:28:00", None)]
    #[case::hour_24("21 Oct 2015 24:00:00", None)]
    #[case::before_the_calendar("21 Oct 1600 07:28:00", None)]
    #[case::a_year_of_five_digits("21 Oct 20150 07:28:00", None)]
    #[case::no_time("21 Oct 2015", None)]
    #[case::two_parts_of_a_time("21 Oct 2015 07:28", None)]
    #[case::a_number("0", None)]
    #[case::empty("", None)]
    #[case::letters_of_another_script("21 Окт 2015 07:28:00", None)]
    fn a_date_is_read_by_the_rules_of_cookies(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(cookie_date(text), expected.map(|date| date.parse().unwrap()));
    }
}
