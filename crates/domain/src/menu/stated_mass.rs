//! `StatedMass`: the mass that a product's name states, such as `5pk 0.5g`. Pure.
//!
//! In: a name as the platform gives it. Out: the mass of the whole package, or that it is a pack of unknown count. It
//! must not know options.

use super::size::{MG_PER_OUNCE, amount, mg_per};

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
    let name = name.to_lowercase();
    let tokens = tokens(&name);
    let (masses, counts) = (masses(&tokens), counts(&tokens));
    let (Some(mass), Some(pieces)) = (only(&masses), only(&counts).or(counts.is_empty().then_some(1.0))) else {
        return StatedMass::Nothing;
    };
    if counts.is_empty() && tokens.iter().any(|token| matches!(token, Token::Word(word) if says_pack(word))) {
        return StatedMass::PackOfUnknownCount;
    }
    let is_believed = pieces <= MAX_PIECES && (1.0..=MAX_MG).contains(&(mass * pieces));
    if is_believed { StatedMass::Mg((mass * pieces).round() as i64) } else { StatedMass::Nothing }
}

enum Token<'a> {
    Number(f64),
    Word(&'a str),
}

/// Numbers (`0.5`, `.5`, `1/8`) and words; `0.5g` is one of each. An odd number is a word, which means nothing.
fn tokens(name: &str) -> Vec<Token<'_>> {
    let is_numeric = |c: char| c.is_ascii_digit() || c == '.' || c == '/';
    let mut tokens = Vec::new();
    for part in name.split(|c: char| !is_numeric(c) && !c.is_alphabetic()) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c| is_numeric(c) != is_numeric(first)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            tokens.push(amount(run.trim_end_matches(['.', '/'])).map_or(Token::Word(run), Token::Number));
            rest = after;
        }
    }
    tokens
}

fn masses(tokens: &[Token<'_>]) -> Vec<f64> {
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [Token::Number(number), Token::Word(unit)] => Some(number * mg_per(unit)?),
        _ => None,
    });
    pairs.collect()
}

/// Numbers of pieces: `5pk`, `5 x 0.5g`, but not the number of a strain that is crossed, as in `#22 x Kush`.
fn counts(tokens: &[Token<'_>]) -> Vec<f64> {
    let at = |start: usize| match tokens.get(start..)? {
        [Token::Number(count), Token::Word("x"), Token::Number(_), Token::Word(unit), ..] => {
            mg_per(unit).map(|_| *count)
        }
        [Token::Number(count), Token::Word(word), ..] => is_count(word).then_some(*count),
        _ => None,
    };
    (0..tokens.len()).filter_map(at).collect()
}

/// The value of all of them; none where they differ.
fn only(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    values.iter().all(|value| (value - first).abs() < 1e-9).then_some(first)
}

/// Whether a number before the word is one of pieces.
pub(crate) fn is_count(word: &str) -> bool {
    matches!(word, "pk" | "pack" | "packs" | "ct" | "count" | "pc" | "pcs" | "piece" | "pieces")
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
    #[case("Black Maple #22 X Wedding Sherb | Celestia Infused Flower | 7g", StatedMass::Mg(7000))]
    #[case("Gelato 33 x 41 | 3.5g", StatedMass::Mg(3500))]
    #[case("Kush 5 1.2.3g", StatedMass::Nothing)]
    #[case("Indoor 1lb", StatedMass::Mg(448_000))]
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
