//! `NormalMenu`: a store's menu after normalisation, made of its pages one by one.
//!
//! In: a [`NormalPage`] for each answer of a crawl, in the feed's order. Out: one product per provider id,
//! and their oddities. Bounded, whatever upstream says.

pub mod attributes;
pub mod brand;
pub mod bundle;
pub mod category;
pub mod changes;
pub mod content_hash;
pub mod diff;
pub mod hashed_json;
pub mod image;
pub mod known_units;
pub mod product;
pub mod size;
pub mod stated_mass;
pub mod stock;
pub mod unit_price;
pub mod variant_diff;

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::Serialize;
use thiserror::Error;

use super::menu::product::Product;
use super::payload::StoredPage;
use super::store::Platform;

/// Maximum number, more than enough to see the fault of a feed.
const MAX_WARNINGS: usize = 500;
const MAX_DETAIL_BYTES: usize = 200;
/// Unknown keys that are counted by name; a feed that invents more of them is not worth more memory.
const MAX_UNKNOWN_KEYS: usize = 64;
const MAX_KEY_BYTES: usize = 64;
/// Maximum options of a menu: twenty times the largest real one's. A hostile menu of a few megabytes could
/// name millions.
pub const MAX_OPTIONS: usize = 100_000;

/// Why the answers of a crawl are not a menu. Items that cannot be read are warnings, not errors.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NormaliseError {
    #[error("page {page} is not a menu page: {why}")]
    NotAMenu { page: usize, why: String },
    #[error("page {page} is cut off")]
    Truncated { page: usize },
    #[error("page {page} contains errors besides its data")]
    HasErrors { page: usize },
    #[error("the menu has more than {MAX_OPTIONS} options")]
    TooLarge,
}

/// How the kept answers of a platform become products. `platforms` has it; modules that may not know
/// platforms get it as a value.
pub type Normalise = fn(Platform, &[StoredPage<'_>]) -> Result<NormalMenu, NormaliseError>;

/// Products in feed order, one per provider id, and their oddities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalMenu {
    pub products: Vec<Product>,
    pub warnings: Warnings,
    pub unknown_keys: UnknownKeys,
}

/// The same of one page, where ids may repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalPage {
    products: Vec<Product>,
    options: usize,
    pub warnings: Warnings,
    pub unknown_keys: UnknownKeys,
}

/// Makes a menu of its pages.
#[derive(Clone, Debug, Default)]
pub struct MenuBuilder {
    menu: NormalMenu,
    /// Index of each id in `menu.products`, found by the id's hash, so that no id is kept twice.
    places: HashTable<usize>,
    hasher: DefaultHashBuilder,
    options: usize,
}

impl NormalPage {
    /// `TooLarge` when no menu could hold that many options.
    pub fn push(&mut self, product: Product) -> Result<(), NormaliseError> {
        // a product takes memory without options too
        self.options = with_options(self.options, product.variants.len().max(1))?;
        self.products.push(product);
        Ok(())
    }

    pub fn products(&self) -> &[Product] {
        &self.products
    }
}

impl MenuBuilder {
    /// Pages may overlap (ties in the feed's order): of equal ids the last one wins, at the place of the
    /// first.
    pub fn add(&mut self, page: NormalPage) -> Result<(), NormaliseError> {
        self.options = with_options(self.options, page.options)?;
        self.menu.products.reserve(page.products.len());
        page.products.into_iter().for_each(|product| self.place(product));
        page.warnings.0.into_iter().for_each(|warning| self.menu.warnings.push(warning));
        page.unknown_keys.0.iter().for_each(|(key, count)| self.menu.unknown_keys.add(key, *count));
        Ok(())
    }

    fn place(&mut self, product: Product) {
        let MenuBuilder { menu: NormalMenu { products, .. }, places, hasher, .. } = self;
        let hash = |product: &Product| hasher.hash_one(&product.provider_product_id);
        let is_same = |&place: &usize| products[place].provider_product_id == product.provider_product_id;
        let product_hash = hash(&product);
        match places.find(product_hash, is_same) {
            Some(&place) => products[place] = product,
            None => {
                places.insert_unique(product_hash, products.len(), |&place| hash(&products[place]));
                products.push(product);
            }
        }
    }

    /// Number of distinct products read.
    pub fn len(&self) -> usize {
        self.menu.products.len()
    }

    pub fn is_empty(&self) -> bool {
        self.menu.products.is_empty()
    }

    pub fn build(self) -> NormalMenu {
        self.menu
    }
}

fn with_options(before: usize, more: usize) -> Result<usize, NormaliseError> {
    let options = before + more;
    if options > MAX_OPTIONS { Err(NormaliseError::TooLarge) } else { Ok(options) }
}

/// Something odd in the feed that did not stop the product: data beside the products, never an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub provider_product_id: Option<String>,
    /// Kind of oddity: one of a closed set of snake_case words, since they become counters.
    pub kind: &'static str,
    pub detail: String,
}

/// The first of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    /// Adds a warning, while there is room.
    pub fn push(&mut self, mut warning: Warning) {
        if self.0.len() < MAX_WARNINGS {
            warning.detail.truncate(warning.detail.floor_char_boundary(MAX_DETAIL_BYTES));
            self.0.push(warning);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.0.iter()
    }

    /// How many there are of each kind.
    pub fn by_kind(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        for warning in &self.0 {
            *kinds.entry(warning.kind).or_default() += 1;
        }
        kinds
    }
}

/// Keys of items that are neither read nor known to be there, and on how many items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UnknownKeys(BTreeMap<String, u32>);

impl UnknownKeys {
    pub fn add(&mut self, key: &str, count: u32) {
        let key = &key[..key.floor_char_boundary(MAX_KEY_BYTES)];
        if let Some(known) = self.0.get_mut(key) {
            *known += count;
        } else if self.0.len() < MAX_UNKNOWN_KEYS {
            self.0.insert(key.to_owned(), count);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::menu::product::Variant;

    fn product(id: &str, name: &str) -> Product {
        Product { provider_product_id: id.to_owned(), name_raw: name.to_owned(), ..Product::default() }
    }

    fn with_options(id: &str, options: usize) -> Product {
        Product { variants: vec![Variant::default(); options], ..product(id, "Kush") }
    }

    fn page(products: Vec<Product>) -> NormalPage {
        let mut page = NormalPage::default();
        products.into_iter().for_each(|product| page.push(product).unwrap());
        page
    }

    fn names(products: &[Product]) -> Vec<&str> {
        products.iter().map(|product| product.name_raw.as_str()).collect()
    }

    fn warning(kind: &'static str, detail: &str) -> Warning {
        Warning { provider_product_id: None, kind, detail: detail.to_owned() }
    }

    fn warnings(kinds: &[&'static str]) -> Warnings {
        let mut warnings = Warnings::default();
        kinds.iter().for_each(|kind| warnings.push(warning(kind, "")));
        warnings
    }

    fn unknown_keys(counts: &[(&str, u32)]) -> UnknownKeys {
        let mut keys = UnknownKeys::default();
        counts.iter().for_each(|(key, count)| keys.add(key, *count));
        keys
    }

    #[test]
    fn of_equal_ids_the_last_one_wins_at_the_place_of_the_first() {
        let mut menu = MenuBuilder::default();
        assert!(menu.is_empty());
        let pages = [
            page(vec![product("1", "Kush"), product("2", "Haze")]),
            page(vec![product("3", "Diesel"), product("1", "Kush, renamed")]),
        ];
        assert_eq!(names(pages[1].products()), ["Diesel", "Kush, renamed"]);
        pages.into_iter().for_each(|page| menu.add(page).unwrap());
        assert_eq!((menu.len(), menu.is_empty()), (3, false));
        assert_eq!(names(&menu.build().products), ["Kush, renamed", "Haze", "Diesel"]);
    }

    #[test]
    fn the_oddities_of_all_pages_are_put_together() {
        let mut menu = MenuBuilder::default();
        let first = NormalPage {
            warnings: warnings(&["no_price", "no_label"]),
            unknown_keys: unknown_keys(&[("a", 1)]),
            ..NormalPage::default()
        };
        let second = NormalPage {
            warnings: warnings(&["no_price"]),
            unknown_keys: unknown_keys(&[("a", 2), ("b", 1)]),
            ..NormalPage::default()
        };
        [first, second].into_iter().for_each(|page| menu.add(page).unwrap());
        let menu = menu.build();
        assert_eq!(menu.warnings.by_kind(), BTreeMap::from([("no_label", 1), ("no_price", 2)]));
        assert_eq!(menu.unknown_keys, unknown_keys(&[("a", 3), ("b", 1)]));
    }

    #[rstest]
    #[case::as_many_as_there_may_be(&[MAX_OPTIONS - 2, 2], Ok(()))]
    #[case::one_more(&[MAX_OPTIONS - 2, 3], Err(NormaliseError::TooLarge))]
    #[case::a_product_without_options_counts_as_one(&[MAX_OPTIONS, 0], Err(NormaliseError::TooLarge))]
    fn a_menu_has_a_bounded_number_of_options(
        #[case] options: &[usize],
        #[case] expected: Result<(), NormaliseError>,
        #[values(true, false)] on_one_page: bool,
    ) {
        let products: Vec<Product> = options.iter().map(|options| with_options("1", *options)).collect();
        let mut page = NormalPage::default();
        let on_page = products.iter().cloned().try_for_each(|product| page.push(product));
        let mut menu = MenuBuilder::default();
        let on_pages = products.into_iter().try_for_each(|product| menu.add(self::page(vec![product])));
        assert_eq!(if on_one_page { on_page } else { on_pages }, expected);
    }

    #[test]
    fn the_first_of_many_warnings_are_kept() {
        let mut warnings = Warnings::default();
        assert!(warnings.is_empty());
        (0..=MAX_WARNINGS).for_each(|n| warnings.push(warning("no_price", &n.to_string())));
        assert!(!warnings.is_empty());
        assert_eq!(warnings.iter().count(), MAX_WARNINGS);
        assert_eq!(warnings.iter().last(), Some(&warning("no_price", "499")));
    }

    #[test]
    fn a_long_detail_is_cut_between_two_characters() {
        let mut warnings = Warnings::default();
        warnings.push(warning("no_price", &"ñ".repeat(200)));
        warnings.push(warning("no_price", &format!("a{}", "ñ".repeat(200))));
        let details: Vec<usize> = warnings.iter().map(|warning| warning.detail.len()).collect();
        assert_eq!(details, [200, 199]);
    }

    #[test]
    fn unknown_keys_are_counted_while_there_is_room_for_their_names() {
        let mut keys = UnknownKeys::default();
        assert!(keys.is_empty());
        (0..=MAX_UNKNOWN_KEYS).for_each(|n| keys.add(&format!("k{n:02}"), 1));
        keys.add("k00", 2);
        keys.add("k64", 2);
        assert!(!keys.is_empty());
        assert_eq!((keys.0.len(), keys.0.get("k00"), keys.0.get("k64")), (MAX_UNKNOWN_KEYS, Some(&3), None));
    }
}
