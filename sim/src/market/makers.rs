//! `Maker`: an invented maker with the kinds of goods that it makes.
//!
//! In: a seed and a number. Out: makers whose names differ by more letters than a clerk gets wrong, though some share a
//! word. Knows no product.

use domain::store::Platform;

use super::kinds::Family::{self, Accessory, Capsule, Concentrate, Drink, Edible, Flower, PreRoll, Tincture, Topical};
use super::names::distance;
use super::words::{MAKER_ALONE, MAKER_FIRST, MAKER_SECOND};
use super::{Subject, draw_of};
use crate::draw::Draw;

/// A misspelt name, two letters wrong, is still nearer to its own maker.
const CLEAR_DISTANCE: usize = 5;
/// Other names hardly exist when as many were too near.
const TRIES: u64 = 400;
const ENDS: [&str; 8] = ["& Co.", "Farms", "Extracts", "Labs", "Inc.", "Cannabis Co.", "Collective", "& Sons"];
const LINES: [&[Family]; 9] = [
    &[Flower, Flower, PreRoll, PreRoll, Family::Vaporizer, Concentrate, Edible],
    &[Flower, Flower, Flower, PreRoll, Family::Vaporizer, Concentrate],
    &[Flower, PreRoll],
    &[Family::Vaporizer, Family::Vaporizer, Concentrate, Concentrate, PreRoll],
    &[Family::Vaporizer, Family::Vaporizer, Edible],
    &[Edible, Edible, Edible, Drink, Capsule],
    &[Edible, Tincture, Capsule, Topical, Drink],
    &[PreRoll, PreRoll, Flower, Family::Vaporizer],
    &[Accessory, Accessory, Accessory, Family::Vaporizer],
];

pub(super) struct Maker {
    /// The part of its name that every listing with the maker has.
    pub(super) core: String,
    pub(super) end: Option<&'static str>,
    /// Listings have its name in capitals.
    pub(super) is_upper: bool,
    /// Families of its goods, the frequent ones several times.
    pub(super) line: &'static [Family],
    /// Share of all products.
    pub(super) weight: u64,
}

impl Maker {
    pub(super) fn all(seed: u64, makers: usize) -> Vec<Maker> {
        let mut all: Vec<Maker> = Vec::with_capacity(makers);
        for index in 0..makers as u64 {
            let mut draw = draw_of(seed, Subject::Maker, &[index]);
            let core = clear_core(&mut draw, &all);
            all.push(Maker {
                end: draw
                    .percent(55)
                    .then(|| *draw.pick(&ENDS))
                    .filter(|end| !(core.contains('&') && end.contains('&'))),
                core,
                is_upper: draw.percent(10),
                line: draw.pick::<&[Family]>(&LINES),
                weight: draw.between(10, 40).pow(2),
            });
        }
        all
    }
}

/// The maker's id at a platform, as the platform writes ids; none where brands have no id.
pub(super) fn brand_id(seed: u64, platform: Platform, maker: usize) -> Option<String> {
    let mut draw = draw_of(seed, Subject::BrandId, &[platform as u64, maker as u64]);
    match platform {
        Platform::Dutchie => Some(draw.object_id()),
        Platform::DutchiePlus => Some(draw.uuid()),
        Platform::Weedmaps | Platform::Leafly => Some(draw.between(100_000, 9_999_999).to_string()),
        Platform::Jane => None,
    }
}

/// Letters and digits without case, blanks and "&".
pub(super) fn squashed(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn clear_core(draw: &mut Draw, others: &[Maker]) -> String {
    let mut core = String::new();
    for _ in 0..TRIES {
        core = new_core(draw, others);
        if others.iter().all(|other| is_clear(&core, &other.core)) {
            break;
        }
    }
    core
}

fn is_clear(one: &str, other: &str) -> bool {
    let (one, other) = (squashed(one), squashed(other));
    !one.contains(&other) && !other.contains(&one) && distance(&one, &other) >= CLEAR_DISTANCE
}

fn new_core(draw: &mut Draw, others: &[Maker]) -> String {
    let relative = others.get(draw.below(others.len() as u64) as usize).and_then(|other| other.core.split_once(' '));
    let first = match relative {
        Some((first, _)) if draw.percent(20) => first,
        _ => draw.pick(&MAKER_FIRST),
    };
    let (second, third) = (*draw.pick(&MAKER_SECOND), *draw.pick(&MAKER_SECOND));
    match draw.below(100) {
        0..18 => (*draw.pick(&MAKER_ALONE)).to_owned(),
        18..28 if second != third => format!("{second} & {third}"),
        28..42 if second != third => format!("{first} {second} {third}"),
        _ => format!("{first} {second}"),
    }
}
