//! `Stderr`: what is kept of a tool's messages: the end of them, and the first error.
//!
//! In: bytes as they come, and the secrets that may be among them. Out: text without secrets, in bounded
//! memory. A secret that a bound has cut in two is removed as well.

use std::collections::VecDeque;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Maximum number of bytes kept of the end.
const MAX_TAIL: usize = 64 << 10;
/// Maximum number of bytes kept of a line.
const MAX_LINE: usize = 4 << 10;
const MASK: &str = "***";
/// Characters that programs do not write into addresses as they are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const ENCODED_IN_PATHS: &AsciiSet = &ENCODED.remove(b'/');

pub struct Stderr {
    tail: VecDeque<u8>,
    was_cut: bool,
    line: Line,
    first_error: Option<String>,
    last_line: Option<String>,
    masks: Masks,
}

impl Stderr {
    pub fn new(secrets: Vec<String>) -> Stderr {
        Stderr {
            tail: VecDeque::new(),
            was_cut: false,
            line: Line::default(),
            first_error: None,
            last_line: None,
            masks: Masks::new(secrets),
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        let surplus = self.tail.len().saturating_sub(MAX_TAIL);
        self.was_cut |= surplus > 0;
        self.tail.drain(..surplus);
        let mut lines = bytes.split(|byte| *byte == b'\n');
        self.line.push(lines.next().unwrap_or_default());
        for begun in lines {
            self.end_line();
            self.line.push(begun);
        }
    }

    /// The end of stderr, and its first error; where no line says that it is one, the last line of a tool
    /// that `failed`.
    pub fn finish(mut self, failed: bool) -> (String, Option<String>) {
        self.end_line();
        let text = String::from_utf8_lossy(self.tail.make_contiguous()).into_owned();
        let masked = self.masks.apply(&text);
        let tail = if self.was_cut { self.masks.without_cut_beginning(&masked) } else { &masked };
        (tail.to_owned(), self.first_error.or(self.last_line.filter(|_| failed)))
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line.bytes).into_owned();
        if self.first_error.is_some() || text.trim().is_empty() {
            return;
        }
        let masked = self.masks.apply(&text);
        let kept = if line.was_cut { self.masks.without_cut_end(&masked) } else { &masked };
        let kept = kept.trim().to_owned();
        match kept.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("error")) {
            true => self.first_error = Some(kept),
            false => self.last_line = Some(kept),
        }
    }
}

#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    was_cut: bool,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.bytes.len());
        self.was_cut |= bytes.len() > room;
        self.bytes.extend(bytes.iter().take(room));
    }
}

/// Texts that must not be shown; the longest first, since one may contain another.
struct Masks(Vec<String>);

impl Masks {
    fn new(secrets: Vec<String>) -> Masks {
        let lines = secrets.iter().flat_map(|secret| secret.lines()).map(str::trim).filter(|line| !line.is_empty());
        let mut texts: Vec<String> = lines.flat_map(|line| encodings(line).chain([line.to_owned()])).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        Masks(texts)
    }

    fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }

    fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }

    /// Cuts the text to its first whole line, or at least past the rest of a secret.
    fn without_cut_beginning<'a>(&self, text: &'a str) -> &'a str {
        let from = text.find('\n').map_or(self.longest(), |end| end + 1);
        text.get(text.ceil_char_boundary(from.min(text.len()))..).unwrap_or_default()
    }

    fn without_cut_end<'a>(&self, text: &'a str) -> &'a str {
        let to = text.floor_char_boundary(text.len().saturating_sub(self.longest()));
        text.get(..to).unwrap_or_default()
    }
}

/// Forms in which programs write it into addresses: all but letters, digits and `-._~` as `%XX` or `%xx`; some leave a
/// slash, or write a plus for a space.
fn encodings(text: &str) -> impl Iterator<Item = String> {
    let encoded = [ENCODED, ENCODED_IN_PATHS].map(|set| utf8_percent_encode(text, set).to_string());
    let with_plus = encoded.clone().map(|encoded| encoded.replace("%20", "+"));
    encoded.into_iter().chain(with_plus).flat_map(|encoded| [in_lower_case(&encoded), encoded])
}

/// The digits behind each `%`; a percent sign itself is `%25`.
fn in_lower_case(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(2.min(part.len()));
        text.extend(["%", &digits.to_ascii_lowercase(), rest]);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn kept(secrets: &[&str], chunks: &[&[u8]]) -> (String, Option<String>) {
        let mut stderr = Stderr::new(secrets.iter().map(|secret| (*secret).to_owned()).collect());
        for chunk in chunks {
            stderr.push(chunk);
        }
        stderr.finish(true)
    }

    #[rstest]
    #[case::whole("%2F%20")]
    #[case::with_a_slash("/%20")]
    #[case::with_a_plus("%2F+")]
    #[case::with_both("/+")]
    #[case::in_lower_case("%2f%20")]
    fn a_secret_in_an_address_is_masked_however_it_was_written(#[case] written: &str) {
        let ends = written.replacen("%20", "c%20", 1).replacen('+', "c+", 1);
        let line = format!("GET http://a/?p=b{ends}d\n");
        let (stderr, _) = kept(&["b/c d"], &[line.as_bytes()]);
        assert_eq!(stderr, "GET http://a/?p=***\n");
    }

    #[rstest]
    #[case::none("", None)]
    #[case::the_first("info\nerror\ta\tb\nERROR: c\n", Some("error\ta\tb"))]
    #[case::in_any_case("ERROR: c\n", Some("ERROR: c"))]
    #[case::without_newline("x\nError", Some("Error"))]
    #[case::else_the_last_line("Traceback:\n  File\nValueError: x\n\n", Some("ValueError: x"))]
    fn the_first_error_is_found(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(kept(&[], &[text.as_bytes()]).1.as_deref(), expected);
    }

    #[test]
    fn a_tool_that_did_not_fail_has_no_error_in_its_last_line() {
        let mut stderr = Stderr::new(vec![]);
        stderr.push(b"all is well\n");
        assert_eq!(stderr.finish(false), ("all is well\n".to_owned(), None));
    }

    #[rstest]
    #[case::plain(&["geheim"], "a geheim b", "a *** b")]
    #[case::encoded(&["p@ss wörd"], "?p=p%40ss%20w%C3%B6rd", "?p=***")]
    #[case::the_longest_first(&["abc", "abcdef"], "abcdef abc", "*** ***")]
    #[case::each_line(&["one\ntwo\n"], "two one", "*** ***")]
    #[case::empty(&["", "\n"], "text", "text")]
    fn secrets_are_masked(#[case] secrets: &[&str], #[case] text: &str, #[case] expected: &str) {
        let (tail, first) = kept(secrets, &[text.as_bytes()]);
        assert_eq!((tail.as_str(), first.as_deref()), (expected, Some(expected)));
    }

    proptest! {
        /// Wherever the chunks and the bounds cut it, and however long the lines are.
        #[test]
        fn no_part_of_a_secret_of_five_letters_is_kept(
            before in 0_usize..5000, repeats in 1_usize..9, gap in 0_usize..9000, chunk in 1_usize..7000, newline in any::<bool>()
        ) {
            let secret = "Q7Z4X9W2K5V8";
            let end = if newline { "\n" } else { "" };
            let text: String = (0..repeats * 9).map(|_| format!("{}{secret}{}{end}", "a".repeat(before), "b".repeat(gap))).collect();
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(chunk).collect();
            let (tail, first) = kept(&[secret], &chunks);
            for at in 0..secret.len() - 4 {
                let part = &secret[at..at + 5];
                prop_assert!(!tail.contains(part) && !first.as_deref().unwrap_or_default().contains(part));
            }
        }

        #[test]
        fn any_bytes_are_kept_in_bounds(bytes in proptest::collection::vec(any::<u8>(), 0..2000), secret in ".{0,9}") {
            let (_, first) = kept(&[&secret], &[&bytes, &bytes]);
            prop_assert!(first.unwrap_or_default().len() <= 3 * MAX_LINE);
        }
    }
}
