//! `NormalMenu`: a store's menu after normalisation, made of its pages one by one.
//!
//! In: a [`NormalPage`] for each answer of a crawl, in the feed's order. Out: one product per provider id,
//! and their oddities. Bounded, whatever upstream says.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use serde::Serialize;
use thiserror::Error;

use super::payload::StoredPage;
use super::product::Product;
use super::store::Platform;

/// More than enough to see the fault of a feed.
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
    #[error("page {page} is no menu page: {why}")]
    NotAMenu { page: usize, why: String },
    #[error("page {page} is cut off")]
    Truncated { page: usize },
    #[error("page {page} carries errors beside its data")]
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
    /// Where in `menu.products` an id is; found by its hash, so that no id is kept twice.
    places: HashTable<usize>,
    hasher: RandomState,
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
        match places.find(hash(&product), is_same) {
            Some(&place) => products[place] = product,
            None => {
                places.insert_unique(hash(&product), products.len(), |&place| hash(&products[place]));
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
