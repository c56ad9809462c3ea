//! Sizes as people write them: a number and a unit (`512B`, `64KiB`, `32MiB`, `1GiB`).

use serde::de::Error;
use serde::{Deserialize, Deserializer};

pub fn parse(text: &str) -> Result<usize, String> {
    let refused = || format!("expected a size such as 512B, 64KiB, 32MiB or 1GiB, got '{text}'");
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: usize = text[..digits].parse().map_err(|_| refused())?;
    let unit = match text[digits..].trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(refused()),
    };
    number.checked_mul(unit).ok_or_else(refused)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    parse(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// An empty string, or 0, is None.
pub mod optional {
    use super::*;

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(None);
        }
        let size = parse(&text).map_err(D::Error::custom)?;
        Ok(Some(size).filter(|size| *size > 0))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("512", Some(512))]
    #[case("512B", Some(512))]
    #[case("64 KiB", Some(65_536))]
    #[case("32MiB", Some(33_554_432))]
    #[case("32MB", None)]
    #[case("-1B", None)]
    #[case("", None)]
    #[case("99999999999999999GiB", None)]
    fn a_number_and_a_binary_unit_is_a_size(#[case] text: &str, #[case] bytes: Option<usize>) {
        assert_eq!(parse(text).ok(), bytes);
    }
}
