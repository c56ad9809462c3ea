//! A maker's name as stores write it, in the field for it and in names of products.
//!
//! In: a maker, a style. Out: text in which a reader finds the maker again.

use super::makers::Maker;
use super::style::{BrandStyle, Case};
use super::typing;
use crate::draw::Draw;

const DROPPED_END_PERCENT: u64 = 12;
const MISSPELT_PERCENT: u64 = 2;
const GLUED_PERCENT: u64 = 3;
const EXTENDED_PERCENT: u64 = 4;
const SIGN_PERCENT: u64 = 1;
/// Names with fewer letters are spelled right; those with twice as many may have two letters wrong.
const MIN_LETTERS: usize = 6;

/// `form`: the usual word for the goods, which some stores add to the brand.
pub(super) fn in_field(draw: &mut Draw, style: BrandStyle, maker: &Maker, form: &str) -> String {
    let is_extended = draw.percent(EXTENDED_PERCENT);
    let mut text = spelled(draw, BrandStyle { drops_end: style.drops_end || is_extended, ..style }, maker);
    if is_extended {
        text = format!("{text} {form}");
    }
    if draw.percent(GLUED_PERCENT) {
        text.retain(|letter| letter != ' ');
    }
    if draw.percent(1) {
        text.push(' ');
    }
    text
}

/// Names of products mostly have the short form of the maker.
pub(super) fn in_name(draw: &mut Draw, style: BrandStyle, maker: &Maker) -> String {
    let drops_end = style.drops_end || draw.percent(60);
    spelled(draw, BrandStyle { drops_end, case: Case::AsIs, ..style }, maker)
}

fn spelled(draw: &mut Draw, style: BrandStyle, maker: &Maker) -> String {
    let mut core = maker.core.clone();
    if draw.percent(MISSPELT_PERCENT) {
        core = misspelt(draw, &core);
    }
    let drops_end = style.drops_end || draw.percent(DROPPED_END_PERCENT);
    let mut text = match maker.end.filter(|_| !drops_end) {
        Some(end) => format!("{core} {end}"),
        None => core,
    };
    if style.has_and || draw.percent(4) {
        text = text.replace('&', "and");
    }
    if draw.percent(SIGN_PERCENT) {
        text.push_str(draw.pick::<&str>(&["™", "®"]));
    }
    if maker.is_upper { text.to_uppercase() } else { style.case.apply(text) }
}

/// One word has one letter or two wrong.
fn misspelt(draw: &mut Draw, core: &str) -> String {
    let longest = core.split(' ').max_by_key(|word| word.len()).unwrap_or(core);
    if core.len() < MIN_LETTERS {
        return core.to_owned();
    }
    let mut written = typing::misspelt(draw, longest);
    if core.len() >= 2 * MIN_LETTERS && draw.percent(25) {
        written = typing::misspelt(draw, &written);
    }
    core.replacen(longest, &written, 1)
}
