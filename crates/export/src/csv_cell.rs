//! Cells of CSV that spreadsheets would read as formulas: written with a `'` in front, and read back without it.
//!
//! In: one cell. Out: the same, as text.

use std::borrow::Cow;

/// The cell as it is written. Numbers stay numbers.
pub fn escaped(cell: &str) -> Cow<'_, str> {
    if is_formula(cell) { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

/// The cell that was written so.
pub fn unescaped(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|cell| is_formula(cell)).unwrap_or(cell)
}

/// Whether it begins as a formula does, behind any number of `'`, so that reading is the inverse of writing.
fn is_formula(cell: &str) -> bool {
    let bare = cell.trim_start_matches('\'');
    bare.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number(bare)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::formula("=HYPERLINK(\"https://a\")", "'=HYPERLINK(\"https://a\")")]
    #[case::plus("+1 602 555 0100", "'+1 602 555 0100")]
    #[case::minus("-A1", "'-A1")]
    #[case::at("@SUM(A1)", "'@SUM(A1)")]
    #[case::tab("\t=1", "'\t=1")]
    #[case::carriage_return("\r=1", "'\r=1")]
    #[case::written_twice("'=1", "''=1")]
    #[case::negative_number("-12.50", "-12.50")]
    #[case::number_with_a_sign("+5", "+5")]
    #[case::number_with_an_exponent("-1e-3", "-1e-3")]
    #[case::infinity("-inf", "'-inf")]
    #[case::sign_alone("-", "'-")]
    #[case::apostrophe("'tis", "'tis")]
    #[case::inside("a=b", "a=b")]
    #[case::empty("", "")]
    fn a_formula_is_written_as_text(#[case] cell: &str, #[case] written: &str) {
        assert_eq!((escaped(cell).as_ref(), unescaped(written)), (written, cell));
    }

    proptest! {
        #[test]
        fn every_cell_is_read_back(cell in "['=+@\t0-9a.-]{0,6}") {
            let written = escaped(&cell);
            prop_assert_eq!(unescaped(&written), cell.as_str());
        }
    }
}
