//! Texts of strangers, before they are kept.

/// Removes NUL, which no database keeps, and the white space around the text.
pub fn clean(text: &str) -> String {
    text.replace('\0', "").trim().to_owned()
}

/// Returns at most `max` bytes of the clean text, cut between two characters.
pub fn bounded(text: &str, max: usize) -> String {
    let mut text = clean(text);
    text.truncate(text.floor_char_boundary(max));
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: usize = 256 * 1024;

    proptest! {
        #[test]
        fn a_bounded_text_is_the_beginning_of_the_text(text in "\\PC{0,40}", times in 1usize..20_000) {
            let long = text.repeat(times);
            let cut = bounded(&long, MAX);
            prop_assert!(cut.len() <= MAX && long.trim().starts_with(&cut));
        }
    }
}
