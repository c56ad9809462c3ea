//! Durations as people write them: a number and a unit (`500ms`, `4s`, `10m`, `4h`, `7d`).

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

const DAY: f64 = 86_400.0;

/// Longer than any sensible setting, and short enough for every clock to add.
const LONGEST: f64 = 3650.0 * DAY;

pub fn parse(text: &str) -> Result<Duration, String> {
    let refused = || format!("expected a duration such as 500ms, 4s, 10m, 4h or 7d, got '{text}'");
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(refused)?);
    let number = number.trim();
    let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = number.parse().ok().filter(|_| plain).ok_or_else(refused)?;
    let seconds = number * seconds_in(unit).ok_or_else(refused)?;
    if seconds > LONGEST {
        return Err(format!("'{text}' is longer than ten years"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The shortest way to write it again.
pub fn written(duration: Duration) -> String {
    match duration.as_millis() {
        millis if millis % 1000 != 0 => format!("{millis}ms"),
        millis => format!("{}s", millis / 1000),
    }
}

fn seconds_in(unit: &str) -> Option<f64> {
    match unit {
        "ms" => Some(0.001),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(DAY),
        _ => None,
    }
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
    #[case("10m", 600_000)]
    #[case("4 h", 14_400_000)]
    #[case("7d", 604_800_000)]
    #[case("0s", 0)]
    fn a_number_and_a_unit_is_a_duration(#[case] text: &str, #[case] millis: u64) {
        assert_eq!(parse(text), Ok(Duration::from_millis(millis)));
    }

    #[rstest]
    fn anything_else_is_refused_with_an_example(
        #[values("", "4", "s", "-4s", "4 fortnights", "4S", "1e3s", "4s4s", "NaNs", "infs", "99999d")] text: &str,
    ) {
        let fault = parse(text).unwrap_err();
        assert!(fault.contains("500ms") || fault.contains("ten years"), "{fault}");
    }
}
