//! The address in a header `Location`, as browsers read it.

use std::fmt::Write;

use url::{ParseError, Url};

/// The address that `location` names, seen from the one that was asked. Bytes outside of ASCII, such as those of UTF-8, are
/// percent-encoded as they are.
pub fn redirected(asked: &Url, location: &[u8]) -> Result<Url, ParseError> {
    let mut text = String::with_capacity(location.len());
    for byte in location {
        match byte.is_ascii() {
            true => text.push(char::from(*byte)),
            // a text takes everything
            false => drop(write!(text, "%{byte:02X}")),
        }
    }
    asked.join(&text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_path(b"/b?c=d", "https://a.example/b?c=d")]
    #[case::relative(b"b", "https://a.example/x/b")]
    #[case::utf8("/caf\u{e9}?q=\u{fc}".as_bytes(), "https://a.example/caf%C3%A9?q=%C3%BC")]
    #[case::utf8_in_a_name("//b\u{fc}cher.example/".as_bytes(), "https://xn--bcher-kva.example/")]
    #[case::latin_1(b"/caf\xe9", "https://a.example/caf%E9")]
    #[case::encoded_already(b"/caf%C3%A9", "https://a.example/caf%C3%A9")]
    #[case::blanks(b"/a b", "https://a.example/a%20b")]
    fn an_address_is_read_as_browsers_read_it(#[case] location: &[u8], #[case] expected: &str) {
        let asked = "https://a.example/x/y".parse().unwrap();
        assert_eq!(redirected(&asked, location).unwrap().as_str(), expected);
    }
}
