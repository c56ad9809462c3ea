//! Statements with numbers for the names of their values, made by the compiler.
//!
//! In: a file with `$store`, and the names in the order in which Rust gives the values. Out: the text with `$1`. In the
//! file, `{folder/file.sql}` is replaced by one of [`PARTS`], and `{direction}` and `{beyond}` for the words of an [`AgeSort`].
//! Comments stay as they are.

use super::file::sql;
use contract::age_sort::AgeSort;

/// The text of a file with numbers for its names, made by the compiler. Each name of the first list is used.
macro_rules! numbered {
    ($file:literal, $order:expr, [$($names:expr),*]) => {{
        const SOURCE: $crate::statements::Source = $crate::statements::Source {
            text: $crate::statements::sql!($file),
            order: $order,
            names: &[$($names),*],
        };
        const TEXT: $crate::statements::Text<{ SOURCE.length() }> = SOURCE.numbered();
        const STATEMENT: &str = TEXT.as_str();
        STATEMENT
    }};
}

pub(crate) use numbered;

/// Files that other statements include.
const PARTS: [(&str, &str); 8] = [
    ("analytics/sales.sql", sql!("analytics/sales.sql")),
    ("analytics/sales_of_days.sql", sql!("analytics/sales_of_days.sql")),
    ("exports/products/filters.sql", sql!("exports/products/filters.sql")),
    ("products/search/found.sql", sql!("products/search/found.sql")),
    ("products/search/listed.sql", sql!("products/search/listed.sql")),
    ("stores/views/filters.sql", sql!("stores/views/filters.sql")),
    ("tasks/views/columns.sql", sql!("tasks/views/columns.sql")),
    ("tasks/views/filters.sql", sql!("tasks/views/filters.sql")),
];

/// A statement's file, and what is written in it.
pub struct Source {
    pub text: &'static str,
    pub order: Option<AgeSort>,
    /// The first name's number is 1.
    pub names: &'static [&'static [&'static str]],
}

/// A statement with numbers, of at most `N` bytes; of a longer one, only the length counts.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
    /// Bit by bit: the names that it uses.
    used: u128,
}

impl Source {
    pub const fn length(&self) -> usize {
        self.numbered::<0>().length
    }

    pub const fn numbered<const N: usize>(&self) -> Text<N> {
        let mut out = Text { bytes: [b' '; N], length: 0, used: 0 };
        self.write(self.text.as_bytes(), &mut out);
        let mut place = 0;
        while place < self.names[0].len() {
            let name = self.names[0][place].as_bytes();
            each_name_has_one_value(matches!(self.place(name), Some(first) if first == place), name);
            each_value_is_used(out.used & (1 << place) != 0, name);
            place += 1;
        }
        out
    }

    const fn write<const N: usize>(&self, sql: &[u8], out: &mut Text<N>) {
        let mut rest = sql;
        while !rest.is_empty() {
            let (token, after) = rest.split_at(token(rest));
            match token {
                [b'$', name @ ..] if !name.is_empty() => self.write_number(name, out),
                [b'{', inner @ .., b'}'] => match self.part(inner) {
                    Some(part) => self.write(part, out),
                    None => {
                        out.push_all(b"{");
                        self.write(inner, out);
                        out.push_all(b"}");
                    }
                },
                _ => out.push_all(token),
            }
            rest = after;
        }
    }

    const fn write_number<const N: usize>(&self, name: &[u8], out: &mut Text<N>) {
        let place = self.place(name);
        each_name_has_a_value(place.is_some(), name);
        if let Some(place) = place {
            out.used |= 1 << place;
            out.push_all(b"$");
            out.push_number(place + 1);
        }
    }

    const fn place(&self, name: &[u8]) -> Option<usize> {
        let (mut list, mut before) = (0, 0);
        while list < self.names.len() {
            let mut at = 0;
            while at < self.names[list].len() {
                if is_same(self.names[list][at].as_bytes(), name) {
                    return Some(before + at);
                }
                at += 1;
            }
            before += at;
            list += 1;
        }
        None
    }

    /// The text for a word in braces; None: the braces are of the statement itself.
    const fn part(&self, word: &[u8]) -> Option<&'static [u8]> {
        let (direction, beyond): (&[u8], &[u8]) = match self.order {
            Some(AgeSort::Newest) => (b"DESC", b"<"),
            Some(AgeSort::Oldest) => (b"ASC", b">"),
            None => (b"{direction}", b"{beyond}"),
        };
        match word {
            b"direction" => return Some(direction),
            b"beyond" => return Some(beyond),
            _ => {}
        }
        let mut at = 0;
        while at < PARTS.len() {
            if is_same(PARTS[at].0.as_bytes(), word) {
                return Some(PARTS[at].1.as_bytes());
            }
            at += 1;
        }
        None
    }
}

impl<const N: usize> Text<N> {
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    const fn push_all(&mut self, text: &[u8]) {
        if self.length + text.len() <= N {
            self.bytes.split_at_mut(self.length).1.split_at_mut(text.len()).0.copy_from_slice(text);
        }
        self.length += text.len();
    }

    const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push_all(&[b'0' + (number % 10) as u8]);
    }
}

/// Length of the comment, of the name after `$`, of the word in braces, or of the plain text with which a text begins.
///
/// Plain text is copied at once: the compiler runs this code, and takes long for each step.
const fn token(text: &[u8]) -> usize {
    let mut end = 1;
    match text {
        [b'-', b'-', ..] => {
            while end < text.len() && text[end] != b'\n' {
                end += 1;
            }
        }
        [b'$', ..] => {
            while end < text.len() && (text[end].is_ascii_alphanumeric() || text[end] == b'_') {
                end += 1;
            }
        }
        [b'{', ..] => {
            while end < text.len() && text[end] != b'}' {
                end += 1;
            }
            return if end == text.len() { 1 } else { end + 1 };
        }
        _ => {
            while end < text.len() && !matches!(text[end], b'-' | b'$' | b'{') {
                end += 1;
            }
        }
    }
    end
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

// Each fails the compilation: the compiler shows the name, and the function that refuses it.

const fn each_name_has_a_value(holds: bool, name: &[u8]) {
    assert!(holds, "{}", shown(name));
}

const fn each_value_is_used(holds: bool, name: &[u8]) {
    assert!(holds, "{}", shown(name));
}

const fn each_name_has_one_value(holds: bool, name: &[u8]) {
    assert!(holds, "{}", shown(name));
}

const fn shown(name: &[u8]) -> &str {
    match std::str::from_utf8(name) {
        Ok(name) => name,
        Err(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NAMES: &[&str] = &["store", "limit"];
    const SHARED: &[&str] = &["state", "unused"];

    /// The statement with its values `store` and `limit`, and those of a filter.
    fn numbered(text: &'static str) -> String {
        let text = Source { text, order: Some(AgeSort::Oldest), names: &[NAMES, SHARED] }.numbered::<100>();
        text.as_str().trim_end().to_owned()
    }

    #[rstest]
    #[case::in_the_order_of_rust("id > $limit AND d = $store", "id > $2 AND d = $1")]
    #[case::twice_with_a_cast("$store::text = $store LIMIT $limit", "$1::text = $1 LIMIT $2")]
    #[case::of_a_filter("$state, $store, $limit", "$3, $1, $2")]
    #[case::in_words_of_an_order("ORDER BY $store {direction} > {beyond} $limit", "ORDER BY $1 ASC > > $2")]
    #[case::beside_other_braces("'{}' || '{$store}' || $limit", "'{}' || '{$1}' || $2")]
    #[case::beside_other_dollars("'^a$' || $store || $limit || '{'", "'^a$' || $1 || $2 || '{'")]
    #[case::with_a_comment("$store -- $limit, {direction}\n- $limit", "$1 -- $limit, {direction}\n- $2")]
    fn names_become_numbers(#[case] text: &'static str, #[case] expected: &str) {
        assert_eq!(numbered(text), expected);
    }

    #[test]
    fn a_file_in_braces_is_included_with_its_values() {
        const FILTER: &[&str] = &["q", "group", "platform", "crawl_status", "crawl_enabled", "state"];
        let source = Source { text: "WHERE {stores/views/filters.sql}", order: None, names: &[&[], FILTER] };
        let text = source.numbered::<2_000>();
        assert!(text.as_str().contains("($6::text IS NULL OR d.state = upper($6))"), "{}", text.as_str());
    }

    #[test]
    #[should_panic = "limits"]
    fn a_name_without_a_value_is_refused() {
        numbered("$store $limit $limits");
    }

    #[test]
    #[should_panic = "limit"]
    fn a_value_without_a_use_is_refused() {
        numbered("$store -- $limit");
    }

    #[test]
    #[should_panic = "store"]
    fn two_values_of_one_name_are_refused() {
        Source { text: "$store", order: None, names: &[&["store", "store"]] }.length();
    }
}
