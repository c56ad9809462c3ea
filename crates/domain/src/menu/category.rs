//! `Categories`: the categories by which prices are compared, whatever platform a product came from. Pure.
//!
//! In: a table of categories with the types of platforms that each covers, and a product's type. Out: its category. It
//! must not know where the table is kept.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use strum::VariantArray;

use super::product::Product;
use super::unit_price::Measure;
use crate::store::Platform;
use crate::vocabulary::words;

/// Maximum number of categories: a person compares that many.
const MAX_CATEGORIES: usize = 12;

/// A category of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Category {
    pub title: String,
    pub measure: Measure,
    /// Types, `type/subcategory`, each for all platforms or after `platform:` for one.
    pub covers: Vec<String>,
}

/// Categories by name.
#[derive(Clone, Debug, Default)]
pub struct Categories {
    all: BTreeMap<String, Category>,
    /// Names of categories by what they cover of a platform, folded.
    covered: HashMap<Platform, HashMap<String, String>>,
}

impl Categories {
    /// Returns every fault of the table at once.
    pub fn new(all: BTreeMap<String, Category>) -> Result<Categories, Vec<String>> {
        let (mut faults, mut covered) = (Vec::new(), HashMap::new());
        if all.len() > MAX_CATEGORIES {
            faults.push(format!("{} categories; at most {MAX_CATEGORIES} can be compared", all.len()));
        }
        for (name, category) in &all {
            if name.is_empty() || !name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')) {
                faults.push(format!("[{name}]: a name has lower-case letters, digits and underscores only"));
            }
            if category.title.trim().is_empty() {
                faults.push(format!("{name}: the title is empty"));
            }
            for entry in &category.covers {
                if let Some((platform, _)) = entry.split_once(':')
                    && !Platform::VARIANTS.iter().any(|known| folded(known.name()) == folded(platform))
                {
                    faults.push(format!("{name}: '{entry}' is of no platform: there are {}", words::<Platform>()));
                }
                match covered.insert(folded(entry), name.clone()) {
                    Some(other) if other != *name => {
                        faults.push(format!("{name}: {other} covers '{entry}', too: remove it from one of them"));
                    }
                    _ => {}
                }
            }
        }
        if faults.is_empty() { Ok(Categories { all, covered: by_platform(&covered) }) } else { Err(faults) }
    }

    /// The category of a product with its name; none if no category covers its type.
    pub fn find(&self, platform: Platform, kind: &str, subcategory: Option<&str>) -> Option<(&str, &Category)> {
        let covered = self.covered.get(&platform)?;
        let kind = folded(kind);
        let whole = subcategory.map(|subcategory| format!("{kind}/{}", folded(subcategory)));
        let found = whole.iter().chain([&kind]).find_map(|key| covered.get(key));
        self.all.get_key_value(found?).map(|(name, category)| (name.as_str(), category))
    }

    /// The category of a product with its name.
    pub fn of(&self, platform: Platform, product: &Product) -> Option<(&str, &Category)> {
        let kind = product.category.as_deref().unwrap_or_default();
        self.find(platform, kind, product.subcategory.as_deref())
    }
}

/// The same entries by platform, of which the ones for that platform alone come first.
fn by_platform(covered: &HashMap<String, String>) -> HashMap<Platform, HashMap<String, String>> {
    let (of_one, of_all): (Vec<_>, Vec<_>) = covered.iter().partition(|(entry, _)| entry.contains(':'));
    let of = |platform: Platform| {
        let prefix = format!("{}:", folded(platform.name()));
        let own =
            of_one.iter().filter_map(|(entry, name)| Some((entry.strip_prefix(&prefix)?.to_owned(), name.to_string())));
        of_all.iter().map(|(entry, name)| (entry.to_string(), name.to_string())).chain(own).collect()
    };
    Platform::VARIANTS.iter().map(|&platform| (platform, of(platform))).collect()
}

/// The text in lower case, of letters, digits, `/` and `:` alone.
fn folded(text: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '/' | ':');
    text.to_lowercase().chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn embedded() -> Categories {
        let text = include_str!("../../../../config/categories.toml");
        Categories::new(toml::from_str(text).unwrap()).unwrap()
    }

    fn table(entries: &[(&str, &str, &[&str])]) -> Result<Categories, Vec<String>> {
        let category = |title: &str, covers: &[&str]| Category {
            title: title.to_owned(),
            measure: Measure::Mass,
            covers: covers.iter().map(|entry| (*entry).to_owned()).collect(),
        };
        Categories::new(
            entries.iter().map(|(name, title, covers)| ((*name).to_owned(), category(title, covers))).collect(),
        )
    }

    #[rstest]
    #[case("Flower", None, Some("flower"))]
    #[case("FLOWER", Some("DEFAULT"), Some("flower"))]
    #[case("Pre-Rolls", Some("singles"), Some("pre_roll"))]
    #[case("PRE_ROLLS", None, Some("pre_roll"))]
    #[case("Oral", Some("sublingual"), Some("tincture"))]
    #[case("Oral", Some("mints"), Some("edible"))]
    #[case("EDIBLES", None, Some("edible"))]
    #[case("Edible", Some("Beverages"), Some("drink"))]
    #[case("Vaporizers", Some("batteries"), Some("accessory"))]
    #[case("Mystery", Some("flower"), None)]
    #[case("", None, None)]
    fn a_type_of_a_platform_has_a_category(
        #[case] kind: &str,
        #[case] subcategory: Option<&str>,
        #[case] expected: Option<&str>,
    ) {
        let categories = embedded();
        assert_eq!(categories.find(Platform::Dutchie, kind, subcategory).map(|(name, _)| name), expected);
    }

    #[test]
    fn what_is_said_of_one_platform_comes_first_there() {
        let categories = table(&[("a", "A", &["Extract"]), ("b", "B", &["dutchie:Extract"])]).unwrap();
        let found = |platform| categories.find(platform, "extract", Some("wax")).map(|(name, _)| name);
        assert_eq!((found(Platform::Dutchie), found(Platform::DutchiePlus)), (Some("b"), Some("a")));
    }

    #[test]
    fn a_name_that_no_filter_would_find_is_refused() {
        let fault = "[Flower]: a name has lower-case letters, digits and underscores only";
        assert_eq!(table(&[("Flower", "Flower", &[])]).unwrap_err(), [fault]);
    }

    #[test]
    fn every_fault_of_a_table_is_named() {
        let faults = table(&[("a", " ", &["Flower"]), ("b", "B", &["FLOWER"])]).unwrap_err();
        assert_eq!(faults, ["a: the title is empty", "b: a covers 'FLOWER', too: remove it from one of them"]);
        let names: Vec<String> = (0..13).map(|n| format!("c{n}")).collect();
        let many: Vec<(&str, &str, &[&str])> = names.iter().map(|name| (name.as_str(), "C", &[][..])).collect();
        assert_eq!(table(&many).unwrap_err(), ["13 categories; at most 12 can be compared"]);
    }
}
