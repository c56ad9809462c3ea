//! The key by which spellings of a brand are one. It must not change what is shown, which stays as the platform writes it.
//!
//! SQL has the same as `brand_key`.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Returns the name in lower case and composed form, without invisible characters and doubled blanks.
pub fn key(name: &str) -> String {
    let visible: Cow<'_, str> = match name.is_ascii() {
        true => name.into(),
        false => name.chars().filter(|char| !is_invisible(*char)).nfc().collect(),
    };
    visible.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Soft hyphens, zero-width characters, marks of direction and of byte order.
pub(crate) fn is_invisible(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("Bud Bros", "bud bros")]
    #[case::case_("BUD bROS", "bud bros")]
    #[case::blanks("  Bud \t Bros ", "bud bros")]
    #[case::no_break_space("Bud\u{a0}Bros", "bud bros")]
    #[case::narrow_space("Bud\u{202f}\u{2009}Bros", "bud bros")]
    #[case::zero_width("Bud\u{200b} Bros\u{feff}", "bud bros")]
    #[case::joiner_between_blanks("Bud \u{200d} Bros", "bud bros")]
    #[case::soft_hyphen("Bud Br\u{ad}os", "bud bros")]
    #[case::composed("Caf\u{e9}", "caf\u{e9}")]
    #[case::decomposed("Cafe\u{301}", "caf\u{e9}")]
    #[case::decomposed_capital("CAFE\u{301}", "caf\u{e9}")]
    #[case::invisible_alone("\u{200b}", "")]
    fn spellings_of_a_brand_have_one_key(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(key(name), expected);
    }
}
