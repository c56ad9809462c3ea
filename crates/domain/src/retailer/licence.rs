//! The number of a licence. In: text as a platform or a register writes it. Out: its letters and digits, as capitals; none where
//! the text stands for no licence.

const MIN_LENGTH: usize = 4;
/// Maximum length of a number; those of the states have at most 30 letters and digits.
const MAX_LENGTH: usize = 64;

pub(super) fn number(text: &str) -> Option<String> {
    let kept = text.chars().filter(char::is_ascii_alphanumeric).take(MAX_LENGTH + 1);
    let number: String = kept.map(|char| char.to_ascii_uppercase()).collect();
    let is_number = (MIN_LENGTH..=MAX_LENGTH).contains(&number.len()) && number.bytes().any(is_digit_above_zero);
    is_number.then_some(number).filter(|number| !is_filler(number))
}

fn is_digit_above_zero(byte: u8) -> bool {
    (b'1'..=b'9').contains(&byte)
}

/// Whether people type it where a form demands a number.
fn is_filler(number: &str) -> bool {
    let first = number.bytes().next();
    number.bytes().all(|byte| Some(byte) == first) || "1234567890".starts_with(number)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("00000100ESAA", Some("00000100ESAA"))]
    #[case::signs(" c10-0000123-lic ", Some("C100000123LIC"))]
    #[case::label_free("№ 402R-00123", Some("402R00123"))]
    #[case::short("A-1", None)]
    #[case::none("None", None)]
    #[case::pending("PENDING", None)]
    #[case::zeros("0000-0000", None)]
    #[case::one_digit("9999", None)]
    #[case::counted("12345", None)]
    #[case::empty("", None)]
    fn a_number_is_its_letters_and_digits(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(number(text).as_deref(), expected);
    }

    #[test]
    fn a_long_text_is_no_number() {
        assert_eq!(number(&"A1".repeat(5_000)), None);
    }
}
