//! Potencies: how strong a product is, and in which of the several forms upstream writes it.

use crate::category::{Category, Potency};
use crate::draw::Draw;

/// Content of `THCContent` and `CBDContent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Content {
    /// null
    Absent,
    /// A unit, and null for its range.
    Unvalued,
    /// A unit, and `[]` for its range.
    Empty,
    One(f64),
    Range(f64, f64),
    /// Old data: a bare number.
    Number(f64),
    /// Old data: a number and a percent sign in a string.
    Text(f64),
}

impl Content {
    pub(crate) fn draw(draw: &mut Draw, category: &Category, strength: f64) -> Content {
        match draw.below(100) {
            _ if category.potency == Potency::Nothing => Content::Unvalued,
            0..10 => Content::Absent,
            10..20 => Content::Unvalued,
            20..22 => Content::Empty,
            22..32 => Content::Range(strength, rounded(strength * 1.2)),
            32..33 => Content::Number(strength),
            33..34 => Content::Text(strength),
            _ => Content::One(strength),
        }
    }
}

impl Content {
    /// The strength as a single number, of a range the higher one; none where it is unknown.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Content::One(strength) | Content::Number(strength) | Content::Text(strength) => Some(strength),
            Content::Range(_, high) => Some(high),
            Content::Absent | Content::Unvalued | Content::Empty => None,
        }
    }
}

/// A plausible strength in the category's unit; concentrates pass 50 %.
pub(crate) fn strength(draw: &mut Draw, category: &Category) -> f64 {
    let plausible = match category.potency {
        Potency::Percentage if category.name == "Concentrate" => 95.0,
        Potency::Percentage => 34.0,
        Potency::Milligrams => 100.0,
        Potency::MilligramsPerGram => 900.0,
        Potency::Nothing => 0.0,
    };
    let full = category.full_strength.unwrap_or(plausible);
    rounded(full * (0.4 + 0.6 * draw.unit()))
}

/// Name of the unit in upstream's data.
pub(crate) fn unit(potency: Potency) -> &'static str {
    match potency {
        Potency::Milligrams => "MILLIGRAMS",
        Potency::MilligramsPerGram => "MILLIGRAMS_PER_GRAM",
        Potency::Percentage | Potency::Nothing => "PERCENTAGE",
    }
}

/// Rounds to three decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
