//! JSON as services send it and tools print it: one odd character of a text costs that character, and not the whole.
//!
//! In: bytes. Out: text for a reader of JSON. It must not know what is in it.

use std::borrow::Cow;

/// The number of bytes of `\ud83c`.
const ESCAPE: usize = 6;

/// UTF-8 without a byte order mark; bytes that are not UTF-8, and halves of a character beyond 16 bits, are U+FFFD.
pub fn repaired(body: &[u8]) -> String {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let text: Cow<'_, str> = String::from_utf8_lossy(body);
    let (mut repaired, mut rest) = (String::with_capacity(text.len()), text.as_ref());
    while let Some(at) = rest.find('\\') {
        repaired.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, length) = match (surrogate(rest), rest.get(ESCAPE..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => (&rest[..2 * ESCAPE], 2 * ESCAPE),
            (Some(_), _) => ("\\ufffd", ESCAPE),
            (None, _) => {
                // an escape of two characters: the second may be a backslash
                let length = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
                (&rest[..length], length)
            }
        };
        repaired.push_str(kept);
        rest = &rest[length..];
    }
    repaired.push_str(rest);
    repaired
}

enum Half {
    High,
    Low,
}

/// The half of a character that an escape at the beginning of the text stands for.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual(br#"{"a":"b\n\u00e4\\"}"#, r#"{"a":"b\n\u00e4\\"}"#)]
    #[case::a_mark(b"\xef\xbb\xbf{}", "{}")]
    #[case::half_an_emoji(br#""\ud83c!""#, r#""\ufffd!""#)]
    #[case::the_other_half(br#""\udf3f""#, r#""\ufffd""#)]
    #[case::a_whole_emoji(br#""\uD83C\uDF3F""#, r#""\uD83C\uDF3F""#)]
    #[case::two_first_halves(br#""\ud83c\ud83c\udf3f""#, r#""\ufffd\ud83c\udf3f""#)]
    #[case::behind_a_backslash(br#""\\ud83c""#, r#""\\ud83c""#)]
    #[case::latin_1(b"\"f\xfcr\"", "\"f\u{fffd}r\"")]
    #[case::cut(br#""\"#, r#""\"#)]
    fn odd_characters_are_replaced(#[case] body: &[u8], #[case] expected: &str) {
        assert_eq!(repaired(body), expected);
    }
}
