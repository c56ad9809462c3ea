//! Durations as people write them: numbers with units (`500ms`, `4s`, `10m`, `1h 30m`, `7d`), in and out as a
//! [`Duration`].

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Maximum that is longer than any sensible setting, and short enough for every clock to add.
const MAX_DURATION: Duration = Duration::from_secs(3650 * 86_400);

/// Reads a duration by the grammar of `humantime`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let refused = || format!("expected a duration such as 500ms, 4s, 10m, 4h or 7d, got '{text}'");
    // humantime reads 10M as ten months
    let parsed = (!text.contains(char::is_uppercase)).then(|| humantime::parse_duration(text));
    let duration = parsed.and_then(Result::ok).ok_or_else(refused)?;
    if duration > MAX_DURATION {
        return Err(format!("'{text}' is longer than ten years"));
    }
    Ok(duration)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    parse(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// An empty string is None.
pub mod optional {
    use super::*;

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(None);
        }
        parse(&text).map(Some).map_err(D::Error::custom)
    }
}

/// A table of durations.
pub mod by_name {
    use std::collections::BTreeMap;

    use super::*;

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Duration>, D::Error> {
        let texts = BTreeMap::<String, String>::deserialize(from)?;
        texts.into_iter().map(|(name, text)| Ok((name, parse(&text).map_err(D::Error::custom)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("500ms", 500)]
    #[case("4s", 4_000)]
    #[case("0.5s", 500)]
    #[case("1h 30m", 5_400_000)]
    #[case("10m", 600_000)]
    #[case("4 h", 14_400_000)]
    #[case("7d", 604_800_000)]
    #[case("0s", 0)]
    fn a_number_and_a_unit_is_a_duration(#[case] text: &str, #[case] millis: u64) {
        assert_eq!(parse(text), Ok(Duration::from_millis(millis)));
    }

    #[rstest]
    fn anything_else_is_refused_with_an_example(
        #[values("", "4", "s", "-4s", "4 fortnights", "10M", "1e3s", "NaNs", "infs", "99999d")] text: &str,
    ) {
        let fault = parse(text).unwrap_err();
        assert!(fault.contains("500ms") || fault.contains("ten years"), "{fault}");
    }
}
