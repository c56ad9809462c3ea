//! Takes gzip off a buffer that is there as a whole, straight into a buffer of the right size.
//!
//! In: the members of a body or file. Out: their text, of at most as many bytes as the caller allows. It must
//! not know where the bytes come from.

use flate2::{Decompress, FlushDecompress, Status};
use thiserror::Error;

use crate::whole_member;

const WINDOW_BITS: u8 = 15;
/// The first bytes of a member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Ratio of inflated to compressed menu pages, roughly; only a first guess of a buffer.
const USUAL_RATIO: usize = 13;
/// A member's own word for its size is trusted up to this.
const MAX_TRUSTED_RATIO: usize = 64;

#[derive(Debug, Error)]
pub enum InflateError {
    #[error("the body ends too early")]
    Truncated,
    #[error("{0}")]
    Broken(String),
    #[error("more than {limit} bytes")]
    TooLarge { limit: usize },
}

/// Text of members that other bytes may follow.
#[derive(Debug, PartialEq, Eq)]
pub struct Inflated {
    pub text: Vec<u8>,
    /// Number of bytes of the members.
    pub used: usize,
}

/// Inflates the members at the beginning of `raw` to at most `limit` bytes, as browsers do: padding and other bytes
/// behind them are left.
pub fn leading_gzip(raw: &[u8], limit: usize) -> Result<Inflated, InflateError> {
    let mut text = Vec::with_capacity(expected_size(raw).min(limit + 1));
    let mut rest = inflate_member(raw, &mut text, limit)?;
    while rest.starts_with(&MAGIC) {
        rest = inflate_member(rest, &mut text, limit)?;
    }
    Ok(Inflated { text, used: raw.len() - rest.len() })
}

/// Inflates gzip members, one after the other and nothing behind them, to at most `limit` bytes.
pub fn gzip(raw: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let mut text = Vec::with_capacity(expected_size(raw).min(limit + 1));
    let mut rest = raw;
    while !rest.is_empty() {
        rest = inflate_member(rest, &mut text, limit)?;
    }
    Ok(text)
}

/// Appends the first member of `raw` to `text` and returns the bytes after it.
fn inflate_member<'r>(raw: &'r [u8], text: &mut Vec<u8>, limit: usize) -> Result<&'r [u8], InflateError> {
    match whole_member::append(raw, text) {
        Some(_) if text.len() > limit => Err(InflateError::TooLarge { limit }),
        Some(used) => Ok(raw.get(used..).unwrap_or_default()),
        None => stream_member(raw, text, limit),
    }
}

/// The same of a member of any size and state, and with an error that names its damage.
fn stream_member<'r>(raw: &'r [u8], text: &mut Vec<u8>, limit: usize) -> Result<&'r [u8], InflateError> {
    let mut member = Decompress::new_gzip(WINDOW_BITS);
    loop {
        let rest = raw.get(member.total_in() as usize..).unwrap_or_default();
        let status = member.decompress_vec(rest, text, FlushDecompress::None);
        let status = status.map_err(|error| InflateError::Broken(error.to_string()))?;
        if text.len() > limit {
            return Err(InflateError::TooLarge { limit });
        }
        if status == Status::StreamEnd {
            return Ok(raw.get(member.total_in() as usize..).unwrap_or_default());
        }
        if text.len() < text.capacity() {
            return Err(InflateError::Truncated);
        }
        text.reserve_exact(text.capacity().clamp(1, limit + 1 - text.len()));
    }
}

/// The last member ends with its size, which is the whole's where it is the only one.
fn expected_size(raw: &[u8]) -> usize {
    let announced = raw.last_chunk().map_or(0, |size| u32::from_le_bytes(*size) as usize);
    announced.min(raw.len().saturating_mul(MAX_TRUSTED_RATIO)).max(raw.len().saturating_mul(USUAL_RATIO))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn kind(result: &Result<Vec<u8>, InflateError>) -> &'static str {
        match result {
            Ok(_) => "text",
            Err(InflateError::Truncated) => "truncated",
            Err(InflateError::Broken(_)) => "broken",
            Err(InflateError::TooLarge { .. }) => "too large",
        }
    }

    #[rstest]
    #[case::at_the_limit(1000, "text")]
    #[case::above_it(999, "too large")]
    #[case::far_above_it(0, "too large")]
    fn a_text_is_inflated_to_its_limit(#[case] limit: usize, #[case] expected: &str) {
        assert_eq!(kind(&gzip(&member(&[b'x'; 1000]), limit)), expected);
        assert_eq!(kind(&gzip(&[member(&[b'x'; 500]), member(&[b'x'; 500])].concat(), limit)), expected);
    }

    #[test]
    fn a_bomb_takes_no_more_than_its_limit() {
        let bomb = member(&vec![0; 32 << 20]);
        let mut text = Vec::new();
        assert!(matches!(inflate_member(&bomb, &mut text, 1 << 20), Err(InflateError::TooLarge { .. })));
        assert!(text.capacity() <= (1 << 20) + 1);
    }

    #[test]
    fn a_size_that_is_a_lie_is_not_believed() {
        let mut lying = member(b"text");
        let size = lying.len() - 4;
        lying[size..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(kind(&gzip(&lying, 1 << 20)), "broken");
        assert!(expected_size(&lying) < 4096);
    }

    #[rstest]
    #[case::no_gzip(b"{}".to_vec(), "broken")]
    #[case::text_behind_a_member([member(b"text"), b"more".to_vec()].concat(), "broken")]
    #[case::a_changed_checksum({ let mut raw = member(b"text"); let at = raw.len() - 6; raw[at] ^= 1; raw }, "broken")]
    #[case::only_a_header(member(b"text")[..10].to_vec(), "truncated")]
    #[case::half_a_second_member([member(b"text"), member(b"more")[..12].to_vec()].concat(), "truncated")]
    fn damage_is_named(#[case] raw: Vec<u8>, #[case] expected: &str) {
        assert_eq!(kind(&gzip(&raw, 1 << 20)), expected);
    }

    #[rstest]
    #[case::nothing(b"")]
    #[case::line_feed(b"\n")]
    #[case::zeros(&[0; 512])]
    #[case::words(b"<!-- served by cache -->")]
    #[case::half_a_magic(&[0x1f])]
    fn bytes_behind_the_members_of_an_answer_are_left(#[case] behind: &[u8]) {
        let members = [member(b"text"), member(b" and more")].concat();
        let inflated = leading_gzip(&[&members, behind].concat(), 1 << 20).unwrap();
        assert_eq!(inflated, Inflated { text: b"text and more".to_vec(), used: members.len() });
    }

    #[rstest]
    #[case::half_a_second_member([member(b"text"), member(b"more")[..12].to_vec()].concat(), "truncated")]
    #[case::no_gzip(b"{}".to_vec(), "broken")]
    #[case::half_a_member(member(b"text")[..12].to_vec(), "truncated")]
    fn damage_of_members_is_named_whatever_follows(#[case] raw: Vec<u8>, #[case] expected: &str) {
        assert_eq!(kind(&leading_gzip(&raw, 1 << 20).map(|inflated| inflated.text)), expected);
    }

    proptest! {
        #[test]
        fn members_come_back_as_one_text(parts in prop::collection::vec(prop::collection::vec(0..4_u8, 0..3000), 1..4)) {
            let raw: Vec<u8> = parts.iter().flat_map(|part| member(part)).collect();
            prop_assert_eq!(gzip(&raw, 1 << 20).unwrap(), parts.concat());
        }

        #[test]
        fn every_cut_is_truncated(text in prop::collection::vec(0..4_u8, 0..300), cut in any::<prop::sample::Index>()) {
            let raw = member(&text);
            let cut = 1 + cut.index(raw.len() - 1);
            prop_assert_eq!(kind(&gzip(&raw[..cut], 1 << 20)), "truncated");
        }

        #[test]
        fn no_bytes_panic(raw in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = gzip(&raw, 1000);
        }
    }
}
