//! `Evidence`: one fact for, or against, two listings being one product, in plain words.

use std::fmt::{Display, Formatter, Result};

use super::profile::Size;
use crate::amounts::counted;

/// A fact. Its texts are short and on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// One id of the chain.
    SameId,
    SameBrand,
    /// One of the two names no brand.
    NoBrand,
    /// How alike the names are, in hundredths.
    Names {
        hundredths: u32,
    },
    /// Both names consist of the brand and the kind of goods.
    NoName,
    Size(String),
    OtherSizes,
    Pack(u16),
    /// Milligrams of THC.
    Strength(u32),
    Kind(String),
    OtherCategories([String; 2]),
}

impl Display for Evidence {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Evidence::SameId => write!(f, "same id in the chain"),
            Evidence::SameBrand => write!(f, "same brand"),
            Evidence::NoBrand => write!(f, "a brand is missing"),
            Evidence::Names { hundredths: 100.. } => write!(f, "same name"),
            Evidence::Names { hundredths } => write!(f, "names 0.{hundredths:02}"),
            Evidence::NoName => write!(f, "no name of their own"),
            Evidence::Size(size) => write!(f, "both {size}"),
            Evidence::OtherSizes => write!(f, "different sizes"),
            Evidence::Pack(pieces) => write!(f, "both {}", counted(*pieces, "piece")),
            Evidence::Strength(mg) => write!(f, "both {mg} mg THC"),
            Evidence::Kind(kind) => write!(f, "both {kind}"),
            Evidence::OtherCategories([one, other]) => write!(f, "different categories: {one} and {other}"),
        }
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (amount, unit) = match *self {
            Size::Mg(mg) if mg < 250 => (f64::from(mg), "mg"),
            Size::Mg(mg) => (f64::from(mg) / 1000.0, "g"),
            Size::Ul(ul) => (f64::from(ul) / 1000.0, "ml"),
        };
        write!(f, "{amount} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Evidence::SameId, "same id in the chain")]
    #[case(Evidence::SameBrand, "same brand")]
    #[case(Evidence::NoBrand, "a brand is missing")]
    #[case(Evidence::Names { hundredths: 97 }, "names 0.97")]
    #[case(Evidence::Names { hundredths: 4 }, "names 0.04")]
    #[case(Evidence::Names { hundredths: 100 }, "same name")]
    #[case(Evidence::NoName, "no name of their own")]
    #[case(Evidence::Size(Size::Mg(3500).to_string()), "both 3.5 g")]
    #[case(Evidence::Size(Size::Mg(100).to_string()), "both 100 mg")]
    #[case(Evidence::Size(Size::Ul(30_000).to_string()), "both 30 ml")]
    #[case(Evidence::OtherSizes, "different sizes")]
    #[case(Evidence::Pack(1), "both 1 piece")]
    #[case(Evidence::Pack(5), "both 5 pieces")]
    #[case(Evidence::Strength(100), "both 100 mg THC")]
    #[case(Evidence::Kind("live resin".into()), "both live resin")]
    #[case(
        Evidence::OtherCategories(["flower".into(), "pre roll".into()]),
        "different categories: flower and pre roll"
    )]
    fn evidence_is_in_plain_words(#[case] evidence: Evidence, #[case] words: &str) {
        assert_eq!(evidence.to_string(), words);
    }
}
