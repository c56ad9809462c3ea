//! Amounts in words, as sentences for people have them. Pure.

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// `2,000`.
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 slot`, `2,000 stores`.
pub fn counted(number: impl TryInto<i64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(i64::MAX);
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Writes at most two units: `41 s`, `4 m 12 s`, `1 h 28 m`, `3 d 4 h`.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    let (large, unit, small, rest) = match seconds {
        ..MINUTE => return format!("{seconds} s"),
        MINUTE..HOUR => (MINUTE, "m", 1, "s"),
        HOUR..DAY => (HOUR, "h", MINUTE, "m"),
        _ => (DAY, "d", HOUR, "h"),
    };
    match seconds % large / small {
        0 => format!("{} {unit}", seconds / large),
        left => format!("{} {unit} {left} {rest}", seconds / large),
    }
}

/// Formats cents as dollars.
pub fn money(cents: i32) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}${}.{:02}", cents.unsigned_abs() / 100, cents.unsigned_abs() % 100)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "0")]
    #[case(999, "999")]
    #[case(1_000, "1,000")]
    #[case(12_345_678, "12,345,678")]
    fn thousands_are_separated(#[case] number: i64, #[case] text: &str) {
        assert_eq!(grouped(number), text);
    }

    #[rstest]
    #[case(0, "0 stores")]
    #[case(1, "1 store")]
    #[case(999, "999 stores")]
    #[case(2_000, "2,000 stores")]
    #[case(1_234_567, "1,234,567 stores")]
    #[case(-1_000, "-1,000 stores")]
    fn things_are_counted(#[case] number: i64, #[case] text: &str) {
        assert_eq!(counted(number, "store"), text);
    }

    #[rstest]
    #[case(-1.0, "0 s")]
    #[case(41.2, "41 s")]
    #[case(252.0, "4 m 12 s")]
    #[case(1_411.0, "23 m 31 s")]
    #[case(3_600.0, "1 h")]
    #[case(5_280.0, "1 h 28 m")]
    #[case(273_600.0, "3 d 4 h")]
    fn a_duration_has_at_most_two_units(#[case] seconds: f64, #[case] text: &str) {
        assert_eq!(duration(seconds), text);
    }

    #[test]
    fn money_has_two_digits_of_cents() {
        assert_eq!([0, 5, 1250, -1].map(money), ["$0.00", "$0.05", "$12.50", "-$0.01"]);
    }
}
