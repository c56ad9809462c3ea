//! Kinds of goods: their families, the words for them, the sizes, packs, doses and versions that they come in.
//!
//! In: nothing. Out: tables. Knows no product and no store. Every form belongs to one kind only, so that whoever reads
//! it in a name knows the kind.

use Family::{Accessory, Capsule, Concentrate, Drink, Edible, Flower, PreRoll, Tincture, Topical, Vaporizer as Vape};

use super::amounts::Amount::{self, Mg, Ml};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Flower,
    PreRoll,
    Vaporizer,
    Concentrate,
    Edible,
    Drink,
    Tincture,
    Capsule,
    Topical,
    Accessory,
}

pub(super) struct Kind {
    pub(super) family: Family,
    pub(super) subcategory: &'static str,
    /// Words for it in names; the first is the usual one.
    pub(super) forms: &'static [&'static str],
    /// Chance within its family.
    pub(super) weight: u64,
}

/// A word that tells apart two products of one name. The first spelling is the usual one.
pub(super) type Version = &'static [&'static str];

const fn kind(family: Family, subcategory: &'static str, weight: u64, forms: &'static [&'static str]) -> Kind {
    Kind { family, subcategory, forms, weight }
}

pub(super) static KINDS: &[Kind] = &[
    kind(Flower, "whole flower", 12, &["Whole Flower", "Whole Bud"]),
    kind(Flower, "small buds", 4, &["Small Buds", "Smalls", "Popcorn"]),
    kind(Flower, "infused", 2, &["Infused Flower", "Infused Buds"]),
    kind(Flower, "ground", 2, &["Ground Flower", "Pre-Ground"]),
    kind(Flower, "shake", 1, &["Shake"]),
    kind(PreRoll, "singles", 10, &["Pre-Roll", "Preroll", "Pre Roll", "PR", "Joint"]),
    kind(PreRoll, "infused pre rolls", 5, &["Infused Pre-Roll", "Infused PR", "Infused Preroll"]),
    kind(PreRoll, "blunts", 2, &["Blunt"]),
    kind(Vape, "cartridges", 9, &["Cartridge", "Cart", "510 Cart", "Vape Cart"]),
    kind(Vape, "disposables", 6, &["Disposable", "Dispo", "All-in-One", "AIO", "Disposable Vape"]),
    kind(Vape, "pods", 2, &["Pod", "Vape Pod"]),
    kind(Concentrate, "sugar", 4, &["Sugar", "Sugar Wax"]),
    kind(Concentrate, "badder", 4, &["Badder", "Batter", "Budder"]),
    kind(Concentrate, "shatter", 2, &["Shatter"]),
    kind(Concentrate, "rosin", 3, &["Rosin", "Cold Cure Rosin"]),
    kind(Concentrate, "diamonds", 2, &["Diamonds", "Diamonds & Sauce"]),
    kind(Concentrate, "live resin", 4, &["Live Resin", "LR"]),
    kind(Concentrate, "crumble", 1, &["Crumble"]),
    kind(Concentrate, "hash", 1, &["Bubble Hash", "Hash"]),
    kind(Edible, "gummies", 10, &["Gummies", "Gummy"]),
    kind(Edible, "chocolates", 4, &["Chocolate", "Chocolate Bar", "Choc. Bar"]),
    kind(Edible, "mints", 2, &["Mints"]),
    kind(Edible, "troches", 1, &["Troches"]),
    kind(Edible, "baked goods", 2, &["Cookies"]),
    kind(Edible, "baked goods", 1, &["Brownies"]),
    kind(Edible, "candies", 2, &["Caramels"]),
    kind(Drink, "drinks", 3, &["Seltzer"]),
    kind(Drink, "drinks", 2, &["Lemonade"]),
    kind(Drink, "drinks", 1, &["Syrup"]),
    kind(Drink, "drinks", 1, &["Iced Tea"]),
    kind(Tincture, "tinctures", 5, &["Tincture", "Drops"]),
    kind(Tincture, "sprays", 1, &["Oral Spray"]),
    kind(Capsule, "capsules tablets", 3, &["Capsules", "Caps"]),
    kind(Capsule, "capsules tablets", 1, &["Tablets"]),
    kind(Topical, "balms", 3, &["Balm"]),
    kind(Topical, "lotions", 2, &["Lotion"]),
    kind(Topical, "bath", 1, &["Bath Soak"]),
    kind(Accessory, "batteries", 4, &["Battery", "510 Battery"]),
    kind(Accessory, "grinders", 2, &["Grinder"]),
    kind(Accessory, "papers", 2, &["Papers", "Rolling Papers"]),
    kind(Accessory, "trays", 1, &["Rolling Tray"]),
    kind(Accessory, "lighters", 1, &["Lighter"]),
    kind(Accessory, "glassware", 1, &["Glass Pipe"]),
];

/// The subcategory of packs of plain pre-rolls, whose kind says "singles".
pub(super) const PACKS: &str = "packs";
/// Kinds that share a name and a size of one gram now and then: cartridges and whole flower.
pub(super) const CARTRIDGE: usize = 8;
pub(super) const WHOLE_FLOWER: usize = 0;

impl Family {
    /// Word that names the family but not the kind.
    pub(super) fn vague_form(self) -> Option<&'static str> {
        match self {
            Flower => Some("Flower"),
            Vape => Some("Vape"),
            Concentrate => Some("Concentrate"),
            Edible => Some("Edible"),
            _ => None,
        }
    }

    /// Flavours are of goods that are eaten; all others are named after strains.
    pub(super) fn has_flavour(self) -> bool {
        matches!(self, Edible | Drink | Tincture | Capsule | Topical)
    }

    /// Sets of sizes, of which a product has one; none of goods that are counted.
    pub(super) fn size_sets(self, pack: u32) -> &'static [&'static [Amount]] {
        match self {
            Flower => &[
                &[Mg(3500)],
                &[Mg(3500), Mg(7000)],
                &[Mg(3500), Mg(7000), Mg(14_000), Mg(28_000)],
                &[Mg(1000), Mg(3500)],
                &[Mg(14_000)],
                &[Mg(28_000)],
                &[Mg(14_000), Mg(28_000)],
                &[Mg(7000)],
                &[Mg(1000)],
            ],
            PreRoll if pack == 1 => {
                &[&[Mg(1000)], &[Mg(500)], &[Mg(500), Mg(1000)], &[Mg(750)], &[Mg(1500)], &[Mg(2000)]]
            }
            PreRoll => &[&[Mg(500)], &[Mg(350)], &[Mg(700)], &[Mg(1000)]],
            Vape => &[&[Mg(500)], &[Mg(1000)], &[Mg(500), Mg(1000)], &[Mg(2000)], &[Mg(300)]],
            Concentrate => &[&[Mg(1000)], &[Mg(500)], &[Mg(2000)], &[Mg(1000), Mg(2000)], &[Mg(3500)]],
            Drink => &[&[Ml(355)], &[Ml(237)], &[Ml(60)]],
            Tincture => &[&[Ml(30)], &[Ml(15)], &[Ml(60)]],
            Topical => &[&[Mg(28_000)], &[Mg(56_000)], &[Ml(30)], &[Ml(100)]],
            Edible | Capsule | Accessory => &[&[]],
        }
    }

    /// Numbers of pieces of a package.
    pub(super) fn packs(self) -> &'static [u32] {
        match self {
            PreRoll => &[1, 1, 1, 1, 1, 2, 3, 5, 5, 7, 10],
            Edible => &[10, 10, 10, 20, 20, 5, 4, 1],
            Drink => &[1, 1, 1, 1, 4, 6],
            Capsule => &[10, 20, 30, 60],
            _ => &[1],
        }
    }

    /// Milligrams of THC of a piece; none of goods that are not dosed.
    pub(super) fn doses(self, pack: u32) -> &'static [u32] {
        match self {
            Edible if pack == 1 => &[10, 50, 100],
            Edible => &[10, 10, 5, 5, 2, 20],
            Drink => &[5, 10, 50, 100],
            Tincture => &[100, 300, 500, 1000],
            Capsule => &[5, 10, 25, 50],
            Topical => &[100, 250, 500, 1000],
            _ => &[],
        }
    }

    pub(super) fn versions(self) -> &'static [Version] {
        match self {
            Flower => &[&["Reserve", "Rsrv"], &["V2", "v2"], &["Gold Label"], &["Greenhouse Grown"]],
            PreRoll => &[&["Reserve", "Rsrv"], &["V2", "v2"], &["Gold Label"], &["Slow Burn"]],
            Vape => &[&["Live Resin", "LR", "Live Resin"], &["Live Rosin"], &["V2", "v2"], &["Reserve", "Rsrv"]],
            Concentrate => &[&["Reserve", "Rsrv"], &["V2", "v2"], &["Tier 2"], &["Cured"]],
            Edible => &[&["Sugar-Free", "Sugar Free", "SF"], &["Vegan"], &["Fast-Acting", "Fast Acting"], &["V2"]],
            Drink => &[&["Zero", "Zero Cal"], &["Fast-Acting", "Fast Acting"]],
            Tincture | Capsule => &[&["Full Spectrum", "Full-Spec"], &["Nighttime", "PM"], &["Fast-Acting"]],
            Topical => &[&["Extra Strong", "XS"], &["Unscented"]],
            Accessory => &[&["V2", "v2"], &["Mini"], &["Pro"]],
        }
    }
}
