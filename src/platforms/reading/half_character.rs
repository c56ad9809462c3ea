//! Half characters in JSON: `\ud83c` without the `\udf3f` that makes it a character, as a server leaves it that cuts texts by
//! length. No text can hold one, so that readers refuse the whole text.

use std::borrow::Cow;

/// The first half of a pair, and the second one.
const FIRST: std::ops::RangeInclusive<u16> = 0xd800..=0xdbff;
const SECOND: std::ops::RangeInclusive<u16> = 0xdc00..=0xdfff;
/// Length of `\ud83c`.
const ESCAPE: usize = 6;

/// The JSON with U+FFFD in place of each half character.
pub fn with_whole_characters(json: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let length = match (unit(json, at), unit(json, at + ESCAPE)) {
            (Some(first), Some(second)) if FIRST.contains(&first) && SECOND.contains(&second) => 2 * ESCAPE,
            (Some(half), _) if FIRST.contains(&half) || SECOND.contains(&half) => {
                whole.push_str(json.get(copied..at).unwrap_or_default());
                whole.push(char::REPLACEMENT_CHARACTER);
                copied = at + ESCAPE;
                ESCAPE
            }
            // `\\` and any other escape
            _ => 2,
        };
        at += length;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    whole.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The unit of UTF-16 that is escaped there.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hex { u16::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::first_half(r#""a \ud83c""#, "a \u{fffd}")]
    #[case::second_half(r#""\uDF3F b""#, "\u{fffd} b")]
    #[case::a_pair(r#""\ud83c\udf3f""#, "🌿")]
    #[case::a_half_before_a_pair(r#""\ud83c\ud83c\udf3f""#, "\u{fffd}🌿")]
    #[case::the_wrong_order(r#""\udf3f\ud83c""#, "\u{fffd}\u{fffd}")]
    #[case::before_another_escape(r#""\ud83c\n\"x""#, "\u{fffd}\n\"x")]
    #[case::an_escaped_backslash(r#""\\ud83c""#, r"\ud83c")]
    #[case::behind_an_escaped_backslash(r#""\\\ud83c""#, "\\\u{fffd}")]
    #[case::other_units(r#""\u00fc\ud83c\u0041""#, "ü\u{fffd}A")]
    fn half_a_character_is_replaced(#[case] json: &str, #[case] text: &str) {
        assert_eq!(serde_json::from_str::<String>(&with_whole_characters(json)).unwrap(), text);
    }

    proptest! {
        #[test]
        fn what_can_be_read_is_left_as_it_is(text in ".*") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(with_whole_characters(&json), json.as_str());
        }

        #[test]
        fn no_text_panics(text in r"(\\|u|d8|dc|[0-9a-f]|ü){0,40}") {
            let _ = with_whole_characters(&text);
        }
    }
}
