//! Dutchie Plus' upper-case enums in the words of Dutchie's menu pages, so that a product is the same
//! whichever way it came.

use domain::switches;

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
const NOTHING: [(&str, ()); 2] = [("NOT_APPLICABLE", ()), ("DEFAULT", ())];

/// None for a value that says nothing; one that is not known stays as it is.
pub fn category(value: String) -> Option<String> {
    word(value, &CATEGORIES)
}

/// Same rule as [`category`].
pub fn strain_type(value: String) -> Option<String> {
    word(value, &STRAIN_TYPES)
}

/// `WHOLE_FLOWER` is `whole-flower` on menu pages.
pub fn subcategory(value: String) -> Option<String> {
    says_something(value).map(|value| value.trim().to_lowercase().replace('_', "-"))
}

fn word(value: String, words: &[(&str, &str)]) -> Option<String> {
    let value = says_something(value)?;
    Some(switches::word(&value, words).map_or(value, str::to_owned))
}

fn says_something(value: String) -> Option<String> {
    Some(value).filter(|value| switches::word(value, &NOTHING).is_none())
}
