//! Categories and subcategories as each platform names them.
//!
//! In: a platform, a family or a subcategory. Out: the platform's words, all of them among those that
//! `config/categories.toml` covers.

use domain::store::Platform;

use super::kinds::Family;

pub(super) fn category(platform: Platform, family: Family) -> &'static str {
    let names = match family {
        Family::Flower => ["Flower", "FLOWER", "flower", "Flower", "Flower"],
        Family::PreRoll => ["Pre-Rolls", "PRE_ROLLS", "pre-roll", "Pre Roll", "PreRoll"],
        Family::Vaporizer => ["Vaporizers", "VAPORIZERS", "vape", "Vape Pens", "Vape"],
        Family::Concentrate => ["Concentrate", "CONCENTRATES", "extract", "Concentrates", "Concentrate"],
        Family::Edible => ["Edible", "EDIBLES", "edible", "Edibles", "Edible"],
        Family::Drink => ["Edible", "EDIBLES", "edible", "Beverages", "Edible"],
        Family::Tincture => ["Tincture", "TINCTURES", "tincture", "Tinctures", "Tincture"],
        Family::Capsule => ["Edible", "EDIBLES", "edible", "Capsules", "Edible"],
        Family::Topical => ["Topicals", "TOPICALS", "topical", "Topicals", "Topical"],
        Family::Accessory => ["Accessories", "ACCESSORIES", "gear", "Gear", "Accessory"],
    };
    names[column(platform)]
}

pub(super) fn subcategory(platform: Platform, words: &str) -> String {
    match platform {
        Platform::Dutchie => words.replace(' ', "-"),
        Platform::DutchiePlus => words.replace(' ', "_").to_uppercase(),
        Platform::Jane => words.split(' ').map(capital).collect::<Vec<_>>().join(" "),
        Platform::Weedmaps => capital(words),
        Platform::Leafly => words.to_owned(),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn column(platform: Platform) -> usize {
    match platform {
        Platform::Dutchie => 0,
        Platform::DutchiePlus => 1,
        Platform::Jane => 2,
        Platform::Weedmaps => 3,
        Platform::Leafly => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::KINDS;
    use super::super::shops::PLATFORMS;
    use super::*;

    #[test]
    fn each_category_is_one_that_prices_are_compared_by() {
        let fold = |text: &str| text.to_lowercase().replace([' ', '-', '_'], "");
        let covered = fold(include_str!("../../../config/categories.toml"));
        for platform in PLATFORMS {
            for kind in KINDS {
                let name = category(platform, kind.family);
                assert!(covered.contains(&format!("\"{}\"", fold(name))), "{name}");
            }
        }
    }
}
