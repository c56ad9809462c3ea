//! `Stated`: the amounts that a product's name, or the label of an option, states. In: tokens. Out: masses, volumes, numbers of pieces and
//! versions, and the tokens that remain.

use super::tokens::{Kind, Token};
use crate::menu::size::{MG_PER_OUNCE, ML_PER_FLUID_OUNCE, mg_per};
use crate::menu::stated_mass;

/// Maximum number of pieces of a pack that is believed.
const MAX_PIECES: f64 = 200.0;
/// Maximum amount of a package that is believed: a kilogram in milligrams, a litre in microlitres.
const MAX_AMOUNT: f64 = 1_000_000.0;
const UL_PER_FLUID_OUNCE: f64 = 1000.0 * ML_PER_FLUID_OUNCE;

/// Cannabinoids whose amount is not the strength of a product, but says which version it is.
const OTHER_CANNABINOIDS: [&str; 5] = ["cbd", "cbn", "cbg", "cbc", "thcv"];

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stated {
    /// Milligrams.
    pub masses: Vec<u32>,
    /// Microlitres.
    pub volumes: Vec<u32>,
    /// Numbers of pieces.
    pub counts: Vec<u16>,
    /// Versions such as `v2`.
    pub versions: Vec<String>,
    pub rest: Vec<Token>,
}

enum Fact {
    Mass(f64),
    Volume(f64),
    Count(f64),
    Version(String),
    /// A potency, which changes from batch to batch.
    Potency,
    /// The amount of another cannabinoid.
    Other,
}

impl Stated {
    pub fn read(tokens: Vec<Token>) -> Stated {
        let mut stated = Stated::default();
        let mut at = 0;
        while at < tokens.len() {
            match fact(&tokens[at..]) {
                Some((length, fact)) => {
                    let is_mass = matches!(fact, Fact::Mass(_));
                    stated.add(fact);
                    at += length;
                    // "1g Single"
                    if is_mass && tokens.get(at).is_some_and(|token| is_single(&token.text)) {
                        stated.counts.push(1);
                        at += 1;
                    }
                }
                None => {
                    stated.rest.push(tokens[at].clone());
                    at += 1;
                }
            }
        }
        stated
    }

    /// The number of pieces, where exactly one is stated.
    pub fn pack(&self) -> Option<u16> {
        let first = *self.counts.first()?;
        self.counts.iter().all(|count| *count == first).then_some(first)
    }

    fn add(&mut self, fact: Fact) {
        let amount = |amount: f64| (1.0..=MAX_AMOUNT).contains(&amount).then(|| amount.round() as u32);
        match fact {
            Fact::Mass(mg) => self.masses.extend(amount(mg)),
            Fact::Volume(ul) => self.volumes.extend(amount(ul)),
            Fact::Count(count) if (1.0..=MAX_PIECES).contains(&count) => self.counts.push(count.round() as u16),
            Fact::Version(version) => self.versions.push(version),
            // "CBD: 0.2%"
            Fact::Potency if self.rest.last().is_some_and(|last| is_cannabinoid(&last.text)) => {
                self.rest.pop();
            }
            Fact::Count(_) | Fact::Potency | Fact::Other => {}
        }
    }
}

/// The fact that the tokens begin with, and their number.
fn fact(tokens: &[Token]) -> Option<(usize, Fact)> {
    let word = |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| token.text.as_str());
    let number = |at: usize| match tokens.get(at)?.kind {
        Kind::Number(number) => Some(number),
        _ => None,
    };
    let Some(first) = number(0) else {
        return match (word(0)?, word(1), number(1)) {
            ("v", _, Some(_)) => Some((2, Fact::Version(format!("v{}", tokens[1].text)))),
            ("pack" | "pk" | "box", Some("of"), _) => number(2).map(|count| (3, Fact::Count(count))),
            ("x", _, Some(count)) if word(2).and_then(amount_of).is_none() => Some((2, Fact::Count(count))),
            ("eighth" | "eighths", _, _) => Some((1, Fact::Mass(MG_PER_OUNCE / 8.0))),
            ("quarter", Some("oz" | "ounce"), _) => Some((2, Fact::Mass(MG_PER_OUNCE / 4.0))),
            ("half", Some("oz" | "ounce"), _) => Some((2, Fact::Mass(MG_PER_OUNCE / 2.0))),
            _ => None,
        };
    };
    if tokens.get(1).is_some_and(|token| token.kind == Kind::Percent) {
        let is_named = word(2).is_some_and(is_cannabinoid);
        return Some((2 + usize::from(is_named), Fact::Potency));
    }
    match (word(1), number(2)) {
        (Some("fl"), _) if matches!(word(2), Some("oz" | "ounce")) => {
            Some((3, Fact::Volume(first * UL_PER_FLUID_OUNCE)))
        }
        (Some("th"), _) if tokens[0].text.contains('/') => {
            Some((2 + usize::from(matches!(word(2), Some("oz" | "ounce"))), Fact::Mass(first * MG_PER_OUNCE)))
        }
        (Some("x"), Some(_)) if word(3).and_then(amount_of).is_some() => Some((2, Fact::Count(first))),
        (Some(unit), _) if is_count(unit) => Some((2, Fact::Count(first))),
        (Some(unit), _) => match amount_of(unit)? {
            // "10mg CBN": the word stays
            Fact::Mass(_) if word(2).is_some_and(|word| OTHER_CANNABINOIDS.contains(&word)) => Some((2, Fact::Other)),
            Fact::Mass(mg) => Some((2, Fact::Mass(first * mg))),
            Fact::Volume(ul) => Some((2, Fact::Volume(first * ul))),
            _ => None,
        },
        _ => None,
    }
    .or_else(|| {
        matches!(tokens[0].text.as_str(), "1/8" | "1/4" | "1/2").then_some((1, Fact::Mass(first * MG_PER_OUNCE)))
    })
}

/// The amount of one unit.
fn amount_of(unit: &str) -> Option<Fact> {
    let volume = match unit {
        "ml" => Some(1000.0),
        "l" => Some(1_000_000.0),
        "floz" => Some(UL_PER_FLUID_OUNCE),
        _ => None,
    };
    let mass = match unit {
        "gc" | "gm" | "gms" | "gr" | "gs" => Some(1000.0),
        "mgs" | "milligram" | "milligrams" => Some(1.0),
        "ozs" => Some(MG_PER_OUNCE),
        _ => mg_per(unit),
    };
    volume.map(Fact::Volume).or(mass.map(Fact::Mass))
}

pub(super) fn is_single(word: &str) -> bool {
    matches!(word, "single" | "singles")
}

fn is_cannabinoid(word: &str) -> bool {
    matches!(word, "thc" | "thca" | "tac") || OTHER_CANNABINOIDS.contains(&word)
}

fn is_count(word: &str) -> bool {
    stated_mass::is_count(word) || matches!(word, "pks" | "cts" | "pce" | "bottles")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::tokens::tokens;
    use super::*;

    #[rstest]
    #[case::mass("Forza | Live Sugar | 1g", "1000 mg", "forza live sugar")]
    #[case::fraction("Kush 1/8 oz", "3500 mg", "kush")]
    #[case::fraction_alone("Kush [1/8]", "3500 mg", "kush")]
    #[case::eighth("Kush Eighth", "3500 mg", "kush")]
    #[case::pack("Kush 5pk 0.5g", "500 mg, 5 pieces", "kush")]
    #[case::pack_of("Kush Pack of 5", "5 pieces", "kush")]
    #[case::single("Kush 1g Single", "1000 mg, 1 pieces", "kush")]
    #[case::times("Kush 5 x .5g", "500 mg, 5 pieces", "kush")]
    #[case::times_behind("Kush 10mg x 10", "10 mg, 10 pieces", "kush")]
    #[case::crossed("Kush #22 x Haze 7g", "7000 mg", "kush 22 x haze")]
    #[case::version("Grinder V2", "v2", "grinder")]
    #[case::cannabinoids("50mg THC 10mg CBN", "50 mg", "thc cbn")]
    #[case::potency("Kush 22.4% THC", "", "kush")]
    #[case::volume("Tonic 12 fl oz 30ml", "354882 ul, 30000 ul", "tonic")]
    #[case::number_of_a_strain("Gelato 33", "", "gelato 33")]
    #[case::beyond_reason("Kush 9999999g 999pk", "", "kush")]
    fn a_name_states_amounts(#[case] name: &str, #[case] expected: &str, #[case] rest: &str) {
        let stated = Stated::read(tokens(name));
        let masses = stated.masses.iter().map(|mg| format!("{mg} mg"));
        let volumes = stated.volumes.iter().map(|ul| format!("{ul} ul"));
        let counts = stated.counts.iter().map(|count| format!("{count} pieces"));
        let facts: Vec<String> = masses.chain(volumes).chain(counts).chain(stated.versions.clone()).collect();
        assert_eq!(facts.join(", "), expected);
        let texts: Vec<&str> = stated.rest.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts.join(" "), rest);
    }
}
