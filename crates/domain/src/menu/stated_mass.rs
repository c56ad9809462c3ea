//! `StatedMass`: the mass that a product's name states, such as `5pk 0.5g`. Pure.
//!
//! In: a name as the platform gives it. Out: the mass of the whole package, or that it is a pack of unknown count. It
//! must not know options.

use super::size::MG_PER_OUNCE;

/// Maximum number of pieces of a pack that is believed.
const MAX_PIECES: f64 = 100.0;
/// Maximum mass of a package that is believed: a pound.
const MAX_MG: f64 = 16.0 * MG_PER_OUNCE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedMass {
    Mg(i64),
    /// A pack of an unstated number of pieces.
    PackOfUnknownCount,
    /// A name without a mass, or with several different ones.
    Nothing,
}

/// Reads the mass of a name: that of a piece times the number of pieces.
pub fn stated_mass(name: &str) -> StatedMass {
    let tokens = tokens(name);
    let masses = all(&tokens, |number, word| Some(number * mg_per(word)?));
    let counts = all(&tokens, |number, word| is_pack(word).then_some(number).filter(|count| *count > 0.0));
    let (Some(mass), Some(pieces)) = (only(&masses), only(&counts).or(counts.is_empty().then_some(1.0))) else {
        return StatedMass::Nothing;
    };
    let is_pack = tokens.iter().any(|token| matches!(token, Token::Word(word) if says_pack(word)));
    if counts.is_empty() && is_pack {
        return StatedMass::PackOfUnknownCount;
    }
    let is_believed = pieces <= MAX_PIECES && mass * pieces <= MAX_MG && mass * pieces >= 1.0;
    if is_believed { StatedMass::Mg((mass * pieces).round() as i64) } else { StatedMass::Nothing }
}

enum Token {
    Number(f64),
    Word(String),
}

/// Numbers (`0.5`, `.5`, `1/8`) and words; `0.5g` is one of each.
fn tokens(name: &str) -> Vec<Token> {
    let name = name.to_lowercase();
    let is_numeric = |c: char| c.is_ascii_digit() || c == '.' || c == '/';
    let class = |c: char| {
        if is_numeric(c) {
            1
        } else if c.is_alphabetic() {
            2
        } else {
            0
        }
    };
    let chars: Vec<char> = name.chars().collect();
    let runs = chars.chunk_by(|one, other| class(*one) == class(*other) && class(*one) > 0);
    let token = |run: &[char]| match run.first().copied().map(class) {
        Some(1) => number(&run.iter().collect::<String>()).map(Token::Number),
        Some(2) => Some(Token::Word(run.iter().collect())),
        _ => None,
    };
    runs.filter_map(token).collect()
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim_end_matches(['.', '/']);
    match text.split_once('/') {
        Some((part, whole)) => Some(part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?).filter(|n| n.is_finite()),
        None => text.parse().ok(),
    }
}

/// The values that a number and the word after it have.
fn all(tokens: &[Token], value: impl Fn(f64, &str) -> Option<f64>) -> Vec<f64> {
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [Token::Number(number), Token::Word(word)] => value(*number, word),
        _ => None,
    });
    pairs.collect()
}

/// The value of all of them; none where they differ.
fn only(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    values.iter().all(|value| (value - first).abs() < 1e-9).then_some(first)
}

fn mg_per(unit: &str) -> Option<f64> {
    match unit {
        "mg" => Some(1.0),
        "g" | "gram" | "grams" => Some(1000.0),
        "oz" | "ounce" | "ounces" => Some(MG_PER_OUNCE),
        _ => None,
    }
}

fn is_pack(word: &str) -> bool {
    matches!(word, "pk" | "pack" | "packs" | "ct" | "count" | "pc" | "pcs" | "piece" | "pieces" | "x")
}

fn says_pack(word: &str) -> bool {
    matches!(word, "pk" | "pack" | "packs" | "multipack" | "multipacks")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Forza | Live Sugar | 1g", StatedMass::Mg(1000))]
    #[case("OGKB 2.1 | Liquid Diamond Cartridge | 500mg", StatedMass::Mg(500))]
    #[case("Pre-Rolls 5pk 0.5g", StatedMass::Mg(2500))]
    #[case("Pre-Rolls 5 x .5g", StatedMass::Mg(2500))]
    #[case("Pre-Rolls 0.5 g (10-pack)", StatedMass::Mg(5000))]
    #[case("Black Maple #22 1/8oz", StatedMass::Mg(3500))]
    #[case("1 Gram of Joy, 1g", StatedMass::Mg(1000))]
    #[case("Pre-Rolls Multipack 0.5g", StatedMass::PackOfUnknownCount)]
    #[case("Serving Tray (7x5)", StatedMass::Nothing)]
    #[case("Volume Knob Grinder | 63mm", StatedMass::Nothing)]
    #[case("510 DL 2.0 PRO", StatedMass::Nothing)]
    #[case("1g or 2g", StatedMass::Nothing)]
    #[case("2pk 5pk 1g", StatedMass::Nothing)]
    #[case("0g", StatedMass::Nothing)]
    #[case("0pk 1g", StatedMass::PackOfUnknownCount)]
    #[case("1/0oz", StatedMass::Nothing)]
    #[case("999pk 500g", StatedMass::Nothing)]
    #[case("½g …./..g", StatedMass::Nothing)]
    #[case("", StatedMass::Nothing)]
    fn a_name_states_the_mass_of_its_package(#[case] name: &str, #[case] expected: StatedMass) {
        assert_eq!(stated_mass(name), expected);
    }

    proptest! {
        #[test]
        fn any_name_is_read(name in ".{0,60}", numbers in "[0-9./]{0,6}(g|mg|oz|pk|x)? ?[0-9./]{0,6}(g|mg|oz|pk|x)?") {
            for name in [name, numbers] {
                if let StatedMass::Mg(mg) = stated_mass(&name) {
                    prop_assert!((1..=448_000).contains(&mg), "{name}: {mg}");
                }
            }
        }
    }
}
