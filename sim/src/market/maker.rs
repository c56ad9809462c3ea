//! `Maker`: an invented maker, and how shops write its name.

use super::names::{MAKER_FIRST, MAKER_SECOND};
use super::typing;
use crate::draw::{Draw, Topic};

const ENDS: [&str; 8] = [" & Co.", " Farms", " Extracts", " Labs", ", Inc.", " Cannabis Co.", "", ""];

pub(super) struct Maker {
    /// Two words, or one.
    pub(super) name: String,
    /// The name with its end, such as `& Co.`.
    pub(super) whole: String,
    pub(super) is_capitals: bool,
    /// Its id at each platform.
    pub(super) id: String,
}

/// Makers of different names; some have a word in common.
pub(super) fn all(seed: u64, number: usize) -> Vec<Maker> {
    let mut makers: Vec<Maker> = Vec::new();
    let mut nth = 0;
    while makers.len() < number {
        let mut draw = Draw::of(seed, Topic::Market, &[5, nth]);
        nth += 1;
        let first = draw.pick(&MAKER_FIRST);
        let name = if draw.percent(20) {
            format!("{first}{}", draw.pick(&["ly", "ora", "wise", "ton"]))
        } else {
            format!("{first} {}", draw.pick(&MAKER_SECOND))
        };
        if makers.iter().any(|maker| maker.name == name) {
            continue;
        }
        let whole = format!("{name}{}", draw.pick(&ENDS));
        makers.push(Maker { name, whole, is_capitals: draw.percent(12), id: draw.uuid() });
    }
    makers
}

impl Maker {
    /// The name as a listing has it.
    pub(super) fn spelled(&self, draw: &mut Draw, goods: &str) -> String {
        let plain = match draw.below(100) {
            0..55 => self.whole.clone(),
            55..80 => self.name.clone(),
            80..86 => self.whole.replace(" & ", " and "),
            86..91 => self.whole.to_uppercase(),
            91..94 => self.whole.to_lowercase(),
            94..96 => self.name.replace(' ', ""),
            96..98 => format!("{} {goods}", self.name),
            98 => typing::mistake(draw, &self.whole),
            _ => format!(" {} ", self.whole),
        };
        if self.is_capitals { plain.to_uppercase() } else { plain }
    }
}
