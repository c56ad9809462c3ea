//! `text`: an answer's bytes as text, as browsers read them.

use std::borrow::Cow;

/// Bytes that are not UTF-8 become U+FFFD: one in a name costs that character alone. None: the answer is cut
/// within a character.
pub fn text(body: &[u8]) -> Option<Cow<'_, str>> {
    if let Ok(text) = simdutf8::basic::from_utf8(body) {
        return Some(Cow::Borrowed(text));
    }
    match std::str::from_utf8(body) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(error) if error.error_len().is_none() => None,
        Err(_) => Some(String::from_utf8_lossy(body)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::utf8("Café".as_bytes(), Some("Café"))]
    #[case::latin1(b"Caf\xe9 \"1g\"", Some("Caf\u{fffd} \"1g\""))]
    #[case::cut_within_a_character(b"Caf\xc3", None)]
    #[case::nothing(b"", Some(""))]
    fn a_byte_that_is_no_utf8_costs_itself_alone(#[case] body: &[u8], #[case] expected: Option<&str>) {
        assert_eq!(text(body).as_deref(), expected);
    }
}
