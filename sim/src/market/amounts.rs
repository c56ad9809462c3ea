//! Sizes, packs and doses as stores write them, in names and as option labels.
//!
//! In: a product, the sizes that a store carries, a style. Out: phrases, each with the facts that can be read from it.
//! Knows nothing of brands and names.

use domain::store::Platform;

use super::catalogue::Product;
use super::kinds::Family;
use super::style::Style;
use crate::draw::Draw;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Amount {
    /// A mass, or a dose of THC.
    Mg(u32),
    Ml(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// The size or dose of a piece or of the package.
    Amount(Amount),
    Pack(u32),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Phrase {
    pub(super) text: String,
    pub(super) facts: Vec<Fact>,
}

/// The amounts in a name. `carried`: the sizes of the listing; `in_full`: nothing that can be stated is left out.
pub(super) fn in_name(
    draw: &mut Draw,
    style: &Style,
    product: &Product,
    carried: &[Amount],
    in_full: bool,
) -> Option<Phrase> {
    let mut words: Vec<Phrase> = Vec::new();
    let size = match carried {
        [only] => Some(*only),
        _ => None,
    };
    match (product.family(), product.dose) {
        (Family::Accessory, _) => return None,
        (Family::PreRoll, _) if product.pack > 1 => words.extend(pack_of_rolls(draw, style, product, size?, in_full)),
        (_, None) => {
            words.push(sized(style, size?));
            if product.family() == Family::PreRoll && draw.percent(8) {
                words.push(phrase("Single", vec![Fact::Pack(1)]));
            }
        }
        (_, Some(each)) => {
            words.extend(doses(draw, style, product.pack, each, in_full));
            if let Some(size) = size.filter(|_| in_full || draw.percent(40)) {
                words.push(sized(style, size));
            }
        }
    }
    Some(joined(words))
}

/// The option labels of a listing; most state something.
pub(super) fn options(draw: &mut Draw, platform: Platform, product: &Product, carried: &[Amount]) -> Vec<Phrase> {
    if draw.percent(8) || product.family() == Family::Accessory {
        return vec![unstated(draw)];
    }
    let (pack, spelling) = (product.pack, draw.below(3));
    let pack_label = phrase(&format!("{pack}pk"), vec![Fact::Pack(pack)]);
    match (product.family(), product.dose, carried) {
        (Family::PreRoll, _, [Amount::Mg(each)]) if pack > 1 => vec![match draw.below(10) {
            0..4 => label(platform, product, Amount::Mg(each * pack), spelling),
            4..7 => pack_label,
            7..9 => joined(vec![pack_label, label(platform, product, Amount::Mg(*each), spelling)]),
            _ => label(platform, product, Amount::Mg(*each), spelling),
        }],
        (_, Some(each), _) => vec![dosed_label(draw, pack, each, carried, pack_label)],
        _ => carried.iter().map(|size| label(platform, product, *size, spelling)).collect(),
    }
}

fn dosed_label(draw: &mut Draw, pack: u32, each: u32, carried: &[Amount], pack_label: Phrase) -> Phrase {
    if let Some(size) = carried.first().filter(|_| draw.percent(55)) {
        return match size {
            Amount::Mg(_) => phrase(&mass(*size, 6), vec![Fact::Amount(*size)]),
            Amount::Ml(ml) => phrase(&format!("{ml}mL"), vec![Fact::Amount(*size)]),
        };
    }
    match draw.below(10) {
        0..6 => phrase(&format!("{}mg", each * pack), vec![milligrams(each * pack)]),
        6..9 if pack > 1 => pack_label,
        _ if pack > 1 => joined(vec![pack_label, phrase(&format!("{each}mg"), vec![milligrams(each)])]),
        _ => unstated(draw),
    }
}

/// Concentrates have a "C" at the end of their sizes at Dutchie.
fn label(platform: Platform, product: &Product, size: Amount, spelling: u64) -> Phrase {
    let text = match platform {
        Platform::Dutchie if product.family() == Family::Concentrate => mass(size, 4) + "C",
        Platform::Dutchie => mass(size, if ounces(size).is_some() { 6 } else { 4 }),
        Platform::DutchiePlus => mass(size, [4, 0, 6][spelling as usize]),
        Platform::Jane => mass(size, [0, 0, 2][spelling as usize]),
        Platform::Weedmaps => mass(size, [2, 1, 0][spelling as usize]),
        Platform::Leafly => mass(size, [0, 5, 1][spelling as usize]),
    };
    phrase(&text, vec![Fact::Amount(size)])
}

fn unstated(draw: &mut Draw) -> Phrase {
    phrase(draw.pick::<&str>(&["N/A", "each", "Each"]), Vec::new())
}

fn pack_of_rolls(draw: &mut Draw, style: &Style, product: &Product, each: Amount, in_full: bool) -> Vec<Phrase> {
    let Amount::Mg(each_mg) = each else { return Vec::new() };
    let total = Amount::Mg(each_mg * product.pack);
    let count = counted(style, product.pack);
    match draw.below(10) {
        0..3 => vec![times(product.pack, &mass(each, style.mass), each)],
        3..5 if !in_full => vec![count],
        5..8 => vec![count, sized(style, total)],
        8 if !in_full => vec![sized(style, total)],
        _ => vec![sized(style, each), count],
    }
}

fn doses(draw: &mut Draw, style: &Style, pack: u32, each: u32, in_full: bool) -> Vec<Phrase> {
    let blank = if style.dose == 1 { " " } else { "" };
    let dose = |mg: u32| {
        let end = if style.dose == 2 { " THC" } else { "" };
        phrase(&format!("{mg}{blank}mg{end}"), vec![milligrams(mg)])
    };
    if pack == 1 {
        return vec![dose(each)];
    }
    let each_text = format!("{each}{blank}mg");
    match draw.below(10) {
        0..3 if !in_full => vec![dose(each * pack)],
        3 if !in_full => vec![counted(style, pack)],
        4 => vec![phrase(&format!("{each_text} x {pack}"), vec![milligrams(each), Fact::Pack(pack)])],
        5 => vec![times(pack, &each_text, Amount::Mg(each))],
        6 => vec![phrase(&each_text, vec![milligrams(each)]), counted(style, pack)],
        7 => vec![dose(each * pack), counted(style, pack)],
        _ => vec![counted(style, pack), dose(each * pack)],
    }
}

fn times(pack: u32, each: &str, amount: Amount) -> Phrase {
    phrase(&format!("{pack} x {each}"), vec![Fact::Pack(pack), Fact::Amount(amount)])
}

fn counted(style: &Style, pack: u32) -> Phrase {
    let text = match style.pack {
        0 => format!("{pack}pk"),
        1 => format!("{pack}-pack"),
        2 => format!("{pack} Pack"),
        3 => format!("{pack}ct"),
        _ => format!("{pack} pieces"),
    };
    phrase(&text, vec![Fact::Pack(pack)])
}

fn sized(style: &Style, size: Amount) -> Phrase {
    phrase(&mass(size, style.mass), vec![Fact::Amount(size)])
}

/// Spellings: 0 "3.5g", 1 "3.5 g", 2 "1/8 oz", 3 "3.5 Gram", 4 ".5g", 5 "500mg", 6 "1/8oz". Volumes know fewer.
fn mass(size: Amount, spelling: u64) -> String {
    let mg = match size {
        Amount::Mg(mg) => mg,
        Amount::Ml(ml) => return if spelling.is_multiple_of(2) { format!("{ml}mL") } else { format!("{ml} ml") },
    };
    let grams = grams(mg);
    match (spelling, ounces(size)) {
        (1, _) => format!("{grams} g"),
        (2, Some(ounces)) => format!("{ounces} oz"),
        (3, _) => format!("{grams} Gram"),
        (4, _) => format!("{}g", grams.strip_prefix("0").unwrap_or(&grams)),
        (5, _) if mg < 1000 => format!("{mg}mg"),
        (6, Some(ounces)) => format!("{ounces}oz"),
        _ => format!("{grams}g"),
    }
}

fn grams(mg: u32) -> String {
    format!("{}", f64::from(mg) / 1000.0)
}

/// The trade's ounce has 28 g.
fn ounces(size: Amount) -> Option<&'static str> {
    match size {
        Amount::Mg(3500) => Some("1/8"),
        Amount::Mg(7000) => Some("1/4"),
        Amount::Mg(14_000) => Some("1/2"),
        Amount::Mg(28_000) => Some("1"),
        Amount::Mg(56_000) => Some("2"),
        _ => None,
    }
}

fn milligrams(mg: u32) -> Fact {
    Fact::Amount(Amount::Mg(mg))
}

fn phrase(text: &str, facts: Vec<Fact>) -> Phrase {
    Phrase { text: text.to_owned(), facts }
}

fn joined(phrases: Vec<Phrase>) -> Phrase {
    let text: Vec<&str> = phrases.iter().map(|part| part.text.as_str()).collect();
    Phrase { text: text.join(" "), facts: phrases.iter().flat_map(|part| part.facts.iter().copied()).collect() }
}
