//! Dutchie Plus' upper-case enums in the words of Dutchie's menu pages, so that a product is the same
//! whichever way it came.

const CATEGORIES: [(&str, &str); 13] = [
    ("ACCESSORIES", "Accessories"),
    ("APPAREL", "Apparel"),
    ("CBD", "CBD"),
    ("CLONES", "Clones"),
    ("CONCENTRATES", "Concentrate"),
    ("EDIBLES", "Edible"),
    ("FLOWER", "Flower"),
    ("ORALS", "Orals"),
    ("PRE_ROLLS", "Pre-Rolls"),
    ("SEEDS", "Seeds"),
    ("TINCTURES", "Tincture"),
    ("TOPICALS", "Topicals"),
    ("VAPORIZERS", "Vaporizers"),
];
const STRAIN_TYPES: [(&str, &str); 4] =
    [("HIGH_CBD", "High CBD"), ("HYBRID", "Hybrid"), ("INDICA", "Indica"), ("SATIVA", "Sativa")];
/// Values that say nothing.
const NOTHING: [&str; 2] = ["NOT_APPLICABLE", "DEFAULT"];

/// None for a value that says nothing; one that is not known stays as it is.
pub fn category(value: String) -> Option<String> {
    word(value, &CATEGORIES)
}

/// As [`category`].
pub fn strain_type(value: String) -> Option<String> {
    word(value, &STRAIN_TYPES)
}

/// `WHOLE_FLOWER` is `whole-flower` on menu pages.
pub fn subcategory(value: String) -> Option<String> {
    says_something(value).map(|value| value.to_lowercase().replace('_', "-"))
}

fn word(value: String, words: &[(&str, &str)]) -> Option<String> {
    let value = says_something(value)?;
    let known = words.iter().find(|(name, _)| *name == value);
    Some(known.map_or(value, |(_, word)| (*word).to_owned()))
}

fn says_something(value: String) -> Option<String> {
    Some(value).filter(|value| !NOTHING.contains(&value.as_str()))
}
