//! Byte order marks in front of a text, which JSON has none of: UTF-8's is taken off, and a text in UTF-16 becomes UTF-8.

use bytes::Bytes;

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text behind its mark, in UTF-8; none if it has no mark. Half a character becomes U+FFFD.
pub fn without_mark(body: &Bytes) -> Option<Bytes> {
    match body.as_ref() {
        [0xff, 0xfe, text @ ..] => Some(from_utf16(text, u16::from_le_bytes)),
        [0xfe, 0xff, text @ ..] => Some(from_utf16(text, u16::from_be_bytes)),
        text if text.starts_with(UTF8_MARK) => Some(body.slice(UTF8_MARK.len()..)),
        _ => None,
    }
}

pub fn without_utf8_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(UTF8_MARK).unwrap_or(text)
}

fn from_utf16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Bytes {
    let (pairs, _) = text.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
    }

    #[rstest]
    #[case::none(b"{}".to_vec(), None)]
    #[case::empty(Vec::new(), None)]
    #[case::utf8("\u{feff}{\"a\":\"ü\"}".as_bytes().to_vec(), Some("{\"a\":\"ü\"}"))]
    #[case::utf16_le(utf16("{\"a\":\"🌿\"}", u16::to_le_bytes), Some("{\"a\":\"🌿\"}"))]
    #[case::utf16_be(utf16("{\"a\":1}", u16::to_be_bytes), Some("{\"a\":1}"))]
    #[case::half_a_character([utf16("[]", u16::to_le_bytes), vec![0x3c, 0xd8]].concat(), Some("[]\u{fffd}"))]
    #[case::half_a_unit([utf16("[]", u16::to_le_bytes), vec![0x3c]].concat(), Some("[]"))]
    fn a_mark_is_taken_off(#[case] body: Vec<u8>, #[case] text: Option<&str>) {
        assert_eq!(without_mark(&Bytes::from(body)), text.map(|text| Bytes::from(text.to_owned())));
    }
}
