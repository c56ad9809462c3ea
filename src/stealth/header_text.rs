//! Header values as browsers keep them: a byte is the character of its number, whatever its encoding was.
//!
//! In: a value of an answer. Out: its text, an address in it, or the same bytes for a request.

use http::{HeaderMap, HeaderValue, header};
use url::Url;

pub fn text(value: &HeaderValue) -> String {
    value.as_bytes().iter().copied().map(char::from).collect()
}

/// The value that `text` was read of; None where no header can have it.
pub fn value(text: &str) -> Option<HeaderValue> {
    let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    // a text of our own with other characters goes out as UTF-8
    HeaderValue::from_bytes(&bytes.unwrap_or_else(|_| text.as_bytes().to_vec())).ok()
}

/// The address to which an answer of `url` redirects.
pub fn redirected(url: &Url, headers: &HeaderMap) -> Option<Url> {
    domain::http::location::redirected(url, headers.get(header::LOCATION)?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::ascii(b"a=1; Path=/")]
    #[case::utf8("city=Z\u{fc}rich".as_bytes())]
    #[case::latin_1(b"city=Z\xfcrich")]
    fn a_value_goes_back_as_it_came(#[case] bytes: &[u8]) {
        let came = HeaderValue::from_bytes(bytes).unwrap();
        assert_eq!(value(&text(&came)), Some(came));
    }

    #[test]
    fn a_text_of_our_own_goes_out_as_utf8() {
        assert_eq!(value("\u{20ac}").unwrap().as_bytes(), "\u{20ac}".as_bytes());
        assert_eq!(value("a\nb"), None);
    }
}
