//! Invented names and prose: nothing here is copied from a real menu.

use crate::draw::Draw;

const FIRST: &[&str] = &[
    "Amber", "Velvet", "Cobalt", "Maple", "Juniper", "Saffron", "Granite", "Lunar", "Copper", "Willow", "Crimson",
    "Harbor", "Quiet", "Northern", "Golden", "Ember", "Prairie", "Silver", "Mossy", "Electric", "Coastal", "Sierra",
    "Tidal", "Wild",
];
const SECOND: &[&str] = &[
    "Lantern", "Orchard", "Meadow", "Comet", "Anchor", "Thicket", "Canyon", "Sparrow", "Harvest", "Cascade", "Garden",
    "Summit", "Fern", "Beacon", "Hollow", "Trail", "Kettle", "Drift", "Bloom", "Mesa", "Ridge", "Otter", "Parlor",
    "Compass",
];
const STRAINS: &[&str] = &[
    "Plum Static",
    "Cedar Fizz",
    "Mango Relay",
    "Blue Ledger",
    "Peach Turbine",
    "Gravel Cake",
    "Lime Signal",
    "Jalapeño Dusk",
    "Frost Pilot",
    "Cherry Abacus",
    "Grape Meridian",
    "Honey Circuit",
    "Tangelo Rush",
    "Crème Nocturne",
    "Pine Cipher",
    "Banjo Kush",
];
const PROSE: &[&str] = &[
    "grown",
    "slowly",
    "under",
    "careful",
    "light",
    "with",
    "living",
    "soil",
    "and",
    "cured",
    "by",
    "hand",
    "for",
    "three",
    "weeks",
    "our",
    "small",
    "team",
    "tests",
    "every",
    "batch",
    "before",
    "it",
    "leaves",
    "the",
    "room",
    "expect",
    "bright",
    "citrus",
    "notes",
    "over",
    "a",
    "mellow",
    "earthy",
    "base",
    "that",
    "lingers",
    "pleasantly",
    "made",
    "without",
    "shortcuts",
    "in",
    "honest",
    "places",
];

/// Two words that sound like a company.
pub(crate) fn company(draw: &mut Draw) -> String {
    format!("{} {}", draw.pick(FIRST), draw.pick(SECOND))
}

pub(crate) fn strain(draw: &mut Draw) -> &'static str {
    draw.pick::<&str>(STRAINS)
}

pub(crate) fn city(draw: &mut Draw) -> String {
    format!("{}ville", draw.pick(SECOND))
}

/// Sentences of together about `length` characters.
pub(crate) fn prose(draw: &mut Draw, length: usize) -> String {
    let mut text = String::with_capacity(length + 16);
    while text.len() < length {
        let start = text.len();
        for word in 0..draw.between(6, 14) {
            if word > 0 {
                text.push(' ');
            }
            text.push_str(draw.pick::<&str>(PROSE));
        }
        text[start..start + 1].make_ascii_uppercase();
        text.push_str(". ");
    }
    text
}

/// Makes a name for URLs as platforms do: small letters, digits, and single hyphens.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}
