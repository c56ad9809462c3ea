//! Goods that are hard to compare, in kinds like those of `category`: odd labels, sizes in the name alone, THC in all units, none
//! of it, and more than there can be.

use crate::category::{Category, DOSED, Potency, UNMEASURED, WEIGHED};
use crate::draw::Draw;
use crate::size::{NamedMass, NamedSize};

const fn named(text: &'static str, mass: NamedMass) -> NamedSize {
    NamedSize { text, mass }
}

/// Some names of a kind have no size.
const NO_SIZE: NamedSize = named("", NamedMass::None);
const FLOWER: &[NamedSize] = &[named(" | 3.5g", NamedMass::Mg(3500)), named(" 1/4 oz", NamedMass::Mg(7000)), NO_SIZE];
const ROLLS: &[NamedSize] = &[
    named(" 5pk 0.5g", NamedMass::Mg(2500)),
    named(" 0.75 g (2-pack)", NamedMass::Mg(1500)),
    named(" Multipack 0.5g", NamedMass::UnknownPack),
    named(" 1g or 2g", NamedMass::None),
    NO_SIZE,
];

pub(crate) static CATEGORIES: &[Category] = &[
    Category {
        name: "Flower",
        options: &[&["1/8 oz"], &["each"], &["N/A"], &["3.5 g", "2oz"], &["1g", "1/8 oz", "1 Ounce"]],
        cents: (1500, 5500),
        names: FLOWER,
        ..WEIGHED
    },
    Category {
        name: "Flower",
        options: &[&["1/8 oz"], &["each"], &["1g", "2oz"]],
        cents: (1500, 5500),
        potency: Potency::MilligramsPerGram,
        full_strength: Some(340.0),
        names: FLOWER,
        ..WEIGHED
    },
    // more than 100 %
    Category {
        name: "Concentrate",
        options: &[&["1gC"], &[".5g", "2gC"]],
        cents: (2500, 6500),
        full_strength: Some(150.0),
        ..WEIGHED
    },
    // more THC than mass
    Category {
        name: "Vaporizers",
        options: &[&[".5g"], &["1g"], &["500mg"], &["0.5ml"]],
        cents: (2000, 7000),
        potency: Potency::Milligrams,
        full_strength: Some(900.0),
        ..WEIGHED
    },
    // no THC
    Category {
        name: "Flower",
        options: &[&["1/8 oz"], &["each"]],
        cents: (1500, 5500),
        full_strength: Some(0.0),
        names: FLOWER,
        ..WEIGHED
    },
    Category {
        name: "Pre-Rolls",
        options: &[&["each"], &["N/A"], &[".33g"], &["5pk"]],
        cents: (600, 4000),
        names: ROLLS,
        ..WEIGHED
    },
    Category {
        name: "Edible",
        options: &[&["100mg"], &["10pk 5mg"], &["each"], &["100mg", "2oz"]],
        cents: (500, 3500),
        names: ROLLS,
        ..DOSED
    },
    Category {
        name: "Edible",
        options: &[&["10pk 5mg"], &["2oz"], &["500mg"]],
        cents: (500, 3500),
        potency: Potency::Percentage,
        full_strength: Some(120.0),
        ..DOSED
    },
    Category { name: "Beverage", options: &[&["750ml"], &["each"]], cents: (500, 2500), ..DOSED },
    Category {
        name: "Topicals",
        options: &[&["2oz"], &["each"]],
        cents: (1500, 6000),
        potency: Potency::MilligramsPerGram,
        full_strength: Some(20.0),
        ..DOSED
    },
    Category { name: "Accessories", options: &[&["1g"], &["each"]], cents: (300, 12_000), ..UNMEASURED },
];

/// Number of the stretch of crawls with the same prices: some go up and down with each crawl, or for one crawl only.
pub(crate) fn price_epoch(draw: &mut Draw, crawl: u32, usual: u64) -> u64 {
    match draw.below(10) {
        0..3 => u64::from(crawl % 2),
        3..6 => u64::from(crawl % 4 == 3),
        _ => usual,
    }
}

pub(crate) fn named_size(draw: &mut Draw, category: &Category) -> NamedSize {
    if category.names.is_empty() { NO_SIZE } else { *draw.pick(category.names) }
}
