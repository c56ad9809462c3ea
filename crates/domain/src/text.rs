//! Text of platforms, as the rules compare it. In: any text, of any length. Out: its first characters in lower case, without
//! accents and without marks that cannot be seen.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::menu::brand::is_invisible;

/// Maximum number of characters that are read of a text; addresses are shorter.
const MAX_CHARS: usize = 200;
/// Maximum number of characters of a text in a sentence.
const MAX_SHOWN: usize = 80;

/// Returns the text with its punctuation, but without apostrophes, which people leave out.
pub(crate) fn folded(text: &str) -> String {
    let read = text.chars().filter(|char| !is_invisible(*char)).take(MAX_CHARS);
    let plain = read.nfkd().filter(|char| !is_combining_mark(*char) && !is_apostrophe(*char));
    plain.flat_map(char::to_lowercase).take(MAX_CHARS).collect()
}

/// Returns the words of a folded text.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the beginning of a text for a sentence, on one line.
pub(crate) fn shown(text: &str) -> String {
    let visible = text.chars().filter(|char| !is_invisible(*char) && !is_direction_mark(*char)).take(MAX_CHARS);
    let visible: String = visible.map(|char| if char.is_control() { ' ' } else { char }).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_SHOWN).collect()
}

fn is_apostrophe(char: char) -> bool {
    matches!(char, '\'' | '`' | '\u{b4}' | '\u{2018}' | '\u{2019}')
}

/// Isolates of direction, which would change the order of the rest of a sentence.
fn is_direction_mark(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::case_("Copper FERN", "copper fern")]
    #[case::accents("Café Verde", "cafe verde")]
    #[case::apostrophes("Joe's, Ann’s", "joes, anns")]
    #[case::invisible("Cop\u{200b}per\u{202e} Fern", "copper fern")]
    #[case::full_width("Ｃｏｐｐｅｒ", "copper")]
    #[case::nothing("", "")]
    fn spellings_are_one(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(folded(text), expected);
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(folded(&"\u{fdfa}".repeat(10_000)).chars().count(), MAX_CHARS);
        assert_eq!(shown(&"x".repeat(10_000)).len(), MAX_SHOWN);
    }

    #[test]
    fn a_sentence_shows_a_text_on_one_line_and_in_its_order() {
        assert_eq!(shown(" 12\u{2067} Example\n\tRd\u{202e} "), "12 Example Rd");
    }
}
