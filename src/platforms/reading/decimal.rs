//! The tolerant decimal reader: numbers come as JSON numbers, as strings, with currency signs. Money never
//! passes through a float.

use std::borrow::Cow;
use std::iter::repeat;

use super::reader::unquoted;

/// Names of the dollar, longest first; a `$` before the number needs none.
const DOLLARS: [&str; 3] = ["USD$", "USD", "US$"];
/// Maximum power of ten of a price.
const MAX_EXPONENT: i32 = 30;

/// Integer cents of a JSON number or string, half a cent rounded up. None for anything but an amount, for a
/// negative one, and over 21 million.
pub fn cents(json: &str) -> Option<i32> {
    let text = plain(json)?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
        None => (&*text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let is_number = digits().next().is_some() && digits().all(|byte| byte.is_ascii_digit());
    if !is_number || !(-MAX_EXPONENT..=MAX_EXPONENT).contains(&exponent) {
        return None;
    }
    rounded(digits(), i32::try_from(whole.len()).ok()? + exponent + 2)
}

/// The number as a float, for measured quantities, not for money.
pub fn float(json: &str) -> Option<f64> {
    plain(json)?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A count, rounded down; 0 for a negative one.
pub fn count(json: &str) -> Option<i32> {
    float(json).map(|number| number.floor().clamp(0.0, f64::from(i32::MAX)) as i32)
}

/// How many there are in all, as a platform announces it; a number below zero announces nothing.
pub fn total(json: &str) -> Option<usize> {
    float(json).filter(|number| *number >= 0.0).map(|number| number.floor().min(f64::from(i32::MAX)) as usize)
}

/// The digits before `places` as a number, rounded half up by the digit behind them.
fn rounded(digits: impl Iterator<Item = u8>, places: i32) -> Option<i32> {
    let mut amount: i32 = 0;
    for (place, digit) in (0..=places).zip(digits.chain(repeat(b'0'))) {
        let digit = i32::from(digit - b'0');
        if place == places {
            return amount.checked_add(i32::from(digit >= 5));
        }
        amount = amount.checked_mul(10)?.checked_add(digit)?;
    }
    Some(0)
}

/// The bare number: without quotes, blanks, dollars, a leading `+`, and thousands separators.
fn plain(json: &str) -> Option<Cow<'_, str>> {
    let text = match json.starts_with('"') {
        true => unquoted(json)?,
        false => Cow::Borrowed(json),
    };
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(without_sign(text)?),
        Cow::Owned(text) => Cow::Owned(without_sign(&text)?.to_owned()),
    };
    let text = if text.contains(',') { Cow::Owned(without_thousands(&text)?) } else { text };
    let sign = usize::from(text.starts_with('-'));
    text[sign..].starts_with(|c: char| c.is_ascii_digit() || c == '.').then_some(text)
}

/// Removes dollars by any name before or after the number. Three places beside a name may be thousands, and are not guessed
/// at.
fn without_sign(text: &str) -> Option<&str> {
    let text = text.trim();
    let number = DOLLARS.iter().find_map(|name| without_word(text, name)).unwrap_or(text);
    let is_ambiguous = number.len() < text.len() && number.split_once('.').is_some_and(|(_, places)| places.len() > 2);
    let number = number.trim_start_matches(['$', '+']).trim_start();
    (!is_ambiguous).then_some(number)
}

/// The text before or after the word, in any case; none if the word is not there.
fn without_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let is_word = |part: &str| part.eq_ignore_ascii_case(word);
    let behind = text.split_at_checked(word.len()).filter(|(first, _)| is_word(first)).map(|(_, rest)| rest);
    let before = || {
        let (rest, last) = text.split_at_checked(text.len().checked_sub(word.len())?)?;
        is_word(last).then_some(rest)
    };
    behind.or_else(before).map(str::trim)
}

/// `1,234.50` → `1234.50`; a comma anywhere else is a decimal comma or worse, and not guessed at.
fn without_thousands(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let well_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    (well_grouped && !fraction.contains(',')).then(|| text.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::whole("43", Some(4300))]
    #[case::fraction("27.95", Some(2795))]
    #[case::one_place("27.5", Some(2750))]
    #[case::zero("0", Some(0))]
    #[case::string(r#""27.95""#, Some(2795))]
    #[case::blanks(r#"" 27.95 ""#, Some(2795))]
    #[case::dollars(r#""$ 1,234.50""#, Some(123_450))]
    #[case::a_currency_behind(r#""12.50 USD""#, Some(1250))]
    #[case::a_currency_behind_in_small_letters(r#""12.5 usd""#, Some(1250))]
    #[case::a_currency_without_a_blank(r#""12.50USD""#, Some(1250))]
    #[case::a_currency_before(r#""USD 1,234.50""#, Some(123_450))]
    #[case::a_currency_and_its_sign(r#""US$12.50""#, Some(1250))]
    #[case::a_sign_behind(r#""12.50 US$""#, Some(1250))]
    #[case::a_sign_and_a_currency(r#""$12.50 USD""#, Some(1250))]
    #[case::a_no_break_space("\"12.50\u{a0}USD\"", Some(1250))]
    #[case::a_negative_amount(r#""-12.50 USD""#, None)]
    #[case::another_currency(r#""12.50 CAD""#, None)]
    #[case::another_sign(r#""€12.50""#, None)]
    #[case::a_currency_alone(r#""USD""#, None)]
    #[case::no_leading_digit(r#"".5""#, Some(50))]
    #[case::trailing_point(r#""5.""#, Some(500))]
    #[case::half_a_cent_goes_up("1.005", Some(101))]
    #[case::less_than_half_goes_down("1.00499999", Some(100))]
    #[case::float_noise("28.349999999999998", Some(2835))]
    #[case::exponent("1.2e1", Some(1200))]
    #[case::small_exponent("5e-3", Some(1))]
    #[case::tiny("1e-9", Some(0))]
    #[case::carries("9.995", Some(1000))]
    #[case::negative("-1", None)]
    #[case::too_large("21474836.48", None)]
    #[case::huge_exponent("1e999999999999", None)]
    #[case::decimal_comma(r#""12,50""#, None)]
    #[case::word(r#""call us""#, None)]
    #[case::empty(r#""""#, None)]
    #[case::only_a_point(r#"".""#, None)]
    #[case::null("null", None)]
    #[case::list("[1]", None)]
    #[case::two_points(r#""1.2.3""#, None)]
    #[case::a_second_point_behind_the_cents(r#""1.234.56""#, None)]
    #[case::a_word_behind_the_cents(r#""12.500USD""#, None)]
    fn money_is_cents_rounded_half_up(#[case] json: &str, #[case] expected: Option<i32>) {
        assert_eq!(cents(json), expected);
    }

    #[rstest]
    #[case::integer("7", Some(7))]
    #[case::begun("7.9", Some(7))]
    #[case::text(r#""7""#, Some(7))]
    #[case::oversold("-3", Some(0))]
    #[case::absurd("1e300", Some(i32::MAX))]
    #[case::null("null", None)]
    fn counts_are_whole_and_not_negative(#[case] json: &str, #[case] expected: Option<i32>) {
        assert_eq!(count(json), expected);
    }

    #[rstest]
    #[case::number("814", Some(814))]
    #[case::text(r#""814""#, Some(814))]
    #[case::with_a_fraction("814.0", Some(814))]
    #[case::nothing("0", Some(0))]
    #[case::below_zero("-1", None)]
    #[case::null("null", None)]
    fn totals_are_read_whatever_their_type(#[case] json: &str, #[case] expected: Option<usize>) {
        assert_eq!(total(json), expected);
    }

    proptest! {
        #[test]
        fn every_amount_of_cents_is_read_back(amount in 0..i32::MAX) {
            let text = format!("{}.{:02}", amount / 100, amount % 100);
            prop_assert_eq!(cents(&text), Some(amount));
            prop_assert_eq!(cents(&format!("\"{text}\"")), Some(amount));
        }

        #[test]
        fn thousandths_round_half_up(thousandths in 0_i64..2_000_000_000) {
            let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            prop_assert_eq!(cents(&text).map(i64::from), Some((thousandths + 5) / 10));
        }

        #[test]
        fn floats_are_read_as_they_print(amount in 0_u32..100_000_000) {
            let price = f64::from(amount) / 100.0;
            prop_assert_eq!(cents(&serde_json::to_string(&price).unwrap()), Some(amount as i32));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (cents(&text), float(&text), count(&text));
        }
    }
}
